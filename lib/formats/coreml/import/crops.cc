#include "formats/coreml/import/crops.h"

#include <algorithm>

#include "ops/array/arrange/tile.h"
#include "ops/nn/resize/grid_sample.h"
#include "ops/support/term_ops.h"

namespace nn::coreml {
namespace {

// Limit of Core ML: height and width of the results of cropResize. Positions are computed as
// float32.
constexpr int64_t kMaxCropSize = int64_t{1} << 24;

Term ColumnOf(Term boxes, int64_t i) {
  return Slice(std::move(boxes), 1, i, i + 1);
}

// Repeats a value along a new axis of the leading two, and merges them.
Term ForEach(Value* v, const Dims& lead, int64_t axis) {
  const Dims rest(v->type().dims->begin() + 1, v->type().dims->end());
  if (lead[static_cast<size_t>(axis)] == 1 && lead[static_cast<size_t>(1 - axis)].is_const() &&
      v->type().dim(0) == lead[static_cast<size_t>(1 - axis)])
    return v;
  Dims dims = lead;
  dims.insert(dims.end(), rest.begin(), rest.end());
  const Term repeated = Apply("expand", {ExpandDims(v, {axis})}, ExpandAttrs{dims});
  dims.erase(dims.begin());
  dims[0] = Product(lead);
  return Reshape(repeated, std::move(dims));
}

class Crops {
 public:
  // Of images [B, C, H, W]; the four numbers of a box begin in column `first`.
  Crops(const CropOptions& options, const Dims& image, const Term& boxes, const Dim& count,
        int64_t first)
      : options_(options) {
    for (const size_t k : {0, 1}) {
      const int64_t length = image[2 + k].value(), size = options.target[k];
      const int64_t column = first + static_cast<int64_t>(options.is_width_first ? 1 - k : k);
      positions_[k] = Reshape(
          Positions(boxes, column, size, length),
          k == 0 ? Dims{count, Dim(size), Dim(1), Dim(1)} : Dims{count, Dim(1), Dim(size), Dim(1)});
      last_[k] = static_cast<float>(length - 1);
    }
    shape_ = {count, Dim(options.target[0]), Dim(options.target[1]), Dim(1)};
  }

  // The grid [N, height, width, 2] for grid_sample: from -1 for the first element to 1 for the last
  // one, the last axis first.
  Term Grid() const {
    std::vector<Term> axes;
    for (const size_t k : {1, 0}) {
      const Term at = positions_[k] * (last_[k] > 0 ? 2 / last_[k] : 0.0F) - 1;
      axes.push_back(Apply("expand", {at}, ExpandAttrs{shape_}));
    }
    return Concat(std::move(axes), 3);
  }

  // Whether positions are in the image: [N, 1, 1, height, width].
  Term IsInside() const {
    const auto is_inside = [&](size_t k) {
      return And(GreaterEqual(positions_[k], 0), LessEqual(positions_[k], last_[k]));
    };
    return Reshape(And(is_inside(0), is_inside(1)),
                   {shape_[0], Dim(1), Dim(1), shape_[1], shape_[2]});
  }

 private:
  // [N, size] on an axis of `length` elements.
  Term Positions(const Term& boxes, int64_t column, int64_t size, int64_t length) const {
    const float scale =
        options_.scale * (options_.is_normalized ? static_cast<float>(length - 1) : 1.0F);
    Term begin = ColumnOf(boxes, column), end = ColumnOf(boxes, column + 2);
    if (options_.is_centered) {
      const Term center = begin, half = end * 0.5;
      end = center + half;
      begin = center - half;
    }
    begin = begin * scale;
    return Spread(begin, end * scale - begin, size);
  }

  Term Spread(Term begin, Term extent, int64_t size) const {
    const bool aligns = options_.sampling == CropSampling::kAlign ||
                        options_.sampling == CropSampling::kStrictAlign;
    const bool is_half = options_.sampling == CropSampling::kOffset ||
                         options_.sampling == CropSampling::kUnalign ||
                         (options_.sampling == CropSampling::kAlign && size == 1);
    if (options_.sampling == CropSampling::kOffset)
      extent = Maximum(extent, 1);
    else if (!aligns)
      extent = extent + 1;
    if (options_.sampling == CropSampling::kUnalign) begin = begin - 0.5;
    const auto divisor = static_cast<float>(aligns && size > 1 ? size - 1 : size);
    std::vector<float> parts;
    for (int64_t i = 0; i < size; ++i)
      parts.push_back((static_cast<float>(i) + (is_half ? 0.5F : 0.0F)) / divisor);
    return extent * Tensor::Of({1, size}, parts) + begin;
  }

  const CropOptions& options_;
  Term positions_[2];  // on the axes of the image
  float last_[2];
  Dims shape_;
};

Status CheckOperands(const Value* x, const Value* boxes, const CropOptions& options) {
  const auto& target = options.target;
  if (target[0] < 1 || target[1] < 1)
    return ModelError("targetSize is {} x {}; both must be 1 or more", target[0], target[1]);
  if (std::max(target[0], target[1]) > kMaxCropSize)
    return LimitError("targetSize is {} x {}; the limit is {}", target[0], target[1], kMaxCropSize);
  if (!x->type().dim(2).is_const() || !x->type().dim(3).is_const())
    return UnsupportedError("crops of an image of dynamic size are unsupported");
  const Dim& columns = boxes->type().dim(1);
  if (!(columns == 4) && !(columns == 5))
    return ModelError("the boxes are {}; expected 4 or 5 numbers for each",
                      boxes->type().ToString());
  return {};
}

}  // namespace

Result<Term> ResizedCrops(NodeInserter& to, Value* x, Value* boxes, const CropOptions& options) {
  NN_RETURN_IF_ERROR(CheckOperands(x, boxes, options));
  const Dims image = *x->type().dims;
  const Dim count = boxes->type().dim(0);
  const bool is_numbered = boxes->type().dim(1) == 5;
  const Crops crops(options, image, boxes, count, is_numbered ? 1 : 0);
  Term images = x, grid = crops.Grid();
  Dims lead = {count, image[0]};
  if (is_numbered) {
    lead[1] = 1;
    images = Gather(x, Reshape(Cast(ColumnOf(boxes, 0), DType::kI64), {count}), 0);
  } else {
    NN_ASSIGN(Value* const built, to.Build(grid));
    images = ForEach(x, lead, 0);
    grid = ForEach(built, lead, 1);
  }
  const Term y =
      Reshape(Apply("grid_sample", {images, grid},
                    GridSampleAttrs{.padding = GridPadding::kBorder, .align_corners = true}),
              {lead[0], lead[1], image[1], Dim(options.target[0]), Dim(options.target[1])});
  return options.pad ? Select(crops.IsInside(), y, *options.pad) : y;
}

}  // namespace nn::coreml
