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
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"

namespace nn::onnx {
namespace {

class CropAndResize {
 public:
  explicit CropAndResize(ImportContext& ctx) : ctx_(ctx) {}

  Status Import() {
    NN_RETURN_IF_ERROR(ReadOperands());
    NN_ASSIGN(const Axis y, Sample(0, height_));
    NN_ASSIGN(const Axis x, Sample(1, width_));
    NN_ASSIGN(Value * out, Pixels(y.low, x.low));
    if (!nearest_) {
      NN_ASSIGN(Value* const x_weight, Add("expand_dims", {x.weight}, AxesAttrs{{1, 3}}));
      NN_ASSIGN(Value* const y_weight, Add("expand_dims", {y.weight}, AxesAttrs{{2, 3}}));
      NN_ASSIGN(Value* const top_right, Pixels(y.low, x.high));
      NN_ASSIGN(Value* const top, Between(out, top_right, x_weight));
      NN_ASSIGN(Value * bottom, Pixels(y.high, x.low));
      NN_ASSIGN(Value* const bottom_right, Pixels(y.high, x.high));
      NN_ASSIGN(bottom, Between(bottom, bottom_right, x_weight));
      NN_ASSIGN(out, Between(top, bottom, y_weight));
    }
    NN_ASSIGN(Value* const rows, Add("expand_dims", {y.inside}, AxesAttrs{{2, 3}}));
    NN_ASSIGN(Value* const columns, Add("expand_dims", {x.inside}, AxesAttrs{{1, 3}}));
    NN_ASSIGN(Value* const inside, Add("and", {rows, columns}));
    NN_ASSIGN(Value* const other, Number(ctx_.Float("extrapolation_value", 0)));
    NN_ASSIGN(out, Add("select", {inside, out, other}));
    NN_ASSIGN(out, Add("transpose", {out}, TransposeAttrs{{0, 3, 1, 2}}));
    NN_ASSIGN(out, AddCast(ctx_, out, result_));
    ctx_.SetOutput(0, out);
    return {};
  }

 private:
  // What the positions on one axis of the image need, [boxes, positions] each.
  struct Axis {
    Value* low = nullptr;     // the element at or before a position, or the nearest one
    Value* high = nullptr;    // the element at or after it
    Value* weight = nullptr;  // of `high`
    Value* inside = nullptr;  // whether the position is inside the image
  };

  Result<Value*> Add(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {}) {
    return ctx_.Add(op, std::move(inputs), std::move(attrs));
  }
  Result<Value*> Number(float v) { return ctx_.Number(real_, static_cast<double>(v)); }

  Status ReadOperands() {
    const std::string mode = ctx_.String("mode", "bilinear");
    nearest_ = mode == "nearest";
    if (!nearest_ && mode != "bilinear") return ModelError("unknown mode {}", Quote(mode));
    NN_ASSIGN(Value * x, ctx_.Required(0));
    NN_RETURN_IF_ERROR(RequireRanks(ctx_, x, "X", 4, 4));
    result_ = x->dtype();
    real_ = result_ == DType::kF64 ? DType::kF64 : DType::kF32;
    NN_ASSIGN(boxes_, ctx_.Required(1));
    NN_RETURN_IF_ERROR(RequireRanks(ctx_, boxes_, "rois", 2, 2));
    NN_ASSIGN(boxes_, AddCast(ctx_, boxes_, real_));
    NN_ASSIGN(Value* const images, ctx_.Required(2));
    NN_RETURN_IF_ERROR(RequireRanks(ctx_, images, "batch_indices", 1, 1));
    NN_ASSIGN(Value * size, ctx_.Required(3));
    NN_ASSIGN(size, Folded(ctx_, size));
    if (!size->is_constant())
      return UnsupportedError("CropAndResize whose crop_size is not constant");
    size_ = size->constant().ToInts();
    if (size_.size() != 2 || size_[0] < 1 || size_[1] < 1)
      return ModelError("crop_size must have 2 numbers of at least 1");

    NN_ASSIGN(height_, Add("shape_of", {x}, ShapeOfAttrs{2, 3}));
    NN_ASSIGN(width_, Add("shape_of", {x}, ShapeOfAttrs{3, 4}));
    NN_ASSIGN(first_row_, AddCast(ctx_, images, DType::kI64));
    NN_ASSIGN(first_row_, Add("expand_dims", {first_row_}, AxesAttrs{{1}}));
    NN_ASSIGN(first_row_, Add("mul", {first_row_, height_}));
    const Dim channels = x->type().dim(1);
    NN_ASSIGN(pixels_, AddCast(ctx_, x, real_));
    NN_ASSIGN(pixels_, Add("transpose", {pixels_}, TransposeAttrs{{0, 2, 3, 1}}));
    NN_ASSIGN(pixels_, Add("reshape", {pixels_}, ReshapeAttrs{{Dim(-1), channels}, false}));
    return {};
  }

  Result<Value*> Column(int64_t i) {
    return Add("slice", {boxes_}, SliceAttrs{{1}, {i}, {i + 1}, {}});
  }

  // The positions between the columns `begin` and `begin` + 2 of the boxes, where the last element
  // is at `last`.
  Result<Value*> Positions(int64_t begin, int64_t count, Value* last) {
    NN_ASSIGN(Value* const from, Column(begin));
    NN_ASSIGN(Value* const to, Column(begin + 2));
    if (count == 1) {
      NN_ASSIGN(Value* const half, Number(0.5F));
      NN_ASSIGN(Value * middle, Add("add", {from, to}));
      NN_ASSIGN(middle, Add("mul", {middle, half}));
      return Add("mul", {middle, last});
    }
    NN_ASSIGN(Value* const first_corner, Add("mul", {from, last}));
    NN_ASSIGN(Value* const last_corner, Add("mul", {to, last}));
    NN_ASSIGN(Value * step, Add("sub", {to, from}));
    NN_ASSIGN(step, Add("mul", {step, last}));
    NN_ASSIGN(Value* const steps, Number(static_cast<float>(count - 1)));
    NN_ASSIGN(step, Add("div", {step, steps}));
    std::vector<float> numbers(static_cast<size_t>(count));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    NN_ASSIGN(Value* const index, AddCast(ctx_, Constant({1, count}, numbers), real_));
    NN_ASSIGN(Value * at, Add("mul", {index, step}));
    NN_ASSIGN(at, Add("add", {first_corner, at}));
    // The corners are exact.
    NN_ASSIGN(Value* const zero, Number(0));
    NN_ASSIGN(Value* const is_first, Add("equal", {index, zero}));
    NN_ASSIGN(Value* const is_last, Add("equal", {index, steps}));
    NN_ASSIGN(at, Add("select", {is_last, last_corner, at}));
    return Add("select", {is_first, first_corner, at});
  }
  Value* Constant(std::vector<int64_t> dims, const std::vector<float>& numbers) {
    return ctx_.Constant(Tensor::Of(std::move(dims), numbers));
  }

  // Samples axis `begin` of the boxes, which has `size` elements in the image.
  Result<Axis> Sample(int64_t begin, Value* size) {
    NN_ASSIGN(Value* const one, ctx_.Number(DType::kI64, 1));
    NN_ASSIGN(Value * last, Add("sub", {size, one}));
    NN_ASSIGN(last, AddCast(ctx_, last, real_));
    NN_ASSIGN(Value * at, Positions(begin, size_[static_cast<size_t>(begin)], last));
    NN_ASSIGN(Value* const zero, Number(0));
    NN_ASSIGN(Value* const behind_first, Add("greater_equal", {at, zero}));
    NN_ASSIGN(Value* const before_last, Add("less_equal", {at, last}));
    Axis axis;
    NN_ASSIGN(axis.inside, Add("and", {behind_first, before_last}));
    NN_ASSIGN(at, Add("select", {axis.inside, at, zero}));
    NN_ASSIGN(Value* const floor, Add("floor", {at}));
    NN_ASSIGN(axis.weight, Add("sub", {at, floor}));
    NN_ASSIGN(axis.low, AddCast(ctx_, floor, DType::kI64));
    if (nearest_) {
      // Halves are rounded up.
      NN_ASSIGN(Value* const half, Number(0.5F));
      NN_ASSIGN(Value* const is_above, Add("greater_equal", {axis.weight, half}));
      NN_ASSIGN(Value* const next, Add("add", {axis.low, one}));
      NN_ASSIGN(axis.low, Add("select", {is_above, next, axis.low}));
    } else {
      NN_ASSIGN(Value* const ceil, Add("ceil", {at}));
      NN_ASSIGN(axis.high, AddCast(ctx_, ceil, DType::kI64));
    }
    return axis;
  }

  // The pixels [boxes, rows, columns, channels] at rows [boxes, rows] and columns of the images.
  Result<Value*> Pixels(Value* rows, Value* columns) {
    NN_ASSIGN(Value * at, Add("add", {first_row_, rows}));
    NN_ASSIGN(at, Add("mul", {at, width_}));
    NN_ASSIGN(at, Add("expand_dims", {at}, AxesAttrs{{2}}));
    NN_ASSIGN(columns, Add("expand_dims", {columns}, AxesAttrs{{1}}));
    NN_ASSIGN(at, Add("add", {at, columns}));
    return Add("gather", {pixels_, at}, GatherAttrs{0});
  }

  Result<Value*> Between(Value* a, Value* b, Value* weight) {
    NN_ASSIGN(Value * d, Add("sub", {b, a}));
    NN_ASSIGN(d, Add("mul", {d, weight}));
    return Add("add", {a, d});
  }

  ImportContext& ctx_;
  bool nearest_ = false;
  DType result_ = DType::kF32, real_ = DType::kF32;  // of the result and the computation
  Value* pixels_ = nullptr;                          // of all images, [pixels, channels]
  Value* boxes_ = nullptr;
  Value* first_row_ = nullptr;  // of the image of each box among the rows of all, [boxes, 1]
  Value *height_ = nullptr, *width_ = nullptr;
  std::vector<int64_t> size_;  // of the crops: height, width
};

Status ImportCropAndResize(ImportContext& ctx) {
  return CropAndResize(ctx).Import();
}

constexpr ImportRow kContribCropImports[] = {
    {.op = "CropAndResize", .import = ImportCropAndResize, .domain = kMicrosoft},
};

}  // namespace

Family ContribCropFamily() {
  return {.imports = kContribCropImports};
}

}  // namespace nn::onnx
