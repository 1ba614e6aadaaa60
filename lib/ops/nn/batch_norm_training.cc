#include "ops/nn/batch_norm_training.h"

#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/nn/norm.h"
#include "ops/reduce/reduce.h"
#include "ops/support/composition.h"
#include "ops/support/movement.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> BatchNormTrainingAttrs::Fields() {
  static const AttrField fields[] = {Field<&BatchNormTrainingAttrs::epsilon>("epsilon"),
                                     Field<&BatchNormTrainingAttrs::momentum>("momentum"),
                                     Field<&BatchNormTrainingAttrs::layout>("layout")};
  return fields;
}

namespace {

Status InferBatchNormTraining(InferContext& ctx) {
  for (size_t i = 0; i < 5; ++i) NN_RETURN_IF_ERROR(RequireReal(ctx, i));
  NN_RETURN_IF_ERROR(SameDType(ctx, {3, 4}));
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 2));
  if (ctx.output_count() != 3 && ctx.output_count() != 5)
    return ModelError("there are {} outputs; must be 3 or 5", ctx.output_count());
  const Type& x = ctx.in(0);
  Dim channels = x.dim(ChannelAxis(ctx.attrs<BatchNormTrainingAttrs>().layout, x.rank()));
  for (size_t i = 1; i < 5; ++i) {
    NN_RETURN_IF_ERROR(RequireRank(ctx, i, 1, 1));
    const Dim& n = ctx.in(i).dim(0);
    if (n.is_const() && channels.is_const() && n != channels)
      return ModelError("input {} has {} elements for {} channels", i, n.ToString(),
                        channels.ToString());
    if (n.is_const()) channels = n;
  }
  ctx.set_out(0, x);
  for (size_t i = 1; i < ctx.output_count(); ++i) ctx.set_out(i, Type(ctx.in(3).dtype, {channels}));
  return {};
}

Result<bool> DecomposeBatchNormTraining(Graph& graph, Node& node) {
  const auto a = node.attrs<BatchNormTrainingAttrs>();
  const DType dtype = node.input(0)->dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  Composition c(graph, node);
  const auto input = [&](size_t i) {
    Value* const v = node.input(i);
    return v->dtype() == dtype ? Term(v) : Cast(v, dtype);
  };
  const int rank = node.input(0)->type().rank();
  ReduceAttrs over;
  for (int axis = 0; axis < rank; ++axis)
    if (axis != ChannelAxis(a.layout, rank)) over.axes.push_back(axis);
  const auto mean_of_channels = [&](const Term& x, bool keep_dims) {
    return Apply("reduce_mean", {x}, ReduceAttrs{over.axes, keep_dims});
  };
  const double kept = static_cast<double>(a.momentum);
  // In float32, 1 - momentum is rounded.
  const double rest = dtype == DType::kF64 ? 1 - kept : 1.0f - a.momentum;
  const auto running = [&](const Term& old, const Term& current) {
    return old * kept + current * rest;
  };

  const Term x = input(0);
  const Term d = x - mean_of_channels(x, true);
  NN_ASSIGN(Value* const mean, c.Build(mean_of_channels(x, false)));
  const Term variance = mean_of_channels(d * d, false);
  // The differences, because x and the mean can be large beside a small deviation.
  const Dim& channels = mean->type().dim(0);
  Term zeros = Term(mean) - mean;
  if (channels.is_const()) {
    NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, {channels.value()}));
    for (int64_t i = 0; i < b.elements(); ++i) b.SetDouble(i, 0);
    zeros = b.Finish();
  }
  const Term y = Apply("batch_norm", {d, input(1), input(2), zeros, variance},
                       BatchNormAttrs{a.epsilon, a.layout});
  const Term results[] = {y, running(input(3), mean), running(input(4), variance), mean, variance};
  std::vector<Value*> values;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const DType to = node.output(i)->dtype();
    NN_ASSIGN(values.emplace_back(), c.Build(to == dtype ? results[i] : Cast(results[i], to)));
  }
  graph.Replace(&node, values);
  return true;
}

}  // namespace

void RegisterBatchNormTrainingOps(OpRegistry& ops) {
  OpDef op;
  op.name = "batch_norm_training";
  op.summary = "batch_norm with the statistics of the batch, which update running ones";
  op.category = Category::kNormalization;
  op.attrs = AttrsInfoOf<BatchNormTrainingAttrs>();
  op.inputs = {{"x"}, {"scale"}, {"bias"}, {"mean"}, {"variance"}};
  op.outputs = {{"y"}, {"running_mean"}, {"running_variance"}, {"batch_mean"}, {"batch_variance"}};
  op.infer = InferBatchNormTraining;
  op.decompose = DecomposeBatchNormTraining;
  ops.Add(std::move(op));
}

}  // namespace nn
