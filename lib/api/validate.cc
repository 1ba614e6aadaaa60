#include "nnsuite/validate.h"

#include <utility>

#include "api/access.h"
#include "nnsuite/version.h"
#include "validators/assertions.h"
#include "validators/report.h"
#include "validators/runner.h"
#include "validators/targets.h"

namespace nnsuite {

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
  nn::Report report;
  report.tool_version = Version();
  report.files.push_back({.path = model.path(),
                          .format = std::string(Access::Of(model).read.format->label),
                          .findings = std::move(findings),
                          .rest = {},
                          .failure = {}});
  if (max_per_rule) nn::LimitFindings(report.files[0], *max_per_rule);
  return nn::JsonReport(report);
}

}  // namespace nnsuite
