#include "formats/common/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ir/copy.h"
#include "ir/op_def.h"
#include "ops/control/loop.h"
#include "ops/control/region.h"
#include "passes/core/passes.h"

namespace nn {
namespace {

// Values of the graph in place of the inputs of a subgraph. The destructor removes them; nothing
// may use them then.
class Placeholders {
 public:
  explicit Placeholders(Graph& graph) : graph_(graph) {}
  ~Placeholders();
  Placeholders(const Placeholders&) = delete;
  Placeholders& operator=(const Placeholders&) = delete;

  Value* Add(const Type& type);
  std::span<Value* const> values() const { return values_; }

 private:
  Graph& graph_;
  std::vector<Value*> values_;
};

Placeholders::~Placeholders() {
  // A constant without uses is removed with other dead values.
  for (Value* v : values_) graph_.MakeConstant(v, Tensor::Scalar(false));
}

Value* Placeholders::Add(const Type& type) {
  values_.push_back(graph_.AddInput("", type));
  return values_.back();
}

// A region of the nodes that were added since the mark, which the graph loses. Its inputs are
// `inputs`, which are placeholders, and the values around the nodes that they use: those of
// `captured`, which gets more of them. Constants are copied.
Result<Graph> TakeRegion(Graph& graph, ImportMark& mark, std::span<Value* const> inputs,
                         std::span<Value* const> results, std::vector<Value*>& captured) {
  Graph region;
  std::unordered_map<const Value*, Value*> inside;
  const auto add_input = [&](const Value* v) { inside[v] = region.AddInput("", v->type()); };
  std::ranges::for_each(inputs, add_input);
  std::ranges::for_each(captured, add_input);
  const auto in_region = [&](Value* v) -> Value* {
    if (v == nullptr) return nullptr;
    if (const auto it = inside.find(v); it != inside.end()) return it->second;
    if (v->is_constant()) {
      inside[v] = region.AddConstant(v->constant(), SharedString(v->name()), v->type().quant);
    } else {
      captured.push_back(v);
      add_input(v);
    }
    return inside[v];
  };
  for (const Node& node : graph.nodes()) {
    if (node.outputs().empty() || !mark.IsNew(node.output())) continue;
    std::vector<Value*> operands;
    for (Value* v : node.inputs()) operands.push_back(in_region(v));
    const Node* const copy = AddCopy(region, node, std::move(operands));
    for (size_t i = 0; i < node.outputs().size(); ++i) inside[node.output(i)] = copy->output(i);
  }
  for (Value* v : results) region.AddOutput("", in_region(v));
  mark.EraseNodes();
  // Sequences that the import has resolved, for one.
  NN_RETURN_IF_ERROR(RemoveDeadCode(region));
  return region;
}

}  // namespace

Result<LoopRegion> TakeLoop(Graph& graph, std::vector<UnsupportedNode>& unsupported,
                            std::vector<Type> types, const RunIterationFn& run) {
  int symbols = 0;
  const int64_t id = LastId(graph);
  const auto new_symbol = [&] { return Dim::Symbol(fmt::format("?loop{}.{}", id, symbols++)); };
  for (int round = 0;; ++round) {
    if (round == kMaxWidenings) WidenAll(types, new_symbol);
    Placeholders inputs(graph);
    inputs.Add(Type(DType::kI64, Dims()));
    for (const Type& type : types) inputs.Add(type);
    ImportMark mark(graph, unsupported);
    const auto undo = [&](const Error& error) {
      mark.Undo(error);
      return tl::unexpected(error);
    };
    const auto results = run(inputs.values());
    if (!results) return undo(results.error());
    bool changed = false;
    for (size_t k = 0; k < types.size(); ++k) {
      const auto wider = Widen(types[k], (*results)[1 + k]->type(), new_symbol);
      if (!wider) return undo(wider.error());
      changed = changed || *wider;
    }
    if (!changed) {
      LoopRegion out;
      NN_ASSIGN(out.region, TakeRegion(graph, mark, inputs.values(), *results, out.captured));
      return out;
    }
    mark.EraseNodes();
  }
}

Result<BranchRegions> TakeBranches(Graph& graph, std::vector<UnsupportedNode>& unsupported,
                                   std::span<const RunBranchFn> runs) {
  BranchRegions out;
  for (const RunBranchFn& run : runs) {
    ImportMark mark(graph, unsupported);
    const auto results = run();
    if (!results) {
      mark.Undo(results.error());
      return tl::unexpected(results.error());
    }
    NN_ASSIGN(Graph region, TakeRegion(graph, mark, {}, *results, out.captured));
    out.regions.push_back(std::move(region));
  }
  // Later regions may have captured more values.
  for (Graph& region : out.regions)
    for (size_t i = region.inputs().size(); i < out.captured.size(); ++i)
      region.AddInput("", out.captured[i]->type());
  return out;
}

Status EmitBranch(OperatorImport& op, Value* condition, BranchRegions branches, std::string why) {
  NN_ASSIGN(Value* const scalar, AsScalar(op, condition));
  std::vector<Value*> inputs = {scalar};
  inputs.insert(inputs.end(), branches.captured.begin(), branches.captured.end());
  return op.EmitRegions("branch", std::move(inputs), BranchAttrs{std::move(why)}, branches.regions);
}

Status EmitLoop(OperatorImport& op, Value* trips, Value* condition, std::span<Value* const> carried,
                LoopRegion loop, std::string why) {
  std::vector<Value*> inputs = {trips, condition};
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  inputs.insert(inputs.end(), loop.captured.begin(), loop.captured.end());
  const LoopAttrs attrs{static_cast<int64_t>(carried.size()), std::move(why)};
  return op.EmitRegions("loop", std::move(inputs), attrs, std::span(&loop.region, 1));
}

}  // namespace nn
