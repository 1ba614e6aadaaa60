#include "apps/nnconvert/options.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "convert/convert_options.h"
#include "edit/edit_options.h"
#include "folder/folder_options.h"
#include "formats/format_options.h"

namespace nn::app {
namespace {

using ArgumentFields = std::vector<OptionField>;

constexpr std::string_view kReportGroup = "Reports";

ArgumentFields ContentOptions() {
  return {
      Option<&ConvertArguments::fixed_texts>(
          "fix-input", {.help = "Make an input a constant: NAME=VALUE, a literal such as 5 or "
                                "[1, 2] or a tensor file, or an .npz or .safetensors file with "
                                "several; repeatable",
                        .value = "NAME=VALUE",
                        .group = kShapeGroup,
                        .effects = kChangesGraph | kOneModel}),
      Option<&ConvertArguments::calibrate>(
          "calibrate",
          {.help = "With --quantize: samples of the inputs, from which the ranges of all values "
                   "are determined: files and folders as for --verify-inputs, or seeded:N, N "
                   "samples of random numbers; repeatable",
           .value = "FILE|DIR|seeded:N",
           .group = kQuantizeGroup,
           .needs = {"quantize"}}),
      Option<&ConvertArguments::verify_inputs>(
          "verify-inputs",
          {.help = "Run the verification on these inputs instead of generated ones: an .npz or "
                   ".safetensors file by name, or in_0, in_1, ... by position; a folder of such "
                   "files or of tensor files; NAME=FILE; repeatable",
           .value = "FILE",
           .group = kVerifyGroup,
           .effects = kOneModel}),
      Option<&ConvertArguments::arrays, &ArrayOptions::cast>(
          "cast-inputs",
          {.help = "With --verify-inputs: Convert arrays to the types of the inputs even if values "
                   "change: to the nearest number of the type, halves to even; integers saturate",
           .group = kVerifyGroup,
           .needs = {"verify-inputs"}}),
      Option<&ConvertArguments::arrays, &ArrayOptions::reshape>(
          "reshape-inputs",
          {.help = "With --verify-inputs: Add and remove axes of size 1 where the shape of an "
                   "array differs from the shape of its input",
           .group = kVerifyGroup,
           .needs = {"verify-inputs"}}),
  };
}

// Of a dump.
ArgumentFields WeightsOptions() {
  ArgumentFields fields = OptionsWithin<&ConvertArguments::dump>(DumpOptionTable());
  for (OptionField& field : fields) field.group = kFileGroup;
  return fields;
}

ArgumentFields OutputOptions() {
  return {
      Option<&ConvertArguments::c_source, &CSourceOptions::name>(
          "c-name", {.help = "If OUT is a C or C++ file: the name of the array; by default, the "
                             "name of the file",
                     .value = "NAME",
                     .group = kFileGroup}),
      Option<&ConvertArguments::c_source, &CSourceOptions::section>(
          "c-section", {.help = "The section of the array", .value = "NAME", .group = kFileGroup}),
      Option<&ConvertArguments::c_source, &CSourceOptions::alignment>(
          "c-align", {.help = "The alignment of the array",
                      .value = "BYTES",
                      .group = kFileGroup,
                      .shows_default = true}),
      Option<&ConvertArguments::support>(
          "support", {.help = "Print which operators are read, written and executed, as Markdown"}),
      Option<&ConvertArguments::form>("format", {.help = "Form of the printed report",
                                                 .group = kReportGroup,
                                                 .effects = kNoResult,
                                                 .choices = {"text", "json"},
                                                 .shows_default = true}),
      Option<&ConvertArguments::report>(
          "report",
          {.help = "Also write a full report: files with digests, inputs and outputs, rewritten "
                   "operators, transposes, verification. The extension determines the form: "
                   ".json, .md or .html",
           .value = "FILE",
           .group = kReportGroup,
           .effects = kNoResult}),
      Option<&ConvertArguments::attest>(
          "attest",
          {.help = "Also write how OUT was made, as an in-toto statement (SLSA provenance): "
                   "digests of all files, version, options and verification. \"nnvalidate "
                   "--attestation\" checks it; tools such as cosign sign it",
           .value = "FILE",
           .group = kReportGroup,
           .effects = kNoResult}),
  };
}

}  // namespace

OptionTable ArgumentTable() {
  static const ArgumentFields fields = [] {
    ArgumentFields out;
    // A name that both have is that of the program, which takes files.
    for (const OptionField& field :
         OptionsOfBase<ConvertArguments, nnsuite::ConvertOptions>(ConvertOptionTable()))
      if (field.IsOn(kOnCommandLine)) out.push_back(field);
    for (ArgumentFields more :
         {ContentOptions(),
          OptionsWithin<&ConvertArguments::folder, &nnsuite::FolderOptions::edits>(
              edit::EditOptionTable()),
          WeightsOptions(), OutputOptions(),
          OptionsWithin<&ConvertArguments::folder>(FolderOptionTable())})
      for (OptionField& field : more) out.push_back(std::move(field));
    return out;
  }();
  return fields;
}

std::vector<std::string> OptionsWith(unsigned effects, const ConvertArguments& arguments) {
  static const ConvertArguments defaults;
  std::vector<std::string> names;
  for (const OptionField* field : ChangedOptions(ArgumentTable(), &arguments, &defaults))
    if (field->Has(effects)) names.push_back(OptionText(kOnCommandLine, field->name));
  return names;
}

Json DecidingOptions(const ConvertArguments& o) {
  Json options = o.given;
  for (const OptionField& field : ArgumentTable())
    if (field.Has(kNoResult)) options.erase(OptionText(kOnCommandLine, field.name));
  return options;
}

}  // namespace nn::app
