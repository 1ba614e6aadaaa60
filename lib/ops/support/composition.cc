#include "ops/support/composition.h"

#include <utility>

#include "ops/support/term_ops.h"

namespace nn {
namespace {

bool IsNarrow(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16;
}

}  // namespace

Term Composition::Operand(size_t i) const {
  Value* const v = node_.input(i);
  if (v == nullptr || !IsNarrow(v->dtype())) return v;
  return Cast(v, DType::kF32);
}

Result<bool> Composition::Replace(const Term& y) {
  NN_ASSIGN(Value * v, Build(y));
  if (const DType dtype = node_.output()->dtype(); dtype != v->dtype()) {
    NN_ASSIGN(v, Build(Cast(v, dtype)));
  }
  if (v->def() != nullptr && v->def()->name().empty()) v->def()->set_name(node_.name());
  graph_.Replace(&node_, v);
  return true;
}

Status RequireReal(const InferContext& ctx, size_t input) {
  const Type& type = ctx.in(input);
  const bool is_real =
      IsNarrow(type.dtype) || type.dtype == DType::kF32 || type.dtype == DType::kF64;
  if (is_real && !type.quantized()) return {};
  return UnsupportedError("{} is not supported", type.ToString());
}

}  // namespace nn
