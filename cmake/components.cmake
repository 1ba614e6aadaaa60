# Components: the folders of the library as targets.
#
# nn_component(NAME FILES pattern... [HEADERS path...] [USES component...] [LIBS library...])
#
# An object library nn_NAME of the sources in FILES, globbing expressions. HEADERS are the folders and
# headers, relative to lib/ or to the root, that others may include: they are linked into a folder of
# the build tree, which is the only one that the users of the component get to see. A component can
# thus include its own headers, those of USES and of what they use, and no others: the layers of
# ARCHITECTURE.md are what the build permits. LIBS are linked privately.
#
# Design: docs/design/065-components.md.
set(NN_COMPONENTS)

function(nn_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FILES;HEADERS;USES;LIBS")
  set(target nn_${name})
  set(sources)
  foreach(pattern IN LISTS arg_FILES)
    if(pattern MATCHES "^(.*)/\\*\\*$")
      file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${CMAKE_MATCH_1}/*.cc)
    else()
      file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${pattern})
    endif()
    list(APPEND sources ${found})
  endforeach()
  add_library(${target} OBJECT ${sources})
  set(root ${PROJECT_BINARY_DIR}/include/${name})
  if(NOT EXISTS ${root} OR NOT "${arg_HEADERS}" STREQUAL "${NN_LINKED_${name}}")
    file(REMOVE_RECURSE ${root})
    file(MAKE_DIRECTORY ${root})
    foreach(header IN LISTS arg_HEADERS)
      string(REGEX REPLACE "^lib/" "" link ${header})
      cmake_path(GET link PARENT_PATH folder)
      file(MAKE_DIRECTORY ${root}/${folder})
      file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${header} ${root}/${link} SYMBOLIC)
    endforeach()
    set(NN_LINKED_${name} "${arg_HEADERS}" CACHE INTERNAL "Headers that are linked into ${root}")
  endif()
  target_include_directories(${target} PUBLIC ${root} ${PROJECT_SOURCE_DIR}/include)
  list(TRANSFORM arg_USES PREPEND nn_)
  target_link_libraries(${target} PUBLIC ${arg_USES} PRIVATE nn_options ${arg_LIBS})
  target_link_libraries(${target} PUBLIC fmt::fmt tl::expected nlohmann_json::nlohmann_json)
  # A family that no list has (docs/design/005-lists-of-families.md).
  target_compile_options(${target} PRIVATE -Wmissing-declarations)
  list(APPEND NN_COMPONENTS ${target})
  set(NN_COMPONENTS ${NN_COMPONENTS} PARENT_SCOPE)
endfunction()
