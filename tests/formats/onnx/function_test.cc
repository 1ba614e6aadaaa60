// Functions of a model are imported in place of their calls.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "formats/format.h"
#include "ir/text/text.h"
#include "support/wire.h"

namespace nn::test::onnx_function_test {
namespace {

std::string Float(const std::string& name, float value) {
  std::string bits(sizeof value, '\0');
  std::memcpy(bits.data(), &value, sizeof value);
  return Bytes(5, Bytes(1, name) + Varint(2 << 3 | 5) + bits + Int(20, 1));
}
std::string Reference(const std::string& name, const std::string& to) {
  return Bytes(5, Bytes(1, name) + Int(20, 1) + Bytes(21, to));
}

std::string Node(const std::string& op, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, const std::string& attributes = {},
                 const std::string& domain = {}) {
  std::string out;
  for (const auto& name : inputs) out += Bytes(1, name);
  for (const auto& name : outputs) out += Bytes(2, name);
  return out + Bytes(3, "n") + Bytes(4, op) + attributes + Bytes(7, domain);
}

// A function of domain "my" with the nodes and attributes `more`.
std::string Function(const std::string& name, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, const std::string& more) {
  std::string out = Bytes(1, name);
  for (const auto& input : inputs) out += Bytes(4, input);
  for (const auto& output : outputs) out += Bytes(5, output);
  return Bytes(25, out + more + Bytes(9, Bytes(1, "") + Int(2, 17)) +
                       Bytes(9, Bytes(1, "my") + Int(2, 1)) + Bytes(10, "my"));
}

// x: f32[4] -> y.
std::string Model(const std::string& nodes, const std::string& functions) {
  const std::string type = Bytes(2, Bytes(1, Int(1, 1) + Bytes(2, Bytes(1, Int(1, 4)))));
  const std::string graph =
      nodes + Bytes(2, "g") + Bytes(11, Bytes(1, "x") + type) + Bytes(12, Bytes(1, "y"));
  return Int(1, 8) + Bytes(7, graph) + Bytes(8, Bytes(1, "") + Int(2, 17)) +
         Bytes(8, Bytes(1, "my") + Int(2, 1)) + functions;
}

Result<ImportedModel> Import(const std::string& file) {
  const Format* format = FindFormat("onnx");
  const auto model = format->reader.Read(Blob::Copy(std::as_bytes(std::span(file))), "m.onnx", {});
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  return format->importer.Import(**model);
}

std::string TextOf(const std::string& file) {
  const auto imported = Import(file);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  CHECK(imported->unsupported.empty());
  return PrintGraph(imported->graph);
}

std::string ErrorOfImport(const std::string& file) {
  const auto imported = Import(file);
  REQUIRE_FALSE(imported.has_value());
  return imported.error().message();
}

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("onnx functions: attributes come from the call or from the function's defaults") {
  const std::string body = Bytes(6, "alpha") +
                           Bytes(11, Bytes(1, "beta") + Varint(2 << 3 | 5) +
                                         std::string("\0\0\x40\x3f", 4) + Int(20, 1)) +
                           Bytes(7, Node("LeakyRelu", {"a"}, {"t"}, Reference("alpha", "alpha"))) +
                           Bytes(7, Node("HardSigmoid", {"t"}, {"b"}, Reference("beta", "beta")));
  const std::string text = TextOf(
      Model(Bytes(1, Node("F", {"x"}, {"m"}, Float("alpha", 0.25f), "my")) +
                Bytes(1, Node("F", {"m"}, {"y"}, Float("alpha", 2) + Float("beta", 3), "my")),
            Function("F", {"a"}, {"b"}, body)));
  CAPTURE(text);
  CHECK(Contains(text, "\"n/t\" = leaky_relu(%x) {alpha = 0.25}"));
  CHECK(Contains(text, "%m = hard_sigmoid("));
  CHECK(Contains(text, "beta = 0.75"));
  CHECK(Contains(text, "alpha = 2"));
  CHECK(Contains(text, "beta = 3"));
  CHECK(Contains(text, "out \"y\""));
}

TEST_CASE("onnx functions: calls within calls, and inputs that are left out") {
  const std::string functions =
      Function("Inner", {"a", "low"}, {"b"}, Bytes(7, Node("Clip", {"a", "low"}, {"b"}))) +
      Function(
          "Outer", {"a"}, {"c"},
          Bytes(7, Node("Inner", {"a"}, {"b"}, "", "my")) + Bytes(7, Node("Relu", {"b"}, {"c"})));
  const std::string text =
      TextOf(Model(Bytes(1, Node("Outer", {"x"}, {"y"}, "", "my")), functions));
  CAPTURE(text);
  CHECK(Contains(text, "%n/b = clip(%x)"));
  CHECK(Contains(text, "%y = relu("));
}

TEST_CASE("onnx functions: errors are named") {
  const auto call = [](const std::string& function,
                       const std::vector<std::string>& inputs = {"x"}) {
    return Bytes(1, Node(function, inputs, {"y"}, "", "my"));
  };
  CHECK(Contains(
      ErrorOfImport(Model(
          call("F"), Function("F", {"a"}, {"b"}, Bytes(7, Node("F", {"a"}, {"b"}, "", "my"))))),
      "operator 0 (F \"n\"): operator 0 (F \"n\"): the function calls itself"));
  CHECK(Contains(ErrorOfImport(Model(
                     call("F"), Function("F", {"a"}, {"b"}, Bytes(7, Node("Relu", {"q"}, {"b"}))))),
                 "input \"q\" is not defined"));
  CHECK(Contains(ErrorOfImport(Model(call("F"), Function("F", {"a"}, {"b"}, ""))),
                 "output 0 of the function is not defined"));
  CHECK(Contains(
      ErrorOfImport(Model(call("F", {"x", "x"}),
                          Function("F", {"a"}, {"b"}, Bytes(7, Node("Relu", {"a"}, {"b"}))))),
      "the call has 2 inputs, but the function has 1"));
  // F0 calls F1 twice, and so on: 2^40 operators.
  std::string functions;
  for (int i = 0; i < 40; ++i) {
    const std::string next = i == 39 ? "Relu" : fmt::format("F{}", i + 1);
    const std::string domain = i == 39 ? "" : "my";
    functions += Function(fmt::format("F{}", i), {"a"}, {"c"},
                          Bytes(7, Node(next, {"a"}, {"b"}, "", domain)) +
                              Bytes(7, Node(next, {"b"}, {"c"}, "", domain)));
  }
  CHECK(Contains(ErrorOfImport(Model(call("F0"), functions)),
                 "expand to more than 262144 operators"));
}

TEST_CASE("onnx functions: an operator that is not supported is reported") {
  const auto imported =
      Import(Model(Bytes(1, Node("F", {"x"}, {"y"}, "", "my")),
                   Function("F", {"a"}, {"b"}, Bytes(7, Node("Strange", {"a"}, {"b"})))));
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  REQUIRE(imported->unsupported.size() == 1);
  CHECK(Contains(imported->unsupported[0].reason, "Strange"));
}

TEST_CASE("onnx: an error about the value of an unsupported operator is not one of the model") {
  const std::string scale = Bytes(5, Bytes(8, "s") + Int(2, 1) + Bytes(9, std::string(4, '\1')));
  const std::string zero = Bytes(5, Bytes(8, "z") + Int(2, 3) + Bytes(9, std::string(1, '\0')));
  const auto imported =
      Import(Model(Bytes(1, Node("Strange", {"x"}, {"q"})) +
                       Bytes(1, Node("DequantizeLinear", {"q", "s", "z"}, {"y"})) + scale + zero,
                   ""));
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  REQUIRE(imported->unsupported.size() == 1);
  CHECK(Contains(imported->unsupported[0].reason, "Strange"));
}

}  // namespace
}  // namespace nn::test::onnx_function_test
