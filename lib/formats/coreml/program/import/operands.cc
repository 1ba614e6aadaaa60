#include "formats/coreml/program/import/operands.h"

#include <algorithm>

#include "ir/eval.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {

Terms InOneType(const std::vector<Value*>& operands) {
  const auto has_other_type = [&](const Value* v) {
    return v != nullptr && v->dtype() != DType::kBool && v->dtype() != operands[0]->dtype();
  };
  if (std::ranges::none_of(operands, has_other_type)) return operands;
  std::vector<Term> wide;
  for (Value* const v : operands) {
    const bool stays = v == nullptr || v->dtype() == DType::kBool || v->dtype() == DType::kF32;
    wide.push_back(stays ? Term(v) : Cast(v, DType::kF32));
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
