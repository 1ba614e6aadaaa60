# Runs the portfile with functions that do nothing, which checks its syntax and the names of the functions:
#
#   cmake -P scripts/packaging/vcpkg/parse.cmake
foreach(name from_github cmake_configure cmake_install cmake_config_fixup fixup_pkgconfig copy_tools
             install_copyright)
  function(vcpkg_${name})
  endfunction()
endforeach()
set(CURRENT_PACKAGES_DIR ${CMAKE_CURRENT_LIST_DIR}/packages)
include(${CMAKE_CURRENT_LIST_DIR}/ports/nnsuite/portfile.cmake)
