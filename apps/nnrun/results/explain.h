// The plan of a program (--explain-plan).
#pragma once

#include <string>

#include "apps/nnrun/options.h"
#include "exec/program.h"

namespace nn::app {

// Reports the plan (Program::Explain).
void DescribePlan(const Program& program, const RunOptions& options, RunReport& report);

// "f32[1, 16, 16, 16]".
std::string TypeText(const OperandInfo& operand);

}  // namespace nn::app
