// Operators that continue a sequence: TensorScatter and CausalConvWithState.
#include <cstdint>
#include <limits>

#include "base/text/text.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/heads.h"
#include "ir/text/number.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/arrange/tile.h"
#include "ops/nn/attention/attention.h"
#include "ops/nn/conv.h"
#include "ops/support/term_ops.h"
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
Term WithTrailingAxes(const Term& v, int added) {
  std::vector<int64_t> axes;
  for (int i = 1; i <= added; ++i) axes.push_back(i);
  return axes.empty() ? v : ExpandDims(v, std::move(axes));
}

// The index on the axis of each element of the update.
Result<Term> UpdatedPositions(ImportContext& ctx, Value* cache, Value* update, int axis,
                              bool circular) {
  const int rank = cache->type().rank();
  const Term own = AxisPositions(update, axis);
  Term positions = WithTrailingAxes(own, rank - 1 - axis);
  if (Value* const start = ctx.input(2)) {
    if (start->type().ranked() && start->type().rank() != 1)
      return ModelError("write_indices is {}; must be a vector", start->type().ToString());
    positions = WithTrailingAxes(start, rank - 1) + positions;
  }
  if (circular) positions = Apply("mod", {positions, SizeOfAxis(cache, axis)});
  return Apply("expand", {positions}, ExpandAttrs{*update->type().dims});
}

Status ImportTensorScatter(ImportContext& ctx) {
  Value* const cache = ctx.input(0);
  Value* const update = ctx.input(1);
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
  NN_ASSIGN(const Term positions, UpdatedPositions(ctx, cache, update, axis, mode == "circular"));
  return ctx.Emit("scatter_elements", {cache, positions, update}, ScatterElementsAttrs{axis});
}

// ---- CausalConvWithState

// The input after the state, or after zeros.
Result<Term> AfterState(ImportContext& ctx, Value* x, int64_t states) {
  Term state = ctx.input(3);
  if (state.is_absent()) {
    NN_ASSIGN(Tensor zero, Number(x->dtype(), 0));
    const Dims dims = {x->type().dim(0), x->type().dim(1), Dim(states)};
    state = Apply("expand", {std::move(zero)}, ExpandAttrs{dims});
  }
  return Concat({state, x}, 2);
}

Status ImportCausalConv(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const filter = ctx.input(1);
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
  NN_ASSIGN(const Term padded, AfterState(ctx, x, states));
  ConvAttrs conv;
  conv.groups = (*w)[0];
  std::vector<Term> operands = {padded, filter};
  if (ctx.input(2) != nullptr) operands.emplace_back(ctx.input(2));
  const Term y = Apply("conv", std::move(operands), conv);
  NN_RETURN_IF_ERROR(ctx.EmitTerm(has_silu ? Apply("silu", {y}) : y));
  if (!ctx.WantsOutput(1)) return {};
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  return ctx.EmitTerm(Slice(padded, 2, states == 0 ? kEnd : -states, kEnd), 1);
}

constexpr ImportRow kStateImports[] = {
    {.op = "TensorScatter", .since = 24, .import = ImportTensorScatter, .inputs = 2},
    {.op = "CausalConvWithState", .since = 27, .import = ImportCausalConv, .inputs = 2},
};

}  // namespace

Family StateFamily() {
  return {.imports = kStateImports};
}

}  // namespace nn::onnx
