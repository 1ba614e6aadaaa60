// The frame of a model that keeps states from run to run.
// Design: docs/design/018-states.md.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "formats/format.h"

namespace nn {

// For ExportOptions::frame: the written model keeps states itself. They are the last inputs and
// outputs of the graph, in this order, and are no inputs and outputs of the model. Only if the
// frame of the source is one of a model with states, or ModelWriter::KeepsStates().
struct StateFrame final : NativeModel {
  std::shared_ptr<const NativeModel> frame;  // of ModelWriter::FrameOf; may be null
  std::vector<ModelState> states;
};

}  // namespace nn
