#include "convert/place/written.h"

#include <algorithm>
#include <span>
#include <string>

#include "formats/given_inputs.h"
#include "validators/runner.h"

namespace nn {
namespace {

// The error for a flaw in the written model: kModel if the source is invalid, else kInternal.
tl::unexpected<Error> Flaw(const SourceError& source_error, const std::string& what) {
  if (const auto f = source_error())
    return ModelError(
        "the model violates rule {} ({}), and {}; run nnvalidate on the model for details", f->rule,
        f->message, what);
  return InternalError("{}", what);
}

}  // namespace

std::optional<Finding> FirstError(const ReadModel& model) {
  const auto findings = Validate(*model.model, *model.format, ValidateOptions{});
  const auto it = std::ranges::find(findings, Severity::kError, &Finding::severity);
  return it == findings.end() ? std::nullopt : std::optional(*it);
}

uint64_t OperatorsOf(const ReadModel& model) {
  const auto summary = model.format->describer.Summarize(*model.model);
  return summary ? summary->operators.size() : 0;
}

Result<ReadModel> ReadWritten(Result<ReadModel> written, const Format& format,
                              const SourceError& source_error) {
  if (!written) {
    if (written.error().code() == ErrorCode::kLimit) return written;
    return Flaw(source_error,
                fmt::format("the written file cannot be read: {}", written.error().message()));
  }
  if (written->format != &format)
    return InternalError("the written file is recognized as {}", written->format->label);
  return written;
}

Status CheckWritten(const ReadModel& written, const SourceError& source_error) {
  if (const auto f = FirstError(written))
    return Flaw(source_error,
                fmt::format("the written model violates rule {}: {}", f->rule, f->message));
  return {};
}

Result<Graph> ImportWritten(const ReadModel& written, const SourceError& source_error) {
  NN_ASSIGN(ImportedModel imported, ImportWrittenWith(written, source_error, StatePorts::kNone));
  return std::move(imported.graph);
}

Result<ImportedModel> ImportWrittenWith(const ReadModel& written, const SourceError& source_error,
                                        StatePorts states) {
  auto imported = ImportWith(written, InputSettings{.states = states});
  if (!imported)
    return Flaw(source_error, fmt::format("the written model cannot be imported: {}",
                                          imported.error().message()));
  if (!imported->unsupported.empty())
    return Flaw(source_error, fmt::format("the written model has unsupported parts: {}",
                                          imported->unsupported[0].reason));
  return imported;
}

Result<Graph> ImportImage(const FileImage& image, const std::string& path, const Format& format) {
  const auto no_error = [] { return std::optional<Finding>(); };
  NN_ASSIGN(const ReadModel written,
            ReadWritten(ReadModelBytes(image.Contents(), path), format, no_error));
  NN_RETURN_IF_ERROR(CheckWritten(written, no_error));
  return ImportWritten(written, no_error);
}

}  // namespace nn
