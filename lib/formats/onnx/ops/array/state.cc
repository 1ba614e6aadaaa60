// Operators that continue a sequence: TensorScatter and CausalConvWithState.
#include <cstdint>
#include <limits>

#include "base/text/text.h"
#include "formats/onnx/family.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/nn/attention/attention.h"
#include "ops/nn/conv.h"
#include "ops/support/types.h"

namespace nn::onnx {
namespace {

// ---- TensorScatter

Status CheckUpdate(const Value* cache, const Value* update, int axis) {
  const Dims &a = *cache->type().dims, &b = *update->type().dims;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].is_const() || !b[i].is_const()) continue;
    const bool fits = static_cast<int>(i) == axis ? b[i].value() <= a[i].value() : a[i] == b[i];
    if (!fits)
      return ModelError("update {} does not match cache {}", update->type().ToString(),
                        cache->type().ToString());
  }
  return {};
}

// The values with axes of size 1 after the first one.
Result<Value*> WithTrailingAxes(ImportContext& ctx, Value* v, int added) {
  if (added == 0) return v;
  AxesAttrs a;
  for (int i = 1; i <= added; ++i) a.axes.push_back(i);
  return ctx.Add("expand_dims", {v}, std::move(a));
}

// The index on the axis of each element of the update.
Result<Value*> UpdatedPositions(ImportContext& ctx, Value* cache, Value* update, int axis,
                                bool circular) {
  const int rank = cache->type().rank();
  const AddOperator add = [&](std::string_view op, std::vector<Value*> inputs, Attrs attrs) {
    return ctx.Add(op, std::move(inputs), std::move(attrs));
  };
  NN_ASSIGN(Value * positions, AxisPositions(ctx.graph(), add, update, axis));
  NN_ASSIGN(positions, WithTrailingAxes(ctx, positions, rank - 1 - axis));
  if (Value* start = ctx.input(2)) {
    if (start->type().ranked() && start->type().rank() != 1)
      return ModelError("write_indices is {}; must be a vector", start->type().ToString());
    NN_ASSIGN(start, WithTrailingAxes(ctx, start, rank - 1));
    NN_ASSIGN(positions, ctx.Add("add", {start, positions}));
  }
  if (circular) {
    NN_ASSIGN(Value* const size, ctx.Add("shape_of", {cache}, ShapeOfAttrs{axis, axis + 1}));
    NN_ASSIGN(positions, ctx.Add("mod", {positions, size}));
  }
  return ctx.Add("expand", {positions}, ExpandAttrs{*update->type().dims});
}

Status ImportTensorScatter(ImportContext& ctx) {
  NN_ASSIGN(Value* const cache, ctx.Required(0));
  NN_ASSIGN(Value* const update, ctx.Required(1));
  if (!cache->type().ranked() || !update->type().ranked())
    return UnsupportedError("TensorScatter needs operands of known rank");
  const int rank = cache->type().rank();
  if (update->type().rank() != rank)
    return ModelError("update {} does not match cache {}", update->type().ToString(),
                      cache->type().ToString());
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.Int("axis", -2), rank));
  if (axis == 0) return ModelError("the axis of TensorScatter cannot be the batch");
  NN_RETURN_IF_ERROR(CheckUpdate(cache, update, axis));
  const std::string mode = ctx.String("mode", "linear");
  if (mode != "linear" && mode != "circular") return ModelError("unknown mode {}", Quote(mode));
  NN_ASSIGN(Value* const positions, UpdatedPositions(ctx, cache, update, axis, mode == "circular"));
  return ctx.Emit("scatter_elements", {cache, positions, update}, ScatterElementsAttrs{axis});
}

// ---- CausalConvWithState

// The input after the state, or after zeros.
Result<Value*> AfterState(ImportContext& ctx, Value* x, int64_t states) {
  Value* state = ctx.input(3);
  if (state == nullptr) {
    NN_ASSIGN(Value* const zero, ctx.Number(x->dtype(), 0));
    NN_ASSIGN(state, ctx.Add("expand", {zero},
                             ExpandAttrs{{x->type().dim(0), x->type().dim(1), Dim(states)}}));
  }
  return ctx.Add("concat", {state, x}, ConcatAttrs{2});
}

Status ImportCausalConv(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const filter, ctx.Required(1));
  const auto w = filter->type().const_dims();
  if (!w || !x->type().ranked())
    return UnsupportedError("CausalConvWithState needs a filter of known shape");
  if (w->size() != 3 || (*w)[2] < 1 || x->type().rank() != 3)
    return ModelError("the filter is {} and the input {}; must be [C, 1, k] and [B, C, L]",
                      filter->type().ToString(), x->type().ToString());
  const std::string activation = ctx.String("activation", "none");
  const bool has_silu = activation == "silu" || activation == "swish";
  if (!has_silu && activation != "none")
    return ModelError("unknown activation {}", Quote(activation));
  const int64_t states = (*w)[2] - 1;
  NN_ASSIGN(Value* const padded, AfterState(ctx, x, states));
  ConvAttrs conv;
  conv.groups = (*w)[0];
  std::vector<Value*> operands = {padded, filter};
  if (ctx.input(2) != nullptr) operands.push_back(ctx.input(2));
  NN_ASSIGN(Value * y, ctx.Add("conv", std::move(operands), conv));
  if (has_silu) {
    NN_ASSIGN(y, ctx.Add("silu", {y}));
  }
  ctx.SetOutput(0, y);
  if (!ctx.WantsOutput(1)) return {};
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  NN_ASSIGN(
      Value* const state,
      ctx.Add("slice", {padded}, SliceAttrs{{2}, {states == 0 ? kEnd : -states}, {kEnd}, {1}}));
  ctx.SetOutput(1, state);
  return {};
}

constexpr ImportRow kStateImports[] = {
    {.op = "TensorScatter", .since = 24, .import = ImportTensorScatter},
    {.op = "CausalConvWithState", .since = 27, .import = ImportCausalConv},
};

}  // namespace

Family StateFamily() {
  return {.imports = kStateImports};
}

}  // namespace nn::onnx
