#include "formats/coreml/program/import/operands.h"

#include <algorithm>

#include "ir/eval.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {

Term Wide(Value* operand) {
  return operand->dtype() == DType::kF32 ? Term(operand) : Cast(operand, DType::kF32);
}

Terms InOneType(const std::vector<Value*>& operands) {
  const auto has_other_type = [&](const Value* v) {
    return v != nullptr && v->dtype() != DType::kBool && v->dtype() != operands[0]->dtype();
  };
  if (std::ranges::none_of(operands, has_other_type)) return operands;
  std::vector<Term> wide;
  for (Value* const v : operands) {
    wide.push_back(v == nullptr || v->dtype() == DType::kBool ? Term(v) : Wide(v));
  }
  return wide;
}

Result<std::optional<Tensor>> DequantizedConstant(const Value* value) {
  const Node* const node = value->def();
  if (node == nullptr || !node->Is<DequantizeAttrs>() || !node->input(0)->is_constant())
    return std::nullopt;
  NN_ASSIGN(std::vector<Tensor> outputs, EvalNode(*node, {&node->input(0)->constant()}));
  return std::move(outputs[0]);
}

}  // namespace nn::coreml::program
