// Quantization to narrow integers, whose users convert the integers again.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "formats/coreml/rewrite.h"
#include "ir/op_def.h"
#include "ops/math/elementwise.h"
#include "passes/expand.h"

namespace nn::coreml {
namespace {

// The nodes that use a value: those that move its elements, and behind them those that convert
// them.
struct Users {
  std::vector<Node*> moves;  // in order
  std::vector<Node*> ends;
};

// nullopt if another node or an output of the graph uses the elements.
std::optional<Users> UsersOf(const Graph& graph, const Value* v) {
  Users users;
  std::vector<const Value*> open = {v};
  while (!open.empty()) {
    const Value* next = open.back();
    open.pop_back();
    if (graph.IsOutput(next)) return std::nullopt;
    for (const Use& use : next->uses()) {
      if (use.node->op().movement != Movement::kNone && use.index == 0) {
        users.moves.push_back(use.node);
        open.push_back(use.node->output());
      } else if (use.node->Is("cast") || use.node->Is("dequantize")) {
        users.ends.push_back(use.node);
      } else {
        return std::nullopt;
      }
    }
  }
  return users;
}

// Numbers for each index of an axis, or one, that broadcast to a value of the rank.
template <typename T>
Value* AlongAxis(Expansion& e, const Quant& q, const std::vector<T>& numbers, int rank) {
  std::vector<int64_t> dims;
  if (numbers.size() != 1) {
    dims.assign(static_cast<size_t>(rank - q.axis), 1);
    dims[0] = static_cast<int64_t>(numbers.size());
  }
  return e.Constant(Tensor::Of(dims, std::vector<float>(numbers.begin(), numbers.end())));
}

Result<bool> ReplaceEnd(Graph& graph, Node& end, Value* q, const Quant& mapping) {
  Expansion e(graph, end);
  if (end.Is("cast")) {
    NN_ASSIGN(Value* const y, e.Add("cast", {q}, end.attrs()));
    return e.Replace(y);
  }
  const int rank = q->type().rank();
  Value* y = q;
  if (!mapping.zero_points.empty()) {
    NN_ASSIGN(y, e.Add("sub", {y, AlongAxis(e, mapping, mapping.zero_points, rank)}));
  }
  NN_ASSIGN(y, e.Add("mul", {y, AlongAxis(e, mapping, mapping.scales, rank)}));
  return e.Replace(y);
}

}  // namespace

Result<bool> QuantizeInFloat(Graph& graph, Node& node) {
  Value *const x = node.input(0), *const y = node.output();
  if (x->dtype() != DType::kF32 || x->type().quantized() || !y->type().quantized() ||
      !IsInteger(y->dtype()) || DTypeBits(y->dtype()) > 16 ||
      node.attrs<QuantizeAttrs>().rounding != Rounding::kHalfEven)
    return false;
  const auto users = UsersOf(graph, y);
  if (!users) return false;
  for (const Node* end : users->ends)
    if (end->Is("dequantize") && end->output()->dtype() != DType::kF32) return false;
  Expansion e(graph, node);
  const Quant& to = *y->type().quant;
  const int rank = y->type().rank();
  NN_ASSIGN(Value * q, e.Add("div", {x, AlongAxis(e, to, to.scales, rank)}));
  NN_ASSIGN(q, e.Add("round", {q}));
  if (!to.zero_points.empty()) {
    NN_ASSIGN(q, e.Add("add", {q, AlongAxis(e, to, to.zero_points, rank)}));
  }
  NN_ASSIGN(q, e.Add("clip", {q},
                     ClipAttrs{static_cast<float>(MinInteger(y->dtype())),
                               static_cast<float>(MaxInteger(y->dtype()))}));
  std::vector<std::shared_ptr<const Quant>> mappings;
  for (const Node* end : users->ends) mappings.push_back(end->input(0)->type().quant);
  for (Node* move : users->moves) {
    Type type = move->output()->type();
    type.dtype = DType::kF32;
    type.quant = nullptr;
    move->output()->set_type(std::move(type));
  }
  std::vector<Value*> inputs;
  for (const Node* end : users->ends) inputs.push_back(end->input(0) == y ? q : end->input(0));
  const bool replaced = e.Replace(q);
  for (size_t i = 0; i < inputs.size(); ++i)
    NN_RETURN_IF_ERROR(ReplaceEnd(graph, *users->ends[i], inputs[i], *mappings[i]));
  return replaced;
}

}  // namespace nn::coreml
