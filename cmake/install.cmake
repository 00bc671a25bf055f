# `cmake --install BUILD --prefix DIR`: the program, its configurations, the licence, and completion for three shells, which the
# program writes itself.
include(GNUInstallDirs)
install(TARGETS locus RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/locus)
install(FILES LICENSE README.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(shell bash zsh fish)
  install(CODE "execute_process(COMMAND $<TARGET_FILE:locus> completion ${shell}
    OUTPUT_FILE ${CMAKE_BINARY_DIR}/completion.${shell} COMMAND_ERROR_IS_FATAL ANY)")
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/completion.bash RENAME locus DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${CMAKE_BINARY_DIR}/completion.zsh RENAME _locus DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${CMAKE_BINARY_DIR}/completion.fish RENAME locus.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
