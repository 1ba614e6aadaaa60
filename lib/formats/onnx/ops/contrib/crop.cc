// CropAndResize of com.microsoft, as ONNX Runtime computes it on the CPU.
//
// Box r, [y1, x1, y2, x2] with 0 and 1 for the centers of the first and last element of an axis, is
// cut from image batch_indices[r] and sampled at positions that divide it evenly, its corners
// included; a single position is in the middle. Positions outside the image have
// extrapolation_value.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/heads.h"
#include "ops/array/arrange/slice.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

class CropAndResize {
 public:
  explicit CropAndResize(ImportContext& ctx) : ctx_(ctx) {}

  Status Import() {
    NN_RETURN_IF_ERROR(ReadOperands());
    const Axis y = Sample(0, height_);
    const Axis x = Sample(1, width_);
    Term out = Pixels(y.low, x.low);
    if (!nearest_) {
      const Term x_weight = ExpandDims(x.weight, {1, 3});
      const Term top = Between(out, Pixels(y.low, x.high), x_weight);
      const Term bottom = Between(Pixels(y.high, x.low), Pixels(y.high, x.high), x_weight);
      out = Between(top, bottom, ExpandDims(y.weight, {2, 3}));
    }
    const Term inside = And(ExpandDims(y.inside, {2, 3}), ExpandDims(x.inside, {1, 3}));
    out = Select(inside, out, ctx_.Float("extrapolation_value", 0));
    out = Transpose(out, {0, 3, 1, 2});
    return ctx_.EmitTerm(As(out, real_, result_));
  }

 private:
  // What the positions on one axis of the image need, [boxes, positions] each.
  struct Axis {
    Term low;     // the element at or before a position, or the nearest one
    Term high;    // the element at or after it
    Term weight;  // of `high`
    Term inside;  // whether the position is inside the image
  };

  Status ReadOperands() {
    const std::string mode = ctx_.String("mode", "bilinear");
    nearest_ = mode == "nearest";
    if (!nearest_ && mode != "bilinear") return ModelError("unknown mode {}", Quote(mode));
    Value* const x = ctx_.input(0);
    NN_RETURN_IF_ERROR(RequireRanks(ctx_, x, "X", 4, 4));
    result_ = x->dtype();
    real_ = result_ == DType::kF64 ? DType::kF64 : DType::kF32;
    Value* const boxes = ctx_.input(1);
    NN_RETURN_IF_ERROR(RequireRanks(ctx_, boxes, "rois", 2, 2));
    boxes_ = As(boxes, real_);
    Value* const images = ctx_.input(2);
    NN_RETURN_IF_ERROR(RequireRanks(ctx_, images, "batch_indices", 1, 1));
    NN_ASSIGN(Value* const size, Folded(ctx_, ctx_.input(3)));
    if (!size->is_constant())
      return UnsupportedError("CropAndResize whose crop_size is not constant");
    size_ = size->constant().ToInts();
    if (size_.size() != 2 || size_[0] < 1 || size_[1] < 1)
      return ModelError("crop_size must have 2 numbers of at least 1");

    height_ = SizeOfAxis(x, 2);
    width_ = SizeOfAxis(x, 3);
    first_row_ = ExpandDims(As(images, DType::kI64), {1}) * height_;
    pixels_ = Reshape(Transpose(As(x, real_), {0, 2, 3, 1}), {Dim(-1), x->type().dim(1)});
    return {};
  }

  Term Column(int64_t i) const {
    return Apply("slice", {boxes_}, SliceAttrs{{1}, {i}, {i + 1}, {}});
  }

  // The positions between the columns `begin` and `begin` + 2 of the boxes, where the last element
  // is at `last`.
  Term Positions(int64_t begin, int64_t count, const Term& last) const {
    const Term from = Column(begin), to = Column(begin + 2);
    if (count == 1) return (from + to) * 0.5 * last;
    const Term first_corner = from * last, last_corner = to * last;
    const auto steps = static_cast<double>(count - 1);
    std::vector<float> numbers(static_cast<size_t>(count));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    const Term index = As(Tensor::Of({1, count}, numbers), DType::kF32, real_);
    const Term at = first_corner + index * ((to - from) * last / steps);
    // The corners are exact.
    return Select(Equal(index, 0), first_corner, Select(Equal(index, steps), last_corner, at));
  }

  // Samples axis `begin` of the boxes, which has `size` elements in the image.
  Axis Sample(int64_t begin, const Term& size) const {
    const Term last = Cast(size - 1, real_);
    const Term any = Positions(begin, size_[static_cast<size_t>(begin)], last);
    Axis axis;
    axis.inside = And(GreaterEqual(any, 0), LessEqual(any, last));
    const Term at = Select(axis.inside, any, 0);
    const Term floor = Apply("floor", {at});
    axis.weight = at - floor;
    axis.low = Cast(floor, DType::kI64);
    if (nearest_) {
      // Halves are rounded up.
      axis.low = Select(GreaterEqual(axis.weight, 0.5), axis.low + 1, axis.low);
    } else {
      axis.high = Cast(Apply("ceil", {at}), DType::kI64);
    }
    return axis;
  }

  // The pixels [boxes, rows, columns, channels] at rows [boxes, rows] and columns of the images.
  Term Pixels(const Term& rows, const Term& columns) const {
    const Term starts = (first_row_ + rows) * width_;
    return Gather(pixels_, ExpandDims(starts, {2}) + ExpandDims(columns, {1}), 0);
  }

  static Term Between(const Term& a, const Term& b, const Term& weight) {
    return a + (b - a) * weight;
  }

  ImportContext& ctx_;
  bool nearest_ = false;
  DType result_ = DType::kF32, real_ = DType::kF32;  // of the result and the computation
  Term pixels_;                                      // of all images, [pixels, channels]
  Term boxes_;
  Term first_row_;  // of the image of each box among the rows of all, [boxes, 1]
  Term height_, width_;
  std::vector<int64_t> size_;  // of the crops: height, width
};

Status ImportCropAndResize(ImportContext& ctx) {
  return CropAndResize(ctx).Import();
}

constexpr ImportRow kContribCropImports[] = {
    {.op = "CropAndResize", .import = ImportCropAndResize, .inputs = 4, .domain = kMicrosoft},
};

}  // namespace

Family ContribCropFamily() {
  return {.imports = kContribCropImports};
}

}  // namespace nn::onnx
