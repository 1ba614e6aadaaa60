#include "nnsuite/validate.h"

#include "api/access.h"
#include "validators/runner.h"

namespace nnsuite {

std::vector<Finding> Validate(const Model& model, const ValidateOptions& options) {
  const nn::ReadModel& read = Access::Of(model).read;
  return nn::Validate(*read.model, *read.format, options);
}

}  // namespace nnsuite
