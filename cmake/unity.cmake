# LOCUS_UNITY: up to twelve files of a module are compiled as one, so headers are parsed once for all of them. Names in their
# unnamed namespaces must differ, and each file still includes what it uses: the preset dev compiles every file alone.
set(unity_files 12)

# compile_together(NAME FILE...): files of one module, in parts of like size.
function(compile_together name)
  list(LENGTH ARGN count)
  math(EXPR parts "(${count} + ${unity_files} - 1) / ${unity_files}")
  set(at 0)
  foreach(file ${ARGN})
    math(EXPR part "${at} * ${parts} / ${count}")
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${name}_${part})
    math(EXPR at "${at} + 1")
  endforeach()
endfunction()

function(allow_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${LOCUS_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()
