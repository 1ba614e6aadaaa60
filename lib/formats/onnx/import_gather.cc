#include "base/text.h"
#include "formats/onnx/import.h"
#include "formats/onnx/tensor.h"
#include "ops/gather.h"
#include "ops/generate.h"
#include "ops/scatter.h"
#include "ops/select.h"

namespace nn::onnx {
namespace {

// The first `count` inputs, all required.
Result<std::vector<Value*>> RequiredInputs(const ImportContext& ctx, size_t count) {
  std::vector<Value*> inputs;
  for (size_t i = 0; i < count; ++i) {
    NN_ASSIGN(Value* const v, ctx.Required(i));
    inputs.push_back(v);
  }
  return inputs;
}

Status ImportGather(ImportContext& ctx) {
  NN_ASSIGN(auto inputs, RequiredInputs(ctx, 2));
  return ctx.Emit("gather", std::move(inputs), GatherAttrs{ctx.Int("axis", 0), 0});
}

// `reduction` came with operator set 16, its values min and max with 18.
Result<Reduction> ReadReduction(const ImportContext& ctx) {
  const std::string text = ctx.String("reduction", "none");
  const auto reduction = ParseEnum<Reduction>(text);
  if (!reduction) return ModelError("reduction is {}", Quote(text));
  return *reduction;
}

Status ImportScatterElements(ImportContext& ctx) {
  NN_ASSIGN(auto inputs, RequiredInputs(ctx, 3));
  ScatterElementsAttrs a{ctx.Int("axis", 0)};
  NN_ASSIGN(a.reduction, ReadReduction(ctx));
  return ctx.Emit("scatter_elements", std::move(inputs), a);
}

Status ImportScatterNd(ImportContext& ctx) {
  NN_ASSIGN(auto inputs, RequiredInputs(ctx, 3));
  NN_ASSIGN(const Reduction reduction, ReadReduction(ctx));
  return ctx.Emit("scatter_nd", std::move(inputs), ScatterNdAttrs{reduction});
}

// In operator set 9 a negative index selects nothing.
Status ImportOneHot(ImportContext& ctx) {
  NN_ASSIGN(auto inputs, RequiredInputs(ctx, 3));
  if (const Type& values = inputs[2]->type(); values.ranked() && values.rank() != 1)
    return ModelError("the values are {}, not a list", values.ToString());
  if (const Tensor* indices = ctx.Constant(0); indices != nullptr && ctx.opset() < 11)
    for (int64_t i = 0; i < indices->elements(); ++i)
      if (indices->GetDouble(i) < 0)
        return ModelError("an index of {}, before operator set 11", indices->GetDouble(i));
  return ctx.Emit("one_hot", std::move(inputs),
                  OneHotAttrs{ctx.Int("axis", -1), ctx.opset() >= 11});
}

Status ImportEyeLike(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  EyeLikeAttrs a{ctx.Int("k", 0)};
  if (ctx.HasAttr("dtype")) {
    a.dtype = DTypeOf(static_cast<int>(ctx.Int("dtype", 0)));
    if (a.dtype == DType::kUnknown)
      return ModelError("dtype {} is not an element type", ctx.Int("dtype", 0));
  }
  return ctx.Emit("eye_like", {x}, a);
}

Status ImportTrilu(ImportContext& ctx) {
  NN_ASSIGN(auto inputs, RequiredInputs(ctx, 1));
  if (Value* k = ctx.input(1)) inputs.push_back(k);
  return ctx.Emit("trilu", std::move(inputs), TriluAttrs{ctx.Int("upper", 1) != 0});
}

Status ImportCompress(ImportContext& ctx) {
  NN_ASSIGN(auto inputs, RequiredInputs(ctx, 2));
  return ctx.Emit("compress", std::move(inputs),
                  CompressAttrs{!ctx.HasAttr("axis"), ctx.Int("axis", 0)});
}

Status ImportUnique(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  UniqueAttrs a;
  a.flatten = !ctx.HasAttr("axis");
  a.axis = ctx.Int("axis", 0);
  a.sorted = ctx.Int("sorted", 1) != 0;
  return ctx.Emit("unique", {x}, a);
}

}  // namespace

void AddGatherImports(ImportTable& t) {
  t.Add("", "Gather", 1, ImportGather);
  t.Add("", "Scatter", 9, ImportScatterElements);
  t.Add("", "ScatterElements", 11, ImportScatterElements);
  t.Add("", "ScatterND", 11, ImportScatterNd);
  t.Add("", "OneHot", 9, ImportOneHot);
  t.Add("", "EyeLike", 9, ImportEyeLike);
  t.Add("", "Trilu", 14, ImportTrilu);
  t.Add("", "Compress", 9, ImportCompress);
  t.Add("", "Unique", 11, ImportUnique);
}

}  // namespace nn::onnx
