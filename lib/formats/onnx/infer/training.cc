// Optimizers of ai.onnx.preview.training: each output has the type of its input tensor.
#include "formats/onnx/infer/infer.h"

namespace nn::onnx {
namespace {

// After the learning rate and the step there are `kLists` lists: the tensors, their gradients, and
// the states updated with the tensors.
template <size_t kLists>
Status InferOptimizer(TypeContext& ctx) {
  if (ctx.input_count() < 2 || (ctx.input_count() - 2) % kLists != 0)
    return ModelError("there are {} inputs after the first two, not a multiple of {}",
                      ctx.input_count() - std::min<size_t>(2, ctx.input_count()), kLists);
  const size_t count = (ctx.input_count() - 2) / kLists;
  for (size_t i = 0; i < count; ++i) {
    ctx.Like(i, 2 + i);
    for (size_t list = 2; list < kLists; ++list)
      ctx.Like((list - 1) * count + i, 2 + list * count + i);
  }
  return {};
}

// The derivatives with respect to the first inputs.
Status InferGradient(TypeContext& ctx) {
  for (size_t i = 0; i < std::min(ctx.input_count(), ctx.output_count()); ++i) ctx.Like(i, i);
  return {};
}

}  // namespace

void AddTrainingInferences(InferTable& t) {
  constexpr std::string_view kDomain = "ai.onnx.preview.training";
  t.Add(kDomain, "Adagrad", 1, InferOptimizer<3>);
  t.Add(kDomain, "Momentum", 1, InferOptimizer<3>);
  t.Add(kDomain, "Adam", 1, InferOptimizer<4>);
  t.Add(kDomain, "Gradient", 1, InferGradient);
}

}  // namespace nn::onnx
