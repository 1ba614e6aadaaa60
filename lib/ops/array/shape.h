// Operators that permute or reshape a tensor without computing on its elements.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/attrs.h"
#include "ir/graph.h"
#include "ir/types/axis_map.h"

namespace nn {

// y axis k is x axis perm[k].
struct TransposeAttrs {
  std::vector<int64_t> perm;
  static std::span<const AttrField> Fields();
};

// The same elements in the same order with a new shape. The shape comes from `dims` or, if it is
// not known as expressions, from the input `shape`; one entry may be -1 (the rest), and with
// zero_copies an entry 0 copies the input's dimension.
struct ReshapeAttrs {
  Dims dims;
  bool zero_copies = false;
  static std::span<const AttrField> Fields();
};

// expand_dims: the axes of the result that are new, each of size 1.
// squeeze: the axes to drop, each of size 1; empty: all axes of size 1.
// An input of this name can replace the attribute; if it is empty, squeeze drops none.
struct AxesAttrs {
  std::vector<int64_t> axes;
  static std::span<const AttrField> Fields();
};

// The axis map of a transpose, expand_dims or squeeze node, or of a reshape that only adds or drops
// axes of size 1; nullopt for all other nodes.
std::optional<AxisMap> AxisMapOf(const Node& node);

// The value with its axes permuted. Adds the necessary nodes (none for the identity) right after
// the value's definition.
Result<Value*> Rearrange(Graph& graph, Value* value, const AxisMap& map);

// The tensor with its axes permuted; shares the bytes if no element moves.
Result<Tensor> RearrangeTensor(const Tensor& tensor, const AxisMap& map);

// The type after a permutation; the axis of per-axis quantization follows.
Type RearrangeType(const Type& type, const AxisMap& map);

}  // namespace nn
