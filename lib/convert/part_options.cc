// The options of structs that are parts of nnsuite::ConvertOptions, and of others.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convert/convert_options.h"
#include "exec/program_options.h"
#include "formats/input_texts.h"

namespace nn {
namespace {

// Limit of options: verification runs.
constexpr int64_t kMaxRuns = 1000;

OptionField VerifyShapeOption() {
  return ComputedOption<nnsuite::VerifyOptions, std::vector<std::string>>(
      "verify-shape",
      {.help = "Shape of an input for the verification only; repeatable",
       .value = "NAME:SHAPE",
       .group = kVerifyGroup},
      [](const nnsuite::VerifyOptions& o) { return std::optional(TextsOf(o.input_shapes)); },
      [](nnsuite::VerifyOptions& o, const std::vector<std::string>& texts) -> Status {
        NN_ASSIGN(o.input_shapes, InputShapesOf("--verify-shape", texts));
        return {};
      });
}

}  // namespace

OptionTable ExternalDataTable() {
  static const std::vector<OptionField> fields = {
      Option<&nnsuite::ExternalData::file>(
          "external-data",
          {.help = "ONNX, NNAPI: store large tensors in this file beside OUT; automatic for ONNX "
                   "models above 2 GiB",
           .value = "FILE",
           .group = kFileGroup,
           .effects = kChangesFile | kOneModel}),
      Option<&nnsuite::ExternalData::threshold>(
          "external-threshold", {.help = "Smallest tensor that --external-data moves",
                                 .value = "BYTES",
                                 .group = kFileGroup,
                                 .least = 0,
                                 .shows_default = true}),
      Option<&nnsuite::ExternalData::embed>(
          "embed-data", {.help = "ONNX, NNAPI: store the external tensors of IN in OUT",
                         .group = kFileGroup,
                         .effects = kChangesFile,
                         .excludes = {"external-data"}}),
  };
  return fields;
}

OptionTable VerifyOptionTable() {
  static const std::vector<OptionField> fields = [] {
    std::vector<OptionField> out = {
        Option<&nnsuite::VerifyOptions::seed>(
            "seed", {.help = "Seed of the first verification run's inputs",
                     .group = kVerifyGroup,
                     .least = 0,
                     .shows_default = true}),
        Option<&nnsuite::VerifyOptions::runs>("verify-runs",
                                              {.help = "Verification runs, each with the next seed",
                                               .group = kVerifyGroup,
                                               .least = 1,
                                               .most = kMaxRuns,
                                               .shows_default = true}),
        Option<&nnsuite::VerifyOptions::threads>(
            "threads",
            {.help = "Number of threads of a run; 0: one per processor. No output depends on it",
             .value = "N",
             .group = kVerifyGroup,
             .effects = kNoResult,
             .least = 0,
             .most = kMaxRunThreads}),
        VerifyShapeOption(),
        Option<&nnsuite::VerifyOptions::atol>(
            "atol", {.help = "Largest absolute difference of a float output",
                     .group = kVerifyGroup,
                     .least = 0,
                     .shows_default = true}),
        Option<&nnsuite::VerifyOptions::rtol>(
            "rtol", {.help = "Largest difference relative to the output's largest magnitude; "
                             "quantized outputs may differ by one step more",
                     .group = kVerifyGroup,
                     .least = 0,
                     .shows_default = true}),
    };
    for (OptionField& field : OptionsWithin<&nnsuite::VerifyOptions::limits>(RunLimitTable()))
      out.push_back(std::move(field));
    return out;
  }();
  return fields;
}

}  // namespace nn
