#include "formats/nnapi/import.h"
#include "ops/conv.h"

namespace nn::nnapi {
namespace {

struct ConvArguments {
  std::vector<Value*> inputs;  // x, filter, bias
  ConvAttrs attrs;
  size_t next;  // the argument behind the window
};

Result<ConvArguments> ReadConv(const ImportContext& ctx, bool implicit) {
  ConvArguments c;
  for (size_t i = 0; i < 3; ++i) {
    NN_ASSIGN(Value* const v, ctx.Required(i));
    c.inputs.push_back(v);
    const int rank = i < 2 ? 4 : 1;
    if (v->type().ranked() && v->type().rank() != rank)
      return ModelError("input {} is {}, not of rank {}", i, v->type().ToString(), rank);
  }
  NN_ASSIGN(WindowArguments w, ReadWindow(ctx, 3, implicit));
  c.attrs.layout = Layout::kNxc;
  c.attrs.strides = std::move(w.strides);
  c.attrs.pads = std::move(w.pads);
  c.attrs.padding = w.padding;
  c.next = w.next;
  return c;
}

Status ImportConv(ImportContext& ctx) {
  NN_ASSIGN(ConvArguments c, ReadConv(ctx, ctx.input_count() == 7));
  c.attrs.filter_layout = FilterLayout::kOxi;
  return ctx.EmitFused("conv", std::move(c.inputs), std::move(c.attrs), c.next);
}

Status ImportDepthwise(ImportContext& ctx) {
  NN_ASSIGN(ConvArguments c, ReadConv(ctx, ctx.input_count() == 8));
  NN_ASSIGN(const int64_t multiplier, ctx.Int(c.next));
  const Type& filter = c.inputs[1]->type();
  if (!filter.ranked() || !filter.dim(3).is_const())
    return UnsupportedError("a filter of {}", filter.ToString());
  const int64_t channels = filter.dim(3).value();
  if (filter.dim(0).is_const() && !(filter.dim(0) == 1))
    return ModelError("the filter is {}, its first dimension is not 1", filter.ToString());
  if (multiplier < 1 || channels < 1 || channels % multiplier != 0)
    return ModelError("depth multiplier {} with {} output channels", multiplier, channels);
  c.attrs.filter_layout = FilterLayout::kIxo;
  c.attrs.groups = channels / multiplier;
  return ctx.EmitFused("conv", std::move(c.inputs), std::move(c.attrs), c.next + 1);
}

}  // namespace

void AddConvImports(ImportTable& t) {
  t[OperationType::kConv2d] = ImportConv;
  t[OperationType::kDepthwiseConv2d] = ImportDepthwise;
}

}  // namespace nn::nnapi
