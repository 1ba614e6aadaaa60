// Signatures of the builtin operators: versions, options, how many tensors they take and give, and
// the element types and ranks of those.
//
// The table is text, one operator a line (longer ones go on in indented lines):
//
//   NAME versions options (input, ...) -> (output, ...)
//
// Versions are those that the interpreter's registration accepts ("3", "1-5"), or "none" where it
// has no kernel. Options are a member of BuiltinOptions or BuiltinOptions2 without its "Options",
// or "-"; "!" behind them: without them the operator is refused. An operand is a name and
//
//   ?         may be left out: by -1, and at the end altogether
//   ~         is listed always, but may be -1
//   * +       any number of them; at least one
//   [f32,i8]  element types that preparation accepts;  {f32,i8} that the kernel can compute
//   =x        preparation requires the type of input x
//   <x <i32   the kernel gives this type whatever the file declares (outputs)
//   :x        it has the type of input x, which nothing checks (outputs)
//   @2 @1-4 @1-   ranks that preparation accepts
//   #1        number of elements that preparation requires
//
// Source: tflite/core/kernels/register.cc, tflite/kernels/*.cc (Prepare), August 2026.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tflite/tflite_generated.h"

namespace nn::tflite {

// A set of element types, one bit each.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  void Add(fb::TensorType type) { bits_ |= Bit(type); }
  bool Has(fb::TensorType type) const { return (bits_ & Bit(type)) != 0; }
  bool empty() const { return bits_ == 0; }
  // "FLOAT32, INT8"
  std::string Text() const;

 private:
  static uint32_t Bit(fb::TensorType type) {
    const auto i = static_cast<unsigned>(type);
    return i < 32 ? uint32_t{1} << i : 0;
  }
  uint32_t bits_ = 0;
};

struct SignatureOperand {
  enum class Presence : uint8_t { kRequired, kNullable, kOptional };
  std::string name;
  Presence presence = Presence::kRequired;
  bool repeated = false;
  TypeSet types;      // empty: any
  bool hard = false;  // `types` is checked by the preparation, not only by the kernel
  int same_as = -1;   // the input whose type it has; checked by the preparation
  int given_by = -1;  // the input whose type the kernel gives it
  int expected = -1;  // the input whose type it should have
  bool has_given_type = false;
  fb::TensorType given_type{};
  int min_rank = 0;
  int max_rank = -1;  // -1: any
  int elements = -1;  // -1: any number
};

struct Signature {
  fb::BuiltinOperator op{};
  int min_version = 0;  // 0: no kernel
  int max_version = 0;
  fb::BuiltinOptions options = fb::BuiltinOptions::NONE;
  fb::BuiltinOptions2 options2 = fb::BuiltinOptions2::NONE;
  bool needs_options = false;
  std::vector<SignatureOperand> inputs;
  std::vector<SignatureOperand> outputs;
};

// The smallest and largest number of operands of a list; -1: any number.
int FewestOf(const std::vector<SignatureOperand>& list);
int MostOf(const std::vector<SignatureOperand>& list);

// The operand that position `i` belongs to; nullptr if there are not that many.
const SignatureOperand* OperandAt(const std::vector<SignatureOperand>& list, size_t i);

// A tensor as an operand.
struct OperandFacts {
  fb::TensorType type{};
  int64_t rank = -1;      // -1: not known
  int64_t elements = -1;  // -1: not known
};

// One thing that keeps a tensor from being an operand, in words that go on from the operator's
// name: "x is INT64; it is one of FLOAT32, INT8".
struct Misfit {
  enum class Kind : uint8_t {
    kTypes,        // the preparation refuses the type
    kKernelTypes,  // the kernel does not compute it
    kSameType,     // it must have another input's
    kRank,         // inputs alone
    kElements,     // inputs alone
  };
  Kind kind;
  std::string text;
};
// `other` is the input that `operand` must have the type of, named `other_name`; null if that is
// absent or there is none.
std::vector<Misfit> MisfitsOf(const SignatureOperand& operand, const OperandFacts& facts,
                              bool is_output, const OperandFacts* other,
                              std::string_view other_name);

// Some kernels are written for one scale and zero point of their result. What is wrong with others,
// as "scale 0.09 and zero point 3; it has 0.00390625 and -128"; nullopt if nothing is.
std::optional<std::string> FixedQuantMisfit(fb::BuiltinOperator op, fb::TensorType type,
                                            float scale, int64_t zero_point);

// "3", "1 to 4", "2 or more" where `high` is -1.
std::string RangeText(int low, int high);

// nullptr for CUSTOM and for numbers that the schema does not have.
const Signature* FindSignature(fb::BuiltinOperator op);

// kParse names the line that is not in the notation.
Result<std::vector<Signature>> ParseSignatures(std::string_view text);

extern const char kSignatures[];

}  // namespace nn::tflite
