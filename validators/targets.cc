#include "validators/targets.h"

#include <charconv>

#include "base/text/text.h"
#include "passes/core/ports.h"
#include "rewrite/legalize.h"
#include "validators/rule.h"

namespace nn {
namespace {

constexpr RuleInfo Convertible(std::string_view id, std::string_view statement,
                               std::string_view option) {
  return {.id = id,
          .statement = statement,
          .clause = option,
          .hint = "Replace the operator by supported ones, or choose another format or version."};
}
constexpr struct {
  std::string_view format;
  RuleInfo rule;
} kTargets[] = {
    {"onnx", Convertible("FOR-ONNX", "The model can be converted to ONNX.", "--for onnx")},
    {"tflite",
     Convertible("FOR-TFLITE", "The model can be converted to TensorFlow Lite.", "--for tflite")},
    {"coreml", Convertible("FOR-COREML", "The model can be converted to Core ML.", "--for coreml")},
    {"nnapi",
     Convertible("FOR-NNAPI", "The model can be converted to NNAPI 1.0.", "--for nnapi-1.0")},
};

Finding Obstructed(const TargetVersion& target, std::string message, std::string element = {}) {
  return {std::string(target.rule.id),
          target.rule.severity,
          std::move(message),
          At(std::move(element)),
          {}};
}

Blob Joined(const FileImage& image) {
  Buffer out(image.size());
  size_t at = 0;
  for (const Blob& part : image.parts) {
    if (!part.empty()) std::memcpy(out.data() + at, part.data(), part.size());
    at += part.size();
  }
  return Blob(std::move(out));
}

// The specification version of a written Core ML model.
Result<int64_t> SpecificationVersion(const Format& format, const FileImage& image) {
  NN_ASSIGN(const auto model, format.reader.Read(Joined(image), "model.mlmodel", {}));
  NN_ASSIGN(const ModelSummary summary, format.describer.Summarize(*model));
  const size_t digits = summary.version.find_first_of("0123456789");
  int64_t version = 0;
  if (digits != std::string::npos)
    std::from_chars(summary.version.data() + digits,
                    summary.version.data() + summary.version.size(), version);
  return version;
}

// Checks what only the version of the format rules out.
Status CheckVersion(const Graph& graph, const TargetVersion& target) {
  ExportOptions options;
  if (target.format->name == "onnx") options.opset = target.version;
  NN_ASSIGN(const FileImage image, target.format->writer.Write(graph, options));
  if (target.format->name == "onnx") return {};
  NN_ASSIGN(const int64_t needed, SpecificationVersion(*target.format, image));
  if (needed > target.version)
    return UnsupportedError("the model requires specification version {}", needed);
  return {};
}

}  // namespace

Result<TargetVersion> ParseTarget(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  TargetVersion out;
  for (const auto& t : kTargets)
    if (t.format == name || (t.format == "nnapi" && name == "nnapi-1.0")) {
      out.format = FindFormat(t.format);
      out.rule = t.rule;
    }
  if (out.format == nullptr)
    return UsageError("--for {}: expected onnx[:OPSET], tflite, coreml[:VERSION] or nnapi-1.0",
                      Quote(text));
  if (colon == std::string::npos) return out;
  const std::string_view number = std::string_view(text).substr(colon + 1);
  const auto r = std::from_chars(number.data(), number.data() + number.size(), out.version);
  if (r.ec != std::errc() || r.ptr != number.data() + number.size() || out.version < 1 ||
      (out.format->name != "onnx" && out.format->name != "coreml"))
    return UsageError("--for {}: {} has no version {}", Quote(text), out.format->label,
                      Quote(number));
  return out;
}

std::vector<RuleInfo> TargetRules() {
  std::vector<RuleInfo> rules;
  for (const auto& t : kTargets) rules.push_back(t.rule);
  return rules;
}

Result<std::vector<Finding>> CheckTarget(const ReadModel& model, const TargetVersion& target) {
  std::vector<Finding> out;
  if (model.format == target.format && target.version == 0) return out;
  auto imported = model.format->importer.Import(*model.model);
  if (!imported) return std::vector{Obstructed(target, imported.error().message())};
  Graph& graph = imported->graph;
  NamePorts(graph);
  InterfaceAxes axes;
  const Status fit = FitTo(*target.format->target, graph, axes, imported->unsupported);
  for (const UnsupportedNode& o : imported->unsupported)
    out.push_back(Obstructed(
        target, fmt::format("{}: {}", o.source.empty() ? o.op : o.source, o.reason), o.node));
  if (!out.empty()) return out;
  if (!fit && fit.error().code() == ErrorCode::kInternal) return tl::unexpected(fit.error());
  if (!fit) return std::vector{Obstructed(target, fit.error().message())};
  if (target.version == 0) return out;
  const Status s = CheckVersion(graph, target);
  if (!s && s.error().code() == ErrorCode::kInternal) return tl::unexpected(s.error());
  if (!s) out.push_back(Obstructed(target, s.error().message()));
  return out;
}

}  // namespace nn
