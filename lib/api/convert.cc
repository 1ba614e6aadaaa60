#include "api/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/access.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "convert/convert.h"
#include "convert/convert_options.h"
#include "folder/convert_report.h"
#include "formats/format.h"
#include "nnsuite/version.h"
#include "passes/core/ports.h"

namespace nnsuite {
namespace {

// A set of tensors for all inputs, as the library takes it.
Result<nn::VerifyInputs> SetOf(std::string_view what, size_t i, const std::vector<Tensor>& tensors,
                               const nn::Graph& graph) {
  if (tensors.size() != graph.inputs().size())
    return nn::UsageError("{} {} has {} tensors; the model has {} inputs", what, i, tensors.size(),
                          graph.inputs().size());
  nn::VerifyInputs inputs = {fmt::format("{}", i), {}};
  for (const Tensor& t : tensors) inputs.tensors.emplace_back(Access::Of(t));
  return inputs;
}

// Hands the samples of a quantization on.
auto SamplesOf(const std::vector<std::vector<Tensor>>& samples) {
  return [&samples](const nn::Graph& graph,
                    const std::function<Status(nn::VerifyInputs)>& take) -> Status {
    for (size_t i = 0; i < samples.size(); ++i) {
      NN_ASSIGN(nn::VerifyInputs inputs, SetOf("sample", i, samples[i], graph));
      NN_RETURN_IF_ERROR(take(std::move(inputs)));
    }
    return {};
  };
}

// Hands the inputs of a verification on.
auto RunsOn(const std::vector<std::vector<Tensor>>& sets) {
  return [&sets](const nn::Graph& graph) -> Result<std::vector<nn::VerifyInputs>> {
    std::vector<nn::VerifyInputs> out;
    for (size_t i = 0; i < sets.size(); ++i) {
      NN_ASSIGN(nn::VerifyInputs inputs, SetOf("set of inputs", i, sets[i], graph));
      out.push_back(std::move(inputs));
    }
    return out;
  };
}

// The contents of inputs that become constants, by position.
auto ContentsOf(const std::map<std::string, Tensor>& fixed) {
  return [&fixed](const nn::Graph& graph) -> Result<std::map<size_t, nn::Tensor>> {
    std::vector<std::string> names = nn::NamesOf(graph.inputs());
    nn::NameUnnamed(names, "in");
    std::map<size_t, nn::Tensor> out;
    for (const auto& [name, tensor] : fixed) {
      const auto it = std::ranges::find(names, name);
      if (it == names.end())
        return nn::UsageError("no input to fix is named {}, only {}", nn::Quote(name),
                              nn::NameList(names));
      const auto at = static_cast<size_t>(it - names.begin());
      const nn::Type& type = graph.inputs()[at].value->type();
      const nn::Tensor& contents = Access::Of(tensor);
      const nn::Type actual(contents.dtype(), nn::ToDims(contents.dims()));
      if (!nn::Compatible(type, actual))
        return nn::UsageError("the contents of the input {} are {}; it is {}", nn::Quote(name),
                              actual.ToString(), type.ToString());
      out.emplace(at, contents);
    }
    return out;
  };
}

// Refers to the options.
Result<nn::ConvertJob> JobOf(const std::string& input, const std::string& output,
                             const nn::Format& target, const ConvertOptions& o) {
  NN_RETURN_IF_ERROR(nn::CheckConvertOptions(o, target));
  nn::ConvertJob job = {o, input, output, std::string(Version())};
  job.hooks = nn::api::HooksOf(o);
  return job;
}

Result<Conversion> ConversionOf(Result<nn::Conversion> done, const std::string& input,
                                std::string_view source, const std::string& output,
                                const nn::Format& target, const ConvertOptions& o) {
  if (!done) return tl::unexpected(std::move(done).error());
  nn::ConvertReport report;
  report.input = input;
  report.input_format = source;
  report.output = output;
  report.output_format = target.label;
  report.dry_run = o.dry_run;
  report.copy = done->copy || done->copied;
  report.renamed = done->copy && !(o.renamed_inputs.empty() && o.renamed_outputs.empty());
  report.written = done->written.has_value();
  if (done->written) report.bytes = done->written->bytes;
  report.conversion = *std::move(done);
  return nn::api::WrapConversion(std::move(report));
}

}  // namespace

std::string_view PortSideName(PortSide side) {
  return side == PortSide::kInput ? "input" : "output";
}

Result<Conversion> ConvertFile(const std::string& input, const std::string& output,
                               const ConvertOptions& options) {
  NN_ASSIGN(const nn::Format* const format, nn::api::TargetOf(output, options));
  NN_ASSIGN(nn::ConvertJob job, JobOf(input, output, *format, options));
  NN_ASSIGN(nn::ReadModel read, nn::ReadModelFile(input, options.limits));
  const std::string_view source = read.format->label;
  return ConversionOf(nn::ConvertOrCopy(std::move(read), *format, std::move(job)), input, source,
                      output, *format, options);
}

Result<Conversion> ConvertModel(const Model& model, const std::string& output,
                                const ConvertOptions& options) {
  NN_ASSIGN(const nn::Format* const format, nn::api::TargetOf(output, options));
  const auto& source = Access::Of(model);
  NN_ASSIGN(nn::ConvertJob job, JobOf(source.path, output, *format, options));
  job.edited = source.edited;
  return ConversionOf(nn::ConvertOrCopy(source.read, *format, std::move(job)), source.path,
                      source.read.format->label, output, *format, options);
}

Result<Conversion> ConvertGraph(const Graph& graph, const std::string& output,
                                const ConvertOptions& options) {
  NN_ASSIGN(const nn::Format* const format, nn::api::TargetOf(output, options));
  if (!options.fixed_inputs.empty())
    return nn::UsageError("the inputs of a model can be fixed, and those of a graph cannot");
  NN_ASSIGN(const nn::ConvertJob job, JobOf("", output, *format, options));
  return ConversionOf(nn::ConvertGraph({Access::Of(graph).Clone(), {}}, {}, *format, job), "", "",
                      output, *format, options);
}

}  // namespace nnsuite

namespace nn::api {

Result<const Format*> FormatNamed(const std::string& name) {
  const Format* const format = FindFormat(name);
  if (format == nullptr) return UsageError("no format is named \"{}\"", name);
  return format;
}

Result<const Format*> TargetOf(const std::string& output, const nnsuite::ConvertOptions& o) {
  if (!o.format.empty()) return FormatNamed(o.format);
  const Format* const format = FormatOfPath(output);
  if (format == nullptr)
    return UsageError("{}: the extension does not determine the format; set ConvertOptions::format",
                      output);
  return format;
}

ActivityProgress Reporting(const nnsuite::ProgressCallback& progress, std::string_view activity,
                           std::string_view what) {
  if (!progress) return nullptr;
  return [&progress, activity, what](uint64_t done, uint64_t total) -> Status {
    if (progress(activity, done, total)) return {};
    return LimitError("the caller ended the {}", what);
  };
}

ConvertHooks HooksOf(const nnsuite::ConvertOptions& o) {
  ConvertHooks hooks;
  if (o.quantize && !o.quantize->samples.empty())
    hooks.samples = nnsuite::SamplesOf(o.quantize->samples);
  if (!o.fixed_inputs.empty()) hooks.constants = nnsuite::ContentsOf(o.fixed_inputs);
  if (!o.verification.inputs.empty()) hooks.verify.data = nnsuite::RunsOn(o.verification.inputs);
  hooks.verify.progress = Reporting(o.progress, "runs", "conversion");
  hooks.write_progress = Reporting(o.progress, "bytes", "conversion");
  return hooks;
}

nnsuite::Conversion WrapConversion(ConvertReport report) {
  nnsuite::Conversion out;
  out.exit_code = ReportCode(report);
  out.report = JsonText(ReportJson(report));
  Conversion& done = report.conversion;
  out.unsupported = std::move(done.unsupported);
  out.edits = std::move(done.edits);
  if (done.edit_verification) out.edit_verification = WrapVerification(*done.edit_verification);
  out.port_changes = std::move(done.port_changes);
  if (done.verification) out.verification = WrapVerification(*done.verification);
  out.written = std::move(done.written);
  return out;
}

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
