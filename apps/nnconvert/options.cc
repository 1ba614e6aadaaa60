#include "apps/nnconvert/options.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "convert/convert_options.h"

namespace nn::app {
namespace {

using ArgumentFields = std::vector<OptionField>;
using edit::EditOptions;

constexpr int64_t kMaxJobs = 1000;
constexpr std::string_view kReportGroup = "Reports";
constexpr std::string_view kFolderGroup = "Folders";

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
                   "array differs from that of its input",
           .group = kVerifyGroup,
           .needs = {"verify-inputs"}}),
  };
}

// An edit that takes one pattern, or one assignment, each time it is given.
template <auto kMember>
OptionField NativeEditOption(std::string_view name, std::string_view help, std::string_view value) {
  return Option<&ConvertArguments::native_edits, kMember>(
      name, {.help = help, .value = value, .group = kEditGroup});
}

ArgumentFields NativeEditOptions() {
  return {
      Option<&ConvertArguments::patch>(
          "compose-json", {.help = "Apply an RFC 6902 patch to the dump form of the model, whose "
                                   "paths nnconvert IN OUT.json shows",
                           .value = "FILE",
                           .group = kEditGroup}),
      NativeEditOption<&EditOptions::extract>(
          "extract",
          "Keep only what computes TO from FROM: names of values, or names or types of operators, "
          "with commas between; * and ? match any characters. Without FROM, from the inputs; "
          "without TO, to the outputs",
          "FROM..TO"),
      NativeEditOption<&EditOptions::cut_before>(
          "cut-before",
          "Make values, or what operators read, inputs, and drop what computed them; repeatable",
          "PATTERN"),
      NativeEditOption<&EditOptions::cut_after>(
          "cut-after",
          "Make values, or what operators write, outputs, and drop what depends on them; "
          "repeatable",
          "PATTERN"),
      NativeEditOption<&EditOptions::remove_outputs>(
          "remove-output", "Drop outputs, and what only they need; repeatable", "PATTERN"),
      NativeEditOption<&EditOptions::add_outputs>(
          "add-output", "Make values, or what operators write, outputs, too; repeatable",
          "PATTERN"),
      NativeEditOption<&EditOptions::renames>(
          "rename",
          "Rename values of the main graph; each * of NEW is the text that the * of VALUE "
          "matches; repeatable",
          "VALUE=NEW"),
      NativeEditOption<&EditOptions::metadata>(
          "set-metadata",
          "Set an entry of the metadata, which nninspect lists; without a text, remove it; "
          "repeatable",
          "KEY=TEXT"),
      NativeEditOption<&EditOptions::strip>(
          "strip",
          "Remove docs, names (of operators, and of values that are no inputs or outputs), "
          "metadata, or all of them; a list with commas",
          "WHAT"),
  };
}

ArgumentFields OutputOptions() {
  return {
      Option<&ConvertArguments::c_source, &CSourceOptions::name>(
          "c-name", {.help = "If OUT is a C or C++ file: the name of the array; by default, that "
                             "of the file",
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
      Option<&ConvertArguments::jobs>(
          "jobs", {.help = "Folders: number of models to convert at the same time; they share "
                           "memory and processors; 0: one per processor; default 1",
                   .value = "N",
                   .group = kFolderGroup,
                   .effects = kNoResult,
                   .least = 0,
                   .most = kMaxJobs}),
      Option<&ConvertArguments::force>(
          "force", {.help = "Folders: also convert models that have not changed since the last run",
                    .group = kFolderGroup,
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
    for (ArgumentFields more : {ContentOptions(), NativeEditOptions(), OutputOptions()})
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
