#include "nnsuite/validate.h"

#include <utility>

#include "api/access.h"
#include "nnsuite/version.h"
#include "validators/report.h"
#include "validators/runner.h"

namespace nnsuite {

std::vector<Finding> Validate(const Model& model, const ValidateOptions& options) {
  const nn::ReadModel& read = Access::Of(model).read;
  return nn::Validate(*read.model, *read.format, options);
}

std::string FindingsReport(const Model& model, std::vector<Finding> findings) {
  nn::Report report;
  report.tool_version = Version();
  report.files.push_back({.path = model.path(),
                          .format = std::string(Access::Of(model).read.format->label),
                          .findings = std::move(findings),
                          .rest = {},
                          .failure = {}});
  return nn::JsonReport(report);
}

}  // namespace nnsuite
