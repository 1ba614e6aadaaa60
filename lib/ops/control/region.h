// Subgraphs of operators.
// Design: docs/design/020-regions.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_def.h"
#include "ir/types/type.h"

namespace nn {

// Whether a run decides about a branch or a loop of the graph (OpDef::decided_by_runs).
bool IsDecidedByRuns(const Graph& graph);

// Which values of a node with regions and of its regions correspond.
class RegionPorts {
 public:
  // A loop or a branch.
  explicit RegionPorts(const Node& node);

  // The operand of which input i of a region has the contents, at first if it is carried; nullopt
  // for the number of the iteration.
  std::optional<size_t> OperandOf(size_t i) const;
  // The input of the regions for an operand; nullopt for conditions and trip counts.
  std::optional<size_t> InputFor(size_t operand) const;
  // The result of which output i of a region has the contents, of an element if it is stacked;
  // nullopt for the condition of a loop.
  std::optional<size_t> ResultOf(size_t i) const;
  // The output of the regions for a result.
  size_t OutputFor(size_t result) const { return result + (is_loop_ ? 1 : 0); }

  bool is_loop() const { return is_loop_; }
  // The results that are carried are the first ones, and their operands, from first_carried() on,
  // are in the same order.
  size_t carried() const { return carried_; }
  size_t first_carried() const { return 2; }
  bool IsStacked(size_t result) const { return is_loop_ && result >= carried_; }

 private:
  bool is_loop_;
  size_t carried_;
};

// Calls `pass` for the regions of a node, or of all nodes of a graph, but not for those in regions.
Status ForEachRegion(const Node& node, const std::function<Status(Graph&)>& pass);
Status ForEachRegion(const Graph& graph, const std::function<Status(Graph&)>& pass);

// Whether it is true for any of these regions.
bool AnyRegion(const Graph& graph, const std::function<bool(const Graph&)>& is_true);

// The number of nodes for which it is true, also in regions at any depth.
int64_t CountNodes(const Graph& graph, const std::function<bool(const Node&)>& is_true);

// Infers a region anew for inputs of these types, whatever its values were before. Dimensions that
// inference made up outside of the region get names of the region.
Status InferRegion(Graph& region, std::span<const Type> inputs);

// The type of a result of a region for the graph around it, in which the dimensions that inference
// made up in the region have no meaning.
Type OutsideType(const Type& type, InferContext& ctx);

// Whether sizes of `a` differ from those of `b`, which then get new symbols in `a`, or an unknown
// rank. kUnsupported for other element types or quantizations.
Result<bool> Widen(Type& a, const Type& b, const std::function<Dim()>& new_symbol);

// How often the types of carried values are widened size by size. A change may pass from one value
// to the next, but after so many rounds, WidenAll() ends that.
inline constexpr int kMaxWidenings = 16;
// All sizes get new symbols.
void WidenAll(std::span<Type> types, const std::function<Dim()>& new_symbol);

}  // namespace nn
