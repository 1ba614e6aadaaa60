// What nninspect prints about one model.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "apps/nninspect/options.h"
#include "base/status.h"
#include "formats/common/micro.h"
#include "inspect/cost.h"
#include "inspect/digests.h"
#include "inspect/loaded.h"
#include "inspect/node.h"
#include "inspect/overview.h"
#include "inspect/tensors.h"
#include "inspect/tree.h"
#include "inspect/values.h"

namespace nn::app {

struct Inspection {
  inspect::LoadedModel model;  // its native form and graph are freed before printing
  inspect::Overview overview;
  std::vector<std::string> notes;  // why multiply-adds are unknown, or what they do not include

  // Optional parts.
  std::vector<size_t> table;  // operators to list
  std::optional<std::vector<inspect::NodeDetails>> node;
  std::optional<std::vector<inspect::TensorRow>> tensors;
  std::optional<std::vector<ValueEntry>> values;
  std::optional<inspect::TreeBranch> tree;
  std::optional<inspect::ModelCost> cost;
  // With `cost`, of formats that microcontrollers run.
  std::optional<Result<MicroModel>> micro;
  std::optional<GraphDigests> digests;
};

// The limits and shapes of the arguments.
inspect::LoadOptions LoadOptionsOf(const InspectOptions& options);

// Shapes from the options are used for the multiply-adds and shown in the summary's inputs and
// outputs.
Result<Inspection> Inspect(const InspectOptions& options);

}  // namespace nn::app
