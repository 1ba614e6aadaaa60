#include "api/convert.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "api/access.h"
#include "base/json/json.h"
#include "convert/convert.h"
#include "convert/edits/graph_edits.h"
#include "convert/edits/node_pattern.h"
#include "convert/quantize/quantize_text.h"
#include "convert/verify/conversion_json.h"
#include "convert/verify/outcome.h"
#include "formats/format.h"
#include "nnsuite/version.h"
#include "passes/core/ports.h"

namespace nnsuite {
namespace {

Result<const nn::Format*> FormatOf(const std::string& output, const ConvertOptions& o) {
  if (!o.format.empty()) {
    const nn::Format* format = nn::FindFormat(o.format);
    if (format == nullptr) return nn::UsageError("no format is named \"{}\"", o.format);
    return format;
  }
  const nn::Format* format = nn::FormatOfPath(output);
  if (format == nullptr)
    return nn::UsageError(
        "{}: the extension does not determine the format; set ConvertOptions::format", output);
  return format;
}

// Hands the samples of a quantization on.
auto SamplesOf(const QuantizeOptions& o) {
  return [samples = o.samples](const nn::Graph& graph,
                               const std::function<Status(nn::VerifyInputs)>& take) -> Status {
    for (size_t i = 0; i < samples.size(); ++i) {
      if (samples[i].size() != graph.inputs().size())
        return nn::UsageError("sample {} has {} tensors; the model has {} inputs", i,
                              samples[i].size(), graph.inputs().size());
      nn::VerifyInputs inputs = {fmt::format("{}", i), {}};
      for (const Tensor& t : samples[i]) inputs.tensors.emplace_back(Access::Of(t));
      NN_RETURN_IF_ERROR(take(std::move(inputs)));
    }
    return {};
  };
}

// Of the options, those that change numbers.
Status SetNumbers(const ConvertOptions& o, const nn::Format& target, nn::ConvertOptions& out) {
  if (o.half && o.quantize)
    return nn::UsageError("a model is quantized or computes in 16 bits, not both");
  if (!o.keep_float32.empty() && !o.half && !o.quantize)
    return nn::UsageError("operators to keep in float32 need a quantization or 16 bits");
  const auto keeps = nn::NodesMatching(o.keep_float32);
  if (o.half) {
    if (o.half->type != DType::kF16 && o.half->type != DType::kBF16)
      return nn::UsageError("{} is not a floating-point type of 16 bits", DTypeName(o.half->type));
    out.half = nn::HalfOptions();
    out.half->type = o.half->type;
    out.half->weights_only = o.half->weights_only;
    out.half->interface = o.half->interface;
    out.half->keeps = keeps;
  }
  if (o.quantize) {
    NN_ASSIGN(out.quantize, nn::QuantizeSettingsOf(*o.quantize, target));
    out.quantize->options.keeps = keeps;
    if (!o.quantize->samples.empty()) out.quantize->calibration.samples = SamplesOf(*o.quantize);
  }
  return {};
}

Result<nn::ConvertOptions> OptionsOf(const std::string& input, const std::string& output,
                                     const nn::Format& target, const ConvertOptions& o) {
  nn::ConvertOptions out;
  out.input = input;
  out.limits = o.limits;
  out.output.path = output;
  out.output.opset = o.opset;
  out.output.producer_version = Version();
  out.output.external_data = o.external_data;
  out.inputs.shapes = o.input_shapes;
  out.inputs.batch = o.batch;
  NN_RETURN_IF_ERROR(nn::CheckGraphEdits(o.edits, o.batch));
  if (nn::GraphEditOption(o.edits).empty())
    out.prepare = [shapes = o.input_shapes, batch = o.batch](nn::Graph& graph) {
      return nn::BindShapes(graph, shapes, batch);
    };
  out.fold_batch_norm = o.fold_batch_norm;
  out.fuse = o.fuse;
  out.simplify = o.simplify;
  out.allow_rounding = o.allow_rounding;
  out.dequantize = o.dequantize;
  out.float32 = o.float32;
  out.unroll = o.unroll;
  out.states = o.states;
  out.dry_run = o.dry_run;
  out.verify = o.verify;
  static_cast<VerifyOptions&>(out.verification) = o.verification;
  NN_RETURN_IF_ERROR(SetNumbers(o, target, out));
  return out;
}

// Sets the edits of a model of the format.
void SetEdits(const ConvertOptions& o, const nn::Format& source, nn::ConvertOptions& out) {
  if (nn::GraphEditOption(o.edits).empty()) return;
  nn::ModelToEdit model = {source, out.input, o.input_shapes, o.batch, o.limits, {}};
  model.verification.limits = o.verification.limits;
  model.verification.threads = o.verification.threads;
  out.edit = [edits = o.edits, model = std::move(model)](nn::Graph& graph) {
    return nn::ApplyGraphEdits(edits, model, graph);
  };
}

// The report of nnconvert.
std::string ReportOf(const nn::Conversion& c, const std::string& input, std::string_view source,
                     const std::string& output, const nn::Format& target, nn::Outcome outcome,
                     bool dry_run) {
  nn::Json json = nn::ConversionHead();
  json["input"] = {{"path", input}, {"format", source}};
  json["output"] = {{"path", output}, {"format", target.label}};
  if (c.written) {
    json["output"]["bytes"] = c.written->bytes;
    for (const auto& [name, bytes] : c.written->side_files)
      json["output"]["side_files"].push_back({{"name", name}, {"bytes", bytes}});
  }
  json["result"] = nn::OutcomeName(outcome);
  json["dry_run"] = dry_run;
  json["copy"] = c.copied;
  json["renamed"] = false;
  json["written"] = c.written.has_value();
  nn::AddConversionJson(c, std::nullopt, json);
  return nn::JsonText(json);
}

Result<Conversion> ConversionOf(Result<nn::Conversion> done, const std::string& input,
                                std::string_view source, const std::string& output,
                                const nn::Format& target, bool dry_run) {
  if (!done) return tl::unexpected(std::move(done).error());
  Conversion out;
  const nn::Outcome outcome = nn::OutcomeOf(*done, std::nullopt, dry_run);
  out.exit_code = nn::CodeOf(outcome, std::nullopt);
  out.report = ReportOf(*done, input, source, output, target, outcome, dry_run);
  out.unsupported = std::move(done->unsupported);
  out.edits = std::move(done->edits);
  if (done->edit_verification)
    out.edit_verification = nn::api::WrapVerification(*done->edit_verification);
  out.dequantized_ports = std::move(done->dequantized_ports);
  out.moved_ports = std::move(done->moved_ports);
  out.shifted_ports = std::move(done->shifted_ports);
  if (done->verification) out.verification = nn::api::WrapVerification(*done->verification);
  out.written = std::move(done->written);
  return out;
}

}  // namespace

Result<Conversion> ConvertFile(const std::string& input, const std::string& output,
                               const ConvertOptions& options) {
  NN_ASSIGN(const nn::Format* const format, FormatOf(output, options));
  NN_ASSIGN(nn::ConvertOptions all, OptionsOf(input, output, *format, options));
  NN_ASSIGN(nn::ReadModel read, nn::ReadModelFile(input, options.limits));
  SetEdits(options, *read.format, all);
  const std::string_view source = read.format->label;
  return ConversionOf(nn::ConvertModel(std::move(read), *format, all), input, source, output,
                      *format, options.dry_run);
}

Result<Conversion> ConvertModel(const Model& model, const std::string& output,
                                const ConvertOptions& options) {
  NN_ASSIGN(const nn::Format* const format, FormatOf(output, options));
  const auto& source = Access::Of(model);
  NN_ASSIGN(nn::ConvertOptions all, OptionsOf(source.path, output, *format, options));
  all.edited = source.edited;
  SetEdits(options, *source.read.format, all);
  return ConversionOf(nn::ConvertModel(source.read, *format, all), source.path,
                      source.read.format->label, output, *format, options.dry_run);
}

Result<Conversion> WriteGraph(const Graph& graph, const std::string& output,
                              const ConvertOptions& options) {
  NN_ASSIGN(const nn::Format* const format, FormatOf(output, options));
  NN_ASSIGN(nn::ConvertOptions all, OptionsOf("", output, *format, options));
  SetEdits(options, *format, all);
  return ConversionOf(nn::ConvertGraph({Access::Of(graph).Clone(), {}}, {}, *format, all), "", "",
                      output, *format, options.dry_run);
}

}  // namespace nnsuite

namespace nn::api {

nnsuite::Verification WrapVerification(const Verification& v) {
  nnsuite::Verification out;
  out.seeds = v.seeds;
  out.symbols = v.symbols;
  out.passed = v.passed;
  for (const OutputDrift& drift : v.outputs)
    out.outputs.push_back(
        {drift.name, drift.type, drift.worst.max_absolute, drift.relative, drift.where});
  return out;
}

}  // namespace nn::api
