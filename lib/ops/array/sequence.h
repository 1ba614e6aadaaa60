// Sequences, empty optionals and maps of ONNX while a model is imported. The graph has tensors
// only: the importer resolves every operator on sequences, whose lengths and positions no run may
// change.
//
// Design: docs/design/021-sequences.md.
#pragma once

#include <span>

#include "ir/attrs.h"
#include "ir/graph.h"

namespace nn {

// A "sequence" node has one operand for each element, and a result without a type.
struct SequenceAttrs {
  bool is_empty_optional = false;  // it is an optional without an element
  bool is_map = false;             // the operands are its keys and its values, vectors
  static std::span<const AttrField> Fields();
};

// Whether the value is a sequence, not an optional or a map.
bool IsSequence(const Value* value);
bool IsEmptyOptional(const Value* value);
bool IsMap(const Value* value);

}  // namespace nn
