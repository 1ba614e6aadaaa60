// A project's requirements on its models beyond the formats' rules (nnsuite::Assertions), and their
// description: what nnvalidate, C and Python call them.
//
// Design: docs/design/069-described-options.md.
#pragma once

#include <string>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "formats/format.h"
#include "nnsuite/validate.h"
#include "validators/finding.h"

namespace nn {

using nnsuite::Assertions;

OptionTable AssertionTable();

// kUsage for unknown types.
Status CheckUsage(const Assertions& assertions);

// One finding for each violation; the rule ids are "ASSERT-OPS" and so on. Requires that
// CheckUsage() succeeded.
std::vector<Finding> CheckAssertions(const ReadModel& model, const std::string& path,
                                     const Assertions& assertions);

// The assertions as rules, for reports.
std::vector<RuleInfo> AssertionRules(const Assertions& assertions);
std::vector<RuleInfo> AllAssertionRules();

}  // namespace nn
