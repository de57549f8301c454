# Unit tests sit beside the code: a file src/ROOM/NAME_test.cc belongs to the program ROOM_test.
find_package(GTest REQUIRED)
find_library(RAPIDCHECK rapidcheck REQUIRED)
include(GoogleTest)

function(turno_room_test room)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*_test.cc)
  if(sources)
    add_executable(${room}_test ${sources})
    target_link_libraries(${room}_test PRIVATE ${ARGN} GTest::gmock GTest::gtest_main ${RAPIDCHECK})
    target_precompile_headers(${room}_test PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
    target_compile_definitions(${room}_test PRIVATE TURNO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    gtest_discover_tests(${room}_test TEST_PREFIX ${room}. DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT 300)
  endif()
endfunction()

turno_room_test(core turno_core)
turno_room_test(protocols turno_core turno_quorum)
turno_room_test(properties turno_core)
turno_room_test(sim turno_sim)
turno_room_test(check turno_check)
turno_room_test(catalogue turno_catalogue)
turno_room_test(cli turno_cli)
