// Rules of kernels, strides, padding and resampling.
#include <algorithm>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

// A list that is empty or has a positive size for height and for width.
template <typename Sizes>
void CheckPair(Findings& f, const LayerAt& at, std::string_view field, const Sizes& sizes) {
  if (!sizes.empty() && (sizes.size() != 2 || sizes.Get(0) == 0 || sizes.Get(1) == 0))
    f.Add(Where(at, field), "{} has {} values in {}; two positive ones are needed", Title(at),
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
        f.Add(Where(at, field), "{} has {} values in {}; two are needed", Title(at), sizes.size(),
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
       {std::pair("kernel depth", p.kerneldepth()), std::pair("kernel height", p.kernelheight()),
        std::pair("kernel width", p.kernelwidth()), std::pair("stride depth", p.stridedepth()),
        std::pair("stride height", p.strideheight()), std::pair("stride width", p.stridewidth())})
    if (value <= 0) f.Add(Where(at), "{} has {} {}", Title(at), name, value);
  for (const auto& [name, value] :
       {std::pair("front", p.custompaddingfront()), std::pair("back", p.custompaddingback()),
        std::pair("top", p.custompaddingtop()), std::pair("bottom", p.custompaddingbottom()),
        std::pair("left", p.custompaddingleft()), std::pair("right", p.custompaddingright())})
    if (value < 0) f.Add(Where(at), "{} has {} padding {}", Title(at), name, value);
}

// Amounts of padding on the six sides.
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
      f.Add(Where(at, "pooling3d.paddingType"), "{} has amounts of padding without CUSTOM",
            Title(at));
}

void CustomPaddingOfConvolutions(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_convolution3d() &&
        at.layer->convolution3d().paddingtype() != pb::Convolution3DLayerParams::CUSTOM &&
        IsPadded(at.layer->convolution3d()))
      f.Add(Where(at, "convolution3d.paddingType"), "{} has amounts of padding without CUSTOM",
            Title(at));
}

void Windows3d(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (at.layer->has_pooling3d()) Check3d(f, at, at.layer->pooling3d());
    if (!at.layer->has_convolution3d()) continue;
    const auto& p = at.layer->convolution3d();
    Check3d(f, at, p);
    for (const auto& [name, value] :
         {std::pair("input channels", p.inputchannels()),
          std::pair("output channels", p.outputchannels()), std::pair("groups", p.ngroups()),
          std::pair("dilation depth", p.dilationdepth()),
          std::pair("dilation height", p.dilationheight()),
          std::pair("dilation width", p.dilationwidth())})
      if (value <= 0) f.Add(Where(at), "{} has {} {}", Title(at), value, name);
  }
}

template <typename Params>
void CheckOutputShape(Findings& f, const LayerAt& at, const Params& p, int axes,
                      std::string_view field) {
  const int given = p.outputshape_size();
  if (given != 0 && (!p.isdeconvolution() || given != axes))
    f.Add(Where(at, field), "{} has an output shape of {} sizes{}", Title(at), given,
          p.isdeconvolution() ? "" : " but is no deconvolution");
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
        f.Add(Where(at, "convolution.nGroups"), "{} has {} output channels in {} groups", Title(at),
              p.outputchannels(), p.ngroups());
    }
    if (!at.layer->has_convolution3d()) continue;
    const auto& p = at.layer->convolution3d();
    if (p.ngroups() > 1 &&
        (p.outputchannels() % p.ngroups() != 0 || p.inputchannels() % p.ngroups() != 0))
      f.Add(Where(at, "convolution3d.nGroups"), "{} has {} and {} channels in {} groups", Title(at),
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
      f.Add(Where(at, "convolution"), "{} takes its weights as an input and is {}", Title(at),
            p.isdeconvolution() ? "a deconvolution" : "dilated");
  }
}

void DynamicWeightsAlone(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_convolution() && at.layer->input_size() > 1 &&
        at.layer->convolution().hasbias())
      f.Add(Where(at, "convolution.hasBias"), "{} takes its weights as an input and has a bias",
            Title(at));
}

void Borders(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (at.layer->has_padding()) {
      const int n = at.layer->padding().paddingamounts().borderamounts_size();
      if (n != 0 && n != 2)
        f.Add(Where(at, "padding.paddingAmounts"), "{} has {} border amounts", Title(at), n);
    }
    if (!at.layer->has_crop()) continue;
    const auto& p = at.layer->crop();
    if (at.layer->input_size() == 1 && p.cropamounts().borderamounts_size() != 2)
      f.Add(Where(at, "crop.cropAmounts"), "{} has {} border amounts", Title(at),
            p.cropamounts().borderamounts_size());
    if (at.layer->input_size() == 2 && p.offset_size() != 2)
      f.Add(Where(at, "crop.offset"), "{} has {} offsets", Title(at), p.offset_size());
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
      f.Add(Where(at, "upsample"), "{} has {} scaling factors and {} fractional ones", Title(at),
            whole, fraction);
    if (fraction != 0 && p.linearupsamplemode() == U::DEFAULT)
      f.Add(Where(at, "upsample.linearUpsampleMode"),
            "{} has fractional factors without ALIGN_CORNERS_TRUE or ALIGN_CORNERS_FALSE",
            Title(at));
    if (p.mode() == U::NN && p.linearupsamplemode() != U::DEFAULT)
      f.Add(Where(at, "upsample.linearUpsampleMode"),
            "{} takes the nearest neighbour but has a linear mode", Title(at));
  }
}

constexpr Rule kRules[] = {
    {{"COREML-WINDOW-001", Severity::kError,
      "Kernel sizes, strides and dilations are two positive numbers, or left out.",
      "NeuralNetwork.proto, ConvolutionLayerParams", false, ""},
     PairsPositive},
    {{"COREML-WINDOW-009", Severity::kError,
      "Target sizes of resizeBilinear and cropResize are a height and a width, or left out.",
      "NeuralNetwork.proto, ResizeBilinearLayerParams.targetSize", true, ""},
     TargetSizes},
    {{"COREML-WINDOW-010", Severity::kError, "Target sizes and scaling factors are positive.",
      "NeuralNetwork.proto, ResizeBilinearLayerParams.targetSize", false, ""},
     TargetSizesPositive},
    {{"COREML-WINDOW-002", Severity::kError,
      "Convolutions, pools and padding layers have a padding type.",
      "NeuralNetwork.proto, ConvolutionLayerParams", true, ""},
     PaddingSet},
    {{"COREML-WINDOW-003", Severity::kError,
      "Windows, strides and channels of 3-D layers are positive, their padding not negative.",
      "NeuralNetwork.proto, Convolution3DLayerParams", true, ""},
     Windows3d},
    {{"COREML-WINDOW-011", Severity::kError,
      "Pools in 3-D have amounts of padding only with CUSTOM.",
      "NeuralNetwork.proto, Pooling3DLayerParams.paddingType", true, "Set paddingType to CUSTOM."},
     CustomPadding},
    {{"COREML-WINDOW-012", Severity::kWarning,
      "Convolutions in 3-D have amounts of padding only with CUSTOM; else they are not used.",
      "NeuralNetwork.proto, Convolution3DLayerParams.paddingType", false,
      "Set paddingType to CUSTOM."},
     CustomPaddingOfConvolutions},
    {{"COREML-WINDOW-004", Severity::kError,
      "Only deconvolutions in 3-D state an output shape, with three sizes.",
      "NeuralNetwork.proto, Convolution3DLayerParams.outputShape", true, ""},
     OutputShapes},
    {{"COREML-WINDOW-013", Severity::kError,
      "Only deconvolutions state an output shape, with two sizes.",
      "NeuralNetwork.proto, ConvolutionLayerParams.outputShape", false, ""},
     OutputShapes2d},
    {{"COREML-WINDOW-005", Severity::kError, "Groups divide the channels.",
      "NeuralNetwork.proto, ConvolutionLayerParams.nGroups", false, ""},
     GroupsDivide},
    {{"COREML-WINDOW-006", Severity::kError,
      "A convolution with weights as input is no deconvolution and not dilated.",
      "NeuralNetwork.proto, ConvolutionLayerParams", true, ""},
     DynamicWeights},
    {{"COREML-WINDOW-014", Severity::kError,
      "A convolution with weights as input has no bias of its own.",
      "NeuralNetwork.proto, ConvolutionLayerParams.hasBias", false, ""},
     DynamicWeightsAlone},
    {{"COREML-WINDOW-007", Severity::kError,
      "Padding and cropping have amounts for height and width.",
      "NeuralNetwork.proto, BorderAmounts", true, ""},
     Borders},
    {{"COREML-WINDOW-008", Severity::kError, "Upsampling has factors that go with its mode.",
      "NeuralNetwork.proto, UpsampleLayerParams", true, ""},
     Upsampling},
};

}  // namespace

std::span<const Rule> WindowRules() {
  return kRules;
}

}  // namespace nn::coreml
