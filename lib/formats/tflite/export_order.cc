#include "formats/tflite/export.h"
#include "formats/tflite/tensor.h"
#include "ops/order.h"

namespace nn::tflite {
namespace {

using Op = fb::BuiltinOperator;

// The operators drop the axis; where it stays, a RESHAPE brings it back.
template <Op op>
Status WriteArg(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ArgAttrs>();
  const fb::TensorType type = *TensorTypeOf(a.output_type);
  NN_ASSIGN(const TensorIndex axis, ctx.AddInt(a.axis, "axis"));
  TensorIndex y = ctx.ResultOf(node);
  if (a.keep_dims) {
    Type dropped = node.output()->type();
    dropped.dims->erase(dropped.dims->begin() + (a.axis < 0 ? a.axis + dropped.rank() : a.axis));
    y = ctx.AddTensor(dropped, node.output()->name());
  }
  std::vector<TensorIndex> inputs = {ctx.TensorOf(node.input(0)), axis};
  if constexpr (op == Op::ARG_MAX)
    ctx.AddOperator(op, inputs, {y}, fb::CreateArgMaxOptions(ctx.builder(), type));
  else
    ctx.AddOperator(op, inputs, {y}, fb::CreateArgMinOptions(ctx.builder(), type));
  if (!a.keep_dims) return {};
  NN_ASSIGN(const TensorIndex at, ctx.AddInt(a.axis, "axis"));
  ctx.AddOperator(Op::EXPAND_DIMS, {y, at}, ctx.ResultsOf(node),
                  fb::CreateExpandDimsOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotArg(const Node& node) {
  if (!node.output()->type().ranked()) return "unknown rank";
  if (node.attrs<ArgAttrs>().select_last_index) return "the last of equal elements";
  return std::nullopt;
}

// Along the last axis, with indices of i32.
Status WriteTopK(ExportContext& ctx, const Node& node) {
  TensorIndex k = ctx.TensorAs(node.input(1), DType::kI32);
  if (node.input(1)->is_constant()) {
    NN_ASSIGN(k, ctx.AddInt(node.input(1)->constant().GetInt(0), "k"));
  }
  const Value* indices = node.output(1);
  TensorIndex narrow = ctx.TensorOf(indices);
  if (indices->dtype() != DType::kI32)
    narrow = ctx.AddTensor(Type(DType::kI32, *indices->type().dims), indices->name());
  ctx.AddOperator(Op::TOPK_V2, {ctx.TensorOf(node.input(0)), k},
                  {ctx.TensorOf(node.output()), narrow}, fb::CreateTopKV2Options(ctx.builder()));
  if (indices->dtype() != DType::kI32) ctx.AddCast(narrow, ctx.TensorOf(indices));
  return {};
}

std::optional<std::string> WhyNotTopK(const Node& node) {
  const auto& a = node.attrs<TopKAttrs>();
  if (!a.largest) return "the smallest elements";
  if (node.outputs().size() < 2 || !node.output(1)->type().ranked()) return "unknown rank";
  if (a.axis != -1 && a.axis != node.input(0)->type().rank() - 1)
    return fmt::format("axis {} is not the last", a.axis);
  const Type& k = node.input(1)->type();
  if (!node.input(1)->is_constant() && !(k.ranked() && k.rank() == 0))
    return "a number of elements that is not a scalar";
  return std::nullopt;
}

Status WriteCumSum(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<CumSumAttrs>();
  TensorIndex axis = kNoTensor;
  if (node.input(1) != nullptr) {
    axis = ctx.TensorAs(node.input(1), DType::kI32);
  } else {
    NN_ASSIGN(axis, ctx.AddInt(a.axis, "axis"));
  }
  ctx.AddOperator(Op::CUMSUM, {ctx.TensorOf(node.input(0)), axis}, ctx.ResultsOf(node),
                  fb::CreateCumsumOptions(ctx.builder(), a.exclusive, a.reverse));
  return {};
}

std::optional<std::string> WhyNotCumSum(const Node& node) {
  const DType t = node.input(0)->dtype();
  if (t == DType::kF32 || t == DType::kI32 || t == DType::kI64) return std::nullopt;
  return fmt::format("a running sum of {}", DTypeName(t));
}

}  // namespace

void AddOrderExports(std::vector<ExportRow>& rows) {
  rows.push_back({"arg_max", WriteArg<Op::ARG_MAX>, WhyNotArg});
  rows.push_back({"arg_min", WriteArg<Op::ARG_MIN>, WhyNotArg});
  rows.push_back({"top_k", WriteTopK, WhyNotTopK});
  rows.push_back({"cum_sum", WriteCumSum, WhyNotCumSum});
}

}  // namespace nn::tflite
