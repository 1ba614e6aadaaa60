// Rules about kernels, strides, padding and resampling.
#include <algorithm>

#include "base/text/text.h"
#include "formats/coreml/spec/signature_constraints.h"

namespace nn::coreml {
namespace {

// Accepts an empty list, or a positive size for height and one for width.
template <typename Sizes>
void CheckPair(Misfits& f, const LayerView& at, std::string_view field, const Sizes& sizes) {
  if (!sizes.empty() && (sizes.size() != 2 || sizes.Get(0) == 0 || sizes.Get(1) == 0))
    f.Add(field, "{} has {} values in {}; expected two positive ones", Title(at), sizes.size(),
          field);
}

void PairsPositive(const LayerView& at, Misfits& f) {
  if (at.layer->has_convolution()) {
    const auto& p = at.layer->convolution();
    CheckPair(f, at, "convolution.kernelSize", p.kernelsize());
    CheckPair(f, at, "convolution.stride", p.stride());
    CheckPair(f, at, "convolution.dilationFactor", p.dilationfactor());
  } else if (at.layer->has_pooling()) {
    CheckPair(f, at, "pooling.kernelSize", at.layer->pooling().kernelsize());
    CheckPair(f, at, "pooling.stride", at.layer->pooling().stride());
  }
}

void TargetSizes(const LayerView& at, Misfits& f) {
  const auto check = [&](const auto& sizes, std::string_view field) {
    if (!sizes.empty() && sizes.size() != 2)
      f.Add(field, "{} has {} values in {}; expected 2", Title(at), sizes.size(), field);
  };
  if (at.layer->has_resizebilinear())
    check(at.layer->resizebilinear().targetsize(), "resizeBilinear.targetSize");
  if (at.layer->has_cropresize())
    check(at.layer->cropresize().targetsize(), "cropResize.targetSize");
}

void TargetSizesPositive(const LayerView& at, Misfits& f) {
  const auto check = [&](const auto& sizes, std::string_view field) {
    for (const uint64_t size : sizes)
      if (size == 0) f.Add(field, "{} has a size of 0 in {}", Title(at), field);
  };
  if (at.layer->has_resizebilinear())
    check(at.layer->resizebilinear().targetsize(), "resizeBilinear.targetSize");
  if (at.layer->has_cropresize())
    check(at.layer->cropresize().targetsize(), "cropResize.targetSize");
  if (at.layer->has_upsample())
    check(at.layer->upsample().scalingfactor(), "upsample.scalingFactor");
}

void PaddingSet(const LayerView& at, Misfits& f) {
  const pb::NeuralNetworkLayer& l = *at.layer;
  const bool unset =
      (l.has_convolution() && l.convolution().ConvolutionPaddingType_case() ==
                                  pb::ConvolutionLayerParams::CONVOLUTIONPADDINGTYPE_NOT_SET) ||
      (l.has_pooling() && l.pooling().PoolingPaddingType_case() ==
                              pb::PoolingLayerParams::POOLINGPADDINGTYPE_NOT_SET) ||
      (l.has_padding() &&
       l.padding().PaddingType_case() == pb::PaddingLayerParams::PADDINGTYPE_NOT_SET);
  if (unset) f.Add("", "{} has no padding type", Title(at));
}

template <typename Params>
void Check3d(Misfits& f, const LayerView& at, const Params& p) {
  for (const auto& [name, value] :
       {std::pair("kernelDepth", p.kerneldepth()), std::pair("kernelHeight", p.kernelheight()),
        std::pair("kernelWidth", p.kernelwidth()), std::pair("strideDepth", p.stridedepth()),
        std::pair("strideHeight", p.strideheight()), std::pair("strideWidth", p.stridewidth())})
    if (value <= 0) f.Add("", "{} has {} {}; expected 1 or more", Title(at), name, value);
  for (const auto& [name, value] : {std::pair("customPaddingFront", p.custompaddingfront()),
                                    std::pair("customPaddingBack", p.custompaddingback()),
                                    std::pair("customPaddingTop", p.custompaddingtop()),
                                    std::pair("customPaddingBottom", p.custompaddingbottom()),
                                    std::pair("customPaddingLeft", p.custompaddingleft()),
                                    std::pair("customPaddingRight", p.custompaddingright())})
    if (value < 0) f.Add("", "{} has {} {}; expected 0 or more", Title(at), name, value);
}

// Whether any of the six padding amounts is not 0.
template <typename Params>
bool IsPadded(const Params& p) {
  return p.custompaddingfront() != 0 || p.custompaddingback() != 0 || p.custompaddingtop() != 0 ||
         p.custompaddingbottom() != 0 || p.custompaddingleft() != 0 || p.custompaddingright() != 0;
}

void CustomPadding(const LayerView& at, Misfits& f) {
  if (at.layer->has_pooling3d() &&
      at.layer->pooling3d().paddingtype() != pb::Pooling3DLayerParams::CUSTOM &&
      IsPadded(at.layer->pooling3d()))
    f.Add("pooling3d.paddingType", "{} has padding amounts, but its paddingType is not CUSTOM",
          Title(at));
}

void CustomPaddingOfConvolutions(const LayerView& at, Misfits& f) {
  if (at.layer->has_convolution3d() &&
      at.layer->convolution3d().paddingtype() != pb::Convolution3DLayerParams::CUSTOM &&
      IsPadded(at.layer->convolution3d()))
    f.Add("convolution3d.paddingType", "{} has padding amounts, but its paddingType is not CUSTOM",
          Title(at));
}

void Windows3d(const LayerView& at, Misfits& f) {
  if (at.layer->has_pooling3d()) Check3d(f, at, at.layer->pooling3d());
  if (!at.layer->has_convolution3d()) return;
  const auto& p = at.layer->convolution3d();
  Check3d(f, at, p);
  for (const auto& [name, value] :
       {std::pair("inputChannels", p.inputchannels()),
        std::pair("outputChannels", p.outputchannels()), std::pair("nGroups", p.ngroups()),
        std::pair("dilationDepth", p.dilationdepth()),
        std::pair("dilationHeight", p.dilationheight()),
        std::pair("dilationWidth", p.dilationwidth())})
    if (value <= 0) f.Add("", "{} has {} {}; expected 1 or more", Title(at), name, value);
}

template <typename Params>
void CheckOutputShape(Misfits& f, const LayerView& at, const Params& p, int axes,
                      std::string_view field) {
  const int given = p.outputshape_size();
  if (given != 0 && (!p.isdeconvolution() || given != axes))
    f.Add(field, "{} has an outputShape of {} sizes{}", Title(at), given,
          p.isdeconvolution() ? fmt::format("; expected {}", axes) : " but is not a deconvolution");
}

void OutputShapes(const LayerView& at, Misfits& f) {
  if (at.layer->has_convolution3d())
    CheckOutputShape(f, at, at.layer->convolution3d(), 3, "convolution3d.outputShape");
}

void OutputShapes2d(const LayerView& at, Misfits& f) {
  if (at.layer->has_convolution())
    CheckOutputShape(f, at, at.layer->convolution(), 2, "convolution.outputShape");
}

void GroupsDivide(const LayerView& at, Misfits& f) {
  if (at.layer->has_convolution()) {
    const auto& p = at.layer->convolution();
    if (p.ngroups() > 1 && p.outputchannels() % p.ngroups() != 0)
      f.Add("convolution.nGroups", "{} has {} output channels, which {} groups do not divide",
            Title(at), p.outputchannels(), p.ngroups());
  }
  if (!at.layer->has_convolution3d()) return;
  const auto& p = at.layer->convolution3d();
  if (p.ngroups() > 1 &&
      (p.outputchannels() % p.ngroups() != 0 || p.inputchannels() % p.ngroups() != 0))
    f.Add("convolution3d.nGroups",
          "{} has {} input and {} output channels, which {} groups do not divide", Title(at),
          p.inputchannels(), p.outputchannels(), p.ngroups());
}

void DynamicWeights(const LayerView& at, Misfits& f) {
  if (!at.layer->has_convolution() || at.layer->input_size() < 2) return;
  const auto& p = at.layer->convolution();
  const bool dilated = (p.dilationfactor_size() > 0 && p.dilationfactor(0) > 1) ||
                       (p.dilationfactor_size() > 1 && p.dilationfactor(1) > 1);
  if (p.isdeconvolution() || dilated)
    f.Add("convolution", "{} takes its weights as an input but is {}", Title(at),
          p.isdeconvolution() ? "a deconvolution" : "dilated");
}

void DynamicWeightsAlone(const LayerView& at, Misfits& f) {
  if (at.layer->has_convolution() && at.layer->input_size() > 1 &&
      at.layer->convolution().hasbias())
    f.Add("convolution.hasBias", "{} takes its weights as an input but sets hasBias", Title(at));
}

void BorderCounts(const LayerView& at, Misfits& f) {
  if (at.layer->has_padding()) {
    const int n = at.layer->padding().paddingamounts().borderamounts_size();
    if (n != 0 && n != 2)
      f.Add("padding.paddingAmounts", "{} has {} border amounts; expected 2", Title(at), n);
  }
  if (!at.layer->has_crop()) return;
  const auto& p = at.layer->crop();
  if (at.layer->input_size() == 1 && p.cropamounts().borderamounts_size() != 2)
    f.Add("crop.cropAmounts", "{} has {} border amounts; expected 2", Title(at),
          p.cropamounts().borderamounts_size());
  if (at.layer->input_size() == 2 && p.offset_size() != 2)
    f.Add("crop.offset", "{} has {} offsets; expected 2", Title(at), p.offset_size());
}

void Upsampling(const LayerView& at, Misfits& f) {
  using U = pb::UpsampleLayerParams;
  if (!at.layer->has_upsample()) return;
  const U& p = at.layer->upsample();
  const int whole = p.scalingfactor_size();
  const int fraction = p.fractionalscalingfactor_size();
  if ((whole != 0 && whole != 2) || (fraction != 0 && fraction != 2) ||
      (whole != 0 && fraction != 0))
    f.Add("upsample", "{} has {} integer and {} fractional scaling factors; expected 2 of one kind",
          Title(at), whole, fraction);
  if (fraction != 0 && p.linearupsamplemode() == U::DEFAULT)
    f.Add("upsample.linearUpsampleMode",
          "{} has fractional scaling factors without ALIGN_CORNERS_TRUE or ALIGN_CORNERS_FALSE",
          Title(at));
  if (p.mode() == U::NN && p.linearupsamplemode() != U::DEFAULT)
    f.Add("upsample.linearUpsampleMode",
          "{} has mode NN but a linearUpsampleMode other than DEFAULT", Title(at));
}

constexpr Constraint kWindowConstraints[] = {
    {Label::kPairsPositive, PairsPositive},
    {Label::kTargetSizes, TargetSizes},
    {Label::kTargetSizesPositive, TargetSizesPositive},
    {Label::kPaddingSet, PaddingSet},
    {Label::kWindows3d, Windows3d},
    {Label::kCustomPadding, CustomPadding},
    {Label::kCustomPaddingOfConvolutions, CustomPaddingOfConvolutions},
    {Label::kOutputShapes, OutputShapes},
    {Label::kOutputShapes2d, OutputShapes2d},
    {Label::kGroupsDivide, GroupsDivide},
    {Label::kDynamicWeights, DynamicWeights},
    {Label::kDynamicWeightsAlone, DynamicWeightsAlone},
    {Label::kBorderCounts, BorderCounts},
    {Label::kUpsampling, Upsampling},
};

}  // namespace

std::span<const Constraint> WindowConstraints() {
  return kWindowConstraints;
}

}  // namespace nn::coreml
