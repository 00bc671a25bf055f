# Script mode, for variants.cmake: FOLDER/V.joined.o to FOLDER/V.o with ".V" appended to every symbol that it defines, for
# each V of VARIANTS (a+b+c); and FOLDER/dispatch.s, where each function of the files has its plain name and jumps to the variant
# in use, or to the one before it in VARIANTS where a variant has none of its own. The jump touches only registers that calls do not preserve and that carry no argument, so it fits any signature.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "+" ";" VARIANTS "${VARIANTS}")

# The names of a listing of nm whose type matches.
function(names_of listing type out)
  string(REGEX MATCHALL "[^ \n]+ ${type} [^\n]*" lines "${listing}")
  list(TRANSFORM lines REPLACE " .*" "")
  list(FILTER lines EXCLUDE REGEX "^\\.")  # labels of sections
  list(REMOVE_DUPLICATES lines)
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()

unset(functions)
foreach(variant ${VARIANTS})
  set(joined ${FOLDER}/${variant}.joined.o)
  execute_process(COMMAND ${NM} --defined-only --format=posix ${joined} OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
  names_of("${listing}" "[A-Za-z]" all)
  names_of("${listing}" "T" own)
  names_of("${listing}" "[BCDR]" data)
  list(FILTER data EXCLUDE REGEX "asan")  # the address sanitizer's own
  if(data)
    message(FATAL_ERROR "a file of cmake/variants.cmake defines a variable that other files see: ${data}")
  endif()
  # Eigen's objects differ between instruction sets in alignment, so they may not be passed between them.
  if(own MATCHES "Eigen")
    message(FATAL_ERROR "a file of cmake/variants.cmake has a function with types of Eigen in its signature: ${own}")
  endif()
  if(NOT DEFINED functions)
    set(functions "${own}")
  endif()
  foreach(name ${own})
    if(NOT name IN_LIST functions)
      message(FATAL_ERROR "the variant ${variant} defines a function that the first does not: ${name}")
    endif()
  endforeach()
  set(functions_${variant} "${own}")
  list(TRANSFORM all REPLACE "(.+)" "\\1 \\1.${variant}")
  list(JOIN all "\n" renaming)
  file(WRITE ${FOLDER}/${variant}.symbols "${renaming}\n")
  execute_process(COMMAND ${OBJCOPY} --redefine-syms=${FOLDER}/${variant}.symbols ${joined} ${FOLDER}/${variant}.o
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()

set(text "\t.section .note.GNU-stack,\"\",@progbits\n")
foreach(name ${functions})
  set(targets "")
  foreach(variant ${VARIANTS})
    if(name IN_LIST functions_${variant})
      set(target ${name}.${variant})
    endif()
    list(APPEND targets ${target})
  endforeach()
  list(JOIN targets ", " targets)
  string(APPEND text "
\t.section .data.rel.ro,\"aw\"
\t.balign 8
.Lvariants.${name}:
\t.quad ${targets}
\t.text
\t.globl ${name}
\t.type ${name}, @function
\t.balign 16
${name}:
\tmovzbl locus_isa_in_use(%rip), %r11d
\tleaq .Lvariants.${name}(%rip), %r10
\tjmp *(%r10,%r11,8)
\t.size ${name}, .-${name}
")
endforeach()
file(WRITE ${FOLDER}/dispatch.s "${text}")
