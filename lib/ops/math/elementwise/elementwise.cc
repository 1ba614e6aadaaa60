#include "ops/math/elementwise/elementwise.h"

#include "ops/math/elementwise/impl.h"

namespace nn {

std::span<const AttrField> ClipAttrs::Fields() {
  static const AttrField fields[] = {Field<&ClipAttrs::min>("min"), Field<&ClipAttrs::max>("max")};
  return fields;
}
std::span<const AttrField> LeakyReluAttrs::Fields() {
  static const AttrField fields[] = {Field<&LeakyReluAttrs::alpha>("alpha")};
  return fields;
}
std::span<const AttrField> AlphaAttrs::Fields() {
  static const AttrField fields[] = {Field<&AlphaAttrs::alpha>("alpha")};
  return fields;
}
std::span<const AttrField> HardSigmoidAttrs::Fields() {
  static const AttrField fields[] = {Field<&HardSigmoidAttrs::alpha>("alpha"),
                                     Field<&HardSigmoidAttrs::beta>("beta")};
  return fields;
}
std::span<const AttrField> SeluAttrs::Fields() {
  static const AttrField fields[] = {Field<&SeluAttrs::alpha>("alpha"),
                                     Field<&SeluAttrs::gamma>("gamma")};
  return fields;
}
std::span<const AttrField> ShrinkAttrs::Fields() {
  static const AttrField fields[] = {Field<&ShrinkAttrs::bias>("bias"),
                                     Field<&ShrinkAttrs::lambd>("lambd")};
  return fields;
}
std::span<const AttrField> GeluAttrs::Fields() {
  static const AttrField fields[] = {Field<&GeluAttrs::approximate>("approximate")};
  return fields;
}
std::span<const AttrField> IsInfAttrs::Fields() {
  static const AttrField fields[] = {Field<&IsInfAttrs::detect_negative>("detect_negative"),
                                     Field<&IsInfAttrs::detect_positive>("detect_positive")};
  return fields;
}
std::span<const AttrField> CastAttrs::Fields() {
  static const AttrField fields[] = {Field<&CastAttrs::to>("to"),
                                     Field<&CastAttrs::saturate>("saturate"),
                                     Field<&CastAttrs::round_mode>("round_mode")};
  return fields;
}
std::span<const AttrField> QuantizeAttrs::Fields() {
  static const AttrField fields[] = {Field<&QuantizeAttrs::rounding>("rounding"),
                                     Field<&QuantizeAttrs::saturate>("saturate")};
  return fields;
}
std::span<const AttrField> DequantizeAttrs::Fields() {
  static const AttrField fields[] = {Field<&DequantizeAttrs::to>("to")};
  return fields;
}

FunctionParams ParamsOf(const Node& node) {
  FunctionParams p{};
  if (node.attrs().Is<GeluAttrs>()) {
    p[0] = static_cast<float>(node.attrs<GeluAttrs>().approximate);
    return p;
  }
  size_t i = 0;
  for (const AttrField& field : node.attrs().info().fields)
    if (const AttrValue v = node.attrs().Get(field); std::holds_alternative<float>(v))
      p[i++] = std::get<float>(v);
  return p;
}

tl::unexpected<Error> UnsupportedTypes(const EvalContext& ctx) {
  std::string types;
  for (size_t i = 0; i < ctx.input_count(); ++i)
    types += (i == 0 ? "" : " and ") + std::string(DTypeName(ctx.in(i).dtype()));
  return UnsupportedError("{} is not supported", types);
}

bool IsQuantized(const EvalContext& ctx) {
  bool quantized = ctx.out_type().quantized();
  for (size_t i = 0; i < ctx.input_count(); ++i) quantized |= ctx.in_type(i).quantized();
  return quantized;
}

Status InferSameType(InferContext& ctx) {
  Type type = ctx.in(0);
  type.quant = nullptr;
  ctx.set_out(0, std::move(type));
  return {};
}

std::optional<AxesChange> ChangeUnaryAxes(const Node& node, Operand changed, const AxisMap& map) {
  return AxesChange{node.attrs(), {{Operand{!changed.is_output, 0}, map}}};
}

}  // namespace nn
