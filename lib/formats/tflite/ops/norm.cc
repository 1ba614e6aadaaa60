#include "ops/nn/norm.h"
#include "formats/tflite/family.h"
#include "ops/nn/softmax.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

Status ImportSoftmax(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::SoftmaxOptions>());
  Value* const x = ctx.input(0);
  return ctx.Emit("softmax", {x}, SoftmaxAttrs{-1, o->beta()});
}

Status ImportLogSoftmax(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  return ctx.Emit("log_softmax", {x}, AlongAxisAttrs{-1});
}

// Along the last axis.
Status ImportL2Normalization(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::L2NormOptions>());
  Value* const x = ctx.input(0);
  return ctx.EmitActivated(o->fused_activation_function(), "l2_normalization", {x},
                           L2NormalizationAttrs{});
}

// Unlike lrn, `alpha` is not divided by the window size, 2 * radius + 1.
Status ImportLrn(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::LocalResponseNormalizationOptions>());
  Value* const x = ctx.input(0);
  if (o->radius() < 0) return ModelError("radius must be 0 or more, not {}", o->radius());
  LrnAttrs a;
  a.layout = Layout::kNxc;
  a.size = 2 * int64_t{o->radius()} + 1;
  a.alpha = o->alpha() * static_cast<float>(a.size);
  a.beta = o->beta();
  a.bias = o->bias();
  return ctx.Emit("lrn", {x}, a);
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

std::optional<std::string> WhyNotLastAxis(const Node& node, int64_t axis) {
  const Type& x = node.input(0)->type();
  if (!x.ranked()) return "its rank must be known";
  if (axis != -1 && axis != x.rank() - 1) return fmt::format("axis {} must be the last", axis);
  return std::nullopt;
}

template <typename Attrs>
std::optional<std::string> WhyNotAlongLast(const Node& node) {
  return WhyNotLastAxis(node, node.attrs<Attrs>().axis);
}

Status WriteSoftmax(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::SOFTMAX, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateSoftmaxOptions(ctx.builder(), node.attrs<SoftmaxAttrs>().beta));
  return {};
}

Status WriteLogSoftmax(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::LOG_SOFTMAX, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateLogSoftmaxOptions(ctx.builder()));
  return {};
}

Status WriteL2Normalization(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::L2_NORMALIZATION, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateL2NormOptions(ctx.builder(), ctx.ActivationOf(node)));
  return {};
}

std::optional<std::string> WhyNotL2Normalization(const Node& node) {
  const auto& a = node.attrs<L2NormalizationAttrs>();
  if (a.axes.size() != 1) return "L2_NORMALIZATION supports one axis";
  if (a.epsilon_rule != EpsilonRule::kFloor || a.epsilon != 1e-6f)
    return "epsilon must be a lower bound of 1e-6 on the norm";
  return WhyNotLastAxis(node, a.axes[0]);
}

Status WriteLrn(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LrnAttrs>();
  ctx.AddOperator(Op::LOCAL_RESPONSE_NORMALIZATION, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateLocalResponseNormalizationOptions(
                      ctx.builder(), static_cast<int32_t>(a.size / 2), a.bias,
                      a.alpha / static_cast<float>(a.size), a.beta));
  return {};
}

std::optional<std::string> WhyNotLrn(const Node& node) {
  const auto& a = node.attrs<LrnAttrs>();
  if (auto reason = WhyNotFirst<Op::LOCAL_RESPONSE_NORMALIZATION>(node)) return reason;
  if (a.size % 2 == 0)
    return fmt::format("the window must be odd or the channels constant, not {} channels", a.size);
  if (node.input(0)->type().rank() > 5) return "its rank must be at most 5";
  if (node.input(0)->type().rank() != 4) return "its rank must be 4, or the channels constant";
  // Last, because illegal nodes may get back the layout of their neighbors.
  if (a.layout != Layout::kNxc) return "the channels must be the last axis";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kNormImports[] = {
    {.op = Op::SOFTMAX, .import = ImportSoftmax, .inputs = "a"},
    {.op = Op::LOG_SOFTMAX, .import = ImportLogSoftmax, .inputs = "a"},
    {.op = Op::L2_NORMALIZATION, .import = ImportL2Normalization, .inputs = "a"},
    {.op = Op::LOCAL_RESPONSE_NORMALIZATION, .import = ImportLrn, .inputs = "a"},
};

constexpr ExportRow kNormExports[] = {
    {.op = "softmax", .write = WriteSoftmax, .why_not = WhyNotAlongLast<SoftmaxAttrs>},
    {.op = "log_softmax", .write = WriteLogSoftmax, .why_not = WhyNotAlongLast<AlongAxisAttrs>},
    {.op = "l2_normalization",
     .write = WriteL2Normalization,
     .why_not = WhyNotL2Normalization,
     .fuses = Always},
    {.op = "lrn", .write = WriteLrn, .why_not = WhyNotLrn},
};

}  // namespace

Family NormFamily() {
  return {.imports = kNormImports, .exports = kNormExports};
}

}  // namespace nn::tflite
