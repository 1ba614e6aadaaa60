// Examples of the rules of the safety profile.
#include "validators/onnx/doc/example_models.h"

namespace nn::onnx {
namespace {

// States all that the profile requires.
constexpr const char* kSafe = R"(
ir_version: 13
opset_import { version: 17 }
graph {
  name: "g"
  node { input: "x" output: "t" name: "a" op_type: "Relu" }
  node { input: "t" input: "w" output: "y" name: "b" op_type: "Add" }
  initializer { name: "w" $D }
  input { name: "x" $T }
  output { name: "y" $T }
  value_info { name: "t" $T }
})";

constexpr const char* kSafeSoftmax = R"(
ir_version: 13
opset_import { version: 17 }
graph {
  name: "g"
  node { input: "x" output: "y" name: "a" op_type: "Softmax"
    attribute { name: "axis" type: INT i: 0 } }
  input { name: "x" $T }
  output { name: "y" $T }
})";

constexpr const char* kSafePool = R"(
ir_version: 13
opset_import { version: 17 }
graph {
  name: "g"
  node { input: "x" output: "y" name: "a" op_type: "MaxPool"
    attribute { name: "auto_pad" type: STRING s: "NOTSET" }
    attribute { name: "ceil_mode" type: INT i: 0 }
    attribute { name: "dilations" type: INTS ints: [1] }
    attribute { name: "kernel_shape" type: INTS ints: [3] }
    attribute { name: "pads" type: INTS ints: [1, 1] }
    attribute { name: "storage_order" type: INT i: 0 }
    attribute { name: "strides" type: INTS ints: [1] } }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 }
    dim { dim_value: 2 } dim { dim_value: 4 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 }
    dim { dim_value: 2 } dim { dim_value: 4 } } } } }
})";

constexpr const char* kSafeReshape = R"(
ir_version: 13
opset_import { version: 17 }
graph {
  name: "g"
  node { input: "x" input: "s" output: "y" name: "a" op_type: "Reshape"
    attribute { name: "allowzero" type: INT i: 0 } }
  initializer { name: "s" data_type: 7 dims: 2 int64_data: [1, 2] }
  input { name: "x" $T }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 }
    dim { dim_value: 2 } } } } }
})";

}  // namespace

std::vector<RuleExample> SafetyExamples() {
  return {
      {"ONNX-SAFETY-001", kSafe, {{"\"Relu\"", "\"Sin\""}}, {{"\"Relu\"", "\"Tanh\""}}},
      {"ONNX-SAFETY-001 ONNX-SAFETY-007",
       kSafe,
       {{"op_type: \"Relu\"", "op_type: \"Relu\" domain: \"com.example\""},
        {"opset_import { version: 17 }",
         "opset_import { version: 17 } opset_import { domain: \"com.example\" version: 1 }"}},
       {{"\"Relu\"", "\"Abs\""}}},
      {"ONNX-SAFETY-002 ONNX-SAFETY-001 ONNX-SAFETY-009",
       kSafe,
       {{"input: \"x\" output: \"t\" name: \"a\" op_type: \"Relu\"",
         "output: \"t\" name: \"a\" op_type: \"RandomNormal\" attribute { name: \"shape\" type: "
         "INTS ints: 2 }"}},
       {{"\"Relu\"", "\"Exp\""}}},
      {"ONNX-SAFETY-002 ONNX-SAFETY-001",
       kSafe,
       {{"input: \"x\" output: \"t\" name: \"a\" op_type: \"Relu\"",
         "input: [\"x\", \"\", \"m\"] output: \"t\" name: \"a\" op_type: \"Dropout\""},
        Before("input {", "initializer { name: \"m\" data_type: 9 int32_data: 1 }")},
       {{"\"Relu\"", "\"Sqrt\""}}},
      {"ONNX-SAFETY-003",
       kSafe,
       {Before("graph {",
               "training_info { algorithm { name: \"step\" node { input: \"w\" output: \"w1\" "
               "op_type: \"Neg\" } output { name: \"w1\" $T } } update_binding { key: \"w\" value: "
               "\"w1\" } }")},
       {{"\"Relu\"", "\"Log\""}}},
      {"ONNX-SAFETY-004",
       kSafeSoftmax,
       {{"attribute { name: \"axis\" type: INT i: 0 }", ""}},
       {{"i: 0", "i: -1"}}},
      {"ONNX-SAFETY-004",
       kSafePool,
       {{"attribute { name: \"pads\" type: INTS ints: [1, 1] }", ""}, {"ints: [3]", "ints: [1]"}},
       {{"attribute { name: \"pads\" type: INTS ints: [1, 1] }", ""},
        {"\"NOTSET\"", "\"SAME_UPPER\""}}},
      {"ONNX-SAFETY-005",
       kSafe,
       {{"value_info { name: \"t\" $T }", ""}},
       {{"value_info { name: \"t\" $T }", "value_info { name: \"t\" $T doc_string: \"t\" }"}}},
      {"ONNX-SAFETY-006",
       kSafe,
       {{"value_info { name: \"t\" $T }",
         "value_info { name: \"t\" type { tensor_type { elem_type: 1 shape { dim { dim_param: "
         "\"n\" } } } } }"}},
       {{"\"Relu\"", "\"Neg\""}}},
      {"ONNX-SAFETY-007",
       kSafeReshape,
       {{"initializer { name: \"s\" data_type: 7 dims: 2 int64_data: [1, 2] }",
         "input { name: \"s\" type { tensor_type { elem_type: 7 shape { dim { dim_value: 2 } } } } "
         "}"}},
       {{"int64_data: [1, 2]", "int64_data: [1, -1]"}}},
      {"ONNX-SAFETY-008",
       kSafe,
       {Before("initializer",
               "node { input: \"x\" output: \"u\" name: \"c\" op_type: \"Relu\" } value_info { "
               "name: \"u\" $T }")},
       {Before("initializer",
               "node { input: \"x\" output: \"u\" name: \"c\" op_type: \"Relu\" } output { name: "
               "\"u\" $T }")}},
      {"ONNX-SAFETY-009",
       kSafe,
       {Before("output { name: \"y\"", "input { name: \"z\" $T }")},
       {Before("output { name: \"y\"", "input { name: \"z\" $T }"),
        {"input: \"t\" input: \"w\"", "input: \"t\" input: \"z\""}}},
      {"ONNX-SAFETY-010 ONNX-SAFETY-007",
       kSafe,
       {{"initializer { name: \"w\" $D }",
         "sparse_initializer { values { name: \"w\" data_type: 1 dims: 1 float_data: [1] } indices "
         "{ data_type: 7 dims: 1 int64_data: [0] } dims: 2 }"}},
       {{"$D", "data_type: 1 dims: 2 float_data: [0, 2]"}}},
  };
}

}  // namespace nn::onnx
