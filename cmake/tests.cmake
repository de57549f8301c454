# Unit tests sit beside the code: a file src/ROOM/NAME_test.cc belongs to the program ROOM_test.
find_package(GTest REQUIRED)
find_library(RAPIDCHECK rapidcheck REQUIRED)
include(GoogleTest)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/example)

# Tests are compiled as quickly as the compiler can: what takes time in them is in the libraries.
function(turno_quick target)
  if(TURNO_QUICK_TESTS)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# Read once for all test programs.
file(WRITE ${CMAKE_BINARY_DIR}/test_headers.cc "// only its precompiled headers matter\n")
add_library(turno_test_headers OBJECT ${CMAKE_BINARY_DIR}/test_headers.cc)
target_link_libraries(turno_test_headers PRIVATE GTest::gmock GTest::gtest)
target_precompile_headers(turno_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <algorithm>
  <array> <atomic> <chrono> <deque> <filesystem> <fstream> <functional> <map> <memory> <mutex>
  <optional> <sstream> <string> <thread> <unordered_map> <vector> <tl/expected.hpp>
  <boost/container/small_vector.hpp> <boost/unordered/unordered_flat_map.hpp>
  ${CMAKE_SOURCE_DIR}/src/core/protocol.h)
turno_quick(turno_test_headers)

# Not part of the tests of their rooms: digest_test has its own program (see below), and the
# explorations of recovery, which are pure, take minutes to compile with the sanitizers.
set(TURNO_LEFT_OUT "digest_alone")
if(TURNO_SANITIZE)
  string(APPEND TURNO_LEFT_OUT "|cluster/explored")
endif()

# Rooms whose test files have no names in common are compiled several files together, which takes
# half the time. The clang preset compiles each file alone, and so looks for shadowed names.
set(TURNO_TOGETHER core sim check field lab net cluster registry table port node client cli torture)

function(turno_room_test room)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*_test.cc)
  list(FILTER sources EXCLUDE REGEX "${TURNO_LEFT_OUT}")
  if(sources)
    add_executable(${room}_test ${sources})
    target_link_libraries(${room}_test PRIVATE ${ARGN} GTest::gmock GTest::gtest_main ${RAPIDCHECK})
    target_precompile_headers(${room}_test REUSE_FROM turno_test_headers)
    target_compile_definitions(${room}_test PRIVATE TURNO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    turno_quick(${room}_test)
    if(TURNO_QUICK_TESTS AND room IN_LIST TURNO_TOGETHER)
      set_target_properties(${room}_test PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
      target_compile_options(${room}_test PRIVATE -Wno-shadow)
    endif()
    gtest_discover_tests(${room}_test TEST_PREFIX ${room}. DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES
      PROPERTIES TIMEOUT 300)
  endif()
endfunction()

# These two say what became of a command in words of their own.
set_source_files_properties(src/cli/hold/lock_command_test.cc src/cli/hold/lock_trust_test.cc
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# By its path: its target would bring definitions that the precompiled headers do not have.
find_library(BOOST_JSON boost_json REQUIRED)
turno_room_test(core turno_core ${BOOST_JSON})
turno_room_test(protocols turno_core turno_quorum)
turno_room_test(properties turno_core)
turno_room_test(sim turno_sim turno_quorum)
turno_room_test(check turno_check)
find_library(HIREDIS hiredis REQUIRED)
turno_room_test(wire turno_wire turno_quorum)
target_sources(wire_test PRIVATE src/wire/fuzz/targets.cc)
# All messages of all algorithms: with the sanitizers it alone takes minutes to compile.
if(TURNO_SANITIZE)
  set_source_files_properties(src/wire/round_trip_test.cc PROPERTIES
    COMPILE_OPTIONS -fno-sanitize=all SKIP_PRECOMPILE_HEADERS ON)
endif()
turno_room_test(net turno_net)
turno_room_test(cluster turno_cluster turno_check turno_sim turno_quorum)
turno_room_test(registry turno_registry)
# Recovery takes long to compile: cluster_test has the algorithms that the list calls quick, and
# recovery_test has all and is for check-deep.
set_source_files_properties(${recovery_sources} ${quick_recovery_sources} PROPERTIES COMPILE_OPTIONS "${quickly}")
add_library(recovery OBJECT EXCLUDE_FROM_ALL ${recovery_sources})
add_library(quick_recovery OBJECT EXCLUDE_FROM_ALL ${quick_recovery_sources})
foreach(library recovery quick_recovery)
  target_precompile_headers(${library} REUSE_FROM turno_catalogue)
  target_link_libraries(${library} PRIVATE turno_cluster turno_check turno_sim turno_quorum)
endforeach()
if(NOT TURNO_SANITIZE)
  target_link_libraries(cluster_test PRIVATE quick_recovery)
  target_compile_definitions(cluster_test PRIVATE "TURNO_RECOVERED=protocols::List<${quick_types}>")
endif()
add_executable(recovery_test EXCLUDE_FROM_ALL src/cluster/explored/recovery_check_test.cc
  src/cluster/explored/recovery_sim_test.cc)
target_link_libraries(recovery_test PRIVATE recovery quick_recovery turno_cluster turno_check turno_sim turno_quorum
  GTest::gmock GTest::gtest_main)
target_precompile_headers(recovery_test REUSE_FROM turno_test_headers)
turno_quick(recovery_test)
target_compile_definitions(recovery_test PRIVATE TURNO_RECOVERED=protocols::Locks)
turno_room_test(table turno_node)
turno_room_test(port turno_node ${HIREDIS} ${BOOST_JSON})
turno_room_test(node turno_node)
turno_room_test(client turno_client turno_node)
# The example of CONTRIBUTING.md is compiled and explored, so that it stays true.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS CONTRIBUTING.md)
execute_process(COMMAND sed -n "/```cpp/,/```/{/```/d;p}" ${CMAKE_SOURCE_DIR}/CONTRIBUTING.md
  OUTPUT_FILE ${CMAKE_BINARY_DIR}/example/contributing.h COMMAND_ERROR_IS_FATAL ANY)
target_include_directories(check_test PRIVATE ${CMAKE_BINARY_DIR}/example)
turno_room_test(catalogue turno_catalogue)
turno_room_test(lab turno_experiments)
turno_room_test(field turno_field turno_catalogue)
# It simulates by itself.
set_source_files_properties(src/catalogue/explored/detector_test.cc PROPERTIES COMPILE_OPTIONS -O2
  SKIP_PRECOMPILE_HEADERS ON)
turno_room_test(cli turno_cli_cluster turno_cli_lab ${BOOST_JSON})
target_compile_definitions(cli_test PRIVATE TURNO_BINARY="$<TARGET_FILE:turno>")
add_dependencies(cli_test turno turno-lab)
add_subdirectory(torture)

# Fuzzing needs clang: cmake --preset fuzz (see CONTRIBUTING.md).
if(TURNO_FUZZ)
  foreach(target frames requests replies)
    add_executable(${target}_fuzz src/wire/fuzz/${target}_fuzz.cc src/wire/fuzz/targets.cc)
    target_link_libraries(${target}_fuzz PRIVATE turno_wire turno_quorum)
    target_link_options(${target}_fuzz PRIVATE -fsanitize=fuzzer)
  endforeach()
endif()

# A program of its own, so that another compiler need not build all the rest.
add_executable(digest_test EXCLUDE_FROM_ALL src/catalogue/simulated/digest_test.cc
  src/catalogue/simulated/digest_alone_test.cc)
target_link_libraries(digest_test PRIVATE turno_sim turno_quorum GTest::gtest_main)
gtest_discover_tests(digest_test TEST_PREFIX digest.)

# What the protocols need from elsewhere is read from their compiled form: src/core/architecture_test.cc.
set(pure_sources ${quorum_sources} src/core/last_seen.cc)
list(FILTER pure_sources EXCLUDE REGEX "cover_search")  # draws random numbers; no part of a protocol
add_library(turno_pure OBJECT src/protocols/purity.cc ${pure_sources})
add_library(turno_impure OBJECT src/core/impure_canary.cc)
foreach(library turno_pure turno_impure)
  target_compile_options(${library} PRIVATE -fno-sanitize=all)
  turno_quick(${library})
endforeach()
target_compile_definitions(core_test PRIVATE
  TURNO_PURE_OBJECTS="$<JOIN:$<TARGET_OBJECTS:turno_pure>,:>"
  TURNO_IMPURE_OBJECTS="$<JOIN:$<TARGET_OBJECTS:turno_impure>,:>")
add_dependencies(core_test turno_pure turno_impure)
