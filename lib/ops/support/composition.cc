#include "ops/support/composition.h"

#include "ops/math/elementwise/elementwise.h"

namespace nn {
namespace {

bool IsNarrow(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16;
}

}  // namespace

Result<Value*> Composition::Add(std::string_view op, std::vector<Value*> inputs,
                                Attrs attrs) const {
  NN_ASSIGN(Node* const added, graph_.Append(op, std::move(inputs), std::move(attrs), 1, &node_));
  added->set_source(node_.source());
  return added->output();
}

Result<Value*> Composition::Operand(size_t i) const {
  Value* const v = node_.input(i);
  if (v == nullptr || !IsNarrow(v->dtype())) return v;
  return Add("cast", {v}, CastAttrs{.to = DType::kF32});
}

Status Composition::Replace(Value* y) const {
  if (const DType dtype = node_.output()->dtype(); dtype != y->dtype()) {
    NN_ASSIGN(y, Add("cast", {y}, CastAttrs{.to = dtype}));
  }
  if (y->def() != nullptr && y->def()->name().empty()) y->def()->set_name(node_.name());
  graph_.Replace(&node_, y);
  return {};
}

Status RequireReal(const InferContext& ctx, size_t input) {
  const Type& type = ctx.in(input);
  const bool is_real =
      IsNarrow(type.dtype) || type.dtype == DType::kF32 || type.dtype == DType::kF64;
  if (is_real && !type.quantized()) return {};
  return UnsupportedError("{} of {} is not supported", ctx.node().op_name(), type.ToString());
}

}  // namespace nn
