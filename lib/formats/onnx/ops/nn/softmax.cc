#include "ops/nn/softmax.h"
#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "ops/array/reshape_to.h"
#include "ops/array/shape.h"
#include "ops/support/types.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

struct SoftmaxName {
  std::string_view onnx;
  std::string_view ours;
};
constexpr SoftmaxName kSoftmaxNames[] = {
    {"Softmax", "softmax"}, {"LogSoftmax", "log_softmax"}, {"Hardmax", "hardmax"}};

std::string_view OurName(const ImportContext& ctx) {
  for (const SoftmaxName& name : kSoftmaxNames)
    if (name.onnx == ctx.node().op_type()) return name.ours;
  return {};
}

Attrs AttrsOf(std::string_view op, int64_t axis) {
  if (op == "softmax") return SoftmaxAttrs{axis, 1.0f};
  return AlongAxisAttrs{axis};
}

Status ImportSoftmax13(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const std::string_view op = OurName(ctx);
  return ctx.Emit(op, {x}, AttrsOf(op, ctx.Int("axis", -1)));
}

// Along the rows of the matrix [axes before `axis`, the rest].
Result<Value*> AlongRows(ImportContext& ctx, Value* x, std::string_view op) {
  if (!x->type().ranked())
    return UnsupportedError("{} along several axes needs an input of known rank",
                            ctx.node().op_type());
  const Dims& dims = *x->type().dims;
  const int rank = x->type().rank();
  // A vector is a single row, although the default axis is 1.
  const int64_t wanted = ctx.Int("axis", rank > 1 ? 1 : 0);
  NN_ASSIGN(const int axis, NormalizeAxis(wanted, rank));
  if (axis == rank - 1) return ctx.Add(op, {x}, AttrsOf(op, axis));
  const Dims rows(dims.begin(), dims.begin() + axis);
  const Dims columns(dims.begin() + axis, dims.end());
  NN_ASSIGN(Value* const matrix,
            ctx.Add("reshape", {x}, ReshapeTo(dims, {Product(rows), Product(columns)})));
  NN_ASSIGN(Value* const y, ctx.Add(op, {matrix}, AttrsOf(op, 1)));
  return ctx.Add("reshape", {y}, ReshapeTo({Product(rows), Product(columns)}, dims));
}

Status ImportSoftmax1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const y, AlongRows(ctx, x, OurName(ctx)));
  ctx.SetOutput(0, y);
  return {};
}

// Of com.microsoft. is_inner_broadcast repeats what the shape of the bias says.
Status ImportBiasSoftmax(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const bias, ctx.Required(1));
  NN_ASSIGN(Value * y, ctx.Add("add", {x, bias}));
  NN_ASSIGN(y, AlongRows(ctx, y, "softmax"));
  ctx.SetOutput(0, y);
  return {};
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

int64_t AxisOf(const Node& node) {
  const int64_t axis =
      node.Is("softmax") ? node.attrs<SoftmaxAttrs>().axis : node.attrs<AlongAxisAttrs>().axis;
  return FrontAxis(axis, node.input(0));
}

template <const char* op>
Status Write(ExportContext& ctx, const Node& node) {
  SetInt(ctx.AddNode(node, op), "axis", AxisOf(node));
  return {};
}

// Before operator set 13 the axes from `axis` on are flattened.
int64_t SoftmaxOpset(const Node& node) {
  return AxisOf(node) == node.input(0)->type().rank() - 1 ? 1 : 13;
}

std::optional<std::string> WhyNotQuantized(const Node& node) {
  if (node.input(0)->type().quantized())
    return "its operands are quantized; the ONNX operator needs real ones";
  return std::nullopt;
}
std::optional<std::string> WhyNotSoftmax(const Node& node) {
  if (node.attrs<SoftmaxAttrs>().beta != 1.0f) return "beta must be 1";
  return WhyNotQuantized(node);
}

constexpr char kSoftmax[] = "Softmax", kLogSoftmax[] = "LogSoftmax", kHardmax[] = "Hardmax";

}  // namespace

namespace {

constexpr ImportRow kSoftmaxImports[] = {
    {.op = "BiasSoftmax", .import = ImportBiasSoftmax, .domain = kMicrosoft},
    {.op = "Softmax", .since = 1, .import = ImportSoftmax1},
    {.op = "Softmax", .since = 13, .import = ImportSoftmax13},
    {.op = "LogSoftmax", .since = 1, .import = ImportSoftmax1},
    {.op = "LogSoftmax", .since = 13, .import = ImportSoftmax13},
    {.op = "Hardmax", .since = 1, .import = ImportSoftmax1},
    {.op = "Hardmax", .since = 13, .import = ImportSoftmax13},
};

constexpr ExportRow kSoftmaxExports[] = {
    {.op = "softmax",
     .write = Write<kSoftmax>,
     .why_not = WhyNotSoftmax,
     .min_opset = SoftmaxOpset},
    {.op = "log_softmax",
     .write = Write<kLogSoftmax>,
     .why_not = WhyNotQuantized,
     .min_opset = SoftmaxOpset},
    {.op = "hardmax",
     .write = Write<kHardmax>,
     .why_not = WhyNotQuantized,
     .min_opset = SoftmaxOpset},
};

}  // namespace

Family SoftmaxFamily() {
  return {.imports = kSoftmaxImports, .exports = kSoftmaxExports};
}

}  // namespace nn::onnx
