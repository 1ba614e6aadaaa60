#include "apps/nnconvert/written.h"

#include <algorithm>
#include <vector>

#include "validators/runner.h"

namespace nn::app {
namespace {

const Finding* FirstError(const std::vector<Finding>& findings) {
  const auto it = std::find_if(findings.begin(), findings.end(),
                               [](const Finding& f) { return f.severity == Severity::kError; });
  return it == findings.end() ? nullptr : &*it;
}

// What is wrong with the written model, and whose fault it is.
tl::unexpected<Error> Flaw(const ReadModel& source, const std::string& what) {
  const auto findings = Validate(*source.model, *source.format, ValidateOptions{});
  if (const Finding* f = FirstError(findings))
    return ModelError("the model breaks rule {} ({}), and {}; nnvalidate lists what to mend",
                      f->rule, f->message, what);
  return InternalError("{}", what);
}

}  // namespace

Result<ReadModel> ReadWritten(Result<ReadModel> written, const Format& format,
                              const ReadModel& source) {
  if (!written) {
    if (written.error().code() == ErrorCode::kLimit) return written;
    return Flaw(source,
                fmt::format("the written file cannot be read: {}", written.error().message()));
  }
  if (written->format != &format)
    return InternalError("the written file is taken for {}", written->format->label);
  return written;
}

Status CheckWritten(const ReadModel& written, const ReadModel& source) {
  const auto findings = Validate(*written.model, *written.format, ValidateOptions{});
  if (const Finding* f = FirstError(findings))
    return Flaw(source, fmt::format("the written model breaks rule {}: {}", f->rule, f->message));
  return {};
}

Result<Graph> ImportWritten(const ReadModel& written, const ReadModel& source) {
  auto imported = written.format->import(*written.model);
  if (!imported)
    return Flaw(source, fmt::format("the written model cannot be imported: {}",
                                    imported.error().message()));
  if (!imported->obstacles.empty())
    return Flaw(source, fmt::format("the written model has what this suite does not import: {}",
                                    imported->obstacles[0].reason));
  return std::move(imported->graph);
}

}  // namespace nn::app
