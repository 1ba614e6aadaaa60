// A model with the operands of each operation resolved, as constraints see it (constraint.h).
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/nnapi/file/native.h"
#include "formats/nnapi/spec/signature.h"

namespace nn::nnapi {

using Shape = std::vector<uint32_t>;  // 0 for an unknown size

class ModelView;

// A place in a model: "operations[3].inputs[1]", and the number of the operation, or -1.
struct Site {
  std::string path;
  int64_t operation = -1;
};

// An operation. Operands that do not exist and inputs without a value are nullptr.
struct OperationAt {
  const Operation* operation = nullptr;
  int index = 0;  // -1: not in a model yet
  const ModelView* view = nullptr;
  const Signature* signature = nullptr;  // the one that takes its number of inputs

  size_t input_count() const { return operation->inputs.size(); }
  const Operand* Input(size_t i) const;
  const Operand* Output(size_t i) const;
  // The dimensions of a tensor; nullptr if it is missing, not a tensor, or of a rank that the
  // signature does not allow.
  const Shape* InputDims(size_t i) const;
  const Shape* OutputDims(size_t i) const;
  // Whether an optional input has a value; nullopt if the request decides this, as for model
  // inputs, or if the operand or its lifetime is unknown.
  std::optional<bool> Given(size_t input) const;
  // The value of a constant scalar; nullopt if it is not constant or has another type.
  std::optional<int32_t> Int(size_t input) const;
  std::optional<float> Float(size_t input) const;
  // The elements of a constant TENSOR_INT32; empty if it is not one, or has the wrong length.
  std::vector<int32_t> Ints(size_t input) const;
  // The smallest and the largest of them; nullopt if there are none.
  std::optional<std::pair<int32_t, int32_t>> Extent(size_t input) const;
  // The position of the first one that is smaller than its predecessor; 0 if they are sorted.
  size_t Descent(size_t input) const;

  // "operation 3 (CONV_2D)"; "CONV_2D" if it is not in a model yet.
  std::string Title() const;
  Site Where(std::string_view field = {}) const;
  // "input 2 of operation 3 (CONV_2D)".
  std::string InputTitle(size_t i) const;
  std::string OutputTitle(size_t i) const;
  // operations[3].inputs[i], operations[3].outputs[i].
  Site AtInput(size_t i) const { return Where(fmt::format("inputs[{}]", i)); }
  Site AtOutput(size_t i) const { return Where(fmt::format("outputs[{}]", i)); }
};

class ModelView {
 public:
  // With `trial`, the model has one operation, and messages about it use the operation's name.
  explicit ModelView(const Model& model, bool trial = false);
  ModelView(const ModelView&) = delete;
  ModelView& operator=(const ModelView&) = delete;

  const Model& native() const { return model_; }
  const std::vector<OperationAt>& operations() const { return operations_; }
  const Operand* FindOperand(uint32_t index) const;
  std::optional<Blob> ConstantBytes(const Operand& operand) const;
  // "operand 5"; "input 2 of CONV_2D" if the model is a trial.
  std::string OperandTitle(size_t index) const;

 private:
  friend struct OperationAt;
  // Facts about the contents of a constant of integers.
  struct IntsInfo {
    std::optional<std::pair<int32_t, int32_t>> extent;
    size_t descent = 0;
  };
  const IntsInfo& InfoOf(const OperationAt& op, size_t input) const;

  const Model& model_;
  bool trial_;
  std::vector<OperationAt> operations_;
  mutable std::map<uint32_t, IntsInfo> ints_;  // many operations may share a constant
};

// Calls visit(operation) for each operation of a type that matches one of its signatures.
template <typename Visit>
void EachOperation(const ModelView& m, OperationType type, const Visit& visit) {
  for (const OperationAt& op : m.operations())
    if (op.operation->type == type && op.signature != nullptr) visit(op);
}

bool IsConstant(const Operand& operand);
// A temporary or an output of the model, which an operation must write.
bool IsComputed(const Operand& operand);
bool IsOem(const Operand& operand);
// The bytes that type and dimensions require; nullopt if unknown or beyond 32 bits.
std::optional<uint32_t> BytesNeeded(const Operand& operand);
bool IsQuantized(const Operand& operand);
// True if a quantized tensor has a valid scale and zeroPoint.
bool HasQuantization(const Operand& operand);
std::string OperandPath(size_t index, std::string_view field = {});
// "[1, ?, 3]".
std::string DimsText(const Shape& dims);
// True if equal or unknown.
bool Agree(uint32_t a, uint32_t b);
bool Agree(const Shape& a, const Shape& b);

}  // namespace nn::nnapi
