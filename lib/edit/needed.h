// What a part of a model needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/common/edit/native_edit.h"

namespace nn::edit {

// Operators with effects that are needed although no value depends on them.
enum class Effects : uint8_t {
  kNone,
  // Those on states that the part uses. An operator without a state among its inputs, such as the
  // initialization of a model, has its effect on unknown ones.
  kOnUsedStates,
  kAll,
};

struct Needed {
  std::vector<bool> operators, values;
};

// The operators that compute the values `ends` from `starts`, and the values that they use. Where a
// value is assigned several times, all assignments before its use are needed.
Needed NeededFor(const NativeFlow& flow, const std::vector<size_t>& ends,
                 const std::vector<size_t>& starts, Effects effects);

}  // namespace nn::edit
