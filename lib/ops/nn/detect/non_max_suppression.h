// Selecting boxes by their scores.
#pragma once

#include <span>

#include "ir/attrs.h"

namespace nn {

// boxes [B, N, 4], scores [B, C, N] (f32), max_boxes (i64; absent: 0), iou_threshold (f32; absent:
// 0), score_threshold (f32; absent: every score passes). Each of the last three is one number.
//
// For each batch and each of the C rows of scores: the boxes whose score is greater than
// score_threshold, in descending order of their scores, those of equal scores in ascending order of
// their indices; NaN is the least. A box is selected unless its intersection over union with a box
// that the row has already selected is greater than iou_threshold, until max_boxes are selected.
//
// y [n, 3] (i64) holds the batch, the row and the index of each selected box; n is known only after
// the evaluation. A box is two opposite corners, y1, x1, y2, x2, or with center_point_box its
// center x, y, its width and its height. All arithmetic is float32.
struct NonMaxSuppressionAttrs {
  bool center_point_box = false;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
