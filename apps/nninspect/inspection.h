// The summary of a model and its optional parts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/nninspect/cost.h"
#include "apps/nninspect/loaded.h"
#include "apps/nninspect/node.h"
#include "apps/nninspect/options.h"
#include "apps/nninspect/tensors.h"
#include "apps/nninspect/tree.h"
#include "base/json.h"
#include "tensorio/graph_digest.h"

namespace nn::app {

// A type of operator that cannot be imported.
struct Unsupported {
  std::string op;
  std::string reason;
  uint64_t count = 0;
};

// An axis of an input or output with dynamic size.
struct DynamicAxis {
  bool is_output;
  std::string tensor;
  size_t axis;
};

struct Inspection {
  LoadedModel model;
  std::vector<std::pair<std::string, uint64_t>> histogram;  // most frequent first, then by name
  // Of the imported operators, with subgraphs counted once; nullopt: unknown.
  std::optional<uint64_t> multiply_adds;
  bool complete = false;           // all operators are counted
  std::vector<std::string> notes;  // on the multiply-adds
  std::vector<Unsupported> unsupported;
  // By symbol; unnamed axes have the empty symbol.
  std::map<std::string, std::vector<DynamicAxis>> dynamic;

  // Optional parts.
  std::vector<size_t> table;  // operators to list
  std::optional<std::vector<NodeDetails>> node;
  std::optional<std::vector<TensorRow>> tensors;
  std::optional<TreeBranch> tree;
  std::optional<Cost> cost;
  std::optional<GraphDigests> digests;
};

// Shapes from the options are used for the multiply-adds and shown in the summary's inputs and
// outputs.
Result<Inspection> Inspect(const InspectOptions& options);

// The value of an entry of TensorSummary::shape; nullopt for symbols.
std::optional<int64_t> FixedSize(const std::string& size);

// The requested parts as text, with the summary unless only parts were requested.
std::string InspectionText(const Inspection& inspection, const InspectOptions& options);
// Follows schemas/nninspect.schema.json.
Json InspectionJson(const Inspection& inspection, const InspectOptions& options);
// The requested table.
std::string InspectionCsv(const Inspection& inspection);

}  // namespace nn::app
