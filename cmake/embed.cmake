# Embeds text files in the library.
#
# nn_embed(RESULT HEADER NAMESPACE NAME FILES... [NAME FILES...]...) generates a source that defines the
# std::string_view constants that HEADER declares: NAME is the FILES, one after the other. A NAME
# begins with "k" and has no dot. RESULT is set to the source's path. The source is generated when
# the library is built, by running this file as a script.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n")
  set(open FALSE)
  foreach(entry ${ENTRIES})
    if(entry MATCHES "^k[A-Za-z]+$")
      if(open)
        string(APPEND text ";\n")
      endif()
      string(APPEND text "\nextern const std::string_view ${entry};\nconst std::string_view ${entry} =")
      set(open TRUE)
    else()
      file(READ ${entry} contents)
      if(contents MATCHES "\\)nn_embed\"")
        message(FATAL_ERROR "${entry} contains the end of a raw string")
      endif()
      string(APPEND text "\n    R\"nn_embed(${contents})nn_embed\"")
    endif()
  endforeach()
  string(APPEND text ";\n\n}  // namespace ${NAMESPACE}\n")
  file(WRITE ${OUTPUT} "${text}")
  return()
endif()

function(nn_embed result header namespace)
  string(MAKE_C_IDENTIFIER ${header} name)
  set(source ${PROJECT_BINARY_DIR}/generated/embed/${name}.cc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  set(files ${ARGN})
  list(FILTER files EXCLUDE REGEX "^k[A-Za-z]+$")
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -D "ENTRIES=${ARGN}" -D HEADER=${header} -D NAMESPACE=${namespace} -D
            OUTPUT=${source} -P ${script}
    DEPENDS ${files} ${script}
    COMMENT "Embedding for ${header}"
    VERBATIM)
  set(${result} ${source} PARENT_SCOPE)
endfunction()
