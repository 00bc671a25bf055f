# Turns the report's style sheet and script into a C++ file, so that the binary needs no files beside it.
set(report_assets_cpp ${CMAKE_BINARY_DIR}/generated/report_assets.cpp)
set(report_assets ${CMAKE_SOURCE_DIR}/src/report/assets/report.css ${CMAKE_SOURCE_DIR}/src/report/assets/report.js)
add_custom_command(OUTPUT ${report_assets_cpp}
  COMMAND ${CMAKE_COMMAND} -DOUT=${report_assets_cpp} -DDIR=${CMAKE_SOURCE_DIR}/src/report/assets
          -P ${CMAKE_SOURCE_DIR}/cmake/write_assets.cmake
  DEPENDS ${report_assets} ${CMAKE_SOURCE_DIR}/cmake/write_assets.cmake VERBATIM)
target_sources(liblocus PRIVATE ${report_assets_cpp})
