// Signatures of NNAPI 1.0 operations (operations.spec).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/common/spec/range.h"
#include "formats/nnapi/file/codes.h"
#include "formats/nnapi/spec/label.h"

namespace nn::nnapi {

// One operand in a signature.
struct Argument {
  enum class Kind : uint8_t {
    kData,        // a tensor of the operation's data type, common to all of them
    kBias,        // TENSOR_FLOAT32, or TENSOR_INT32 where the data are quantized
    kFloats,      // TENSOR_FLOAT32
    kInts,        // TENSOR_INT32
    kQuantized,   // TENSOR_QUANT8_ASYMM
    kAnyTensor,   // of floats, integers or quantized
    kReal,        // FLOAT32
    kInt,         // INT32
    kActivation,  // INT32, a FusedActivation
    kScheme,      // INT32, an ImplicitPadding
    kPositive,    // INT32, at least 1
    kNatural,     // INT32, at least 0
  };
  Kind kind = Kind::kData;
  spec::Range ranks;
  bool optional = false;
  bool repeats = false;

  bool is_tensor() const { return kind <= Kind::kAnyTensor; }
};

struct Signature {
  OperationType type{};
  std::vector<OperandType> data_types;  // that kData can be
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<Label> constraints;  // beyond those of every operation

  bool TakesData(OperandType data) const;
  bool Has(Label label) const;
  bool Takes(size_t count) const;
  // The argument at a position; the repeated one covers all before those after it.
  const Argument& InputAt(size_t i, size_t count) const;
};

// The type that an argument must have for data of a type; nullopt for any numeric tensor.
std::optional<OperandType> TypeOf(const Argument& argument, std::optional<OperandType> data);

// The signatures of an operation: one, or two if padding can be explicit or implicit.
std::vector<const Signature*> SignaturesOf(OperationType type);

// The numbers of inputs: "10 or 7".
std::string InputCounts(OperationType type);

// The signature with this number of inputs; nullptr if there is none.
const Signature* FindSignature(OperationType type, size_t inputs);

}  // namespace nn::nnapi
