#include "convert/quantize/half_range.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "ops/reduce/reduce.h"
#include "passes/types/half.h"

namespace nn {
namespace {

bool IsMeasured(const Value* v) {
  return v != nullptr && v->dtype() == DType::kF32 && !v->type().quantized() && v->type().ranked();
}

}  // namespace

Result<std::vector<bool>> OutOfRange(const Graph& graph, DType type, const VerifyOptions& options) {
  Graph measured = graph.Clone();
  std::vector<const Node*> nodes;
  std::vector<Value*> values;
  std::set<const Value*> seen;
  for (Node& node : measured.nodes()) {
    nodes.push_back(&node);
    for (const auto list : {node.inputs(), node.outputs()})
      for (Value* v : list)
        if (IsMeasured(v) && seen.insert(v).second) values.push_back(v);
  }
  // The largest magnitude of each value becomes an output after those of the model.
  const size_t first = measured.outputs().size();
  for (size_t i = 0; i < values.size(); ++i) {
    NN_ASSIGN(Node* const magnitude, measured.Append("abs", {values[i]}));
    NN_ASSIGN(Node* const largest,
              measured.Append("reduce_max", {magnitude->output()}, ReduceAttrs{{}, false}));
    measured.AddOutput(fmt::format("largest {}", i), largest->output());
  }
  std::vector<bool> is_constant;
  for (const Value* v : values) is_constant.push_back(v->is_constant());
  std::map<const Value*, size_t> places;
  for (size_t i = 0; i < values.size(); ++i) places[values[i]] = first + i;
  std::vector<std::vector<size_t>> of_node(nodes.size());
  for (size_t k = 0; k < nodes.size(); ++k)
    for (const auto list : {nodes[k]->inputs(), nodes[k]->outputs()})
      for (const Value* v : list)
        if (const auto it = places.find(v); it != places.end()) of_node[k].push_back(it->second);
  VerifyOptions settings = options;
  settings.states = 0;  // they are no longer the last outputs
  NN_ASSIGN(const auto runs, RunForVerification(std::move(measured), settings));
  std::vector<bool> out(of_node.size(), false);
  for (const std::vector<Tensor>& outputs : runs)
    for (size_t k = 0; k < of_node.size(); ++k)
      for (const size_t place : of_node[k]) {
        const double largest = outputs[place].GetDouble(0);
        // Rounding a small constant costs little unless it vanishes; that of computed numbers
        // accumulates.
        const bool is_small = is_constant[place - first] ? largest <= SmallestHalf(type)
                                                         : largest < SmallestNormalHalf(type);
        if (std::isfinite(largest) && largest != 0 && (largest >= LargestHalf(type) || is_small))
          out[k] = true;
      }
  return out;
}

}  // namespace nn
