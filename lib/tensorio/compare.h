// How far two tensors are apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/tensor.h"

namespace nn {

// Two elements agree when |got - want| <= atol + rtol * |want|. NaN agrees with NaN, an infinity
// with itself only. Real and imaginary parts are compared one by one. Integers agree when they
// differ by at most `steps`; bool and strings must be equal.
struct Tolerance {
  double atol = 0;
  double rtol = 0;
  int64_t steps = 0;
};

struct Comparison {
  bool agrees = false;     // type and shape are equal and every element agrees
  bool identical = false;  // the same bits
  // What differs in type or shape; the numbers below are then meaningless.
  std::string mismatch;
  int64_t elements = 0;
  int64_t outside = 0;  // elements that do not agree
  // Largest |got - want|, infinite where one is NaN or infinite and the other is not the same; and
  // largest |got - want| / |want| where want is not 0. 0 for strings.
  double max_absolute = 0;
  double max_relative = 0;
  // The first element with the largest absolute difference, among those that do not agree if there
  // are any; nullopt if no two elements differ.
  std::optional<int64_t> worst;
  std::string want_text;  // the two elements there
  std::string got_text;
};

Comparison Compare(const Tensor& want, const Tensor& got, const Tolerance& tolerance);

// "all 40 elements are identical", "3 of 40 elements differ, most at [1, 2]: 0.5, expected 0.25",
// ... For people.
std::string Describe(const Comparison& comparison, const Tensor& want);

// "[1, 2]" for a flat index.
std::string IndexText(int64_t flat, const std::vector<int64_t>& dims);

// One element as text: "0.5", "true", "\"text\"", "1+2i".
std::string ElementText(const Tensor& tensor, int64_t i);

}  // namespace nn
