// Preparation of convolutions and pooling.
#include <algorithm>

#include "formats/tflite/constraints/operation.h"
#include "formats/tflite/spec/signature.h"

namespace nn::tflite::constraints {
namespace {

using Op = fb::BuiltinOperator;

// The size of an output axis; -1 if it is unknown.
int64_t WindowSize(fb::Padding padding, int64_t size, int64_t window, int64_t stride,
                   int64_t dilation) {
  if (size < 0 || window < 0 || stride < 1) return -1;
  if (padding == fb::Padding::SAME) return (size + stride - 1) / stride;
  const int64_t reach = (window - 1) * dilation + 1;
  return std::max<int64_t>(0, (size + stride - reach) / stride);
}

// The options that the operators with windows share.
struct Window {
  fb::Padding padding{};
  int64_t stride_h = 0;
  int64_t stride_w = 0;
  int64_t dilation_h = 1;
  int64_t dilation_w = 1;
};

template <typename Options>
Window WindowOf(const Options& options) {
  Window w{options.padding(), options.stride_h(), options.stride_w()};
  if constexpr (requires { options.dilation_h_factor(); }) {
    w.dilation_h = options.dilation_h_factor();
    w.dilation_w = options.dilation_w_factor();
  }
  return w;
}

// `most` is the largest supported stride and dilation; -1 means any.
void CheckWindow(Operation& o, const Window& w, int64_t most) {
  if (std::min(w.stride_h, w.stride_w) < 1)
    o.Fail(Check::kStrides, "the strides are {} and {}; expected at least 1", w.stride_h,
           w.stride_w);
  else if (most > 0 && std::max(w.stride_h, w.stride_w) > most)
    o.Fail(Check::kStrides, "the strides are {} and {}; expected at most {}", w.stride_h,
           w.stride_w, most);
  if (std::min(w.dilation_h, w.dilation_w) < 1)
    o.Fail(Check::kDilations, "the dilations are {} and {}; expected at least 1", w.dilation_h,
           w.dilation_w);
  else if (most > 0 && std::max(w.dilation_h, w.dilation_w) > most)
    o.Fail(Check::kDilations, "the dilations are {} and {}; expected at most {}", w.dilation_h,
           w.dilation_w, most);
  if (w.padding != fb::Padding::SAME && w.padding != fb::Padding::VALID)
    o.Fail(Check::kOptionValues, "padding has the unknown value {}", static_cast<int>(w.padding));
}

// Checks that x, except for its batch, and the filter from `first_filter_axis` on are not empty.
void CheckSpatial(Operation& o, const Value& x, const Value& filter, int64_t first_filter_axis) {
  for (int64_t i = 1; i < x.rank(); ++i)
    if (x.dim(i) == 0)
      return o.Fail(Check::kSpatial, "x has an empty axis: its shape is {}", ShapeText(x.dims));
  for (int64_t i = first_filter_axis; i < filter.rank(); ++i)
    if (filter.dim(i) == 0)
      return o.Fail(Check::kSpatial, "the filter has an empty axis: its shape is {}",
                    ShapeText(filter.dims));
}

// Checks that a bias has `channels` elements and the type that goes with x.
void CheckBias(Operation& o, const Value& x, const Value* bias, int64_t channels,
               bool narrow_allowed) {
  if (bias == nullptr) return;
  const bool wide = x.type == fb::TensorType::INT16;
  const bool fits = wide ? bias->type == fb::TensorType::INT64 ||
                               (narrow_allowed && bias->type == fb::TensorType::INT32)
                    : IsQuantizedType(x.type) ? bias->type == fb::TensorType::INT32
                                              : bias->type == x.type;
  if (!fits)
    o.Fail(Check::kBias, "the bias is {}, which does not go with x of type {}",
           fb::EnumNameTensorType(bias->type), fb::EnumNameTensorType(x.type));
  if (Differ(bias->elements(), channels))
    o.Fail(Check::kBias, "the bias has {} elements; expected {}", bias->elements(), channels);
  if (IsQuantizedType(x.type) && ZeroPointOf(*bias) != 0)
    o.Fail(Check::kBias, "the bias has zero point {}; expected 0", ZeroPointOf(*bias));
}

void CheckBiasType(Operation& o, const Value& x, const Value* bias, fb::TensorType wanted) {
  if (x.type != fb::TensorType::INT16 || wanted == fb::TensorType::FLOAT32) return;
  if (wanted != fb::TensorType::INT32 && wanted != fb::TensorType::INT64)
    o.Fail(Check::kOptionValues, "quantized_bias_type is {}; expected INT32 or INT64",
           fb::EnumNameTensorType(wanted));
  else if (bias != nullptr && bias->type != wanted)
    o.Fail(Check::kBias, "the bias is {}; quantized_bias_type is {}",
           fb::EnumNameTensorType(bias->type), fb::EnumNameTensorType(wanted));
}

void Conv2D(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_Conv2DOptions();
  if (options == nullptr || !o.AllPresent(2)) return;
  const Window w = WindowOf(*options);
  CheckWindow(o, w, -1);
  const Value& x = *o.in(0);
  const Value& filter = *o.in(1);
  CheckSpatial(o, x, filter, 0);
  if (o.failed()) return;
  const int64_t in = x.dim(3);
  const int64_t taken = filter.dim(3);
  if (in >= 0 && taken > 0) {
    if (in % taken != 0)
      return o.Fail(
          Check::kChannels,
          "x has {} channels, which is not a multiple of the {} input channels of the filter", in,
          taken);
    const int64_t groups = in / taken;
    if (groups > 0 && filter.dim(0) >= 0 && filter.dim(0) % groups != 0)
      o.Fail(Check::kGroups, "{} output channels cannot be divided into {} groups", filter.dim(0),
             groups);
  }
  if (o.in(2) == nullptr) o.Fail(Check::kBias, "it has no bias, which the kernel requires");
  CheckBias(o, x, o.in(2), filter.dim(0), true);
  CheckBiasType(o, x, o.in(2), options->quantized_bias_type());
  o.Give(0, Dims{x.dim(0), WindowSize(w.padding, x.dim(1), filter.dim(1), w.stride_h, w.dilation_h),
                 WindowSize(w.padding, x.dim(2), filter.dim(2), w.stride_w, w.dilation_w),
                 filter.dim(0)});
}

void CheckDepthwiseFilter(Operation& o, const Value& x, const Value& filter) {
  const bool hybrid = x.type == fb::TensorType::FLOAT32 && filter.type == fb::TensorType::INT8;
  if (!hybrid && filter.type != x.type && x.type != fb::TensorType::INT16 &&
      filter.type != fb::TensorType::INT4)
    o.Fail(Check::kFilterType, "the filter is {}, which does not go with x of type {}",
           fb::EnumNameTensorType(filter.type), fb::EnumNameTensorType(x.type));
}

void DepthwiseConv2D(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_DepthwiseConv2DOptions();
  if (options == nullptr || !o.AllPresent(2)) return;
  if (o.inputs() == 3 && o.in(2) == nullptr)
    return o.Fail(Check::kInputAbsent, "the bias is -1; an absent bias is not listed at all");
  const Window w = WindowOf(*options);
  CheckWindow(o, w, kMaxWindowStep);
  const Value& x = *o.in(0);
  const Value& filter = *o.in(1);
  CheckSpatial(o, x, filter, 1);
  CheckDepthwiseFilter(o, x, filter);
  if (Differ(filter.dim(0), 1))
    o.Fail(Check::kChannels, "the first axis of the filter has {} elements; expected 1",
           filter.dim(0));
  if (o.failed()) return;
  if (x.dim(3) > 0 && filter.dim(3) >= 0 && filter.dim(3) % x.dim(3) != 0)
    o.Fail(Check::kChannels,
           "the filter has {} output channels, which is not a multiple of the {} channels of x",
           filter.dim(3), x.dim(3));
  CheckBias(o, x, o.in(2), filter.dim(3), false);
  if (o.in(2) != nullptr && Differ(o.in(2)->rank(), 1))
    o.Fail(Check::kBias, "the bias has rank {}; expected 1", o.in(2)->rank());
  o.Give(0, Dims{x.dim(0), WindowSize(w.padding, x.dim(1), filter.dim(1), w.stride_h, w.dilation_h),
                 WindowSize(w.padding, x.dim(2), filter.dim(2), w.stride_w, w.dilation_w),
                 filter.dim(3)});
}

void CheckTransposedFilter(Operation& o, const Value& x, const Value& filter) {
  const bool fits =
      x.type == fb::TensorType::FLOAT32
          ? filter.type == fb::TensorType::FLOAT32 || filter.type == fb::TensorType::INT8
          : filter.type ==
                (x.type == fb::TensorType::UINT8 ? fb::TensorType::UINT8 : fb::TensorType::INT8);
  if (!fits)
    o.Fail(Check::kFilterType, "the filter is {}, which does not go with x of type {}",
           fb::EnumNameTensorType(filter.type), fb::EnumNameTensorType(x.type));
}

void TransposeConv(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_TransposeConvOptions();
  if (options == nullptr || !o.AllPresent(3)) return;
  CheckWindow(o, WindowOf(*options), kMaxWindowStep);
  const Value& filter = *o.in(1);
  const Value& x = *o.in(2);
  CheckSpatial(o, x, filter, 0);
  CheckTransposedFilter(o, x, filter);
  if (Differ(x.dim(3), filter.dim(3)))
    o.Fail(Check::kChannels, "x has {} channels; the filter takes {}", x.dim(3), filter.dim(3));
  CheckBias(o, x, o.in(3), filter.dim(0), true);
  CheckBiasType(o, x, o.in(3), options->quantized_bias_type());
  if (const auto shape = o.Ints(0)) {
    if (shape->size() != 4)
      return o.Fail(Check::kTransposedShape, "the output shape has {} dimensions; expected 4",
                    shape->size());
    if (std::any_of(shape->begin(), shape->end(), [](int64_t d) { return d < 0; }))
      return o.Fail(Check::kTransposedShape, "the output shape {} has a negative dimension",
                    ShapeText(*shape));
    o.Give(0, *shape);
  }
}

void CheckStrides3D(Operation& o, const fb::Conv3DOptions& options) {
  if (std::min({options.stride_d(), options.stride_h(), options.stride_w()}) < 1)
    o.Fail(Check::kStrides, "the strides are {}, {} and {}; expected at least 1",
           options.stride_d(), options.stride_h(), options.stride_w());
}

void Conv3D(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_Conv3DOptions();
  if (options == nullptr || !o.AllPresent(2)) return;
  CheckStrides3D(o, *options);
  if (std::min({options->dilation_d_factor(), options->dilation_h_factor(),
                options->dilation_w_factor()}) < 1)
    o.Fail(Check::kDilations, "the dilations are {}, {} and {}; expected at least 1",
           options->dilation_d_factor(), options->dilation_h_factor(),
           options->dilation_w_factor());
  const Value& x = *o.in(0);
  const Value& filter = *o.in(1);
  CheckSpatial(o, x, filter, 0);
  if (Differ(x.dim(4), filter.dim(3)))
    o.Fail(Check::kChannels, "x has {} channels; the filter takes {}", x.dim(4), filter.dim(3));
  if (const Value* bias = o.in(2); bias != nullptr && Differ(bias->elements(), filter.dim(4)))
    o.Fail(Check::kBias, "the bias has {} elements; expected {}", bias->elements(), filter.dim(4));
  if (o.failed()) return;
  const auto size = [&](int64_t axis, int64_t stride, int64_t dilation) {
    return WindowSize(options->padding(), x.dim(axis), filter.dim(axis - 1), stride, dilation);
  };
  o.Give(0, Dims{x.dim(0), size(1, options->stride_d(), options->dilation_d_factor()),
                 size(2, options->stride_h(), options->dilation_h_factor()),
                 size(3, options->stride_w(), options->dilation_w_factor()), filter.dim(4)});
}

void Conv3DTranspose(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_Conv3DOptions();
  if (options == nullptr || !o.AllPresent(3)) return;
  CheckStrides3D(o, *options);
  const Value& filter = *o.in(1);
  const Value& x = *o.in(2);
  if (Differ(x.dim(4), filter.dim(4)))
    o.Fail(Check::kChannels, "x has {} channels; the filter takes {}", x.dim(4), filter.dim(4));
  if (const Value* bias = o.in(3); bias != nullptr && Differ(bias->elements(), filter.dim(3)))
    o.Fail(Check::kBias, "the bias has {} elements; expected {}", bias->elements(), filter.dim(3));
  const auto shape = o.Ints(0);
  if (!shape || o.failed()) return;
  if (*std::min_element(shape->begin(), shape->end()) < 0)
    return o.Fail(Check::kTransposedShape, "the output shape {} has a negative dimension",
                  ShapeText(shape));
  const auto fits = [&](size_t axis, int64_t stride, int64_t dilation) {
    const auto i = static_cast<int64_t>(axis);
    return !Differ(
        WindowSize(options->padding(), (*shape)[axis], filter.dim(i - 1), stride, dilation),
        x.dim(i));
  };
  if (Differ((*shape)[0], x.dim(0)) || Differ((*shape)[4], filter.dim(3)) ||
      !fits(1, options->stride_d(), options->dilation_d_factor()) ||
      !fits(2, options->stride_h(), options->dilation_h_factor()) ||
      !fits(3, options->stride_w(), options->dilation_w_factor()))
    return o.Fail(Check::kTransposedShape,
                  "the output shape {} does not match x of shape {} and a filter of shape {}",
                  ShapeText(*shape), ShapeText(x.dims), ShapeText(filter.dims));
  o.Give(0, *shape);
}

void Pool2D(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_Pool2DOptions();
  const Value* x = o.in(0);
  if (options == nullptr || x == nullptr) return;
  const Window w = WindowOf(*options);
  CheckWindow(o, w, -1);
  if (std::min(options->filter_height(), options->filter_width()) < 1)
    return o.Note(Check::kAtRun, "the window is {} x {}; expected at least 1 x 1",
                  options->filter_height(), options->filter_width());
  if (o.failed()) return;
  o.Give(0,
         Dims{x->dim(0), WindowSize(w.padding, x->dim(1), options->filter_height(), w.stride_h, 1),
              WindowSize(w.padding, x->dim(2), options->filter_width(), w.stride_w, 1), x->dim(3)});
}

constexpr Preparation kWindowPreparations[] = {
    {Op::CONV_2D, Conv2D},
    {Op::DEPTHWISE_CONV_2D, DepthwiseConv2D},
    {Op::TRANSPOSE_CONV, TransposeConv},
    {Op::CONV_3D, Conv3D},
    {Op::CONV_3D_TRANSPOSE, Conv3DTranspose},
    {Op::AVERAGE_POOL_2D, Pool2D},
    {Op::MAX_POOL_2D, Pool2D},
    {Op::L2_POOL_2D, Pool2D},
};

}  // namespace

std::span<const Preparation> WindowPreparations() {
  return kWindowPreparations;
}

}  // namespace nn::tflite::constraints
