// Changes that make a graph smaller before it is written: simplification, and numbers of 16 bits.
#pragma once

#include <cstdint>
#include <set>

#include "base/status.h"
#include "convert/convert.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "rewrite/legalize.h"

namespace nn {

// Whether the format writes the node as one operator, which may depend on the operator set.
bool IsOneOperator(const Node& node, const Format& format, const ExportOptions& options);

// Simplifies the graph. True if it is legal, so that it needs no legalization, which may move
// transposes to more nodes that move fewer elements.
Result<bool> SimplifyFor(const Target& target, Graph& graph, InterfaceAxes& axes,
                         RewriteCounts& rewrites);

// Applies ConvertOptions::half; the last `states` inputs and outputs have the type, too. `runs`
// measure the ranges of values. kUsage for a quantized model, kUnsupported if nothing can be
// changed.
Status HalveSource(Graph& graph, const Format& format, const ConvertJob& options, size_t states,
                   const VerifyOptions& runs, Conversion& out);

// Whether the graph has weights that the source file has in blocks.
bool HasBlocks(const Graph& graph);
// Makes weights that the source file has in blocks numbers that none keeps in blocks.
Status ForgetBlocks(Graph& graph);

// The types in 16 or 8 bits that large constants of the graph have.
std::set<DType> NarrowWeights(const Graph& graph);

// Stores large constants of a legalized graph as integers of 8 bits or in 16 bits, in bf16 only if
// it is among `types`, and widens them, if that holds each of their numbers exactly and the target
// has the graph then, too; nothing if there are no `types` (NarrowWeights() of the source). What a
// source stores so was folded, so that everything before knows it as constants.
Status StoreNarrowWeights(Graph& fitted, const Target& target, const std::set<DType>& types);

// kUnsupported if nothing in the legalized graph has the type, and the format's writer stores no
// constants in it.
Status CheckHalved(const Graph& fitted, const Format& format, const ExportOptions& output,
                   const HalfOptions& options);

}  // namespace nn
