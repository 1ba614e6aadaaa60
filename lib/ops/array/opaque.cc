#include "ops/array/opaque.h"

#include "ir/op_def.h"
#include "ops/families.h"

namespace nn {

std::span<const AttrField> OpaqueAttrs::Fields() {
  static const AttrField fields[] = {Field<&OpaqueAttrs::op>("op"),
                                     Field<&OpaqueAttrs::reason>("reason")};
  return fields;
}

void RegisterOpaqueOps(OpRegistry& ops) {
  OpDef opaque;
  opaque.name = "opaque";
  opaque.summary = "placeholder for an unsupported operator of the file";
  opaque.category = Category::kOther;
  opaque.quant_rule = QuantRule::kStored;
  opaque.is_opaque = true;
  opaque.internal = true;
  opaque.attrs = AttrsInfoOf<OpaqueAttrs>();
  opaque.inputs = {{"x", Arity::kVariadic, Elements::kAny}};
  opaque.outputs = {{"y", Arity::kVariadic}};
  opaque.infer = [](InferContext&) -> Status { return {}; };
  ops.Add(std::move(opaque));
}

}  // namespace nn
