// Rules for elementwise operations, and for operations that keep the quantization.
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

constexpr Rule kElementwiseRules[] = {
    {.info = {.id = "NNAPI-ELEM-001",
              .statement = "The output of DEQUANTIZE, FLOOR, an activation or a normalization has "
                           "the shape of the input.",
              .clause = "types.hal, OperationType.RELU",
              .vendor = true,
              .hint = "Declare the input's shape for the output."},
     .check = Report<Label::kSameShape>},
    {.info = {.id = "NNAPI-ELEM-002",
              .statement = "The input shapes of ADD and MUL can be broadcast together from the "
                           "last axis on, and the output has the broadcast shape.",
              .clause = "types.hal, OperationType.ADD",
              .vendor = true,
              .hint = "Reshape an input so that sizes are equal or 1 on each axis, and declare the "
                      "broadcast shape for the output."},
     .check = Report<Label::kBroadcast>},
    {.info = {.id = "NNAPI-ELEM-003",
              .statement = "The quantized output of pooling, RELU, RELU1, RELU6, RESHAPE, "
                           "CONCATENATION, DEPTH_TO_SPACE, SPACE_TO_DEPTH and lookups has the "
                           "scale and zeroPoint of the data inputs.",
              .clause = "types.hal, OperationType.RELU",
              .vendor = true,
              .hint = "Declare the input's scale and zeroPoint for the output; all inputs of "
                      "CONCATENATION must share them."},
     .check = Report<Label::kSameQuantization>},
    {.info = {.id = "NNAPI-ELEM-004",
              .statement =
                  "The quantized output of LOGISTIC and SOFTMAX has scale 1/256 and zeroPoint 0.",
              .clause = "types.hal, OperationType.LOGISTIC",
              .vendor = true,
              .hint = "Set the output's scale to 0.00390625 and its zeroPoint to 0."},
     .check = Report<Label::kProbabilityScale>},
    {.info = {.id = "NNAPI-ELEM-005",
              .statement = "The bias of LOCAL_RESPONSE_NORMALIZATION is not 0.",
              .clause = "types.hal, OperationType.LOCAL_RESPONSE_NORMALIZATION",
              .hint = "Set the bias to a value other than 0; 1 is usual."},
     .check = Report<Label::kNonzeroBias>},
    {.info = {.id = "NNAPI-ELEM-006",
              .statement = "The beta of SOFTMAX is positive.",
              .clause = "types.hal, OperationType.SOFTMAX",
              .vendor = true,
              .hint = "Set beta to a positive value; 1 is usual."},
     .check = Report<Label::kPositiveBeta>},
};

}  // namespace

std::span<const Rule> ElementwiseRules() {
  return kElementwiseRules;
}

}  // namespace nn::nnapi
