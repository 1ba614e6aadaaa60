// Selecting boxes of one list by their scores, which overlaps lower.
#pragma once

#include <cstddef>

namespace nn {

// boxes [N, 4] (opposite corners y1, x1, y2, x2), scores [N], max_boxes (i64), iou_threshold,
// score_threshold and sigma (f32; the last four are one number each).
//
// The candidates are the boxes whose score is greater than score_threshold. The one with the
// highest score (of equal ones the one with the lowest index; NaN is no candidate) is compared with
// the boxes selected since its last comparison, the latest first. It is dropped if an intersection
// over union is at least iou_threshold. With a sigma greater than 0 its score is multiplied by
// exp(-0.5 / sigma * iou * iou) each time, until it is not greater than score_threshold; then it is
// dropped, and if the score changed, the box is a candidate with the new score. Otherwise it is
// selected, until max_boxes are.
//
// y [n] (i64) are the indices of the selected boxes, y_scores [n] their scores; n is known only
// after the evaluation. All arithmetic is float32. Source: tflite/kernels/internal/reference/
// non_max_suppression.h.
enum SoftNmsInput : size_t {
  kSoftNmsBoxes,
  kSoftNmsScores,
  kSoftNmsMaxBoxes,
  kSoftNmsIouThreshold,
  kSoftNmsScoreThreshold,
  kSoftNmsSigma
};

}  // namespace nn
