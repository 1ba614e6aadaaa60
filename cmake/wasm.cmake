# Cross compilation to WebAssembly with Debian's emscripten; node runs the result. Libraries are those
# of scripts/packaging/wasm-libraries, code generators those of the host.
#
# Exceptions and setjmp are instructions of WebAssembly, which every module of a program must agree on.
# Emscripten's own C++ library has no algorithms of std::ranges; one of the libraries replaces it.
#
# Design: docs/design/063-webassembly.md.
get_filename_component(NN_WASM_LIBRARIES ${CMAKE_CURRENT_LIST_DIR}/../build-wasm/libraries ABSOLUTE)
set(NN_WASM_FLAGS "-msimd128 -fwasm-exceptions -sSUPPORT_LONGJMP=wasm")
set(CMAKE_C_FLAGS_INIT "${NN_WASM_FLAGS}")
set(CMAKE_CXX_FLAGS_INIT
    "${NN_WASM_FLAGS} -nostdinc++ -isystem ${NN_WASM_LIBRARIES}/include/c++/v1")
# Loaded synchronously: the other loader of this emscripten fetches, which node does not do for files.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${NN_WASM_LIBRARIES}/lib -sWASM_ASYNC_COMPILATION=0")
set(CMAKE_CXX_STANDARD_LIBRARIES -lnnc++)

# Link options of every program.
set(NN_WASM_PROGRAM -sEXIT_RUNTIME -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sTOTAL_STACK=8MB)

# Where Debian has the node modules that emscripten imports when it links.
set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK
             "${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env EM_COMPILER_WRAPPER=${CCACHE})
endif()

list(APPEND CMAKE_FIND_ROOT_PATH ${NN_WASM_LIBRARIES})
set(ENV{PKG_CONFIG_LIBDIR} ${NN_WASM_LIBRARIES}/lib/pkgconfig)
set(PKG_CONFIG_ARGN --static)
set(EMSCRIPTEN_SYSTEM_PROCESSOR wasm32)
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
