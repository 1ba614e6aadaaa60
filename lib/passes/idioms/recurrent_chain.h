// Chains of the steps of one recurrent layer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "passes/idioms/linear_form.h"
#include "passes/idioms/recurrent_cell.h"

namespace nn {

// Steps of one layer, with equal weights, in the order of processing.
struct RecurrentChain {
  std::vector<RecurrentCell> cells;  // two or more
  // The inputs of the first step, which are at one index of a sequence each; those of the others
  // are at the indices that follow, or precede it.
  std::vector<RowView> x;
  bool is_reverse = false;
  // The initial state; its value is null if it is zero.
  RowView old_h;

  // The views of a step that its products may have, by position.
  std::vector<RowView> InputsAt(size_t step) const;
};

// The chains in a graph; each cell is in one at most.
std::vector<RecurrentChain> RecurrentChains(const Graph& graph);

// The weights of one gate, by the unit first.
struct CellWeights {
  std::vector<std::vector<float>> w;  // by input of the chain
  std::vector<float> r;               // [H, H]
  std::vector<float> bias;            // [H]
  std::vector<float> peephole;        // [H]; empty without
};
// Those of a form in the given step of a chain.
CellWeights WeightsOf(const RecurrentChain& chain, size_t step, const LinearForm& form);

}  // namespace nn
