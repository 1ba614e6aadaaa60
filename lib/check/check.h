// The findings about one model, whatever asks for them: nnvalidate, or nnsuite::CheckModel().
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "check/attestation.h"
#include "formats/format.h"
#include "validators/assertions.h"
#include "validators/finding.h"
#include "validators/runner.h"
#include "validators/targets.h"

namespace nn {

struct ModelChecks {
  const ValidateOptions& rules;
  const Assertions& assertions;  // for which CheckUsage() succeeded
  const std::vector<TargetVersion>& targets;
  const Attestation* attestation = nullptr;
  bool fingerprints = false;  // of all findings
};

// The findings about the model at `path`: those of the rules, the targets, the assertions and the
// attestation, in this order. Location::file is empty. kIo if a file of an attested model cannot be
// read, kInternal for defects of a conversion.
Result<std::vector<Finding>> FindingsOf(const ReadModel& model, const std::string& path,
                                        const ReadLimits& limits, const ModelChecks& checks);

// The rules, targets and assertions, and those of attestations if `attestation` is set.
std::vector<RuleInfo> RulesOf(const ModelChecks& checks);

}  // namespace nn
