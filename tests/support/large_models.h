// ONNX models of any size, for what must take work in proportion to it. Written field by field, so
// no code of the library has a part in them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace nn::test {

struct LargeModel {
  std::string_view name;
  std::string_view what;  // of n of what
  std::string (*make)(size_t n) = nullptr;
};

std::span<const LargeModel> LargeModels();
// The file of the model; a failed assertion if there is no such name.
std::string MakeLargeModel(std::string_view name, size_t n);

// Subgraphs (the branches of If nodes) in each other.
std::string NestedModel(size_t depth);

}  // namespace nn::test
