# One test program per folder of tests/, found by its place: tests/<folder>/*.cpp is test_<folder>, labelled <folder>;
# files named *_slow_test.cpp make a second program labelled "slow", which the sanitizers leave out.
# Tests find the sources, the shared data and the program through tests/support/paths.h.
find_package(GTest QUIET)
if(NOT GTest_FOUND)
  message(STATUS "GoogleTest (libgtest-dev) is not installed: no tests are built")
  return()
endif()
include(GoogleTest)

set(tests_with_binary cli sweep results project faults)  # run the program locus
set(tests_without_library project)              # look at files only, so they build at once
set(tests_on_every_isa kernels model stats)            # each test once for each instruction set that the processor has
set(threaded_test_folders core model train)     # run under the thread sanitizer
add_custom_target(threaded_tests)

add_library(test_main INTERFACE)
target_link_libraries(test_main INTERFACE locus_flags locus_dependencies GTest::gtest GTest::gtest_main)
target_include_directories(test_main INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(test_main INTERFACE $<$<CONFIG:Release>:-O1>)  # a quarter less to compile than -O2
add_library(failing_locks MODULE ${CMAKE_SOURCE_DIR}/tests/support/failing_locks.cpp)
add_library(test_paths STATIC ${CMAKE_SOURCE_DIR}/tests/support/paths.cpp)
target_include_directories(test_paths PRIVATE ${CMAKE_SOURCE_DIR})
target_compile_definitions(test_paths PRIVATE
  LOCUS_SOURCE_DIR="${CMAKE_SOURCE_DIR}" LOCUS_SHARED_DATA="${CMAKE_SOURCE_DIR}/../shared/data"
  LOCUS_BINARY="${CMAKE_BINARY_DIR}/locus" LOCUS_TOY_PROGRAM="${CMAKE_BINARY_DIR}/toy_program"
  LOCUS_FAILING_LOCKS="$<TARGET_FILE:failing_locks>")
target_link_libraries(test_paths PRIVATE locus_flags)
target_link_libraries(test_main INTERFACE test_paths)

# GoogleTest's header takes longer to parse than most tests to compile: it is parsed once.
add_library(test_every_isa OBJECT ${CMAKE_SOURCE_DIR}/tests/support/every_isa_main.cpp)
target_link_libraries(test_every_isa PRIVATE test_main liblocus)
target_precompile_headers(test_every_isa PRIVATE ${common_headers} <fstream> <sstream> <gtest/gtest.h>)

# add_test_program(NAME FOLDER LABELS SOURCE...)
function(add_test_program name folder labels)
  add_executable(${name} ${ARGN})
  if(folder IN_LIST tests_on_every_isa)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:test_every_isa>)
  endif()
  target_link_libraries(${name} PRIVATE test_main)
  target_precompile_headers(${name} REUSE_FROM test_every_isa)
  if(NOT folder IN_LIST tests_without_library OR "slow" IN_LIST labels)
    target_link_libraries(${name} PRIVATE liblocus)
  endif()
  if(folder IN_LIST tests_with_binary AND TARGET locus)
    add_dependencies(${name} locus failing_locks)
  endif()
  if(folder STREQUAL "faults" AND TARGET locus_inject)
    add_dependencies(${name} locus_inject)
  endif()
  if(folder IN_LIST threaded_test_folders)
    list(APPEND labels threaded)
    add_dependencies(threaded_tests ${name})
  endif()
  set(timeout 300)
  if("slow" IN_LIST labels)
    set(timeout 900)
  endif()
  list(JOIN labels "," label)  # one label that -L and -LE search in: discovery loses all but the first of several
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT ${timeout} LABELS "${label}")
endfunction()

# Disturbs calls of the program that change files; see the file.
if(NOT LOCUS_SANITIZE)
  add_library(locus_inject SHARED ${CMAKE_SOURCE_DIR}/tests/faults/inject.c)
  set_target_properties(locus_inject PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endif()

file(GLOB test_folders RELATIVE ${CMAKE_SOURCE_DIR}/tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*)
list(REMOVE_ITEM test_folders support toy ${LOCUS_LEAVE_OUT})
if("cli" IN_LIST LOCUS_LEAVE_OUT)
  list(REMOVE_ITEM test_folders ${tests_with_binary})
endif()
foreach(folder ${test_folders})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*.cpp)
  set(slow_sources ${sources})
  list(FILTER slow_sources INCLUDE REGEX "_slow_test\\.cpp$")
  set(helper_sources ${sources})
  list(FILTER helper_sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_slow_test\\.cpp$")
  if(sources)
    add_test_program(test_${folder} ${folder} "${folder}" ${sources})
  endif()
  if(slow_sources)
    add_test_program(test_${folder}_slow ${folder} "${folder};slow" ${slow_sources} ${helper_sources})
  endif()
endforeach()

# A program of another author, which tests/cli runs: it registers a source, a task and an analysis and has all commands.
if(TARGET liblocus_cli)
  add_executable(toy_program ${CMAKE_SOURCE_DIR}/tests/toy/toy_program.cpp)
  target_link_libraries(toy_program PRIVATE liblocus_cli)
  target_compile_options(toy_program PRIVATE $<$<CONFIG:Release>:-O1>)
  set_target_properties(toy_program PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  add_dependencies(test_cli toy_program)
endif()
