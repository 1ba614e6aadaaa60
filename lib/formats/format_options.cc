#include "formats/format_options.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "formats/input_texts.h"
#include "tensorio/tensor_archive.h"

namespace nn {
namespace {

using nnsuite::DumpOptions;
using nnsuite::DumpWeights;
using nnsuite::ReadLimits;

// Nested models are walked recursively; this many levels fit an 8 MiB stack with ample margin.
constexpr int64_t kMaxDepth = 500;

// In the order of DumpWeights, without kFile, which is the name of a file.
constexpr std::array<std::string_view, 5> kWeights = {"base64", "inline", "stats", "digest",
                                                      "none"};

Status SetWeights(DumpOptions& o, const std::string& text) {
  const auto* const name = std::ranges::find(kWeights, text);
  if (name == kWeights.end() && !IsTensorArchivePath(text))
    return UsageError(
        "--weights: expected base64, inline, stats, digest, none, or a file .npz or .safetensors");
  o.weights = static_cast<DumpWeights>(name - kWeights.begin());
  o.file = name == kWeights.end() ? text : "";
  return {};
}

OptionField InputShapeOption() {
  return ComputedOption<nnsuite::InputShapes, std::vector<std::string>>(
      "input-shape",
      {.help = "Shape of an input, such as NAME:1,3,224,224; repeatable", .value = "NAME:SHAPE"},
      [](const nnsuite::InputShapes& s) { return std::optional(TextsOf(s.shapes)); },
      [](nnsuite::InputShapes& s, const std::vector<std::string>& texts) -> Status {
        NN_ASSIGN(s.shapes, InputShapesOf("--input-shape", texts));
        return {};
      });
}

}  // namespace

OptionTable ReadLimitTable() {
  static const std::vector<OptionField> fields = {
      Option<&ReadLimits::max_file_bytes>(
          "max-file-bytes",
          {.help = "Total size of the model file and all side files that are read",
           .value = "N",
           .least = 0,
           .shows_default = true,
           .bytes = true}),
      Option<&ReadLimits::max_piped_bytes>(
          "max-piped-bytes", {.help = "Size of data read from standard input or a pipe",
                              .value = "N",
                              .least = 0,
                              .shows_default = true,
                              .bytes = true}),
      Option<&ReadLimits::max_unpacked_bytes>(
          "max-unpacked-bytes", {.help = "Total unpacked size of the entries of an .npz, and "
                                         "memory of a dump that is patched",
                                 .value = "N",
                                 .least = 0,
                                 .shows_default = true,
                                 .bytes = true}),
      Option<&ReadLimits::max_depth>("max-depth",
                                     {.help = "Nesting depth of messages, tables or subgraphs",
                                      .value = "N",
                                      .least = 1,
                                      .most = kMaxDepth,
                                      .shows_default = true}),
      Option<&ReadLimits::max_items>("max-items",
                                     {.help = "Entries in any one list: nodes, tensors, operands",
                                      .value = "N",
                                      .least = 0,
                                      .shows_default = true}),
  };
  return fields;
}

OptionTable DumpOptionTable() {
  static const std::vector<OptionField> fields = {ComputedOption<DumpOptions, std::string>(
      "weights",
      {.help = "Form of tensors of 1 KiB and more in a dump: base64 (the default), inline "
               "(numbers), FILE.npz or FILE.safetensors (a file beside the dump), stats, digest or "
               "none; the last three cannot be restored",
       .value = "HOW",
       .choices = {kWeights.begin(), kWeights.end()},
       .takes_files = true},
      [](const DumpOptions& o) {
        const auto at = static_cast<size_t>(o.weights);
        return std::optional(at < kWeights.size() ? std::string(kWeights[at]) : o.file);
      },
      SetWeights)};
  return fields;
}

OptionTable InputShapesTable() {
  static const std::vector<OptionField> fields = {
      InputShapeOption(), Option<&nnsuite::InputShapes::batch>("batch", BatchFacts("", 0)),
      LengthOption<&nnsuite::InputShapes::lengths>(LengthFacts("", 0))};
  return fields;
}

OptionFacts BatchFacts(std::string_view group, unsigned effects) {
  return {.help = "Size of the symbolic first dimensions of the inputs",
          .value = "N",
          .group = group,
          .effects = effects};
}

OptionFacts FunctionFacts(std::string_view group, unsigned effects) {
  return {.help =
              "The function of an ML Program that has several; default: the one that the model "
              "states",
          .value = "NAME",
          .group = group,
          .effects = effects};
}

OptionFacts LengthFacts(std::string_view group, unsigned effects) {
  return {.help =
              "Number of elements of an input that is a sequence, or \"none\" for an optional "
              "input without a value; repeatable",
          .value = "NAME=N",
          .group = group,
          .effects = effects};
}

InputSettings SettingsOf(const nnsuite::InputShapes& shapes) {
  InputSettings settings;
  settings.shapes = shapes.shapes;
  settings.batch = shapes.batch;
  settings.lengths = ListLengthsOf(shapes.lengths);
  return settings;
}

}  // namespace nn
