// An operator as the interpreter sees it while it prepares a model for a run: its inputs have the
// types and shapes that earlier operators gave them, whatever the file declares.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/tflite/constraints/constraint.h"
#include "formats/tflite/spec/signature.h"

// In a namespace of its own, because graphs have values and dimensions too.
namespace nn::tflite::constraints {

using Dims = std::vector<int64_t>;

// A tensor while the operators of its subgraph are prepared one after the other.
struct Value {
  const fb::Tensor* tensor = nullptr;
  int32_t index = 0;
  fb::TensorType type{};
  // -1 for a dimension that is unknown before a run; nullopt if the rank is unknown.
  std::optional<Dims> dims;
  bool constant = false;  // its data is in the file
  std::string role = {};  // its name in messages, in place of `tensor`'s

  int64_t rank() const { return dims ? static_cast<int64_t>(dims->size()) : -1; }
  // The dimension of axis i, counted from the end if negative; -1 if it is unknown.
  int64_t dim(int64_t i) const;
  // The product of the dimensions; -1 if it is unknown.
  int64_t elements() const;
  std::string Text() const;  // role, or: tensor 3 "name"
};

// "[1, ?, 3]", "of unknown rank".
std::string ShapeText(const std::optional<Dims>& dims);

// The quantization of a tensor with scales; nullptr for others, including tensors with blockwise or
// multi-axis quantization.
const fb::QuantizationParameters* AffineOf(const fb::Tensor& tensor);
// Scale and zero point of a tensor with per-tensor quantization; 0 for others, as in the
// interpreter.
float ScaleOf(const Value& value);
int64_t ZeroPointOf(const Value& value);

bool IsQuantizedType(fb::TensorType type);  // UINT8, INT8, INT16

// The largest size that is computed; a larger one counts as unknown.
inline constexpr int64_t kMaxSize = int64_t{1} << 40;

// Sum and product of sizes; -1 if one is unknown.
inline int64_t Plus(int64_t a, int64_t b) {
  return a < 0 || a + b > kMaxSize || a + b < 0 ? -1 : a + b;
}
inline int64_t Times(int64_t a, int64_t b) {
  return a < 0 || b < 0 || (a > 0 && b > kMaxSize / a) ? -1 : a * b;
}

// Whether two sizes are both known and different.
inline bool Differ(int64_t a, int64_t b) {
  return a >= 0 && b >= 0 && a != b;
}

class Operation {
 public:
  // `values` are the tensors of the subgraph.
  Operation(const ModelView& model, const OperatorAt& at, std::vector<Value>& values,
            const std::function<void(Violation)>& report);

  const ModelView& model() const { return model_; }
  const OperatorAt& at() const { return at_; }
  fb::BuiltinOperator op() const { return op_; }
  int inputs() const { return static_cast<int>(SizeOf(at_.op->inputs())); }
  int outputs() const { return static_cast<int>(SizeOf(at_.op->outputs())); }

  // nullptr if the operand is absent or its index is out of range.
  Value* in(int i) const { return ValueAt(at_.op->inputs(), i); }
  Value* out(int i) const { return ValueAt(at_.op->outputs(), i); }
  bool AllPresent(int count) const;

  // The elements of a constant integer tensor of at most kMaxInts elements, clamped to
  // +-kMaxSize.
  static constexpr int64_t kMaxInts = 4096;
  std::optional<std::vector<int64_t>> Ints(int input) const;

  // Reports a problem with which the interpreter rejects the operator.
  template <typename... Args>
  void Fail(Check check, fmt::format_string<Args...> format, Args&&... args) {
    failed_ = true;
    Note(check, format, std::forward<Args>(args)...);
  }
  // Reports a problem with which the interpreter goes on.
  template <typename... Args>
  void Note(Check check, fmt::format_string<Args...> format, Args&&... args) {
    report_({check, at_, fmt::format(format, std::forward<Args>(args)...)});
  }
  bool failed() const { return failed_; }

  // The shape that the interpreter gives an output.
  void Give(int output, std::optional<Dims> dims);

 private:
  Value* ValueAt(const flatbuffers::Vector<int32_t>* list, int i) const;

  const ModelView& model_;
  const OperatorAt& at_;
  fb::BuiltinOperator op_;
  std::vector<Value>& values_;
  const std::function<void(Violation)>& report_;
  bool failed_ = false;
};

// What preparation checks in an operator beyond its signature, and the shapes that it computes.
using PrepareFn = void (*)(Operation& o);
struct Preparation {
  fb::BuiltinOperator op;
  PrepareFn prepare;
};

std::span<const Preparation> ElementwisePreparations();
std::span<const Preparation> WindowPreparations();
std::span<const Preparation> MatrixPreparations();
std::span<const Preparation> ShapePreparations();
std::span<const Preparation> SlicePreparations();
std::span<const Preparation> IndexPreparations();
std::span<const Preparation> ReductionPreparations();
std::span<const Preparation> RecurrentPreparations();
std::span<const Preparation> ControlPreparations();
std::span<const Preparation> QuantizationPreparations();
std::span<const Preparation> StableHloPreparations();

// Gives output 0 the shape of input 0.
void KeepShape(Operation& o);

// An axis of `rank` axes, counted from the end if negative; -1 if it is out of range.
inline int64_t AxisOf(int64_t axis, int64_t rank) {
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? axis : -1;
}

}  // namespace nn::tflite::constraints
