# Embeds the specification of a format in the library, and checks it.
#
# nn_spec(RESULT FORMAT) generates a source with the texts lib/formats/FORMAT/spec/*.spec, which
# defines SpecTexts() of formats/FORMAT/spec/words.h. It does not compile if a text has a fault.
# RESULT is set to the source's path. The source is generated when the library is built, by running
# this file as a script.
#
# Design: docs/design/066-specification-language.md.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "#include \"formats/common/spec/check.h\"\n#include \"formats/${FORMAT}/spec/words.h\"\n\n")
  string(APPEND text "namespace nn::${FORMAT} {\n\nstatic constexpr spec::Text kSpecTexts[] = {\n")
  foreach(file ${FILES})
    cmake_path(GET file FILENAME name)
    file(READ ${file} contents)
    if(contents MATCHES "\\)spec\"")
      message(FATAL_ERROR "${file} contains the end of a raw string")
    endif()
    string(APPEND text "    {\"${FORMAT}/spec/${name}\", R\"spec(${contents})spec\"},\n")
  endforeach()
  string(APPEND text "};\n\nstatic_assert(spec::IsValid<kSpecTexts, kWords>());\n\n"
                     "std::span<const spec::Text> SpecTexts() {\n  return kSpecTexts;\n}\n\n"
                     "}  // namespace nn::${FORMAT}\n")
  file(WRITE ${OUTPUT} "${text}")
  return()
endif()

function(nn_spec result format)
  set(source ${PROJECT_BINARY_DIR}/generated/spec/${format}.cc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/spec.cmake)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/formats/${format}/spec/*.spec)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -D FORMAT=${format} -D "FILES=${files}" -D OUTPUT=${source} -P ${script}
    DEPENDS ${files} ${script}
    COMMENT "Embedding the specification of ${format}"
    VERBATIM)
  # Compilers limit what they compute.
  set_source_files_properties(
    ${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
                         COMPILE_OPTIONS "$<$<CXX_COMPILER_ID:Clang>:-fconstexpr-steps=100000000>")
  set(${result} ${source} PARENT_SCOPE)
endfunction()
