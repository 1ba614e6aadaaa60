// ONNX models of any size, for tests of linear running time. Written field by field, without code
// of the library.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace nn::test {

struct LargeModel {
  std::string_view name;
  std::string_view what;  // the meaning of n
  std::string (*make)(size_t n) = nullptr;
};

std::span<const LargeModel> LargeModels();
// The file of the model; a failed assertion if there is no such name.
std::string MakeLargeModel(std::string_view name, size_t n);

// Nested subgraphs (the branches of If nodes).
std::string NestedModel(size_t depth);

}  // namespace nn::test
