// The context of NNAPI rules: a model, with the operands of each operation resolved.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/nnapi/native.h"
#include "formats/nnapi/signature.h"
#include "validators/rule.h"

namespace nn::nnapi {

using Dims = std::vector<uint32_t>;  // 0 for an unknown size

class Subject;

// An operation. Operands that do not exist and inputs without a value are nullptr.
struct OperationAt {
  const Operation* operation = nullptr;
  int index = 0;
  const Subject* subject = nullptr;
  const Signature* signature = nullptr;  // the one that takes its number of inputs

  size_t input_count() const { return operation->inputs.size(); }
  const Operand* Input(size_t i) const;
  const Operand* Output(size_t i) const;
  // The dimensions of a tensor; nullptr if it is missing, not a tensor, or of a rank that the
  // signature does not allow.
  const Dims* InputDims(size_t i) const;
  const Dims* OutputDims(size_t i) const;
  // Whether an optional input has a value; nullopt if the request decides this, as for model
  // inputs, or if the operand or its lifetime is unknown.
  std::optional<bool> Given(size_t input) const;
  // The value of a constant scalar; nullopt if it is not constant or has another type.
  std::optional<int32_t> Int(size_t input) const;
  std::optional<float> Float(size_t input) const;
  // The elements of a constant TENSOR_INT32; empty if it is not one, or has the wrong length.
  std::vector<int32_t> Ints(size_t input) const;

  // "operation 3 (CONV_2D)".
  std::string Title() const;
  Location Where(std::string_view field = {}) const;
  // "input 2 of operation 3 (CONV_2D)".
  std::string InputTitle(size_t i) const;
  std::string OutputTitle(size_t i) const;
  // operations[3].inputs[i], operations[3].outputs[i].
  Location AtInput(size_t i) const { return Where(fmt::format("inputs[{}]", i)); }
  Location AtOutput(size_t i) const { return Where(fmt::format("outputs[{}]", i)); }
};

class Subject {
 public:
  explicit Subject(const Model& model);

  const Model& native() const { return model_; }
  const std::vector<OperationAt>& operations() const { return operations_; }
  const Operand* FindOperand(uint32_t index) const;
  std::optional<Blob> ConstantBytes(const Operand& operand) const;

 private:
  const Model& model_;
  std::vector<OperationAt> operations_;
};

// Calls visit(operation) for each operation of a type that matches one of its signatures.
template <typename Visit>
void EachOperation(const Subject& s, OperationType type, const Visit& visit) {
  for (const OperationAt& op : s.operations())
    if (op.operation->type == type && op.signature != nullptr) visit(op);
}

bool IsConstant(const Operand& operand);
// A temporary or an output of the model, which an operation must write.
bool IsComputed(const Operand& operand);
bool IsQuantized(const Operand& operand);
// True if a quantized tensor has a valid scale and zeroPoint.
bool HasQuantization(const Operand& operand);
std::string OperandPath(size_t index, std::string_view field = {});
// "[1, ?, 3]".
std::string DimsText(const Dims& dims);
// True if equal or unknown.
bool Agree(uint32_t a, uint32_t b);
bool Agree(const Dims& a, const Dims& b);

}  // namespace nn::nnapi
