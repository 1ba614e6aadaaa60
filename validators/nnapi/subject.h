// What NNAPI rules look at: a model, each operation with its operands resolved.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/nnapi/native.h"
#include "formats/nnapi/signature.h"
#include "validators/rule.h"

namespace nn::nnapi {

using Dims = std::vector<uint32_t>;  // 0 where a size is not known

class Subject;

// An operation. Operands that do not exist are nullptr, as are inputs without a value.
struct OperationAt {
  const Operation* operation = nullptr;
  int index = 0;
  const Subject* subject = nullptr;
  const Signature* signature = nullptr;  // the one that its number of inputs chooses

  size_t input_count() const { return operation->inputs.size(); }
  const Operand* Input(size_t i) const;
  const Operand* Output(size_t i) const;
  // The dimensions of a tensor; nullptr if it is missing, no tensor, or of a rank that the
  // signature does not take.
  const Dims* InputDims(size_t i) const;
  const Dims* OutputDims(size_t i) const;
  // Whether an optional input has a value; nullopt if a request decides, as for model inputs, or if
  // the file does not tell.
  std::optional<bool> Given(size_t input) const;
  // The value of a constant scalar; nullopt if it is not constant or not of the type.
  std::optional<int32_t> Int(size_t input) const;
  std::optional<float> Float(size_t input) const;
  // The elements of a constant TENSOR_INT32; empty if it is not one, or not of its length.
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

// Calls visit(operation) for those of a type that have one of its signatures.
template <typename Visit>
void EachOperation(const Subject& s, OperationType type, const Visit& visit) {
  for (const OperationAt& op : s.operations())
    if (op.operation->type == type && op.signature != nullptr) visit(op);
}

bool IsConstant(const Operand& operand);
// A temporary or an output of the model: what an operation has to write.
bool IsComputed(const Operand& operand);
bool IsQuantised(const Operand& operand);
// True if a quantised tensor has a scale and a zeroPoint that can be compared with others.
bool HasQuantisation(const Operand& operand);
std::string OperandPath(size_t index, std::string_view field = {});
// "[1, ?, 3]".
std::string DimsText(const Dims& dims);
// Equal where both are known.
bool Agree(uint32_t a, uint32_t b);
bool Agree(const Dims& a, const Dims& b);

}  // namespace nn::nnapi
