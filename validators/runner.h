// Runs the rules of a format over a model.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "validators/finding.h"

namespace nn {

enum class Profile : uint8_t {
  kSpec,    // everything that the published documents require
  kVendor,  // only what the format owner's own loader or checker rejects
  kStrict,  // kSpec and lint
};

struct ValidateOptions {
  Profile profile = Profile::kSpec;
};

// All findings of the rules in the profile, in the order of the file. Never stops at the first;
// Location::file is left to the caller.
std::vector<Finding> Validate(const NativeModel& model, const Format& format,
                              const ValidateOptions& options);

// The finding that an unreadable file is: rule FILE-001.
Finding UnreadableFile(const Error& error);

// All rules that a profile has, of every format, by id.
std::vector<RuleInfo> Rules(Profile profile);

}  // namespace nn
