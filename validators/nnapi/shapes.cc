// Rules for operations that move elements.
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

constexpr Rule kShapeRules[] = {
    {.info =
         {.id = "NNAPI-SHAPE-001",
          .statement =
              "The axis of CONCATENATION is within the rank of the inputs, the inputs have equal "
              "sizes on all other axes, and the output has the sum of their sizes on this axis.",
          .clause = "types.hal, OperationType.CONCATENATION",
          .vendor = true,
          .hint = "Check the axis, which counts from 0 and cannot be negative, and declare the sum "
                  "of the sizes for the output."},
     .check = Report<Label::kConcatAxis, Label::kConcatSizes, Label::kConcatShape>},
    {.info = {.id = "NNAPI-SHAPE-002",
              .statement = "The block size of SPACE_TO_DEPTH divides the height and the width of "
                           "the input; its square in DEPTH_TO_SPACE divides the depth.",
              .clause = "types.hal, OperationType.DEPTH_TO_SPACE",
              .vendor = true,
              .hint = "Use a block size that divides the input, or change the size of the input."},
     .check = Report<Label::kBlockDivides>},
    {.info =
         {.id = "NNAPI-SHAPE-003",
          .statement =
              "The shape given to RESHAPE consists of sizes of at least 1 and at most one -1.",
          .clause = "types.hal, OperationType.RESHAPE",
          .vendor = true,
          .hint =
              "Write 1 for a dimension to be added, and -1 for at most one size to be computed."},
     .check = Report<Label::kReshapeSizes>},
    {.info =
         {.id = "NNAPI-SHAPE-004",
          .statement =
              "The output of RESIZE_BILINEAR has the height and the width that its inputs state.",
          .clause = "types.hal, OperationType.RESIZE_BILINEAR",
          .vendor = true,
          .hint = "Pass the width as input 1 and the height as input 2, and declare the output as "
                  "[batches, height, width, depth]."},
     .check = Report<Label::kResizeShape>},
    {.info = {.id = "NNAPI-SHAPE-005",
              .statement = "The output of DEPTH_TO_SPACE and SPACE_TO_DEPTH has the shape that the "
                           "input and the block size give.",
              .clause = "types.hal, OperationType.DEPTH_TO_SPACE",
              .vendor = true,
              .hint = "Declare [batches, height * block, width * block, depth / (block * block)] "
                      "for DEPTH_TO_SPACE; SPACE_TO_DEPTH is its inverse."},
     .check = Report<Label::kBlockShape>},
    {.info = {.id = "NNAPI-SHAPE-006",
              .statement = "The output of RESHAPE has as many elements as the input.",
              .clause = "types.hal, OperationType.RESHAPE",
              .vendor = true,
              .hint = "Correct the sizes, or write -1 for the one that is to be computed."},
     .check = Report<Label::kReshapeElements>},
    {.info = {.id = "NNAPI-SHAPE-007",
              .statement = "The output of RESHAPE has the shape that input 1 gives.",
              .clause = "types.hal, OperationType.RESHAPE",
              .vendor = true,
              .hint = "Declare for the output the shape that input 1 gives."},
     .check = Report<Label::kReshapeShape>},
};

}  // namespace

std::span<const Rule> ShapeRules() {
  return kShapeRules;
}

}  // namespace nn::nnapi
