// Rules of ONNX models, each broken and nearly broken.
#include <doctest/doctest.h>

#include <filesystem>

#include "support/files.h"
#include "validators/rule_cases.h"

namespace nn::test {
namespace {

// In the texts $T is the type of a float vector of two elements, $D the data of one.
constexpr const char* kGraph = R"(
ir_version: 8
opset_import { version: 17 }
graph {
  name: "g"
  node { input: "x" output: "t" name: "a" op_type: "Relu" }
  node { input: "t" input: "w" output: "y" name: "b" op_type: "Add" }
  initializer { name: "w" $D }
  input { name: "x" $T }
  output { name: "y" $T }
})";

constexpr const char* kConv = R"(
ir_version: 8
opset_import { version: 17 }
graph {
  name: "g"
  node { input: "x" input: "w" output: "y" op_type: "Conv"
    attribute { name: "group" type: INT i: 2 } }
  initializer { name: "w" data_type: 1 dims: [2, 1, 1, 1] float_data: [1, 2] }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 }
    dim { dim_value: 2 } dim { dim_value: 4 } dim { dim_value: 4 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim {} dim {} dim {} dim {} } } } }
})";

constexpr const char* kIf = R"(
ir_version: 8
opset_import { version: 17 }
graph {
  name: "g"
  node { input: "c" output: "y" op_type: "If"
    attribute { name: "then_branch" type: GRAPH g { name: "then"
      node { input: "x" input: "k" output: "p" op_type: "Add" }
      initializer { name: "k" $D }
      output { name: "p" } } }
    attribute { name: "else_branch" type: GRAPH g { name: "else"
      node { input: "x" output: "q" op_type: "Relu" }
      output { name: "q" } } } }
  input { name: "c" type { tensor_type { elem_type: 9 shape {} } } }
  input { name: "x" $T }
  output { name: "y" $T }
})";

constexpr const char* kLoop = R"(
ir_version: 8
opset_import { version: 17 }
graph {
  name: "g"
  node { input: ["", "", "x"] output: "y" op_type: "Loop"
    attribute { name: "body" type: GRAPH g { name: "body"
      node { input: "go" output: "go2" op_type: "Identity" }
      node { input: "s" output: "s2" op_type: "Relu" }
      input { name: "i" } input { name: "go" } input { name: "s" }
      output { name: "go2" } output { name: "s2" } } } }
  input { name: "x" $T }
  output { name: "y" $T }
})";

constexpr const char* kScan = R"(
ir_version: 8
opset_import { version: 17 }
graph {
  name: "g"
  node { input: "x" output: "y" op_type: "Scan"
    attribute { name: "num_scan_inputs" type: INT i: 1 }
    attribute { name: "body" type: GRAPH g { name: "body"
      node { input: "e" output: "r" op_type: "Relu" }
      input { name: "e" } output { name: "r" } } } }
  input { name: "x" $T }
  output { name: "y" $T }
})";

constexpr const char* kSparse = R"(
ir_version: 8
opset_import { version: 17 }
graph {
  name: "g"
  sparse_initializer {
    values { name: "v" data_type: 1 dims: 2 float_data: [1, 2] }
    indices { data_type: 7 dims: 2 int64_data: [0, 3] }
    dims: [2, 2] }
})";

constexpr const char* kFunction = R"(
ir_version: 8
opset_import { version: 17 }
opset_import { domain: "f" version: 1 }
functions { name: "F" domain: "f" input: "a" output: "b" attribute: "alpha"
  opset_import { domain: "" version: 17 }
  opset_import { domain: "f" version: 1 }
  node { input: "a" output: "b" op_type: "LeakyRelu"
    attribute { name: "alpha" type: FLOAT ref_attr_name: "alpha" } } }
graph {
  name: "g"
  node { input: "x" output: "y" op_type: "F" domain: "f"
    attribute { name: "alpha" type: FLOAT f: 1 } }
  input { name: "x" $T }
  output { name: "y" $T }
})";

constexpr const char* kTraining = R"(
ir_version: 8
opset_import { version: 17 }
graph {
  name: "g"
  node { input: ["x", "w"] output: "y" op_type: "Add" }
  initializer { name: "w" $D }
  input { name: "x" $T }
  output { name: "y" $T }
}
training_info {
  initialization { name: "first"
    node { output: "w0" op_type: "Constant"
      attribute { name: "value_floats" type: FLOATS floats: [1, 2] } }
    output { name: "w0" $T } }
  algorithm { name: "step"
    node { input: "w" output: "w1" op_type: "Neg" }
    output { name: "w1" $T } }
  initialization_binding { key: "w" value: "w0" }
  update_binding { key: "w" value: "w1" }
})";

std::string Encode(const std::string& text) {
  std::string full;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (rest.starts_with("$T"))
      full += "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } }";
    else if (rest.starts_with("$D"))
      full += "data_type: 1 dims: 2 float_data: [1, 2]";
    else {
      full += text[i];
      continue;
    }
    ++i;
  }
  return EncodeProto("nn.onnx.pb.ModelProto", full);
}

// Puts text in front of other text.
Edit Before(const std::string& place, const std::string& text) {
  return {place, text + " " + place};
}

Edit AddImport(const std::string& domain, const std::string& version) {
  return Before("graph {", "opset_import { domain: \"" + domain + "\" version: " + version + " }");
}

// To the graph of kGraph.
Edit AddInitialiser(const std::string& fields) {
  return Before("initializer {", "initializer { name: \"v\" " + fields + " }");
}

Edit AddToGraph(const std::string& text) {
  return {"name: \"g\"", "name: \"g\" " + text};
}

// The first node of kGraph.
Edit Operator(const std::string& op) {
  return {"op_type: \"Relu\"", "op_type: " + op};
}

Edit ConvAttribute(const std::string& fields) {
  return Before("attribute {", "attribute { " + fields + " }");
}

std::vector<RuleCase> Models() {
  const Edit ir1 = {"ir_version: 8", "ir_version: 2"};
  const Edit listed = Before("output { name", "input { name: \"w\" $T }");
  const Edit no_import = {"opset_import { version: 17 }", ""};
  return {
      {"ONNX-MODEL-001", kGraph, {{"ir_version: 8", ""}}, {{"ir_version: 8", "ir_version: 4"}}},
      {"ONNX-MODEL-002",
       kGraph,
       {{"ir_version: 8", "ir_version: 15"}},
       {{"ir_version: 8", "ir_version: 14"}}},
      {"ONNX-MODEL-003 ONNX-NODE-003", kGraph, {no_import}, {no_import, ir1, listed}},
      {"ONNX-MODEL-004",
       kGraph,
       {ir1, listed, {"version: 17", "version: 1"}},
       {no_import, ir1, listed}},
      {"ONNX-MODEL-005", kGraph, {AddImport("ai.onnx", "16")}, {AddImport("ai.onnx", "17")}},
      {"ONNX-MODEL-006", kGraph, {AddImport("com.example", "0")}, {AddImport("com.example", "1")}},
      {"ONNX-MODEL-007", kGraph, {AddImport("ai.onnx.ml", "99")}, {AddImport("ai.onnx.ml", "3")}},
      {"ONNX-MODEL-008",
       "ir_version: 8 opset_import { version: 17 }",
       {},
       {{"}", "} graph { name: \"g\" }"}}},
      {"ONNX-MODEL-009",
       kGraph,
       {Before("graph {", "metadata_props { key: \"k\" } metadata_props { key: \"k\" }")},
       {Before("graph {", "metadata_props { key: \"k\" } metadata_props { key: \"K\" }")}},
  };
}

std::vector<RuleCase> Graphs() {
  const Edit listed = Before("output { name", "input { name: \"w\" $T }");
  const Edit ir3 = {"ir_version: 8", "ir_version: 3"};
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
      {"ONNX-GRAPH-013",
       kGraph,
       {AddToGraph("node { input: \"x\" output: \"u\" op_type: \"Neg\" }")},
       {AddToGraph(
           "node { input: \"x\" output: \"u\" op_type: \"Neg\" } output { name: \"u\" $T }")}},
  };
}

std::vector<RuleCase> Values() {
  const auto shape = [](const std::string& dim) {
    return Edit{"output { name: \"y\" $T",
                "output { name: \"y\" type { tensor_type { elem_type: 1 "
                "shape { " +
                    dim + " } } }"};
  };
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
      {"ONNX-VALUE-002", kGraph, {{"name: \"y\" $T", "name: \"y\""}}, {shape("")}},
      {"ONNX-VALUE-002",
       kGraph,
       {{"name: \"y\" $T", "name: \"y\" type { tensor_type { elem_type: 1 } }"}},
       {shape("dim { dim_param: \"n\" }")}},
      {"ONNX-VALUE-003", kGraph, {shape("dim { dim_value: -1 }")}, {shape("dim {}")}},
      {"ONNX-VALUE-004", kGraph, {info("27")}, {info("1")}},
      {"ONNX-VALUE-005",
       kGraph,
       {AddToGraph("input { name: \"w\" type { tensor_type { elem_type: 1 "
                   "shape { dim { dim_value: 3 } } } } }")},
       {AddToGraph("input { name: \"w\" $T }")}},
      {"ONNX-VALUE-006", kGraph, {note("tensor_name: \"none\"")}, {note("tensor_name: \"t\"")}},
      {"ONNX-VALUE-007",
       kGraph,
       {note("tensor_name: \"t\" quant_parameter_tensor_names { key: \"SCALE_TENSOR\" value: \"x\" "
             "}")},
       {note("tensor_name: \"t\" quant_parameter_tensor_names { key: \"SCALE_TENSOR\" value: \"w\" "
             "}")}},
  };
}

std::vector<RuleCase> Nodes() {
  const Edit empty = {"input: \"w\"", "input: \"\""};
  const Edit upsample = {"input: \"x\" output: \"t\" name: \"a\" op_type: \"Relu\"",
                         "input: [\"x\", \"w\"] output: \"t\" op_type: \"Upsample\""};
  const std::string alone = "node { op_type: \"E\" domain: \"com.example\" }";
  return {
      {"ONNX-NODE-001", kGraph, {{"op_type: \"Relu\"", ""}}, {Operator("\"Abs\"")}},
      {"ONNX-NODE-002",
       kGraph,
       {AddImport("com.example", "1"), AddToGraph(alone)},
       {AddImport("com.example", "1"), AddToGraph(alone), {"node {", "node { input: \"x\""}}},
      {"ONNX-NODE-003",
       kGraph,
       {Operator("\"Relu\" domain: \"com.example\"")},
       {Operator("\"Relu\" domain: \"com.example\""), AddImport("com.example", "1")}},
      {"ONNX-NODE-004",
       kGraph,
       {Operator("\"Gelu\"")},
       {Operator("\"Gelu\""), {"version: 17", "version: 20"}}},
      {"ONNX-NODE-005",
       kGraph,
       {upsample, {"version: 17", "version: 10"}},
       {upsample, {"version: 17", "version: 9"}}},
      {"ONNX-NODE-006",
       kGraph,
       {{"input: \"w\"", ""}},
       {{"input: \"w\"", ""}, {"op_type: \"Add\"", "op_type: \"Sum\""}}},
      {"ONNX-NODE-007",
       kGraph,
       {{"output: \"t\"", "output: [\"t\", \"u\"]"}},
       {{"output: \"t\"", "output: [\"t\", \"u\"]"}, Operator("\"Dropout\"")}},
      {"ONNX-NODE-008", kGraph, {empty}, {empty, {"op_type: \"Add\"", "op_type: \"Clip\""}}},
      {"ONNX-NODE-009",
       kGraph,
       {Operator("\"Relu\" attribute { name: \"alpha\" type: FLOAT f: 1 }")},
       {Operator("\"LeakyRelu\" attribute { name: \"alpha\" type: FLOAT f: 1 }")}},
      {"ONNX-NODE-010",
       kGraph,
       {Operator("\"LeakyRelu\" attribute { name: \"alpha\" type: INT i: 1 }")},
       {Operator("\"LeakyRelu\" attribute { name: \"alpha\" type: FLOAT f: 1 }")}},
      {"ONNX-NODE-011",
       kGraph,
       {{"op_type: \"Add\"", "op_type: \"Concat\""}},
       {{"op_type: \"Add\"", "op_type: \"Concat\" attribute { name: \"axis\" type: INT i: 0 }"}}},
  };
}

std::vector<RuleCase> Attributes() {
  const auto leaky = [](const std::string& fields, const std::string& more = "") {
    return Operator("\"LeakyRelu\" attribute { name: \"alpha\" " + fields + " } " + more);
  };
  return {
      {"ONNX-ATTR-001",
       kGraph,
       {Operator("\"Relu\" attribute { type: INT i: 1 }")},
       {Operator("\"Relu\" attribute { name: \"__\" type: INT i: 1 }")}},
      {"ONNX-ATTR-002",
       kGraph,
       {leaky("type: FLOAT f: 1", "attribute { name: \"alpha\" type: FLOAT f: 1 }")},
       {leaky("type: FLOAT f: 1", "attribute { name: \"__alpha\" type: FLOAT f: 1 }")}},
      {"ONNX-ATTR-003", kGraph, {leaky("f: 1")}, {leaky("type: FLOAT f: 1")}},
      {"ONNX-ATTR-004 ONNX-ATTR-005",
       kGraph,
       {leaky("type: FLOAT f: 1 i: 1")},
       {leaky("type: FLOAT f: 1 doc_string: \"i\"")}},
      {"ONNX-ATTR-005", kGraph, {leaky("type: FLOAT i: 1")}, {leaky("type: FLOAT")}},
      {"ONNX-ATTR-006",
       kGraph,
       {Operator("\"Relu\" attribute { name: \"__t\" type: TENSOR }")},
       {Operator("\"Relu\" attribute { name: \"__s\" type: STRING }")}},
      {"ONNX-ATTR-007",
       kGraph,
       {leaky("type: FLOAT ref_attr_name: \"alpha\"")},
       {leaky("type: FLOAT ref_attr_name: \"\" f: 1")}},
      {"ONNX-ATTR-007",
       kFunction,
       {{"ref_attr_name: \"alpha\"", "ref_attr_name: \"beta\""}},
       {{"ref_attr_name: \"alpha\"", "ref_attr_name: \"beta\""},
        {"attribute: \"alpha\"", "attribute: [\"alpha\", \"beta\"]"}}},
      {"ONNX-ATTR-008",
       kFunction,
       {{"ref_attr_name: \"alpha\"", "ref_attr_name: \"alpha\" f: 2"}},
       {{"ref_attr_name: \"alpha\"", "f: 2"}}},
  };
}

std::vector<RuleCase> Operators() {
  const auto transpose = [](const std::string& perm) {
    return Operator("\"Transpose\" attribute { name: \"perm\" type: INTS ints: " + perm + " }");
  };
  const auto cast = [](const std::string& type) {
    return Operator("\"Cast\" attribute { name: \"to\" type: INT i: " + type + " }");
  };
  const auto constant = [](const std::string& attributes) {
    return Edit{"input: \"x\" output: \"t\" name: \"a\" op_type: \"Relu\"",
                "output: \"t\" op_type: \"Constant\" " + attributes};
  };
  const std::string strides = "name: \"strides\" type: INTS ints: ";
  const Edit output = {"output { name: \"s2\" }", "output { name: \"s2\" } output { name: \"i\" }"};
  return {
      {"ONNX-OP-001",
       kConv,
       {ConvAttribute("name: \"auto_pad\" type: STRING s: \"SAME\"")},
       {ConvAttribute("name: \"auto_pad\" type: STRING s: \"SAME_LOWER\"")}},
      {"ONNX-OP-002",
       kConv,
       {ConvAttribute(strides + "[1, 0]")},
       {ConvAttribute(strides + "[1, 1]")}},
      {"ONNX-OP-003",
       kConv,
       {ConvAttribute("name: \"pads\" type: INTS ints: [0, 0, 0, 0]"),
        ConvAttribute(strides + "1")},
       {ConvAttribute("name: \"pads\" type: INTS ints: [0, 0, 0, 0]"),
        ConvAttribute(strides + "[1, 1]")}},
      {"ONNX-OP-003",
       kConv,
       {ConvAttribute("name: \"pads\" type: INTS ints: [0, 0, 0]")},
       {ConvAttribute("name: \"pads\" type: INTS ints: [0, 1, 0, 0]")}},
      {"ONNX-OP-004", kGraph, {transpose("1")}, {transpose("0")}},
      {"ONNX-OP-005",
       kConv,
       {{"i: 2", "i: 3"}},
       {{"dims: [2, 1, 1, 1] float_data: [1, 2]", "dims: [4, 1, 1, 1] float_data: [1, 2, 3, 4]"}}},
      {"ONNX-OP-005",
       kConv,
       {{"dims: [2, 1, 1, 1] float_data: [1, 2]", "dims: [3, 1, 1, 1] float_data: [1, 2, 3]"}},
       {}},
      {"ONNX-OP-006", kGraph, {cast("27")}, {cast("1")}},
      {"ONNX-OP-007",
       kGraph,
       {constant("")},
       {constant("attribute { name: \"value_floats\" type: FLOATS floats: [1, 2] }")}},
      {"ONNX-OP-008",
       kIf,
       {{"name: \"then\"", "name: \"then\" input { name: \"i\" $T }"}},
       {{"name: \"then\"", "name: \"then\" input { name: \"k\" $T }"}}},
      {"ONNX-OP-008",
       kIf,
       {{"output { name: \"p\" }", "output { name: \"p\" } output { name: \"k\" }"}},
       {{"output { name: \"p\" }", "output { name: \"p\" } output { name: \"k\" }"},
        {"output { name: \"q\" }",
         "output { name: \"q\" } initializer { name: \"r\" $D } "
         "output { name: \"r\" }"},
        {"output: \"y\"", "output: [\"y\", \"z\"]"}}},
      {"ONNX-OP-009", kLoop, {output}, {output, {"output: \"y\"", "output: [\"y\", \"z\"]"}}},
      {"ONNX-OP-010", kScan, {{"INT i: 1", "INT i: 2"}}, {}},
      {"ONNX-OP-010",
       kScan,
       {{"input: \"x\"", "input: [\"x\", \"x\"]"}},
       {{"input: \"x\"", "input: [\"x\", \"x\"]"},
        {"INT i: 1", "INT i: 2"},
        {"input { name: \"e\" }", "input { name: \"e\" } input { name: \"f\" }"}}},
  };
}

std::vector<RuleCase> Types() {
  const Edit v18 = {"version: 17", "version: 18"};
  const Edit integers = {"name: \"w\" $D", "name: \"w\" data_type: 7 dims: 2 int64_data: [1, 2]"};
  const auto info = [](const std::string& type) {
    return AddToGraph("value_info { name: \"t\" type { tensor_type { elem_type: " + type +
                      " } } }");
  };
  return {
      {"ONNX-TYPE-001", kGraph, {v18, Operator("\"BitwiseNot\"")}, {v18, Operator("\"Neg\"")}},
      {"ONNX-TYPE-002", kGraph, {integers}, {integers, {"op_type: \"Add\"", "op_type: \"Pow\""}}},
      {"ONNX-TYPE-003",
       kGraph,
       {{"name: \"y\" $T", "name: \"y\" type { tensor_type { elem_type: 11 shape { dim {} } } }"}},
       {info("1")}},
  };
}

std::vector<RuleCase> Tensors() {
  return {
      {"ONNX-TENSOR-001",
       kGraph,
       {AddInitialiser("data_type: 27 dims: 0")},
       {AddInitialiser("data_type: 26 dims: 0")}},
      {"ONNX-TENSOR-002",
       kGraph,
       {AddInitialiser("data_type: 1 dims: -1")},
       {AddInitialiser("data_type: 1 dims: 0")}},
      {"ONNX-TENSOR-002",
       kGraph,
       {AddInitialiser("data_type: 1 dims: [4294967296, 4294967296]")},
       {AddInitialiser("data_type: 1 dims: [0, 4294967296]")}},
      {"ONNX-TENSOR-003",
       kGraph,
       {AddInitialiser("data_type: 1 dims: 1")},
       {AddInitialiser("data_type: 1 dims: 1 raw_data: \"1234\"")}},
      {"ONNX-TENSOR-003",
       kGraph,
       {AddInitialiser("data_type: 1 dims: 1 float_data: 1 raw_data: \"1234\"")},
       {AddInitialiser("data_type: 1 dims: 1 float_data: 1 raw_data: \"\"")}},
      {"ONNX-TENSOR-004",
       kGraph,
       {AddInitialiser("data_type: 1 dims: 1 int32_data: 1")},
       {AddInitialiser("data_type: 10 dims: 1 int32_data: 1")}},
      {"ONNX-TENSOR-005",
       kGraph,
       {AddInitialiser("data_type: 14 dims: 1 float_data: 1")},
       {AddInitialiser("data_type: 14 dims: 1 float_data: [1, 2]")}},
      {"ONNX-TENSOR-005",
       kGraph,
       {AddInitialiser("data_type: 22 dims: 9 raw_data: \"1234\"")},
       {AddInitialiser("data_type: 22 dims: 9 raw_data: \"12345\"")}},
      {"ONNX-TENSOR-006",
       kGraph,
       {AddInitialiser("data_type: 1 dims: 0 segment { begin: 2 end: 1 }")},
       {AddInitialiser("data_type: 1 dims: 0 segment { begin: 1 end: 1 }")}},
  };
}

// Beside the models lie data.bin and folder/data.bin, of 16 bytes.
void MakeData(const std::string& folder) {
  std::filesystem::create_directory(folder + "/folder");
  for (const char* name : {"/data.bin", "/folder/data.bin"})
    WriteText(folder + name, "0123456789abcdef");
}

std::vector<RuleCase> External() {
  const auto at = [](const std::string& location, const std::string& more = "") {
    return AddInitialiser(
        "data_type: 1 dims: 2 data_location: EXTERNAL external_data { "
        "key: \"location\" value: \"" +
        location + "\" } " + more);
  };
  const auto entry = [&](const std::string& key, const std::string& value) {
    return at("data.bin", "external_data { key: \"" + key + "\" value: \"" + value + "\" }");
  };
  return {
      {"ONNX-EXT-001",
       kGraph,
       {AddInitialiser(
           "data_type: 1 dims: 2 data_location: EXTERNAL external_data { key: \"place\" "
           "value: \"data.bin\" }")},
       {at("data.bin")}},
      {"ONNX-EXT-002", kGraph, {at("folder/../data.bin")}, {at("folder/data.bin")}},
      {"ONNX-EXT-002", kGraph, {at("/data.bin")}, {at("data.bin")}},
      {"ONNX-EXT-003", kGraph, {entry("offset", "8 ")}, {entry("offset", "8")}},
      {"ONNX-EXT-004",
       kGraph,
       {at("data.bin", "float_data: [1, 2]")},
       {at("data.bin", "raw_data: \"\"")}},
      {"ONNX-EXT-005", kGraph, {entry("length", "7")}, {entry("length", "8")}},
      {"ONNX-EXT-006", kGraph, {at("data")}, {at("data.bin")}},
      {"ONNX-EXT-007", kGraph, {entry("offset", "9")}, {entry("offset", "8")}},
      {"ONNX-EXT-008", kGraph, {at("#data.bin")}, {at("data.bin")}},
  };
}

std::vector<RuleCase> SparseTensors() {
  return {
      {"ONNX-SPARSE-001", kSparse, {{"dims: 2 float_data", "dims: [2, 1] float_data"}}, {}},
      {"ONNX-SPARSE-002",
       kSparse,
       {{"dims: [2, 2]", "dims: [2, 0]"}},
       {{"dims: [2, 2]", "dims: 4"}}},
      {"ONNX-SPARSE-003",
       kSparse,
       {{"dims: 2 int64_data: [0, 3]", "dims: [2, 1] int64_data: [0, 3]"}},
       {{"dims: 2 int64_data: [0, 3]", "dims: [2, 2] int64_data: [0, 0, 1, 1]"}}},
      {"ONNX-SPARSE-004", kSparse, {{"[0, 3]", "[3, 0]"}}, {{"[0, 3]", "[2, 3]"}}},
      {"ONNX-SPARSE-004", kSparse, {{"[0, 3]", "[0, 4]"}}, {{"[0, 3]", "[0, 1]"}}},
  };
}

std::vector<RuleCase> Functions() {
  const std::string same = "functions { name: \"F\" domain: \"f\" input: \"a\" output: \"a\"";
  const std::string leaky =
      "op_type: \"LeakyRelu\"\n    attribute { name: \"alpha\" type: FLOAT "
      "ref_attr_name: \"alpha\" }";
  return {
      {"ONNX-FUNC-001", kFunction, {{"ir_version: 8", "ir_version: 7"}}, {}},
      {"ONNX-FUNC-002",
       kFunction,
       {{"domain: \"f\" input", "input"}},
       {{"domain: \"f\" input", "domain: \"\" input"}}},
      {"ONNX-FUNC-003",
       kFunction,
       {Before("functions {", same + " }")},
       {Before("functions {", "functions { name: \"F\" domain: \"f\" overload: \"2\" }")}},
      {"ONNX-FUNC-004",
       kFunction,
       {{"input: \"a\"", "input: [\"a\", \"a\"]"}},
       {{"input: \"a\"", "input: [\"a\", \"A\"]"}}},
      {"ONNX-FUNC-005",
       kFunction,
       {{"output: \"b\"", "output: [\"b\", \"c\"]"}},
       {{"output: \"b\"", "output: [\"b\", \"a\"]"}}},
      {"ONNX-FUNC-006",
       kFunction,
       {{leaky, "op_type: \"F\" domain: \"f\""}},
       {{leaky, "op_type: \"G\" domain: \"f\""},
        Before("functions {",
               "functions { name: \"G\" domain: \"f\" input: \"a\" output: \"a\" }")}},
      {"ONNX-FUNC-007",
       kFunction,
       {{"domain: \"\" version: 17", "domain: \"\" version: 15"}},
       {{"domain: \"\" version: 17", "domain: \"\" version: 16"}}},
      {"ONNX-FUNC-008",
       kFunction,
       {{"input: \"x\"", "input: [\"x\", \"x\"]"}},
       {{"input: \"a\"", "input: [\"a\", \"A\"]"}}},
  };
}

std::vector<RuleCase> Training() {
  return {
      {"ONNX-TRAIN-001",
       kTraining,
       {{"name: \"first\"", "name: \"first\" input { name: \"i\" $T }"}},
       {{"name: \"step\"", "name: \"step\" input { name: \"i\" $T }"}}},
      {"ONNX-TRAIN-002",
       kTraining,
       {{"key: \"w\" value: \"w1\"", "key: \"v\" value: \"w1\""}},
       {{"key: \"w\" value: \"w1\"", "key: \"v\" value: \"w1\""},
        {"name: \"step\"", "name: \"step\" initializer { name: \"v\" $D }"}}},
      {"ONNX-TRAIN-003", kTraining, {{"value: \"w1\"", "value: \"w0\""}}, {}},
      {"ONNX-TRAIN-004",
       kTraining,
       {Before("update_binding", "update_binding { key: \"w\" value: \"w1\" }")},
       {Before("update_binding", "initialization_binding { key: \"w\" value: \"w0\" }")}},
  };
}

TEST_CASE("ONNX rules") {
  CheckRuleCases({"ONNX-",
                  "m.onnx",
                  Encode,
                  {Graphs(), Models(), Values(), Nodes(), Attributes(), Operators(), Types(),
                   Tensors(), External(), SparseTensors(), Functions(), Training()},
                  MakeData});
}

}  // namespace
}  // namespace nn::test
