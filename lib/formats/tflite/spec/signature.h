// Signatures of the builtin operators: versions, options, and the number, element types and ranks
// of their inputs and outputs.
//
// They are the rows of builtin.spec and stablehlo.spec.
//
// Design: docs/design/034-trial-writes.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/common/spec/range.h"

#undef ARG_MAX  // of <limits.h>; the schema has an operator of this name
#include "tflite/tflite_generated.h"

namespace nn::tflite {

// Limit of TensorFlow Lite: stride and dilation of DEPTHWISE_CONV_2D and TRANSPOSE_CONV.
inline constexpr int64_t kMaxWindowStep = 32767;

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
  TypeSet scaled;     // those of `types` that need a scale
  bool hard = false;  // `types` is checked by the preparation, not only by the kernel
  bool symmetric16 = false;
  int same_as = -1;   // the input whose type preparation requires
  int given_by = -1;  // the input whose type the kernel assigns
  int expected = -1;  // the input whose type is expected, but not checked
  bool has_given_type = false;
  fb::TensorType given_type{};
  spec::Range ranks;
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

// The builtin operator of this name in files, "CONV_2D"; nullopt if there is none.
std::optional<fb::BuiltinOperator> OperatorNamed(std::string_view name);

// The smallest and largest number of operands of a list; -1: any number.
int MinOperands(const std::vector<SignatureOperand>& list);
int MaxOperands(const std::vector<SignatureOperand>& list);

// The operand at position `i`; nullptr if out of range.
const SignatureOperand* OperandAt(const std::vector<SignatureOperand>& list, size_t i);

// A tensor as an operand.
struct OperandFacts {
  fb::TensorType type{};
  int64_t rank = -1;      // -1: unknown
  int64_t elements = -1;  // -1: unknown
  // Whether it has a scale, and its zero point; nullopt if that is not to be judged.
  std::optional<bool> scaled;
  std::optional<int64_t> zero_point;
};

// A mismatch of a tensor with an operand, as text to follow the operator's name: "x is INT64;
// expected one of FLOAT32, INT8".
struct Misfit {
  enum class Kind : uint8_t {
    kTypes,        // preparation rejects the type
    kKernelTypes,  // the kernel does not support the type
    kSameType,     // the type must equal that of another input
    kRank,         // inputs only
    kElements,     // inputs only
    kScale,
    kZeroPoint,
  };
  Kind kind;
  std::string text;
};
// `other`, named `other_name`, is the input whose type `operand` must have; null if absent or not
// required.
std::vector<Misfit> MisfitsOf(const SignatureOperand& operand, const OperandFacts& facts,
                              bool is_output, const OperandFacts* other,
                              std::string_view other_name);

// Some kernels compute a fixed scale and zero point of their result, `to`, from integers of type
// `from`. Describes a mismatch: "scale 0.09 and zero point 3; expected scale 0.00390625 and zero
// point -128". nullopt if there is none.
std::optional<std::string> FixedQuantMisfit(fb::BuiltinOperator op, fb::TensorType from,
                                            fb::TensorType to, float scale, int64_t zero_point);

// The same for the INT8 result that TensorFlow Lite's 8-bit quantization specification fixes for an
// operator, even if the kernel computes others.
std::optional<std::string> SpecifiedQuantMisfit(fb::BuiltinOperator op, float scale,
                                                int64_t zero_point);

// nullptr for CUSTOM and for values not in the schema.
const Signature* FindSignature(fb::BuiltinOperator op);

}  // namespace nn::tflite
