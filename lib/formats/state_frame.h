// The frame of a model that keeps states from run to run.
// Design: docs/design/018-states.md.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "formats/format.h"

namespace nn {

// For ExportOptions::frame: the written model keeps states itself. They are the last inputs and
// outputs of the graph, in this order, and are no inputs and outputs of the model. Only for formats
// whose import has such states (ImportedModel::states).
struct StateFrame final : NativeModel {
  std::shared_ptr<const NativeModel> frame;  // of ModelWriter::FrameOf
  std::vector<ModelState> states;
};

}  // namespace nn
