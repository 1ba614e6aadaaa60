// Sizes of convolution and pooling layers.
#include "ops/support/array_shape.h"
#include "ops/support/window_shape.h"
#include "validators/coreml/layers/shape_blob.h"

namespace nn::coreml {
namespace {

int64_t Int(uint64_t n) {
  return static_cast<int32_t>(n);
}

// A pair of sizes for height and width, or the default for both.
template <typename List>
std::pair<int64_t, int64_t> Pair(const List& list, int64_t fallback) {
  if (list.size() != 2) return {fallback, fallback};
  return {Int(list.Get(0)), Int(list.Get(1))};
}

struct Border {
  int64_t top = 0;
  int64_t bottom = 0;
  int64_t left = 0;
  int64_t right = 0;
};

Border BorderOf(const pb::BorderAmounts& amounts) {
  if (amounts.borderamounts_size() != 2) return {};
  const auto& height = amounts.borderamounts(0);
  const auto& width = amounts.borderamounts(1);
  return {Int(height.startedgesize()), Int(height.endedgesize()), Int(width.startedgesize()),
          Int(width.endedgesize())};
}

uint64_t Unsigned(int64_t n) {
  return static_cast<uint64_t>(n);
}

}  // namespace

// Bounds the input by the sizes that give the smallest and the largest output.
void LayerShaper::Convolve(Axis axis, int64_t kernel, int64_t stride, int64_t padding) {
  BlobView in = In(0);
  BlobView out = Out(0);
  if (kernel > padding) {
    const uint64_t reach = Unsigned(kernel - padding);
    const uint64_t least = out.Low(axis);
    in.AtLeast(axis, (least == 0 ? 0 : least - 1) * Unsigned(stride) + reach);
    Bound most = out[axis].high.Minus(1).Times(Unsigned(stride)).Plus(reach);
    const Bound& high = in[axis].high;
    if (!high.unbound && high.value + Unsigned(padding - kernel) % 2 != 0) most = most.Plus(1);
    in.AtMost(axis, most);
  }
  out.Narrow(axis, WindowCount(in[axis], padding, kernel, stride));
}

void LayerShaper::Deconvolve(Axis axis, int64_t kernel, int64_t stride, int64_t padding_a,
                             int64_t padding_b) {
  BlobView in = In(0);
  BlobView out = Out(0);
  if (stride == 0) {
    fault_ = "the stride is 0; expected 1 or more";
    return;
  }
  const int64_t least = (Int(out.Low(axis)) + padding_a + padding_b - kernel) / stride + 1;
  const Bound most = out[axis].high.Shift(padding_a).Shift(padding_b).Shift(-kernel);
  if (least > 0) in.AtLeast(axis, Unsigned(least));
  in.AtMost(axis, most.Over(Unsigned(stride)).Plus(1));
  out.Narrow(axis, PaddedSize(TransposedExtent(in[axis], kernel, Unsigned(stride)), -padding_a,
                              -padding_b));
}

void LayerShaper::Convolution() {
  BlobView in = In(0);
  BlobView out = Out(0);
  const auto& p = layer_.convolution();
  in.Share(kSequence, out);
  in.Share(kBatch, out);
  const int64_t groups = p.ngroups() == 0 ? 1 : Int(p.ngroups());
  const int64_t channels = Int(p.kernelchannels()) * (p.isdeconvolution() ? 1 : groups);
  in.Set(kChannel, Unsigned(channels));
  out.Set(kChannel, p.outputchannels());
  if (p.isdeconvolution() && p.outputshape_size() == 2) {
    out.Set(kHeight, p.outputshape(0));
    out.Set(kWidth, p.outputshape(1));
    return;
  }
  const auto [kernel_h, kernel_w] = Pair(p.kernelsize(), 3);
  const auto [stride_h, stride_w] = Pair(p.stride(), 1);
  const auto [dilation_h, dilation_w] = Pair(p.dilationfactor(), 1);
  const int64_t height = (kernel_h - 1) * dilation_h + 1;
  const int64_t width = (kernel_w - 1) * dilation_w + 1;
  if (p.has_valid()) {
    const Border border = BorderOf(p.valid().paddingamounts());
    if (p.isdeconvolution()) {
      Deconvolve(kHeight, height, stride_h, border.top, border.bottom);
      Deconvolve(kWidth, width, stride_w, border.right, border.left);
    } else {
      Convolve(kHeight, height, stride_h, border.top + border.bottom);
      Convolve(kWidth, width, stride_w, border.left + border.right);
    }
  } else if (p.has_same()) {
    for (const auto& [axis, stride] :
         {std::pair(kHeight, Unsigned(stride_h)), std::pair(kWidth, Unsigned(stride_w))}) {
      if (p.isdeconvolution()) {
        out.Narrow(axis, SameTransposedExtent(in[axis], stride));
        continue;
      }
      out.Narrow(axis, SameWindowCount(in[axis], stride));
      in.AtLeast(axis, out.Low(axis));
      in.AtMost(axis, out[axis].high.Times(stride));
    }
  }
}

// Rounds up, except for a window that would start in the padding.
void LayerShaper::PoolWithLastPixel(Axis axis, int64_t kernel, int64_t stride, int64_t padding,
                                    bool padded) {
  BlobView in = In(0);
  BlobView out = Out(0);
  const int64_t least = Int(in.Low(axis));
  const bool outside =
      padded && least - 1 + (2 * padding - kernel - 1) + 2 * stride >= least + padding;
  out.Narrow(
      axis, WindowCountUp(in[axis], 2 * padding, kernel, Unsigned(stride)).Shift(outside ? -1 : 0));
  // The vendor's checker bounds the height for both axes.
  if (kernel > 2 * padding) in.AtLeast(kHeight, out.Low(axis) - 1 + Unsigned(kernel - 2 * padding));
}

void LayerShaper::Pooling() {
  BlobView in = In(0);
  BlobView out = Out(0);
  const auto& p = layer_.pooling();
  for (const Axis axis : {kSequence, kBatch, kChannel}) in.Share(axis, out);
  if (p.globalpooling()) {
    out.Set(kHeight, 1);
    out.Set(kWidth, 1);
    return;
  }
  const auto [kernel_h, kernel_w] = Pair(p.kernelsize(), 3);
  const auto [stride_h, stride_w] = Pair(p.stride(), 1);
  if (p.has_valid()) {
    const Border border = BorderOf(p.valid().paddingamounts());
    const auto pool = [&](Axis axis, int64_t kernel, int64_t stride, int64_t padding) {
      const uint64_t least = out.Low(axis);
      if (kernel > padding)
        in.AtLeast(axis,
                   (least == 0 ? 0 : least - 1) * Unsigned(stride) + Unsigned(kernel - padding));
      out.Narrow(axis, WindowCount(in[axis], padding, kernel, Unsigned(stride)));
    };
    pool(kHeight, kernel_h, stride_h, border.top + border.bottom);
    pool(kWidth, kernel_w, stride_w, border.left + border.right);
  } else if (p.has_same()) {
    out.Narrow(kHeight, SameWindowCount(in[kHeight], Unsigned(stride_h)));
    out.Narrow(kWidth, SameWindowCount(in[kWidth], Unsigned(stride_w)));
  } else if (p.has_includelastpixel()) {
    const auto [top, left] = Pair(p.includelastpixel().paddingamounts(), 0);
    const bool padded = top != 0 || left != 0;
    PoolWithLastPixel(kHeight, kernel_h, stride_h, top, padded);
    PoolWithLastPixel(kWidth, kernel_w, stride_w, left, padded);
  }
}

}  // namespace nn::coreml
