// Type inference of constants, random numbers and window functions.
#include <algorithm>

#include "formats/onnx/file/tensor.h"
#include "formats/onnx/infer/infer.h"

namespace nn::onnx {
namespace {

constexpr std::string_view kValues[] = {"value",        "sparse_value", "value_int",
                                        "value_ints",   "value_float",  "value_floats",
                                        "value_string", "value_strings"};

Status InferConstant(TypeContext& ctx) {
  const ImportContext& node = ctx.node();
  const auto present =
      std::ranges::count_if(kValues, [&](std::string_view name) { return node.HasAttr(name); });
  if (present != 1) return ModelError("there are {} value attributes; expected 1", present);
  if (const auto* a = node.FindAttr("value")) {
    ctx.Set(0, ValueType::Tensor(TypeOf(a->t())));
    if (IsSmall(a->t()))
      if (auto tensor = node.TensorAttr("value")) ctx.SetConstant(0, *std::move(tensor));
  } else if (const auto* s = node.FindAttr("sparse_value")) {
    ctx.Set(0, ValueType::Tensor(TypeOf(s->sparse_tensor())));
  } else if (node.HasAttr("value_int")) {
    ctx.SetConstant(0, Tensor::Scalar(node.Int("value_int", 0)));
  } else if (node.HasAttr("value_ints")) {
    ctx.SetConstant(0, Tensor::Ints(node.Ints("value_ints")));
  } else if (node.HasAttr("value_float")) {
    ctx.SetConstant(0, Tensor::Scalar(node.Float("value_float", 0)));
  } else if (node.HasAttr("value_floats")) {
    const auto values = node.Floats("value_floats");
    ctx.SetConstant(0, Tensor::Of({static_cast<int64_t>(values.size())}, values));
  } else if (node.HasAttr("value_string")) {
    ctx.Set(0, DType::kString, Dims{});
  } else if (const auto* strings = node.FindAttr("value_strings")) {
    ctx.Set(0, DType::kString, Dims{strings->strings_size()});
  }
  return {};
}

Status InferRandom(TypeContext& ctx) {
  Dims dims;
  for (const int64_t d : ctx.node().Ints("shape")) {
    if (d < 0) return ModelError("shape has the negative entry {}", d);
    dims.emplace_back(d);
  }
  ctx.Set(0, ctx.TypeAttr("dtype", DType::kF32), std::move(dims));
  return {};
}

Status InferRandomLike(TypeContext& ctx) {
  ctx.Set(0, ctx.TypeAttr("dtype", ctx.dtype(0)), ctx.in(0).tensor.dims);
  return {};
}

Status InferMultinomial(TypeContext& ctx) {
  const DType dtype = ctx.TypeAttr("dtype", DType::kI32);
  if (dtype != DType::kI32 && dtype != DType::kI64)
    return ModelError("dtype is {}; expected i32 or i64", DTypeName(dtype));
  NN_RETURN_IF_ERROR(ctx.CheckRank(0, 2));
  const Dims* x = ctx.dims(0);
  ctx.Set(0, dtype,
          Dims{x == nullptr ? ctx.Unknown() : (*x)[0], Dim(ctx.node().Int("sample_size", 1))});
  return {};
}

Status InferWindow(TypeContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.CheckRank(0, 0, 1));
  const auto size = ctx.Int(0);
  if (size && *size <= 0) return ModelError("the size must be positive, not {}", *size);
  ctx.Set(0, ctx.TypeAttr("output_datatype", DType::kF32),
          Dims{size && *size >= 0 ? Dim(*size) : ctx.Unknown()});
  return {};
}

}  // namespace

void AddConstantInferences(InferTable& t) {
  t.Add("", "Constant", 1, InferConstant);
  for (const char* op : {"RandomNormal", "RandomUniform"}) t.Add("", op, 1, InferRandom);
  for (const char* op : {"RandomNormalLike", "RandomUniformLike", "Bernoulli"})
    t.Add("", op, 1, InferRandomLike);
  t.Add("", "Multinomial", 7, InferMultinomial);
  for (const char* op : {"HannWindow", "HammingWindow", "BlackmanWindow"})
    t.Add("", op, 17, InferWindow);
}

}  // namespace nn::onnx
