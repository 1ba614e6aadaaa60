# Embeds text files in the library.
#
# nn_embed(TARGET NAME [NAMES PREFIX] FILES file...): the sources of TARGET can include "embed/NAME.inc",
# which has the text of each file as a string literal, one after the other; with NAMES, as
# {"PREFIXfile", literal}, for the elements of an array. It is generated when the library is built, by
# running this file as a script.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "")
  foreach(file ${FILES})
    cmake_path(GET file FILENAME name)
    file(READ ${file} contents)
    if(contents MATCHES "\\)nn_embed\"")
      message(FATAL_ERROR "${file} contains the end of a raw string")
    endif()
    set(literal "R\"nn_embed(${contents})nn_embed\"")
    if(NAMES)
      set(literal "{\"${NAMES}${name}\", ${literal}},")
    endif()
    string(APPEND text "${literal}\n")
  endforeach()
  # All compilers in use accept longer literals than the 65,536 characters that C++ promises.
  file(WRITE ${OUTPUT} "#ifdef __clang__\n#pragma clang diagnostic push\n"
                       "#pragma clang diagnostic ignored \"-Woverlength-strings\"\n#endif\n${text}"
                       "#ifdef __clang__\n#pragma clang diagnostic pop\n#endif\n")
  return()
endif()

function(nn_embed target name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "NAMES" "FILES")
  set(root ${PROJECT_BINARY_DIR}/include/embed)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  add_custom_command(
    OUTPUT ${root}/embed/${name}.inc
    COMMAND ${CMAKE_COMMAND} -D "FILES=${arg_FILES}" -D "NAMES=${arg_NAMES}" -D
            OUTPUT=${root}/embed/${name}.inc -P ${script}
    DEPENDS ${arg_FILES} ${script}
    COMMENT "Embedding ${name}"
    VERBATIM)
  # A target of its own, because a command among the sources of TARGET waits for all that it uses.
  add_custom_target(embed_${name} DEPENDS ${root}/embed/${name}.inc)
  add_dependencies(${target} embed_${name})
  target_include_directories(${target} PRIVATE ${root})
endfunction()
