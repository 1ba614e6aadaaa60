// Examples of TensorFlow Lite rules: convolutions and matrix products.
#include "validators/tflite/doc/example_models.h"

namespace nn::tflite {
namespace {

constexpr const char* kConv =
    R"(CONV_2D Conv2DOptions {"padding": "VALID", "stride_w": 1, "stride_h": 1}
x f32[1,4,4,4]
filter f32[4,2,2,4] =
bias f32[4] =
> y f32[1,3,3,4]
)";

constexpr const char* kDepthwise =
    R"(DEPTHWISE_CONV_2D DepthwiseConv2DOptions {"stride_w": 1, "stride_h": 1}
x f32[1,4,4,2]
filter f32[1,2,2,4] =
bias f32[4] =
> y f32[1,4,4,4]
)";

constexpr const char* kTransposed =
    R"(TRANSPOSE_CONV TransposeConvOptions {"stride_w": 2, "stride_h": 2}
shape i32[4] =1,8,8,3
filter f32[3,2,2,2] =
x f32[1,4,4,2]
> y f32[1,8,8,3]
)";

constexpr const char* kDense = R"(FULLY_CONNECTED FullyConnectedOptions {}
x f32[2,3]
weights f32[4,3] =
bias f32[4] =
> y f32[2,4]
)";

constexpr const char* kProduct = R"(BATCH_MATMUL BatchMatMulOptions {}
a f32[5,2,3]
b f32[5,3,4]
> y f32[5,2,4]
)";

}  // namespace

std::vector<RuleExample> ConvolutionExamples() {
  return {
      {"TFLITE-OP-020",
       kDepthwise,
       {{"{\"stride_w\"", "{\"dilation_w_factor\": 2, \"stride_w\""}},
       {{"DEPTHWISE_CONV_2D", "DEPTHWISE_CONV_2D/2"},
        {"{\"stride_w\"", "{\"dilation_w_factor\": 2, \"stride_w\""}}},
      {"TFLITE-CONV-001",
       kConv,
       {{"\"stride_h\": 1", "\"stride_h\": 1, \"dilation_h_factor\": 0"}},
       {{"\"stride_h\": 1", "\"stride_h\": 1, \"dilation_h_factor\": 3"}, {"[1,3,3", "[1,1,3"}}},
      {"TFLITE-CONV-002",
       kConv,
       {{"filter f32[4,2,2,4]", "filter f32[4,2,2,3]"}},
       {{"filter f32[4,2,2,4]", "filter f32[4,2,2,2]"}}},
      {"TFLITE-CONV-002",
       kDepthwise,
       {{"x f32[1,4,4,2]", "x f32[1,4,4,3]"}},
       {{"x f32[1,4,4,2]", "x f32[1,4,4,4]"}}},
      {"TFLITE-CONV-003",
       kConv,
       {{"filter f32[4,2,2,4]", "filter f32[3,2,2,2]"},
        {"bias f32[4]", "bias f32[3]"},
        {"3,3,4]", "3,3,3]"}},
       {{"filter f32[4,2,2,4]", "filter f32[6,2,2,2]"},
        {"bias f32[4]", "bias f32[6]"},
        {"3,3,4]", "3,3,6]"}}},
      {"TFLITE-CONV-004",
       kConv,
       {{"x f32[1,4,4,4]", "x f32[1,0,4,4]"}},
       {{"x f32[1,4,4,4]", "x f32[0,4,4,4]"}, {"y f32[1", "y f32[0"}}},
      {"TFLITE-CONV-005",
       kConv,
       {{"bias f32[4]", "bias f32[3]"}},
       {{"bias f32[4]", "bias f32[1,4]"}}},
      {"TFLITE-CONV-005", kDense, {{"bias f32[4]", "bias i32[4]"}}, {{"bias f32[4] =", "-"}}},
      {"TFLITE-CONV-006",
       kDepthwise,
       {{"filter f32", "filter i16"}},
       {{"filter f32[1,2,2,4] =",
         "filter i8[1,2,2,4] = {\"quantization\": {\"scale\": [1], \"zero_point\": [0]}}"}}},
      {"TFLITE-CONV-007",
       kTransposed,
       {{"shape i32[4] =1,8,8,3", "shape i32[3] =1,8,8"}},
       {{"=1,8,8,3", "=1,7,8,3"}, {"y f32[1,8", "y f32[1,7"}}},
      {"TFLITE-DENSE-001",
       kDense,
       {{"y f32", "y i8"}},
       {{"weights f32[4,3] =",
         "weights i8[4,3] = {\"quantization\": {\"scale\": [1], \"zero_point\": [0]}}"}}},
      {"TFLITE-DENSE-002 TFLITE-OP-020",
       kDense,
       {{"{}", "{\"weights_format\": \"SHUFFLED4x16INT8\"}"}},
       {{"{}", "{\"weights_format\": \"DEFAULT\"}"}}},
      {"TFLITE-DENSE-003",
       kProduct,
       {{"b f32[5,3,4]", "b f32[5,4,3]"}},
       {{"b f32[5,3,4]", "b f32[5,4,3]"}, {"{}", "{\"adj_y\": true}"}}},
  };
}

}  // namespace nn::tflite
