// Quantization to narrow integers, whose users convert the integers again, and counters of loops.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "formats/coreml/export/integer_range.h"
#include "formats/coreml/export/rewrite.h"
#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/control/region.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"

namespace nn::coreml {
namespace {

// The nodes that use a value: those that move its elements, and after them those that convert
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
      } else if (use.node->Is<CastAttrs>() || use.node->Is<DequantizeAttrs>()) {
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
Term AlongAxis(const Quant& q, const std::vector<T>& numbers, int rank) {
  std::vector<int64_t> dims;
  if (numbers.size() != 1) {
    dims.assign(static_cast<size_t>(rank - q.axis), 1);
    dims[0] = static_cast<int64_t>(numbers.size());
  }
  return Tensor::Of(dims, std::vector<float>(numbers.begin(), numbers.end()));
}

Result<bool> ReplaceEnd(Graph& graph, Node& end, Value* q, const Quant& mapping) {
  Expansion e(graph, end);
  if (end.Is<CastAttrs>()) return e.Replace(Apply("cast", {q}, end.attrs()));
  const int rank = q->type().rank();
  Term y = q;
  if (!mapping.zero_points.empty()) y = y - AlongAxis(mapping, mapping.zero_points, rank);
  return e.Replace(y * AlongAxis(mapping, mapping.scales, rank));
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
    if (end->Is<DequantizeAttrs>() && end->output()->dtype() != DType::kF32) return false;
  Expansion e(graph, node);
  const Quant& to = *y->type().quant;
  const int rank = y->type().rank();
  Term rounded = Apply("round", {x / AlongAxis(to, to.scales, rank)});
  if (!to.zero_points.empty()) rounded = rounded + AlongAxis(to, to.zero_points, rank);
  NN_ASSIGN(Value* const q, e.Build(Clip(rounded, static_cast<float>(MinInteger(y->dtype())),
                                         static_cast<float>(MaxInteger(y->dtype())))));
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

namespace {

// The constant that the next value of a counter adds to it; nullopt if it is no counter.
std::optional<int64_t> StepOf(const Value* counter, const Value* next) {
  const Node* const add = next->def();
  if (add == nullptr || !add->Is("add")) return std::nullopt;
  const size_t at = add->input(0) == counter ? 1 : 0;
  const Value* const step = add->input(at);
  if (add->input(1 - at) != counter || !step->is_constant() || step->constant().elements() != 1)
    return std::nullopt;
  return step->constant().GetInt(0);
}

bool IsCounter(const Value* v) {
  const auto dims = v->type().const_dims();
  return (v->dtype() == DType::kI64 || v->dtype() == DType::kI32) && dims &&
         std::ranges::all_of(*dims, [](int64_t d) { return d == 1; });
}

// first + step * number, with the type of the counter.
Result<Value*> CounterAt(Graph& body, Value* number, const Value* counter, int64_t first,
                         int64_t step, Node* before) {
  const auto add = [&](std::string_view op, std::vector<Value*> inputs,
                       Attrs attrs = {}) -> Result<Value*> {
    NN_ASSIGN(Node* const node, body.Append(op, std::move(inputs), std::move(attrs), 1, before));
    return node->output();
  };
  Value* y = number;
  if (step != 1) {
    NN_ASSIGN(y, add("mul", {y, body.AddConstant(Tensor::Scalar(step))}));
  }
  if (first != 0) {
    NN_ASSIGN(y, add("add", {y, body.AddConstant(Tensor::Scalar(first))}));
  }
  if (counter->dtype() != DType::kI64) {
    NN_ASSIGN(y, add("cast", {y}, CastAttrs{.to = counter->dtype()}));
  }
  if (counter->type().rank() != 0) {
    NN_ASSIGN(y, add("reshape", {y}, ReshapeAttrs{*counter->type().dims}));
  }
  return y;
}

}  // namespace

Status BoundNumbers(const Node& loop) {
  Graph& body = *loop.regions()[0];
  const RegionPorts ports(loop);
  Value* const number = body.inputs()[0].value;
  Node* const begin = body.After(number);
  for (size_t k = 0; k < ports.carried(); ++k) {
    Value* const counter = body.inputs()[1 + k].value;
    const Value* const first = loop.input(ports.first_carried() + k);
    const auto step = StepOf(counter, body.outputs()[1 + k].value);
    if (!step || !IsCounter(counter) || !first->is_constant()) continue;
    NN_ASSIGN(Value* const y,
              CounterAt(body, number, counter, first->constant().GetInt(0), *step, begin));
    body.ReplaceUses(counter, y);
  }
  if (!body.HasUses(number)) return {};
  const Value* const trips = loop.input(0);
  const int64_t known = trips != nullptr && trips->is_constant() ? trips->constant().GetInt(0) : 0;
  const int64_t count = known > 0 && known < kMaxExact ? known : kMaxExact;
  NN_ASSIGN(Node* const bound, body.Append("mod", {number, body.AddConstant(Tensor::Scalar(count))},
                                           {}, 1, body.After(number)));
  body.ReplaceUses(number, bound->output());
  body.SetInput(bound, 0, number);
  return {};
}

}  // namespace nn::coreml
