#include "nnsuite/validate.h"

#include <optional>
#include <utility>

#include "api/access.h"
#include "check/attestation.h"
#include "check/baseline.h"
#include "check/check.h"
#include "nnsuite/version.h"
#include "validators/assertions.h"
#include "validators/report.h"
#include "validators/runner.h"
#include "validators/targets.h"

namespace nnsuite {

namespace {

// The model as the only file of a report.
nn::Report ReportOf(const Model& model, std::vector<Finding> findings) {
  nn::Report report;
  report.tool_version = Version();
  report.files.push_back({.path = model.path(),
                          .format = std::string(Access::Of(model).read.format->label),
                          .findings = std::move(findings),
                          .rest = {},
                          .failure = {}});
  return report;
}

// The findings about a model, without a baseline.
Result<nn::Report> ReportOn(const Model& model, const CheckOptions& options, bool fingerprints) {
  NN_RETURN_IF_ERROR(nn::CheckUsage(options.assertions));
  std::vector<nn::TargetVersion> targets;
  for (const std::string& text : options.targets) {
    NN_ASSIGN(nn::TargetVersion target, nn::ParseTarget(text));
    targets.push_back(std::move(target));
  }
  std::optional<nn::Attestation> attestation;
  if (!options.attestation.empty()) {
    if (Access::Of(model).edited || model.path().empty())
      return nn::UsageError(
          "an attestation states digests of files; a model that was edited, or read from memory "
          "without a path, has none");
    NN_ASSIGN(attestation, nn::ReadAttestation(options.attestation));
  }
  ValidateOptions rules = options.rules;
  rules.fingerprints = false;  // they are added to all findings at once
  const nn::ModelChecks checks = {.rules = rules,
                                  .assertions = options.assertions,
                                  .targets = targets,
                                  .attestation = attestation ? &*attestation : nullptr,
                                  .fingerprints = fingerprints};
  NN_ASSIGN(std::vector<Finding> findings,
            nn::FindingsOf(Access::Of(model).read, model.path(), options.limits, checks));
  nn::Report report = ReportOf(model, std::move(findings));
  report.rules = nn::RulesOf(checks);
  report.files.front().fail_on = options.fail_on;
  return report;
}

nn::Status RequirePath(const Model& model) {
  if (!model.path().empty()) return {};
  return nn::UsageError("a baseline names models by their paths; this one has none");
}

}  // namespace

Result<CheckedModel> CheckModel(const Model& model, const CheckOptions& options) {
  const bool has_baseline = !options.baseline.empty();
  std::optional<nn::Baseline> baseline;
  if (has_baseline) {
    NN_RETURN_IF_ERROR(RequirePath(model));
    NN_ASSIGN(baseline, nn::Baseline::Read(options.baseline));
  }
  NN_ASSIGN(nn::Report report,
            ReportOn(model, options, has_baseline || options.rules.fingerprints));
  nn::FileReport& file = report.files.front();
  if (baseline) {
    baseline->Hide(file);
    report.baseline = options.baseline;
    report.stale = baseline->Stale(report);
  }
  CheckedModel out = {.findings = file.findings,
                      .known = file.known,
                      .stale = report.stale,
                      .failed = nn::CountFailing(report) != 0};
  if (options.max_per_rule) nn::LimitFindings(file, *options.max_per_rule);
  out.report = nn::JsonReport(report);
  return out;
}

Result<uint64_t> WriteBaseline(const Model& model, const std::string& path,
                               const CheckOptions& options) {
  NN_RETURN_IF_ERROR(RequirePath(model));
  NN_ASSIGN(const nn::Report report, ReportOn(model, options, /*fingerprints=*/true));
  const nn::Baseline baseline = nn::Baseline::Of(report, path);
  NN_RETURN_IF_ERROR(baseline.Write());
  return baseline.size();
}

std::vector<Finding> Validate(const Model& model, const ValidateOptions& options) {
  const nn::ReadModel& read = Access::Of(model).read;
  return nn::Validate(*read.model, *read.format, options);
}

Result<std::vector<Finding>> CheckAssertions(const Model& model, const Assertions& assertions) {
  NN_RETURN_IF_ERROR(nn::CheckUsage(assertions));
  return nn::CheckAssertions(Access::Of(model).read, model.path(), assertions);
}

Result<std::vector<Finding>> CheckTarget(const Model& model, const std::string& target) {
  NN_ASSIGN(const nn::TargetVersion version, nn::ParseTarget(target));
  return nn::CheckTarget(Access::Of(model).read, version);
}

std::string FindingsReport(const Model& model, std::vector<Finding> findings,
                           std::optional<size_t> max_per_rule) {
  nn::Report report = ReportOf(model, std::move(findings));
  if (max_per_rule) nn::LimitFindings(report.files.front(), *max_per_rule);
  return nn::JsonReport(report);
}

}  // namespace nnsuite
