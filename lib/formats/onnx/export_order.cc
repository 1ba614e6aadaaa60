#include "formats/onnx/export.h"
#include "ops/order.h"

namespace nn::onnx {
namespace {

// The name under which an operator writes i64 indices that our value has as `type`; a Cast to it is
// to follow.
std::string IndexName(ExportContext& ctx, const Value* v) {
  return v->dtype() == DType::kI64 ? ctx.NameOf(v) : ctx.NewName("indices");
}
void CastIndices(ExportContext& ctx, const Value* v, const std::string& from) {
  if (v->dtype() != DType::kI64) ctx.AddCast(from, ctx.NameOf(v), v->dtype());
}

Status WriteArg(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ArgAttrs>();
  const std::string y = IndexName(ctx, node.output());
  pb::NodeProto* out =
      ctx.AddNode(node, node.Is("arg_max") ? "ArgMax" : "ArgMin", {ctx.NameOf(node.input(0))}, {y});
  SetInt(out, "axis", a.axis < 0 ? a.axis + node.input(0)->type().rank() : a.axis);
  SetInt(out, "keepdims", a.keep_dims ? 1 : 0);
  if (a.select_last_index) SetInt(out, "select_last_index", 1);
  CastIndices(ctx, node.output(), y);
  return {};
}

// k as one i64 in one dimension.
std::string NameOfK(ExportContext& ctx, const Node& node) {
  const Value* k = node.input(1);
  if (k->is_constant()) return ctx.AddTensor(Tensor::Ints({k->constant().GetInt(0)}), "k");
  std::string name = ctx.NameOf(k);
  if (k->dtype() != DType::kI64) {
    const std::string wide = ctx.NewName("k");
    ctx.AddCast(name, wide, DType::kI64);
    name = wide;
  }
  if (k->type().rank() == 1) return name;
  std::string flat = ctx.NewName("k");
  ctx.AddHelper("Reshape", {name, ctx.AddTensor(Tensor::Ints({1}), "shape")}, {flat});
  return flat;
}

Status WriteTopK(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<TopKAttrs>();
  const Value* indices = node.outputs().size() > 1 ? node.output(1) : nullptr;
  std::vector<std::string> outputs = {ctx.NameOf(node.output()), indices == nullptr
                                                                     ? ctx.NewName("indices")
                                                                     : IndexName(ctx, indices)};
  const std::string index_name = outputs[1];
  pb::NodeProto* out = ctx.AddNode(node, "TopK", {ctx.NameOf(node.input(0)), NameOfK(ctx, node)},
                                   std::move(outputs));
  SetInt(out, "axis", a.axis);
  if (ctx.opset() >= 11) {
    SetInt(out, "largest", a.largest ? 1 : 0);
    SetInt(out, "sorted", a.sorted ? 1 : 0);
  }
  if (indices != nullptr) CastIndices(ctx, indices, index_name);
  return {};
}

Status WriteCumSum(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<CumSumAttrs>();
  const std::string axis = node.input(1) != nullptr ? ctx.NameOf(node.input(1))
                                                    : ctx.AddTensor(Tensor::Scalar(a.axis), "axis");
  pb::NodeProto* out =
      ctx.AddNode(node, "CumSum", {ctx.NameOf(node.input(0)), axis}, {ctx.NameOf(node.output())});
  if (a.exclusive) SetInt(out, "exclusive", 1);
  if (a.reverse) SetInt(out, "reverse", 1);
  return {};
}

// ONNX compares the integers themselves, which is what these operators do with quantised types.
std::optional<std::string> WhyNotOrder(const Node& node) {
  if (node.input(0)->type().quantised() && !node.Is("arg_max") && !node.Is("arg_min"))
    return "quantised operands";
  if (node.input(0)->dtype() == DType::kBool) return "operands of type bool";
  return std::nullopt;
}

int64_t ArgOpset(const Node& node) {
  return node.attrs<ArgAttrs>().select_last_index ? 12 : 1;
}
int64_t TopKOpset(const Node& node) {
  const auto& a = node.attrs<TopKAttrs>();
  return a.largest && a.sorted ? 10 : 11;
}

}  // namespace

void AddOrderExports(std::vector<ExportRow>& rows) {
  rows.push_back({"arg_max", WriteArg, WhyNotOrder, ArgOpset});
  rows.push_back({"arg_min", WriteArg, WhyNotOrder, ArgOpset});
  rows.push_back({"top_k", WriteTopK, WhyNotOrder, TopKOpset});
  rows.push_back({"cum_sum", WriteCumSum, WhyNotOrder, Since<11>});
}

}  // namespace nn::onnx
