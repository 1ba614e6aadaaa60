// What nninspect prints about one model, and its JSON form.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "formats/common/describe/micro.h"
#include "inspect/diff/diff.h"
#include "inspect/diff/digests.h"
#include "inspect/loaded.h"
#include "inspect/report/cost.h"
#include "inspect/report/node.h"
#include "inspect/report/overview.h"
#include "inspect/report/tensors.h"
#include "inspect/report/tree.h"
#include "inspect/report/values.h"
#include "nnsuite/inspect.h"

namespace nn::inspect {

// The parts of an inspection beside, or instead of, the summary.
struct Parts : nnsuite::ReportParts {
  bool table() const { return nodes || !op.empty(); }
  // Parts printed without the summary.
  bool parts() const {
    return !op.empty() || !node.empty() || tensors || values || tree || cost || hash;
  }
  // Sets what the parts need: whether there is a graph, and whether attributes are in full.
  // `summary`: the summary is printed, too.
  void SetNeeds(bool summary, LoadOptions& load) const;
};

struct Inspection {
  LoadedModel model;  // its native form and graph are freed
  Overview overview;
  std::vector<std::string> notes;  // why multiply-adds are unknown, or what they do not include

  // Optional parts.
  std::vector<size_t> table;  // operators to list
  std::optional<std::vector<NodeDetails>> node;
  std::optional<std::vector<TensorRow>> tensors;
  std::optional<std::vector<ValueEntry>> values;
  std::optional<TreeBranch> tree;
  std::optional<ModelCost> cost;
  // With `cost`, of formats that microcontrollers run.
  std::optional<Result<MicroModel>> micro;
  std::optional<GraphDigests> digests;
};

// The parts of a model that was loaded with their needs. kUsage for operators that the model does
// not have; messages name the options of nninspect.
Result<Inspection> InspectModel(LoadedModel model, const Parts& parts);

// The first members of every JSON report: its version and the tool.
Json ReportHead();

// Follows schemas/nninspect.schema.json.
Json InspectionJson(const Inspection& inspection, const Parts& parts);

// Follows schemas/nninspect-diff.schema.json.
Json DiffJson(const LoadedModel& a, const LoadedModel& b, const ModelDiff& diff);

}  // namespace nn::inspect
