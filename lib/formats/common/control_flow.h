// Control flow of files, which the graph does not have: importers resolve it. A branch or a trip
// count that no run can change is inlined or unrolled; branches that a run decides between are all
// computed, and their results selected. Operators have no effects besides their results, so that
// the others do no harm, except that an operator that fails for its inputs ends the run in a branch
// that is not taken, too.
//
// Design: docs/design/019-control-flow.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ir/term.h"
#include "passes/facts/known_values.h"

namespace nn {

// Limit of all formats: operators and iterations of unrolled loops and inlined subgraphs, in all of
// a model; elements of a sequence.
inline constexpr int64_t kMaxUnrolled = int64_t{1} << 16;

// Limit of all formats: bytes of the constants that the iterations of all unrolled loops add, apart
// from those that they share.
inline constexpr uint64_t kMaxUnrolledBytes = uint64_t{1} << 30;

// What is left of these limits. An iteration of n operators takes n + 1.
class UnrollBudget {
 public:
  // Whether so many iterations of so many operators are left.
  bool Has(int64_t iterations, int64_t operators) const;
  // Takes an iteration; kUnsupported if it is not left.
  Status Take(int64_t operators);
  // Takes what is left, and says that it was too little.
  Status TakeAll();
  // Takes the bytes of the constants with larger ids than `last_id`; kUnsupported if they are too
  // many.
  Status TakeConstants(const Graph& graph, int64_t last_id);

 private:
  int64_t left_ = kMaxUnrolled;
  uint64_t bytes_left_ = kMaxUnrolledBytes;
};

// The time in which a loop is being unrolled, counted in the number of those around an operator.
class LoopScope {
 public:
  explicit LoopScope(int& loops) : loops_(loops) { ++loops_; }
  ~LoopScope() { --loops_; }
  LoopScope(const LoopScope&) = delete;
  LoopScope& operator=(const LoopScope&) = delete;

 private:
  int& loops_;
};

// Why contents are unknown at import, as the end of a sentence that begins with their name: "is
// computed when the model runs", "depends on dimension "n"; set it with ...", or, if the inputs
// that it depends on are small, "depends on input "n", which ...".
std::string WhyUnknown(const Value* value);
std::string WhyUnknown(const Dim& dim);

// Of branches that a run decides between: the error of one of them, or of CheckAlike(), as a reason
// against their operator. What one cannot compute for the shapes of its inputs is no error of the
// model, which may never take it. `why`: "the condition " and WhyUnknown().
Error InBranch(const Error& error, std::string_view why);

// Whether results of two branches can be selected by a run: they have the same type, with known
// rank. kUnsupported otherwise.
Status CheckAlike(const Type& a, const Type& b);

// A list of the nodes and unsupported nodes of an import, to return to.
class ImportMark {
 public:
  ImportMark(Graph& graph, std::vector<UnsupportedNode>& unsupported);

  // Whether the value has been added since.
  bool IsNew(const Value* v) const { return v->id() > last_id_; }
  // Whether there are more unsupported nodes.
  bool HasUnsupported() const { return unsupported_.size() > unsupported_count_; }
  // Erases all nodes that were added since; constants stay.
  void EraseNodes();
  // Takes back what an operator of control flow added before it failed. If it is unsupported, the
  // unsupported nodes stay listed, because what is unsupported in a subgraph is the reason.
  void Undo(const Error& error);

 private:
  Graph& graph_;
  std::vector<UnsupportedNode>& unsupported_;
  size_t node_count_;
  size_t unsupported_count_;
  int64_t last_id_;
};

// In an iteration of a loop: turns the results of an operator that no run changes into constants,
// which the next operators may require. Only values with larger ids than `last_id`, those of the
// operator, are changed, and nodes of the operator erased that nothing uses any more.
void FoldKnown(Graph& graph, KnownValues& known, std::span<Value* const> results, int64_t last_id);

// The id of the newest value; -1 if there is none.
int64_t LastId(const Graph& graph);

// The elements of `x` at an index on `axis`, without the axis.
Result<Value*> ElementAt(NodeInserter& to, Value* x, int64_t axis, int64_t index);

// The only element of `v` as a scalar.
Result<Value*> AsScalar(NodeInserter& to, Value* v);

// The inverse of ElementAt(): `parts`, at least one, along a new axis.
Result<Value*> Stack(NodeInserter& to, std::span<Value* const> parts, int64_t axis);

}  // namespace nn
