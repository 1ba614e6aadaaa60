// Compares two tensors within a tolerance.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "ir/tensor.h"
#include "nnsuite/tensor.h"

namespace nn {

using nnsuite::Tolerance;

struct Comparison {
  bool agrees = false;     // types and shapes are equal, and all elements agree
  bool identical = false;  // bit-identical
  // The mismatch of type or shape; if not empty, the members below are meaningless.
  std::string mismatch;
  int64_t elements = 0;
  int64_t outside = 0;  // elements that do not agree
  // The largest |got - want|, infinite if one is NaN or infinite and the other differs; and the
  // largest |got - want| / |want| over elements where want is not 0. 0 for strings.
  double max_absolute = 0;
  double max_relative = 0;
  // The mean of |got - want| over all elements that are finite in both tensors; 0 for strings and
  // complex numbers.
  double mean_absolute = 0;
  // Over all elements that are finite in both tensors: 10 log10(sum want^2 / sum (got - want)^2),
  // infinite without differences; and the cosine of the angle between the tensors as vectors, 1 if
  // both are zero, 0 if one of them is. Strings and complex numbers: infinite and 1.
  double snr_db = std::numeric_limits<double>::infinity();
  double cosine = 1;
  // Whether mean_absolute, snr_db and cosine describe the tensors: they leave out elements that are
  // NaN or infinite, which must then be so in both tensors.
  bool has_means() const { return std::isfinite(max_absolute); }
  // The first element with the largest absolute difference; elements that do not agree take
  // precedence. nullopt if no elements differ.
  std::optional<int64_t> worst;
  std::string want_text;  // both elements at `worst`
  std::string got_text;
  double worst_absolute = 0;             // |got - want| there
  std::optional<double> worst_relative;  // |got - want| / |want| there; nullopt if want is 0
};

Comparison Compare(const Tensor& want, const Tensor& got, const Tolerance& tolerance);

// The largest finite magnitude of a float tensor, 0 for other types: what differences of its
// elements are relative to, because the error of an element near zero depends on the summands that
// it is computed from.
double LargestMagnitude(const Tensor& tensor);

// atol plus rtol times the largest magnitude of `want`, for each element.
Tolerance ScaledTolerance(double atol, double rtol, const Tensor& want);

// A summary as text: "bit-identical", "equal", "within tolerance, largest difference ...", "3 of 40
// elements differ, largest difference 0.25 absolute, 1 relative, at [1, 2]: 0.5, expected 0.25", or
// the mismatch. The differences are those of the element that is shown.
std::string Describe(const Comparison& comparison, const Tensor& want);

// "[1, 2]" for a flat index.
std::string IndexText(int64_t flat, const std::vector<int64_t>& dims);

// One element as text: "0.5", "true", "\"text\"", "1+2i".
std::string ElementText(const Tensor& tensor, int64_t i);

}  // namespace nn
