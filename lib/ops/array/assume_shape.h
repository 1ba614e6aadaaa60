// The run-time check of a declared shape that inference cannot derive because it depends on the
// contents of a value.
#pragma once

#include <span>
#include <vector>

#include "ir/attrs.h"

namespace nn {

struct AssumeShapeAttrs {
  // One entry per axis; kAnySize keeps the input's size.
  std::vector<int64_t> dims;
  static constexpr int64_t kAnySize = -1;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
