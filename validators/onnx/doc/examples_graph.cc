// Examples of ONNX rules: models, graphs, values, functions, training.
#include "validators/onnx/doc/example_models.h"

namespace nn::onnx {

std::vector<RuleExample> ModelExamples() {
  const Edit ir1 = {"ir_version: 13", "ir_version: 2"};
  const Edit listed = Before("output { name", "input { name: \"w\" $T }");
  const Edit no_import = {"opset_import { version: 17 }", ""};
  const Edit custom = Operator("\"Relu\" domain: \"com.example\"");
  const Edit import = AddImport("com.example", "1");
  return {
      {"ONNX-MODEL-001", kGraph, {{"ir_version: 13", ""}}, {{"ir_version: 13", "ir_version: 4"}}},
      {"ONNX-MODEL-002",
       kGraph,
       {{"ir_version: 13", "ir_version: 15"}},
       {{"ir_version: 13", "ir_version: 14"}}},
      {"ONNX-MODEL-003 ONNX-NODE-003", kGraph, {no_import}, {no_import, ir1, listed}},
      {"ONNX-MODEL-004 ONNX-LINT-008",
       kGraph,
       {ir1, listed, {"version: 17", "version: 1"}},
       {no_import, ir1, listed}},
      {"ONNX-MODEL-005", kGraph, {AddImport("ai.onnx", "16")}, {AddImport("ai.onnx", "17")}},
      {"ONNX-MODEL-006", kGraph, {custom, AddImport("com.example", "0")}, {custom, import}},
      {"ONNX-MODEL-007",
       kGraph,
       {{"version: 17", "version: 99"}},
       {{"version: 17", "version: 28"}}},
      {"ONNX-MODEL-008",
       "ir_version: 13 opset_import { version: 17 }\ngraph { name: \"g\" }",
       {{"graph { name: \"g\" }", ""}},
       {{"\"g\"", "\"h\""}}},
      {"ONNX-MODEL-009",
       kGraph,
       {Before("graph {", "metadata_props { key: \"k\" } metadata_props { key: \"k\" }")},
       {Before("graph {", "metadata_props { key: \"k\" } metadata_props { key: \"K\" }")}},
      {"ONNX-MODEL-010",
       kGraph,
       {no_import, listed, {"ir_version: 13", "ir_version: -1"}},
       {no_import, listed, {"ir_version: 13", "ir_version: 1"}}},
      {"ONNX-MODEL-011",
       kGraph,
       {custom, AddImport("com.example", "2147483648")},
       {custom, AddImport("com.example", "2147483647")}},
  };
}

std::vector<RuleExample> GraphExamples() {
  const Edit listed = Before("output { name", "input { name: \"w\" $T }");
  const Edit ir3 = {"ir_version: 13", "ir_version: 3"};
  const Edit import = AddImport("com.example", "1");
  return {
      {"ONNX-GRAPH-001", kGraph, {{"name: \"g\"", ""}}, {{"name: \"g\"", "name: \"y\""}}},
      {"ONNX-GRAPH-002",
       kGraph,
       {AddToGraph("input { name: \"x\" $T }")},
       {AddToGraph("input { name: \"z\" $T }")}},
      {"ONNX-GRAPH-003",
       kGraph,
       {AddToGraph("output { name: \"y\" $T }")},
       {AddToGraph("output { name: \"t\" $T }")}},
      {"ONNX-GRAPH-004",
       kGraph,
       {AddToGraph("initializer { $D }")},
       {AddToGraph("initializer { name: \"v\" $D }")}},
      {"ONNX-GRAPH-005",
       kGraph,
       {AddToGraph("initializer { name: \"w\" $D }")},
       {AddToGraph("initializer { name: \"W\" $D }")}},
      {"ONNX-GRAPH-006", kGraph, {ir3}, {ir3, listed}},
      {"ONNX-GRAPH-007",
       kGraph,
       {Before("node { input: \"t\"", "node { input: \"x\" output: \"t\" op_type: \"Relu\" }")},
       {{"node { input: \"t\"",
         "node { input: \"t\" output: \"u\" op_type: \"Relu\" } "
         "node { input: \"u\""}}},
      {"ONNX-GRAPH-008",
       kIf,
       {{"input: \"k\"", "input: \"c2\""},
        {"name: \"k\"", "name: \"c2\""},
        AddToGraph("initializer { name: \"c2\" $D }")},
       {{"name: \"else\"", "name: \"else\" initializer { name: \"k\" $D }"}}},
      {"ONNX-GRAPH-009",
       kGraph,
       {{"input: \"w\"", "input: \"v\""}},
       {{"input: \"w\"", "input: \"x\""}}},
      {"ONNX-GRAPH-010",
       kGraph,
       {{"input: \"x\"", "input: \"y\""}},
       {{"input: \"x\"", "input: \"w\""}}},
      {"ONNX-GRAPH-011",
       kGraph,
       {AddToGraph("output { name: \"z\" $T }")},
       {AddToGraph("output { name: \"w\" $T }")}},
      {"ONNX-GRAPH-012",
       kGraph,
       {{"name: \"b\"", "name: \"a\""}},
       {{"name: \"b\"", ""}, {"name: \"a\"", ""}}},
      // Names of other graphs do not matter.
      {"ONNX-GRAPH-012",
       kIf,
       {{"output: \"q\" op_type: \"Relu\" }", "output: \"q\" op_type: \"Relu\" name: \"n\" }"},
        {"output: \"y\" op_type: \"If\"", "output: \"y\" op_type: \"If\" name: \"n\""},
        {"node { input: \"x\" input: \"k\" output: \"p\"",
         "node { input: \"x\" output: \"r\" op_type: \"Neg\" name: \"n\" } node { input: \"r\" "
         "input: \"k\" output: \"p\" name: \"n\""}},
       {{"output: \"q\" op_type: \"Relu\" }", "output: \"q\" op_type: \"Relu\" name: \"n\" }"},
        {"output: \"y\" op_type: \"If\"", "output: \"y\" op_type: \"If\" name: \"n\""},
        {"node { input: \"x\" input: \"k\" output: \"p\"",
         "node { input: \"x\" input: \"k\" output: \"p\" name: \"n\""}}},
      {"ONNX-GRAPH-013",
       kFunctionModel,
       {{"node { input: \"a\"",
         "node { input: \"a\" output: \"c\" op_type: \"Neg\" } node { input: \"a\""}},
       {{"node { input: \"a\"",
         "node { input: \"a\" output: \"c\" op_type: \"Neg\" } node { input: \"c\""}}},
      {"ONNX-GRAPH-014",
       kIf,
       {{"name: \"then\"", "name: \"then\" input { name: \"k\" $T }"}},
       {{"name: \"then\"", "name: \"then\" input { name: \"k\" $T }"},
        {"ir_version: 13", "ir_version: 3"}}},
      {"ONNX-GRAPH-015",
       kGraph,
       {import, AddToGraph("node { input: \"x\" op_type: \"Print\" domain: \"com.example\" }")},
       {import, AddToGraph("node { input: \"x\" output: \"p\" op_type: \"Print\" "
                           "domain: \"com.example\" } output { name: \"p\" $T }")}},
  };
}

std::vector<RuleExample> ValueExamples() {
  const auto shape = [](const std::string& dim) {
    return Edit{"output { name: \"y\" $T",
                "output { name: \"y\" type { tensor_type { elem_type: 1 "
                "shape { " +
                    dim + " } } }"};
  };
  const Edit ir3 = {"ir_version: 13", "ir_version: 3"};
  const auto input = [](const std::string& type) {
    return AddToGraph("input { name: \"i\" type { " + type + " } }");
  };
  const std::string map = "map_type { key_type: 7 value_type { tensor_type { elem_type: 1 } } }";
  const auto info = [](const std::string& type) {
    return AddToGraph("value_info { name: \"t\" type { tensor_type { elem_type: " + type +
                      " } } }");
  };
  const auto note = [](const std::string& fields) {
    return AddToGraph("quantization_annotation { " + fields + " }");
  };
  return {
      {"ONNX-VALUE-001",
       kGraph,
       {AddToGraph("input { $T }")},
       {AddToGraph("input { name: \"i\" $T }")}},
      {"ONNX-VALUE-002", kGraph, {{"name: \"y\" $T", "name: \"y\""}}, {shape("dim {}")}},
      {"ONNX-VALUE-002",
       kGraph,
       {{"name: \"y\" $T", "name: \"y\" type { tensor_type { elem_type: 1 } }"}},
       {shape("dim { dim_param: \"n\" }")}},
      {"ONNX-VALUE-003", kGraph, {shape("dim { dim_value: -1 }")}, {shape("dim {}")}},
      {"ONNX-VALUE-004", kGraph, {info("27")}, {info("1")}},
      {"ONNX-VALUE-005",
       kGraph,
       {ir3, AddToGraph("input { name: \"w\" type { tensor_type { elem_type: 1 "
                        "shape { dim { dim_value: 3 } } } } }")},
       {ir3, AddToGraph("input { name: \"w\" $T }")}},
      {"ONNX-VALUE-006", kGraph, {note("tensor_name: \"none\"")}, {note("tensor_name: \"t\"")}},
      {"ONNX-VALUE-007",
       kGraph,
       {note("tensor_name: \"t\" quant_parameter_tensor_names { key: \"SCALE_TENSOR\" value: \"x\" "
             "}")},
       {note("tensor_name: \"t\" quant_parameter_tensor_names { key: \"SCALE_TENSOR\" value: \"w\" "
             "}")}},
      {"ONNX-VALUE-008",
       kGraph,
       {AddToGraph("value_info { name: \"t\" $T } value_info { name: \"t\" $T }")},
       {AddToGraph("value_info { name: \"t\" $T }")}},
      {"ONNX-VALUE-009",
       kGraph,
       {input("sequence_type { elem_type { tensor_type {} } }")},
       {input("sequence_type { elem_type { tensor_type { elem_type: 1 } } }")}},
      {"ONNX-VALUE-010",
       kGraph,
       {input("map_type { key_type: 1 value_type { tensor_type { elem_type: 1 } } }")},
       {input(map)}},
      {"ONNX-VALUE-011",
       kGraph,
       {shape("dim { dim_param: \"*\" }")},
       {shape("dim { dim_param: \"n\" }")}},
      {"ONNX-VALUE-012",
       kGraph,
       {note("tensor_name: \"t\" quant_parameter_tensor_names { key: \"SCALE\" value: \"w\" }")},
       {note("tensor_name: \"t\" quant_parameter_tensor_names { key: \"ZERO_POINT_TENSOR\" "
             "value: \"w\" }")}},
  };
}

namespace {

// Functions F1 to Fn, each of which calls the next; the last one calls F.
std::string CallChain(int n) {
  std::string text;
  for (int i = 1; i <= n; ++i) {
    const std::string callee = i == n ? "F" : "F" + std::to_string(i + 1);
    text += "functions { name: \"F" + std::to_string(i) +
            "\" domain: \"f\" input: \"a\" output: \"b\" opset_import { domain: \"f\" version: 1 } "
            "node { input: \"a\" output: \"b\" op_type: \"" +
            callee + "\" domain: \"f\" } }\n";
  }
  return text;
}

}  // namespace

std::vector<RuleExample> FunctionExamples() {
  const auto in_branch = [](const std::string& op) {
    return "op_type: \"If\" attribute { name: \"then_branch\" type: GRAPH g { name: \"t\" "
           "node { input: \"a\" output: \"p\" op_type: \"" +
           op +
           "\" } output { name: \"p\" } } } "
           "attribute { name: \"else_branch\" type: GRAPH g { name: \"e\" "
           "node { input: \"a\" output: \"q\" op_type: \"Abs\" } output { name: \"q\" } } }";
  };
  const std::string call =
      "node { input: \"x\" output: \"y\" op_type: \"F\" domain: \"f\"\n"
      "    attribute { name: \"alpha\" type: FLOAT f: 1 } }";
  const Edit call_first = {call,
                           "node { input: \"x\" output: \"y\" op_type: \"F1\" domain: \"f\" }"};
  const std::string same =
      "functions { name: \"F\" domain: \"f\" input: \"a\" output: \"a\" attribute: \"alpha\"";
  const std::string leaky =
      "op_type: \"LeakyRelu\"\n    attribute { name: \"alpha\" type: FLOAT "
      "ref_attr_name: \"alpha\" }";
  return {
      {"ONNX-FUNC-001", kFunctionModel, {{"ir_version: 13", "ir_version: 7"}}, {}},
      {"ONNX-FUNC-002 ONNX-LINT-014",
       kFunctionModel,
       {{"domain: \"f\" input", "input"}},
       {{"name: \"F\" domain", "name: \"F2\" domain"}, {"op_type: \"F\"", "op_type: \"F2\""}}},
      {"ONNX-FUNC-003 ONNX-LINT-014",
       kFunctionModel,
       {Before("functions {", same + " }")},
       {{call,
         "node { input: \"x\" output: \"t\" op_type: \"F\" domain: \"f\" overload: \"2\" }\n"
         "  node { input: \"t\" output: \"y\" op_type: \"F\" domain: \"f\" }"},
        Before("functions {", same + " overload: \"2\" }")}},
      {"ONNX-FUNC-004",
       kFunctionModel,
       {{"input: \"a\"", "input: [\"a\", \"a\"]"}},
       {{"input: \"a\"", "input: [\"a\", \"A\"]"}}},
      {"ONNX-FUNC-005",
       kFunctionModel,
       {{"output: \"b\"", "output: [\"b\", \"c\"]"}},
       {{"output: \"b\"", "output: [\"b\", \"a\"]"}}},
      {"ONNX-FUNC-006",
       kFunctionModel,
       {{leaky, "op_type: \"F\" domain: \"f\""}},
       {{leaky, "op_type: \"G\" domain: \"f\""},
        Before("functions {",
               "functions { name: \"G\" domain: \"f\" input: \"a\" output: \"a\" }")}},
      {"ONNX-FUNC-007",
       kFunctionModel,
       {{"domain: \"\" version: 17", "domain: \"\" version: 15"}},
       {{"domain: \"\" version: 17", "domain: \"\" version: 16"}}},
      {"ONNX-FUNC-008",
       kFunctionModel,
       {{"input: \"x\"", "input: [\"x\", \"x\"]"}},
       {{"input: \"a\"", "input: [\"a\", \"A\"]"}}},
      {"ONNX-FUNC-009",
       kFunctionModel,
       {{leaky, in_branch("ReduceMax")}, {"domain: \"\" version: 17", "domain: \"\" version: 18"}},
       {{leaky, in_branch("Neg")}, {"domain: \"\" version: 17", "domain: \"\" version: 18"}}},
      {"ONNX-FUNC-010",
       kFunctionModel,
       {{"domain: \"\" version: 17", "domain: \"ai.onnx\" version: 17"}},
       {{"domain: \"\" version: 17", "version: 17"}}},
      {"ONNX-FUNC-011",
       kFunctionModel,
       {call_first, Before("functions {", CallChain(100))},
       {call_first, Before("functions {", CallChain(99))}},
      {"ONNX-FUNC-012",
       kFunctionModel,
       {{"attribute: \"alpha\"",
         "attribute: \"alpha\" attribute_proto { name: \"alpha\" type: FLOAT f: 1 }"}},
       {{"attribute: \"alpha\"", "attribute_proto { name: \"alpha\" type: FLOAT f: 1 }"}}},
      {"ONNX-FUNC-013",
       kFunctionModel,
       {{"attribute: \"alpha\"", "attribute: \"alpha\" value_info { name: \"x\" $T }"}},
       {{"attribute: \"alpha\"", "attribute: \"alpha\" value_info { name: \"a\" $T }"}}},
      {"ONNX-FUNC-014",
       kFunctionModel,
       {{"name: \"alpha\" type: FLOAT f: 1", "name: \"beta\" type: FLOAT f: 1"}},
       {{"name: \"alpha\" type: FLOAT f: 1", "name: \"__beta\" type: FLOAT f: 1"}}},
  };
}

std::vector<RuleExample> TrainingExamples() {
  return {
      {"ONNX-TRAIN-001",
       kTrainingModel,
       {{"name: \"first\"", "name: \"first\" input { name: \"i\" $T }"}},
       {{"name: \"step\"", "name: \"step\" input { name: \"i\" $T }"}}},
      {"ONNX-TRAIN-002",
       kTrainingModel,
       {{"key: \"w\" value: \"w1\"", "key: \"v\" value: \"w1\""}},
       {{"key: \"w\" value: \"w1\"", "key: \"v\" value: \"w1\""},
        {"name: \"step\"", "name: \"step\" initializer { name: \"v\" $D }"}}},
      {"ONNX-TRAIN-003", kTrainingModel, {{"value: \"w1\"", "value: \"w0\""}}, {}},
      {"ONNX-TRAIN-004",
       kTrainingModel,
       {Before("update_binding", "update_binding { key: \"w\" value: \"w1\" }")},
       {Before("initializer {", "initializer { name: \"v\" $D }"),
        Before("update_binding", "update_binding { key: \"v\" value: \"w1\" }")}},
      {"ONNX-TRAIN-005",
       kTrainingModel,
       {Before("initialization_binding", "initialization_binding { key: \"w\" value: \"w0\" }")},
       {{"initialization_binding { key: \"w\" value: \"w0\" }", ""}}},
  };
}

}  // namespace nn::onnx
