#include "formats/onnx/export.h"
#include "ops/reduce.h"

namespace nn::onnx {
namespace {

// The operator set from which on the axes are an input.
int64_t AxesInputSince(std::string_view op) {
  return op == "ReduceSum" ? 13 : 18;
}

// Writes a reduction of one named value to another.
Status WriteReduction(ExportContext& ctx, const Node& node, std::string_view op, std::string x,
                      std::string y) {
  const auto& a = node.attrs<ReduceAttrs>();
  const bool as_input = ctx.opset() >= AxesInputSince(op);
  std::vector<std::string> inputs = {std::move(x)};
  if (node.input(1) != nullptr) {
    inputs.push_back(ctx.NameOf(node.input(1)));
  } else if (as_input && !a.axes.empty()) {
    inputs.push_back(ctx.AddTensor(Tensor::Ints(a.axes), "axes"));
  }
  pb::NodeProto* out = ctx.AddNode(node, op, std::move(inputs), {std::move(y)});
  if (!as_input && !a.axes.empty()) SetInts(out, "axes", a.axes);
  SetInt(out, "keepdims", a.keep_dims ? 1 : 0);
  return {};
}

// The operator that reduces over all spatial axes and keeps them; null if the node does something
// else.
const char* GlobalPool(const Node& node) {
  const auto& a = node.attrs<ReduceAttrs>();
  const Type& x = node.input(0)->type();
  if (!a.keep_dims || a.axes.empty() || !IsFloat(x.dtype) || x.dtype == DType::kBF16)
    return nullptr;
  for (size_t i = 0; i < a.axes.size(); ++i)
    if (a.axes[i] != static_cast<int64_t>(i) + 2) return nullptr;
  if (a.axes.size() + 2 != static_cast<size_t>(x.rank())) return nullptr;
  if (node.Is("reduce_mean")) return "GlobalAveragePool";
  return node.Is("reduce_max") ? "GlobalMaxPool" : nullptr;
}

template <const char* op>
Status WriteReduce(ExportContext& ctx, const Node& node) {
  if (const char* global = GlobalPool(node)) {
    ctx.AddNode(node, global);
    return {};
  }
  return WriteReduction(ctx, node, op, ctx.NameOf(node.input(0)), ctx.NameOf(node.output()));
}

// reduce_any and reduce_all: the maximum and minimum of 0 and 1.
template <const char* op>
Status WriteLogical(ExportContext& ctx, const Node& node) {
  const std::string x = ctx.NewName("number");
  const std::string y = ctx.NewName("reduced");
  ctx.AddCast(ctx.NameOf(node.input(0)), x, DType::kI32);
  NN_RETURN_IF_ERROR(WriteReduction(ctx, node, op, x, y));
  ctx.AddCast(y, ctx.NameOf(node.output()), DType::kBool);
  return {};
}

// ONNX takes i64 axes.
std::optional<std::string> WhyNotAxes(const Node& node) {
  const Value* axes = node.input(1);
  if (axes != nullptr && axes->dtype() != DType::kI64)
    return fmt::format("axes of type {}", DTypeName(axes->dtype()));
  return std::nullopt;
}

std::optional<std::string> WhyNotReduce(const Node& node) {
  const Type& x = node.input(0)->type();
  if (x.quantised()) return "quantised reduction";
  const bool extreme = node.Is("reduce_max") || node.Is("reduce_min");
  const bool bytes = x.dtype == DType::kI8 || x.dtype == DType::kU8;
  if (x.dtype == DType::kBool || x.dtype == DType::kI16 || x.dtype == DType::kU16 ||
      (bytes && !extreme))
    return fmt::format("reduction of {}", DTypeName(x.dtype));
  return WhyNotAxes(node);
}

int64_t ReduceOpset(const Node& node) {
  if (node.input(1) == nullptr) return 1;
  return AxesInputSince(node.Is("reduce_sum") ? "ReduceSum" : "");
}

constexpr char kSum[] = "ReduceSum", kMean[] = "ReduceMean", kMax[] = "ReduceMax",
               kMin[] = "ReduceMin", kProd[] = "ReduceProd", kL1[] = "ReduceL1", kL2[] = "ReduceL2",
               kLogSum[] = "ReduceLogSum", kLogSumExp[] = "ReduceLogSumExp",
               kSumSquare[] = "ReduceSumSquare";

}  // namespace

void AddReduceExports(std::vector<ExportRow>& rows) {
  rows.push_back({"reduce_sum", WriteReduce<kSum>, WhyNotReduce, ReduceOpset});
  rows.push_back({"reduce_mean", WriteReduce<kMean>, WhyNotReduce, ReduceOpset});
  rows.push_back({"reduce_max", WriteReduce<kMax>, WhyNotReduce, ReduceOpset});
  rows.push_back({"reduce_min", WriteReduce<kMin>, WhyNotReduce, ReduceOpset});
  rows.push_back({"reduce_prod", WriteReduce<kProd>, WhyNotReduce, ReduceOpset});
  rows.push_back({"reduce_l1", WriteReduce<kL1>, WhyNotReduce, ReduceOpset});
  rows.push_back({"reduce_l2", WriteReduce<kL2>, WhyNotReduce, ReduceOpset});
  rows.push_back({"reduce_log_sum", WriteReduce<kLogSum>, WhyNotReduce, ReduceOpset});
  rows.push_back({"reduce_log_sum_exp", WriteReduce<kLogSumExp>, WhyNotReduce, ReduceOpset});
  rows.push_back({"reduce_sum_square", WriteReduce<kSumSquare>, WhyNotReduce, ReduceOpset});
  rows.push_back({"reduce_any", WriteLogical<kMax>, WhyNotAxes, ReduceOpset});
  rows.push_back({"reduce_all", WriteLogical<kMin>, WhyNotAxes, ReduceOpset});
}

}  // namespace nn::onnx
