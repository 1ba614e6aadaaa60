#include "convert/verify/outcome.h"

#include <array>

namespace nn {

std::string_view OutcomeName(Outcome outcome) {
  constexpr std::array<std::string_view, kOutcomes> kNames = {
      "converted", "unverified",  "copied",  "edited", "convertible",
      "unchanged", "unsupported", "refuted", "error"};
  return kNames[static_cast<size_t>(outcome)];
}

const Verification* FailedVerification(const Conversion& c) {
  for (const auto* v : {&c.edit_verification, &c.verification})
    if (*v && !(*v)->passed) return &**v;
  return nullptr;
}

Outcome OutcomeOf(const Conversion& c, const std::optional<Error>& error, bool dry_run) {
  if (error)
    return error->code() == ErrorCode::kUnsupported ? Outcome::kUnsupported : Outcome::kError;
  if (!c.unsupported.empty()) return Outcome::kUnsupported;
  if (FailedVerification(c) != nullptr) return Outcome::kRefuted;
  if (dry_run) return Outcome::kConvertible;
  if (c.copied) return Outcome::kCopied;
  return c.verification ? Outcome::kConverted : Outcome::kUnverified;
}

int CodeOf(Outcome outcome, const std::optional<Error>& error) {
  switch (outcome) {
    case Outcome::kUnsupported:
      return ExitCode(ErrorCode::kUnsupported);
    case Outcome::kRefuted:
      return ExitCode(ErrorCode::kModel);
    case Outcome::kError:
      return ExitCode(error->code());
    default:
      return 0;
  }
}

}  // namespace nn
