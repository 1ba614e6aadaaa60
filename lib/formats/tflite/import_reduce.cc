#include <algorithm>
#include <utility>

#include "formats/tflite/import.h"
#include "ops/reduce.h"

namespace nn::tflite {
namespace {

// Axes are reduced in ascending order, whatever the file's; those that occur twice count once.
Result<std::vector<int64_t>> Axes(const ImportContext& ctx, int rank) {
  NN_ASSIGN(std::vector<int64_t> axes, ctx.KnownInts(1, "the axes"));
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank) return ModelError("axis {} of rank {}", axis, rank);
    if (axis < 0) axis += rank;
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

// No axes: nothing is reduced (where an attribute would mean all).
template <int kOp>
Status ImportReduce(ImportContext& ctx) {
  constexpr std::string_view kNames[] = {"reduce_mean", "reduce_sum", "reduce_prod", "reduce_max",
                                         "reduce_min",  "reduce_any", "reduce_all"};
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ReducerOptions>());
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  ReduceAttrs a;
  NN_ASSIGN(a.axes, Axes(ctx, x->type().rank()));
  a.keep_dims = o->keep_dims();
  if (a.axes.empty() && x->type().rank() > 0) {
    if (ctx.output_type().quantised()) return UnsupportedError("no axes on a quantised type");
    ctx.SetOutput(0, x);
    return {};
  }
  return ctx.Emit(kNames[kOp], {x}, std::move(a));
}

}  // namespace

void AddReduceImports(ImportTable& t) {
  using Op = fb::BuiltinOperator;
  t.Add(Op::MEAN, ImportReduce<0>);
  t.Add(Op::SUM, ImportReduce<1>);
  t.Add(Op::REDUCE_PROD, ImportReduce<2>);
  t.Add(Op::REDUCE_MAX, ImportReduce<3>);
  t.Add(Op::REDUCE_MIN, ImportReduce<4>);
  t.Add(Op::REDUCE_ANY, ImportReduce<5>);
  t.Add(Op::REDUCE_ALL, ImportReduce<6>);
}

}  // namespace nn::tflite
