// What an interpreter for microcontrollers needs to run a model (ModelDescriber::MicroModelOf):
// TFLite for Microcontrollers plans the memory of all tensors before the first run, in one arena,
// and links only the operators that the application registers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nn {

struct MicroModel {
  struct Operator {
    std::string name;          // as OperatorSummary::op
    std::string registration;  // member of MicroMutableOpResolver: "AddConv2D"; "": it has none
    uint64_t count = 0;        // of operators in all subgraphs
  };
  // A tensor in the arena, from the first to the last step in which it is used.
  struct Placement {
    std::string tensor;
    int64_t subgraph = 0;
    uint64_t offset = 0, bytes = 0;  // multiples of kAlignment, unless planned by the file
    int64_t first = 0, last = 0;
  };
  static constexpr uint64_t kAlignment = 16;

  std::vector<Operator> operators;    // in the order of their first use
  std::vector<Placement> placements;  // in the order of the file
  uint64_t arena_bytes = 0;           // end of the last tensor
  uint64_t live_bytes = 0;            // most bytes in use in one step: no plan needs less
};

}  // namespace nn
