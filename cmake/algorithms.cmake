# Reads the list of algorithms and writes what is made of it into build/PRESET/generated: one small
# source for each algorithm and room, so that a change of one algorithm compiles that one again.
#
#   catalogue/NAME.cc   simulator and checker of one algorithm      from src/catalogue/algorithm.cc.in
#   table/NAME.cc       the engine that runs a lock on the network  from src/table/algorithm.cc.in
#                       and that of a store                         from src/table/pools/store.cc.in
#   cluster/NAME.cc     a lock with recovery, explored (tests)      from src/cluster/explored/algorithm_test.cc.in
#                       a semaphore likewise                        from src/cluster/explored/pool_test.cc.in
#                       a room likewise                             from src/cluster/explored/room_test.cc.in
#                       a store likewise                            from src/cluster/explored/store_test.cc.in
#   field/NAME.cc       an algorithm on real processes              from src/field/algorithm.cc.in
#   */all.cc            the table of each of them
#   protocols/list.h    all types, for tests that go through them
set(TURNO_LIST ${CMAKE_SOURCE_DIR}/src/protocols/algorithms.list)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TURNO_LIST})
set(generated ${CMAKE_BINARY_DIR}/generated)
include_directories(${generated})

# Appends the source that is made of a template for the algorithm at hand to a list.
macro(turno_generate sources room template)
  set(source ${generated}/${room}/${KIND}_${ID}.cc)
  configure_file(src/${room}/${template} ${source} @ONLY)
  list(APPEND ${sources} ${source})
endmacro()

file(STRINGS ${TURNO_LIST} lines REGEX "^(lock|semaphore|room|reservation|lab|published) ")
foreach(line ${lines})
  string(REGEX REPLACE " +" ";" line "${line}")
  list(GET line 0 KIND)
  list(GET line 1 NAME)
  list(GET line 2 TYPE)
  list(GET line 3 HEADER)
  string(REPLACE "-" "_" ID ${NAME})
  string(APPEND LIST_INCLUDES "#include \"protocols/${HEADER}\"\n")
  list(APPEND ${KIND}_types ${TYPE})
  if(KIND STREQUAL semaphore)
    list(APPEND lab_types ${TYPE})
    turno_generate(quick_recovery_sources cluster explored/pool_test.cc.in)
  endif()
  if(KIND STREQUAL room)
    list(APPEND lab_types ${TYPE})
    turno_generate(quick_recovery_sources cluster explored/room_test.cc.in)
  endif()
  if(KIND STREQUAL reservation)
    list(APPEND lab_types ${TYPE})
    turno_generate(quick_recovery_sources cluster explored/store_test.cc.in)
    turno_generate(table_generated table pools/store.cc.in)
    string(APPEND STORE_MAKERS "std::unique_ptr<PoolEngine> make_store_${ID}();\n")
    list(APPEND MAKE_STORES "StoreMaker{\"${NAME}\", make_store_${ID}}")
  endif()
  turno_generate(catalogue_sources catalogue algorithm.cc.in)
  string(APPEND DESCRIPTIONS "Algorithm describe_${KIND}_${ID}();\n")
  list(APPEND DESCRIBE_ALL describe_${KIND}_${ID})
  if(NOT KIND STREQUAL published OR "run" IN_LIST line)
    turno_generate(field_generated field algorithm.cc.in)
    string(APPEND CASTS "Cast cast_${KIND}_${ID}();\n")
    if(KIND STREQUAL published)
      list(APPEND CAST_PRINTED "{\"${NAME}\", cast_${KIND}_${ID}()}")
    else()
      list(APPEND CAST_RIGHT "{\"${NAME}\", cast_${KIND}_${ID}()}")
    endif()
  endif()
  if(KIND STREQUAL lock)
    list(APPEND TURNO_LOCKS ${NAME})
    turno_generate(table_generated table algorithm.cc.in)
    string(APPEND MAKERS "std::unique_ptr<LockEngine> make_${ID}();\n")
    list(APPEND MAKE_ALL "Maker{\"${NAME}\", make_${ID}}")
    if("quick" IN_LIST line)
      turno_generate(quick_recovery_sources cluster explored/algorithm_test.cc.in)
      list(APPEND quick_types protocols::${TYPE})
    else()
      turno_generate(recovery_sources cluster explored/algorithm_test.cc.in)
    endif()
  endif()
endforeach()
foreach(list lock_types lab_types published_types DESCRIBE_ALL MAKE_ALL MAKE_STORES
    CAST_RIGHT CAST_PRINTED)
  list(JOIN ${list} ",\n    " ${list})
endforeach()
list(JOIN quick_types ", " quick_types)
configure_file(src/protocols/list.h.in ${generated}/protocols/list.h @ONLY)
foreach(room catalogue table field)
  configure_file(src/${room}/all.cc.in ${generated}/${room}/all.cc @ONLY)
endforeach()
list(APPEND catalogue_sources ${generated}/catalogue/all.cc)
list(APPEND table_generated ${generated}/table/all.cc)
list(APPEND field_generated ${generated}/field/all.cc)
