#include "rewrite/expand.h"

#include <algorithm>
#include <cmath>

#include "ir/op_def.h"
#include "ir/text/number.h"

namespace nn {

Result<Value*> Expansion::Number(DType dtype, double v) {
  NN_ASSIGN(Tensor number, nn::Number(dtype, v));
  return Constant(std::move(number));
}

bool Expansion::Replace(Value* y) {
  if (y->def() != nullptr && y->def()->name().empty()) y->def()->set_name(node_.name());
  if (node_.outputs().size() == 1) {
    graph_.Replace(&node_, y);
    return true;
  }
  if (y->name().empty()) y->set_name(node_.output()->name());
  graph_.ReplaceUses(node_.output(), y);
  graph_.Erase(&node_);
  return true;
}

void Expansion::ReplaceOutput(size_t i, Value* v) {
  if (v->name().empty()) v->set_name(node_.output(i)->name());
  graph_.ReplaceUses(node_.output(i), v);
}

Result<Node*> ExpansionLike::InsertNode(std::string_view op, std::vector<Value*> inputs,
                                        Attrs attrs, size_t results) {
  const OpDef* const def = Ops().Find(op);
  if (def == nullptr) return InternalError("no operator named {}", op);
  Node* const n = graph_.AddNode(*def, std::move(inputs), std::move(attrs), results, &node_);
  n->set_arithmetic(node_.arithmetic());
  n->set_source(node_.source());
  if (node_.output()->type().quantized()) {
    Type type;
    type.dtype = node_.output()->dtype();
    type.quant = node_.output()->type().quant;
    n->output()->set_type(std::move(type));
  }
  NN_RETURN_IF_ERROR(InferNode(*n));
  return n;
}

bool IsFinite(const Tensor& tensor) {
  const Tensor aligned = tensor.Aligned();
  return std::ranges::all_of(aligned.As<float>(), [](float v) { return std::isfinite(v); });
}

bool IsPlainF32(const Node& node) {
  return node.input(0)->dtype() == DType::kF32 && !node.input(0)->type().quantized();
}

}  // namespace nn
