// The description of a graph in the report of a conversion: its inputs and outputs, and its
// transposes. The functions may be called concurrently for one graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/types/axis_map.h"
#include "ir/types/type.h"

namespace nn {

struct TypedPort {
  std::string name;
  Type type;
};

// The inputs and outputs of a model.
struct Interface {
  std::vector<TypedPort> inputs;
  std::vector<TypedPort> outputs;
};

Interface InterfaceOf(const Graph& graph);

struct TransposeNode {
  std::string node;  // as UnsupportedNode::node
  std::string from;  // types
  std::string to;
  std::vector<int> axes;  // axis k of the result is axis axes[k] of the operand
  std::string reason;     // the operator of the source, or the operators that it is between
};

// The transposes of the graph, in its order.
std::vector<TransposeNode> TransposesOf(const Graph& graph);

// The numbers in another numeric type, for formats whose interface has fewer types; `offset` is
// added to integers.
Result<Tensor> CastTo(const Tensor& tensor, DType dtype, int64_t offset = 0);

// An identity is returned unchanged: its rank is 0 if the port has an unknown rank.
Result<Tensor> Moved(const Tensor& tensor, const AxisMap& map);

// Whether a value has this element type, also in regions.
bool HasType(const Graph& graph, DType type);
// The bytes of all constants, also in regions.
uint64_t ConstantBytesOf(const Graph& graph);

}  // namespace nn
