#include <doctest/doctest.h>

#include <string>

#include "formats/format.h"
#include "support/wire.h"

namespace nn::test::onnx_summary_test {
namespace {

// The messages that the tests need, with the field numbers of onnx.proto.
std::string Attr(const std::string& name, uint64_t type, const std::string& value) {
  return Bytes(5, Bytes(1, name) + value + Int(20, type));
}
std::string Node(const std::string& op, const std::string& name, const std::string& more = {},
                 const std::string& domain = {}) {
  return Bytes(1, "a") + Bytes(2, "b") + Bytes(3, name) + Bytes(4, op) + more +
         (domain.empty() ? "" : Bytes(7, domain));
}
std::string TensorF32(const std::string& name, uint64_t dim) {
  return Int(1, dim) + Int(2, 1) + Bytes(8, name) + Bytes(9, std::string(dim * 4, '\0'));
}
std::string Value(const std::string& name, const std::string& type) {
  return Bytes(1, name) + Bytes(2, type);
}
std::string TensorType(uint64_t elem, const std::string& dims) {
  return Bytes(1, Int(1, elem) + Bytes(2, dims));
}
std::string Dim(uint64_t v) {
  return Bytes(1, Int(1, v));
}
std::string Dim(const std::string& symbol) {
  return Bytes(1, Bytes(2, symbol));
}

ModelSummary Summarize(const std::string& file) {
  const Format* format = FindFormat("onnx");
  const Blob blob = Blob::Copy(std::as_bytes(std::span(file)));
  const auto model = format->reader.Read(blob, "m.onnx", {});
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  const auto summary = format->describer.Summarize(**model);
  REQUIRE_MESSAGE(summary.has_value(), summary.error().message());
  return *summary;
}

std::string Model(const std::string& graph, const std::string& more = {}) {
  return Int(1, 8) + Bytes(7, graph) + Bytes(8, Bytes(1, "") + Int(2, 17)) + more;
}

TEST_CASE("onnx summary: operators of subgraphs and functions, known or not") {
  const std::string inner =
      Bytes(1, Node("Inner", "i")) + Bytes(2, "body") + Bytes(5, TensorF32("w", 3));
  const std::string nested =
      Bytes(1, Node("Loop", "", Attr("body", 5, Bytes(6, inner)))) + Bytes(2, "then");
  const std::string graph = Bytes(1, Node("If", "cond", Attr("then_branch", 5, Bytes(6, nested)))) +
                            Bytes(1, Node("Gelu", "g", "", "com.microsoft")) +
                            Bytes(1, Node("Relu", "r", "", "ai.onnx"));
  const std::string function =
      Bytes(1, "Twice") + Bytes(7, Node("Add", "add")) + Bytes(10, "my.domain");
  const ModelSummary s = Summarize(
      Model(graph, Bytes(25, function) + Bytes(8, Bytes(1, "com.microsoft") + Int(2, 1))));
  CHECK(s.version == "IR version 8, opset 17, com.microsoft 1");
  REQUIRE(s.operators.size() == 6);
  struct Row {
    std::string op, scope;
  };
  const Row rows[] = {{"If", ""},
                      {"Loop", "cond.then_branch"},
                      {"Inner", "cond.then_branch/Loop 0.body"},
                      {"com.microsoft.Gelu", ""},
                      {"Relu", ""},
                      {"Add", "function my.domain.Twice"}};
  for (size_t i = 0; i < 6; ++i) {
    CHECK(s.operators[i].op == rows[i].op);
    CHECK(s.operators[i].scope == rows[i].scope);
  }
  CHECK(s.operators[0].attributes[0].second == "graph \"then\" of 1 operators");
  CHECK(s.operators[1].inputs == std::vector<std::string>{"a"});
  CHECK(s.parameter_count == 3);
  CHECK(s.parameter_bytes == 12);
}

TEST_CASE("onnx summary: inputs, outputs, types, quantization") {
  const std::string sequence = Bytes(4, Bytes(1, TensorType(7, "")));
  const std::string map = Bytes(5, Int(1, 8) + Bytes(2, TensorType(1, "")));
  const std::string graph =
      Bytes(5, TensorF32("w", 300)) +
      Bytes(11, Value("x", TensorType(1, Dim("n") + Dim(3) + Bytes(1, "") + Dim("")))) +
      Bytes(11, Value("w", TensorType(1, Dim(300)))) +
      Bytes(11, Value("any", Bytes(1, Int(1, 10)))) + Bytes(12, Value("s", sequence)) +
      Bytes(12, Value("m", map)) + Bytes(12, Value("o", Bytes(9, Bytes(1, TensorType(9, ""))))) +
      Bytes(14, Bytes(1, "x") + Bytes(2, Bytes(1, "SCALE_TENSOR") + Bytes(2, "sc")) +
                    Bytes(2, Bytes(1, "ZERO_POINT_TENSOR") + Bytes(2, "zp")));
  const ModelSummary s = Summarize(Model(graph));
  REQUIRE(s.inputs.size() == 2);  // "w" is a parameter
  CHECK(s.inputs[0].name == "x");
  CHECK(s.inputs[0].type == "FLOAT");
  CHECK(*s.inputs[0].shape == std::vector<std::string>{"n", "3", "?", "?"});
  CHECK(s.inputs[0].quantization == "SCALE_TENSOR = sc, ZERO_POINT_TENSOR = zp");
  CHECK(s.inputs[1].type == "FLOAT16");
  CHECK(!s.inputs[1].shape);
  REQUIRE(s.outputs.size() == 3);
  CHECK(s.outputs[0].type == "sequence(INT64)");
  CHECK(s.outputs[1].type == "map(STRING, FLOAT)");
  CHECK(s.outputs[2].type == "optional(BOOL)");
  CHECK(s.parameter_count == 300);
  CHECK(s.parameter_bytes == 1200);
}

TEST_CASE("onnx summary: attributes as text") {
  const auto ints = [](int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += Int(8, static_cast<uint64_t>(i));
    return out;
  };
  const std::string f = Varint(2 << 3 | 5) + std::string("\0\0\0\x3F", 4);
  struct Row {
    std::string attribute;
    std::string text;
  };
  const std::string int64s = Int(1, 2) + Int(2, 7) +
                             Bytes(9, std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 8) +
                                          std::string("\1\0\0\0\0\0\0\0", 8));
  for (const Row& r : {
           Row{Attr("a", 1, f), "0.5"},
           Row{Attr("a", 2, Int(3, static_cast<uint64_t>(-2))), "-2"},
           Row{Attr("a", 3, Bytes(4, "S\"AME\n")), "\"S\\\"AME\\n\""},
           Row{Attr("a", 3, Bytes(4, std::string(300, 'x'))), "string of 300 bytes"},
           Row{Attr("a", 3, Bytes(4, std::string(3000, 'x'))), "string of 3000 bytes"},
           Row{Attr("a", 7, ints(0)), "[]"},
           Row{Attr("a", 7, ints(3)), "[0, 1, 2]"},
           Row{Attr("a", 7, ints(20)),
               "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ... 20 in all]"},
           Row{Attr("a", 8, Bytes(9, "u") + Bytes(9, "v")), "[\"u\", \"v\"]"},
           Row{Attr("a", 4, Bytes(5, int64s)), "INT64[2] [9223372036854775807, 1]"},
           Row{Attr("a", 4, Bytes(5, TensorF32("t", 100))), "FLOAT[100]"},
           Row{Attr("a", 2, Bytes(21, "outer")), "@outer"},
           Row{Bytes(5, Bytes(1, "a") + Int(3, 7)), "7"},  // IR version 1: no type
           Row{Attr("a", 99, ""), ""},
       }) {
    CAPTURE(r.text);
    const ModelSummary s = Summarize(Model(Bytes(1, Node("Op", "n", r.attribute))));
    REQUIRE(s.operators.size() == 1);
    REQUIRE(s.operators[0].attributes.size() == 1);
    CHECK(s.operators[0].attributes[0].first == "a");
    CHECK(s.operators[0].attributes[0].second == r.text);
  }
}

TEST_CASE("onnx summary: parameters of Constant nodes count, shapes that lie do not") {
  const std::string graph =
      Bytes(1, Node("Constant", "c", Attr("value", 4, Bytes(5, TensorF32("t", 5))))) +
      Bytes(1, Node("Constant", "i", Attr("value_ints", 7, Int(8, 1) + Int(8, 2)))) +
      Bytes(1, Node("Constant", "f", Attr("value_float", 1, Varint(2 << 3 | 5) + "\1\1\1\1"))) +
      Bytes(1, Node("ConstantOfShape", "z", Attr("value", 4, Bytes(5, TensorF32("t", 1))))) +
      Bytes(5, Int(1, uint64_t{1} << 62) + Int(1, 4) + Int(2, 1) + Bytes(8, "overflow")) +
      Bytes(5, Int(1, static_cast<uint64_t>(-3)) + Int(2, 1) + Bytes(8, "negative")) +
      Bytes(5, Int(1, 2) + Int(2, 8) + Bytes(6, "abc") + Bytes(6, "d") + Bytes(8, "strings"));
  const ModelSummary s = Summarize(Model(graph));
  CHECK(s.parameter_count == 5 + 2 + 1 + 2);
  CHECK(s.parameter_bytes == 20 + 16 + 4 + 4);
}

TEST_CASE("onnx summary: metadata, and a model with nothing in it") {
  const ModelSummary s =
      Summarize(Int(1, 4) + Bytes(2, "tool") + Bytes(3, "2.0") + Bytes(4, "org.example") +
                Int(5, 3) + Bytes(6, "about") + Bytes(7, Bytes(2, "g") + Bytes(10, "graph doc")) +
                Bytes(14, Bytes(1, "key") + Bytes(2, "value")));
  CHECK(s.format == "ONNX");
  CHECK(s.version == "IR version 4");
  CHECK(s.producer == "tool 2.0");
  CHECK(s.name == "g");
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  CHECK(s.metadata == Pairs{{"domain", "org.example"},
                            {"model_version", "3"},
                            {"doc_string", "about"},
                            {"graph.doc_string", "graph doc"},
                            {"key", "value"}});
  const ModelSummary empty = Summarize(Int(1, 8));
  CHECK(empty.operators.empty());
  CHECK(empty.inputs.empty());
  CHECK(empty.parameter_count == 0);
}

}  // namespace
}  // namespace nn::test::onnx_summary_test
