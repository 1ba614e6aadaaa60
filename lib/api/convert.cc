#include "nnsuite/convert.h"

#include "api/access.h"
#include "convert/convert.h"
#include "formats/format.h"
#include "nnsuite/version.h"
#include "passes/ports.h"

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

nn::ConvertOptions OptionsOf(const std::string& input, const std::string& output,
                             const ConvertOptions& o) {
  nn::ConvertOptions out;
  out.input = input;
  out.limits = o.limits;
  out.output.path = output;
  out.output.opset = o.opset;
  out.output.producer_version = Version();
  out.output.external_data = o.external_data;
  out.inputs.shapes = o.input_shapes;
  out.inputs.batch = o.batch;
  out.prepare = [shapes = o.input_shapes, batch = o.batch](nn::Graph& graph) {
    return nn::BindShapes(graph, shapes, batch);
  };
  out.fold_batch_norm = o.fold_batch_norm;
  out.fuse = o.fuse;
  out.dequantize = o.dequantize;
  out.float32 = o.float32;
  out.unroll = o.unroll;
  out.states = o.states;
  out.dry_run = o.dry_run;
  out.verify = o.verify;
  static_cast<VerifyOptions&>(out.verification) = o.verification;
  return out;
}

Verification VerificationOf(const nn::Verification& v) {
  Verification out;
  out.seeds = v.seeds;
  out.symbols = v.symbols;
  out.passed = v.passed;
  for (const nn::OutputDrift& drift : v.outputs)
    out.outputs.push_back(
        {drift.name, drift.type, drift.worst.max_absolute, drift.relative, drift.where});
  return out;
}

Result<Conversion> ConversionOf(Result<nn::Conversion> done) {
  if (!done) return tl::unexpected(std::move(done).error());
  Conversion out;
  out.unsupported = std::move(done->unsupported);
  out.dequantized_ports = std::move(done->dequantized_ports);
  out.moved_ports = std::move(done->moved_ports);
  out.shifted_ports = std::move(done->shifted_ports);
  if (done->verification) out.verification = VerificationOf(*done->verification);
  out.written = std::move(done->written);
  return out;
}

}  // namespace

Result<Conversion> ConvertFile(const std::string& input, const std::string& output,
                               const ConvertOptions& options) {
  NN_ASSIGN(const nn::Format* const format, FormatOf(output, options));
  return ConversionOf(nn::ConvertFile(*format, OptionsOf(input, output, options)));
}

Result<Conversion> ConvertModel(const Model& model, const std::string& output,
                                const ConvertOptions& options) {
  NN_ASSIGN(const nn::Format* const format, FormatOf(output, options));
  const auto& source = Access::Of(model);
  return ConversionOf(
      nn::ConvertModel(source.read, *format, OptionsOf(source.path, output, options)));
}

Result<Conversion> WriteGraph(const Graph& graph, const std::string& output,
                              const ConvertOptions& options) {
  NN_ASSIGN(const nn::Format* const format, FormatOf(output, options));
  return ConversionOf(nn::ConvertGraph(
      {Access::Of(graph).Clone(), {}}, [] { return std::nullopt; }, *format,
      OptionsOf("", output, options)));
}

}  // namespace nnsuite
