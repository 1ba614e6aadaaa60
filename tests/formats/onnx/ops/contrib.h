// Models of one operator that ONNX Runtime adds to those of ONNX.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nn::test::onnx_contrib {

using Numbers = std::vector<double>;

inline constexpr int kF32 = 1, kU8 = 2, kI8 = 3, kI32 = 6, kI64 = 7, kF16 = 10;

struct Operand {
  std::vector<int64_t> dims;
  Numbers values;
  int type = kF32;
  bool constant = false;
};
inline Operand Constant(int type, std::vector<int64_t> dims, Numbers values) {
  return {std::move(dims), std::move(values), type, true};
}
inline const Operand kAbsent{{}, {}, 0};

// A model of one operator.
struct Row {
  std::string_view op;
  // "name=1 name=0.5 name=text name=[1,2] name=["a","b"]"; a number with a point is a float
  std::string_view attrs;
  std::vector<Operand> inputs;
  std::vector<Numbers> outputs;  // an output without numbers is absent
  std::string_view domain = "com.microsoft";
};

// Imports and runs the model, and compares the outputs with the expected ones.
void Check(const Row& row);

// Why it is not imported.
std::string WhyNot(const Row& row);

}  // namespace nn::test::onnx_contrib
