// Runs the rules of a format over a model.
#pragma once

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

// All findings of the rules in the profile, rule by rule, those of one rule in the order of the
// file. Never stops at the first; Location::file is left to the caller.
std::vector<Finding> Validate(const NativeModel& model, const Format& format,
                              const ValidateOptions& options);

// The finding that an unreadable file is: rule <FORMAT>-FILE-001, or FILE-001 where the format is
// not known.
Finding UnreadableFile(const Error& error, const Format* format);

// All rules that a profile has, of every format, in the order in which they run.
std::vector<RuleInfo> Rules(Profile profile);

// RULES.md: all rules of all profiles as Markdown.
std::string RulesMarkdown();

}  // namespace nn
