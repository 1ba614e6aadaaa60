#include "ops/opaque.h"

#include "ir/op_def.h"
#include "ops/ops.h"

namespace nn {

std::span<const AttrField> OpaqueAttrs::Fields() {
  static const AttrField fields[] = {Field<&OpaqueAttrs::op>("op"),
                                     Field<&OpaqueAttrs::reason>("reason")};
  return fields;
}

void RegisterOpaqueOp(OpRegistry& ops) {
  OpDef opaque;
  opaque.name = "opaque";
  opaque.summary = "an operator of the file that is not supported";
  opaque.internal = true;
  opaque.attrs = AttrsInfoOf<OpaqueAttrs>();
  opaque.inputs = {{"x", Arity::kVariadic, Elements::kAny}};
  opaque.outputs = {{"y", Arity::kVariadic}};
  opaque.infer = [](InferContext&) -> Status { return {}; };
  ops.Add(std::move(opaque));
}

}  // namespace nn
