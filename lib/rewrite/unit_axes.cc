#include <memory>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/nn/conv.h"
#include "ops/support/window.h"
#include "rewrite/expand.h"

namespace nn {

Result<bool> OneAxisAsTwo(Graph& graph, Node& node) {
  const Type& x = node.input(0)->type();
  if (x.rank() != 3 || node.outputs().size() != 1) return false;
  const auto kind = node.attrs().Get("layout");
  if (!kind) return false;
  const int axis = FirstSpatialAxis(*ParseEnum<Layout>(std::get<EnumValue>(*kind).name));
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  NN_ASSIGN(inputs[0], Rearrange(graph, inputs[0], AxisMap::Insert(3, axis)));
  if (const auto layout = node.attrs().Get("filter_layout")) {
    const FilterAxes axes = AxesOf(*ParseEnum<FilterLayout>(std::get<EnumValue>(*layout).name), 3);
    NN_ASSIGN(inputs[1], Rearrange(graph, inputs[1], AxisMap::Insert(3, axes.spatial)));
  }
  NN_ASSIGN(Attrs attrs, WithUnitAxes(node.attrs(), 1));
  NN_ASSIGN(Value* const two,
            ExpansionLike(graph, node).Add(node.op_name(), std::move(inputs), std::move(attrs)));
  NN_ASSIGN(Value* const y, Rearrange(graph, two, AxisMap::Remove(4, axis)));
  graph.Replace(&node, y);
  return true;
}

}  // namespace nn
