// Rules about quantization, recurrent operators, control flow and resources: what preparation
// rejects.
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

constexpr Rule kQuantizationRules[] = {
    {.info = {.id = "TFLITE-QUANT-001",
              .statement =
                  "Tensors that convolutions, FULLY_CONNECTED, ADD, SUB, SQUARED_DIFFERENCE, ABS, "
                  "RSQRT, LOG and QUANTIZE treat as quantized have quantization scales.",
              .clause = "schema.fbs, QuantizationParameters; Prepare of the kernels",
              .vendor = true,
              .hint = "Add a positive scale and a zero point to the quantization of the tensor, or "
                      "use FLOAT32."},
     .check = Replay<Check::kQuantized>},
    {.info = {.id = "TFLITE-QUANT-002",
              .statement =
                  "The filter of a quantized convolution or FULLY_CONNECTED has one scale or, "
                  "except with UINT8, one for each output channel along its output channel axis.",
              .clause =
                  "schema.fbs, QuantizationParameters.quantized_dimension; Prepare of the kernels",
              .vendor = true,
              .hint = "Store one scale for the filter, or one for each output channel with "
                      "quantized_dimension set to the output channel axis."},
     .check = Replay<Check::kChannelScales>},
    {.info = {.id = "TFLITE-QUANT-003",
              .statement = "The filter of CONV_2D with INT8 or INT16 inputs and the INT4 or INT2 "
                           "weights of FULLY_CONNECTED have zero point 0.",
              .clause = "Prepare of CONV_2D, FULLY_CONNECTED",
              .vendor = true,
              .hint = "Quantize the filter symmetrically, with zero point 0."},
     .check = Replay<Check::kFilterZeroPoint>},
    {.info = {.id = "TFLITE-QUANT-004",
              .statement =
                  "The quantized INT16 inputs and outputs of an operator have zero point 0.",
              .clause = "Prepare of the kernels",
              .vendor = true,
              .hint = "Quantize the INT16 tensor symmetrically, with zero point 0."},
     .check = Replay<Check::kInt16ZeroPoint>},
    {.info = {.id = "TFLITE-QUANT-005",
              .statement = "The quantized inputs and outputs of EXPAND_DIMS, FILL, PACK, UNPACK, "
                           "MIRROR_PAD, PADV2, REDUCE_MAX, REDUCE_MIN, SPACE_TO_BATCH_ND, "
                           "BATCH_TO_SPACE_ND and INT8 CONCATENATION, and those of 8 bits of "
                           "MAX_POOL_2D, PAD, RESIZE_BILINEAR, SLICE, SPACE_TO_DEPTH, "
                           "STRIDED_SLICE and TRANSPOSE, have the same scale and zero point.",
              .clause = "Prepare of CONCATENATION, PACK, UNPACK, EXPAND_DIMS, FILL, MIRROR_PAD, "
                        "PADV2, REDUCE_MAX, SPACE_TO_BATCH_ND; XNNPACK delegate",
              .vendor = true,
              .hint =
                  "Insert a QUANTIZE that converts the tensor to the common scale and zero point."},
     .check = Replay<Check::kSameQuantization>},
    {.info =
         {.id = "TFLITE-QUANT-006",
          .statement =
              "The quantized outputs of LOGISTIC, TANH, SOFTMAX, LOG_SOFTMAX and L2_NORMALIZATION "
              "have the scale and zero point that their kernels are written for.",
          .clause = "Prepare of the kernels",
          .vendor = true,
          .hint = "Quantize the output with the expected scale and zero point, and insert a "
                  "QUANTIZE after it if others are needed."},
     .check = Replay<Check::kFixedQuantization>},
    {.info =
         {.id = "TFLITE-QUANT-007",
          .statement =
              "The bias scale of a UINT8 convolution or per-tensor quantized FULLY_CONNECTED is "
              "the product of the input and filter scales, to within 2% of the output scale.",
          .clause = "GetQuantizedConvolutionMultipler",
          .vendor = true,
          .hint = "Set the scale of the bias to the product of the input and filter scales, and "
                  "quantize its values again."},
     .check = Replay<Check::kBiasScale>},
    {.info =
         {.id = "TFLITE-QUANT-008",
          .statement = "QUANTIZE supports the conversion from its input type to its output type.",
          .clause = "Prepare of QUANTIZE",
          .vendor = true,
          .hint =
              "Choose another output type, or convert in two steps with two QUANTIZE operators."},
     .check = Replay<Check::kConversion>},
    {.info = {.id = "TFLITE-QUANT-009",
              .severity = Severity::kWarning,
              .statement =
                  "The INT8 inputs and outputs of AVERAGE_POOL_2D, GATHER, MAXIMUM, MINIMUM, "
                  "RESHAPE and SQUEEZE have the same scale and zero point, the INT8 outputs of "
                  "LOGISTIC and TANH have those that are specified, and INT8 weights of "
                  "DEPTHWISE_CONV_2D and FULLY_CONNECTED have zero point 0.",
              .clause = "TensorFlow Lite 8-bit quantization specification, int8 quantized operator "
                        "specifications",
              .hint = "Quantize the tensor as expected, and insert a QUANTIZE where other scales "
                      "are needed."},
     .check = Replay<Check::kSpecifiedQuantization>},
    {.info = {.id = "TFLITE-RNN-001",
              .statement = "The weights, biases and states of recurrent operators have the shapes "
                           "that follow from the sizes of their input, cells and outputs.",
              .clause = "Prepare of LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM, RNN, SVDF",
              .vendor = true,
              .hint = "Give the tensor the expected shape; input weights are stored as [cells, "
                      "inputs] and recurrent weights as [cells, outputs]."},
     .check = Replay<Check::kCellSizes>},
    {.info = {.id = "TFLITE-RNN-002",
              .statement =
                  "A recurrent operator has the inputs, outputs and intermediates that its kernel "
                  "expects, and inputs that belong together are all present or all absent.",
              .clause = "schema.fbs, LSTMKernelType; Prepare of LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM",
              .vendor = true,
              .hint = "Provide all weights, biases, peepholes and normalization coefficients that "
                      "belong together, or none of them."},
     .check = Replay<Check::kCellInputs>},
    {.info = {.id = "TFLITE-RNN-003",
              .statement =
                  "The states of LSTM and UNIDIRECTIONAL_SEQUENCE_LSTM are variable tensors with "
                  "the number of elements that the batch and the units require.",
              .clause = "schema.fbs, Tensor.is_variable; Prepare of LSTM",
              .vendor = true,
              .hint = "Set is_variable on the state tensors, and give them the shapes [batch, "
                      "outputs] and [batch, cells]."},
     .check = Replay<Check::kCellState>},
    {.info = {.id = "TFLITE-CALL-001",
              .statement =
                  "Every subgraph that an operator calls is in the model, condition and body of "
                  "WHILE are different subgraphs, and STABLEHLO_CASE has at least one branch.",
              .clause =
                  "schema.fbs, IfOptions, WhileOptions, CallOnceOptions; Prepare of the kernels",
              .vendor = true,
              .hint =
                  "Set the subgraph indices in the options of the operator to existing subgraphs."},
     .check = Replay<Check::kCalledGraph>},
    {.info = {.id = "TFLITE-CALL-002",
              .statement = "A called subgraph has the numbers of inputs and outputs that its "
                           "caller needs, the condition of WHILE returns BOOL, and the body of "
                           "WHILE keeps the types of the loop values.",
              .clause = "Prepare of IF, WHILE, CALL_ONCE, STABLEHLO_CASE, STABLEHLO_COMPOSITE",
              .vendor = true,
              .hint = "Change the inputs and outputs of the called subgraph so that they match the "
                      "operator."},
     .check = Replay<Check::kCalledPorts>},
    {.info = {.id = "TFLITE-CALL-003",
              .statement = "No operator calls the subgraph that it is part of.",
              .clause = "Prepare of IF, WHILE, CALL_ONCE",
              .vendor = true,
              .hint = "Call another subgraph, and write loops with WHILE."},
     .check = Replay<Check::kCallRecursion>},
    {.info = {.id = "TFLITE-CALL-004",
              .statement = "Hash tables map INT64 keys to STRING values or STRING keys to INT64 "
                           "values, and HASHTABLE_IMPORT has keys and values of the same shape.",
              .clause = "schema.fbs, HashtableOptions; Prepare of HASHTABLE, HASHTABLE_FIND, "
                        "HASHTABLE_IMPORT",
              .vendor = true,
              .hint = "Use INT64 for the keys and STRING for the values or the reverse, and import "
                      "one value for each key."},
     .check = Replay<Check::kTables>},
};

}  // namespace

std::span<const Rule> QuantizationRules() {
  return kQuantizationRules;
}

}  // namespace nn::tflite
