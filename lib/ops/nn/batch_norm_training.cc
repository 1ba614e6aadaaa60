#include "ops/nn/batch_norm_training.h"

#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ir/text/number.h"
#include "ops/families.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/norm.h"
#include "ops/reduce/reduce.h"
#include "ops/support/composition.h"
#include "ops/support/movement.h"
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

// The parts of a decomposition, which are of one type.
class TrainingParts {
 public:
  TrainingParts(Graph& graph, Node& node)
      : graph_(graph),
        add_(graph, node),
        dtype_(node.input(0)->dtype() == DType::kF64 ? DType::kF64 : DType::kF32) {}

  Result<Value*> As(Value* v, DType dtype) const {
    if (v->dtype() == dtype) return v;
    return add_.Add("cast", {v}, CastAttrs{.to = dtype});
  }
  Result<Value*> As(Value* v) const { return As(v, dtype_); }

  Result<Value*> MeanOfChannels(Value* x, Layout layout, bool keep_dims) const {
    ReduceAttrs a;
    const int rank = x->type().rank();
    for (int axis = 0; axis < rank; ++axis)
      if (axis != ChannelAxis(layout, rank)) a.axes.push_back(axis);
    a.keep_dims = keep_dims;
    return add_.Add("reduce_mean", {x}, a);
  }

  Result<Value*> Running(Value* old, Value* current, float momentum) const {
    const double kept = static_cast<double>(momentum);
    NN_ASSIGN(Value* const factor, Constant(kept));
    // In float32, 1 - momentum is rounded.
    NN_ASSIGN(Value* const rest, Constant(dtype_ == DType::kF64 ? 1 - kept : 1.0f - momentum));
    NN_ASSIGN(old, As(old));
    NN_ASSIGN(old, add_.Add("mul", {old, factor}));
    NN_ASSIGN(current, add_.Add("mul", {current, rest}));
    return add_.Add("add", {old, current});
  }

  // A vector of zeros like `channels`.
  Result<Value*> Zeros(Value* channels) const {
    const Dim& n = channels->type().dim(0);
    if (!n.is_const()) return add_.Add("sub", {channels, channels});
    const auto size = static_cast<size_t>(n.value());
    return graph_.AddConstant(dtype_ == DType::kF64
                                  ? Tensor::Of({n.value()}, std::vector<double>(size))
                                  : Tensor::Of({n.value()}, std::vector<float>(size)));
  }

  const Composition& add() const { return add_; }

 private:
  Result<Value*> Constant(double v) const {
    NN_ASSIGN(Tensor number, Number(dtype_, v));
    return graph_.AddConstant(std::move(number));
  }

  Graph& graph_;
  Composition add_;
  DType dtype_;
};

Result<bool> DecomposeBatchNormTraining(Graph& graph, Node& node) {
  const auto a = node.attrs<BatchNormTrainingAttrs>();
  const TrainingParts parts(graph, node);
  const Composition& add = parts.add();
  NN_ASSIGN(Value* const x, parts.As(node.input(0)));
  NN_ASSIGN(Value* const scale, parts.As(node.input(1)));
  NN_ASSIGN(Value* const bias, parts.As(node.input(2)));
  NN_ASSIGN(Value* const wide_mean, parts.MeanOfChannels(x, a.layout, true));
  NN_ASSIGN(Value* const mean, parts.MeanOfChannels(x, a.layout, false));
  NN_ASSIGN(Value* const d, add.Add("sub", {x, wide_mean}));
  NN_ASSIGN(Value* const squares, add.Add("mul", {d, d}));
  NN_ASSIGN(Value* const variance, parts.MeanOfChannels(squares, a.layout, false));
  // The differences, because x and the mean can be large beside a small deviation.
  NN_ASSIGN(Value* const zeros, parts.Zeros(mean));
  NN_ASSIGN(Value* const y, add.Add("batch_norm", {d, scale, bias, zeros, variance},
                                    BatchNormAttrs{a.epsilon, a.layout}));
  NN_ASSIGN(Value* const running_mean, parts.Running(node.input(3), mean, a.momentum));
  NN_ASSIGN(Value* const running_variance, parts.Running(node.input(4), variance, a.momentum));
  std::vector<Value*> results = {y, running_mean, running_variance, mean, variance};
  results.resize(node.outputs().size());
  for (size_t i = 0; i < results.size(); ++i) {
    NN_ASSIGN(results[i], parts.As(results[i], node.output(i)->dtype()));
  }
  graph.Replace(&node, results);
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
