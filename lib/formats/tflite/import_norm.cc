#include "formats/tflite/import.h"
#include "ops/norm.h"
#include "ops/softmax.h"

namespace nn::tflite {
namespace {

Status ImportSoftmax(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::SoftmaxOptions>());
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("softmax", {x}, SoftmaxAttrs{-1, o->beta()});
}

Status ImportLogSoftmax(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("log_softmax", {x}, AlongAxisAttrs{-1});
}

// Along the last axis.
Status ImportL2Normalization(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::L2NormOptions>());
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.EmitActivated(o->fused_activation_function(), "l2_normalization", {x},
                           L2NormalizationAttrs{});
}

// `alpha` is not divided by the size of the window, 2 * radius + 1, as lrn does.
Status ImportLrn(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::LocalResponseNormalizationOptions>());
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (o->radius() < 0) return ModelError("a radius of {}", o->radius());
  LrnAttrs a;
  a.layout = Layout::kNxc;
  a.size = 2 * int64_t{o->radius()} + 1;
  a.alpha = o->alpha() * static_cast<float>(a.size);
  a.beta = o->beta();
  a.bias = o->bias();
  return ctx.Emit("lrn", {x}, a);
}

}  // namespace

void AddNormImports(ImportTable& t) {
  using Op = fb::BuiltinOperator;
  t.Add(Op::SOFTMAX, ImportSoftmax);
  t.Add(Op::LOG_SOFTMAX, ImportLogSoftmax);
  t.Add(Op::L2_NORMALIZATION, ImportL2Normalization);
  t.Add(Op::LOCAL_RESPONSE_NORMALIZATION, ImportLrn);
}

}  // namespace nn::tflite
