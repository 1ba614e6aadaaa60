// Whether a model is the one that a statement attests (nnsuite::CheckOptions::attestation).
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "formats/format.h"
#include "validators/finding.h"

namespace nn {

// A statement (check/provenance.h).
struct Attestation {
  std::string path;
  Json statement;
  bool is_signed = false;  // in an envelope, whose signatures are not checked
};

// kUsage for contents other than a statement.
Result<Attestation> ReadAttestation(const std::string& path);

// Compares the files of the model at `path` with the subjects of the statement, and the model with
// the digests that do not depend on how it is stored, if the statement has them. The rule ids are
// "ATTEST-SUBJECT" and so on. kIo for files that cannot be read.
Result<std::vector<Finding>> CheckAttestation(const ReadModel& model, const std::string& path,
                                              const ReadLimits& limits,
                                              const Attestation& attestation);

// The requirements as rules, for reports.
std::vector<RuleInfo> AttestationRules();

}  // namespace nn
