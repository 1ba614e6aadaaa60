// Constants in loops and branches.
#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "ir/copy.h"
#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/shape.h"
#include "ops/control/loop.h"
#include "ops/control/region.h"
#include "passes/core/passes.h"
#include "passes/core/regions.h"
#include "passes/facts/known_values.h"

namespace nn {
namespace {

// For the trip count of a loop whose condition depends on constants alone.
constexpr uint64_t kMaxTrips = uint64_t{1} << 12;
constexpr uint64_t kMaxTripWork = uint64_t{1} << 22;
constexpr uint64_t kMaxTripBytes = uint64_t{1} << 20;
// Of all nodes that the unrolling adds, and of the values that it makes constants.
constexpr uint64_t kMaxUnrolledNodes = uint64_t{1} << 16;
constexpr uint64_t kMaxUnrolledBytes = uint64_t{1} << 20;

std::optional<bool> KnownCondition(const Value* v) {
  if (!v->is_constant() || v->constant().elements() != 1) return std::nullopt;
  return v->constant().GetInt(0) != 0;
}

// ---- Captured values

// Carried values that no iteration changes become captured ones.
void CaptureInvariants(Graph& graph, Node& loop) {
  auto attrs = loop.attrs<LoopAttrs>();
  Graph& body = *loop.regions()[0];
  for (auto k = static_cast<size_t>(attrs.carried); k-- > 0;) {
    Value* const inside = body.inputs()[1 + k].value;
    if (body.outputs()[1 + k].value != inside) continue;
    const size_t operand = RegionPorts(loop).first_carried() + k;
    Value* const outside = loop.input(operand);
    graph.ReplaceUses(loop.output(k), outside);
    if (loop.outputs().size() == 1) break;  // one result stays
    graph.RemoveResult(&loop, k);
    RemoveOperand(graph, loop, operand);
    std::vector<Value*> inputs(loop.inputs().begin(), loop.inputs().end());
    inputs.resize(std::max(inputs.size(), RegionPorts(loop).first_carried()));
    inputs.push_back(outside);
    graph.SetInputs(&loop, std::move(inputs));
    body.RemoveOutput(1 + k);
    body.ReplaceUses(inside, body.AddInput("", inside->type()));
    body.RemoveInput(1 + k);
    --attrs.carried;
  }
  loop.set_attrs(attrs);
}

void CaptureConstants(Graph& graph, Node& node) {
  const RegionPorts ports(node);
  const size_t first = ports.is_loop() ? ports.first_carried() + ports.carried() : 1;
  for (size_t i = node.inputs().size(); i-- > first;) {
    const Value* const v = node.input(i);
    if (!v->is_constant()) continue;
    for (const auto& region : node.regions()) {
      Value* const inside = region->inputs()[*ports.InputFor(i)].value;
      region->MakeConstant(inside, v->constant());
      inside->set_name(SharedString(v->name()));
    }
    RemoveOperand(graph, node, i);
  }
}

// ---- Nodes in place of a node with regions

// Adds the nodes of a region before a node; returns its results.
Result<std::vector<Value*>> AddBefore(Graph& graph, Node& node, const Graph& region,
                                      const std::vector<Value*>& inputs) {
  const auto last = std::prev(graph.nodes().end());
  auto results = AddCopies(graph, region, inputs);
  for (auto it = std::next(last); it != graph.nodes().end();) {
    Node& added = *it++;
    graph.MoveBefore(&added, &node);
  }
  return results;
}

std::vector<Value*> OperandsFrom(const Node& node, size_t first) {
  const auto inputs = node.inputs();
  return {inputs.begin() + static_cast<ptrdiff_t>(std::min(first, inputs.size())), inputs.end()};
}

// A stack of no elements, or of those of the iterations.
Result<Value*> Stack(Graph& graph, Node& loop, size_t result, const std::vector<Value*>& elements) {
  if (elements.empty()) {
    const Type& type = loop.output(result)->type();
    Dims dims = *type.dims;
    dims[0] = 0;
    NN_ASSIGN(TensorBuilder empty, TensorBuilder::Create(type.dtype, *ConstDims(dims)));
    return graph.AddConstant(empty.Finish(), {}, type.quant);
  }
  std::vector<Value*> rows;
  for (Value* v : elements) {
    NN_ASSIGN(Node* const row, graph.Append("expand_dims", {v}, AxesAttrs{{0}}, 1, &loop));
    rows.push_back(row->output());
  }
  if (rows.size() == 1) return rows[0];
  NN_ASSIGN(Node* const all, graph.Append("concat", std::move(rows), ConcatAttrs{0}, 1, &loop));
  return all->output();
}

// Replaces a loop by the nodes of so many iterations.
Status Unroll(Graph& graph, Node& loop, int64_t trips) {
  const RegionPorts ports(loop);
  const Graph& body = *loop.regions()[0];
  const std::vector<Value*> operands = OperandsFrom(loop, ports.first_carried());
  std::vector<Value*> values(operands.begin(),
                             operands.begin() + static_cast<ptrdiff_t>(ports.carried()));
  std::vector<std::vector<Value*>> stacks(loop.outputs().size() - ports.carried());
  for (int64_t i = 0; i < trips; ++i) {
    Tensor number = Tensor::Scalar(i);
    if (body.inputs()[0].value->type().rank() == 1) {
      NN_ASSIGN(number, number.Reshaped({1}));
    }
    std::vector<Value*> inputs = {graph.AddConstant(std::move(number))};
    inputs.insert(inputs.end(), values.begin(), values.end());
    inputs.insert(inputs.end(), operands.begin() + static_cast<ptrdiff_t>(ports.carried()),
                  operands.end());
    NN_ASSIGN(const auto results, AddBefore(graph, loop, body, inputs));
    for (size_t k = 0; k < values.size(); ++k) values[k] = results[1 + k];
    for (size_t k = 0; k < stacks.size(); ++k)
      stacks[k].push_back(results[1 + ports.carried() + k]);
  }
  for (size_t k = 0; k < stacks.size(); ++k) {
    NN_ASSIGN(Value* const stack, Stack(graph, loop, ports.carried() + k, stacks[k]));
    values.push_back(stack);
  }
  graph.Replace(&loop, values);
  return {};
}

// ---- What is known of a loop before a run

// The values of a region that depend on constants and the number of the iteration alone.
class KnownPart {
 public:
  explicit KnownPart(const Node& loop) : loop_(loop), body_(*loop.regions()[0]), ports_(loop) {
    // Carried values that start as constants are known as long as all that they become is.
    for (size_t k = 0; k < ports_.carried(); ++k)
      if (loop.input(ports_.first_carried() + k)->is_constant()) carried_.insert(k);
    size_t before = 0;
    do {
      before = carried_.size();
      FindValues();
      std::erase_if(carried_, [&](size_t k) { return !Has(body_.outputs()[1 + k].value); });
    } while (carried_.size() != before);
  }

  bool Has(const Value* v) const { return v->is_constant() || known_.contains(v); }

  // The nodes and stacked results that remain in each iteration once it is unrolled.
  size_t NodesLeft() const;
  // The bytes of the known values of an iteration, at most.
  uint64_t Bytes() const;
  // The number of iterations that end with the condition; nullopt if it is unknown, or too large.
  std::optional<int64_t> Trips() const;

 private:
  bool IsKnown(const Node& node) const {
    return IsFoldable(node) && std::ranges::all_of(node.inputs(), [&](const Value* v) {
             return v == nullptr || Has(v);
           });
  }

  void FindValues() {
    known_ = {body_.inputs()[0].value};
    for (const size_t k : carried_) known_.insert(body_.inputs()[1 + k].value);
    for (const Node& node : body_.nodes())
      if (IsKnown(node)) known_.insert(node.outputs().begin(), node.outputs().end());
  }

  const Node& loop_;
  const Graph& body_;
  RegionPorts ports_;
  std::set<size_t> carried_;
  std::unordered_set<const Value*> known_;
};

size_t KnownPart::NodesLeft() const {
  auto left = static_cast<size_t>(
      std::ranges::count_if(body_.nodes(), [&](const Node& node) { return !Has(node.output()); }));
  for (size_t k = ports_.carried(); k < loop_.outputs().size(); ++k)
    if (!Has(body_.outputs()[1 + k].value)) ++left;
  return left;
}

uint64_t KnownPart::Bytes() const {
  uint64_t bytes = 0;
  for (const Node& node : body_.nodes()) {
    if (!Has(node.output())) continue;
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      const uint64_t most = MostBytesOf(node, i);
      bytes += std::min(most, std::numeric_limits<uint64_t>::max() - bytes);
    }
  }
  return bytes;
}

std::optional<int64_t> KnownPart::Trips() const {
  if (!Has(body_.outputs()[0].value)) return std::nullopt;
  // A loop of the known values alone, which stacks the numbers of its iterations.
  Graph part;
  NodeCopier copier(part);
  copier.Set(body_.inputs()[0].value, part.AddInput("", body_.inputs()[0].value->type()));
  for (const size_t k : carried_) {
    const Value* const v = body_.inputs()[1 + k].value;
    copier.Set(v, part.AddInput("", v->type()));
  }
  for (const Node& node : body_.nodes())
    if (Has(node.output())) copier.Add(node);
  part.AddOutput("", copier.Of(body_.outputs()[0].value));
  for (const size_t k : carried_) part.AddOutput("", copier.Of(body_.outputs()[1 + k].value));
  part.AddOutput("", part.inputs()[0].value);
  Graph scratch;
  const Value* const limit = loop_.input(0);
  std::vector<Value*> operands = {
      limit == nullptr ? nullptr : scratch.AddConstant(limit->constant()),
      scratch.AddConstant(Tensor::Scalar(true))};
  for (const size_t k : carried_) {
    const Value* const v = loop_.input(ports_.first_carried() + k);
    operands.push_back(scratch.AddConstant(v->constant(), {}, v->type().quant));
  }
  LoopAttrs attrs;
  attrs.carried = std::ssize(carried_);
  Node* const loop = scratch.AddNode(loop_.op(), std::move(operands), attrs, carried_.size() + 1);
  loop->AddRegion(std::move(part));
  if (!InferNode(*loop)) return std::nullopt;
  scratch.AddOutput("", loop->output(carried_.size()));
  if (!TrimRegions(scratch, *loop)) return std::nullopt;
  std::vector<const Tensor*> inputs;
  for (const Value* v : loop->inputs()) inputs.push_back(v == nullptr ? nullptr : &v->constant());
  EvalBudget budget{.bytes = kMaxTripBytes, .work = kMaxTripWork, .iterations = kMaxTrips};
  const auto results = EvalNode(*loop, inputs, &budget);
  if (!results) return std::nullopt;
  return results->back().dim(0);
}

// The number of iterations, if it is known. Drops a condition that does not change it.
std::optional<int64_t> KnownTrips(Graph& graph, Node& loop, const KnownPart& known) {
  std::optional<int64_t> limit;
  if (const Value* const trips = loop.input(0)) {
    if (!trips->is_constant()) {
      // Of those that end after the first iteration, the trip count alone decides whether it runs.
      const auto starts = loop.input(1) == nullptr ? true : KnownCondition(loop.input(1));
      return starts == false ? std::optional<int64_t>(0) : std::nullopt;
    }
    limit = std::max<int64_t>(trips->constant().GetInt(0), 0);
    if (limit == 0) return limit;
  }
  if (loop.input(1) == nullptr) return limit;
  const auto starts = KnownCondition(loop.input(1));
  if (!starts) return std::nullopt;
  if (!*starts) return 0;
  if (limit == 1) return limit;
  const auto goes_on = KnownCondition(loop.regions()[0]->outputs()[0].value);
  if (goes_on == false) return 1;
  if (goes_on == true && !limit) return std::nullopt;
  if (goes_on != true) limit = known.Trips();
  if (!limit) return std::nullopt;
  Tensor count = Tensor::Scalar(*limit);
  if (loop.input(0) != nullptr && loop.input(0)->constant().rank() == 1)
    count = *count.Reshaped({1});
  graph.SetInput(&loop, 0, graph.AddConstant(std::move(count)));
  graph.SetInput(&loop, 1, nullptr);
  return limit;
}

bool HasKnownStacks(const Node& loop, int64_t trips) {
  const RegionPorts ports(loop);
  for (size_t k = ports.carried(); k < loop.outputs().size(); ++k) {
    const Type& type = loop.output(k)->type();
    if (!type.ranked()) return false;
    if (trips == 0 &&
        !Type(type.dtype, Dims(type.dims->begin() + 1, type.dims->end())).const_dims())
      return false;
  }
  return true;
}

// Whether the loop is smaller as nodes.
bool IsSmallerUnrolled(const Node& loop, int64_t trips, const KnownPart& known) {
  if (trips <= 1) return true;
  const auto n = static_cast<uint64_t>(trips);
  const uint64_t nodes = loop.regions()[0]->nodes().size();
  if (n > kMaxUnrolledNodes / std::max<uint64_t>(nodes, 1)) return false;
  const size_t stacks = loop.outputs().size() - RegionPorts(loop).carried();
  return n * known.NodesLeft() + stacks <= nodes + 1 && known.Bytes() <= kMaxUnrolledBytes / n;
}

Result<bool> FoldLoop(Graph& graph, Node& loop) {
  if (!loop.regions()[0]->inputs()[0].value->type().ranked()) return false;
  const KnownPart known(loop);
  const auto trips = KnownTrips(graph, loop, known);
  if (!trips || !HasKnownStacks(loop, *trips) || !IsSmallerUnrolled(loop, *trips, known))
    return false;
  NN_RETURN_IF_ERROR(Unroll(graph, loop, *trips));
  return true;
}

Result<bool> FoldBranch(Graph& graph, Node& branch) {
  const auto condition = KnownCondition(branch.input(0));
  if (!condition) return false;
  const Graph& taken = *branch.regions()[*condition ? 0 : 1];
  NN_ASSIGN(const auto results, AddBefore(graph, branch, taken, OperandsFrom(branch, 1)));
  graph.Replace(&branch, results);
  return true;
}

}  // namespace

Result<bool> FoldRegions(Graph& graph, Node& node, const FoldRegionFn& fold) {
  const bool is_loop = RegionPorts(node).is_loop();
  if (is_loop) CaptureInvariants(graph, node);
  if (!is_loop && KnownCondition(node.input(0))) return FoldBranch(graph, node);
  CaptureConstants(graph, node);
  for (const auto& region : node.regions()) {
    Graph folded = region->Clone();
    if (const Status s = fold(folded); s)
      *region = std::move(folded);
    else if (s.error().code() == ErrorCode::kInternal)
      return tl::unexpected(s.error());
  }
  if (!is_loop) return false;
  return FoldLoop(graph, node);
}

}  // namespace nn
