// Rules about operators: their signatures, and what the preparation of convolutions and matrix
// products rejects.
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

constexpr Rule kOperatorRules[] = {
    {.info = {.id = "TFLITE-OP-001",
              .statement = "Every operator has the number of inputs that its kernel takes.",
              .clause = "schema.fbs, BuiltinOperator; Prepare of its kernel",
              .vendor = true,
              .hint = "Add the missing inputs, or remove the extra ones."},
     .check = Replay<Check::kInputCount>},
    {.info = {.id = "TFLITE-OP-002",
              .statement = "Every operator has the number of outputs that its kernel produces.",
              .clause = "schema.fbs, BuiltinOperator; Prepare of its kernel",
              .vendor = true,
              .hint = "List exactly the tensors that the operator produces in Operator.outputs."},
     .check = Replay<Check::kOutputCount>},
    {.info = {.id = "TFLITE-OP-003",
              .statement = "The options of an operator have the type that belongs to the operator.",
              .clause = "schema.fbs, BuiltinOptions, BuiltinOptions2",
              .hint = "Store the options table of this operator; the interpreter ignores a table "
                      "of another type."},
     .check = Replay<Check::kOptionsType>},
    {.info = {.id = "TFLITE-OP-004",
              .statement = "Every operator whose kernel requires options has them.",
              .clause = "schema.fbs, BuiltinOptions; flatbuffer_conversions.cc",
              .vendor = true,
              .hint = "Write the options table of the operator."},
     .check = Replay<Check::kOptionsMissing>},
    {.info = {.id = "TFLITE-OP-005",
              .statement = "The strides of convolutions and poolings are positive, and those of "
                           "DEPTHWISE_CONV_2D and TRANSPOSE_CONV are at most 32767.",
              .clause = "schema.fbs, Conv2DOptions, Pool2DOptions; Prepare of the kernels",
              .vendor = true,
              .hint = "Set every stride to at least 1, and to at most 32767 in DEPTHWISE_CONV_2D "
                      "and TRANSPOSE_CONV."},
     .check = Replay<Check::kStrides>},
    {.info = {.id = "TFLITE-OP-006",
              .statement = "Only inputs that the operator allows to be absent are -1.",
              .clause = "schema.fbs, Operator.inputs; Prepare of the kernels",
              .vendor = true,
              .hint = "Connect the input to a tensor. Leave an absent bias of DEPTHWISE_CONV_2D "
                      "out of the list instead of writing -1."},
     .check = Replay<Check::kInputAbsent>},
    {.info = {.id = "TFLITE-OP-007",
              .statement = "The element type of every operator input is one that the operator "
                           "accepts when it is prepared.",
              .clause = "Prepare of the kernels",
              .vendor = true,
              .hint = "Insert a CAST, QUANTIZE or DEQUANTIZE before the operator."},
     .check = Replay<Check::kInputTypes>},
    {.info = {.id = "TFLITE-OP-008",
              .statement = "All tensors of an operator that must share an element type have the "
                           "same element type.",
              .clause = "Prepare of the kernels",
              .vendor = true,
              .hint = "Insert a CAST so that the element types agree."},
     .check = Replay<Check::kTypeAgreement>},
    {.info = {.id = "TFLITE-OP-009",
              .statement = "The rank of every operator input is one that the operator accepts.",
              .clause = "Prepare of the kernels",
              .vendor = true,
              .hint = "Insert a RESHAPE that gives the input a supported rank."},
     .check = Replay<Check::kRanks>},
    {.info = {.id = "TFLITE-OP-010",
              .statement = "Every operator input that must have a fixed number of elements, such "
                           "as a scalar, has that number.",
              .clause = "Prepare of the kernels",
              .vendor = true,
              .hint = "Give the input the expected number of elements; a scalar has 1."},
     .check = Replay<Check::kElementCounts>},
    {.info = {.id = "TFLITE-OP-011",
              .statement =
                  "The interpreter has a kernel for every builtin operator code of the model.",
              .clause = "tflite/core/kernels/register.cc",
              .vendor = true,
              .hint = "Let the converter lower StableHLO operators to builtin operators, or "
                      "replace the operator."},
     .check = Replay<Check::kNoKernel>},
    {.info = {.id = "TFLITE-OP-012",
              .statement = "The version of every operator code is registered in the interpreter.",
              .clause = "schema.fbs, OperatorCode.version; tflite/core/kernels/register.cc",
              .vendor = true,
              .hint = "Set OperatorCode.version to a registered version, and use only the features "
                      "of that version."},
     .check = Replay<Check::kVersion>},
    {.info = {.id = "TFLITE-OP-013",
              .statement = "The element types of operator inputs and outputs are types that the "
                           "kernel computes.",
              .clause = "Eval of the kernels",
              .hint = "Insert a CAST, QUANTIZE or DEQUANTIZE so that the kernel works on a "
                      "supported type."},
     .check = Replay<Check::kKernelTypes>},
    {.info = {.id = "TFLITE-OP-014",
              .statement =
                  "The element type of every operator output is one that the operator can produce.",
              .clause = "Prepare of the kernels",
              .vendor = true,
              .hint = "Declare the output with a type that the operator produces, and insert a "
                      "CAST if another type is needed."},
     .check = Replay<Check::kOutputTypes>},
    {.info = {.id = "TFLITE-OP-015",
              .statement = "The declared element type of every operator output is the type that "
                           "the operator produces.",
              .clause = "schema.fbs, Tensor.type; Prepare of the kernels",
              .hint = "Declare the type that the operator produces; the interpreter uses it "
                      "instead of the declared type."},
     .check = Replay<Check::kDeclaredTypes>},
    {.info =
         {.id = "TFLITE-OP-016",
          .severity = Severity::kWarning,
          .statement = "The declared shape of every operator output is the shape that follows from "
                       "the inputs.",
          .clause = "schema.fbs, Tensor.shape; Prepare of the kernels",
          .hint =
              "Declare the computed shape; the interpreter uses it instead of the declared shape."},
     .check = Replay<Check::kDeclaredShapes>},
    {.info = {.id = "TFLITE-OP-017",
              .statement = "The options of every operator have values that the operator supports.",
              .clause = "schema.fbs, BuiltinOptions; flatbuffer_conversions.cc",
              .vendor = true,
              .hint = "Set the option that the message names to a supported value."},
     .check = Replay<Check::kOptionValues>},
    {.info = {.id = "TFLITE-OP-018",
              .statement = "The fused activation of an operator is one that the operator supports.",
              .clause = "schema.fbs, ActivationFunctionType; Prepare of the kernels",
              .vendor = true,
              .hint = "Set fused_activation_function to NONE, and append the activation as an "
                      "operator of its own."},
     .check = Replay<Check::kActivation>},
    {.info = {.id = "TFLITE-OP-019",
              .statement =
                  "No operator has operands or options with which its kernel fails at run time.",
              .clause = "Eval of the kernels",
              .hint = "Correct the operand or option that the message names; the interpreter "
                      "reports it only when the model runs."},
     .check = Replay<Check::kAtRun>},
    {.info = {.id = "TFLITE-CONV-001",
              .statement = "The dilation factors of CONV_2D, DEPTHWISE_CONV_2D and CONV_3D are "
                           "positive, and those of DEPTHWISE_CONV_2D are at most 32767.",
              .clause = "schema.fbs, Conv2DOptions.dilation_w_factor; Prepare of the kernels",
              .vendor = true,
              .hint = "Set every dilation factor to at least 1; 1 means no dilation."},
     .check = Replay<Check::kDilations>},
    {.info = {.id = "TFLITE-CONV-002",
              .statement =
                  "The input channels of a convolution equal those of its filter, are a multiple "
                  "of them in CONV_2D, or divide the output channels in DEPTHWISE_CONV_2D.",
              .clause = "Prepare of CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV, CONV_3D",
              .vendor = true,
              .hint = "Correct the channels of the input or the filter; a filter is stored as "
                      "[out, height, width, in] for CONV_2D and as [1, height, width, out] for "
                      "DEPTHWISE_CONV_2D."},
     .check = Replay<Check::kChannels>},
    {.info = {.id = "TFLITE-CONV-003",
              .statement = "The number of groups of CONV_2D, its input channels divided by the "
                           "input channels of its filter, divides the output channels.",
              .clause = "Prepare of CONV_2D",
              .vendor = true,
              .hint = "Make the number of output channels a multiple of the number of groups."},
     .check = Replay<Check::kGroups>},
    {.info = {.id = "TFLITE-CONV-004",
              .statement = "The filter of a convolution and, except for the batch, its input have "
                           "no dimension of 0.",
              .clause = "Prepare of CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV, CONV_3D",
              .vendor = true,
              .hint = "Give the input and the filter at least one element along every axis, or "
                      "remove the convolution."},
     .check = Replay<Check::kSpatial>},
    {.info = {.id = "TFLITE-CONV-005",
              .statement = "The bias of a convolution or FULLY_CONNECTED has one element for each "
                           "output channel, the type that goes with the input, and zero point 0.",
              .clause = "Prepare of CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV, FULLY_CONNECTED",
              .vendor = true,
              .hint = "Use one element per output channel and zero point 0. The type is FLOAT32 "
                      "with FLOAT32 inputs, INT32 with 8-bit inputs, and INT64 with INT16 inputs."},
     .check = Replay<Check::kBias>},
    {.info = {.id = "TFLITE-CONV-006",
              .statement = "The filter of DEPTHWISE_CONV_2D or TRANSPOSE_CONV has an element type "
                           "that goes with its input.",
              .clause = "Prepare of DEPTHWISE_CONV_2D, TRANSPOSE_CONV",
              .vendor = true,
              .hint = "Use a FLOAT32 or INT8 filter with FLOAT32 inputs, a UINT8 filter with "
                      "UINT8, and an INT8 filter with INT8 or INT16."},
     .check = Replay<Check::kFilterType>},
    {.info = {.id = "TFLITE-CONV-007",
              .statement =
                  "The output shape operand of TRANSPOSE_CONV has 4 nonnegative dimensions, and "
                  "that of CONV_3D_TRANSPOSE matches its input, filter and strides.",
              .clause = "Prepare of TRANSPOSE_CONV, CONV_3D_TRANSPOSE",
              .vendor = true,
              .hint =
                  "Set the output shape to the input shape of the convolution that is transposed."},
     .check = Replay<Check::kTransposedShape>},
    {.info =
         {.id = "TFLITE-DENSE-001",
          .statement =
              "The types of the input, weights and output of FULLY_CONNECTED can be combined, and "
              "with keep_num_dims the last dimension of the input is the number of weight columns.",
          .clause = "Prepare of FULLY_CONNECTED",
          .vendor = true,
          .hint = "Use a supported combination of types, such as FLOAT32 throughout, and weights "
                  "of shape [units, last dimension of the input]."},
     .check = Replay<Check::kWeights>},
    {.info = {.id = "TFLITE-DENSE-002",
              .statement =
                  "FULLY_CONNECTED has one output if weights_format is DEFAULT, and two otherwise.",
              .clause =
                  "schema.fbs, FullyConnectedOptions.weights_format; Prepare of FULLY_CONNECTED",
              .vendor = true,
              .hint = "Set weights_format to DEFAULT and keep one output, or add the second output "
                      "for shuffled weights."},
     .check = Replay<Check::kWeightsFormat>},
    {.info = {.id = "TFLITE-DENSE-003",
              .statement = "The inner dimensions of the BATCH_MATMUL operands are equal, and their "
                           "batch dimensions can be broadcast.",
              .clause = "Prepare of BATCH_MATMUL",
              .vendor = true,
              .hint = "Set adj_x or adj_y, or reshape an operand, so that a has as many columns as "
                      "b has rows and the batch dimensions are equal or 1."},
     .check = Replay<Check::kMatrixShapes>},
};

}  // namespace

std::span<const Rule> OperatorRules() {
  return kOperatorRules;
}

}  // namespace nn::tflite
