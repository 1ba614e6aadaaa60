#include "validators/coreml/layers/shape_layers.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text/text.h"
#include "formats/coreml/spec/signature.h"
#include "ops/support/array_shape.h"
#include "validators/coreml/layers/shape_blob.h"

namespace nn::coreml {
namespace {

// Limit of validation: steps of a bidirectional recurrence of Core ML.
constexpr uint64_t kMaxSteps = 10000;
constexpr std::string_view kAxisNames[] = {"sequence length", "batch size", "number of channels",
                                           "height", "width"};

// A pair of sizes; 0 counts as 1.
template <typename List>
std::pair<uint64_t, uint64_t> Sizes(const List& list) {
  if (list.size() != 2) return {1, 1};
  return {std::max<uint64_t>(list.Get(0), 1), std::max<uint64_t>(list.Get(1), 1)};
}

}  // namespace

void BlobView::Narrow(Axis axis, const SizeSpan& span) {
  if (!fault_.empty()) return;
  SizeSpan& own = blob_.axes[axis];
  const SizeSpan both = own.Intersect(span);
  if (both.empty)
    fault_ = fmt::format("the {} of {} has conflicting sizes: {} and {}", kAxisNames[axis],
                         Quote(blob_.name), own.ToString(),
                         span.empty ? "none at all" : span.ToString());
  else
    own = both;
}

void BlobView::Set(Axis axis, uint64_t size) {
  Narrow(axis, SizeSpan::Exactly(size));
}

void BlobView::NarrowAll(const BlobView& other) {
  for (const Axis axis : {kSequence, kBatch, kChannel, kHeight, kWidth}) Narrow(axis, other[axis]);
}

void BlobView::Share(Axis axis, BlobView& other) {
  other.Narrow(axis, (*this)[axis]);
  Narrow(axis, other[axis]);
}

uint64_t BlobView::Low(Axis axis) {
  const Bound& low = blob_.axes[axis].low;
  if (low.unbound && fault_.empty())
    fault_ = fmt::format("the {} of {} is unbounded", kAxisNames[axis], Quote(blob_.name));
  return low.value;
}

LayerShaper::LayerShaper(const pb::NeuralNetworkLayer& layer, const LayerBlobs& blobs,
                         std::string& fault)
    : layer_(layer), blobs_(blobs), fault_(fault) {}

void LayerShaper::ShareOuter(bool channel) {
  BlobView in = In(0);
  BlobView out = Out(0);
  in.Share(kSequence, out);
  in.Share(kBatch, out);
  if (channel) in.Share(kChannel, out);
}

void LayerShaper::Product(uint64_t in, uint64_t out) {
  ShareOuter(false);
  for (const Axis axis : {kChannel, kHeight, kWidth}) {
    In(0).Set(axis, axis == kChannel ? in : 1);
    Out(0).Set(axis, axis == kChannel ? out : 1);
  }
}

void LayerShaper::Recurrent(uint64_t in, uint64_t out, bool sequence, size_t states) {
  const bool both = layer_.has_bidirectionallstm();
  if (both) In(0).AtMost(kSequence, Bound(kMaxSteps));
  const auto vector = [](BlobView blob, uint64_t size) {
    blob.Set(kChannel, size);
    blob.Set(kHeight, 1);
    blob.Set(kWidth, 1);
  };
  vector(In(0), in);
  vector(Out(0), both ? 2 * out : out);
  if (sequence)
    Out(0).Narrow(kSequence, In(0)[kSequence]);
  else
    Out(0).Set(kSequence, 1);
  if (blobs_.inputs.size() <= states) return;
  for (size_t i = 1; i <= states; ++i)
    for (BlobView blob : {In(i), Out(i)}) {
      blob.Set(kSequence, 1);
      vector(blob, out);
    }
}

void LayerShaper::Crop() {
  ShareOuter(true);
  BlobView in = In(0);
  BlobView out = Out(0);
  if (blobs_.inputs.size() > 1) {
    out.Narrow(kHeight, In(1)[kHeight]);
    out.Narrow(kWidth, In(1)[kWidth]);
    return;
  }
  const auto& amounts = layer_.crop().cropamounts().borderamounts();
  for (const Axis axis : {kHeight, kWidth}) {
    int64_t start = 0;
    int64_t end = 0;
    if (amounts.size() == 2) {
      start = static_cast<int32_t>(amounts.Get(axis == kWidth ? 1 : 0).startedgesize());
      end = static_cast<int32_t>(amounts.Get(axis == kWidth ? 1 : 0).endedgesize());
    }
    out.Narrow(axis, PaddedSize(in[axis], -start, -end));
    in.AtLeast(axis, static_cast<uint64_t>(start + end + 1));
  }
}

void LayerShaper::Pad() {
  ShareOuter(false);
  BlobView in = In(0);
  BlobView out = Out(0);
  in.Narrow(kChannel, out[kChannel]);
  out.Narrow(kChannel, in[kChannel]);
  const auto& amounts = layer_.padding().paddingamounts().borderamounts();
  for (const Axis axis : {kHeight, kWidth}) {
    uint64_t start = 0;
    uint64_t end = 0;
    if (amounts.size() == 2) {
      start = amounts.Get(axis == kWidth ? 1 : 0).startedgesize();
      end = amounts.Get(axis == kWidth ? 1 : 0).endedgesize();
    }
    out.Narrow(axis, PaddedSize(in[axis], start, end));
    in.Narrow(axis, out[axis].Map([&](const Bound& b) { return b.Minus(start).Minus(end); }));
  }
}

void LayerShaper::Resample(uint64_t height, uint64_t width) {
  ShareOuter(true);
  BlobView in = In(0);
  BlobView out = Out(0);
  for (const auto& [axis, factor] : {std::pair(kHeight, height), std::pair(kWidth, width)}) {
    out.Narrow(axis, RepeatedSize(in[axis], factor));
    in.Narrow(axis, out[axis].OverWhole(factor));
  }
}

void LayerShaper::Broadcast() {
  std::array<SizeSpan, 5> most = blobs_.inputs[0]->axes;
  bool fixed = In(0).IsFixed();
  for (size_t i = 1; i < blobs_.inputs.size(); ++i) {
    const auto& axes = blobs_.inputs[i]->axes;
    fixed = fixed && In(i).IsFixed();
    for (const Axis axis : {kSequence, kBatch}) most[axis] = most[axis].Intersect(axes[axis]);
    for (const Axis axis : {kChannel, kHeight, kWidth}) most[axis] = most[axis].Unite(axes[axis]);
  }
  BlobView out = Out(0);
  out.Narrow(kSequence, most[kSequence]);
  out.Narrow(kBatch, most[kBatch]);
  for (const Axis axis : {kChannel, kHeight, kWidth})
    out.Narrow(axis, fixed ? SizeSpan::Exactly(most[axis].high.value) : most[axis]);
  for (size_t i = 0; i < blobs_.inputs.size(); ++i) {
    BlobView in = In(i);
    in.Narrow(kSequence, out[kSequence]);
    in.Narrow(kBatch, out[kBatch]);
    if (!in.IsFixed())
      for (const Axis axis : {kChannel, kHeight, kWidth}) in.Narrow(axis, out[axis]);
  }
}

// Does not change the output, as the vendor's checker.
void LayerShaper::Dot() {
  BlobShape copy = *blobs_.outputs[0];
  BlobView out(copy, fault_);
  BlobView a = In(0);
  BlobView b = In(1);
  for (const Axis axis : {kSequence, kBatch}) {
    out.Narrow(axis, a[axis]);
    out.Narrow(axis, b[axis]);
  }
  for (BlobView* in : {&a, &b}) {
    in->Set(kHeight, 1);
    in->Set(kWidth, 1);
  }
  a.NarrowAll(b);
  b.NarrowAll(a);
  for (BlobView* in : {&a, &b})
    for (const Axis axis : {kSequence, kBatch}) in->Narrow(axis, out[axis]);
  for (const Axis axis : {kChannel, kHeight, kWidth}) out.Set(axis, 1);
}

void LayerShaper::Reduce() {
  using R = pb::ReduceLayerParams;
  ShareOuter(false);
  BlobView in = In(0);
  BlobView out = Out(0);
  const auto reduced = layer_.reduce().axis();
  if (!R::ReduceAxis_IsValid(reduced)) return;
  for (const Axis axis : {kChannel, kHeight, kWidth}) {
    const bool gone = reduced == R::CHW || (axis == kChannel && reduced == R::C) ||
                      (axis == kHeight && (reduced == R::HW || reduced == R::H)) ||
                      (axis == kWidth && (reduced == R::HW || reduced == R::W));
    if (gone) {
      out.Set(axis, 1);
    } else {
      out.Narrow(axis, in[axis]);
      // The vendor's checker does not propagate this width backwards.
      if (reduced != R::C || axis != kWidth) in.Narrow(axis, out[axis]);
    }
  }
}

void LayerShaper::Constant() {
  const auto& shape = layer_.loadconstant().shape();
  if (shape.size() != 3) return;
  BlobView out = Out(0);
  out.Set(kSequence, 1);
  out.Set(kBatch, 1);
  out.Set(kChannel, shape.Get(0));
  out.Set(kHeight, shape.Get(1));
  out.Set(kWidth, shape.Get(2));
}

void LayerShaper::Reshape() {
  const auto& shape = layer_.reshape().targetshape();
  if (shape.size() != 3 && shape.size() != 4) return;
  BlobView in = In(0);
  BlobView out = Out(0);
  out.Narrow(kBatch, in[kBatch]);
  if (shape.size() == 3)
    out.Narrow(kSequence, in[kSequence]);
  else
    out.AtLeast(kSequence, static_cast<uint64_t>(shape.Get(0)));
  const int first = shape.size() - 3;
  out.Set(kChannel, static_cast<uint64_t>(shape.Get(first)));
  out.Set(kHeight, static_cast<uint64_t>(shape.Get(first + 1)));
  out.Set(kWidth, static_cast<uint64_t>(shape.Get(first + 2)));
}

void LayerShaper::Flatten() {
  ShareOuter(false);
  BlobView in = In(0);
  BlobView out = Out(0);
  out.Narrow(kChannel, in[kChannel].Times(in[kHeight]).Times(in[kWidth]));
  out.Set(kHeight, 1);
  out.Set(kWidth, 1);
}

void LayerShaper::Permute() {
  constexpr Axis kAxes[] = {kSequence, kChannel, kHeight, kWidth};
  const auto& axes = layer_.permute().axis();
  if (axes.size() != 4) return;
  if (std::any_of(axes.begin(), axes.end(), [](uint64_t axis) { return axis > 3; })) {
    fault_ = "permute has an axis greater than 3";
    return;
  }
  BlobView in = In(0);
  BlobView out = Out(0);
  std::array<SizeSpan, 4> from;
  for (size_t i = 0; i < 4; ++i) from[i] = in[kAxes[i]];
  for (int i = 0; i < 4; ++i) out.Narrow(kAxes[i], from[axes.Get(i)]);
  std::array<SizeSpan, 4> back;
  for (int i = 0; i < 4; ++i) back[axes.Get(i)] = out[kAxes[i]];
  for (size_t i = 0; i < 4; ++i) in.Narrow(kAxes[i], back[i]);
  in.Narrow(kBatch, out[kBatch]);
}

void LayerShaper::Concat() {
  const Axis joined = layer_.concat().sequenceconcat() ? kSequence : kChannel;
  const Axis other = joined == kSequence ? kChannel : kSequence;
  BlobView out = Out(0);
  SizeSpan sum = In(0)[joined];
  for (const Axis axis : {other, kBatch, kHeight, kWidth}) out.Narrow(axis, In(0)[axis]);
  for (size_t i = 1; i < blobs_.inputs.size(); ++i) {
    BlobView in = In(i);
    sum = JoinedSize(sum, in[joined]);
    for (const Axis axis : {other, kBatch, kHeight, kWidth}) {
      out.Narrow(axis, in[axis]);
      in.Narrow(axis, out[axis]);
    }
  }
  out.Narrow(joined, sum);
}

void LayerShaper::Split() {
  const auto parts = static_cast<int32_t>(layer_.split().noutputs());
  BlobView in = In(0);
  for (size_t i = 0; i < blobs_.outputs.size(); ++i) {
    BlobView out = Out(i);
    for (const Axis axis : {kSequence, kBatch, kChannel, kHeight, kWidth})
      out.Narrow(axis, axis == kChannel ? in[axis].Over(parts) : in[axis]);
  }
  BlobView first = Out(0);
  for (const Axis axis : {kSequence, kBatch, kChannel, kHeight, kWidth})
    in.Narrow(axis,
              axis == kChannel ? first[axis].Times(static_cast<uint64_t>(parts)) : first[axis]);
}

void LayerShaper::Repeat() {
  BlobView in = In(0);
  BlobView out = Out(0);
  out.Narrow(kSequence, RepeatedSize(in[kSequence], layer_.sequencerepeat().nrepetitions()));
  for (const Axis axis : {kBatch, kChannel, kHeight, kWidth}) out.Narrow(axis, in[axis]);
  for (const Axis axis : {kBatch, kChannel, kHeight, kWidth}) in.Narrow(axis, out[axis]);
}

void LayerShaper::Reorganize() {
  ShareOuter(false);
  BlobView in = In(0);
  BlobView out = Out(0);
  const uint64_t block = layer_.reorganizedata().blocksize();
  const bool deep = layer_.reorganizedata().mode() == pb::ReorganizeDataLayerParams::SPACE_TO_DEPTH;
  const auto scale = [&](const SizeSpan& span, Axis axis, bool forwards) {
    const uint64_t factor = axis == kChannel ? block * block : block;
    const bool grows = (axis == kChannel) == (deep == forwards);
    return grows ? span.Times(factor) : span.OverWhole(factor);
  };
  for (const Axis axis : {kChannel, kHeight, kWidth}) out.Narrow(axis, scale(in[axis], axis, true));
  for (const Axis axis : {kChannel, kHeight, kWidth})
    in.Narrow(axis, scale(out[axis], axis, false));
}

void LayerShaper::Slice() {
  using S = pb::SliceLayerParams;
  ShareOuter(false);
  BlobView in = In(0);
  BlobView out = Out(0);
  const auto& p = layer_.slice();
  const int64_t stride = static_cast<int32_t>(p.stride());
  if (stride < 1) return;
  if (!S::SliceAxis_IsValid(p.axis())) {
    fault_ = fmt::format("slice has the unknown axis {}", static_cast<int>(p.axis()));
    return;
  }
  const Axis sliced = p.axis() == S::CHANNEL_AXIS  ? kChannel
                      : p.axis() == S::HEIGHT_AXIS ? kHeight
                                                   : kWidth;
  const int64_t start = static_cast<int32_t>(p.startindex());
  const int64_t end = static_cast<int32_t>(p.endindex());
  const bool front = start >= 0 && end > 0;
  const bool back = start < 0 && end <= 0;
  // The elements omitted at both ends plus one.
  const int64_t rest = end <= 0 ? start + 1 - end : -start + 1 + end;
  const int64_t need = front ? end : (back ? -start : rest);
  for (const Axis axis : {kChannel, kHeight, kWidth}) {
    if (axis != sliced)
      out.Narrow(axis, in[axis]);
    else if (front || back)
      out.Set(axis,
              static_cast<uint64_t>(((front ? end - 1 - start : -start - 1 + end)) / stride + 1));
    else
      out.Narrow(axis, in[axis].Shift(-rest).Over(stride).Shift(1));
  }
  for (const Axis axis : {kChannel, kHeight, kWidth}) {
    if (axis == sliced)
      in.AtLeast(axis, static_cast<uint64_t>(need));
    else
      in.Narrow(axis, out[axis]);
  }
}

void LayerShaper::Resize() {
  ShareOuter(true);
  const auto [height, width] = Sizes(layer_.resizebilinear().targetsize());
  Out(0).Set(kHeight, height);
  Out(0).Set(kWidth, width);
}

void LayerShaper::CropResize() {
  BlobView in = In(0);
  BlobView boxes = In(1);
  BlobView out = Out(0);
  out.Narrow(kSequence, boxes[kSequence]);
  out.Narrow(kBatch, in[kBatch]);
  out.Narrow(kChannel, in[kChannel]);
  const auto [height, width] = Sizes(layer_.cropresize().targetsize());
  out.Set(kHeight, height);
  out.Set(kWidth, width);
  in.Narrow(kChannel, out[kChannel]);
  boxes.Narrow(kSequence, out[kSequence]);
  boxes.Set(kBatch, 1);
  boxes.Narrow(kChannel, SizeSpan::Of(Bound(4), Bound(5)));
  boxes.Set(kWidth, 1);
  boxes.Set(kHeight, 1);
}

void LayerShaper::Other() {
  using L = pb::NeuralNetworkLayer;
  switch (layer_.layer_case()) {
    case L::kInnerProduct:
      return Product(layer_.innerproduct().inputchannels(), layer_.innerproduct().outputchannels());
    case L::kEmbedding:
      return Product(1, layer_.embedding().outputchannels());
    case L::kCrop:
      return Crop();
    case L::kPadding:
      return Pad();
    case L::kUpsample: {
      const auto [height, width] = Sizes(layer_.upsample().scalingfactor());
      return Resample(height, width);
    }
    case L::kAdd:
    case L::kMultiply:
    case L::kAverage:
      return Broadcast();
    case L::kDot:
      return Dot();
    case L::kReduce:
      return Reduce();
    case L::kLoadConstant:
      return Constant();
    case L::kReshape:
      return Reshape();
    case L::kFlatten:
      return Flatten();
    case L::kPermute:
      return Permute();
    case L::kConcat:
      return Concat();
    case L::kSplit:
      return Split();
    case L::kSequenceRepeat:
      return Repeat();
    case L::kReorganizeData:
      return Reorganize();
    case L::kSlice:
      return Slice();
    case L::kResizeBilinear:
      return Resize();
    case L::kCropResize:
      return CropResize();
    case L::kCustom:
      return;
    default: {
      BlobView in = In(0);
      BlobView out = Out(0);
      out.NarrowAll(in);
      in.NarrowAll(out);
    }
  }
}

std::string ShapeLayer(const pb::NeuralNetworkLayer& layer, const LayerBlobs& blobs) {
  const Signature* s = FindSignature(layer.layer_case());
  if (s == nullptr || blobs.inputs.size() < static_cast<size_t>(s->inputs.low) ||
      blobs.outputs.size() < static_cast<size_t>(s->outputs.low))
    return "";
  std::string fault;
  LayerShaper shaper(layer, blobs, fault);
  switch (layer.layer_case()) {
    case pb::NeuralNetworkLayer::kConvolution:
      shaper.Convolution();
      break;
    case pb::NeuralNetworkLayer::kPooling:
      shaper.Pooling();
      break;
    case pb::NeuralNetworkLayer::kSimpleRecurrent: {
      const auto& p = layer.simplerecurrent();
      shaper.Recurrent(p.inputvectorsize(), p.outputvectorsize(), p.sequenceoutput(), 1);
      break;
    }
    case pb::NeuralNetworkLayer::kGru: {
      const auto& p = layer.gru();
      shaper.Recurrent(p.inputvectorsize(), p.outputvectorsize(), p.sequenceoutput(), 1);
      break;
    }
    case pb::NeuralNetworkLayer::kUniDirectionalLSTM: {
      const auto& p = layer.unidirectionallstm();
      shaper.Recurrent(p.inputvectorsize(), p.outputvectorsize(), p.params().sequenceoutput(), 2);
      break;
    }
    case pb::NeuralNetworkLayer::kBiDirectionalLSTM: {
      const auto& p = layer.bidirectionallstm();
      shaper.Recurrent(p.inputvectorsize(), p.outputvectorsize(), p.params().sequenceoutput(), 4);
      break;
    }
    default:
      shaper.Other();
  }
  return fault;
}

}  // namespace nn::coreml
