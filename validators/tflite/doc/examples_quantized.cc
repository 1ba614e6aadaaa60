// Examples of TensorFlow Lite rules: quantization and recurrent operators.
#include "validators/tflite/doc/example_models.h"

namespace nn::tflite {
namespace {

constexpr const char* kQuantizedConv =
    R"(CONV_2D Conv2DOptions {"padding": "VALID", "stride_w": 1, "stride_h": 1}
x i8[1,4,4,4] {"quantization": {"scale": [0.5], "zero_point": [3]}}
filter i8[2,2,2,4] = {"quantization": {"scale": [0.25, 0.5], "zero_point": [0, 0]}}
bias i32[2] = {"quantization": {"scale": [0.125, 0.25], "zero_point": [0, 0]}}
> y i8[1,3,3,2] {"quantization": {"scale": [1], "zero_point": [0]}}
)";

constexpr const char* kQuantizedDense = R"(FULLY_CONNECTED FullyConnectedOptions {}
x i8[2,3] {"quantization": {"scale": [0.5], "zero_point": [3]}}
weights i8[4,3] = {"quantization": {"scale": [0.25], "zero_point": [0]}}
bias i32[4] = {"quantization": {"scale": [0.125], "zero_point": [0]}}
> y i8[2,4] {"quantization": {"scale": [1], "zero_point": [0]}}
)";

constexpr const char* kRelu = R"(RELU
x i16[2,3] {"quantization": {"scale": [0.5], "zero_point": [0]}}
> y i16[2,3] {"quantization": {"scale": [0.25], "zero_point": [0]}}
)";

constexpr const char* kExpand = R"(EXPAND_DIMS ExpandDimsOptions {}
x i8[3] {"quantization": {"scale": [0.5], "zero_point": [3]}}
axis i32[] =0
> y i8[1,3] {"quantization": {"scale": [0.5], "zero_point": [3]}}
)";

constexpr const char* kSoftmax = R"(SOFTMAX SoftmaxOptions {"beta": 1}
x i8[2,3] {"quantization": {"scale": [0.5], "zero_point": [3]}}
> y i8[2,3] {"quantization": {"scale": [0.00390625], "zero_point": [-128]}}
)";

constexpr const char* kSoftmaxU8 = R"(SOFTMAX SoftmaxOptions {"beta": 1}
x u8[2,3] {"quantization": {"scale": [0.5], "zero_point": [3]}}
> y u8[2,3] {"quantization": {"scale": [0.00390625], "zero_point": [0]}}
)";

constexpr const char* kSoftmaxTo16 = R"(SOFTMAX SoftmaxOptions {"beta": 1}
x i8[2,3] {"quantization": {"scale": [0.5], "zero_point": [3]}}
> y i16[2,3] {"quantization": {"scale": [0.0000152587890625], "zero_point": [-32768]}}
)";

constexpr const char* kTanh = R"(TANH
x i8[2,3] {"quantization": {"scale": [0.5], "zero_point": [3]}}
> y i8[2,3] {"quantization": {"scale": [0.0078125], "zero_point": [0]}}
)";

constexpr const char* kMinimum = R"(MINIMUM MaximumMinimumOptions {}
a i8[2,3] {"quantization": {"scale": [0.5], "zero_point": [3]}}
b i8[2,3] {"quantization": {"scale": [0.5], "zero_point": [3]}}
> y i8[2,3] {"quantization": {"scale": [0.5], "zero_point": [3]}}
)";

constexpr const char* kMaxPool = R"(MAX_POOL_2D Pool2DOptions {"padding": "VALID", "stride_w": 1,)"
                                 R"( "stride_h": 1, "filter_width": 2, "filter_height": 2}
x u8[1,4,4,2] {"quantization": {"scale": [0.5], "zero_point": [3]}}
> y u8[1,3,3,2] {"quantization": {"scale": [0.5], "zero_point": [3]}}
)";

constexpr const char* kReduceMax = R"(REDUCE_MAX ReducerOptions {}
x i16[2,3] {"quantization": {"scale": [0.5], "zero_point": [0]}}
axes i32[1] =1
> y i16[2] {"quantization": {"scale": [0.5], "zero_point": [0]}}
)";

constexpr const char* kQuantize = R"(QUANTIZE QuantizeOptions {}
x i16[2,3] {"quantization": {"scale": [0.5], "zero_point": [0]}}
> y i8[2,3] {"quantization": {"scale": [1], "zero_point": [0]}}
)";

constexpr const char* kRnn = R"(RNN RNNOptions {}
x f32[2,3]
weights f32[4,3] =
recurrent f32[4,4] =
bias f32[4] =
state f32[2,4] var
> y f32[2,4]
)";

// The input gate is coupled to the forget gate.
constexpr const char* kLstm = R"(UNIDIRECTIONAL_SEQUENCE_LSTM UnidirectionalSequenceLSTMOptions {}
x f32[2,5,3]
-
input_forget f32[4,3] =
input_cell f32[4,3] =
input_output f32[4,3] =
-
recurrent_forget f32[4,4] =
recurrent_cell f32[4,4] =
recurrent_output f32[4,4] =
-
-
-
-
forget_bias f32[4] =
cell_bias f32[4] =
output_bias f32[4] =
-
-
state f32[2,4] var
cell_state f32[2,4] var
> y f32[2,5,4]
)";

}  // namespace

std::vector<RuleExample> QuantizationExamples() {
  const std::string axes = "\"quantized_dimension\": 0, ";
  return {
      {"TFLITE-QUANT-001",
       kQuantizedConv,
       {{" {\"quantization\": {\"scale\": [0.5], \"zero_point\": [3]}}", ""}},
       {{"\"scale\": [0.5], \"zero_point\": [3]", "\"scale\": [0.25], \"zero_point\": [0]"}}},
      {"TFLITE-QUANT-002",
       kQuantizedDense,
       {{"weights i8[4,3] = {\"quantization\": {\"scale\": [0.25], \"zero_point\": [0]}}",
         "weights i8[4,3] = {\"quantization\": {\"quantized_dimension\": 1, \"scale\": [0.25, "
         "0.25, "
         "0.25], \"zero_point\": [0, 0, 0]}}"}},
       {{"weights i8[4,3] = {\"quantization\": {\"scale\": [0.25], \"zero_point\": [0]}}",
         "weights i8[4,3] = {\"quantization\": {\"scale\": [0.25, 0.25, 0.25, 0.25], "
         "\"zero_point\": [0, 0, 0, 0]}}"}}},
      {"TFLITE-QUANT-003",
       kQuantizedConv,
       {{"[0.25, 0.5], \"zero_point\": [0, 0]", "[0.25, 0.5], \"zero_point\": [0, 1]"}},
       {{"[0.25, 0.5], \"zero_point\": [0, 0]", "[0.25], \"zero_point\": [0]"}}},
      {"TFLITE-QUANT-004",
       kRelu,
       {{"\"zero_point\": [0]", "\"zero_point\": [1]"}},
       {{"i16", "i8"}, {"i16", "i8"}, {"\"zero_point\": [0]", "\"zero_point\": [1]"}}},
      {"TFLITE-QUANT-005",
       kExpand,
       {{"y i8[1,3] {\"quantization\": {\"scale\": [0.5]",
         "y i8[1,3] {\"quantization\": {\"scale\": [0.25]"}},
       {{"[0.5]", "[0.25]"}, {"[0.5]", "[0.25]"}}},
      {"TFLITE-QUANT-006",
       kSoftmax,
       {{"[-128]", "[0]"}},
       {{"[0.5], \"zero_point\": [3]", "[0.25], \"zero_point\": [0]"}}},
      {"TFLITE-QUANT-006",
       kSoftmaxU8,
       {{"[0.00390625], \"zero_point\": [0]", "[0.005], \"zero_point\": [20]"}},
       {{"[0.5], \"zero_point\": [3]", "[0.25], \"zero_point\": [0]"}}},
      {"TFLITE-QUANT-006", kSoftmaxTo16, {{"[-32768]", "[0]"}}, {{"[0.5]", "[0.25]"}}},
      {"TFLITE-QUANT-005",
       kMaxPool,
       {{"y u8[1,3,3,2] {\"quantization\": {\"scale\": [0.5]",
         "y u8[1,3,3,2] {\"quantization\": {\"scale\": [0.25]"}},
       {{"[0.5]", "[0.25]"}, {"[0.5]", "[0.25]"}}},
      {"TFLITE-QUANT-005",
       kReduceMax,
       {{"y i16[2] {\"quantization\": {\"scale\": [0.5]",
         "y i16[2] {\"quantization\": {\"scale\": [0.25]"}},
       {{"[0.5]", "[0.25]"}, {"[0.5]", "[0.25]"}}},
      {"TFLITE-QUANT-009", kTanh, {{"[0.0078125]", "[0.0079]"}}, {{"[0.5]", "[0.25]"}}},
      {"TFLITE-QUANT-009",
       kMinimum,
       {{"b i8[2,3] {\"quantization\": {\"scale\": [0.5]",
         "b i8[2,3] {\"quantization\": {\"scale\": [0.25]"}},
       {{"[0.5]", "[0.25]"}, {"[0.5]", "[0.25]"}, {"[0.5]", "[0.25]"}}},
      {"TFLITE-QUANT-009",
       kQuantizedDense,
       {{"[0.25], \"zero_point\": [0]", "[0.25], \"zero_point\": [1]"}},
       {{"[1], \"zero_point\": [0]", "[1], \"zero_point\": [1]"}}},
      {"TFLITE-QUANT-007", kQuantizedDense, {{"[0.125]", "[0.5]"}}, {{"[0.125]", "[0.126]"}}},
      {"TFLITE-QUANT-008", kQuantize, {{"y i8", "y u8"}}, {{"y i8", "y i32"}}},
      {"TFLITE-RNN-001",
       kRnn,
       {{"recurrent f32[4,4]", "recurrent f32[4,3]"}},
       {{"x f32[2,3]", "x f32[2,6]"}, {"weights f32[4,3]", "weights f32[4,6]"}}},
      {"TFLITE-RNN-001",
       kLstm,
       {{"cell_bias f32[4]", "cell_bias f32[3]"}},
       {{"x f32[2,5,3]", "x f32[2,1,3]"}, {"y f32[2,5,4]", "y f32[2,1,4]"}}},
      {"TFLITE-RNN-002",
       kLstm,
       {{"x f32[2,5,3]\n-", "x f32[2,5,3]\ninput_input f32[4,3] ="}},
       {{"x f32[2,5,3]\n-", "x f32[2,5,3]\ninput_input f32[4,3] ="},
        {"input_output f32[4,3] =\n-", "input_output f32[4,3] =\nrecurrent_input f32[4,4] ="},
        {"-\nforget_bias", "input_bias f32[4] =\nforget_bias"}}},
      {"TFLITE-RNN-003",
       kLstm,
       {{"cell_state f32[2,4] var", "cell_state f32[2,4]"}},
       {{"cell_state f32[2,4] var", "cell_state f32[8] var"}}},
  };
}

}  // namespace nn::tflite
