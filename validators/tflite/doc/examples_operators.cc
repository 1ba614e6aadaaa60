// Examples of TensorFlow Lite rules: tensors and operators.
#include "validators/tflite/doc/example_models.h"

namespace nn::tflite {
namespace {

// Two strings, "a" and "b".
constexpr const char* kStrings = R"(HASHTABLE_LOOKUP
lookup i32[2]
keys i32[2] =4,9
values str[2] =2,0,0,0,16,0,0,0,17,0,0,0,18,0,0,0,97,98
> y str[2]
> hits u8[2]
)";

}  // namespace

std::vector<RuleExample> TensorExamples() {
  const std::string order =
      "\"traversal_order\": [0, 1], \"dim_metadata\": "
      "[{\"dense_size\": 1}, {\"dense_size\": 2}]";
  const std::string segments =
      "\"array_segments_type\": \"Uint8Vector\", \"array_segments\": {\"values\": [0, 1]}, "
      "\"array_indices_type\": \"Uint8Vector\", ";
  return {
      {"TFLITE-TENSOR-001",
       kCast,
       {{"y f32[1,2]", "y f32[1,2] {\"type\": 100}"}},
       {{"y f32[1,2]", "y f32[1,2] {\"type\": 16}"}}},
      {"TFLITE-TENSOR-002",
       kModel,
       {{"\"y\", \"shape\": [1, 2], \"buffer\": 0", "\"y\", \"shape\": [1, 2], \"buffer\": 3"}},
       {{"\"y\", \"shape\": [1, 2], \"buffer\": 0", "\"y\", \"shape\": [1, 2], \"buffer\": 3"},
        {"48]}]", "48]}, {}]"}}},
      {"TFLITE-TENSOR-003",
       kModel,
       {{"\"x\", \"shape\": [1, 2]", "\"x\", \"shape\": [-1, 2]"}},
       {{"\"x\", \"shape\": [1, 2]", "\"x\", \"shape\": [2]"}}},
      {"TFLITE-TENSOR-004",
       kModel,
       {Tensor("\"shape_signature\": [-1, 3]")},
       {Tensor("\"shape_signature\": [-1, 2]")}},
      {"TFLITE-TENSOR-005 TFLITE-OP-016",
       kModel,
       {{"\"c\", \"shape\": [1, 2]", "\"c\", \"shape\": [2, 2]"}},
       {{"\"c\", \"shape\": [1, 2]", "\"c\", \"shape\": [2]"}}},
      {"TFLITE-TENSOR-006",
       kCast,
       {Quantized("i8",
                  "\"scale\": [1, 2, 3], \"zero_point\": [0, 0, 0], \"quantized_dimension\": 1")},
       {Quantized("i8", "\"scale\": [1, 2], \"zero_point\": [0, 0], \"quantized_dimension\": 1")}},
      {"TFLITE-TENSOR-006",
       kCast,
       {Quantized("i8", "\"scale\": [1], \"zero_point\": [0, 0]")},
       {Quantized("i8", "\"scale\": [1], \"zero_point\": [0]")}},
      {"TFLITE-TENSOR-007",
       kCast,
       {Quantized("i8", "\"scale\": [-1], \"zero_point\": [0]")},
       {Quantized("i8", "\"scale\": [0.5], \"zero_point\": [0]")}},
      {"TFLITE-TENSOR-008",
       kCast,
       {Quantized("i8", "\"scale\": [1], \"zero_point\": [128]")},
       {Quantized("u8", "\"scale\": [1], \"zero_point\": [128]")}},
      {"TFLITE-TENSOR-009",
       kModel,
       {Tensor("\"sparsity\": {\"traversal_order\": [0, 0], "
               "\"dim_metadata\": [{\"dense_size\": 1}, {\"dense_size\": 2}]}")},
       {Tensor("\"sparsity\": {" + order + "}")}},
      {"TFLITE-TENSOR-009",
       kModel,
       {Tensor(
           "\"sparsity\": {\"block_map\": [2], \"traversal_order\": [0, 1, 2], \"dim_metadata\": "
           "[{\"dense_size\": 1}, {\"dense_size\": 1}, {\"dense_size\": 2}]}")},
       {Tensor(
           "\"sparsity\": {\"block_map\": [1], \"traversal_order\": [0, 1, 2], \"dim_metadata\": "
           "[{\"dense_size\": 1}, {\"dense_size\": 1}, {\"dense_size\": 2}]}")}},
      {"TFLITE-TENSOR-006",
       kCast,
       {Quantized("i32", "\"scale\": [1]")},
       {Quantized("i32", "\"zero_point\": [1]")}},
      {"TFLITE-TENSOR-010",
       kCast,
       {{"x f32[1,2]", "x f32[65536,32768]"}, {"y f32[1,2]", "y f32[65536,32768]"}},
       {{"x f32[1,2]", "x f32[65536,32767]"}, {"y f32[1,2]", "y f32[65536,32767]"}}},
      {"TFLITE-TENSOR-011",
       kModel,
       {{"\"c\",", "\"c\", \"is_variable\": true,"}},
       {{"\"c\",", "\"c\", \"is_variable\": false,"}}},
      {"TFLITE-TENSOR-012", kStrings, {{"97,98", "97"}}, {{"18,0,0,0,97,98", "19,0,0,0,97,98,99"}}},
      {"TFLITE-TENSOR-013",
       kModel,
       {Tensor("\"quantization\": {\"details_type\": \"BlockwiseQuantization\", "
               "\"details\": {\"scales\": 4, \"zero_points\": -1, \"block_size\": 2}}")},
       {Tensor("\"quantization\": {\"details_type\": \"BlockwiseQuantization\", "
               "\"details\": {\"scales\": 1, \"zero_points\": -1, \"block_size\": 2}}")}},
      {"TFLITE-TENSOR-014",
       kModel,
       {Tensor("\"variant_tensors\": [{\"shape\": [1]}]")},
       {Tensor("\"variant_tensors\": []")}},
      {"TFLITE-TENSOR-015",
       kModel,
       {Tensor("\"sparsity\": {\"traversal_order\": [0, 1], \"dim_metadata\": "
               "[{\"dense_size\": 1}, {\"dense_size\": 3}]}")},
       {Tensor("\"sparsity\": {" + order + "}")}},
      {"TFLITE-TENSOR-015",
       kModel,
       {Tensor("\"sparsity\": {\"traversal_order\": [0, 1], \"dim_metadata\": "
               "[{\"dense_size\": 1}, {\"format\": \"SPARSE_CSR\", " +
               segments + "\"array_indices\": {\"values\": [2]}}]}")},
       {Tensor("\"sparsity\": {\"traversal_order\": [0, 1], \"dim_metadata\": "
               "[{\"dense_size\": 1}, {\"format\": \"SPARSE_CSR\", " +
               segments + "\"array_indices\": {\"values\": [1]}}]}")}},
  };
}

namespace {

constexpr const char* kMul = R"(MUL MulOptions {}
a f32[2,3]
b f32[3] =
> y f32[2,3]
)";

constexpr const char* kGelu = R"(GELU GeluOptions {}
x f32[2,3]
> y f32[2,3]
)";

constexpr const char* kPool =
    R"(MAX_POOL_2D Pool2DOptions {"stride_w": 1, "stride_h": 1, "filter_width": 2, "filter_height": 2}
x f32[1,4,4,2]
> y f32[1,4,4,2]
)";

constexpr const char* kTopKOperator = R"(TOPK_V2 TopKV2Options {}
x f32[2,6]
k i32[] =3
> values f32[2,3]
> indices i32[2,3]
)";

constexpr const char* kArgMax = R"(ARG_MAX ArgMaxOptions {"output_type": "INT64"}
x f32[2,6]
axis i32[] =1
> y i64[2]
)";

constexpr const char* kStridedForward = R"(STRIDED_SLICE StridedSliceOptions {}
x f32[4,6]
begin i32[2] =0,1
end i32[2] =2,5
strides i32[2] =1,2
> y f32[2,2]
)";

constexpr const char* kReal = R"(REAL
x c64[2]
> y f32[2]
)";

constexpr const char* kSliceOperator = R"(SLICE SliceOptions {}
x f32[4,6]
begin i32[2] =1,2
size i32[2] =2,-1
> y f32[2,4]
)";

}  // namespace

std::vector<RuleExample> OperatorExamples() {
  return {
      {"TFLITE-OP-001", kMul, {{"b f32[3] =\n", ""}}, {{"a f32[2,3]", "a f32[2,1]"}}},
      {"TFLITE-OP-002", kGelu, {{"> y", "> z f32[2,3]\n> y"}}, {{"> y", "> z"}}},
      {"TFLITE-OP-003", kGelu, {{"GeluOptions", "AbsOptions"}}, {{"GeluOptions {}", ""}}},
      {"TFLITE-OP-004",
       kPool,
       {{" Pool2DOptions {\"stride_w\": 1, \"stride_h\": 1, \"filter_width\": 2, "
         "\"filter_height\": 2}",
         ""}},
       {{"\"filter_height\": 2", "\"filter_height\": 2, \"padding\": \"SAME\""}}},
      {"TFLITE-OP-005",
       kPool,
       {{"\"stride_h\": 1", "\"stride_h\": 0"}},
       {{"\"stride_h\": 1", "\"stride_h\": 4"}, {"y f32[1,4", "y f32[1,1"}}},
      {"TFLITE-OP-006", kTopKOperator, {{"k i32[] =3", "-"}}, {{"k i32[] =3", "k i16[] =3"}}},
      {"TFLITE-OP-007", kTopKOperator, {{"k i32", "k i64"}}, {{"k i32", "k i16"}}},
      {"TFLITE-OP-008", kMul, {{"b f32", "b i32"}}, {{"b f32[3]", "b f32[1,3]"}}},
      {"TFLITE-OP-009",
       kStridedForward,
       {{"begin i32[2] =0,1", "begin i32[1,2] =0,1"}},
       {{"begin i32[2] =0,1", "begin i32[2] =0,2"}}},
      {"TFLITE-OP-010",
       kTopKOperator,
       {{"k i32[] =3", "k i32[2] =3,3"}},
       {{"k i32[] =3", "k i32[1] =3"}}},
      {"TFLITE-OP-011",
       kGelu,
       {{"GELU GeluOptions {}", "STABLEHLO_TANH"}},
       {{"GELU GeluOptions {}", "TANH"}}},
      {"TFLITE-OP-012", kGelu, {{"GELU", "GELU/4"}}, {{"GELU", "GELU/3"}}},
      {"TFLITE-OP-012",
       R"(BROADCAST_TO/2 BroadcastToOptions {}
x f32[3]
shape i32[2] =2,3
> y f32[2,3]
)",
       {{"/2", "/1"}},
       {{"/2", "/4"}}},
      {"TFLITE-OP-013",
       kGelu,
       {{"x f32", "x i32"}, {"y f32", "y i32"}},
       {{"x f32", "x f16"}, {"y f32", "y f16"}}},
      {"TFLITE-OP-014", kReal, {{"y f32", "y i32"}}, {{"c64", "c128"}, {"y f32", "y f64"}}},
      {"TFLITE-OP-015", kArgMax, {{"y i64", "y i32"}}, {{"y i64", "y i32"}, {"INT64", "INT32"}}},
      {"TFLITE-OP-015", kMul, {{"y f32", "y i32"}}, {{"y f32[2,3]", "product f32[2,3]"}}},
      {"TFLITE-OP-016",
       kMul,
       {{"y f32[2,3]", "y f32[3,2]"}},
       {{"y f32[2,3]", "y f32[2,3] {\"shape_signature\": [-1, 3]}"}}},
      {"TFLITE-OP-017", kArgMax, {{"INT64", "FLOAT32"}}, {{"INT64", "INT32"}, {"i64", "i32"}}},
      {"TFLITE-OP-017",
       R"(BUCKETIZE BucketizeOptions {"boundaries": [1, 2, 3]}
x f32[2]
> y i32[2]
)",
       {{"1, 2, 3", "1, 3, 2"}},
       {{"1, 2, 3", "1, 2, 2"}}},
      {"TFLITE-OP-018",
       R"(L2_NORMALIZATION L2NormOptions {}
x f32[2,3]
> y f32[2,3]
)",
       {{"{}", "{\"fused_activation_function\": \"RELU\"}"}},
       {{"{}", "{\"fused_activation_function\": \"NONE\"}"}}},
      {"TFLITE-OP-019",
       kSliceOperator,
       {{"=1,2", "=1,7"}},
       {{"=1,2", "=1,6"}, {"y f32[2,4]", "y f32[2,0]"}}},
  };
}

}  // namespace nn::tflite
