#include "validators/runner.h"

namespace nn {
namespace {

constexpr RuleInfo kReadable = {
    .id = "FILE-001",
    .severity = Severity::kError,
    .statement = "The file can be read as a model of its format.",
    .clause = "the format's encoding: Protocol Buffers wire form, FlatBuffers layout",
    .vendor = true,
    .hint = "Fetch or export the file again.",
};

}  // namespace

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      break;
  }
  return "error";
}

std::vector<Finding> Validate(const NativeModel&, const Format&, const ValidateOptions&) {
  return {};
}

Finding UnreadableFile(const Error& error) {
  return {std::string(kReadable.id),
          kReadable.severity,
          error.message(),
          {},
          std::string(kReadable.hint)};
}

std::vector<RuleInfo> Rules(Profile) {
  return {kReadable};
}

}  // namespace nn
