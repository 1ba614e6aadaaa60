// How a conversion ended, in one word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "convert/convert.h"

namespace nn {

enum class Outcome : uint8_t {
  kConverted,   // and verified
  kUnverified,  // converted, but not verified
  kCopied,
  kEdited,       // and copied
  kConvertible,  // a dry run that found nothing unsupported
  kUnchanged,    // skipped: the output of an earlier run is up to date
  kUnsupported,
  kRefuted,
  kError,
};
inline constexpr size_t kOutcomes = 9;

// "converted", "unsupported": as in JSON.
std::string_view OutcomeName(Outcome outcome);

// The verification that did not pass; nullptr if there is none.
const Verification* FailedVerification(const Conversion& conversion);

// The outcome of a conversion, or of the error that ended it.
Outcome OutcomeOf(const Conversion& conversion, const std::optional<Error>& error, bool dry_run);

// The exit code of an outcome.
int CodeOf(Outcome outcome, const std::optional<Error>& error);

}  // namespace nn
