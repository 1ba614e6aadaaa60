#include "formats/common/control_flow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "formats/common/known_inputs.h"
#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"

namespace nn {
namespace {

constexpr std::string_view kAtRunTime = "is computed when the model runs";

}  // namespace

bool UnrollBudget::Has(int64_t iterations, int64_t operators) const {
  return iterations <= left_ / (operators + 1);
}

Status UnrollBudget::Take(int64_t operators) {
  if (!Has(1, operators)) return TakeAll();
  left_ -= operators + 1;
  return {};
}

Status UnrollBudget::TakeAll() {
  left_ = 0;
  return UnsupportedError(
      "the subgraphs of the model have more than {} operators when inlined, and loops unrolled",
      kMaxUnrolled);
}

Status UnrollBudget::TakeConstants(const Graph& graph, int64_t last_id) {
  const auto& values = graph.values();
  for (auto v = values.rbegin(); v != values.rend() && v->id() > last_id; ++v) {
    if (!v->is_constant()) continue;
    const uint64_t bytes = v->constant().byte_size();
    if (bytes > bytes_left_) {
      bytes_left_ = 0;
      return UnsupportedError("the constants of the model's loops have more than {} when unrolled",
                              HumanBytes(kMaxUnrolledBytes));
    }
    bytes_left_ -= bytes;
  }
  return {};
}

namespace {

std::string DependsOn(const std::set<std::string>& symbols) {
  std::vector<std::string> names;
  for (const std::string& s : symbols) {
    if (InferContext::IsNewSymbol(s)) return std::string(kAtRunTime);
    names.push_back(Quote(s));
  }
  if (names.empty()) return std::string(kAtRunTime);
  return fmt::format("depends on the dynamic dimension{} {}; set it with --input-shape or --batch",
                     names.size() == 1 ? "" : "s", fmt::join(names, ", "));
}

}  // namespace

std::string WhyUnknown(const Dim& dim) {
  std::set<std::string> symbols;
  dim.CollectSymbols(symbols);
  return DependsOn(symbols);
}

namespace {

// Whether it is an input of so few numbers that a user can state them.
bool IsSetting(const Value* input) {
  const auto dims = input->type().const_dims();
  return !input->name().empty() && dims &&
         CheckedElements(*dims).value_or(kFewNumbers + 1) <= kFewNumbers;
}

}  // namespace

std::string WhyUnknown(const Value* value) {
  constexpr size_t kMaxValues = 4096;
  std::set<std::string> symbols;
  std::set<std::string> settings;
  std::unordered_set<const Value*> seen = {value};
  std::vector<const Value*> open = {value};
  while (!open.empty()) {
    const Value* const v = open.back();
    open.pop_back();
    if (v->is_constant()) continue;
    if (v->elements() != nullptr) {
      for (const Dim& d : *v->elements()) d.CollectSymbols(symbols);
      continue;
    }
    if (seen.size() > kMaxValues) return std::string(kAtRunTime);
    if (v->def() == nullptr) {
      if (!IsSetting(v)) return std::string(kAtRunTime);
      settings.insert(Quote(v->name()));
      continue;
    }
    for (const Value* x : v->def()->inputs())
      if (x != nullptr && seen.insert(x).second) open.push_back(x);
  }
  if (settings.empty()) return DependsOn(symbols);
  return fmt::format("depends on {} {}, which nnconvert --fix-input makes {}",
                     settings.size() == 1 ? "input" : "inputs", fmt::join(settings, ", "),
                     settings.size() == 1 ? "a constant" : "constants");
}

Status CheckAlike(const Type& a, const Type& b) {
  const bool same_quant =
      a.quant == b.quant || (a.quant && b.quant && a.quant->SameMapping(*b.quant));
  if (a.dtype == b.dtype && a.ranked() && a.dims == b.dims && same_quant) return {};
  return UnsupportedError("branches with results of different types, {} and {}, are unsupported",
                          a.ToString(), b.ToString());
}

Error InBranch(const Error& error, std::string_view why) {
  if (error.code() != ErrorCode::kModel && error.code() != ErrorCode::kUnsupported) return error;
  return UnsupportedError("{}: {}", why, error.message()).value();
}

ImportMark::ImportMark(Graph& graph, std::vector<UnsupportedNode>& unsupported)
    : graph_(graph),
      unsupported_(unsupported),
      node_count_(graph.nodes().size()),
      unsupported_count_(unsupported.size()),
      last_id_(LastId(graph)) {}

void ImportMark::EraseNodes() {
  // An importer may also insert nodes before others, so those to erase need not be the last. A node
  // without outputs stays if it uses none of the values that go.
  const auto is_new = [&](const Node& node) {
    const auto values = node.outputs().empty() ? node.inputs() : node.outputs();
    return std::ranges::any_of(values, [&](const Value* v) { return v != nullptr && IsNew(v); });
  };
  auto& nodes = graph_.nodes();
  for (auto it = nodes.end(); nodes.size() > node_count_ && it != nodes.begin();) {
    Node& node = *--it;
    if (!is_new(node)) continue;
    ++it;
    graph_.Erase(&node);
  }
}

void ImportMark::Undo(const Error& error) {
  EraseNodes();
  if (error.code() != ErrorCode::kUnsupported) unsupported_.resize(unsupported_count_);
}

int64_t LastId(const Graph& graph) {
  return graph.values().empty() ? -1 : graph.values().back().id();
}

void FoldKnown(Graph& graph, KnownValues& known, std::span<Value* const> results, int64_t last_id) {
  const auto is_new = [&](const Value* v) {
    return v != nullptr && v->def() != nullptr && v->id() > last_id;
  };
  const auto is_unused = [&](const Value* v) {
    return v->uses().empty() && std::ranges::find(results, v) == results.end();
  };
  std::vector<Node*> nodes;
  for (Value* v : results) {
    if (!is_new(v)) continue;
    Node* const node = v->def();
    const Tensor* const contents = known.Of(v);
    if (contents == nullptr || contents->elements() > InferContext::kMaxElements) continue;
    graph.MakeConstant(v, *contents);
    if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
  }
  while (!nodes.empty()) {
    Node* const node = nodes.back();
    nodes.pop_back();
    if (!std::ranges::all_of(node->outputs(), is_unused)) continue;
    for (Value* x : node->inputs())
      if (is_new(x) && std::ranges::find(nodes, x->def()) == nodes.end()) nodes.push_back(x->def());
    graph.Erase(node);
  }
}

Result<Value*> ElementAt(NodeInserter& to, Value* x, int64_t axis, int64_t index) {
  NN_ASSIGN(Value* const part, to.Add("slice", {x}, SliceAttrs{{axis}, {index}, {index + 1}, {}}));
  return to.Add("squeeze", {part}, AxesAttrs{{axis}});
}

Result<Value*> AsScalar(NodeInserter& to, Value* v) {
  if (v->type().ranked() && v->type().rank() == 0) return v;
  return to.Add("reshape", {v}, ReshapeAttrs{});
}

Result<Value*> Stack(NodeInserter& to, std::span<Value* const> parts, int64_t axis) {
  std::vector<Value*> expanded;
  for (Value* v : parts) {
    NN_ASSIGN(Value* const one, to.Add("expand_dims", {v}, AxesAttrs{{axis}}));
    expanded.push_back(one);
  }
  if (expanded.size() == 1) return expanded[0];
  return to.Add("concat", std::move(expanded), ConcatAttrs{axis});
}

}  // namespace nn
