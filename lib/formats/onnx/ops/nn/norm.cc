#include <algorithm>
#include <optional>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/trailing_norm.h"
#include "ops/nn/batch_norm_training.h"
#include "ops/nn/norm.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

// ---- BatchNormalization

// Training mode is is_test = 0 (versions 1 and 6), more than one output (7 and 9) or training_mode
// (from 14 on).
bool IsTraining(const ImportContext& ctx) {
  if (ctx.opset() >= 14) return ctx.Int("training_mode", 0) != 0;
  bool training = ctx.opset() < 7 && ctx.Int("is_test", 0) == 0;
  for (size_t i = 1; i < ctx.output_count(); ++i) training |= ctx.WantsOutput(i);
  return training;
}

// The operator on inputs whose channels are axis 1. From version 14 on the results are Y and the
// running statistics; before, the statistics of the batch follow.
std::vector<Term> BatchNorm(const ImportContext& ctx, std::vector<Term> operands) {
  const float epsilon = ctx.Float("epsilon", 1e-5f);
  if (!IsTraining(ctx))
    return {Apply("batch_norm", std::move(operands), BatchNormAttrs{epsilon, Layout::kNcx})};
  return ApplyAll("batch_norm_training", std::move(operands),
                  BatchNormTrainingAttrs{epsilon, ctx.Float("momentum", 0.9f), Layout::kNcx},
                  ctx.WantsOutput(3) || ctx.WantsOutput(4) ? 5 : 3);
}

Status ImportBatchNorm(ImportContext& ctx) {
  const auto inputs = ctx.Inputs(5);
  const Type x = inputs[0]->type();
  if (!x.ranked()) return UnsupportedError("BatchNormalization needs an input of known rank");
  if (x.rank() == 0) return ModelError("the input of BatchNormalization cannot be a scalar");
  // Without `spatial` (up to version 8), each element of a sample has its own parameters, so it is
  // a channel. A vector is a batch with one channel.
  const bool per_element = ctx.opset() < 9 && ctx.Int("spatial", 1) == 0;
  const bool is_flat = per_element || x.rank() == 1;
  const Dims parameters = inputs[3]->type().ranked() ? *inputs[3]->type().dims : Dims{};
  std::vector<Term> operands(inputs.begin(), inputs.end());
  if (is_flat) {
    const Dim channels = Product(Dims(x.dims->begin() + 1, x.dims->end()));
    operands[0] = Reshape(operands[0], {x.dim(0), channels});
    for (size_t i = 1; i < 5; ++i) operands[i] = Reshape(operands[i], {channels});
  }
  const std::vector<Term> results = BatchNorm(ctx, std::move(operands));
  for (size_t i = 0; i < results.size(); ++i) {
    const bool is_reshaped = is_flat && (i == 0 || ctx.WantsOutput(i));
    NN_RETURN_IF_ERROR(ctx.EmitTerm(
        is_reshaped ? Reshape(results[i], i == 0 ? *x.dims : parameters) : results[i], i));
  }
  return {};
}

// ---- Normalization by a tensor's own statistics
// --------------------------------------------------

// stash_type is the precision of the first stage, the standardization: float32 (1, the default) or
// f64 (11). Returns that type if it is not the one in which our operators compute with `dtype`.
Result<std::optional<DType>> StagedType(const ImportContext& ctx, DType dtype) {
  const int64_t stash = ctx.Int("stash_type", 1);
  if (stash != pb::TensorProto::FLOAT && stash != pb::TensorProto::DOUBLE)
    return UnsupportedError(
        "{} of {} with stash_type {}, which is neither 1 (float32) nor 11 (f64)",
        ctx.node().op_type(), DTypeName(dtype), stash);
  const DType wanted = stash == pb::TensorProto::FLOAT ? DType::kF32 : DType::kF64;
  const DType own = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  return wanted == own ? std::nullopt : std::optional(wanted);
}

// The second stage: the standardized x, in the type of the scale, times the scale, plus the bias.
Term ScaledAndShifted(const Term& x, const Term& scale, const Term& bias) {
  return bias.is_absent() ? x * scale : x * scale + bias;
}

// A normalization of the last axes whose first stage is in `type`. inputs: x, scale, perhaps bias.
Result<std::vector<Value*>> AddStagedNorm(ImportContext& ctx, std::string_view op, DType type,
                                          const std::vector<Value*>& inputs, Attrs attrs,
                                          size_t output_count = 1) {
  NN_ASSIGN(Value* const x, ctx.Build(As(inputs[0], type)));
  NN_ASSIGN(Value* const one, ctx.Number(type, 1));
  NN_ASSIGN(auto results, AddTrailingNorm(ctx, op, {x, one}, std::move(attrs), output_count));
  Value* const bias = inputs.size() > 2 ? inputs[2] : nullptr;
  const Term first = As(results[0], inputs[1]->dtype());
  NN_ASSIGN(results[0], ctx.Build(ScaledAndShifted(first, inputs[1], bias)));
  return results;
}

// The same for groups of channels. inputs: x, scale, bias.
Status EmitStagedGroupNorm(ImportContext& ctx, DType type, std::span<Value* const> inputs,
                           const GroupNormAttrs& attrs) {
  const Type& shape = inputs[0]->type();
  if (!shape.ranked())
    return UnsupportedError("{} needs an input of known rank", ctx.node().op_type());
  if (shape.rank() < 2) return ModelError("the input {} has no channels", shape.ToString());
  if (shape.dim(1).is_const() && shape.dim(1).value() < attrs.groups)
    return ModelError("{} groups of {} channels", attrs.groups, shape.dim(1).value());
  std::vector<Term> stage = {As(inputs[0], type)};
  for (const double v : {1.0, 0.0}) {
    NN_ASSIGN(auto each, TensorBuilder::Create(type, {attrs.groups}));
    for (int64_t i = 0; i < attrs.groups; ++i) each.SetDouble(i, v);
    stage.emplace_back(each.Finish());
  }
  const Term y = Apply("group_norm", std::move(stage), attrs);
  const auto column = [&](const Value* v) {
    Dims dims(static_cast<size_t>(shape.rank()) - 1, Dim(1));
    dims[0] = v->type().ranked() ? v->type().dim(0) : shape.dim(1);
    return dims;
  };
  return ctx.EmitTerm(ScaledAndShifted(As(y, type, inputs[1]->dtype()),
                                       Reshape(inputs[1], column(inputs[1])),
                                       Reshape(inputs[2], column(inputs[2]))));
}

Status ImportInstanceNorm(ImportContext& ctx) {
  return ctx.Emit("instance_norm", ctx.Inputs(3),
                  InstanceNormAttrs{ctx.Float("epsilon", 1e-5f), Layout::kNcx});
}

// Scale and bias are per group in version 18, per channel from 21 on.
Status CheckGroupNormSizes(const ImportContext& ctx) {
  const Type& x = ctx.input(0)->type();
  const bool per_channel = ctx.opset() >= 21;
  if (per_channel && (!x.ranked() || x.rank() < 2)) return {};
  const Dim size = per_channel ? x.dim(1) : Dim(ctx.Int("num_groups", 1));
  for (const auto& [i, name] : {std::pair(1, "scale"), std::pair(2, "bias")}) {
    const Type& type = ctx.input(static_cast<size_t>(i))->type();
    if (!type.ranked() || type.rank() != 1 || !size.is_const() || !type.dim(0).is_const() ||
        type.dim(0) == size)
      continue;
    return ModelError("{} is {}; operator set {} needs one element for each of {} {}", name,
                      type.ToString(), ctx.opset(), size.ToString(),
                      per_channel ? "channels" : "groups");
  }
  return {};
}

Status ImportGroupNorm(ImportContext& ctx) {
  const auto inputs = ctx.Inputs(3);
  if (!ctx.HasAttr("num_groups")) return ModelError("attribute num_groups is missing");
  NN_RETURN_IF_ERROR(CheckGroupNormSizes(ctx));
  const GroupNormAttrs a = {ctx.Int("num_groups", 1), ctx.Float("epsilon", 1e-5f), Layout::kNcx};
  if (a.groups < 1) return ModelError("num_groups is {}; must be positive", a.groups);
  // Version 18 has no stages.
  if (ctx.opset() >= 21) {
    NN_ASSIGN(const auto staged, StagedType(ctx, inputs[0]->dtype()));
    if (staged) return EmitStagedGroupNorm(ctx, *staged, inputs, a);
  }
  return ctx.Emit("group_norm", inputs, a);
}

// In operator sets before 17 the operator is ONNX Runtime's own, with the same definition.
Status ImportLayerNorm(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const scale = ctx.input(1);
  NN_ASSIGN(const auto staged, StagedType(ctx, x->dtype()));
  std::vector<Value*> inputs = {x, scale};
  if (Value* bias = ctx.input(2)) inputs.push_back(bias);
  const LayerNormAttrs a = {ctx.Int("axis", -1), ctx.Float("epsilon", 1e-5f)};
  const size_t count = std::clamp<size_t>(ctx.output_count(), 1, 3);
  NN_ASSIGN(const auto results,
            staged ? AddStagedNorm(ctx, "layer_norm", *staged, inputs, a, count)
                   : AddTrailingNorm(ctx, "layer_norm", std::move(inputs), a, count));
  ctx.SetOutputs(results);
  return {};
}

Status ImportRmsNorm(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const scale = ctx.input(1);
  NN_ASSIGN(const auto staged, StagedType(ctx, x->dtype()));
  const RmsNormAttrs a = {ctx.Int("axis", -1), ctx.Float("epsilon", 1e-5f)};
  NN_ASSIGN(const auto results, staged ? AddStagedNorm(ctx, "rms_norm", *staged, {x, scale}, a)
                                       : AddTrailingNorm(ctx, "rms_norm", {x, scale}, a));
  ctx.SetOutput(0, results[0]);
  return {};
}

Status ImportLrn(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (!ctx.HasAttr("size")) return ModelError("attribute size is missing");
  return ctx.Emit("lrn", {x},
                  LrnAttrs{ctx.Int("size", 1), ctx.Float("alpha", 1e-4f), ctx.Float("beta", 0.75f),
                           ctx.Float("bias", 1.0f), Layout::kNcx});
}

Status ImportLpNormalization(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  return ctx.Emit("lp_normalization", {x},
                  LpNormalizationAttrs{ctx.Int("axis", -1), ctx.Int("p", 2)});
}

// The function's body adds 1e-9 to the standard deviation.
Status ImportMeanVariance(ImportContext& ctx) {
  Value* const x = ctx.input(0);
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

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

std::optional<std::string> WhyNotLayout(const Node& node, Layout layout) {
  if (node.input(0)->type().quantized())
    return "its operands are quantized; the ONNX operator needs real ones";
  if (layout != Layout::kNcx) return "the channels must be axis 1";
  return std::nullopt;
}

Status WriteBatchNorm(ExportContext& ctx, const Node& node) {
  SetFloat(ctx.AddNode(node, "BatchNormalization"), "epsilon",
           node.attrs<BatchNormAttrs>().epsilon);
  return {};
}
std::optional<std::string> WhyNotBatchNorm(const Node& node) {
  return WhyNotLayout(node, node.attrs<BatchNormAttrs>().layout);
}

Status WriteBatchNormTraining(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<BatchNormTrainingAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "BatchNormalization");
  SetFloat(out, "epsilon", a.epsilon);
  SetFloat(out, "momentum", a.momentum);
  SetInt(out, "training_mode", 1);
  return {};
}
std::optional<std::string> WhyNotBatchNormTraining(const Node& node) {
  if (node.outputs().size() > 3) return "BatchNormalization has no statistics of the batch";
  return WhyNotLayout(node, node.attrs<BatchNormTrainingAttrs>().layout);
}

Status WriteInstanceNorm(ExportContext& ctx, const Node& node) {
  SetFloat(ctx.AddNode(node, "InstanceNormalization"), "epsilon",
           node.attrs<InstanceNormAttrs>().epsilon);
  return {};
}
std::optional<std::string> WhyNotInstanceNorm(const Node& node) {
  if (node.input(0)->type().rank() < 3) return "its input must have a spatial axis";
  return WhyNotLayout(node, node.attrs<InstanceNormAttrs>().layout);
}

bool IsPerGroup(const Node& node, size_t input) {
  const Dim& size = node.input(input)->type().dim(0);
  return size == node.attrs<GroupNormAttrs>().groups && !(size == node.input(0)->type().dim(1));
}

// Expands one element per group to one per channel.
Result<std::string> PerChannel(ExportContext& ctx, const Node& node, size_t input) {
  const Value* v = node.input(input);
  const Dim groups = node.attrs<GroupNormAttrs>().groups;
  const Dim channels = node.input(0)->type().dim(1);
  NN_ASSIGN(const std::string column, ctx.AddDims({groups, 1}, "column"));
  NN_ASSIGN(const std::string table,
            ctx.AddDims({groups, Dim::FloorDiv(channels, groups)}, "table"));
  NN_ASSIGN(const std::string flat, ctx.AddDims({channels}, "flat"));
  const std::string columns = ctx.AddValue("Reshape", {ctx.NameOf(v), column}, v->name());
  const std::string expanded = ctx.AddValue("Expand", {columns, table}, v->name());
  return ctx.AddValue("Reshape", {expanded, flat}, v->name());
}

// Scale and bias are per group in version 18, per channel from 21 on.
Status WriteGroupNorm(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<GroupNormAttrs>();
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0))};
  for (const size_t i : {1, 2}) {
    inputs.push_back(ctx.NameOf(node.input(i)));
    if (ctx.opset() < 21 || !IsPerGroup(node, i)) continue;
    NN_ASSIGN(inputs.back(), PerChannel(ctx, node, i));
  }
  pb::NodeProto* out =
      ctx.AddNode(node, "GroupNormalization", {{ctx.NameOf(node.output())}, std::move(inputs)});
  SetInt(out, "num_groups", a.groups);
  SetFloat(out, "epsilon", a.epsilon);
  return {};
}
// Statistics are computed in float32.
std::optional<std::string> WhyNotStash(const Node& node) {
  if (node.output()->dtype() == DType::kF64)
    return "ONNX computes the statistics in f32; f64 is unsupported";
  return std::nullopt;
}
std::optional<std::string> WhyNotGroupNorm(const Node& node) {
  if (auto why = WhyNotStash(node)) return why;
  return WhyNotLayout(node, node.attrs<GroupNormAttrs>().layout);
}

int64_t GroupNormOpset(const Node& node) {
  return IsPerGroup(node, 1) && IsPerGroup(node, 2) ? 18 : 21;
}

Status WriteRmsNorm(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<RmsNormAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "RMSNormalization");
  SetInt(out, "axis", a.axis);
  SetFloat(out, "epsilon", a.epsilon);
  return {};
}

std::optional<std::string> WhyNotRmsNorm(const Node& node) {
  if (node.input(1) == nullptr) return "the scale must be present";
  return WhyNotStash(node);
}

Status WriteLayerNorm(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LayerNormAttrs>();
  std::vector<std::string> inputs, outputs;
  for (const Value* v : node.inputs()) inputs.push_back(ctx.NameOf(v));
  for (const Value* v : node.outputs()) outputs.push_back(ctx.NameOf(v));
  if (node.input(1) == nullptr) {  // scale is not optional
    NN_ASSIGN(TensorBuilder one, TensorBuilder::Create(node.output()->dtype(), {1}));
    one.SetDouble(0, 1);
    if (inputs.size() < 2) inputs.resize(2);
    inputs[1] = ctx.AddTensor(one.Finish(), "one");
  }
  pb::NodeProto* out =
      ctx.AddNode(node, "LayerNormalization", {std::move(outputs), std::move(inputs)});
  SetInt(out, "axis", a.axis);
  SetFloat(out, "epsilon", a.epsilon);
  return {};
}

Status WriteLrn(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LrnAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "LRN");
  SetInt(out, "size", a.size);
  SetFloat(out, "alpha", a.alpha);
  SetFloat(out, "beta", a.beta);
  SetFloat(out, "bias", a.bias);
  return {};
}
std::optional<std::string> WhyNotLrn(const Node& node) {
  return WhyNotLayout(node, node.attrs<LrnAttrs>().layout);
}

Status WriteLpNormalization(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LpNormalizationAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "LpNormalization");
  SetInt(out, "axis", a.axis);
  SetInt(out, "p", a.p);
  return {};
}

Status WriteMeanVariance(ExportContext& ctx, const Node& node) {
  SetInts(ctx.AddNode(node, "MeanVarianceNormalization"), "axes",
          node.attrs<MeanVarianceNormalizationAttrs>().axes);
  return {};
}
std::optional<std::string> WhyNotMeanVariance(const Node& node) {
  const auto& a = node.attrs<MeanVarianceNormalizationAttrs>();
  if (!a.normalize_variance)
    return "it does not normalize the variance, which MeanVarianceNormalization of ONNX does";
  if (a.epsilon_rule != EpsilonRule::kOutside || a.epsilon != 1e-9f)
    return "epsilon must be 1e-9, added to the standard deviation";
  if (a.axes.empty()) return "its axes must be listed";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kNormImports[] = {
    {.op = "BatchNormalization", .since = 1, .import = ImportBatchNorm, .inputs = 5},
    {.op = "InstanceNormalization", .since = 1, .import = ImportInstanceNorm, .inputs = 3},
    {.op = "GroupNormalization", .since = 18, .import = ImportGroupNorm, .inputs = 3},
    {.op = "LayerNormalization", .since = 1, .import = ImportLayerNorm, .inputs = 2},
    {.op = "RMSNormalization", .since = 23, .import = ImportRmsNorm, .inputs = 2},
    {.op = "LRN", .since = 1, .import = ImportLrn, .inputs = 1},
    {.op = "LpNormalization", .since = 1, .import = ImportLpNormalization, .inputs = 1},
    {.op = "MeanVarianceNormalization", .since = 9, .import = ImportMeanVariance, .inputs = 1},
};

constexpr ExportRow kNormExports[] = {
    {.op = "batch_norm", .write = WriteBatchNorm, .why_not = WhyNotBatchNorm},
    {.op = "batch_norm_training",
     .write = WriteBatchNormTraining,
     .why_not = WhyNotBatchNormTraining,
     .min_opset = Since<14>},
    {.op = "instance_norm", .write = WriteInstanceNorm, .why_not = WhyNotInstanceNorm},
    {.op = "group_norm",
     .write = WriteGroupNorm,
     .why_not = WhyNotGroupNorm,
     .min_opset = GroupNormOpset},
    {.op = "layer_norm", .write = WriteLayerNorm, .why_not = WhyNotStash, .min_opset = Since<17>},
    {.op = "rms_norm", .write = WriteRmsNorm, .why_not = WhyNotRmsNorm, .min_opset = Since<23>},
    {.op = "lrn", .write = WriteLrn, .why_not = WhyNotLrn},
    {.op = "lp_normalization", .write = WriteLpNormalization},
    {.op = "mean_variance_normalization",
     .write = WriteMeanVariance,
     .why_not = WhyNotMeanVariance,
     .min_opset = Since<9>},
};

}  // namespace

Family NormFamily() {
  return {.imports = kNormImports, .exports = kNormExports};
}

}  // namespace nn::onnx
