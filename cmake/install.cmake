# Programs, library, public headers, a CMake package and a pkg-config file. The component "programs" is
# what users of the programs need.

set(NN_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/nnsuite)

install(TARGETS ${NN_APPS} COMPONENT programs)

# Manual pages and shell completion, printed by the programs. A build for another machine needs
# CMAKE_CROSSCOMPILING_EMULATOR for them.
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
  set(pages)
  foreach(app IN LISTS NN_APPS)
    set(folder ${PROJECT_BINARY_DIR}/share)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(
      OUTPUT ${folder}/${app}.1 ${folder}/${app}.bash ${folder}/_${app} ${folder}/${app}.fish
      COMMAND ${app} --man-page > ${folder}/${app}.1
      COMMAND ${app} --completion bash > ${folder}/${app}.bash
      COMMAND ${app} --completion zsh > ${folder}/_${app}
      COMMAND ${app} --completion fish > ${folder}/${app}.fish
      DEPENDS ${app} VERBATIM)
    list(APPEND pages ${folder}/${app}.1)
    install(FILES ${folder}/${app}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT programs)
    install(FILES ${folder}/${app}.bash RENAME ${app} COMPONENT programs
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${folder}/_${app} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
            COMPONENT programs)
    install(FILES ${folder}/${app}.fish COMPONENT programs
            DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endforeach()
  add_custom_target(pages ALL DEPENDS ${pages})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nnsuite DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# nnsuite::nnsuite is the shared library. Users who link the static one need the libraries that it
# uses; only they ask for it (COMPONENTS static).
install(TARGETS nnsuite_static EXPORT nnsuite-static)
install(EXPORT nnsuite-static NAMESPACE nnsuite:: DESTINATION ${NN_CMAKE_DIR}
        FILE nnsuite-static-targets.cmake)
if(BUILD_SHARED_LIBS)
  install(TARGETS nnsuite EXPORT nnsuite)
  install(EXPORT nnsuite NAMESPACE nnsuite:: DESTINATION ${NN_CMAKE_DIR} FILE nnsuite-targets.cmake)
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/nnsuite-config.cmake.in
                              ${PROJECT_BINARY_DIR}/nnsuite-config.cmake
                              INSTALL_DESTINATION ${NN_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nnsuite-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nnsuite-config.cmake
              ${PROJECT_BINARY_DIR}/nnsuite-config-version.cmake
        DESTINATION ${NN_CMAKE_DIR})

# The prefix is relative to the file, so that an installed tree can be moved.
file(RELATIVE_PATH NN_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" NN_PC_PREFIX ${NN_PC_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/nnsuite.pc.in ${PROJECT_BINARY_DIR}/nnsuite.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nnsuite.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ci DESTINATION ${CMAKE_INSTALL_DOCDIR})
