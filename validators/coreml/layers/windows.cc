// Rules about kernels, strides, padding and resampling.
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

constexpr Rule kWindowRules[] = {
    {.info = {.id = "COREML-WINDOW-001",
              .statement =
                  "The kernelSize, stride and dilationFactor of a convolution and the kernelSize "
                  "and stride of a pooling layer are empty or two positive numbers.",
              .clause = "NeuralNetwork.proto, ConvolutionLayerParams",
              .hint = "Set the field to a height and a width of 1 or more, or clear it to use the "
                      "default."},
     .check = Holds<Label::kPairsPositive>},
    {.info = {.id = "COREML-WINDOW-009",
              .statement =
                  "The targetSize of resizeBilinear and cropResize is empty or has two values.",
              .clause = "NeuralNetwork.proto, ResizeBilinearLayerParams.targetSize",
              .vendor = true,
              .hint = "Set targetSize to a height and a width, or clear it."},
     .check = Holds<Label::kTargetSizes>},
    {.info = {.id = "COREML-WINDOW-010",
              .statement = "The targetSize of resizeBilinear and cropResize and the scalingFactor "
                           "of upsample have no value 0.",
              .clause = "NeuralNetwork.proto, ResizeBilinearLayerParams.targetSize",
              .hint = "Set the sizes and factors to 1 or more."},
     .check = Holds<Label::kTargetSizesPositive>},
    {.info = {.id = "COREML-WINDOW-002",
              .statement = "Convolution, pooling and padding layers have a padding type.",
              .clause = "NeuralNetwork.proto, ConvolutionLayerParams",
              .vendor = true,
              .hint = "Set valid or same for a convolution, valid, same or includeLastPixel for "
                      "pooling, and constant, reflection or replication for padding."},
     .check = Holds<Label::kPaddingSet>},
    {.info = {.id = "COREML-WINDOW-003",
              .statement = "The kernels and strides of convolution3d and pooling3d and the "
                           "dilations, channels and groups of convolution3d are positive, and "
                           "their padding amounts are not negative.",
              .clause = "NeuralNetwork.proto, Convolution3DLayerParams",
              .vendor = true,
              .hint = "Set the field to 1 or more, or a padding amount to 0 or more."},
     .check = Holds<Label::kWindows3d>},
    {.info = {.id = "COREML-WINDOW-011",
              .statement =
                  "A pooling3d layer has padding amounts only if its paddingType is CUSTOM.",
              .clause = "NeuralNetwork.proto, Pooling3DLayerParams.paddingType",
              .vendor = true,
              .hint = "Set paddingType to CUSTOM, or clear the padding amounts."},
     .check = Holds<Label::kCustomPadding>},
    {.info = {.id = "COREML-WINDOW-012",
              .severity = Severity::kWarning,
              .statement = "A convolution3d layer has padding amounts only if its paddingType is "
                           "CUSTOM; other types ignore them.",
              .clause = "NeuralNetwork.proto, Convolution3DLayerParams.paddingType",
              .hint = "Set paddingType to CUSTOM, or clear the padding amounts."},
     .check = Holds<Label::kCustomPaddingOfConvolutions>},
    {.info = {.id = "COREML-WINDOW-004",
              .statement = "The outputShape of a convolution3d layer is empty, or has three sizes "
                           "if the layer is a deconvolution.",
              .clause = "NeuralNetwork.proto, Convolution3DLayerParams.outputShape",
              .vendor = true,
              .hint = "Set outputShape to a depth, a height and a width in a deconvolution, and "
                      "clear it in a convolution."},
     .check = Holds<Label::kOutputShapes>},
    {.info = {.id = "COREML-WINDOW-013",
              .statement = "The outputShape of a convolution layer is empty, or has two sizes if "
                           "the layer is a deconvolution.",
              .clause = "NeuralNetwork.proto, ConvolutionLayerParams.outputShape",
              .hint = "Set outputShape to a height and a width in a deconvolution, and clear it in "
                      "a convolution."},
     .check = Holds<Label::kOutputShapes2d>},
    {.info = {.id = "COREML-WINDOW-005",
              .statement = "The nGroups of convolution and convolution3d divides the output "
                           "channels and, in convolution3d, the input channels.",
              .clause = "NeuralNetwork.proto, ConvolutionLayerParams.nGroups",
              .hint = "Set nGroups to a divisor of the channel counts."},
     .check = Holds<Label::kGroupsDivide>},
    {.info = {.id = "COREML-WINDOW-006",
              .statement = "A convolution that takes its weights as an input is not a "
                           "deconvolution and is not dilated.",
              .clause = "NeuralNetwork.proto, ConvolutionLayerParams",
              .vendor = true,
              .hint =
                  "Store the weights in the layer, or clear isDeconvolution and dilationFactor."},
     .check = Holds<Label::kDynamicWeights>},
    {.info = {.id = "COREML-WINDOW-014",
              .statement = "A convolution that takes its weights as an input does not set hasBias.",
              .clause = "NeuralNetwork.proto, ConvolutionLayerParams.hasBias",
              .hint = "Clear hasBias, and add the bias with an addBroadcastable layer."},
     .check = Holds<Label::kDynamicWeightsAlone>},
    {.info = {.id = "COREML-WINDOW-007",
              .statement = "The paddingAmounts of a padding layer are empty or one for height and "
                           "one for width, and a crop layer has two cropAmounts with one input and "
                           "two offsets with two inputs.",
              .clause = "NeuralNetwork.proto, BorderAmounts",
              .vendor = true,
              .hint = "Give one value for height and one for width."},
     .check = Holds<Label::kBorderCounts>},
    {.info = {.id = "COREML-WINDOW-008",
              .statement = "The factors of an upsample layer are empty or a pair of integer or of "
                           "fractional ones, fractional factors have ALIGN_CORNERS_TRUE or "
                           "ALIGN_CORNERS_FALSE, and mode NN has no linearUpsampleMode.",
              .clause = "NeuralNetwork.proto, UpsampleLayerParams",
              .vendor = true,
              .hint = "Set two scalingFactor or two fractionalScalingFactor values; for fractional "
                      "ones use mode BILINEAR with ALIGN_CORNERS_TRUE or ALIGN_CORNERS_FALSE."},
     .check = Holds<Label::kUpsampling>},
};

}  // namespace

std::span<const Rule> WindowRules() {
  return kWindowRules;
}

}  // namespace nn::coreml
