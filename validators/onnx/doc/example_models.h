// The base models of the examples of ONNX rules, and edits that several examples share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "validators/example.h"

namespace nn::onnx {

// In the texts, $T is the type of a float vector of two elements, and $D is the data of one.
inline constexpr const char* kGraph = R"(
ir_version: 13
opset_import { version: 17 }
graph {
  name: "g"
  node { input: "x" output: "t" name: "a" op_type: "Relu" }
  node { input: "t" input: "w" output: "y" name: "b" op_type: "Add" }
  initializer { name: "w" $D }
  input { name: "x" $T }
  output { name: "y" $T }
})";

inline constexpr const char* kConv = R"(
ir_version: 13
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

inline constexpr const char* kIf = R"(
ir_version: 13
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

inline constexpr const char* kLoop = R"(
ir_version: 13
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

inline constexpr const char* kScan = R"(
ir_version: 13
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

inline constexpr const char* kSparse = R"(
ir_version: 13
opset_import { version: 17 }
graph {
  name: "g"
  sparse_initializer {
    values { name: "v" data_type: 1 dims: 2 float_data: [1, 2] }
    indices { data_type: 7 dims: 2 int64_data: [0, 3] }
    dims: [2, 2] }
})";

inline constexpr const char* kFunctionModel = R"(
ir_version: 13
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

inline constexpr const char* kTrainingModel = R"(
ir_version: 13
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

// Ten nodes: the smallest graph that counts as large.
inline constexpr const char* kChain = R"(
ir_version: 13
opset_import { version: 17 }
producer_name: "hand"
producer_version: "1"
graph {
  name: "g"
  node { input: "x" output: "a" name: "A" op_type: "Relu" }
  node { input: "a" output: "b" name: "B" op_type: "Neg" }
  node { input: "b" output: "c" name: "C" op_type: "Exp" }
  node { input: "c" output: "d" name: "D" op_type: "Relu" }
  node { input: "d" output: "e" name: "E" op_type: "Neg" }
  node { input: "e" output: "f" name: "F" op_type: "Exp" }
  node { input: "f" output: "g" name: "G" op_type: "Relu" }
  node { input: "g" output: "h" name: "H" op_type: "Neg" }
  node { input: "h" output: "i" name: "I" op_type: "Exp" }
  node { input: "i" output: "y" name: "J" op_type: "Relu" }
  input { name: "x" $T doc_string: "features" }
  output { name: "y" $T doc_string: "scores" }
  value_info { name: "a" $T }
  value_info { name: "b" $T }
  value_info { name: "c" $T }
  value_info { name: "d" $T }
  value_info { name: "e" $T }
  value_info { name: "f" $T }
  value_info { name: "g" $T }
  value_info { name: "h" $T }
  value_info { name: "i" $T }
})";

inline constexpr const char* kDevices = R"(
ir_version: 13
opset_import { version: 17 }
configuration { name: "pair" num_devices: 2 device: "a" device: "b" }
graph {
  name: "g"
  node { input: "x" output: "y" op_type: "Relu"
    device_configurations { configuration_id: "pair"
      sharding_spec { tensor_name: "x" device: [0, 1]
        sharded_dim { axis: 0 simple_sharding { dim_value: 2 num_shards: 2 } } } } }
  input { name: "x" $T }
  output { name: "y" $T }
})";

inline constexpr const char* kQuantized = R"(
ir_version: 13
opset_import { version: 17 }
graph {
  name: "g"
  node { input: ["x", "s", "z"] output: "q" op_type: "QuantizeLinear"
    attribute { name: "axis" type: INT i: 0 } }
  node { input: ["q", "s", "z"] output: "y" op_type: "DequantizeLinear"
    attribute { name: "axis" type: INT i: 0 } }
  initializer { name: "s" data_type: 1 dims: 2 float_data: [0.5, 0.25] }
  initializer { name: "z" data_type: 3 dims: 2 int32_data: [0, 0] }
  input { name: "x" $T }
  output { name: "y" $T }
})";

inline constexpr const char* kTree = R"(
ir_version: 13
opset_import { domain: "ai.onnx.ml" version: 5 }
graph {
  name: "g"
  node { input: "x" output: "y" op_type: "TreeEnsemble" domain: "ai.onnx.ml"
    attribute { name: "n_targets" type: INT i: 1 }
    attribute { name: "tree_roots" type: INTS ints: 0 }
    attribute { name: "nodes_featureids" type: INTS ints: 0 }
    attribute { name: "nodes_modes" type: TENSOR t { data_type: 2 dims: 1 int32_data: 0 } }
    attribute { name: "nodes_splits" type: TENSOR t { data_type: 1 dims: 1 float_data: 3 } }
    attribute { name: "nodes_truenodeids" type: INTS ints: 0 }
    attribute { name: "nodes_trueleafs" type: INTS ints: 1 }
    attribute { name: "nodes_falsenodeids" type: INTS ints: 1 }
    attribute { name: "nodes_falseleafs" type: INTS ints: 1 }
    attribute { name: "leaf_targetids" type: INTS ints: [0, 0] }
    attribute { name: "leaf_weights" type: TENSOR t { data_type: 1 dims: 2 float_data: [1, 2] } } }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim {} dim { dim_value: 1 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim {} dim { dim_value: 1 } } } } }
})";

inline Edit AddImport(const std::string& domain, const std::string& version) {
  return Before("graph {", "opset_import { domain: \"" + domain + "\" version: " + version + " }");
}

// Adds an initializer to kGraph.
inline Edit AddInitializer(const std::string& fields) {
  return Before("initializer {", "initializer { name: \"v\" " + fields + " }");
}

// Replaces the dimensions of an input or output of kGraph.
inline Edit Shaped(const std::string& port, const std::string& dims) {
  return {"name: \"" + port + "\" $T",
          "name: \"" + port + "\" type { tensor_type { elem_type: 1 shape { " + dims + " } } }"};
}

inline Edit AddToGraph(const std::string& text) {
  return {"name: \"g\"", "name: \"g\" " + text};
}

// Replaces the operator of the first node of kGraph.
inline Edit Operator(const std::string& op) {
  return {"op_type: \"Relu\"", "op_type: " + op};
}

inline Edit ConvAttribute(const std::string& fields) {
  return Before("attribute {", "attribute { " + fields + " }");
}

std::vector<RuleExample> ModelExamples();
std::vector<RuleExample> GraphExamples();
std::vector<RuleExample> ValueExamples();
std::vector<RuleExample> NodeExamples();
std::vector<RuleExample> AttributeExamples();
std::vector<RuleExample> OperatorExamples();
std::vector<RuleExample> TypeExamples();
std::vector<RuleExample> ShapeExamples();
std::vector<RuleExample> TensorExamples();
std::vector<RuleExample> ExternalExamples();
std::vector<RuleExample> SparseExamples();
std::vector<RuleExample> FunctionExamples();
std::vector<RuleExample> TrainingExamples();
std::vector<RuleExample> ChoiceExamples();
std::vector<RuleExample> DeviceExamples();
std::vector<RuleExample> VersionExamples();
std::vector<RuleExample> LintExamples();
std::vector<RuleExample> SafetyExamples();

}  // namespace nn::onnx
