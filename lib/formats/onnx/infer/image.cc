// Type inference of operators on images.
#include "formats/onnx/infer/infer.h"

namespace nn::onnx {
namespace {

Status InferNonMaxSuppression(TypeContext& ctx) {
  ctx.Set(0, DType::kI64, Dims{ctx.Unknown(), 3});
  return {};
}

Status InferImageDecoder(TypeContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.CheckRank(0, 1));
  ctx.Set(0, DType::kU8, ctx.Unknown(3));
  return {};
}

}  // namespace

void AddImageInferences(InferTable& t) {
  t.Add("", "NonMaxSuppression", 10, InferNonMaxSuppression);
  t.Add("", "ImageDecoder", 20, InferImageDecoder);
}

}  // namespace nn::onnx
