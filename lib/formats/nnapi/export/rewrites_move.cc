// Operators that move elements, as EMBEDDING_LOOKUP with constant lookups. Its values are the
// tensor as a matrix, whose rows are the longest blocks of elements that move as a whole.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "base/checked_math.h"
#include "formats/nnapi/export/export.h"
#include "formats/nnapi/export/rewrites.h"
#include "formats/nnapi/export/terms.h"
#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/shape.h"
#include "ops/nn/resize/resize.h"
#include "ops/support/broadcast.h"
#include "ops/support/index.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"

namespace nn::nnapi {
namespace {

// Limit of NNAPI: lookups that replace an operator that moves elements.
constexpr int64_t kMaxLookups = int64_t{1} << 23;
// Limit of NNAPI: elements of all tables of lookups in a model.
constexpr int64_t kMaxLookupsInAll = int64_t{1} << 26;
// Moves that one lookup replaces.
constexpr size_t kMaxMoves = 64;
// Limit of NNAPI: elements of a tensor that lookups move. Positions are computed as float32.
constexpr int64_t kMaxMovedElements = (int64_t{1} << 24) - 2;
// Limit of NNAPI: positions that are computed for all moves of one value. Values of few elements
// are not counted.
constexpr int64_t kMaxPositions = int64_t{1} << 26;
constexpr int64_t kUncountedElements = int64_t{1} << 14;

int64_t ElementsOf(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// Whether only the shape changes.
bool IsReshape(const Node& node) {
  if (node.op().movement == Movement::kInOrder) return true;
  if (node.op().movement != Movement::kPermuted || !node.input(0)->type().ranked()) return false;
  const auto map = AxisMapOf(node);
  return map && map->KeepsOrder(*node.input(0)->type().dims);
}

// Whether positions that do not depend on the elements select those of the first input; the inputs
// with the positions must be constant. Others that may be among the results are constants, too.
bool MovesFirst(const OpDef& op) {
  return op.selects && !op.selects->by_value && op.selects->Has(0) && !op.selects->Has(2);
}

bool IsFixedF32(const Type& type) {
  const auto dims = type.const_dims();
  const auto elements = dims ? CheckedElements(*dims) : std::nullopt;
  return type.dtype == DType::kF32 && !type.quantized() && elements && *elements > 0 &&
         *elements <= kMaxMovedElements;
}

bool IsMove(const Node& node) {
  if (!MovesElements(node) || node.input(0)->is_constant() || !IsFixedF32(node.input(0)->type()))
    return false;
  for (size_t i = 1; i < node.inputs().size(); ++i)
    if (node.input(i) != nullptr && !node.input(i)->is_constant()) return false;
  return std::ranges::all_of(node.outputs(), [](const Value* v) { return IsFixedF32(v->type()); });
}

// Whether the value is an input or output of the graph whose rank NNAPI does not support.
bool IsWidePort(const Graph& graph, const Value* v) {
  return v->type().rank() > kMaxRank && (v->is_input() || graph.IsOutput(v));
}

// Whether all users of the value are moves that lookups replace. Their lookups then include the
// moves before them.
bool OnlyMoves(const Graph& graph, const Value* v, int depth = 0) {
  constexpr int kMaxDepth = 32;
  if (graph.IsOutput(v) || v->uses().empty() || depth == kMaxDepth) return false;
  return std::ranges::all_of(v->uses(), [&](const Use& use) {
    const Node& user = *use.node;
    if (use.index != 0 || !IsMove(user) || user.outputs().size() != 1) return false;
    return IsReshape(user) ? OnlyMoves(graph, user.output(), depth + 1)
                           : NnapiTarget().why_illegal(user).has_value();
  });
}

// For each element of a value, its position in `root`, counted from 1; 0 for the number 0, and -1,
// -2, ... for other constants.
struct Places {
  Value* root = nullptr;
  Tensor places;  // f32, with the shape of the value
  std::vector<float> constants;
};

Result<Tensor> Iota(const std::vector<int64_t>& dims) {
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(DType::kF32, dims));
  for (int64_t i = 0; i < b.elements(); ++i)
    b.As<float>()[static_cast<size_t>(i)] = static_cast<float>(i + 1);
  return b.Finish();
}

// Applies a move to the positions instead of to its input.
Status MovePlaces(const Node& node, size_t output, Places& p) {
  Graph scratch;
  std::vector<Value*> inputs = {scratch.AddConstant(p.places)};
  for (size_t i = 1; i < node.inputs().size(); ++i)
    inputs.push_back(node.input(i) == nullptr ? nullptr
                                              : scratch.AddConstant(node.input(i)->constant()));
  if (node.Is<PadAttrs>() && inputs.size() > 1 && inputs[1] != nullptr) {
    p.constants.push_back(static_cast<float>(node.input(1)->constant().GetDouble(0)));
    inputs[1] = scratch.AddConstant(Tensor::Scalar(-static_cast<float>(p.constants.size())));
  }
  Node* const n = scratch.AddNode(node.op(), inputs, node.attrs(), node.outputs().size());
  n->set_arithmetic(node.arithmetic());
  NN_RETURN_IF_ERROR(InferNode(*n));
  std::vector<const Tensor*> tensors;
  for (const Value* v : inputs) tensors.push_back(v == nullptr ? nullptr : &v->constant());
  NN_ASSIGN(auto outputs, EvalNode(*n, tensors));
  p.places = std::move(outputs[output]);
  return {};
}

// Whether lookups include the node that computes the input of a move.
bool Includes(const Node* node) {
  return node != nullptr && IsMove(*node) &&
         (IsReshape(*node) || node->Is<GatherAttrs>() ||
          NnapiTarget().why_illegal(*node).has_value());
}

// Whether the moves of a value, and of their results, are few for its size.
bool FewMoves(const Value* root) {
  const int64_t elements = ElementsOf(*root->type().const_dims());
  if (elements <= kUncountedElements) return true;
  int64_t positions = 0;
  std::vector<const Value*> values = {root};
  while (!values.empty()) {
    const Value* const v = values.back();
    values.pop_back();
    for (const Use& use : v->uses()) {
      if (use.index != 0 || !IsMove(*use.node)) continue;
      positions += elements;
      if (positions > kMaxPositions) return false;
      for (const Value* y : use.node->outputs()) values.push_back(y);
    }
  }
  return true;
}

// nullopt if there are too many.
Result<std::optional<Places>> PlacesOf(const Node& last, size_t output) {
  std::vector<std::pair<const Node*, size_t>> moves = {{&last, output}};
  Places p;
  for (p.root = last.input(0); Includes(p.root->def()) && moves.size() < kMaxMoves;
       p.root = p.root->def()->input(0))
    moves.emplace_back(p.root->def(), static_cast<size_t>(p.root->def_index()));
  if (!FewMoves(p.root)) return std::nullopt;
  NN_ASSIGN(p.places, Iota(*p.root->type().const_dims()));
  for (auto it = moves.rbegin(); it != moves.rend(); ++it)
    NN_RETURN_IF_ERROR(MovePlaces(*it->first, it->second, p));
  return p;
}

// The largest size of blocks such that each block of the result is one of the source, or constant.
int64_t BlockOf(const std::vector<int64_t>& places, int64_t elements) {
  int64_t block = std::gcd(static_cast<int64_t>(places.size()), elements);
  for (size_t i = 0; i < places.size() && block > 1; ++i) {
    const int64_t p = places[i];
    const bool goes_on =
        i > 0 && (p > 0 ? places[i - 1] > 0 && p == places[i - 1] + 1 : p == places[i - 1]);
    if (goes_on) continue;
    block = std::gcd(block, static_cast<int64_t>(i));
    if (p > 0) block = std::gcd(block, p - 1);
  }
  return block;
}

// Whether the tables of lookups in the model leave room for one more.
bool HasRoom(const Graph& graph, int64_t lookups) {
  constexpr int64_t kSmall = int64_t{1} << 12;
  if (lookups <= kSmall) return true;
  for (const Value& v : graph.values())
    if (v.is_constant() && v.dtype() == DType::kI32) lookups += v.constant().elements();
  return lookups <= kMaxLookupsInAll;
}

// Absent if there are too many.
Term Lookups(const Graph& graph, Value* x, const std::vector<int64_t>& places,
             const std::vector<float>& constants, const std::vector<int64_t>& dims) {
  const int64_t elements = ElementsOf(*x->type().const_dims());
  bool in_order = static_cast<int64_t>(places.size()) == elements;
  for (size_t i = 0; i < places.size() && in_order; ++i)
    in_order = places[i] == static_cast<int64_t>(i) + 1;
  if (in_order) return Shaped(x, dims);
  const int64_t block = BlockOf(places, elements);
  const auto count = static_cast<int64_t>(places.size()) / block;
  if (count > kMaxLookups || !HasRoom(graph, count)) return {};
  const int64_t rows = elements / block;
  std::vector<Term> parts = {Shaped(x, {rows, block})};
  std::vector<int32_t> indices;
  std::vector<int32_t> constant_rows(constants.size() + 1, -1);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t p = places[static_cast<size_t>(i * block)];
    if (p > 0) {
      indices.push_back(static_cast<int32_t>((p - 1) / block));
      continue;
    }
    int32_t& row = constant_rows[static_cast<size_t>(-p)];
    if (row < 0) {
      row = static_cast<int32_t>(rows + static_cast<int64_t>(parts.size()) - 1);
      const float number = p == 0 ? 0.0f : constants[static_cast<size_t>(-p) - 1];
      parts.emplace_back(
          Tensor::Of({1, block}, std::vector<float>(static_cast<size_t>(block), number)));
    }
    indices.push_back(row);
  }
  const Term y = Gather(Concat(std::move(parts), 0), Tensor::Of({count}, indices), 0);
  return Shaped(y, {count, block}, dims);
}

}  // namespace

std::span<const std::string_view> MoveOperators() {
  static const auto operators = [] {
    std::vector<std::string_view> names;
    for (const OpDef* op : Ops().All())
      if (op->movement == Movement::kPermuted || MovesFirst(*op)) names.push_back(op->name);
    return names;
  }();
  return operators;
}

bool MovesElements(const Node& node) {
  return node.op().movement != Movement::kNone || (MovesFirst(node.op()) && SelectionOf(node));
}

std::vector<size_t> MovedInputs(const Node& node) {
  const auto selection = SelectionOf(node);
  if (!selection || selection->by_value || !selection->Has(0)) return {};
  std::vector<size_t> moved;
  for (size_t i = 0; i < node.inputs().size(); ++i)
    if (selection->Has(i) && node.input(i) != nullptr) moved.push_back(i);
  return moved;
}

Term Moved(const Graph& graph, Value* x, const std::vector<int64_t>& places,
           const std::vector<int64_t>& dims) {
  return Lookups(graph, x, places, {}, dims);
}

Result<bool> MoveByLookups(Graph& graph, Node& node) {
  if (!IsMove(node)) return false;
  if (node.outputs().size() == 1 && OnlyMoves(graph, node.output())) return false;
  if (IsWidePort(graph, node.input(0))) return false;
  for (const Value* v : node.outputs())
    if (IsWidePort(graph, v)) return false;
  Expansion e(graph, node);
  std::vector<Value*> results;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    // The model may be invalid: an index may be out of range, or the declared shape another one.
    const auto found = PlacesOf(node, i);
    if (!found && found.error().code() != ErrorCode::kModel) return tl::unexpected(found.error());
    const auto dims = *node.output(i)->type().const_dims();
    if (!found || !*found || (*found)->places.dims() != dims) return false;
    const Places& p = **found;
    std::vector<int64_t> places;
    for (const float f : p.places.As<float>()) places.push_back(static_cast<int64_t>(f));
    const Term y = Lookups(graph, p.root, places, p.constants, dims);
    if (y.is_absent()) return false;
    NN_ASSIGN(results.emplace_back(), e.Build(y));
  }
  for (size_t i = 1; i < results.size(); ++i) e.ReplaceOutput(i, results[i]);
  return e.Replace(results[0]);
}

Result<bool> SelectByLookups(Graph& graph, Node& node) {
  const auto dims = node.output()->type().const_dims();
  const Value* const condition = node.input(0);
  if (!condition->is_constant() || !IsFixedF32(node.output()->type())) return false;
  if (IsWidePort(graph, node.output())) return false;
  // The operands one after the other, without constants of one element.
  struct Part {
    std::vector<int64_t> steps;
    int64_t first = 0;
  };
  std::vector<Part> parts;
  std::vector<Term> values;
  std::vector<float> constants;
  int64_t elements = 0;
  for (Value* const v : node.inputs().subspan(1)) {
    if (!IsFixedF32(v->type()) || IsWidePort(graph, v)) return false;
    const auto from = *v->type().const_dims();
    const int64_t n = ElementsOf(from);
    auto steps = BroadcastSteps(*dims, from);
    if (v->is_constant() && n == 1) {
      constants.push_back(static_cast<float>(v->constant().GetDouble(0)));
      parts.push_back({std::move(steps), -1 - static_cast<int64_t>(constants.size())});
      continue;
    }
    values.push_back(Shaped(v, {n}));
    parts.push_back({std::move(steps), elements});
    elements += n;
  }
  if (values.empty() || elements > kMaxMovedElements) return false;
  std::vector<int64_t> places(static_cast<size_t>(ElementsOf(*dims)));
  const Tensor mask = condition->constant();
  std::vector<bool> taken(places.size());
  ForEachOffset(*dims, BroadcastSteps(*dims, mask.dims()), [&](int64_t i, int64_t at) {
    taken[static_cast<size_t>(i)] = mask.GetInt(at) != 0;
  });
  for (const bool which : {true, false}) {
    const Part& part = parts[which ? 0 : 1];
    ForEachOffset(*dims, part.steps, [&](int64_t i, int64_t at) {
      const auto k = static_cast<size_t>(i);
      if (taken[k] == which) places[k] = part.first + 1 + (part.first < 0 ? 0 : at);
    });
  }
  Expansion e(graph, node);
  NN_ASSIGN(Value* const all, e.Build(Concat(std::move(values), 0)));
  const Term y = Lookups(graph, all, places, constants, *dims);
  if (y.is_absent()) return false;
  return e.Replace(y);
}

Result<bool> ScatterByLookups(Graph& graph, Node& node) {
  // ExpandScatterNd() writes so few updates of an element one by one, without another scatter.
  constexpr int64_t kFewUpdates = 8;
  const auto reduction = node.attrs().Get("reduction");
  if (!IsPlainF32(node) || !node.input(1)->is_constant() || !node.output()->type().const_dims() ||
      !reduction)
    return false;
  const bool replaces = std::get<EnumValue>(*reduction).name == EnumName(Reduction::kNone);
  if (!replaces && node.input(1)->constant().elements() > kFewUpdates) return false;
  return node.Is<ScatterNdAttrs>() ? ExpandScatterNd(graph, node)
                                   : ExpandScatterElements(graph, node);
}

Result<bool> ReshapeInUses(Graph& graph, Node& node) {
  if (!IsReshape(node) || graph.IsOutput(node.output())) return false;
  bool changed = false;
  const std::vector<Use> uses(node.output()->uses().begin(), node.output()->uses().end());
  for (const Use& use : uses) {
    const auto dims = use.node->output()->type().const_dims();
    if (use.index != 0 || !IsReshape(*use.node) || !dims) continue;
    // Declared shapes of invalid models may contradict each other.
    const auto from = node.input(0)->type().const_dims();
    if (!from || CheckedElements(*from) != CheckedElements(*dims)) continue;
    NN_ASSIGN(Value* const y, Expansion(graph, *use.node).Build(Shaped(node.input(0), *dims)));
    graph.Replace(use.node, y);
    changed = true;
  }
  if (changed && !graph.HasUses(node.output())) graph.Erase(&node);
  return changed;
}

namespace {

// Joins neighboring axes along which the same operands are broadcast. Returns the new shapes of the
// operands, which may have fewer axes than the result.
std::vector<std::vector<int64_t>> JoinedAxes(const std::vector<std::vector<int64_t>>& operands,
                                             const std::vector<int64_t>& result) {
  std::vector<std::vector<int64_t>> out(operands.size());
  std::vector<bool> last;
  for (size_t axis = 0; axis < result.size(); ++axis) {
    if (result[axis] == 1) continue;
    std::vector<int64_t> sizes;
    std::vector<bool> broadcast;
    for (const auto& dims : operands) {
      const size_t missing = result.size() - dims.size();
      sizes.push_back(axis < missing ? 1 : dims[axis - missing]);
      broadcast.push_back(sizes.back() == 1);
    }
    const bool joins = !out[0].empty() && broadcast == last;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (joins)
        out[i].back() *= sizes[i];
      else
        out[i].push_back(sizes[i]);
    }
    last = std::move(broadcast);
  }
  for (auto& dims : out)
    if (dims.empty()) dims = {1};
  return out;
}

}  // namespace

Result<bool> JoinAxes(Graph& graph, Node& node) {
  const auto result = node.output()->type().const_dims();
  if (node.op().quant_rule != QuantRule::kElementwise || !result || result->size() <= kMaxRank ||
      node.output()->dtype() != DType::kF32 || node.outputs().size() != 1 ||
      IsWidePort(graph, node.output()))
    return false;
  std::vector<std::vector<int64_t>> operands;
  for (const Value* v : node.inputs()) {
    const auto dims = v == nullptr ? std::nullopt : v->type().const_dims();
    if (!dims || v->dtype() != DType::kF32 || IsWidePort(graph, v)) return false;
    operands.push_back(*dims);
  }
  const auto joined = JoinedAxes(operands, *result);
  if (joined[0].size() > kMaxRank || !CheckedElements(*result)) return false;
  std::vector<Term> inputs;
  for (size_t i = 0; i < operands.size(); ++i) inputs.push_back(Shaped(node.input(i), joined[i]));
  Expansion e(graph, node);
  NN_ASSIGN(Value* const y, e.Add(node.op_name(), std::move(inputs), node.attrs()));
  return e.Replace(Shaped(y, *result));
}

Result<bool> JoinConcatAxes(Graph& graph, Node& node) {
  const auto result = node.output()->type().const_dims();
  if (!result || result->size() <= kMaxRank || node.output()->dtype() != DType::kF32) return false;
  const auto rank = static_cast<int64_t>(result->size());
  int64_t axis = node.attrs<ConcatAttrs>().axis;
  if (axis < 0) axis += rank;
  std::vector<Term> inputs;
  for (Value* const v : node.inputs()) {
    const auto dims = v->type().const_dims();
    if (!dims) return false;
    const auto at = dims->begin() + axis;
    const int64_t outer = std::accumulate(dims->begin(), at, int64_t{1}, std::multiplies<>());
    const int64_t inner = std::accumulate(at + 1, dims->end(), int64_t{1}, std::multiplies<>());
    inputs.push_back(Shaped(v, {outer, *at, inner}));
  }
  Expansion e(graph, node);
  NN_ASSIGN(Value* const y, e.Add("concat", std::move(inputs), ConcatAttrs{1}));
  return e.Replace(Shaped(y, *result));
}

}  // namespace nn::nnapi
