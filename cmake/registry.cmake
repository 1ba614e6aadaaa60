# Lists the functions that are defined in a folder, so no list is maintained by hand.
#
# nn_registry(RESULT FOLDER PATTERN CALL TEMPLATE [EVERY_FILE] [NAMESPACE namespace] [HEADER header])
# generates a source from TEMPLATE, in which @DECLARATIONS@ are the functions in FOLDER whose
# definitions begin with PATTERN, a regular expression with their name as its first group, and
# @CALLS@ are copies of CALL with % replaced by their names; @NAMESPACE@ and @HEADER@ are as given.
# RESULT is set to the source's path. With EVERY_FILE, a file that defines none is an error. The
# lists are generated when the library is built, by running this file as a script.
#
# Design: docs/design/005-generated-registries.md.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE files ${FOLDER}/*.cc)
  list(SORT files)
  set(DECLARATIONS "")
  set(CALLS "")
  foreach(file ${files})
    file(STRINGS ${file} lines REGEX "^${PATTERN}")
    if(EVERY_FILE AND NOT lines)
      message(FATAL_ERROR "${file} defines no function \"${PATTERN}\"")
    endif()
    foreach(line ${lines})
      string(REGEX MATCH "^${PATTERN}" declaration "${line}")
      string(REPLACE "%" ${CMAKE_MATCH_1} call "${CALL}")
      string(APPEND DECLARATIONS "${declaration};\n")
      string(APPEND CALLS "${call}\n")
    endforeach()
  endforeach()
  if(NOT CALLS)
    message(FATAL_ERROR "${FOLDER} defines no function \"${PATTERN}\"")
  endif()
  configure_file(${TEMPLATE} ${OUTPUT} @ONLY)  # written only if it changes
  return()
endif()

function(nn_registry result folder pattern call template)
  cmake_parse_arguments(PARSE_ARGV 5 arg EVERY_FILE "NAMESPACE;HEADER" "")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
  string(REPLACE "/" "_" name ${folder})
  string(REPLACE ".cc.in" "" kind ${template})
  set(source ${PROJECT_BINARY_DIR}/generated/registry/${kind}_${name}.cc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/registry.cmake)
  set(template ${PROJECT_SOURCE_DIR}/cmake/${template})
  # The names of the files, so that one that disappears is noticed too.
  set(names ${PROJECT_BINARY_DIR}/generated/registry/${kind}_${name}.txt)
  file(CONFIGURE OUTPUT ${names} CONTENT "${files}\n" @ONLY)
  add_custom_command(
    OUTPUT ${source}
    COMMAND
      ${CMAKE_COMMAND} -D FOLDER=${PROJECT_SOURCE_DIR}/${folder} -D "PATTERN=${pattern}" -D
      "CALL=${call}" -D TEMPLATE=${template} -D OUTPUT=${source} -D EVERY_FILE=${arg_EVERY_FILE} -D
      NAMESPACE=${arg_NAMESPACE} -D HEADER=${arg_HEADER} -P ${script}
    DEPENDS ${files} ${names} ${template} ${script}
    COMMENT "Listing ${folder}"
    VERBATIM)
  set(${result} ${source} PARENT_SCOPE)
endfunction()
