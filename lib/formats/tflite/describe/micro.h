// The plan of TensorFlow Lite for Microcontrollers for a model.
#pragma once

#include "base/status.h"
#include "formats/common/describe/micro.h"
#include "formats/format.h"

namespace nn::tflite {

// Format::micro. The lifetimes of the tensors and the greedy placement by size are those of its
// MicroAllocator and GreedyMemoryPlanner, with offsets that the metadata "OfflineMemoryAllocation"
// states. Kernels may request scratch memory beyond that, and the interpreter keeps data of its own
// in the arena; both depend on the build. kUnsupported for tensors without a known size.
Result<MicroModel> MicroModelOf(const NativeModel& model);

}  // namespace nn::tflite
