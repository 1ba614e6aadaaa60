#include "convert/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "convert/place/written.h"
#include "convert/verify/source_effects.h"

namespace nn {
namespace {

// Frees a model that only GraphSource::error needs, if that can read it again.
void Release(ReadModel& read, const std::string& path) {
  std::error_code error;
  const bool lasts = path != "-" && (std::filesystem::is_regular_file(path, error) ||
                                     std::filesystem::is_directory(path, error));
  if (lasts) read.model.reset();
}

std::optional<Finding> ErrorOfSource(const ReadModel& read, const ConvertOptions& o) {
  if (read.model != nullptr) return FirstError(read);
  const auto again = ReadModelFile(o.input, o.limits);
  return again ? FirstError(*again) : std::nullopt;
}

// The first operator set of ONNX with scales along an axis, and with integers of 4 bits.
int64_t LeastOpset(const ConvertOptions& o) {
  if (!o.quantize) return 0;
  return o.quantize->weights_only && o.quantize->options.type == DType::kI4 ? 21 : 13;
}

Result<ImportedModel> ImportForConversion(const ReadModel& read, const ConvertOptions& o,
                                          InputSettings inputs) {
  inputs.states = o.states ? StatePorts::kAll : StatePorts::kResources;
  return ImportWith(read, inputs, o.dequantize);
}

// A model that breaks a rule is written again rather than copied with its flaw; nullopt if it
// breaks none, or if it cannot be written.
std::optional<Conversion> WriteSound(const ReadModel& read, GraphSource from, const Format& format,
                                     const ConvertOptions& o) {
  const auto flaw = FirstError(read);
  if (!flaw) return std::nullopt;
  from.may_copy = false;
  auto imported = ImportForConversion(read, o);
  if (!imported) return std::nullopt;
  auto done = ConvertGraph(*std::move(imported), from, format, o);
  if (!done || !done->written) return std::nullopt;
  done->edits.push_back(fmt::format("written again, not copied: the source violates rule {}: {}",
                                    flaw->rule, flaw->message));
  return *std::move(done);
}

}  // namespace

Error ConvertOptions::InInput(const Error& error) const {
  return input.empty() ? error : error.In(input);
}

Result<ImportedModel> ImportForConversion(const ReadModel& read, const ConvertOptions& o) {
  NN_RETURN_IF_ERROR(CheckSourceEffects(read, o));
  auto imported = ImportForConversion(read, o, o.inputs);
  if (!imported) return tl::unexpected(o.InInput(imported.error()));
  return imported;
}

GraphSource SourceOf(const ReadModel& read, const ConvertOptions& o) {
  GraphSource from;
  from.format = read.format;
  from.holdings = HoldingsOf(read);
  if (o.simplify) from.operators = OperatorsOf(read);
  from.error = [&read, &o] { return ErrorOfSource(read, o); };
  if (!o.edit && !o.quantize && !o.half)
    from.import_again = [&read, &o](const InputSettings& inputs) -> Result<ImportedModel> {
      if (read.model != nullptr) return ImportForConversion(read, o, inputs);
      NN_ASSIGN(const ReadModel again, ReadModelFile(o.input, o.limits));
      return ImportForConversion(again, o, inputs);
    };
  return from;
}

Result<ExportOptions> OutputWithin(const ReadModel& read, const Format& format,
                                   const ConvertOptions& o) {
  ExportOptions output = o.output;
  if (read.format != &format || format.frame == nullptr) return output;
  NN_ASSIGN(ModelFrame frame, format.frame(*read.model));
  output.frame = std::move(frame.model);
  const bool keeps_version = o.simplify || o.half || o.quantize || o.edit;
  if (keeps_version && output.opset == 0) output.opset = std::max(frame.opset, LeastOpset(o));
  return output;
}

Result<Conversion> ConvertModel(ReadModel read, const Format& format, const ConvertOptions& o) {
  ConvertOptions framed = o;
  auto output = OutputWithin(read, format, o);
  if (!output) return tl::unexpected(o.InInput(output.error()));
  framed.output = *std::move(output);
  GraphSource from = SourceOf(read, o);
  from.may_copy = read.format == &format && o.simplify && o.copy_unless_fewer && !o.dry_run;
  NN_ASSIGN(ImportedModel imported, ImportForConversion(read, o));
  if (!from.may_copy && !o.edited) Release(read, o.input);
  NN_ASSIGN(Conversion done, ConvertGraph(std::move(imported), from, format, framed));
  if (!from.may_copy || done.written || !done.unsupported.empty() || done.verification) return done;
  if (auto sound = WriteSound(read, from, format, framed)) return *std::move(sound);
  NN_ASSIGN(done, CopyModel(read, o));
  done.operators = OperatorCount{from.operators, from.operators};
  done.copied = true;
  return done;
}

Result<Conversion> ConvertFile(const Format& format, const ConvertOptions& o) {
  NN_ASSIGN(ReadModel read, ReadModelFile(o.input, o.limits));
  return ConvertModel(std::move(read), format, o);
}

}  // namespace nn
