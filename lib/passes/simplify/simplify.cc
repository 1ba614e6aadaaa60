#include "passes/simplify/simplify.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/op_def.h"
#include "ops/control/region.h"
#include "ops/math/random.h"
#include "passes/core/passes.h"
#include "passes/idioms/idioms.h"
#include "rewrite/rewrite.h"

namespace nn {
namespace {

// Each round removes what the one before made redundant; deeper chains are rare.
constexpr int kMaxSimplifyRounds = 8;

size_t Mixed(size_t seed, size_t value) {
  return static_cast<size_t>((seed ^ value) * uint64_t{0x9E3779B97F4A7C15});
}

// ---- Constants

// Deferred contents would have to be computed and kept.
bool IsComparable(const Value& v) {
  return v.is_constant() && v.dtype() != DType::kString && !v.constant().blob().is_deferred();
}

size_t TypeHash(const Value& v) {
  size_t hash = static_cast<size_t>(v.dtype());
  for (const int64_t d : v.constant().dims()) hash = Mixed(hash, static_cast<size_t>(d));
  return hash;
}

bool AreEqualConstants(const Value& a, const Value& b) {
  return a.type() == b.type() && a.constant().Identical(b.constant());
}

void MergeConstants(Graph& graph, uint64_t& merged) {
  std::unordered_map<size_t, std::vector<Value*>> by_type;
  for (Value& v : graph.values())
    if (IsComparable(v)) by_type[TypeHash(v)].push_back(&v);
  for (auto& [type, values] : by_type) {
    if (values.size() < 2) continue;
    // In order of creation, so that the first one stays.
    std::ranges::sort(values, {}, [](const Value* v) { return v->id(); });
    std::unordered_map<size_t, std::vector<Value*>> by_contents;
    for (Value* v : values) {
      const Blob& blob = v->constant().blob();
      const std::string_view bytes(reinterpret_cast<const char*>(blob.data()), blob.size());
      auto& equals = by_contents[std::hash<std::string_view>()(bytes)];
      const auto first =
          std::ranges::find_if(equals, [&](const Value* e) { return AreEqualConstants(*e, *v); });
      if (first == equals.end()) {
        equals.push_back(v);
      } else if (!graph.IsOutput(v) && !v->uses().empty()) {
        graph.ReplaceUses(v, *first);
        ++merged;
      }
    }
  }
}

// ---- Nodes

bool MayMerge(const Graph& graph, const Node& node) {
  if (node.op().is_check || node.op().is_opaque || !node.regions().empty() || IsRandom(node))
    return false;
  return std::ranges::none_of(node.outputs(), [&](const Value* v) { return graph.IsOutput(v); });
}

size_t NodeHash(const Node& node) {
  size_t hash = std::hash<const OpDef*>()(&node.op());
  for (const Value* v : node.inputs()) hash = Mixed(hash, std::hash<const Value*>()(v));
  return hash;
}

bool AreEqualNodes(const Node& a, const Node& b) {
  return &a.op() == &b.op() && std::ranges::equal(a.inputs(), b.inputs()) &&
         a.arithmetic() == b.arithmetic() && a.attrs() == b.attrs() &&
         std::ranges::equal(a.outputs(), b.outputs(),
                            [](const Value* x, const Value* y) { return x->type() == y->type(); });
}

}  // namespace

Result<bool> MergeDuplicates(Graph& graph, RewriteCounts* counts) {
  uint64_t constants = 0;
  MergeConstants(graph, constants);
  bool changed = constants != 0;
  if (counts != nullptr && constants != 0) (*counts)[{"constant", kDuplicateRewrite}] += constants;
  std::unordered_map<size_t, std::vector<Node*>> seen;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node& node = *it++;
    auto& equals = seen[NodeHash(node)];
    const auto first =
        std::ranges::find_if(equals, [&](const Node* e) { return AreEqualNodes(*e, node); });
    if (first == equals.end()) {
      if (!IsRandom(node)) equals.push_back(&node);
      continue;
    }
    if (!MayMerge(graph, node)) continue;
    if (counts != nullptr) ++(*counts)[{node.op_name(), kDuplicateRewrite}];
    graph.Replace(&node, (*first)->outputs());
    changed = true;
  }
  if (changed) graph.EraseDeadValues();
  return changed;
}

namespace {

Result<bool> ApplyRewrites(Graph& graph, std::span<const Rewrite> rewrites, RewriteCounts* counts) {
  const auto rewrite = [&](Node& node) -> Result<std::string_view> {
    for (const Rewrite& r : rewrites) {
      if (!r.op.empty() && !node.Is(r.op)) continue;
      NN_ASSIGN(const bool done, r.apply(graph, node));
      if (done) return r.name;
    }
    return std::string_view();
  };
  return RewriteNodes(graph, "simplification", rewrite, counts);
}

}  // namespace

Status RemoveRedundant(Graph& graph, RewriteCounts* counts) {
  NN_RETURN_IF_ERROR(ForEachRegion(graph, [&](Graph& g) { return RemoveRedundant(g, counts); }));
  for (int round = 0; round < kMaxSimplifyRounds; ++round) {
    NN_ASSIGN(const bool merged, MergeDuplicates(graph, counts));
    NN_ASSIGN(const bool dropped, ApplyRewrites(graph, SimplifyRewrites().first(1), counts));
    if (!merged && !dropped) break;
  }
  return RemoveDeadCode(graph);
}

namespace {

Status JoinConversionsWithin(Graph& graph) {
  NN_RETURN_IF_ERROR(ForEachRegion(graph, JoinConversionsWithin));
  return ApplyRewrites(graph, SimplifyRewrites().first(2), nullptr).map([](bool) {});
}

}  // namespace

Status JoinConversions(Graph& graph) {
  NN_RETURN_IF_ERROR(FoldConstants(graph));
  NN_RETURN_IF_ERROR(JoinConversionsWithin(graph));
  return RemoveRedundant(graph);
}

Status Simplify(Graph& graph, RewriteCounts* counts) {
  IdiomOptions idioms;
  idioms.moves_only = true;
  NN_RETURN_IF_ERROR(FoldConstants(graph));
  NN_RETURN_IF_ERROR(ForEachRegion(graph, [&](Graph& g) { return Simplify(g, counts); }));
  for (int round = 0; round < kMaxSimplifyRounds; ++round) {
    if (round != 0) NN_RETURN_IF_ERROR(FoldConstants(graph));
    NN_ASSIGN(const bool merged, MergeDuplicates(graph, counts));
    NN_ASSIGN(const bool rewritten, ApplyRewrites(graph, SimplifyRewrites(), counts));
    NN_ASSIGN(const auto fused, FuseIdioms(graph, idioms));
    if (counts != nullptr)
      for (const auto& [op, count] : fused) (*counts)[{op, kIdiomRewrite}] += count;
    NN_RETURN_IF_ERROR(RemoveDeadCode(graph));
    if (!merged && !rewritten && fused.empty()) break;
  }
  return {};
}

}  // namespace nn
