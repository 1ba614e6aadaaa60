// The check of a shape that a file declares and that inference cannot derive: it depends on the
// contents of a value that only a run has.
#pragma once

#include <span>
#include <vector>

#include "ir/attrs.h"

namespace nn {

struct AssumeShapeAttrs {
  // An entry an axis; kAnySize where the input's own size stands.
  std::vector<int64_t> dims;
  static constexpr int64_t kAnySize = -1;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
