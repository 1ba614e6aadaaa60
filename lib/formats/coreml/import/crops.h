// Resized crops of images: of layers, and of operations of ML Programs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/term.h"

namespace nn::coreml {

// Where `size` positions from b to e are.
enum class CropSampling : uint8_t {
  kAlign,        // from b to e; one in the middle
  kStrictAlign,  // from b to e; one at b
  kUpsample,     // from b on, (e - b + 1) / size apart
  kOffset,       // max(1, e - b) / size apart, the first one half of that after b
  kUnalign,      // (e - b + 1) / size apart, the first one half of that after b - 1/2
};

struct CropOptions {
  std::vector<int64_t> target;  // height and width
  CropSampling sampling = CropSampling::kUpsample;
  bool is_width_first = false;  // of two numbers of a box
  bool is_centered = false;     // boxes are centers and sizes, not corners
  bool is_normalized = false;   // positions are from 0 to 1
  float scale = 1;              // of the numbers of boxes
  // Of positions outside of the image; absent: they count as the nearest ones inside.
  std::optional<float> pad = {};
};

// Samples boxes [N, 4 or 5] of images x [B, C, H, W]: each box in each image, [N, B, C, height,
// width], or with the number of an image as the first of five in that image, [N, 1, C, height,
// width].
Result<Term> ResizedCrops(NodeInserter& to, Value* x, Value* boxes, const CropOptions& options);

}  // namespace nn::coreml
