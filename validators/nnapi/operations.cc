// Rules that compare operations with their signatures.
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

constexpr Rule kOperationRules[] = {
    {.info = {.id = "NNAPI-OP-001",
              .statement = "The type of every operation is defined by NNAPI 1.0.",
              .clause = "types.hal, OperationType",
              .vendor = true,
              .hint = "Express the operation by operations of NNAPI 1.0; those of later versions "
                      "are unsupported."},
     .check = Report<Label::kKnownOperation>},
    {.info = {.id = "NNAPI-OP-002",
              .statement = "An operation has as many inputs as one of its signatures, such as "
                           "those for explicit and implicit padding.",
              .clause = "types.hal, OperationType",
              .vendor = true,
              .hint = "Pass exactly the arguments of NNAPI 1.0, without the trailing ones of later "
                      "versions."},
     .check = Report<Label::kInputCount>},
    {.info =
         {.id = "NNAPI-OP-003",
          .statement = "An operation has as many outputs as its signature.",
          .clause = "types.hal, OperationType",
          .vendor = true,
          .hint =
              "Add an operand for every result, even if nothing reads it, and remove the others."},
     .check = Report<Label::kOutputCount>},
    {.info = {.id = "NNAPI-OP-004",
              .statement = "Only optional inputs of an operation have lifetime NO_VALUE.",
              .clause = "types.hal, OperandLifeTime.NO_VALUE",
              .vendor = true,
              .hint = "Give the operand a value; the operation requires this input."},
     .check = Report<Label::kRequiredValue>},
    {.info = {.id = "NNAPI-OP-005",
              .statement = "The data tensors of an operation are of a type that it supports.",
              .clause = "types.hal, OperationType",
              .vendor = true,
              .hint = "Use a tensor type that the operation supports; DEQUANTIZE converts "
                      "quantized data to floats."},
     .check = Report<Label::kDataType>},
    {.info = {.id = "NNAPI-OP-006",
              .statement = "Every input and output of an operation has the type that its position "
                           "in the signature requires.",
              .clause = "types.hal, OperationType",
              .vendor = true,
              .hint = "Change the operand's type to the required one; all data tensors of an "
                      "operation have the same type."},
     .check = Report<Label::kArgumentType>},
    {.info = {.id = "NNAPI-OP-007",
              .statement = "Every tensor has a rank that the operation supports at its position.",
              .clause = "types.hal, OperationType",
              .vendor = true,
              .hint = "Reshape the tensor to a supported rank."},
     .check = Report<Label::kRank>},
    {.info = {.id = "NNAPI-OP-008",
              .statement = "A fused activation is 0 (NONE), 1 (RELU), 2 (RELU1) or 3 (RELU6).",
              .clause = "types.hal, FusedActivationFunc",
              .vendor = true,
              .hint = "Set the fused activation to 0, and add any other activation as an operation "
                      "of its own."},
     .check = Report<Label::kActivationCode>},
    {.info = {.id = "NNAPI-OP-009",
              .statement = "An implicit padding scheme is 0 (NONE), 1 (SAME) or 2 (VALID).",
              .clause = "types.hal, OperationType.CONV_2D",
              .hint = "Use SAME or VALID, or replace the scheme with four explicit padding sizes."},
     .check = Report<Label::kPaddingCode>},
    {.info = {.id = "NNAPI-OP-010",
              .statement = "Strides, window sizes, output sizes of RESIZE_BILINEAR, depth "
                           "multipliers, block sizes and the rank of SVDF are at least 1.",
              .clause = "types.hal, OperationType.DEPTH_TO_SPACE",
              .vendor = true,
              .hint = "Use a value of at least 1, and check the order of the arguments: width "
                      "comes before height."},
     .check = Report<Label::kPositive>},
    {.info =
         {.id = "NNAPI-OP-011",
          .statement =
              "Explicit padding and the radius of LOCAL_RESPONSE_NORMALIZATION are not negative.",
          .clause = "types.hal, OperationType.CONV_2D",
          .vendor = true,
          .hint = "Use a value of at least 0, and check the order of the arguments: left, right, "
                  "top, bottom."},
     .check = Report<Label::kNonNegative>},
};

}  // namespace

std::span<const Rule> OperationRules() {
  return kOperationRules;
}

}  // namespace nn::nnapi
