// Rules for convolution and pooling.
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

constexpr Rule kWindowRules[] = {
    {.info = {.id = "NNAPI-WINDOW-001",
              .statement =
                  "The window of a convolution or pooling operation fits its padded input, and the "
                  "output has the shape that input, window, strides and padding give.",
              .clause = "types.hal, OperationType.CONV_2D",
              .vendor = true,
              .hint = "Declare the computed shape: SAME gives size / stride rounded up; VALID "
                      "gives (size - window) / stride + 1 rounded down."},
     .check = Report<Label::kWindowFits, Label::kWindowShape>},
    {.info = {.id = "NNAPI-WINDOW-002",
              .statement = "The last dimension of a CONV_2D filter is the depth of the input.",
              .clause = "types.hal, OperationType.CONV_2D",
              .vendor = true,
              .hint = "Arrange the filter as [depth_out, height, width, depth_in]."},
     .check = Report<Label::kFilterDepth>},
    {.info = {.id = "NNAPI-WINDOW-003",
              .statement = "The bias of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED has one "
                           "element for each output channel or unit.",
              .clause = "types.hal, OperationType.CONV_2D",
              .vendor = true,
              .hint = "Give the bias as many elements as there are outputs; fill it with zeros if "
                      "the layer has no bias."},
     .check = Report<Label::kBiasLength>},
    {.info =
         {.id = "NNAPI-WINDOW-004",
          .statement =
              "The bias of a quantized CONV_2D, DEPTHWISE_CONV_2D or FULLY_CONNECTED has zeroPoint "
              "0 and, as its scale, the product of the input scale and the weight scale.",
          .clause = "types.hal, OperationType.CONV_2D",
          .vendor = true,
          .hint = "Quantize the bias again with the product of the input scale and the weight "
                  "scale, and with zeroPoint 0."},
     .check = Report<Label::kBiasScale>},
    {.info = {.id = "NNAPI-WINDOW-005",
              .statement =
                  "The output scale of a quantized CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED or "
                  "MUL is above the product of the scales of its first two inputs.",
              .clause = "types.hal, OperationType.CONV_2D",
              .vendor = true,
              .hint = "Choose a larger scale for the output."},
     .check = Report<Label::kProductScale>},
    {.info = {.id = "NNAPI-WINDOW-006",
              .statement = "The filter of DEPTHWISE_CONV_2D has first dimension 1, and its last "
                           "dimension is the depth of the input times the depth multiplier.",
              .clause = "types.hal, OperationType.DEPTHWISE_CONV_2D",
              .vendor = true,
              .hint = "Arrange the filter as [1, height, width, depth_in * depth_multiplier]."},
     .check = Report<Label::kDepthwiseFilter>},
    {.info = {.id = "NNAPI-WINDOW-007",
              .statement = "Explicit padding of a pooling operation is smaller than the window on "
                           "the same axis.",
              .clause = "NNAPI reference executor, pooling",
              .vendor = true,
              .hint = "Reduce the padding or enlarge the window, so that no window lies in the "
                      "padding alone."},
     .check = Report<Label::kPoolPadding>},
};

}  // namespace

std::span<const Rule> WindowRules() {
  return kWindowRules;
}

}  // namespace nn::nnapi
