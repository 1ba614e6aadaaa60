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
Status SetInteger(ImportContext& ctx, Value* y, size_t scale, size_t like) {
  NN_ASSIGN(const LinearQuant q, ReadLinearQuant(ctx, scale, scale + 1));
  NN_ASSIGN(Value* const x, ctx.Required(like));
  NN_ASSIGN(Value* const integers,
            AddQuantize(ctx, y, q, q.zero != nullptr ? q.zero->dtype() : x->dtype()));
  ctx.SetOutput(0, integers);
  return {};
}

template <const char* kOp>
Status ImportQLinearBinary(ImportContext& ctx) {
  NN_ASSIGN(Value* const a, Real(ctx, 0));
  NN_ASSIGN(Value* const b, Real(ctx, 3));
  NN_ASSIGN(Value* const y, ctx.Add(kOp, {a, b}));
  return SetInteger(ctx, y, 6, 0);
}

// An operator with attributes on one value.
Status SetUnary(ImportContext& ctx, std::string_view op, Attrs attrs) {
  NN_ASSIGN(Value* const x, Real(ctx, 0));
  NN_ASSIGN(Value* const y, ctx.Add(op, {x}, std::move(attrs)));
  return SetInteger(ctx, y, 3, 0);
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
  NN_ASSIGN(Value* const x, ctx.Required(0));
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
  NN_ASSIGN(Value* const x, ctx.Required(0));
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
  Value* y = nullptr;
  if (ctx.Int("opset", 13) >= 13 || axis == rank - 1) {
    NN_ASSIGN(y, ctx.Add("softmax", {x}, SoftmaxAttrs{axis, 1.0f}));
  } else {
    const Dims rows(dims.begin(), dims.begin() + axis);
    const Dims columns(dims.begin() + axis, dims.end());
    const Dims matrix = {Product(rows), Product(columns)};
    NN_ASSIGN(y, ctx.Add("reshape", {x}, ReshapeTo(dims, matrix)));
    NN_ASSIGN(y, ctx.Add("softmax", {y}, SoftmaxAttrs{1, 1.0f}));
    NN_ASSIGN(y, ctx.Add("reshape", {y}, ReshapeTo(matrix, dims)));
  }
  return SetInteger(ctx, y, 3, 0);
}

// Scale and zero point of the result, then those of each operand after it.
Status ImportQLinearConcat(ImportContext& ctx) {
  if (ctx.input_count() < 5 || ctx.input_count() % 3 != 2)
    return ModelError("{} inputs; QLinearConcat has two, and three for each operand",
                      ctx.input_count());
  std::vector<Value*> parts;
  for (size_t i = 2; i < ctx.input_count(); i += 3) {
    NN_ASSIGN(Value* const part, Real(ctx, i));
    parts.push_back(part);
  }
  NN_ASSIGN(const int64_t axis, ctx.RequiredInt("axis"));
  NN_ASSIGN(Value* const y, ctx.Add("concat", std::move(parts), ConcatAttrs{axis}));
  return SetInteger(ctx, y, 0, 2);
}

Status ImportQLinearWhere(ImportContext& ctx) {
  NN_ASSIGN(Value* const condition, ctx.Required(0));
  NN_ASSIGN(Value* const a, Real(ctx, 1));
  NN_ASSIGN(Value* const b, Real(ctx, 4));
  NN_ASSIGN(Value* const y, ctx.Add("select", {condition, a, b}));
  return SetInteger(ctx, y, 7, 1);
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
     .domain = kMicrosoft},
    {.op = "QLinearReduceMean", .import = ImportQLinearReduceMean, .domain = kMicrosoft},
    {.op = "QLinearSoftmax", .import = ImportQLinearSoftmax, .domain = kMicrosoft},
    {.op = "QLinearConcat", .import = ImportQLinearConcat, .domain = kMicrosoft},
    {.op = "QLinearWhere", .import = ImportQLinearWhere, .domain = kMicrosoft},
};

}  // namespace

Family QlinearFamily() {
  return {.imports = kQlinearImports};
}

}  // namespace nn::onnx
