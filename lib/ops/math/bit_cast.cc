#include "ops/math/bit_cast.h"

#include <algorithm>
#include <cstring>

#include "ir/op_def.h"
#include "ir/types/one_nan.h"
#include "ops/families.h"
#include "ops/math/elementwise/impl.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> BitCastAttrs::Fields() {
  static const AttrField fields[] = {Field<&BitCastAttrs::to>("to")};
  return fields;
}

namespace {

Status InferBitCast(InferContext& ctx) {
  const Type& x = ctx.in(0);
  const DType to = ctx.attrs<BitCastAttrs>().to;
  const int from_bits = DTypeBits(x.dtype);
  const int to_bits = DTypeBits(to);
  if (from_bits == 0 || to_bits == 0)
    return ModelError("{} has no bits that can be {}", DTypeName(x.dtype), DTypeName(to));
  if (from_bits == to_bits) {
    Type y = x;
    y.dtype = to;
    y.quant = nullptr;
    ctx.set_out(0, std::move(y));
    return {};
  }
  if (from_bits < 8 || to_bits < 8)
    return UnsupportedError("elements of {} bits cannot become elements of {} bits", from_bits,
                            to_bits);
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, from_bits < to_bits ? 1 : 0));
  Dims dims = *x.dims;
  if (from_bits > to_bits) {
    dims.emplace_back(from_bits / to_bits);
  } else {
    const Dim& last = dims.back();
    if (last.is_const() && last != to_bits / from_bits)
      return ModelError("the last axis of {} has {} elements; {} of them are one {}", x.ToString(),
                        last.ToString(), to_bits / from_bits, DTypeName(to));
    if (!last.is_const()) return UnsupportedError("the last axis must have a constant size");
    dims.pop_back();
  }
  ctx.set_out(0, Type(to, std::move(dims)));
  return {};
}

Status EvalBitCast(EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  std::byte* const data = y.data();
  if (x.byte_size() == 0) {
    ctx.set_out(0, y.Finish());
    return {};
  }
  std::memcpy(data, x.blob().data(), x.byte_size());
  SetOneNan(x.dtype(), data, static_cast<size_t>(x.elements()));
  if (y.dtype() == DType::kBool)
    std::transform(data, data + x.byte_size(), data,
                   [](std::byte b) { return b == std::byte{0} ? b : std::byte{1}; });
  ctx.set_out(0, y.Finish());
  return {};
}

std::optional<AxesChange> ChangeBitCastAxes(const Node& node, Operand changed, const AxisMap& map) {
  if (DTypeBits(node.input(0)->dtype()) != DTypeBits(node.attrs<BitCastAttrs>().to))
    return std::nullopt;
  return ChangeUnaryAxes(node, changed, map);
}

}  // namespace

void RegisterBitCastOps(OpRegistry& ops) {
  OpDef op;
  op.name = "bit_cast";
  op.summary = "the same bits as another element type";
  op.category = Category::kMovement;
  op.quant_rule = QuantRule::kStored;
  op.converts = true;
  op.attrs = AttrsInfoOf<BitCastAttrs>();
  op.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  op.infer = InferBitCast;
  op.eval = EvalBitCast;
  op.change_axes = ChangeBitCastAxes;
  ops.Add(std::move(op));
}

}  // namespace nn
