# Script mode: copies the object file IN to OUT with SUFFIX appended to every symbol that it defines (see variants.cmake).
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${NM} --defined-only --format=posix ${IN} OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[ \t][^\n]*" "" names "${listing}")
string(REPLACE "\n" ";" names "${names}")
list(REMOVE_DUPLICATES names)
set(renaming "")
foreach(name ${names})
  if(NOT name MATCHES "^\\.")  # labels of sections
    string(APPEND renaming "${name} ${name}${SUFFIX}\n")
  endif()
endforeach()
file(WRITE ${OUT}.symbols "${renaming}")
execute_process(COMMAND ${OBJCOPY} --redefine-syms=${OUT}.symbols ${IN} ${OUT} COMMAND_ERROR_IS_FATAL ANY)
