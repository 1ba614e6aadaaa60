// The states of a graph that a written model keeps as resource variables: CALL_ONCE initializes
// them, and the main subgraph reads each before all else and assigns it at its end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "formats/tflite/export/export.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn::tflite {

// Without a frame, a graph has ports only. `options.frame` may be a StateFrame.
Result<ExportPlan> PlanOf(const Graph& graph, const ExportOptions& options);

// Writes what comes before the nodes of the graph, after the names of ports are claimed, and what
// comes after them.
class StateWriter {
 public:
  StateWriter(ExportContext& ctx, const ExportPlan& plan) : ctx_(ctx), plan_(plan) {}

  void Begin();
  void End();

 private:
  TensorIndex AddHandle(const ExportedState& state);

  ExportContext& ctx_;
  const ExportPlan& plan_;
  std::vector<TensorIndex> handles_;
};

}  // namespace nn::tflite
