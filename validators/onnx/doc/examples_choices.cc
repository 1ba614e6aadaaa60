// Examples of ONNX rules: values of attributes, by operator.
#include "validators/onnx/doc/example_models.h"

namespace nn::onnx {
namespace {

// Replaces the first node of kGraph.
Edit Node(const std::string& inputs, const std::string& outputs, const std::string& rest) {
  return {"node { input: \"x\" output: \"t\" name: \"a\" op_type: \"Relu\" }",
          "node { input: " + inputs + " output: " + outputs + " op_type: " + rest + " }"};
}

std::string Int(const std::string& name, const std::string& value) {
  return " attribute { name: \"" + name + "\" type: INT i: " + value + " }";
}

std::string Ints(const std::string& name, const std::string& values) {
  return " attribute { name: \"" + name + "\" type: INTS ints: " + values + " }";
}

std::string Strings(const std::string& name, const std::string& values) {
  return " attribute { name: \"" + name + "\" type: STRINGS strings: " + values + " }";
}

std::string String(const std::string& name, const std::string& value) {
  return " attribute { name: \"" + name + "\" type: STRING s: \"" + value + "\" }";
}

const Edit kImportMl = AddImport("ai.onnx.ml", "3");

Edit Mapper(const std::string& strings) {
  return Node("\"x\"", "\"t\"",
              "\"CategoryMapper\" domain: \"ai.onnx.ml\"" + Ints("cats_int64s", "[1, 2]") +
                  Strings("cats_strings", strings));
}

Edit Encoder(const std::string& more) {
  return Node("\"x\"", "\"t\"",
              "\"OneHotEncoder\" domain: \"ai.onnx.ml\"" + Ints("cats_int64s", "[1, 2]") + more);
}

Edit RecurrentNode(const std::string& activations) {
  return Node("[\"x\", \"v\", \"v\"]", "\"t\"",
              "\"GRU\"" + Int("hidden_size", "1") + Strings("activations", activations));
}

Edit Einsum(const std::string& equation) {
  return Node("[\"x\", \"w\"]", "\"t\"", "\"Einsum\"" + String("equation", equation));
}

Edit Split(const std::string& count) {
  return Node("\"x\"", "[\"t\", \"u\"]", "\"Split\"" + Int("num_outputs", count));
}

Edit Fill(const std::string& value) {
  return Node("\"x\"", "\"t\"",
              "\"ConstantOfShape\" attribute { name: \"value\" type: TENSOR t { " + value + " } }");
}

Edit Deconvolution(const std::string& more) {
  return {"op_type: \"Conv\"",
          "op_type: \"ConvTranspose\"" + Ints("strides", "[2, 2]") + Ints("output_padding", more)};
}

// Replaces the first node of kGraph with a SequenceMap.
Edit Map(const std::string& inputs) {
  return Node(inputs, "\"t\"",
              "\"SequenceMap\" attribute { name: \"body\" type: GRAPH g { name: \"b\" "
              "node { input: [\"e\", \"e2\"] output: \"r\" op_type: \"Mul\" } "
              "input { name: \"e\" } input { name: \"e2\" } output { name: \"r\" } } }");
}

}  // namespace

std::vector<RuleExample> ChoiceExamples() {
  const Edit v18 = {"version: 17", "version: 18"};
  const Edit untyped = {"name: \"x\" $T",
                        "name: \"x\" type { sequence_type { elem_type { "
                        "tensor_type { elem_type: 1 } } } }"};
  const Edit sizes = {"name: \"x\" $T",
                      "name: \"x\" type { tensor_type { elem_type: 7 shape { dim { "
                      "dim_value: 1 } } } }"};
  const Edit no_add = {"input: \"t\" input: \"w\" output: \"y\" name: \"b\" op_type: \"Add\"",
                       "input: \"t\" output: \"y\" name: \"b\" op_type: \"SequenceLength\""};
  const Edit count = {"name: \"y\" $T",
                      "name: \"y\" type { tensor_type { elem_type: 7 shape {} } }"};
  const Edit labels = {"name: \"x\" $T",
                       "name: \"x\" type { tensor_type { elem_type: 7 shape { dim {} } } }"};
  const Edit words = {"name: \"w\" $D", "name: \"w\" data_type: 8 dims: 1 string_data: \"c\""};
  const Edit concat = {"op_type: \"Add\"", "op_type: \"Concat\"" + Int("axis", "0")};
  const Edit strings_out = {"name: \"y\" $T",
                            "name: \"y\" type { tensor_type { elem_type: 8 shape { dim {} } } }"};
  const auto pads = [](const std::string& values) {
    return ConvAttribute("name: \"pads\" type: INTS ints: " + values);
  };
  const Edit same = ConvAttribute("name: \"auto_pad\" type: STRING s: \"SAME_UPPER\"");
  const auto directions = [](const std::string& values) {
    return Before("attribute { name: \"num_scan_inputs\"",
                  "attribute { name: \"scan_input_directions\" type: INTS ints: " + values + " }");
  };
  const Edit reduced = {"version: 17", "version: 12"};
  const Edit sequence = Shaped("x", "dim {} dim {} dim {}");
  const Edit recurrence = AddInitializer("data_type: 1 dims: [1, 3, 1] float_data: [1, 2, 3]");
  const Edit states = Shaped("y", "dim {} dim {} dim {} dim {}");
  return {
      {"ONNX-OP-011", kConv, {pads("[0, 0, -1, 0]")}, {pads("[0, 0, 1, 0]")}},
      {"ONNX-OP-012",
       kGraph,
       {reduced, Operator("\"ReduceMax\"" + Int("keepdims", "2"))},
       {reduced, Operator("\"ReduceMax\"" + Int("keepdims", "1"))}},
      {"ONNX-OP-013",
       kGraph,
       {kImportMl, labels, words, concat, strings_out, Mapper("[\"a\"]")},
       {kImportMl, labels, words, concat, strings_out, Mapper("[\"a\", \"b\"]")}},
      {"ONNX-OP-014",
       kGraph,
       {kImportMl, Encoder(Strings("cats_strings", "\"a\""))},
       {kImportMl, Encoder(""), Shaped("y", "dim {} dim {}")}},
      {"ONNX-OP-015",
       kGraph,
       {reduced, Operator("\"Unsqueeze\"" + Ints("axes", "[0, 0]"))},
       {reduced, Operator("\"Unsqueeze\"" + Ints("axes", "[0, 1]")),
        Shaped("y", "dim {} dim {} dim {}")}},
      {"ONNX-OP-016", kConv, {same, pads("[1, 1, 1, 1]")}, {same, pads("[0, 0, 0, 0]")}},
      {"ONNX-OP-017",
       kGraph,
       {RecurrentNode("[\"Sigmoid\", \"Tanh\", \"Tanh\"]"), recurrence},
       {RecurrentNode("[\"Sigmoid\", \"Tanh\"]"), recurrence, sequence, states}},
      {"ONNX-OP-017",
       kGraph,
       {RecurrentNode("[\"Sigmoid\", \"Tan\"]"), recurrence},
       {RecurrentNode("[\"sigmoid\", \"tanh\"]"), recurrence, sequence, states}},
      {"ONNX-OP-018", kGraph, {Einsum("i,j,k->i")}, {Einsum("i, i -> i")}},
      {"ONNX-OP-018", kGraph, {Einsum("i,i->j")}, {Einsum("...i,i")}},
      {"ONNX-OP-019", kGraph, {v18, Split("3")}, {v18, Split("2")}},
      {"ONNX-OP-020",
       kGraph,
       {sizes, Fill("$D")},
       {sizes, Fill("data_type: 1 dims: 1 float_data: 1")}},
      {"ONNX-OP-021",
       kGraph,
       {Node("[\"x\", \"n\"]", "\"t\"", "\"ReverseSequence\"" + Int("batch_axis", "0")),
        AddInitializer("data_type: 7 dims: 1 int64_data: 1"),
        {"name: \"v\"", "name: \"n\""}},
       {Node("[\"x\", \"n\"]", "\"t\"",
             "\"ReverseSequence\"" + Int("batch_axis", "0") + Int("time_axis", "1")),
        Shaped("x", "dim {} dim {}"),
        Shaped("y", "dim {} dim {}"),
        AddInitializer("data_type: 7 dims: 1 int64_data: 1"),
        {"name: \"v\"", "name: \"n\""}}},
      {"ONNX-OP-022", kConv, {Deconvolution("[0, 2]")}, {Deconvolution("[0, 1]")}},
      {"ONNX-OP-023",
       kTree,
       {{"\"tree_roots\" type: INTS ints: 0", "\"tree_roots\" type: INTS ints: 1"}},
       {}},
      {"ONNX-OP-024", kScan, {directions("[0, 1]")}, {directions("1")}},
      {"ONNX-OP-025",
       kGraph,
       {untyped, no_add, count, Map("\"x\"")},
       {untyped, no_add, count, Map("[\"x\", \"x\"]")}},
  };
}

}  // namespace nn::onnx
