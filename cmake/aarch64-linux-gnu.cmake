# Cross compilation with Debian's compiler, or with clang if CMAKE_CXX_COMPILER says so, and arm64
# packages ("scripts/setup arm64"); the result runs under qemu. Code generators are those of the host.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
if(NOT CMAKE_CXX_COMPILER)
  set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
endif()
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)  # of clang
# A change of the calling convention in GCC 10.1, of which it tells at each use of std::minmax.
set(CMAKE_CXX_FLAGS_INIT "-Wno-psabi -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)

find_program(QEMU_AARCH64 qemu-aarch64 REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR ${QEMU_AARCH64})
