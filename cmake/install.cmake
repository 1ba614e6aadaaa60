# Programs, library, headers and a CMake package.

set(NN_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/nnsuite)
set(NN_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR}/nnsuite)

file(RELATIVE_PATH rpath ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(${NN_APPS} PROPERTIES INSTALL_RPATH $ORIGIN/${rpath})

install(TARGETS nnsuite ${NN_APPS} EXPORT nnsuite)

# The headers that the interface needs; what a format's folder or the kernels keep to themselves
# stays here.
foreach(folder base numeric ir ops passes tensorio convert)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/lib/${folder} DESTINATION ${NN_INCLUDE_DIR}
          FILES_MATCHING PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/lib/exec/program.h ${PROJECT_SOURCE_DIR}/lib/exec/run_limits.h
              ${PROJECT_SOURCE_DIR}/lib/exec/target.h
        DESTINATION ${NN_INCLUDE_DIR}/exec)
install(FILES ${PROJECT_SOURCE_DIR}/lib/formats/format.h DESTINATION ${NN_INCLUDE_DIR}/formats)
install(FILES ${PROJECT_SOURCE_DIR}/lib/inspect/cost.h ${PROJECT_SOURCE_DIR}/lib/inspect/diff.h
              ${PROJECT_SOURCE_DIR}/lib/inspect/digests.h ${PROJECT_SOURCE_DIR}/lib/inspect/layout.h
              ${PROJECT_SOURCE_DIR}/lib/inspect/loaded.h ${PROJECT_SOURCE_DIR}/lib/inspect/match.h
              ${PROJECT_SOURCE_DIR}/lib/inspect/node.h ${PROJECT_SOURCE_DIR}/lib/inspect/overview.h
              ${PROJECT_SOURCE_DIR}/lib/inspect/picture.h
              ${PROJECT_SOURCE_DIR}/lib/inspect/shape_text.h
              ${PROJECT_SOURCE_DIR}/lib/inspect/statistics.h
              ${PROJECT_SOURCE_DIR}/lib/inspect/tensors.h ${PROJECT_SOURCE_DIR}/lib/inspect/tree.h
        DESTINATION ${NN_INCLUDE_DIR}/inspect)
install(FILES ${PROJECT_SOURCE_DIR}/validators/clause.h ${PROJECT_SOURCE_DIR}/validators/example.h
              ${PROJECT_SOURCE_DIR}/validators/finding.h ${PROJECT_SOURCE_DIR}/validators/report.h
              ${PROJECT_SOURCE_DIR}/validators/runner.h
        DESTINATION ${NN_INCLUDE_DIR}/validators)

install(EXPORT nnsuite NAMESPACE nnsuite:: DESTINATION ${NN_CMAKE_DIR} FILE nnsuite-targets.cmake)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/nnsuite-config.cmake.in
                              ${PROJECT_BINARY_DIR}/nnsuite-config.cmake
                              INSTALL_DESTINATION ${NN_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nnsuite-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nnsuite-config.cmake
              ${PROJECT_BINARY_DIR}/nnsuite-config-version.cmake
        DESTINATION ${NN_CMAKE_DIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
