#include "ops/array/sequence.h"

#include "ir/op_def.h"
#include "ops/families.h"

namespace nn {
namespace {

const Node* SequenceNode(const Value* value) {
  return value != nullptr && value->def() != nullptr && value->def()->Is<SequenceAttrs>()
             ? value->def()
             : nullptr;
}

}  // namespace

std::span<const AttrField> SequenceAttrs::Fields() {
  static const AttrField fields[] = {Field<&SequenceAttrs::is_empty_optional>("is_empty_optional"),
                                     Field<&SequenceAttrs::is_map>("is_map")};
  return fields;
}

bool IsSequence(const Value* value) {
  const Node* const node = SequenceNode(value);
  return node != nullptr && !node->attrs<SequenceAttrs>().is_empty_optional &&
         !node->attrs<SequenceAttrs>().is_map;
}

bool IsEmptyOptional(const Value* value) {
  const Node* const node = SequenceNode(value);
  return node != nullptr && node->attrs<SequenceAttrs>().is_empty_optional;
}

bool IsMap(const Value* value) {
  const Node* const node = SequenceNode(value);
  return node != nullptr && node->attrs<SequenceAttrs>().is_map;
}

void RegisterSequenceOps(OpRegistry& ops) {
  OpDef sequence;
  sequence.name = "sequence";
  sequence.summary = "sequence of tensors that the import resolves";
  sequence.category = Category::kOther;
  sequence.quant_rule = QuantRule::kStored;
  sequence.is_opaque = true;
  sequence.internal = true;
  sequence.attrs = AttrsInfoOf<SequenceAttrs>();
  sequence.inputs = {{"x", Arity::kVariadic, Elements::kAny}};
  sequence.infer = [](InferContext&) -> Status { return {}; };
  ops.Add(std::move(sequence));
}

}  // namespace nn
