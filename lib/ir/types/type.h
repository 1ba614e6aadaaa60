// The type of a value: element type, shape and, for quantized tensors, the mapping of integers to
// reals.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/shared.h"
#include "ir/types/dim.h"
#include "ir/types/dtype.h"

namespace nn {

// real = scale * (integer - zero_point). Per tensor: one scale, axis < 0. Per axis: one scale for
// each index of dimension `axis`.
struct Quant {
  std::vector<float> scales;
  std::vector<int64_t> zero_points;  // empty: all zero; else same size as scales
  int axis = -1;
  // The range of real values that a converter recorded (TensorFlow Lite); preserved but not used.
  std::vector<float> min;
  std::vector<float> max;

  bool per_axis() const { return axis >= 0; }
  float scale(size_t i = 0) const { return scales[scales.size() == 1 ? 0 : i]; }
  int64_t zero_point(size_t i = 0) const {
    return zero_points.empty() ? 0 : zero_points[zero_points.size() == 1 ? 0 : i];
  }
  // Whether scales, zero points and axis are equal; the recorded ranges are ignored.
  bool SameMapping(const Quant& other) const;
  bool operator==(const Quant&) const = default;

  static std::shared_ptr<const Quant> PerTensor(float scale, int64_t zero_point);
};

// The dimensions of a type, or nothing if its rank is unknown: an std::optional<Dims> whose
// contents cannot be changed, and are therefore shared by copies.
class TypeDims {
 public:
  TypeDims() = default;
  TypeDims(std::nullopt_t) {}  // NOLINT(google-explicit-constructor)
  TypeDims(Dims dims)          // NOLINT(google-explicit-constructor)
      : dims_(std::move(dims)) {}
  TypeDims(std::optional<Dims> dims) {  // NOLINT(google-explicit-constructor)
    if (dims) *this = TypeDims(*std::move(dims));
  }
  operator std::optional<Dims>() const {  // NOLINT(google-explicit-constructor)
    return dims_ ? std::optional(*dims_) : std::nullopt;
  }

  bool has_value() const { return static_cast<bool>(dims_); }
  explicit operator bool() const { return has_value(); }
  // Require has_value().
  const Dims& operator*() const { return *dims_; }
  const Dims* operator->() const { return dims_.get(); }
  void reset() { dims_.reset(); }
  friend bool operator==(const TypeDims& a, const TypeDims& b) {
    return a.dims_ == b.dims_ || (a && b && *a == *b);
  }

 private:
  Shared<Dims> dims_;
};

struct Type {
  DType dtype = DType::kUnknown;
  TypeDims dims;  // nothing: unknown rank
  std::shared_ptr<const Quant> quant;

  Type() = default;
  Type(DType t, Dims d, std::shared_ptr<const Quant> q = nullptr)
      : dtype(t), dims(std::move(d)), quant(std::move(q)) {}

  bool ranked() const { return dims.has_value(); }
  // Requires ranked().
  int rank() const { return static_cast<int>(dims->size()); }
  const Dim& dim(int i) const { return (*dims)[static_cast<size_t>(i)]; }
  // The dimensions if all are constant.
  std::optional<std::vector<int64_t>> const_dims() const {
    return dims ? ConstDims(*dims) : std::nullopt;
  }
  bool quantized() const { return quant != nullptr; }
  Type WithDims(Dims d) const { return Type(dtype, std::move(d), quant); }

  // "f32[1, batch]", "u8[4]{scale=0.5, zp=128}", "f32[*]" for unknown rank.
  std::string ToString() const;
};

bool operator==(const Type& a, const Type& b);

// Whether a value of type `actual` may have the declared type `declared`: unknown element types,
// ranks and symbols match anything; two different constants do not match. Ignores quantization.
bool Compatible(const Type& declared, const Type& actual);

// Merges two compatible types, dimension by dimension; constants win over symbols, else `preferred`
// wins.
Type Refine(const Type& preferred, const Type& other);

// The shortest decimal that parses to the same float.
std::string FloatText(float value);

}  // namespace nn
