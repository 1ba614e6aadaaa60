// The summary of a model, and the parts that stand beside it.
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

// A kind of operator that cannot be imported.
struct Unsupported {
  std::string op;
  std::string reason;
  uint64_t count = 0;
};

// One axis of an input or output whose size the file leaves open.
struct DynamicAxis {
  bool is_output;
  std::string tensor;
  size_t axis;
};

struct Inspection {
  LoadedModel model;
  std::vector<std::pair<std::string, uint64_t>> histogram;  // most frequent first, then by name
  // Of the operators that could be imported, sub-graphs counted once; nullopt: not known.
  std::optional<uint64_t> multiply_adds;
  bool complete = false;           // whether those are all operators
  std::vector<std::string> notes;  // on the multiply-adds
  std::vector<Unsupported> unsupported;
  // By symbol; the empty symbol has the axes without name.
  std::map<std::string, std::vector<DynamicAxis>> dynamic;

  // What was asked for beside.
  std::vector<size_t> table;  // operators to be listed
  std::optional<std::vector<NodeDetails>> node;
  std::optional<std::vector<TensorRow>> tensors;
  std::optional<TreeBranch> tree;
  std::optional<Cost> cost;
  std::optional<GraphDigests> digests;
};

// Shapes that the options give are used for the multiply-adds and stand in the summary's inputs and
// outputs.
Result<Inspection> Inspect(const InspectOptions& options);

// The number that an entry of TensorSummary::shape is; nullopt for symbols.
std::optional<int64_t> FixedSize(const std::string& size);

// The summary, unless only parts of it were asked for, and what was asked for beside.
std::string InspectionText(const Inspection& inspection, const InspectOptions& options);
// As schemas/nninspect.schema.json has it.
Json InspectionJson(const Inspection& inspection, const InspectOptions& options);
// The one table that was asked for.
std::string InspectionCsv(const Inspection& inspection);

}  // namespace nn::app
