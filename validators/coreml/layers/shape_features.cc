// Sizes that the description of a model gives the inputs and outputs of a network of rank 5.
#include <algorithm>

#include "validators/coreml/layers/shape_blob.h"

namespace nn::coreml {
namespace {

using ArrayType = pb::ArrayFeatureType;
using Image = pb::ImageFeatureType;

SizeSpan SpanOf(const pb::SizeRange& range) {
  return SizeSpan::Of(
      Bound(range.lowerbound()),
      range.upperbound() < 0 ? Bound() : Bound(static_cast<uint64_t>(range.upperbound())));
}

// From the smallest to the largest of a list of sizes.
class Enumerated {
 public:
  void Add(uint64_t size) {
    low_ = std::min(low_, size);
    high_ = std::max(high_, size);
  }
  SizeSpan span() const { return SizeSpan::Of(Bound(low_), Bound(high_)); }

 private:
  uint64_t low_ = UINT64_MAX;
  uint64_t high_ = 0;
};

bool IsGray(const Image& image) {
  return image.colorspace() == Image::GRAYSCALE || image.colorspace() == Image::GRAYSCALE_FLOAT16;
}

void ConstrainImage(const Image& image, BlobView blob) {
  blob.Set(kChannel, IsGray(image) ? 1 : 3);
  if (image.has_enumeratedsizes()) {
    Enumerated width;
    Enumerated height;
    for (const auto& size : image.enumeratedsizes().sizes()) {
      width.Add(size.width());
      height.Add(size.height());
    }
    blob.Narrow(kWidth, width.span());
    blob.Narrow(kHeight, height.span());
  } else if (image.has_imagesizerange()) {
    blob.Narrow(kWidth, SpanOf(image.imagesizerange().widthrange()));
    blob.Narrow(kHeight, SpanOf(image.imagesizerange().heightrange()));
  } else {
    blob.Set(kHeight, static_cast<uint64_t>(image.height()));
    blob.Set(kWidth, static_cast<uint64_t>(image.width()));
  }
}

std::vector<SizeSpan> FlexibleAxes(const ArrayType& array) {
  std::vector<SizeSpan> spans;
  for (const auto& range : array.shaperange().sizeranges()) spans.push_back(SpanOf(range));
  std::vector<Enumerated> axes;
  for (const auto& shape : array.enumeratedshapes().shapes())
    for (int i = 0; i < shape.shape_size(); ++i) {
      if (static_cast<size_t>(i) >= axes.size()) axes.emplace_back();
      axes[static_cast<size_t>(i)].Add(static_cast<uint64_t>(shape.shape(i)));
    }
  for (const auto& axis : axes) spans.push_back(axis.span());
  return spans;
}

// A vector of channels, or channels, height and width.
template <typename Sizes>
void ConstrainFixed(const Sizes& shape, BlobView blob) {
  if (shape.size() != 1 && shape.size() != 3) return;
  blob.Set(kChannel, static_cast<uint64_t>(shape.Get(0)));
  blob.Set(kHeight, shape.size() == 3 ? static_cast<uint64_t>(shape.Get(1)) : 1);
  blob.Set(kWidth, shape.size() == 3 ? static_cast<uint64_t>(shape.Get(2)) : 1);
}

}  // namespace

std::string ConstrainInput(const pb::FeatureType& type, BlobShape& blob) {
  std::string fault;
  BlobView view(blob, fault);
  if (type.has_imagetype()) {
    ConstrainImage(type.imagetype(), view);
  } else if (type.has_multiarraytype()) {
    const auto spans = FlexibleAxes(type.multiarraytype());
    if (spans.empty()) {
      ConstrainFixed(type.multiarraytype().shape(), view);
    } else if (spans.size() == 1 || spans.size() == 3) {
      constexpr Axis kAxes[] = {kChannel, kHeight, kWidth};
      for (size_t i = 0; i < spans.size(); ++i) view.Narrow(kAxes[i], spans[i]);
    } else {
      fault = "the flexible shape of an input does not have rank 1 or 3";
    }
  } else {
    fault = "an input is neither an array nor an image";
  }
  return fault;
}

std::string ConstrainOutput(const pb::FeatureType& type, BlobShape& blob) {
  std::string fault;
  BlobView view(blob, fault);
  if (type.has_imagetype()) {
    view.Set(kChannel, IsGray(type.imagetype()) ? 1 : 3);
    view.Set(kHeight, static_cast<uint64_t>(type.imagetype().height()));
    view.Set(kWidth, static_cast<uint64_t>(type.imagetype().width()));
  } else {
    ConstrainFixed(type.multiarraytype().shape(), view);
  }
  return fault;
}

}  // namespace nn::coreml
