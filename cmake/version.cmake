# core/build_info: version, commit, compiler. The commit is read at configure time and again at each build.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated)
set(build_compiler ${CMAKE_CXX_COMPILER_ID}-${CMAKE_CXX_COMPILER_VERSION})
if(LOCUS_SANITIZE)
  string(APPEND build_compiler -sanitized)  # other code, other last bits: pinned signatures are not its own
endif()
add_custom_target(locus_build_info
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUT=${CMAKE_BINARY_DIR}/generated/build_info.h
          -DVERSION=${PROJECT_VERSION} -DCOMPILER=${build_compiler}
          -DBUILD_TYPE=${CMAKE_BUILD_TYPE} -P ${CMAKE_SOURCE_DIR}/cmake/write_build_info.cmake
  BYPRODUCTS ${CMAKE_BINARY_DIR}/generated/build_info.h VERBATIM)
add_dependencies(liblocus locus_build_info)
add_dependencies(locus_light locus_build_info)
