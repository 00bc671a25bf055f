# Turns text files into C++ files, so that the binary needs no files beside it.
# embed_texts(NAME DIR HEADER NAMESPACE SYMBOL:FILE...): constants of the files of src/DIR in generated/NAME.cpp.
function(embed_texts name dir header namespace)
  set(out ${CMAKE_BINARY_DIR}/generated/${name}.cpp)
  set(files "")
  foreach(text ${ARGN})
    string(REGEX REPLACE "^.*:" "" file ${text})
    list(APPEND files ${CMAKE_SOURCE_DIR}/src/${dir}/${file})
  endforeach()
  list(JOIN ARGN "," texts)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DDIR=${CMAKE_SOURCE_DIR}/src/${dir} -DHEADER=${header} -DNAMESPACE=${namespace}
            -DTEXTS=${texts} -P ${CMAKE_SOURCE_DIR}/cmake/write_texts.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/write_texts.cmake VERBATIM)
  target_sources(liblocus PRIVATE ${out})
endfunction()

embed_texts(report_assets report/assets report/assets/assets.h locus::report
  kReport_css:report.css kReport_js:report.js)
embed_texts(pinned_texts config config/pinned_texts.h locus kIdentityText:identity.txt kSignatureText:signatures.txt)
