// Type inference of operators whose result has the type of their first input, in forms that are not
// imported: training, and broadcasting before operator set 7.
#include "formats/onnx/infer/infer.h"

namespace nn::onnx {
namespace {

// The second operand takes the shape of the first.
Status InferCompare1(TypeContext& ctx) {
  ctx.Set(0, DType::kBool, ctx.in(0).tensor.dims);
  return {};
}

Status InferClip(TypeContext& ctx) {
  for (const size_t i : {1, 2})
    if (const Dims* bound = ctx.dims(i))
      for (const Dim& d : *bound)
        if (d.is_const() && d != 1)
          return ModelError("min and max must be scalars; one is {}", ctx.in(i).ToString());
  ctx.Like(0, 0);
  return {};
}

Status InferDropout(TypeContext& ctx) {
  for (const size_t i : {1, 2}) NN_RETURN_IF_ERROR(ctx.CheckRank(i, 0));
  ctx.Like(0, 0);
  ctx.Set(1, ctx.node().opset() < 10 ? ctx.dtype(0) : DType::kBool, ctx.in(0).tensor.dims);
  return {};
}

// Scale, bias, mean and variance have an entry for each channel. Up to version 8 they may have one
// for each element of a sample.
Status InferBatchNormalization(TypeContext& ctx) {
  ctx.Like(0, 0);
  if (ctx.node().opset() < 9 && ctx.node().Int("spatial", 1) == 0) return {};
  Dim channels = ctx.Unknown();
  if (const Dims* x = ctx.dims(0); x != nullptr) channels = x->size() > 1 ? (*x)[1] : Dim(1);
  for (size_t i = 1; i < 5; ++i) {
    NN_RETURN_IF_ERROR(ctx.CheckRank(i, 1));
    if (const Dims* d = ctx.dims(i)) {
      NN_ASSIGN(channels, ctx.Same(channels, (*d)[0], "channels"));
    }
  }
  const int64_t opset = ctx.node().opset();
  if (opset >= 14) {
    const size_t outputs = ctx.node().Int("training_mode", 0) != 0 ? 3 : 1;
    if (ctx.output_count() != outputs)
      return ModelError("there are {} outputs; training_mode needs {}", ctx.output_count(),
                        outputs);
  }
  for (size_t i = 1; i < ctx.output_count(); ++i)
    ctx.Set(i, opset < 14 ? ctx.dtype(0) : ctx.dtype(i + 2), Dims{channels});
  return {};
}

}  // namespace

void AddElementwiseInferences(InferTable& t) {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow"}) {
    t.Add("", op, 1, InferLikeFirst);
    t.Add("", op, 7, nullptr);
  }
  for (const char* op : {"And", "Or", "Xor", "Equal", "Less", "Greater"}) {
    t.Add("", op, 1, InferCompare1);
    t.Add("", op, 7, nullptr);
  }
  t.Add("", "PRelu", 1, InferLikeFirst);
  t.Add("", "PRelu", 7, nullptr);
  t.Add("", "Clip", 11, InferClip);
  t.Add("", "Dropout", 1, InferDropout);
  t.Add("", "BatchNormalization", 1, InferBatchNormalization);
}

}  // namespace nn::onnx
