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
    } else if (at.layer->has_resizebilinear()) {
      CheckPair(f, at, "resizeBilinear.targetSize", at.layer->resizebilinear().targetsize());
    } else if (at.layer->has_cropresize()) {
      CheckPair(f, at, "cropResize.targetSize", at.layer->cropresize().targetsize());
    }
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

void OutputShapes(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const auto check = [&](bool transposed, int given, int axes, std::string_view field) {
      if (given != 0 && (!transposed || given != axes))
        f.Add(Where(at, field), "{} has an output shape of {} sizes{}", Title(at), given,
              transposed ? "" : " but is no deconvolution");
    };
    if (at.layer->has_convolution())
      check(at.layer->convolution().isdeconvolution(), at.layer->convolution().outputshape_size(),
            2, "convolution.outputShape");
    if (at.layer->has_convolution3d())
      check(at.layer->convolution3d().isdeconvolution(),
            at.layer->convolution3d().outputshape_size(), 3, "convolution3d.outputShape");
  }
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
    const bool dilated = std::any_of(p.dilationfactor().begin(), p.dilationfactor().end(),
                                     [](uint64_t d) { return d > 1; });
    if (p.isdeconvolution() || dilated || p.hasbias())
      f.Add(Where(at, "convolution"), "{} takes its weights as an input and is {}", Title(at),
            p.isdeconvolution() ? "a deconvolution" : (dilated ? "dilated" : "given a bias"));
  }
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
      "Kernel sizes, strides, dilations and target sizes are two positive numbers, or left out.",
      "NeuralNetwork.proto, ConvolutionLayerParams", true, ""},
     PairsPositive},
    {{"COREML-WINDOW-002", Severity::kError,
      "Convolutions, pools and padding layers have a padding type.",
      "NeuralNetwork.proto, ConvolutionLayerParams", true, ""},
     PaddingSet},
    {{"COREML-WINDOW-003", Severity::kError,
      "Windows, strides and channels of 3-D layers are positive, their padding not negative.",
      "NeuralNetwork.proto, Convolution3DLayerParams", true, ""},
     Windows3d},
    {{"COREML-WINDOW-004", Severity::kError,
      "Only deconvolutions state an output shape, with a size for each axis.",
      "NeuralNetwork.proto, ConvolutionLayerParams.outputShape", true, ""},
     OutputShapes},
    {{"COREML-WINDOW-005", Severity::kError, "Groups divide the channels.",
      "NeuralNetwork.proto, ConvolutionLayerParams.nGroups", true, ""},
     GroupsDivide},
    {{"COREML-WINDOW-006", Severity::kError,
      "A convolution with weights as input is no deconvolution, not dilated and has no bias.",
      "NeuralNetwork.proto, ConvolutionLayerParams", true, ""},
     DynamicWeights},
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
