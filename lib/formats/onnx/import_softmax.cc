#include "formats/onnx/import.h"
#include "ops/shape.h"
#include "ops/softmax.h"
#include "ops/types.h"

namespace nn::onnx {
namespace {

struct SoftmaxName {
  std::string_view onnx;
  std::string_view ours;
};
constexpr SoftmaxName kNames[] = {
    {"Softmax", "softmax"}, {"LogSoftmax", "log_softmax"}, {"Hardmax", "hardmax"}};

std::string_view OurName(const ImportContext& ctx) {
  for (const SoftmaxName& name : kNames)
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

// Before version 13: along the rows of the matrix [axes before `axis`, the rest].
Status ImportSoftmax1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const std::string_view op = OurName(ctx);
  if (!x->type().ranked())
    return UnsupportedError("{} of a tensor of unknown rank", ctx.node().op_type());
  const Dims& dims = *x->type().dims;
  const int rank = x->type().rank();
  // A vector is one row, although the default axis is 1.
  const int64_t wanted = ctx.Int("axis", rank > 1 ? 1 : 0);
  NN_ASSIGN(const int axis, NormalizeAxis(wanted, rank));
  if (axis == rank - 1) return ctx.Emit(op, {x}, AttrsOf(op, axis));
  const Dims rows(dims.begin(), dims.begin() + axis);
  const Dims columns(dims.begin() + axis, dims.end());
  NN_ASSIGN(Value* const matrix,
            ctx.Add("reshape", {x}, ReshapeAttrs{{Product(rows), Product(columns)}, false}));
  NN_ASSIGN(Value* const y, ctx.Add(op, {matrix}, AttrsOf(op, 1)));
  return ctx.Emit("reshape", {y}, ReshapeAttrs{dims, false});
}

}  // namespace

void AddSoftmaxImports(ImportTable& t) {
  for (const SoftmaxName& name : kNames) {
    t.Add("", name.onnx, 1, ImportSoftmax1);
    t.Add("", name.onnx, 13, ImportSoftmax13);
  }
}

}  // namespace nn::onnx
