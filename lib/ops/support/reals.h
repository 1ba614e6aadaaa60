// Tensors of real numbers in the type used for computation: float for f32, f16 and bf16, which are
// widened and rounded once at the end; double for f64.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/status.h"
#include "ir/op_def.h"
#include "ir/tensor.h"
#include "ir/types/dtype.h"
#include "numeric/doubles.h"
#include "numeric/scalar_functions.h"

namespace nn {

// The elements of a tensor of floating-point numbers as T; a view if they have that type.
template <typename T>
class Reals {
 public:
  // `tensor` must be aligned and outlive this object.
  explicit Reals(const Tensor& t) {
    if (t.dtype() == kDTypeOf<T>) {
      view_ = t.As<T>();
      return;
    }
    owned_.resize(static_cast<size_t>(t.elements()));
    for (size_t i = 0; i < owned_.size(); ++i)
      owned_[i] = static_cast<T>(t.GetDouble(static_cast<int64_t>(i)));
    view_ = owned_;
  }
  Reals(const Reals&) = delete;
  Reals& operator=(const Reals&) = delete;

  size_t size() const { return view_.size(); }
  const T* data() const { return view_.data(); }
  std::span<const T> span() const { return view_; }
  T operator[](int64_t i) const { return view_[static_cast<size_t>(i)]; }

 private:
  std::vector<T> owned_;
  std::span<const T> view_;
};

// An output of a node, computed as T.
template <typename T>
class RealOutput {
 public:
  // Allocates output i according to its type.
  static Result<RealOutput> Create(EvalContext& ctx, size_t i = 0) {
    NN_ASSIGN(TensorBuilder builder, ctx.NewOutput(i));
    return RealOutput(ctx, i, std::move(builder));
  }

  int64_t size() const { return builder_.elements(); }
  T* data() { return view_.data(); }
  T& operator[](int64_t i) { return view_[static_cast<size_t>(i)]; }

  // Rounds to the output's element type and sets the tensor as the node's output.
  void Finish() {
    for (size_t i = 0; i < wide_.size(); ++i)
      builder_.SetDouble(static_cast<int64_t>(i), static_cast<double>(wide_[i]));
    ctx_->set_out(index_, builder_.Finish());
  }

 private:
  RealOutput(EvalContext& ctx, size_t index, TensorBuilder builder)
      : ctx_(&ctx), index_(index), builder_(std::move(builder)) {
    if (builder_.dtype() == kDTypeOf<T>) {
      view_ = builder_.As<T>();
    } else {
      wide_.resize(static_cast<size_t>(builder_.elements()));
      view_ = wide_;
    }
  }

  EvalContext* ctx_;
  size_t index_;
  TensorBuilder builder_;
  std::vector<T> wide_;
  std::span<T> view_;
};

// Calls fn(T()) with the computation type for reals of `dtype`; kUnsupported for other types.
template <typename Fn>
Status WithReals(DType dtype, Fn fn) {
  switch (dtype) {
    case DType::kF16:
    case DType::kBF16:
    case DType::kF32:
      return fn(float());
    case DType::kF64:
      return fn(double());
    default:
      return UnsupportedError("{} is not supported", DTypeName(dtype));
  }
}

// Elementary functions of a computation type.
template <typename T>
T RealExp(T x) {
  if constexpr (std::is_same_v<T, float>)
    return ScalarFunctions::Exp(x);
  else
    return ExpOfAny(x);
}
template <typename T>
T RealLog(T x) {
  if constexpr (std::is_same_v<T, float>)
    return ScalarFunctions::Log(x);
  else
    return LogOfAny(x);
}

// WithReals() for functions defined in float32 only, because they use an elementary function.
template <typename Fn>
Status WithFloats(DType dtype, Fn fn) {
  if (dtype != DType::kF64) return WithReals(dtype, [&](auto) { return fn(); });
  return UnsupportedError("{} is not supported", DTypeName(dtype));
}

}  // namespace nn
