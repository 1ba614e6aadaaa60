#include "ops/nn/softmax.h"

#include <algorithm>
#include <string_view>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "ops/array/reshape_to.h"
#include "ops/support/types.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

struct SoftmaxRow {
  std::string_view onnx;
  std::string_view ours;
  Attrs (*attrs)(int64_t axis);
};
Attrs OnlyAxis(int64_t axis) {
  return AlongAxisAttrs{axis};
}
constexpr SoftmaxRow kSoftmaxRows[] = {{"Softmax", "softmax",
                                        [](int64_t axis) {
                                          return Attrs(SoftmaxAttrs{axis, 1.0f});
                                        }},
                                       {"LogSoftmax", "log_softmax", OnlyAxis},
                                       {"Hardmax", "hardmax", OnlyAxis}};

const SoftmaxRow& SoftmaxRowOf(const ImportContext& ctx) {
  return *std::ranges::find(kSoftmaxRows, ctx.node().op_type(), &SoftmaxRow::onnx);
}

Status ImportSoftmax13(ImportContext& ctx) {
  const SoftmaxRow& row = SoftmaxRowOf(ctx);
  return ctx.Emit(row.ours, {ctx.input(0)}, row.attrs(ctx.Int("axis", -1)));
}

// Along the rows of the matrix [axes before `axis`, the rest].
Result<Term> AlongRows(const ImportContext& ctx, Value* x, const SoftmaxRow& row) {
  if (!x->type().ranked())
    return UnsupportedError("{} along several axes needs an input of known rank",
                            ctx.node().op_type());
  const Dims& dims = *x->type().dims;
  const int rank = x->type().rank();
  // A vector is a single row, although the default axis is 1.
  const int64_t wanted = ctx.Int("axis", rank > 1 ? 1 : 0);
  NN_ASSIGN(const int axis, NormalizeAxis(wanted, rank));
  if (axis == rank - 1) return Apply(row.ours, {x}, row.attrs(axis));
  const Dims rows(dims.begin(), dims.begin() + axis);
  const Dims columns(dims.begin() + axis, dims.end());
  const Dims matrix = {Product(rows), Product(columns)};
  const Term y = Apply(row.ours, {Apply("reshape", {x}, ReshapeTo(dims, matrix))}, row.attrs(1));
  return Apply("reshape", {y}, ReshapeTo(matrix, dims));
}

Status ImportSoftmax1(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(const Term y, AlongRows(ctx, x, SoftmaxRowOf(ctx)));
  return ctx.EmitTerm(y);
}

// Of com.microsoft. is_inner_broadcast repeats what the shape of the bias says.
Status ImportBiasSoftmax(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const bias = ctx.input(1);
  NN_ASSIGN(Value* const sum, ctx.Build(x + Term(bias)));
  NN_ASSIGN(const Term y, AlongRows(ctx, sum, kSoftmaxRows[0]));
  return ctx.EmitTerm(y);
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

int64_t AxisOf(const Node& node) {
  const int64_t axis = node.attrs().Is<SoftmaxAttrs>() ? node.attrs<SoftmaxAttrs>().axis
                                                       : node.attrs<AlongAxisAttrs>().axis;
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
    {.op = "BiasSoftmax", .import = ImportBiasSoftmax, .inputs = 2, .domain = kMicrosoft},
    {.op = "Softmax", .since = 1, .import = ImportSoftmax1, .inputs = 1},
    {.op = "Softmax", .since = 13, .import = ImportSoftmax13, .inputs = 1},
    {.op = "LogSoftmax", .since = 1, .import = ImportSoftmax1, .inputs = 1},
    {.op = "LogSoftmax", .since = 13, .import = ImportSoftmax13, .inputs = 1},
    {.op = "Hardmax", .since = 1, .import = ImportSoftmax1, .inputs = 1},
    {.op = "Hardmax", .since = 13, .import = ImportSoftmax13, .inputs = 1},
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
