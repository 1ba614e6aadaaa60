#include "apps/nninspect/options.h"

#include <vector>

#include "formats/format_options.h"

namespace nn::app {
namespace {

// A dump, and a program as text, have all functions.
OptionFacts ShownFunctionFacts() {
  OptionFacts facts = FunctionFacts("", 0);
  facts.excludes = {"dump", "mil"};
  return facts;
}

}  // namespace

OptionTable InspectOptionTable() {
  static const std::vector<OptionField> fields = {
      Option<&InspectOptions::diff>(
          "diff", {.help = "Compare two models of any formats; exit code 1 if they differ"}),
      Option<&InspectOptions::format>(
          "format",
          {.help = "Output format; csv is one table, dot and svg are images, html is a page "
                   "for a browser, cyclonedx is a bill of materials with the files, operators, "
                   "license and authors",
           .choices = {"text", "json", "csv", "dot", "svg", "html", "cyclonedx"},
           .shows_default = true}),
      Option<&InspectOptions::expand>(
          "expand", {.help = "With dot and svg: draw every repetition of repeated blocks; with "
                             "svg, open all groups"}),
      Option<&InspectOptions::dump>(
          "dump",
          {.help = "Print the whole model as JSON, which can be read in place of the model"}),
      Option<&InspectOptions::mil>(
          "mil", {.help = "Print the ML Program of a Core ML model as MIL, the text that compiled "
                          "models (.mlmodelc) have",
                  .excludes = {"dump"}}),
      Option<&InspectOptions::function>("function", ShownFunctionFacts()),
      Option<&InspectOptions::output>("output",
                                      {.help = "Write to a file", .value = "FILE", .letter = "o"}),
      Option<&InspectOptions::git_diff>(
          "git-diff", {.help = "Compare two versions of a file for git diff, whose arguments "
                               "these are; exit code 0"}),
      Option<&InspectOptions::git_text>(
          "git-text", {.help = "Print the model as text for git log -p: a dump with digests of "
                               "the weights, or why the file cannot be read; exit code 0",
                       .excludes = {"git-diff"}}),
  };
  return fields;
}

}  // namespace nn::app
