// Native edits of ONNX models: Format::flow and Format::edit.
#pragma once

#include <memory>

#include "base/status.h"
#include "formats/common/edit/native_edit.h"
#include "formats/format.h"

namespace nn::onnx {

// Main graphs only. Values that subgraphs capture are inputs of their operator.
Result<NativeFlow> FlowOf(const NativeModel& model);

// A model with training information, which refers to all of the graph, must keep its operators,
// inputs and outputs (kUnsupported). The nodes of the edited model are in topological order. Names
// inside of functions change only by Strip::names, without those of their inputs and outputs.
Result<std::unique_ptr<NativeModel>> ApplyEdit(const NativeModel& model, const NativeEdit& edit);

}  // namespace nn::onnx
