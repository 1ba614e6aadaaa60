// Rules of quantisation, recurrent operators, control flow and resources: what preparation refuses.
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

constexpr Rule kRules[] = {
    {{"TFLITE-QUANT-001", Severity::kError,
      "Tensors of quantised products and conversions have scales.",
      "schema.fbs, QuantizationParameters; Prepare of the kernels", true, ""},
     Replay<Check::kQuantised>},
    {{"TFLITE-QUANT-002", Severity::kError,
      "Filters have one scale, or one for each output channel along its axis.",
      "schema.fbs, QuantizationParameters.quantized_dimension; Prepare of the kernels", true, ""},
     Replay<Check::kChannelScales>},
    {{"TFLITE-QUANT-003", Severity::kError, "Filters beside INT8 and INT16 have zero point 0.",
      "Prepare of CONV_2D, FULLY_CONNECTED", true, ""},
     Replay<Check::kFilterZeroPoint>},
    {{"TFLITE-QUANT-004", Severity::kError, "Quantised INT16 tensors have zero point 0.",
      "Prepare of the kernels", true, ""},
     Replay<Check::kInt16ZeroPoint>},
    {{"TFLITE-QUANT-005", Severity::kError,
      "Operators that only move elements have one quantisation on both sides.",
      "Prepare of CONCATENATION, PACK, UNPACK, EXPAND_DIMS, FILL, MIRROR_PAD, SPACE_TO_BATCH_ND",
      true, "Insert a QUANTIZE."},
     Replay<Check::kSameQuantisation>},
    {{"TFLITE-QUANT-006", Severity::kError,
      "Outputs of LOGISTIC, TANH, SOFTMAX, LOG_SOFTMAX and L2_NORMALIZATION have the quantisation "
      "that covers their range.",
      "Prepare of the kernels", true, ""},
     Replay<Check::kFixedQuantisation>},
    {{"TFLITE-QUANT-007", Severity::kError,
      "The scale of a bias is the product of those of input and filter.",
      "GetQuantizedConvolutionMultipler", true, ""},
     Replay<Check::kBiasScale>},
    {{"TFLITE-QUANT-008", Severity::kError, "QUANTIZE knows the two types that it leads between.",
      "Prepare of QUANTIZE", true, ""},
     Replay<Check::kConversion>},
    {{"TFLITE-RNN-001", Severity::kError, "Weights and biases fit input, cells and outputs.",
      "Prepare of LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM, RNN, SVDF", true, ""},
     Replay<Check::kCellSizes>},
    {{"TFLITE-RNN-002", Severity::kError,
      "The inputs of a recurrent cell that go together are there together.",
      "schema.fbs, LSTMKernelType; Prepare of LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM", true, ""},
     Replay<Check::kCellInputs>},
    {{"TFLITE-RNN-003", Severity::kError,
      "States of LSTM are variables with the elements of batch and units.",
      "schema.fbs, Tensor.is_variable; Prepare of LSTM", true, ""},
     Replay<Check::kCellState>},
    {{"TFLITE-CALL-001", Severity::kError, "Called sub-graphs are in the model.",
      "schema.fbs, IfOptions, WhileOptions, CallOnceOptions; Prepare of the kernels", true, ""},
     Replay<Check::kCalledGraph>},
    {{"TFLITE-CALL-002", Severity::kError,
      "Called sub-graphs take and give what their caller has for them.",
      "Prepare of IF, WHILE, CALL_ONCE, STABLEHLO_CASE, STABLEHLO_COMPOSITE", true, ""},
     Replay<Check::kCalledPorts>},
    {{"TFLITE-CALL-003", Severity::kError, "Sub-graphs do not call themselves.",
      "Prepare of IF, WHILE, CALL_ONCE", true, ""},
     Replay<Check::kCallRecursion>},
    {{"TFLITE-CALL-004", Severity::kError, "Hash tables lead from INT64 to STRING or back.",
      "schema.fbs, HashtableOptions; Prepare of HASHTABLE, HASHTABLE_FIND, HASHTABLE_IMPORT", true,
      ""},
     Replay<Check::kTables>},
};

}  // namespace

std::span<const Rule> QuantisationRules() {
  return kRules;
}

}  // namespace nn::tflite
