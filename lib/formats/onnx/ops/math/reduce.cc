#include <algorithm>

#include "formats/onnx/family.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

struct ReduceName {
  std::string_view onnx;
  std::string_view ours;
  // Whether a reduction over no axis returns x unchanged.
  bool identity;
};
constexpr ReduceName kReduceNames[] = {
    {"ReduceSum", "reduce_sum", true},
    {"ReduceMean", "reduce_mean", true},
    {"ReduceMax", "reduce_max", true},
    {"ReduceMin", "reduce_min", true},
    {"ReduceProd", "reduce_prod", true},
    {"ReduceL1", "reduce_l1", false},
    {"ReduceL2", "reduce_l2", false},
    {"ReduceLogSum", "reduce_log_sum", false},
    {"ReduceLogSumExp", "reduce_log_sum_exp", false},
    {"ReduceSumSquare", "reduce_sum_square", false},
};

// A reduction over no axis equals one over a new axis of size 1.
Status EmitOverNothing(ImportContext& ctx, Value* x, const ReduceName& name) {
  if (name.identity) {
    ctx.SetOutput(0, x);
    return {};
  }
  if (!x->type().ranked()) return UnsupportedError("{} needs an input of known rank", name.onnx);
  const int64_t axis = x->type().rank();
  return ctx.Emit(name.ours, {ExpandDims(x, {axis})}, ReduceAttrs{{axis}, false});
}

// The axes are an attribute up to operator set 12 (ReduceSum) or 17 (the others), then an input.
Status ImportReduce(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const auto name =
      std::find_if(std::begin(kReduceNames), std::end(kReduceNames),
                   [&](const ReduceName& n) { return n.onnx == ctx.node().op_type(); });
  ReduceAttrs a{ctx.Ints("axes"), ctx.Int("keepdims", 1) == 1};
  const bool noop = ctx.Int("noop_with_empty_axes", 0) != 0;
  if (Value* axes = ctx.input(1)) {
    const Type& type = axes->type();
    const bool known_length = type.ranked() && type.rank() == 1 && type.dim(0).is_const();
    if (const Tensor* constant = ctx.Constant(1)) {
      a.axes = constant->ToInts();
    } else if (known_length ? type.dim(0).value() > 0 : !noop) {
      return ctx.Emit(name->ours, {x, axes}, std::move(a));
    } else if (!known_length) {
      return UnsupportedError("{} with noop_with_empty_axes needs a known number of axes",
                              name->onnx);
    }
  }
  if (a.axes.empty() && noop) return EmitOverNothing(ctx, x, *name);
  if (x->type().ranked()) {
    NN_ASSIGN(const auto axes, NormalizeAxes(a.axes, x->type().rank()));
    a.axes.assign(axes.begin(), axes.end());
    std::sort(a.axes.begin(), a.axes.end());
  }
  return ctx.Emit(name->ours, {x}, std::move(a));
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

constexpr char kSum[] = "ReduceSum", kMean[] = "ReduceMean", kMax[] = "ReduceMax",
               kMin[] = "ReduceMin", kProd[] = "ReduceProd", kL1[] = "ReduceL1", kL2[] = "ReduceL2",
               kLogSum[] = "ReduceLogSum", kLogSumExp[] = "ReduceLogSumExp",
               kSumSquare[] = "ReduceSumSquare";
constexpr char kGlobalMean[] = "GlobalAveragePool", kGlobalMax[] = "GlobalMaxPool";

// The first operator set in which the axes are an input.
int64_t AxesInputSince(std::string_view op) {
  return op == kSum ? 13 : 18;
}

// Writes a reduction from one named value to another.
Status WriteReduction(ExportContext& ctx, const Node& node, std::string_view op, std::string x,
                      std::string y) {
  const auto& a = node.attrs<ReduceAttrs>();
  const bool as_input = ctx.opset() >= AxesInputSince(op);
  std::vector<std::string> inputs = {std::move(x)};
  if (node.input(1) != nullptr) {
    inputs.push_back(ctx.NameOf(node.input(1)));
  } else if (as_input && !a.axes.empty()) {
    inputs.push_back(ctx.AddInts(a.axes, "axes"));
  }
  pb::NodeProto* out = ctx.AddNode(node, op, {{std::move(y)}, std::move(inputs)});
  if (!as_input && !a.axes.empty()) SetInts(out, "axes", a.axes);
  SetInt(out, "keepdims", a.keep_dims ? 1 : 0);
  return {};
}

// Whether the node reduces over all spatial axes and keeps them.
bool IsGlobalPool(const Node& node) {
  const auto& a = node.attrs<ReduceAttrs>();
  const Type& x = node.input(0)->type();
  // A reduction of an ONNX file stays one: its axes may be other than those of an image.
  if (!a.keep_dims || a.axes.empty() || !IsFloat(x.dtype) || x.dtype == DType::kBF16 ||
      node.source_op().starts_with("Reduce"))
    return false;
  for (size_t i = 0; i < a.axes.size(); ++i)
    if (a.axes[i] != static_cast<int64_t>(i) + 2) return false;
  return a.axes.size() + 2 == static_cast<size_t>(x.rank());
}

template <const char* op>
Status WriteReduce(ExportContext& ctx, const Node& node) {
  return WriteReduction(ctx, node, op, ctx.NameOf(node.input(0)), ctx.NameOf(node.output()));
}

template <const char* op, const char* pool>
Status WriteReduceOrPool(ExportContext& ctx, const Node& node) {
  if (!IsGlobalPool(node)) return WriteReduce<op>(ctx, node);
  ctx.AddNode(node, pool);
  return {};
}

// reduce_any and reduce_all: the maximum and minimum of 0 and 1.
template <bool any>
Status WriteLogical(ExportContext& ctx, const Node& node) {
  const std::string x = ctx.NewName("number");
  const std::string y = ctx.NewName("reduced");
  ctx.AddCast(ctx.NameOf(node.input(0)), x, DType::kI32);
  NN_RETURN_IF_ERROR(WriteReduction(ctx, node, any ? kMax : kMin, x, y));
  // Without elements, the maximum is the lowest number and the minimum the highest one.
  const std::string bound = ctx.AddTensor(Tensor::Scalar(int32_t{0}), "zero");
  ctx.AddHelper(
      any ? "Greater" : "Not",
      {{ctx.NameOf(node.output())},
       any ? std::vector{y, bound} : std::vector{ctx.AddValue("Equal", {y, bound}, "none")}});
  return {};
}

// ONNX needs i64 axes.
std::optional<std::string> WhyNotReducedAxes(const Node& node) {
  const Value* axes = node.input(1);
  if (axes != nullptr && axes->dtype() != DType::kI64)
    return fmt::format("its axes must be i64, not {}", DTypeName(axes->dtype()));
  return std::nullopt;
}

std::optional<std::string> WhyNotReduce(const Node& node) {
  const Type& x = node.input(0)->type();
  if (x.quantized()) return "its operands are quantized; the ONNX reduction needs real ones";
  return WhyNotReducedAxes(node);
}

template <const char* op>
int64_t ReduceOpset(const Node& node) {
  return node.input(1) == nullptr ? 1 : AxesInputSince(op);
}

}  // namespace

namespace {

constexpr ImportRow kReduceImports[] = {
    {.op = "ReduceSum", .since = 1, .import = ImportReduce, .inputs = 1},
    {.op = "ReduceMean", .since = 1, .import = ImportReduce, .inputs = 1},
    {.op = "ReduceMax", .since = 1, .import = ImportReduce, .inputs = 1},
    {.op = "ReduceMin", .since = 1, .import = ImportReduce, .inputs = 1},
    {.op = "ReduceProd", .since = 1, .import = ImportReduce, .inputs = 1},
    {.op = "ReduceL1", .since = 1, .import = ImportReduce, .inputs = 1},
    {.op = "ReduceL2", .since = 1, .import = ImportReduce, .inputs = 1},
    {.op = "ReduceLogSum", .since = 1, .import = ImportReduce, .inputs = 1},
    {.op = "ReduceLogSumExp", .since = 1, .import = ImportReduce, .inputs = 1},
    {.op = "ReduceSumSquare", .since = 1, .import = ImportReduce, .inputs = 1},
};

constexpr ExportRow kReduceExports[] = {
    {.op = "reduce_sum",
     .write = WriteReduce<kSum>,
     .why_not = WhyNotReduce,
     .min_opset = ReduceOpset<kSum>},
    {.op = "reduce_mean",
     .write = WriteReduceOrPool<kMean, kGlobalMean>,
     .why_not = WhyNotReduce,
     .min_opset = ReduceOpset<kMean>},
    {.op = "reduce_max",
     .write = WriteReduceOrPool<kMax, kGlobalMax>,
     .why_not = WhyNotReduce,
     .min_opset = ReduceOpset<kMax>},
    {.op = "reduce_min",
     .write = WriteReduce<kMin>,
     .why_not = WhyNotReduce,
     .min_opset = ReduceOpset<kMin>},
    {.op = "reduce_prod",
     .write = WriteReduce<kProd>,
     .why_not = WhyNotReduce,
     .min_opset = ReduceOpset<kProd>},
    {.op = "reduce_l1",
     .write = WriteReduce<kL1>,
     .why_not = WhyNotReduce,
     .min_opset = ReduceOpset<kL1>},
    {.op = "reduce_l2",
     .write = WriteReduce<kL2>,
     .why_not = WhyNotReduce,
     .min_opset = ReduceOpset<kL2>},
    {.op = "reduce_log_sum",
     .write = WriteReduce<kLogSum>,
     .why_not = WhyNotReduce,
     .min_opset = ReduceOpset<kLogSum>},
    {.op = "reduce_log_sum_exp",
     .write = WriteReduce<kLogSumExp>,
     .why_not = WhyNotReduce,
     .min_opset = ReduceOpset<kLogSumExp>},
    {.op = "reduce_sum_square",
     .write = WriteReduce<kSumSquare>,
     .why_not = WhyNotReduce,
     .min_opset = ReduceOpset<kSumSquare>},
    {.op = "reduce_any",
     .write = WriteLogical<true>,
     .why_not = WhyNotReducedAxes,
     .min_opset = ReduceOpset<kMax>},
    {.op = "reduce_all",
     .write = WriteLogical<false>,
     .why_not = WhyNotReducedAxes,
     .min_opset = ReduceOpset<kMin>},
};

}  // namespace

Family ReduceFamily() {
  return {.imports = kReduceImports, .exports = kReduceExports};
}

}  // namespace nn::onnx
