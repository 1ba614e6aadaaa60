#include "formats/onnx/import/trailing_norm.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "formats/onnx/export/quant/linear_quant.h"
#include "ops/reduce/reduce.h"
#include "ops/support/types.h"

namespace nn::onnx {

Result<Value*> InFloat(ImportContext& ctx, Value* v) {
  const bool is_half = v->dtype() == DType::kF16 || v->dtype() == DType::kBF16;
  return is_half ? AddCast(ctx, v, DType::kF32) : Result<Value*>(v);
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
      NN_ASSIGN(v, AddCast(ctx, v, is_wide ? DType::kF64 : DType::kF32));
    }
  }
  NN_ASSIGN(Node* const node, ctx.AddNode(op, std::move(inputs), std::move(attrs), output_count));
  std::vector<Value*> results(node->outputs().begin(), node->outputs().end());
  if (is_mixed) {
    NN_ASSIGN(results[0], AddCast(ctx, results[0], type));
  }
  return results;
}

Result<Value*> InverseRootMeanSquare(ImportContext& ctx, Value* x, int64_t axis, float epsilon) {
  if (!x->type().ranked())
    return UnsupportedError("{} needs an input of known rank", ctx.node().op_type());
  NN_ASSIGN(const int first, NormalizeAxis(axis, x->type().rank()));
  std::vector<int64_t> axes(static_cast<size_t>(x->type().rank() - first));
  std::iota(axes.begin(), axes.end(), first);
  NN_ASSIGN(x, InFloat(ctx, x));
  NN_ASSIGN(Value* const squares, ctx.Add("mul", {x, x}));
  NN_ASSIGN(Value* const mean, ctx.Add("reduce_mean", {squares}, ReduceAttrs{std::move(axes)}));
  NN_ASSIGN(Value* const least, ctx.Number(mean->dtype(), static_cast<double>(epsilon)));
  NN_ASSIGN(Value* const sum, ctx.Add("add", {mean, least}));
  return ctx.Add("rsqrt", {sum});
}

}  // namespace nn::onnx
