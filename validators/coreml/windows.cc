// Rules about kernels, strides, padding and resampling.
#include <algorithm>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

// Accepts an empty list, or a positive size for height and one for width.
template <typename Sizes>
void CheckPair(Findings& f, const LayerAt& at, std::string_view field, const Sizes& sizes) {
  if (!sizes.empty() && (sizes.size() != 2 || sizes.Get(0) == 0 || sizes.Get(1) == 0))
    f.Add(Where(at, field), "{} has {} values in {}; expected two positive ones", Title(at),
          sizes.size(), field);
}

void PairsPositive(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
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
}

void TargetSizes(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const auto check = [&](const auto& sizes, std::string_view field) {
      if (!sizes.empty() && sizes.size() != 2)
        f.Add(Where(at, field), "{} has {} values in {}; expected 2", Title(at), sizes.size(),
              field);
    };
    if (at.layer->has_resizebilinear())
      check(at.layer->resizebilinear().targetsize(), "resizeBilinear.targetSize");
    if (at.layer->has_cropresize())
      check(at.layer->cropresize().targetsize(), "cropResize.targetSize");
  }
}

void TargetSizesPositive(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const auto check = [&](const auto& sizes, std::string_view field) {
      for (const uint64_t size : sizes)
        if (size == 0) f.Add(Where(at, field), "{} has a size of 0 in {}", Title(at), field);
    };
    if (at.layer->has_resizebilinear())
      check(at.layer->resizebilinear().targetsize(), "resizeBilinear.targetSize");
    if (at.layer->has_cropresize())
      check(at.layer->cropresize().targetsize(), "cropResize.targetSize");
    if (at.layer->has_upsample())
      check(at.layer->upsample().scalingfactor(), "upsample.scalingFactor");
  }
}

void PaddingSet(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const pb::NeuralNetworkLayer& l = *at.layer;
    const bool unset =
        (l.has_convolution() && l.convolution().ConvolutionPaddingType_case() ==
                                    pb::ConvolutionLayerParams::CONVOLUTIONPADDINGTYPE_NOT_SET) ||
        (l.has_pooling() && l.pooling().PoolingPaddingType_case() ==
                                pb::PoolingLayerParams::POOLINGPADDINGTYPE_NOT_SET) ||
        (l.has_padding() &&
         l.padding().PaddingType_case() == pb::PaddingLayerParams::PADDINGTYPE_NOT_SET);
    if (unset) f.Add(Where(at), "{} has no padding type", Title(at));
  }
}

template <typename Params>
void Check3d(Findings& f, const LayerAt& at, const Params& p) {
  for (const auto& [name, value] :
       {std::pair("kernelDepth", p.kerneldepth()), std::pair("kernelHeight", p.kernelheight()),
        std::pair("kernelWidth", p.kernelwidth()), std::pair("strideDepth", p.stridedepth()),
        std::pair("strideHeight", p.strideheight()), std::pair("strideWidth", p.stridewidth())})
    if (value <= 0) f.Add(Where(at), "{} has {} {}; expected 1 or more", Title(at), name, value);
  for (const auto& [name, value] : {std::pair("customPaddingFront", p.custompaddingfront()),
                                    std::pair("customPaddingBack", p.custompaddingback()),
                                    std::pair("customPaddingTop", p.custompaddingtop()),
                                    std::pair("customPaddingBottom", p.custompaddingbottom()),
                                    std::pair("customPaddingLeft", p.custompaddingleft()),
                                    std::pair("customPaddingRight", p.custompaddingright())})
    if (value < 0) f.Add(Where(at), "{} has {} {}; expected 0 or more", Title(at), name, value);
}

// Whether any of the six padding amounts is not 0.
template <typename Params>
bool IsPadded(const Params& p) {
  return p.custompaddingfront() != 0 || p.custompaddingback() != 0 || p.custompaddingtop() != 0 ||
         p.custompaddingbottom() != 0 || p.custompaddingleft() != 0 || p.custompaddingright() != 0;
}

void CustomPadding(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_pooling3d() &&
        at.layer->pooling3d().paddingtype() != pb::Pooling3DLayerParams::CUSTOM &&
        IsPadded(at.layer->pooling3d()))
      f.Add(Where(at, "pooling3d.paddingType"),
            "{} has padding amounts, but its paddingType is not CUSTOM", Title(at));
}

void CustomPaddingOfConvolutions(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_convolution3d() &&
        at.layer->convolution3d().paddingtype() != pb::Convolution3DLayerParams::CUSTOM &&
        IsPadded(at.layer->convolution3d()))
      f.Add(Where(at, "convolution3d.paddingType"),
            "{} has padding amounts, but its paddingType is not CUSTOM", Title(at));
}

void Windows3d(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (at.layer->has_pooling3d()) Check3d(f, at, at.layer->pooling3d());
    if (!at.layer->has_convolution3d()) continue;
    const auto& p = at.layer->convolution3d();
    Check3d(f, at, p);
    for (const auto& [name, value] :
         {std::pair("inputChannels", p.inputchannels()),
          std::pair("outputChannels", p.outputchannels()), std::pair("nGroups", p.ngroups()),
          std::pair("dilationDepth", p.dilationdepth()),
          std::pair("dilationHeight", p.dilationheight()),
          std::pair("dilationWidth", p.dilationwidth())})
      if (value <= 0) f.Add(Where(at), "{} has {} {}; expected 1 or more", Title(at), name, value);
  }
}

template <typename Params>
void CheckOutputShape(Findings& f, const LayerAt& at, const Params& p, int axes,
                      std::string_view field) {
  const int given = p.outputshape_size();
  if (given != 0 && (!p.isdeconvolution() || given != axes))
    f.Add(Where(at, field), "{} has an outputShape of {} sizes{}", Title(at), given,
          p.isdeconvolution() ? fmt::format("; expected {}", axes) : " but is not a deconvolution");
}

void OutputShapes(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_convolution3d())
      CheckOutputShape(f, at, at.layer->convolution3d(), 3, "convolution3d.outputShape");
}

void OutputShapes2d(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_convolution())
      CheckOutputShape(f, at, at.layer->convolution(), 2, "convolution.outputShape");
}

void GroupsDivide(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (at.layer->has_convolution()) {
      const auto& p = at.layer->convolution();
      if (p.ngroups() > 1 && p.outputchannels() % p.ngroups() != 0)
        f.Add(Where(at, "convolution.nGroups"),
              "{} has {} output channels, which {} groups do not divide", Title(at),
              p.outputchannels(), p.ngroups());
    }
    if (!at.layer->has_convolution3d()) continue;
    const auto& p = at.layer->convolution3d();
    if (p.ngroups() > 1 &&
        (p.outputchannels() % p.ngroups() != 0 || p.inputchannels() % p.ngroups() != 0))
      f.Add(Where(at, "convolution3d.nGroups"),
            "{} has {} input and {} output channels, which {} groups do not divide", Title(at),
            p.inputchannels(), p.outputchannels(), p.ngroups());
  }
}

void DynamicWeights(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_convolution() || at.layer->input_size() < 2) continue;
    const auto& p = at.layer->convolution();
    const bool dilated = (p.dilationfactor_size() > 0 && p.dilationfactor(0) > 1) ||
                         (p.dilationfactor_size() > 1 && p.dilationfactor(1) > 1);
    if (p.isdeconvolution() || dilated)
      f.Add(Where(at, "convolution"), "{} takes its weights as an input but is {}", Title(at),
            p.isdeconvolution() ? "a deconvolution" : "dilated");
  }
}

void DynamicWeightsAlone(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_convolution() && at.layer->input_size() > 1 &&
        at.layer->convolution().hasbias())
      f.Add(Where(at, "convolution.hasBias"), "{} takes its weights as an input but sets hasBias",
            Title(at));
}

void Borders(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (at.layer->has_padding()) {
      const int n = at.layer->padding().paddingamounts().borderamounts_size();
      if (n != 0 && n != 2)
        f.Add(Where(at, "padding.paddingAmounts"), "{} has {} border amounts; expected 2",
              Title(at), n);
    }
    if (!at.layer->has_crop()) continue;
    const auto& p = at.layer->crop();
    if (at.layer->input_size() == 1 && p.cropamounts().borderamounts_size() != 2)
      f.Add(Where(at, "crop.cropAmounts"), "{} has {} border amounts; expected 2", Title(at),
            p.cropamounts().borderamounts_size());
    if (at.layer->input_size() == 2 && p.offset_size() != 2)
      f.Add(Where(at, "crop.offset"), "{} has {} offsets; expected 2", Title(at), p.offset_size());
  }
}

void Upsampling(const Subject& s, Findings& f) {
  using U = pb::UpsampleLayerParams;
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_upsample()) continue;
    const U& p = at.layer->upsample();
    const int whole = p.scalingfactor_size();
    const int fraction = p.fractionalscalingfactor_size();
    if ((whole != 0 && whole != 2) || (fraction != 0 && fraction != 2) ||
        (whole != 0 && fraction != 0))
      f.Add(Where(at, "upsample"),
            "{} has {} integer and {} fractional scaling factors; expected 2 of one kind",
            Title(at), whole, fraction);
    if (fraction != 0 && p.linearupsamplemode() == U::DEFAULT)
      f.Add(Where(at, "upsample.linearUpsampleMode"),
            "{} has fractional scaling factors without ALIGN_CORNERS_TRUE or ALIGN_CORNERS_FALSE",
            Title(at));
    if (p.mode() == U::NN && p.linearupsamplemode() != U::DEFAULT)
      f.Add(Where(at, "upsample.linearUpsampleMode"),
            "{} has mode NN but a linearUpsampleMode other than DEFAULT", Title(at));
  }
}

constexpr Rule kWindowRules[] = {
    {.info = {.id = "COREML-WINDOW-001",
              .statement =
                  "The kernelSize, stride and dilationFactor of a convolution and the kernelSize "
                  "and stride of a pooling layer are empty or two positive numbers.",
              .clause = "NeuralNetwork.proto, ConvolutionLayerParams",
              .hint = "Set the field to a height and a width of 1 or more, or clear it to use the "
                      "default."},
     .check = PairsPositive},
    {.info = {.id = "COREML-WINDOW-009",
              .statement =
                  "The targetSize of resizeBilinear and cropResize is empty or has two values.",
              .clause = "NeuralNetwork.proto, ResizeBilinearLayerParams.targetSize",
              .vendor = true,
              .hint = "Set targetSize to a height and a width, or clear it."},
     .check = TargetSizes},
    {.info = {.id = "COREML-WINDOW-010",
              .statement = "The targetSize of resizeBilinear and cropResize and the scalingFactor "
                           "of upsample have no value 0.",
              .clause = "NeuralNetwork.proto, ResizeBilinearLayerParams.targetSize",
              .hint = "Set the sizes and factors to 1 or more."},
     .check = TargetSizesPositive},
    {.info = {.id = "COREML-WINDOW-002",
              .statement = "Convolution, pooling and padding layers have a padding type.",
              .clause = "NeuralNetwork.proto, ConvolutionLayerParams",
              .vendor = true,
              .hint = "Set valid or same for a convolution, valid, same or includeLastPixel for "
                      "pooling, and constant, reflection or replication for padding."},
     .check = PaddingSet},
    {.info = {.id = "COREML-WINDOW-003",
              .statement = "The kernels and strides of convolution3d and pooling3d and the "
                           "dilations, channels and groups of convolution3d are positive, and "
                           "their padding amounts are not negative.",
              .clause = "NeuralNetwork.proto, Convolution3DLayerParams",
              .vendor = true,
              .hint = "Set the field to 1 or more, or a padding amount to 0 or more."},
     .check = Windows3d},
    {.info = {.id = "COREML-WINDOW-011",
              .statement =
                  "A pooling3d layer has padding amounts only if its paddingType is CUSTOM.",
              .clause = "NeuralNetwork.proto, Pooling3DLayerParams.paddingType",
              .vendor = true,
              .hint = "Set paddingType to CUSTOM, or clear the padding amounts."},
     .check = CustomPadding},
    {.info = {.id = "COREML-WINDOW-012",
              .severity = Severity::kWarning,
              .statement = "A convolution3d layer has padding amounts only if its paddingType is "
                           "CUSTOM; other types ignore them.",
              .clause = "NeuralNetwork.proto, Convolution3DLayerParams.paddingType",
              .hint = "Set paddingType to CUSTOM, or clear the padding amounts."},
     .check = CustomPaddingOfConvolutions},
    {.info = {.id = "COREML-WINDOW-004",
              .statement = "The outputShape of a convolution3d layer is empty, or has three sizes "
                           "if the layer is a deconvolution.",
              .clause = "NeuralNetwork.proto, Convolution3DLayerParams.outputShape",
              .vendor = true,
              .hint = "Set outputShape to a depth, a height and a width in a deconvolution, and "
                      "clear it in a convolution."},
     .check = OutputShapes},
    {.info = {.id = "COREML-WINDOW-013",
              .statement = "The outputShape of a convolution layer is empty, or has two sizes if "
                           "the layer is a deconvolution.",
              .clause = "NeuralNetwork.proto, ConvolutionLayerParams.outputShape",
              .hint = "Set outputShape to a height and a width in a deconvolution, and clear it in "
                      "a convolution."},
     .check = OutputShapes2d},
    {.info = {.id = "COREML-WINDOW-005",
              .statement = "The nGroups of convolution and convolution3d divides the output "
                           "channels and, in convolution3d, the input channels.",
              .clause = "NeuralNetwork.proto, ConvolutionLayerParams.nGroups",
              .hint = "Set nGroups to a divisor of the channel counts."},
     .check = GroupsDivide},
    {.info = {.id = "COREML-WINDOW-006",
              .statement = "A convolution that takes its weights as an input is not a "
                           "deconvolution and is not dilated.",
              .clause = "NeuralNetwork.proto, ConvolutionLayerParams",
              .vendor = true,
              .hint =
                  "Store the weights in the layer, or clear isDeconvolution and dilationFactor."},
     .check = DynamicWeights},
    {.info = {.id = "COREML-WINDOW-014",
              .statement = "A convolution that takes its weights as an input does not set hasBias.",
              .clause = "NeuralNetwork.proto, ConvolutionLayerParams.hasBias",
              .hint = "Clear hasBias, and add the bias with an addBroadcastable layer."},
     .check = DynamicWeightsAlone},
    {.info = {.id = "COREML-WINDOW-007",
              .statement = "The paddingAmounts of a padding layer are empty or one for height and "
                           "one for width, and a crop layer has two cropAmounts with one input and "
                           "two offsets with two inputs.",
              .clause = "NeuralNetwork.proto, BorderAmounts",
              .vendor = true,
              .hint = "Give one value for height and one for width."},
     .check = Borders},
    {.info = {.id = "COREML-WINDOW-008",
              .statement = "The factors of an upsample layer are empty or a pair of integer or of "
                           "fractional ones, fractional factors have ALIGN_CORNERS_TRUE or "
                           "ALIGN_CORNERS_FALSE, and mode NN has no linearUpsampleMode.",
              .clause = "NeuralNetwork.proto, UpsampleLayerParams",
              .vendor = true,
              .hint = "Set two scalingFactor or two fractionalScalingFactor values; for fractional "
                      "ones use mode BILINEAR with ALIGN_CORNERS_TRUE or ALIGN_CORNERS_FALSE."},
     .check = Upsampling},
};

}  // namespace

std::span<const Rule> WindowRules() {
  return kWindowRules;
}

}  // namespace nn::coreml
