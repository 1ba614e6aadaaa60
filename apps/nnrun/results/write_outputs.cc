#include "apps/nnrun/results/write_outputs.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/nnrun/options.h"
#include "apps/nnrun/results/outputs.h"
#include "base/file/file.h"
#include "base/text/text.h"
#include "formats/tensor_file.h"
#include "tensorio/compare.h"
#include "tensorio/npy.h"
#include "tensorio/tensor_archive.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtensions[] = {".npz", ".safetensors", ".json", ".npy", ".pb"};

// NaN and infinities, which JSON lacks, as text.
Json ElementJson(const Tensor& t, int64_t i) {
  if (IsFloat(t.dtype()) && !std::isfinite(t.GetDouble(i))) return ElementText(t, i);
  return ValueJson(t, i);
}

Json OutputJson(const NamedTensor& output) {
  const Tensor& t = output.tensor;
  Json values = Json::array();
  for (int64_t i = 0; i < t.elements(); ++i) values.push_back(ElementJson(t, i));
  return {{"name", output.name},
          {"type", DTypeName(t.dtype())},
          {"shape", t.dims()},
          {"values", std::move(values)}};
}

Status WriteJson(const std::string& path, std::span<const NamedTensor> outputs) {
  Json list = Json::array();
  for (const NamedTensor& output : outputs) list.push_back(OutputJson(output));
  return WriteFile(path, JsonText({{"version", 1}, {"outputs", std::move(list)}}));
}

// A .safetensors file has no strings, so it lacks the labels of a classifier.
Status WriteSafetensorsOf(const std::string& path, std::span<const NamedTensor> outputs,
                          size_t count) {
  const bool strings = std::ranges::any_of(outputs.subspan(count), [](const NamedTensor& t) {
    return t.tensor.dtype() == DType::kString;
  });
  if (strings)
    spdlog::warn("{}: safetensors has no strings, so the predicted label is not written; use .npz",
                 path);
  return WriteTensorArchive(path, strings ? outputs.first(count) : outputs);
}

// The files that the run reads.
std::vector<std::string> InputPaths(const RunOptions& o) {
  std::vector<std::string> paths = {o.model, o.inputs_file, o.expected.file, o.labels};
  for (const std::string& text : o.inputs)
    for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1))
      paths.push_back(text.substr(at + 1));
  return paths;
}

Status CheckNotRead(const RunOptions& o, std::string_view option, const std::string& path) {
  for (const std::string& input : InputPaths(o)) {
    std::error_code error;
    if (!input.empty() && fs::equivalent(input, path, error))
      return UsageError("{} {}: the run reads this file", option, path);
  }
  return {};
}

}  // namespace

Status CheckOutputPath(const RunOptions& o) {
  if (!o.save_inputs.empty()) {
    NN_RETURN_IF_ERROR(CheckNotRead(o, "--save-inputs", o.save_inputs));
    if (!o.save_inputs.ends_with(".npz") && !o.save_inputs.ends_with(".safetensors"))
      return UsageError("--save-inputs {}: expected .npz or .safetensors", o.save_inputs);
  }
  if (o.output.empty() || o.output == "-") return {};
  NN_RETURN_IF_ERROR(CheckNotRead(o, "--output", o.output));
  const bool known = std::ranges::any_of(
      kExtensions, [&](std::string_view extension) { return o.output.ends_with(extension); });
  if (!known)
    return UsageError(
        "--output {}: expected .npz, .safetensors or .json, or .npy or .pb for one "
        "output",
        o.output);
  return {};
}

Status WriteOutputs(const std::string& path, std::span<const NamedTensor> outputs, size_t count) {
  if (path.ends_with(".safetensors")) return WriteSafetensorsOf(path, outputs, count);
  if (path.ends_with(".json")) return WriteJson(path, outputs);
  if (!IsTypedTensorPath(path)) return WriteTensorArchive(path, outputs);
  if (count != 1)
    return UsageError(
        "--output {}: the file holds one array, but the model has {} outputs; use "
        ".npz, .safetensors or .json",
        path, count);
  return WriteTensorFile(path, outputs[0]);
}

Status SaveInputs(const RunOptions& o, std::span<const Tensor> inputs) {
  std::vector<NamedTensor> named;
  size_t position = 0;
  for (const Tensor& input : inputs) {
    while (o.fixed.contains(position)) ++position;
    named.push_back({fmt::format("in_{}", position++), input});
  }
  return WriteTensorArchive(o.save_inputs, named);
}

}  // namespace nn::app
