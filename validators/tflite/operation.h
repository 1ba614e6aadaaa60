// An operator as the interpreter sees it while it prepares a model for a run: with the types and
// shapes that the operators before it have given its inputs, whatever the file declares for them.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/tflite/signature.h"
#include "validators/tflite/subject.h"

namespace nn::tflite {

using Dims = std::vector<int64_t>;

// A tensor while the operators of its sub-graph are prepared one after the other.
struct Value {
  const fb::Tensor* tensor = nullptr;
  int32_t index = 0;
  fb::TensorType type{};
  std::optional<Dims>
      dims;               // -1 for a size that only a run tells; none if not even the rank is known
  bool constant = false;  // its contents are in the file

  int64_t rank() const { return dims ? static_cast<int64_t>(dims->size()) : -1; }
  // The size of axis i, negative ones from the end; -1 if it is not known.
  int64_t dim(int64_t i) const;
  // Their product; -1 if it is not known.
  int64_t elements() const;
  std::string Text() const;  // tensor 3 "name"
};

// "[1, ?, 3]", "of unknown rank".
std::string ShapeText(const std::optional<Dims>& dims);

// The quantisation of a tensor that has scales; nullptr for others. Blockwise and multi-axis
// quantisation has none.
const fb::QuantizationParameters* AffineOf(const fb::Tensor& tensor);
// Scale and zero point of a tensor that is quantised as a whole; 0 for others, as the interpreter
// has it.
float ScaleOf(const Value& value);
int64_t ZeroPointOf(const Value& value);

bool IsQuantisedType(fb::TensorType type);  // UINT8, INT8, INT16

// No size that is worked out goes beyond this; a larger one counts as not known.
inline constexpr int64_t kMostSize = int64_t{1} << 40;

// Sum and product of sizes; -1 if one is not known.
inline int64_t Plus(int64_t a, int64_t b) {
  return a < 0 || a + b > kMostSize || a + b < 0 ? -1 : a + b;
}
inline int64_t Times(int64_t a, int64_t b) {
  return a < 0 || b < 0 || (a > 0 && b > kMostSize / a) ? -1 : a * b;
}

// The fully or partly known sizes contradict each other.
inline bool Differ(int64_t a, int64_t b) {
  return a >= 0 && b >= 0 && a != b;
}

class Operation {
 public:
  // `values` are those of the sub-graph's tensors.
  Operation(const Subject& subject, const OperatorAt& at, std::vector<Value>& values,
            Problems& problems);

  const Subject& subject() const { return subject_; }
  const OperatorAt& at() const { return at_; }
  fb::BuiltinOperator op() const { return op_; }
  int inputs() const { return static_cast<int>(SizeOf(at_.op->inputs())); }
  int outputs() const { return static_cast<int>(SizeOf(at_.op->outputs())); }

  // nullptr for one that is left out or leads nowhere.
  Value* in(int i) const { return ValueAt(at_.op->inputs(), i); }
  Value* out(int i) const { return ValueAt(at_.op->outputs(), i); }
  bool AllPresent(int count) const;

  // The contents of a constant integer tensor of at most kMostInts elements. What is beyond
  // +-kMostSize is cut to that.
  static constexpr int64_t kMostInts = 4096;
  std::optional<std::vector<int64_t>> Ints(int input) const;

  // The interpreter refuses the operator.
  template <typename... Args>
  void Fail(Check check, fmt::format_string<Args...> format, Args&&... args) {
    failed_ = true;
    problems_.Add(check, Where(at_),
                  Title(at_) + ": " + fmt::format(format, std::forward<Args>(args)...));
  }
  // Records without refusing.
  template <typename... Args>
  void Note(Check check, fmt::format_string<Args...> format, Args&&... args) {
    problems_.Add(check, Where(at_),
                  Title(at_) + ": " + fmt::format(format, std::forward<Args>(args)...));
  }
  bool failed() const { return failed_; }

  // The shape that the interpreter gives an output.
  void Give(int output, std::optional<Dims> dims);

 private:
  Value* ValueAt(const flatbuffers::Vector<int32_t>* list, int i) const;

  const Subject& subject_;
  const OperatorAt& at_;
  fb::BuiltinOperator op_;
  std::vector<Value>& values_;
  Problems& problems_;
  bool failed_ = false;
};

// What preparing an operator checks of it beyond its signature, and the shapes it works out.
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
std::span<const Preparation> QuantisationPreparations();
std::span<const Preparation> StableHloPreparations();

// Output 0 has the shape of input 0.
void KeepShape(Operation& o);

// An axis counted from either end of `rank` axes; -1 if it is none of them.
inline int64_t AxisOf(int64_t axis, int64_t rank) {
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? axis : -1;
}

}  // namespace nn::tflite
