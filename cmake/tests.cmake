# One test program per folder of tests/, found by its place. Tests find the sources, the shared data and the binary by these macros.
find_package(GTest REQUIRED)
include(GoogleTest)
file(GLOB test_folders RELATIVE ${CMAKE_SOURCE_DIR}/tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*)
foreach(folder ${test_folders})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*.cpp)
  if(sources AND NOT folder STREQUAL "support")
    add_executable(test_${folder} ${sources})
    target_link_libraries(test_${folder} PRIVATE liblocus GTest::gtest GTest::gtest_main)
    target_include_directories(test_${folder} PRIVATE ${CMAKE_SOURCE_DIR})
    target_compile_definitions(test_${folder} PRIVATE
      LOCUS_SOURCE_DIR="${CMAKE_SOURCE_DIR}" LOCUS_SHARED_DATA="${CMAKE_SOURCE_DIR}/../shared/data"
      LOCUS_BINARY="${CMAKE_BINARY_DIR}/locus")
    if(TARGET locus)
      add_dependencies(test_${folder} locus)
    endif()
    gtest_discover_tests(test_${folder} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300 LABELS ${folder})
  endif()
endforeach()
