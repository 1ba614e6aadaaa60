#include "formats/onnx/import/trailing_norm.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "formats/onnx/export/quant/linear_quant.h"
#include "ops/reduce/reduce.h"
#include "ops/support/types.h"

namespace nn::onnx {

Term InFloat(Value* v) {
  const bool is_half = v->dtype() == DType::kF16 || v->dtype() == DType::kBF16;
  return is_half ? As(v, DType::kF32) : Term(v);
}

Result<std::vector<Value*>> AddTrailingNorm(ImportContext& ctx, std::string_view op,
                                            std::vector<Value*> inputs, Attrs attrs,
                                            size_t output_count) {
  const DType type = inputs[1]->dtype();
  const bool is_mixed = std::ranges::any_of(inputs, [&](Value* v) { return v->dtype() != type; });
  if (is_mixed) {
    const bool is_wide =
        std::ranges::any_of(inputs, [](Value* v) { return v->dtype() == DType::kF64; });
    for (Value*& v : inputs) {
      if (!IsFloat(v->dtype()))
        return UnsupportedError("{} of {} and {}", ctx.node().op_type(),
                                inputs[0]->type().ToString(), inputs[1]->type().ToString());
      NN_ASSIGN(v, ctx.Build(As(v, is_wide ? DType::kF64 : DType::kF32)));
    }
  }
  NN_ASSIGN(Node* const node, ctx.AddNode(op, std::move(inputs), std::move(attrs), output_count));
  std::vector<Value*> results(node->outputs().begin(), node->outputs().end());
  if (is_mixed) {
    NN_ASSIGN(results[0], ctx.Build(As(results[0], type)));
  }
  return results;
}

Result<Term> InverseRootMeanSquare(const ImportContext& ctx, Value* x, int64_t axis,
                                   float epsilon) {
  if (!x->type().ranked())
    return UnsupportedError("{} needs an input of known rank", ctx.node().op_type());
  NN_ASSIGN(const int first, NormalizeAxis(axis, x->type().rank()));
  std::vector<int64_t> axes(static_cast<size_t>(x->type().rank() - first));
  std::iota(axes.begin(), axes.end(), first);
  const Term wide = InFloat(x);
  const Term mean = Apply("reduce_mean", {wide * wide}, ReduceAttrs{std::move(axes)});
  return Apply("rsqrt", {mean + epsilon});
}

}  // namespace nn::onnx
