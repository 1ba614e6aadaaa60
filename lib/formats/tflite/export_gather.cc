#include <algorithm>

#include "formats/tflite/export.h"
#include "ops/gather.h"
#include "ops/generate.h"
#include "ops/scatter.h"
#include "ops/select.h"

namespace nn::tflite {
namespace {

using Op = fb::BuiltinOperator;

// Indices are of i16, i32 or i64. Negative ones that are known count from the end, which GATHER
// does not do.
Result<TensorIndex> IndexTensor(ExportContext& ctx, const Value* indices, const Dim& size) {
  if (!indices->is_constant()) return ctx.TensorOf(indices);
  const std::vector<int64_t> list = indices->constant().ToInts();
  if (std::all_of(list.begin(), list.end(), [](int64_t i) { return i >= 0; }))
    return ctx.TensorOf(indices);
  if (!size.is_const()) return UnsupportedError("an index from the end of an axis of unknown size");
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(indices->dtype(), indices->constant().dims()));
  for (size_t i = 0; i < list.size(); ++i)
    b.SetInt(static_cast<int64_t>(i), list[i] < 0 ? list[i] + size.value() : list[i]);
  return ctx.AddConstant(b.Finish(), indices->name());
}

Status WriteGather(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<GatherAttrs>();
  const Type& x = node.input(0)->type();
  const int64_t axis = a.axis < 0 ? a.axis + x.rank() : a.axis;
  VersionTraits traits;
  traits.batch_dims = a.batch_dims != 0;
  NN_ASSIGN(const TensorIndex indices,
            IndexTensor(ctx, node.input(1), x.dim(static_cast<int>(axis))));
  ctx.AddOperator(Op::GATHER, {ctx.TensorOf(node.input(0)), indices}, ctx.ResultsOf(node),
                  fb::CreateGatherOptions(ctx.builder(), static_cast<int32_t>(axis),
                                          static_cast<int32_t>(a.batch_dims)),
                  traits);
  return {};
}

std::optional<std::string> WhyNotGather(const Node& node) {
  if (!node.input(0)->type().ranked()) return "unknown rank";
  return std::nullopt;
}

Status WriteGatherNd(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::GATHER_ND, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateGatherNdOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotGatherNd(const Node& node) {
  if (node.attrs<GatherNdAttrs>().batch_dims != 0) return "batch axes of GATHER_ND";
  return std::nullopt;
}

// SCATTER_ND adds to zeros.
Status WriteScatterNd(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const TensorIndex shape, ctx.AddInts(node.input(0)->constant().dims(), "shape"));
  ctx.AddOperator(Op::SCATTER_ND,
                  {ctx.TensorAs(node.input(1), DType::kI32), ctx.TensorOf(node.input(2)), shape},
                  ctx.ResultsOf(node), fb::CreateScatterNdOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotScatterNd(const Node& node) {
  const Value* x = node.input(0);
  if (!x->is_constant()) return "it does not begin with zeros";
  const auto values =
      x->constant().dtype() == DType::kString ? std::vector<double>{1} : x->constant().ToDoubles();
  if (std::any_of(values.begin(), values.end(), [](double v) { return v != 0; }))
    return "it does not begin with zeros";
  if (node.attrs<ScatterNdAttrs>().reduction != Reduction::kAdd && x->dtype() != DType::kBool)
    return "updates that are not added up";
  return std::nullopt;
}

Status WriteOneHot(ExportContext& ctx, const Node& node) {
  const Value* values = node.input(2);
  NN_ASSIGN(const Tensor both, values->constant().Reshaped({2}));
  std::vector<TensorIndex> inputs = {ctx.TensorOf(node.input(0)), kNoTensor};
  NN_ASSIGN(inputs[1], ctx.AddInt(node.input(1)->constant().GetInt(0), "depth"));
  for (const int64_t i : {1, 0}) {
    NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(both.dtype(), {}));
    b.Copy(0, both, i);
    inputs.push_back(ctx.AddConstant(b.Finish(), i == 1 ? "on" : "off"));
  }
  ctx.AddOperator(
      Op::ONE_HOT, inputs, ctx.ResultsOf(node),
      fb::CreateOneHotOptions(ctx.builder(), static_cast<int32_t>(node.attrs<OneHotAttrs>().axis)));
  return {};
}

std::optional<std::string> WhyNotOneHot(const Node& node) {
  if (!node.input(1)->is_constant() || !node.input(2)->is_constant())
    return "depth or values that are not constant";
  if (node.attrs<OneHotAttrs>().wrap) return "indices that may count from the end";
  if (node.input(0)->dtype() != DType::kI32 && node.input(0)->dtype() != DType::kI64)
    return fmt::format("indices of {}", DTypeName(node.input(0)->dtype()));
  return std::nullopt;
}

// WHERE lists positions as rows.
Status WriteNonZero(ExportContext& ctx, const Node& node) {
  Type rows = node.output()->type();
  std::swap((*rows.dims)[0], (*rows.dims)[1]);
  const TensorIndex positions = ctx.AddTensor(rows, node.output()->name());
  ctx.AddOperator(Op::WHERE, {ctx.TensorOf(node.input(0))}, {positions},
                  fb::CreateWhereOptions(ctx.builder()));
  NN_ASSIGN(const TensorIndex perm, ctx.AddInts({1, 0}, "perm"));
  ctx.AddOperator(Op::TRANSPOSE, {positions, perm}, ctx.ResultsOf(node),
                  fb::CreateTransposeOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotNonZero(const Node& node) {
  if (!node.output()->type().ranked()) return "unknown rank";
  return std::nullopt;
}

Status WriteUnique(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<UniqueAttrs>();
  // Outputs of the graph have a tensor already.
  for (const size_t i : {size_t{1}, size_t{3}})
    if (i < node.outputs().size() && ctx.HasTensor(node.output(i)))
      return UnsupportedError("TensorFlow Lite's UNIQUE has no first places and counts");
  TensorIndex inverse = kNoTensor;
  if (node.outputs().size() > 2)
    inverse = ctx.TensorOf(node.output(2));
  else
    inverse = ctx.AddTensor(Type(a.index_type, *node.input(0)->type().dims), "inverse");
  ctx.AddOperator(
      Op::UNIQUE, {ctx.TensorOf(node.input(0))}, {ctx.TensorOf(node.output()), inverse},
      fb::CreateUniqueOptions(ctx.builder(), a.index_type == DType::kI64 ? fb::TensorType::INT64
                                                                         : fb::TensorType::INT32));
  return {};
}

std::optional<std::string> WhyNotUnique(const Node& node) {
  const auto& a = node.attrs<UniqueAttrs>();
  if (a.sorted) return "results in ascending order";
  if (!node.input(0)->type().ranked() || node.input(0)->type().rank() != 1)
    return "a tensor that is not one-dimensional";
  for (const size_t i : {size_t{1}, size_t{3}})
    if (i < node.outputs().size() && !node.output(i)->uses().empty())
      return "first places and counts";
  return std::nullopt;
}

Status WriteReverseSequence(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ReverseSequenceAttrs>();
  ctx.AddOperator(Op::REVERSE_SEQUENCE, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateReverseSequenceOptions(ctx.builder(), static_cast<int32_t>(a.time_axis),
                                                   static_cast<int32_t>(a.batch_axis)));
  return {};
}

}  // namespace

void AddGatherExports(std::vector<ExportRow>& rows) {
  rows.push_back({"gather", WriteGather, WhyNotGather});
  rows.push_back({"gather_nd", WriteGatherNd, WhyNotGatherNd});
  rows.push_back({"scatter_nd", WriteScatterNd, WhyNotScatterNd});
  rows.push_back({"one_hot", WriteOneHot, WhyNotOneHot});
  rows.push_back({"non_zero", WriteNonZero, WhyNotNonZero});
  rows.push_back({"unique", WriteUnique, WhyNotUnique});
  rows.push_back({"reverse_sequence", WriteReverseSequence});
}

}  // namespace nn::tflite
