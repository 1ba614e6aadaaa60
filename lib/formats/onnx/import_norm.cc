#include <algorithm>

#include "formats/onnx/import.h"
#include "ops/norm.h"
#include "ops/shape.h"
#include "ops/tile.h"
#include "ops/types.h"

namespace nn::onnx {
namespace {

// ---- BatchNormalization

// Training mode is told by is_test = 0 (versions 1 and 6), by more than one output (7 and 9) or by
// training_mode (from 14 on).
Status CheckInference(const ImportContext& ctx) {
  bool training = ctx.Int("training_mode", 0) != 0;
  if (ctx.opset() < 7) training = ctx.Int("is_test", 0) == 0;
  for (size_t i = 1; i < ctx.output_count(); ++i) training |= ctx.WantsOutput(i);
  if (training) return UnsupportedError("BatchNormalization in training mode");
  return {};
}

Result<Value*> Reshaped(ImportContext& ctx, Value* v, Dims dims) {
  return ctx.Add("reshape", {v}, ReshapeAttrs{std::move(dims), false});
}

Status ImportBatchNorm(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(CheckInference(ctx));
  std::vector<Value*> inputs;
  for (size_t i = 0; i < 5; ++i) {
    NN_ASSIGN(Value* const v, ctx.Required(i));
    inputs.push_back(v);
  }
  const BatchNormAttrs a{ctx.Float("epsilon", 1e-5f), Layout::kNcx};
  const Type x = inputs[0]->type();
  if (!x.ranked()) return UnsupportedError("BatchNormalization of a tensor of unknown rank");
  // Without `spatial` (up to version 8) every element of a batch has parameters of its own: a
  // channel each. A vector counts as a batch with one channel.
  const bool per_element = ctx.opset() < 9 && ctx.Int("spatial", 1) == 0;
  if (!per_element && x.rank() > 1) return ctx.Emit("batch_norm", inputs, a);
  if (x.rank() == 0) return ModelError("BatchNormalization of a scalar");
  const Dim channels = Product(Dims(x.dims->begin() + 1, x.dims->end()));
  NN_ASSIGN(inputs[0], Reshaped(ctx, inputs[0], {x.dim(0), channels}));
  for (size_t i = 1; i < 5; ++i) {
    NN_ASSIGN(inputs[i], Reshaped(ctx, inputs[i], {channels}));
  }
  NN_ASSIGN(Value* const y, ctx.Add("batch_norm", inputs, a));
  return ctx.Emit("reshape", {y}, ReshapeAttrs{*x.dims, false});
}

// ---- Normalisation by a tensor's own statistics
// --------------------------------------------------

// stash_type is the precision of the statistics: 1, float32, is the default and what f16, bf16 and
// f32 are computed in here; f64 is computed in f64 and so takes 11.
Status CheckStashType(const ImportContext& ctx, DType dtype) {
  const int64_t stash = ctx.Int("stash_type", 1);
  const int64_t fits = dtype == DType::kF64 ? pb::TensorProto::DOUBLE : pb::TensorProto::FLOAT;
  if (stash != fits)
    return UnsupportedError("{} of {} with stash_type {}", ctx.node().op_type(), DTypeName(dtype),
                            stash);
  return {};
}

Status ImportInstanceNorm(ImportContext& ctx) {
  std::vector<Value*> inputs;
  for (size_t i = 0; i < 3; ++i) {
    NN_ASSIGN(Value* const v, ctx.Required(i));
    inputs.push_back(v);
  }
  return ctx.Emit("instance_norm", inputs,
                  InstanceNormAttrs{ctx.Float("epsilon", 1e-5f), Layout::kNcx});
}

// Scale and bias are per group in version 18, per channel from 21 on.
Status ImportGroupNorm(ImportContext& ctx) {
  std::vector<Value*> inputs;
  for (size_t i = 0; i < 3; ++i) {
    NN_ASSIGN(Value* const v, ctx.Required(i));
    inputs.push_back(v);
  }
  NN_RETURN_IF_ERROR(CheckStashType(ctx, inputs[0]->dtype()));
  if (!ctx.HasAttr("num_groups")) return ModelError("attribute num_groups is missing");
  return ctx.Emit(
      "group_norm", inputs,
      GroupNormAttrs{ctx.Int("num_groups", 1), ctx.Float("epsilon", 1e-5f), Layout::kNcx});
}

Status ImportLayerNorm(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const scale, ctx.Required(1));
  NN_RETURN_IF_ERROR(CheckStashType(ctx, x->dtype()));
  std::vector<Value*> inputs = {x, scale};
  if (Value* bias = ctx.input(2)) inputs.push_back(bias);
  return ctx.Emit("layer_norm", std::move(inputs),
                  LayerNormAttrs{ctx.Int("axis", -1), ctx.Float("epsilon", 1e-5f)});
}

Status ImportRmsNorm(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const scale, ctx.Required(1));
  NN_RETURN_IF_ERROR(CheckStashType(ctx, x->dtype()));
  return ctx.Emit("rms_norm", {x, scale},
                  RmsNormAttrs{ctx.Int("axis", -1), ctx.Float("epsilon", 1e-5f)});
}

Status ImportLrn(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (!ctx.HasAttr("size")) return ModelError("attribute size is missing");
  return ctx.Emit("lrn", {x},
                  LrnAttrs{ctx.Int("size", 1), ctx.Float("alpha", 1e-4f), ctx.Float("beta", 0.75f),
                           ctx.Float("bias", 1.0f), Layout::kNcx});
}

Status ImportLpNormalization(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("lp_normalization", {x},
                  LpNormalizationAttrs{ctx.Int("axis", -1), ctx.Int("p", 2)});
}

// The function's body adds 1e-9 to the standard deviation.
Status ImportMeanVariance(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  MeanVarianceNormalizationAttrs a;
  a.axes = ctx.HasAttr("axes") ? ctx.Ints("axes") : std::vector<int64_t>{0, 2, 3};
  if (x->type().ranked()) {
    NN_ASSIGN(const auto axes, NormalizeAxes(a.axes, x->type().rank()));
    a.axes.assign(axes.begin(), axes.end());
    std::sort(a.axes.begin(), a.axes.end());
  }
  a.epsilon = 1e-9f;
  a.epsilon_rule = EpsilonRule::kOutside;
  return ctx.Emit("mean_variance_normalization", {x}, std::move(a));
}

// ---- Dropout

Status EmitMask(ImportContext& ctx, const Value* x) {
  if (!ctx.WantsOutput(1)) return {};
  if (!x->type().ranked())
    return UnsupportedError("the mask of Dropout on {}", x->type().ToString());
  // Of the type of the data before version 10.
  const DType dtype = ctx.opset() < 10 ? x->dtype() : DType::kBool;
  NN_ASSIGN(TensorBuilder one, TensorBuilder::Create(dtype, {}));
  one.SetInt(0, 1);
  NN_ASSIGN(Value* const mask,
            ctx.Add("expand", {ctx.Constant(one.Finish())}, ExpandAttrs{*x->type().dims}));
  ctx.SetOutput(1, mask);
  return {};
}

// In inference a copy of its input. Training is told by is_test = 0 in versions 1 and 6, by input
// training_mode from version 12 on; with a ratio of 0 it drops nothing either.
Status ImportDropout(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  bool training = ctx.opset() < 7 && ctx.Int("is_test", 0) == 0 && ctx.Float("ratio", 0.5f) != 0.0f;
  if (ctx.input(2) != nullptr) {
    const Tensor* mode = ctx.Constant(2);
    const Tensor* ratio = ctx.Constant(1);
    const bool drops_nothing =
        ratio != nullptr && ratio->elements() == 1 && ratio->GetDouble(0) == 0;
    training = !drops_nothing && (mode == nullptr || mode->elements() != 1 || mode->GetInt(0) != 0);
  }
  if (training) return UnsupportedError("Dropout in training mode");
  ctx.SetOutput(0, x);
  return EmitMask(ctx, x);
}

}  // namespace

void AddNormImports(ImportTable& t) {
  t.Add("", "BatchNormalization", 1, ImportBatchNorm);
  t.Add("", "InstanceNormalization", 1, ImportInstanceNorm);
  t.Add("", "GroupNormalization", 18, ImportGroupNorm);
  t.Add("", "LayerNormalization", 17, ImportLayerNorm);
  t.Add("", "RMSNormalization", 23, ImportRmsNorm);
  t.Add("", "LRN", 1, ImportLrn);
  t.Add("", "LpNormalization", 1, ImportLpNormalization);
  t.Add("", "MeanVarianceNormalization", 9, ImportMeanVariance);
  t.Add("", "Dropout", 1, ImportDropout);
}

}  // namespace nn::onnx
