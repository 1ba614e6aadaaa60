// Non-maximum suppression of Core ML: of layers, and of operations of ML Programs.
#pragma once

#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/term.h"

namespace nn::coreml {

struct SuppressionLimits {
  Term most;   // a list of one number
  Term iou;    // a scalar, like `score`
  Term score;  // absent: every box passes
  bool by_class = false;
};

// Of boxes [B, N, 4] (center x, y, width, height) and scores [B, N, K]: the boxes that are selected
// for each batch, their scores, their indices, and their numbers. There are `most` results, filled
// up with zeros and the index -1; the graph's operator returns as many as there are. If no score
// passes, the box with the best one is selected; the operator selects none. Each box competes with
// its greatest score, in one row of scores, or with by_class in the row of the class of that score.
// Boxes and scores are f32, and indices and numbers i64.
Result<std::vector<Term>> Suppress(NodeInserter& to, Value* boxes, Value* scores,
                                   const SuppressionLimits& limits);

}  // namespace nn::coreml
