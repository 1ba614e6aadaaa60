// What NNAPI rules look at: a model, each operation with its operands resolved.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/nnapi/native.h"
#include "validators/nnapi/signature.h"
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
  // The dimensions of a tensor; nullptr if it is missing, no tensor, or of unknown rank.
  const Dims* InputDims(size_t i) const;
  const Dims* OutputDims(size_t i) const;
  // The value of a constant scalar; nullopt if it is not constant or not of the type.
  std::optional<int32_t> Int(size_t input) const;
  std::optional<float> Float(size_t input) const;
  // The elements of a constant TENSOR_INT32; empty if it is not one.
  std::vector<int32_t> Ints(size_t input) const;

  // "operation 3 (CONV_2D)".
  std::string Title() const;
  Location Where(std::string_view field = {}) const;
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

bool IsConstant(const Operand& operand);
bool IsQuantised(const Operand& operand);
std::string OperandPath(size_t index, std::string_view field = {});
// "[1, ?, 3]".
std::string DimsText(const Dims& dims);
// Equal where both are known.
bool Agree(uint32_t a, uint32_t b);
bool Agree(const Dims& a, const Dims& b);

}  // namespace nn::nnapi
