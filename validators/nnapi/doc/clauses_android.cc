// What Android's model validation and its reference executor reject.
#include "validators/nnapi/doc/clauses.h"

namespace nn::nnapi {
namespace {

constexpr Clause kAndroidClauses[] = {
    {"Android: model validation", "Operand types are known.", "NNAPI-OPERAND-001"},
    {"Android: model validation", "Scalars have no dimensions, and tensors have at least one.",
     "NNAPI-OPERAND-002 NNAPI-OPERAND-010"},
    {"Android: model validation",
     "The scale is positive for TENSOR_QUANT8_ASYMM, not negative for TENSOR_INT32, unrestricted "
     "for OEM types, and 0 for all other types.",
     "NNAPI-OPERAND-003 NNAPI-OPERAND-004"},
    {"Android: model validation",
     "The zeroPoint is within [0, 255] for TENSOR_QUANT8_ASYMM, unrestricted for OEM types, and 0 "
     "for all other types.",
     "NNAPI-OPERAND-003 NNAPI-OPERAND-004"},
    {"Android: model validation", "Lifetimes are known.", "NNAPI-OPERAND-001"},
    {"Android: model validation",
     "Constants lie in operandValues with poolIndex 0, or in an existing pool.",
     "NNAPI-OPERAND-006"},
    {"Android: model validation", "Operands that are not constants have a location of zeros.",
     "NNAPI-OPERAND-008"},
    {"Android: model validation",
     "Constants have known dimensions and, except for OEM types, the length that type and "
     "dimensions require.",
     "NNAPI-OPERAND-005 NNAPI-OPERAND-007"},
    {"Android: model validation",
     "numberOfConsumers is the number of operation inputs that refer to the operand.",
     "NNAPI-MODEL-007"},
    {"Android: model validation", "The model has at least one operation.", "NNAPI-MODEL-011"},
    {"Android: model validation", "Operation types are known.", "NNAPI-OP-001"},
    {"Android: model validation", "Operations refer to existing operands.", "NNAPI-MODEL-006"},
    {"Android: model validation",
     "The number of inputs, the number of outputs and the operand types of an operation match one "
     "of its signatures; OEM_OPERATION accepts any.",
     "NNAPI-OP-002 NNAPI-OP-003 NNAPI-OP-005 NNAPI-OP-006"},
    {"Android: model validation",
     "Before NNAPI 1.2, the values of EMBEDDING_LOOKUP are TENSOR_FLOAT32.", "NNAPI-OP-005"},
    {"Android: model validation", "Before NNAPI 1.2, the input of SOFTMAX has rank 2 or 4.",
     "NNAPI-OP-007"},
    {"Android: model validation",
     "Before NNAPI 1.2, the output scale of a quantized convolution is above the product of the "
     "input scale and the filter scale.",
     "NNAPI-WINDOW-005"},
    {"Android: model validation",
     "Operations write only temporaries and model outputs, and write each of them exactly once.",
     "NNAPI-MODEL-008 NNAPI-MODEL-009"},
    {"Android: model validation", "Operations read only operands that have been written before.",
     "NNAPI-MODEL-010"},
    {"Android: model validation",
     "The lists of inputs and outputs contain all operands with the lifetime of the list, each "
     "once, and no others.",
     "NNAPI-MODEL-002 NNAPI-MODEL-003 NNAPI-MODEL-004 NNAPI-MODEL-005"},
    {"Android: model validation", "Pools are shared memory of a kind that the driver supports.", "",
     "files contain bytes instead of memory handles"},
    {"Android: request validation",
     "A request has one argument for each input and output of the model; arguments lie within the "
     "pools, keep the dimensions of the model, and are empty if they have no value.",
     "NNAPI-REQUEST-001 NNAPI-REQUEST-002 NNAPI-REQUEST-004 NNAPI-REQUEST-005 NNAPI-REQUEST-006"},
    {"Android: request validation",
     "The length is the number of bytes that type and dimensions require.", "NNAPI-REQUEST-007"},
    {"Android: reference executor, outputs",
     "Declared output dimensions agree with the computed ones.",
     "NNAPI-ELEM-001 NNAPI-ELEM-002 NNAPI-WINDOW-001 NNAPI-SHAPE-001 NNAPI-SHAPE-004 "
     "NNAPI-SHAPE-005 NNAPI-SHAPE-007 NNAPI-LOOKUP-001 NNAPI-LOOKUP-002 NNAPI-LOOKUP-010 "
     "NNAPI-MATRIX-001 NNAPI-MATRIX-002 NNAPI-MATRIX-003 NNAPI-MATRIX-004 NNAPI-MATRIX-011"},
    {"Android: reference executor, outputs",
     "Declared types, scales and zeroPoints of model outputs agree with the computed ones.",
     "NNAPI-OP-006 NNAPI-ELEM-003 NNAPI-LOOKUP-006"},
    {"Android: reference executor, arguments", "Only optional arguments have no value.",
     "NNAPI-OP-004"},
    {"Android: reference executor, ADD and MUL",
     "The inputs have the same type and at most rank 4, and their dimensions are equal or 1.",
     "NNAPI-OP-006 NNAPI-OP-007 NNAPI-ELEM-002"},
    {"Android: reference executor, activations",
     "The rank is at most 4, and fused activations are known.", "NNAPI-OP-007 NNAPI-OP-008"},
    {"Android: reference executor, LOGISTIC and SOFTMAX",
     "Quantized outputs have scale 1/256 and zeroPoint 0.", "NNAPI-ELEM-004"},
    {"Android: reference executor, SOFTMAX", "The beta is positive.", "NNAPI-ELEM-006"},
    {"Android: reference executor, convolutions",
     "Input and filter have the same type and rank 4; the bias has rank 1 and one element for each "
     "filter.",
     "NNAPI-OP-006 NNAPI-OP-007 NNAPI-WINDOW-003"},
    {"Android: reference executor, convolutions",
     "The depth of a filter is the depth of the input; depthwise filters have first dimension 1.",
     "NNAPI-WINDOW-002 NNAPI-WINDOW-006"},
    {"Android: reference executor, convolutions",
     "Padding is not negative; strides and depth multipliers are positive.",
     "NNAPI-OP-010 NNAPI-OP-011"},
    {"Android: reference executor, convolutions",
     "The scale of a quantized bias differs from the product of the input scale and the filter "
     "scale by at most one millionth.",
     "NNAPI-WINDOW-004"},
    {"Android: reference executor, pooling",
     "The rank is 4; strides and windows are positive; padding is not negative and below the "
     "window size.",
     "NNAPI-OP-007 NNAPI-OP-010 NNAPI-OP-011 NNAPI-WINDOW-007"},
    {"Android: reference executor, CONCATENATION",
     "The axis is within the rank; ranks, types, scales and zeroPoints are equal.",
     "NNAPI-SHAPE-001 NNAPI-OP-006 NNAPI-ELEM-003"},
    {"Android: reference executor, FULLY_CONNECTED",
     "The input has at least rank 2; the weights have rank 2, and their input size divides the "
     "elements of the input; the bias has one element for each unit.",
     "NNAPI-OP-007 NNAPI-MATRIX-001 NNAPI-WINDOW-003"},
    {"Android: reference executor, normalizations", "The rank is 4.", "NNAPI-OP-007"},
    {"Android: reference executor, RESHAPE",
     "At most one size is -1, and the number of elements is kept.",
     "NNAPI-SHAPE-003 NNAPI-SHAPE-006"},
    {"Android: reference executor, DEPTH_TO_SPACE and SPACE_TO_DEPTH",
     "The rank is 4, and the block size is positive and divides the input.",
     "NNAPI-OP-007 NNAPI-OP-010 NNAPI-SHAPE-002"},
    {"Android: reference executor, EMBEDDING_LOOKUP",
     "The lookups have rank 1 and are within the values, which have at least rank 2.",
     "NNAPI-OP-007 NNAPI-LOOKUP-001"},
    {"Android: reference executor, HASHTABLE_LOOKUP",
     "Lookups and keys have rank 1, and values have at least rank 1.", "NNAPI-OP-007"},
    {"Android: reference executor, LSH_PROJECTION",
     "The hash functions have rank 2 and at most 32 bits, and the type is sparse or dense.",
     "NNAPI-OP-007 NNAPI-LOOKUP-004 NNAPI-LOOKUP-009"},
    {"Android: reference executor, LSH_PROJECTION",
     "A dense projection has as many weights as inputs; a sparse projection has none.",
     "NNAPI-LOOKUP-007 NNAPI-LOOKUP-008"},
    {"Android: reference executor, LSTM",
     "Clipping thresholds are not negative; operands agree on the sizes of cell, input and output.",
     "NNAPI-MATRIX-004 NNAPI-MATRIX-009"},
    {"Android: reference executor, LSTM",
     "The operands of the input gate, the peepholes and the projection are complete.",
     "NNAPI-MATRIX-005 NNAPI-MATRIX-007 NNAPI-MATRIX-008"},
    {"Android: reference executor, RNN",
     "Weights, recurrent weights and bias agree on the input size and the number of units.",
     "NNAPI-MATRIX-002"},
    {"Android: reference executor, SVDF",
     "The rank divides the number of filters; operands agree on the sizes of filters, units and "
     "memory.",
     "NNAPI-MATRIX-003 NNAPI-MATRIX-011"},
};

}  // namespace

std::span<const Clause> AndroidClauses() {
  return kAndroidClauses;
}

}  // namespace nn::nnapi
