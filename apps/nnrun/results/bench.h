// The latency of a program (--bench).
#pragma once

#include <span>

#include "apps/nnrun/options.h"
#include "base/status.h"
#include "exec/program.h"
#include "ir/tensor.h"

namespace nn::app {

// Times the program (--bench).
Status RunBench(const Program& program, std::span<const Tensor> inputs, const RunOptions& options,
                RunReport& report);

}  // namespace nn::app
