// Finds the operators of a float32 model that must stay float32 if the others compute in a narrower
// type.
// Design: docs/design/056-float32-search.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "exec/program.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn::against {

struct DtypeSearch {
  // The operators that can compute in the type, as those of the file.
  struct Operator {
    std::string op;     // OperatorOf()
    std::string value;  // NameOf() of its last result
    bool stays = false;
  };
  std::vector<Operator> operators;
  std::vector<Tensor> want;  // the outputs of the model
  std::vector<Tensor> got;   // with the operators that can change in the type
  uint64_t runs = 0;
};

// Whether outputs are close enough to those of the model.
using AcceptsOutputs =
    std::function<bool(const std::vector<Tensor>& want, const std::vector<Tensor>& got)>;

// Runs the model with operators in `dtype`, f16 or bf16: their operands and results are rounded to
// the type, and converted back. Operators that only move elements are not counted, because they
// round nothing. The operators that stay are necessary as a set: with any one of them in the type,
// too, the outputs were not accepted. There may be other such sets. `progress` is called after each
// run. kUsage if no operator computes in float32; errors of Program.
Result<DtypeSearch> SearchDtype(Graph graph, DType dtype, const std::vector<Tensor>& inputs,
                                const ProgramOptions& options, const AcceptsOutputs& accepts,
                                const std::function<void()>& progress = nullptr);

}  // namespace nn::against
