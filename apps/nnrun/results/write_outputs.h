// Files of outputs (--output) and inputs (--save-inputs).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "apps/nnrun/options.h"
#include "base/status.h"
#include "ir/tensor.h"
#include "tensorio/named_tensor.h"

namespace nn::app {

// kUsage if --output or --save-inputs has another extension, or is a file that the run reads.
Status CheckOutputPath(const RunOptions& options);
// Writes the outputs, of which `count` are those of the graph, in the form that the extension says:
// .npz, .safetensors, .json, or .npy and .pb for one output. "-": .npz to standard output.
Status WriteOutputs(const std::string& path, std::span<const NamedTensor> outputs, size_t count);
// Writes the inputs of the run by position, without those that became constants.
Status SaveInputs(const RunOptions& options, std::span<const Tensor> inputs);

}  // namespace nn::app
