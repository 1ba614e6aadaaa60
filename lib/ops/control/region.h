// Subgraphs of operators.
#pragma once

#include <functional>
#include <span>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_def.h"
#include "ir/type.h"

namespace nn {

// Whether a run decides about a branch or a loop of the graph (OpDef::decided_by_runs).
bool IsDecidedByRuns(const Graph& graph);

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
