#include <algorithm>
#include <numeric>
#include <utility>

#include "formats/tflite/family.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduction.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// Axes are sorted and deduplicated, as the kernels reduce them.
Result<std::vector<int64_t>> Axes(const ImportContext& ctx, int rank) {
  NN_ASSIGN(std::vector<int64_t> axes, ctx.KnownInts(1, "the axes"));
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank)
      return ModelError("axis {} is out of range for rank {}", axis, rank);
    if (axis < 0) axis += rank;
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

// No axes: nothing is reduced (an empty attribute would mean all axes).
template <int kOp>
Status ImportReduce(ImportContext& ctx) {
  constexpr std::string_view kNames[] = {"reduce_mean", "reduce_sum", "reduce_prod", "reduce_max",
                                         "reduce_min",  "reduce_any", "reduce_all"};
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ReducerOptions>());
  Value* const x = ctx.input(0);
  ReduceAttrs a;
  NN_ASSIGN(a.axes, Axes(ctx, x->type().rank()));
  a.keep_dims = o->keep_dims();
  if (a.axes.empty() && x->type().rank() > 0) {
    if (ctx.output_type().quantized())
      return UnsupportedError("a reduction over no axes of a quantized tensor is unsupported");
    ctx.SetOutput(0, x);
    return {};
  }
  return ctx.Emit(kNames[kOp], {x}, std::move(a));
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

template <fb::BuiltinOperator op>
Status WriteReduce(ExportContext& ctx, const Node& node) {
  ReduceAttrs a = node.attrs<ReduceAttrs>();
  if (a.axes.empty()) {
    a.axes.resize(static_cast<size_t>(node.input(0)->type().rank()));
    std::iota(a.axes.begin(), a.axes.end(), 0);
  }
  NN_ASSIGN(const TensorIndex axes, ctx.AddInts(a.axes, "axes"));
  ctx.AddOperator(op, {ctx.ResultsOf(node), {ctx.TensorOf(node.input(0)), axes}},
                  fb::CreateReducerOptions(ctx.builder(), a.keep_dims));
  return {};
}

// The kernel rounds after each factor, in the order of the elements.
std::optional<std::string> WhyNotReduceProd(const Node& node) {
  if (auto reason = WhyNotAxes(node)) return reason;
  const auto axes = ReducedAxes(node.attrs<ReduceAttrs>().axes, node.input(0)->type().rank());
  if (node.input(0)->type().quantized() && (!axes || !std::is_sorted(axes->begin(), axes->end())))
    return "the axes of a quantized product must be in ascending order";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kReduceImports[] = {
    {.op = Op::MEAN, .import = ImportReduce<0>, .inputs = "r"},
    {.op = Op::SUM, .import = ImportReduce<1>, .inputs = "r"},
    {.op = Op::REDUCE_PROD, .import = ImportReduce<2>, .inputs = "r"},
    {.op = Op::REDUCE_MAX, .import = ImportReduce<3>, .inputs = "r"},
    {.op = Op::REDUCE_MIN, .import = ImportReduce<4>, .inputs = "r"},
    {.op = Op::REDUCE_ANY, .import = ImportReduce<5>, .inputs = "r"},
    {.op = Op::REDUCE_ALL, .import = ImportReduce<6>, .inputs = "r"},
};

constexpr ExportRow kReduceExports[] = {
    {.op = "reduce_mean", .write = WriteReduce<Op::MEAN>, .why_not = WhyNotAxes},
    {.op = "reduce_sum", .write = WriteReduce<Op::SUM>, .why_not = WhyNotAxes},
    {.op = "reduce_prod", .write = WriteReduce<Op::REDUCE_PROD>, .why_not = WhyNotReduceProd},
    {.op = "reduce_max", .write = WriteReduce<Op::REDUCE_MAX>, .why_not = WhyNotAxes},
    {.op = "reduce_min", .write = WriteReduce<Op::REDUCE_MIN>, .why_not = WhyNotAxes},
    {.op = "reduce_any", .write = WriteReduce<Op::REDUCE_ANY>, .why_not = WhyNotAxes},
    {.op = "reduce_all", .write = WriteReduce<Op::REDUCE_ALL>, .why_not = WhyNotAxes},
};

}  // namespace

Family ReduceFamily() {
  return {.imports = kReduceImports, .exports = kReduceExports};
}

}  // namespace nn::tflite
