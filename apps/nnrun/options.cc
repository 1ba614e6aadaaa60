#include "apps/nnrun/options.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "base/thread_pool.h"
#include "formats/format_options.h"

namespace nn::app {
namespace {

using RunFields = std::vector<OptionField>;

RunFields OutputFields() {
  return {
      Option<&RunOptions::output>(
          "output",
          {.help = "Write the outputs by name: .npz, .safetensors or .json, or one output "
                   "as .npy or .pb; for a Core ML classifier also the predicted label, "
                   "and as NAME.labels the labels of the scores NAME",
           .value = "FILE",
           .letter = "o"}),
      Option<&RunOptions::labels>(
          "labels",
          {.help = "Print the five highest scores with their labels, one on each line of the file",
           .value = "FILE"}),
      Option<&RunOptions::digest>(
          "digest", {.help = "Print the SHA-256 of the outputs' names, types and contents"}),
      Option<&RunOptions::save_steps>(
          "save-steps",
          {.help = "Write every intermediate value as .npy, with an index.json", .value = "DIR"}),
      Option<&RunOptions::save_inputs>(
          "save-inputs", {.help = "Write the inputs of the run as in_0, in_1, ... by position, for "
                                  "--inputs with a model that has other names: .npz or "
                                  ".safetensors",
                          .value = "FILE"}),
      Option<&RunOptions::resume>(
          "resume", {.help = "Folders and patterns: skip models whose file of outputs exists"}),
      Option<&RunOptions::format>("format", {.help = "Output format; html only with --against",
                                             .choices = {"text", "json", "html"},
                                             .shows_default = true}),
  };
}

RunFields ComparisonFields() {
  return {
      Option<&RunOptions::function>("function", FunctionFacts("", 0)),
      Option<&RunOptions::test_data>(
          "test-data",
          {.help = "Folder with input_K.pb and output_K.pb, or with test_data_set_* folders: run "
                   "and compare as ONNX does: --atol 1e-7 and --rtol 1e-3 unless given, relative "
                   "to each expected value",
           .value = "DIR"}),
      Option<&RunOptions::against>(
          "against",
          {.help = "Compare every value with its counterpart in another model of any format, or in "
                   "recorded values: an .npz or .safetensors file, a folder of --save-steps or one "
                   "for --test-data. Prints the first difference beyond --atol and --rtol, and a "
                   "table",
           .value = "FILE"}),
      Option<&RunOptions::write_repro>(
          "write-repro",
          {.help = "With --against: write the operators that compute the first value that differs "
                   "although its inputs agree: model.onnx, inputs.npz, got.npz and want.npz",
           .value = "DIR",
           .needs = {"against"}}),
      Option<&RunOptions::search_dtype>(
          "search-dtype",
          {.help = "Find the operators that must stay f32 so that the outputs are within --atol "
                   "and --rtol of the outputs of the model if all others compute in this type",
           .value = "TYPE",
           .choices = {"f16", "bf16"},
           .excludes = {"against"}}),
  };
}

RunFields ExecutionFields() {
  return {
      Option<&RunOptions::target>("target",
                                  {.help = "SIMD target, one of --list-targets", .value = "NAME"}),
      Option<&RunOptions::list_targets>("list-targets",
                                        {.help = "Print the SIMD targets of this processor"}),
      Option<&RunOptions::explain_plan>(
          "explain-plan", {.help = "Run nothing; print the steps of a run: operands and their "
                                   "memory, work, packed weights, the arena"}),
      Option<&RunOptions::trace>(
          "trace", {.help = "Write Chrome trace events of steps and threads, for chrome://tracing "
                            "and Perfetto; with --bench, of one extra run that is not timed",
                    .value = "FILE"}),
      Option<&RunOptions::bench>("bench", {.help = "Measure the latency"}),
  };
}

}  // namespace

OptionTable RunOptionTable() {
  static const RunFields fields = [] {
    RunFields out = OutputFields();
    for (const RunFields& more : {ComparisonFields(), ExecutionFields()})
      out.insert(out.end(), more.begin(), more.end());
    return out;
  }();
  return fields;
}

ProgramOptions RunOptions::program() const {
  ProgramOptions o = execution;
  if (o.threads == 0) o.threads = AvailableProcessors();
  return o;
}

bool RunOptions::runs_folder() const {
  std::error_code error;
  return std::filesystem::is_directory(inputs_file, error);
}

}  // namespace nn::app
