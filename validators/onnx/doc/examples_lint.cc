// Examples of ONNX rules: device configurations, IR versions, advice.
#include "validators/onnx/doc/example_models.h"

namespace nn::onnx {

std::vector<RuleExample> DeviceExamples() {
  return {
      {"ONNX-DEV-001",
       kDevices,
       {{"num_devices: 2 device: \"a\" device: \"b\"", ""}},
       {{"num_devices: 2 device: \"a\" device: \"b\"", "num_devices: 3"}}},
      {"ONNX-DEV-002",
       kDevices,
       {Before("graph {", "configuration { name: \"pair\" num_devices: 1 }")},
       {Before("graph {", "configuration { name: \"one\" num_devices: 1 }")}},
      {"ONNX-DEV-003", kDevices, {{"device: \"b\"", ""}}, {{"device: \"a\" device: \"b\"", ""}}},
      {"ONNX-DEV-004",
       kDevices,
       {{"configuration_id: \"pair\"", "configuration_id: \"two\""}},
       {{"configuration_id: \"pair\"", "configuration_id: \"pair\" pipeline_stage: 1"}}},
      {"ONNX-DEV-005",
       kDevices,
       {{"tensor_name: \"x\"", "tensor_name: \"z\""}},
       {{"tensor_name: \"x\"", "tensor_name: \"y\""}}},
      {"ONNX-DEV-006", kDevices, {{"axis: 0", "axis: 1"}}, {{"axis: 0", "axis: -1"}}},
      {"ONNX-DEV-007",
       kDevices,
       {{"num_shards: 2", "num_shards: 0"}},
       {{"num_shards: 2", "num_shards: 1"}}},
  };
}

std::vector<RuleExample> VersionExamples() {
  const auto metadata = [](const std::string& key) {
    return AddToGraph("metadata_props { key: \"k\" } metadata_props { key: \"" + key + "\" }");
  };
  const Edit bfloat = AddInitializer("data_type: 16 dims: 1 int32_data: 0");
  const Edit both = AddToGraph(
      "input { name: \"w\" $T } input { name: \"v\" type { tensor_type { "
      "elem_type: 16 shape { dim { dim_value: 1 } } } } }");
  return {
      {"ONNX-IR-001",
       kGraph,
       {bfloat, both, {"ir_version: 13", "ir_version: 3"}},
       {bfloat, {"ir_version: 13", "ir_version: 4"}}},
      {"ONNX-IR-001",
       kGraph,
       {metadata("l"), {"ir_version: 13", "ir_version: 9"}},
       {metadata("l"), {"ir_version: 13", "ir_version: 10"}}},
      {"ONNX-IR-002", kGraph, {metadata("k")}, {metadata("l")}},
  };
}

std::vector<RuleExample> LintExamples() {
  const auto scales = [](const std::string& values) { return Edit{"[0.5, 0.25]", values}; };
  const Edit resized = {"input: \"x\" output: \"t\" name: \"a\" op_type: \"Relu\"",
                        "input: [\"x\", \"w\"] output: \"t\" op_type: \"Upsample\""};
  const Edit images = Shaped("x", "dim {} dim {}");
  const Edit sums = Shaped("y", "dim {} dim {}");
  const Edit normed = Shaped("u", "dim {} dim {}");
  const Edit custom = Operator("\"Relu\" domain: \"com.example\"");
  const std::string function = "functions { name: \"G\" domain: \"f\" input: \"a\" output: \"a\" }";
  const std::string norm =
      "node { input: [\"x\", \"w\", \"w\", \"w\", \"w\"] output: \"u\" op_type: "
      "\"BatchNormalization\" attribute { name: \"training_mode\" type: INT i: ";
  const auto zero = [](const std::string& type, const std::string& values) {
    return std::vector<Edit>{
        {"node { input: [\"x\", \"s\", \"z\"] output: \"q\" op_type: "
         "\"QuantizeLinear\"\n    attribute { name: \"axis\" type: INT i: 0 } }",
         "node { input: \"x\" output: \"q\" op_type: \"Cast\" attribute { "
         "name: \"to\" type: INT i: " +
             type + " } }"},
        {"data_type: 3 dims: 2 int32_data: [0, 0]",
         "data_type: " + type + " dims: 2 int32_data: " + values}};
  };
  return {
      {"ONNX-LINT-001",
       kChain,
       {{"value_info { name: \"d\" $T }", ""}},
       {{"value_info { name: \"d\" $T }", ""},
        {"node { input: \"a\" output: \"b\" name: \"B\" op_type: \"Neg\" }\n", ""},
        {"input: \"b\"", "input: \"a\""}}},
      {"ONNX-LINT-002",
       kChain,
       {{"doc_string: \"scores\"", ""}},
       {{"doc_string: \"scores\"", "doc_string: \"logits\""}}},
      {"ONNX-LINT-003",
       kGraph,
       {AddToGraph("input { name: \"w\" $T }")},
       {AddToGraph("input { name: \"w\" $T }"), {"ir_version: 13", "ir_version: 3"}}},
      {"ONNX-LINT-004", kQuantized, {scales("[0.5, 0]")}, {scales("[0.5, 1]")}},
      {"ONNX-LINT-004", kQuantized, {scales("[0.5, -0.25]")}, {scales("[0.5, 10000]")}},
      {"ONNX-LINT-005", kQuantized, {scales("[0.5, 0.5]")}, {scales("[0.5, 0.75]")}},
      {"ONNX-LINT-006", kQuantized, zero("6", "[0, 1]"), zero("6", "[0, 0]")},
      {"ONNX-LINT-007",
       kGraph,
       {AddToGraph(norm + "1 } } output { name: \"u\" $T }"),
        images,
        sums,
        normed,
        {"output: \"u\" op_type", "output: [\"u\", \"m\", \"s\"] op_type"}},
       {AddToGraph(norm + "0 } } output { name: \"u\" $T }"), images, sums, normed}},
      {"ONNX-LINT-008", kGraph, {{"version: 17", "version: 6"}}, {{"version: 17", "version: 7"}}},
      {"ONNX-LINT-009",
       kGraph,
       {resized, images, sums, {"version: 17", "version: 9"}},
       {resized, images, sums, {"\"Upsample\"", "\"Resize\""}, {"version: 17", "version: 10"}}},
      {"ONNX-LINT-010",
       kChain,
       {{"\"Neg\"", "\"Cast\" attribute { name: \"to\" type: INT i: 1 }"},
        {"\"Exp\"", "\"Cast\" attribute { name: \"to\" type: INT i: 1 }"}},
       {{"\"Neg\"", "\"Cast\" attribute { name: \"to\" type: INT i: 1 }"}}},
      {"ONNX-LINT-011",
       kGraph,
       {Operator("\"Identity\"")},
       {Operator("\"Identity\""), AddToGraph("output { name: \"t\" $T }")}},
      {"ONNX-LINT-012",
       kGraph,
       {AddInitializer("data_type: 7 dims: 1 int64_data: 2147483648")},
       {AddInitializer("data_type: 7 dims: 1 int64_data: 2147483647")}},
      {"ONNX-LINT-013",
       kGraph,
       {AddImport("com.example", "1")},
       {AddImport("com.example", "1"), custom}},
      {"ONNX-LINT-014",
       kFunctionModel,
       {Before("functions {", function)},
       {Before("functions {", function),
        {"op_type: \"LeakyRelu\"\n    attribute { name: \"alpha\" type: FLOAT ref_attr_name: "
         "\"alpha\" }",
         "op_type: \"G\" domain: \"f\""}}},
      {"ONNX-LINT-015", kChain, {{"name: \"D\"", ""}}, {{"name: \"D\"", "name: \"d\""}}},
      {"ONNX-LINT-016",
       kChain,
       {{"producer_version: \"1\"", ""}},
       {{"producer_version: \"1\"", "producer_version: \"2\""}}},
  };
}

}  // namespace nn::onnx
