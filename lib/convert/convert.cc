#include "convert/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "convert/convert_options.h"
#include "convert/edits/graph_edits.h"
#include "convert/edits/node_pattern.h"
#include "convert/edits/port_options.h"
#include "convert/place/written.h"
#include "convert/quantize/quantize_text.h"
#include "convert/verify/source_effects.h"
#include "formats/input_texts.h"
#include "passes/core/ports.h"

namespace nn {
namespace {

// Frees a model that only GraphSource::error needs, if that can read it again.
void Release(ReadModel& read, const std::string& path) {
  std::error_code error;
  const bool lasts = path != "-" && (std::filesystem::is_regular_file(path, error) ||
                                     std::filesystem::is_directory(path, error));
  if (lasts) read.model.reset();
}

Result<ReadModel> ReadSource(const ConvertJob& o) {
  NN_ASSIGN(ReadModel read, ReadModelFile(o.input, o.limits));
  return WithFunction(std::move(read), o.function);
}

std::optional<Finding> ErrorOfSource(const ReadModel& read, const ConvertJob& o) {
  if (read.model != nullptr) return FirstError(read);
  const auto again = ReadSource(o);
  return again ? FirstError(*again) : std::nullopt;
}

// The first operator set of ONNX with scales along an axis, and with integers of 4 bits.
int64_t LeastOpset(const ConvertJob& o) {
  if (!o.quantize) return 0;
  return o.quantize->form.starts_with("weights-int4") ? 21 : 13;
}

Result<ImportedModel> ImportForConversion(const ReadModel& read, const ConvertJob& o,
                                          InputSettings inputs) {
  inputs.states = o.states ? StatePorts::kAll : StatePorts::kResources;
  return ImportWith(read, inputs, o.dequantize);
}

// A model that breaks a rule is written again rather than copied with its flaw; nullopt if it
// breaks none, or if it cannot be written.
std::optional<Conversion> WriteSound(const ReadModel& read, GraphSource from, const Format& format,
                                     const ConvertJob& o) {
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

// Whether the written model is to be of the kind of the source.
bool IsOfKind(const ReadModel& read, const Format& format, const ConvertJob& o) {
  return read.format == &format && format.writer.WouldKeep(*read.model, OutputOf(o));
}

bool ChangesGraph(const ConvertJob& o) {
  return FirstOptionWith(kChangesGraph, o) != nullptr || o.hooks.edit || o.hooks.prepare ||
         o.hooks.constants;
}

// Whether the model stays as it is unless --simplify finds a form with fewer operators.
bool IsOnlySimplified(const ConvertJob& o) {
  nnsuite::ConvertOptions others = o;
  others.simplify = false;
  constexpr unsigned kChanges = kChangesGraph | kChangesNames | kChangesFile;
  return o.simplify && FirstOptionWith(kChanges, others) == nullptr && !o.hooks.edit &&
         !o.hooks.prepare && !o.hooks.constants;
}

}  // namespace

ExportOptions OutputOf(const ConvertJob& o) {
  return {.path = o.output,
          .opset = o.opset,
          .producer_version = o.producer_version,
          .external_data = o.external_data,
          .value_info = o.infer_shapes,
          .core_ml = o.core_ml,
          .deployment_target = o.deployment_target,
          .frame = o.frame};
}

InputSettings InputsOf(const ConvertJob& o) {
  InputSettings inputs;
  inputs.shapes = o.input_shapes;
  inputs.lengths = ListLengthsOf(o.lengths);
  inputs.batch = o.batch;
  inputs.constants = o.hooks.constants;
  return inputs;
}

VerifyOptions RunsOf(const ConvertJob& o) {
  VerifyOptions runs = {o.verification, o.hooks.verify};
  if (!runs.prepare && !o.verification.input_shapes.empty())
    runs.prepare = [&o](Graph& source) {
      return BindShapes(source, o.verification.input_shapes, std::nullopt);
    };
  return runs;
}

Result<QuantizeSettings> QuantizationOf(const ConvertJob& o, const Format& target) {
  NN_ASSIGN(QuantizeSettings settings, QuantizeSettingsOf(*o.quantize, target));
  settings.options.keeps = NodesMatching(o.keep_float32);
  settings.calibration.samples = o.hooks.samples;
  return settings;
}

bool EditsGraph(const ConvertJob& o) {
  return o.hooks.edit || !GraphEditOption(o.edits).empty();
}

Error ConvertJob::InInput(const Error& error) const {
  return input.empty() ? error : error.In(input);
}

Result<ImportedModel> ImportForConversion(const ReadModel& read, const ConvertJob& o) {
  NN_RETURN_IF_ERROR(CheckSourceEffects(read, o));
  auto imported = ImportForConversion(read, o, InputsOf(o));
  if (!imported) return tl::unexpected(o.InInput(imported.error()));
  return imported;
}

GraphSource SourceOf(const ReadModel& read, const ConvertJob& o) {
  GraphSource from;
  from.format = read.format;
  from.holdings = HoldingsOf(read);
  if (o.simplify) from.operators = OperatorsOf(read);
  from.error = [&read, &o] { return ErrorOfSource(read, o); };
  if (!EditsGraph(o) && !o.quantize && !o.half)
    from.import_again = [&read, &o](const InputSettings& inputs) -> Result<ImportedModel> {
      if (read.model != nullptr) return ImportForConversion(read, o, inputs);
      NN_ASSIGN(const ReadModel again, ReadSource(o));
      return ImportForConversion(again, o, inputs);
    };
  return from;
}

Result<ConvertJob> WithinFormat(const ReadModel& read, const Format& format, const ConvertJob& o) {
  ConvertJob framed = o;
  if (read.format != &format) return framed;
  NN_ASSIGN(ModelFrame frame, format.writer.FrameOf(*read.model));
  if (frame.model == nullptr) return framed;
  framed.frame = std::move(frame.model);
  const bool keeps_version = o.simplify || o.half || o.quantize || EditsGraph(o);
  if (keeps_version && framed.opset == 0) framed.opset = std::max(frame.opset, LeastOpset(o));
  return framed;
}

Result<Conversion> ConvertModel(ReadModel read, const Format& format, const ConvertJob& o) {
  auto framed = WithinFormat(read, format, o);
  if (!framed) return tl::unexpected(o.InInput(framed.error()));
  GraphSource from = SourceOf(read, o);
  from.may_copy = IsOfKind(read, format, o) && o.simplify && o.copy_unless_fewer && !o.dry_run;
  NN_ASSIGN(ImportedModel imported, ImportForConversion(read, o));
  if (!from.may_copy && !o.edited) Release(read, o.input);
  NN_ASSIGN(Conversion done, ConvertGraph(std::move(imported), from, format, *framed));
  if (!from.may_copy || done.written || !done.unsupported.empty() || done.verification) return done;
  if (auto sound = WriteSound(read, from, format, *framed)) return *std::move(sound);
  NN_ASSIGN(done, CopyModel(read, o));
  done.operators = OperatorCount{from.operators, from.operators};
  done.copied = true;
  return done;
}

bool IsCopy(const ReadModel& read, const Format& format, const ConvertJob& o) {
  return IsOfKind(read, format, o) && !ChangesGraph(o);
}

Result<Conversion> ConvertOrCopy(ReadModel read, const Format& format, ConvertJob o) {
  NN_ASSIGN(read, WithFunction(std::move(read), o.function));
  if (!IsCopy(read, format, o)) {
    o.copy_unless_fewer = IsOnlySimplified(o);
    return ConvertModel(std::move(read), format, o);
  }
  NN_RETURN_IF_ERROR(CheckSourceEffects(read, o));
  const auto copy = [&]() -> Result<Conversion> {
    if (o.renamed_inputs.empty() && o.renamed_outputs.empty()) return CopyModel(read, o);
    NN_ASSIGN(const PortNames names, read.format->describer.PortNamesOf(*read.model));
    NN_ASSIGN(const PortNames renamed, NewNames(o, names));
    return RenameModel(read, renamed, o);
  };
  NN_ASSIGN(Conversion done, copy());
  done.copy = true;
  return done;
}

Result<Conversion> ConvertFile(const Format& format, const ConvertJob& o) {
  NN_ASSIGN(ReadModel read, ReadSource(o));
  return ConvertModel(std::move(read), format, o);
}

}  // namespace nn
