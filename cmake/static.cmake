# Programs without shared libraries (NN_STATIC), for instance for containers and for any Linux. Debian's
# development packages have archives of most libraries; NN_ARCHIVES is a folder with those of the others,
# built from the sources of the same packages (scripts/packaging/archives).
#
# Design: docs/design/062-packages.md.
set(NN_ARCHIVES "${PROJECT_BINARY_DIR}/archives" CACHE PATH
    "Folder whose lib/ has archives of libraries that are installed as shared ones only")

set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(Protobuf_USE_STATIC_LIBS ON)
set(CMAKE_SKIP_RPATH ON)  # which the start code of glibc refuses in a static program
set(PKG_CONFIG_ARGN --static)
# The archives become part of programs only. As code for shared libraries, they would refer to more
# symbols by a table than AArch64 programs with glibc may have (4,096).
set(CMAKE_CXX_COMPILE_OPTIONS_PIC -fPIE)
set(ENV{PKG_CONFIG_PATH} "${NN_ARCHIVES}/lib/pkgconfig")
list(PREPEND CMAKE_PREFIX_PATH ${NN_ARCHIVES})  # for pkg_check_modules

# nn_use_archives(): makes the imported targets of shared libraries refer to archives. The headers
# remain those of the development packages.
function(nn_use_archives)
  foreach(target fmt::fmt spdlog::spdlog hwy::hwy)
    string(REGEX REPLACE ".*:" "" name ${target})
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    foreach(configuration IN LISTS configurations)
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration}
                                                 ${NN_ARCHIVES}/lib/lib${name}.a)
    endforeach()
  endforeach()
  if(NN_MIMALLOC)
    add_library(mimalloc STATIC IMPORTED GLOBAL)
    set_target_properties(mimalloc PROPERTIES IMPORTED_LOCATION ${NN_ARCHIVES}/lib/libmimalloc.a)
  endif()
endfunction()
