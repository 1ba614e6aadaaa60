// The operators of com.microsoft on quantized integers that are defined as the operator of ONNX on
// the real numbers that these represent: QLinearAdd and the like. They become dequantize ->
// operator
// -> quantize.
#include <algorithm>
#include <numeric>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/spec/window_attrs.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/reshape_to.h"
#include "ops/array/shape.h"
#include "ops/nn/pool.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::onnx {

namespace {

// The real numbers of input x, whose scale and zero point are the two inputs after it.
Result<Value*> Real(ImportContext& ctx, size_t x) {
  NN_ASSIGN(Value* const v, ctx.Required(x));
  NN_ASSIGN(const LinearQuant q, ReadLinearQuant(ctx, x + 1, x + 2));
  return AddDequantize(ctx, v, q, DType::kF32);
}

// Quantizes the result by the inputs `scale` and the one after it, to the type of input `like`.
Status SetInteger(ImportContext& ctx, const Term& y, size_t scale, size_t like) {
  NN_ASSIGN(Value* const reals, ctx.Build(y));
  NN_ASSIGN(const LinearQuant q, ReadLinearQuant(ctx, scale, scale + 1));
  NN_ASSIGN(Value* const x, ctx.Required(like));
  NN_ASSIGN(Value* const integers,
            AddQuantize(ctx, reals, q, q.zero != nullptr ? q.zero->dtype() : x->dtype()));
  ctx.SetOutput(0, integers);
  return {};
}

template <const char* kOp>
Status ImportQLinearBinary(ImportContext& ctx) {
  NN_ASSIGN(Value* const a, Real(ctx, 0));
  NN_ASSIGN(Value* const b, Real(ctx, 3));
  return SetInteger(ctx, Apply(kOp, {a, b}), 6, 0);
}

// An operator with attributes on one value.
Status SetUnary(ImportContext& ctx, std::string_view op, Attrs attrs) {
  NN_ASSIGN(Value* const x, Real(ctx, 0));
  return SetInteger(ctx, Apply(op, {x}, std::move(attrs)), 3, 0);
}

Status ImportQLinearLeakyRelu(ImportContext& ctx) {
  return SetUnary(ctx, "leaky_relu", LeakyReluAttrs{ctx.Float("alpha", 0.01f)});
}
Status ImportQLinearSigmoid(ImportContext& ctx) {
  return SetUnary(ctx, "sigmoid", {});
}

Layout LayoutOf(const ImportContext& ctx) {
  return ctx.Int("channels_last", 0) != 0 ? Layout::kNxc : Layout::kNcx;
}

Status ImportQLinearAveragePool(ImportContext& ctx) {
  if (!ctx.HasAttr("kernel_shape")) return ModelError("attribute kernel_shape is missing");
  AveragePoolAttrs a;
  a.kernel = ctx.Ints("kernel_shape");
  a.ceil_mode = ctx.Int("ceil_mode", 0) != 0;
  a.count_include_pad = ctx.Int("count_include_pad", 0) != 0;
  a.layout = LayoutOf(ctx);
  NN_RETURN_IF_ERROR(ReadWindow(ctx, a));
  return SetUnary(ctx, "average_pool", std::move(a));
}

Status ImportQLinearGlobalAveragePool(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (!x->type().ranked())
    return UnsupportedError("{} needs an input of known rank", ctx.node().op_type());
  if (x->type().rank() < 3)
    return ModelError("the input {} has no spatial axis", x->type().ToString());
  ReduceAttrs a;
  a.axes.resize(static_cast<size_t>(x->type().rank()) - 2);
  std::iota(a.axes.begin(), a.axes.end(), int64_t{FirstSpatialAxis(LayoutOf(ctx))});
  return SetUnary(ctx, "reduce_mean", std::move(a));
}

Status ImportQLinearReduceMean(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (!x->type().ranked())
    return UnsupportedError("{} needs an input of known rank", ctx.node().op_type());
  const std::vector<int64_t> axes = ctx.Ints("axes");
  NN_ASSIGN(std::vector<int> sorted, NormalizeAxes(axes, x->type().rank()));
  std::ranges::sort(sorted);
  return SetUnary(ctx, "reduce_mean",
                  ReduceAttrs{{sorted.begin(), sorted.end()}, ctx.Int("keepdims", 1) != 0});
}

// The attribute `opset` says which Softmax it is: before 13, along the rows of the matrix [axes
// before `axis`, the rest].
Status ImportQLinearSoftmax(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, Real(ctx, 0));
  if (!x->type().ranked())
    return UnsupportedError("{} needs an input of known rank", ctx.node().op_type());
  const Dims dims = *x->type().dims;
  const int rank = x->type().rank();
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.Int("axis", -1), rank));
  if (ctx.Int("opset", 13) >= 13 || axis == rank - 1)
    return SetInteger(ctx, Apply("softmax", {x}, SoftmaxAttrs{axis, 1.0f}), 3, 0);
  const Dims rows(dims.begin(), dims.begin() + axis);
  const Dims columns(dims.begin() + axis, dims.end());
  const Dims matrix = {Product(rows), Product(columns)};
  Term y = Apply("reshape", {x}, ReshapeTo(dims, matrix));
  y = Apply("softmax", {y}, SoftmaxAttrs{1, 1.0f});
  return SetInteger(ctx, Apply("reshape", {y}, ReshapeTo(matrix, dims)), 3, 0);
}

// Scale and zero point of the result, then those of each operand after it.
Status ImportQLinearConcat(ImportContext& ctx) {
  if (ctx.input_count() < 5 || ctx.input_count() % 3 != 2)
    return ModelError("{} inputs; QLinearConcat has two, and three for each operand",
                      ctx.input_count());
  std::vector<Term> parts;
  for (size_t i = 2; i < ctx.input_count(); i += 3) {
    NN_ASSIGN(parts.emplace_back(), Real(ctx, i));
  }
  NN_ASSIGN(const int64_t axis, ctx.RequiredInt("axis"));
  return SetInteger(ctx, Apply("concat", std::move(parts), ConcatAttrs{axis}), 0, 2);
}

Status ImportQLinearWhere(ImportContext& ctx) {
  Value* const condition = ctx.input(0);
  NN_ASSIGN(Value* const a, Real(ctx, 1));
  NN_ASSIGN(Value* const b, Real(ctx, 4));
  return SetInteger(ctx, Select(condition, a, b), 7, 1);
}

constexpr char kQLinearAdd[] = "add", kQLinearMul[] = "mul";

}  // namespace

namespace {

constexpr ImportRow kQlinearImports[] = {
    {.op = "QLinearAdd", .import = ImportQLinearBinary<kQLinearAdd>, .domain = kMicrosoft},
    {.op = "QLinearMul", .import = ImportQLinearBinary<kQLinearMul>, .domain = kMicrosoft},
    {.op = "QLinearLeakyRelu", .import = ImportQLinearLeakyRelu, .domain = kMicrosoft},
    {.op = "QLinearSigmoid", .import = ImportQLinearSigmoid, .domain = kMicrosoft},
    {.op = "QLinearAveragePool", .import = ImportQLinearAveragePool, .domain = kMicrosoft},
    {.op = "QLinearGlobalAveragePool",
     .import = ImportQLinearGlobalAveragePool,
     .inputs = 1,
     .domain = kMicrosoft},
    {.op = "QLinearReduceMean",
     .import = ImportQLinearReduceMean,
     .inputs = 1,
     .domain = kMicrosoft},
    {.op = "QLinearSoftmax", .import = ImportQLinearSoftmax, .domain = kMicrosoft},
    {.op = "QLinearConcat", .import = ImportQLinearConcat, .domain = kMicrosoft},
    {.op = "QLinearWhere", .import = ImportQLinearWhere, .inputs = 1, .domain = kMicrosoft},
};

}  // namespace

Family QlinearFamily() {
  return {.imports = kQlinearImports};
}

}  // namespace nn::onnx
