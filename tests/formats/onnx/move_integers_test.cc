// In which order DequantizeLinear and what moves its numbers are written.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/onnx/text.h"
#include "ir/text/text.h"
#include "passes/core/passes.h"
#include "support/files.h"
#include "support/run_graph.h"

namespace nn::test::onnx_move_integers_test {
namespace {

using namespace onnx_text;

constexpr int kI8 = 3;

// The operators of the graph, in order, once it is written in the operator set and read again.
std::string Written(const std::string& nodes, int64_t opset) {
  const std::string graph =
      Input("x", TypeOf(kF32, {"1", "2", "2", "4"})) + Outputs({"y"}) + Float("s", 0.5f) +
      fmt::format("initializer {{ name: \"z\" data_type: {} int32_data: 3 }}\n", kI8) +
      fmt::format("initializer {{ name: \"v\" data_type: {} dims: 2 float_data: [1, 2] }}\n",
                  kF32) +
      fmt::format("initializer {{ name: \"zv\" data_type: {} dims: 2 int32_data: [1, 2] }}\n",
                  kI8) +
      "initializer { name: \"flat\" data_type: 7 dims: 2 int64_data: [4, 4] }\n" + nodes;
  const TempDir dir;
  ExportOptions options;
  options.opset = opset;
  WriteModel(dir / "m.onnx", PrintGraph(Import(graph, 20).graph), options);
  const ReadModel read = ReadOrFail(dir / "m.onnx");
  const auto imported = read.format->importer.Import(*read.model);
  REQUIRE(imported.has_value());
  std::string out;
  for (const auto& node : imported->graph.nodes()) out += std::string(node.op_name()) + ' ';
  return out;
}

const std::string kStart = Node("QuantizeLinear", {"x", "s", "z"}, {"q"}) +
                           Node("DequantizeLinear", {"q", "s", "z"}, {"d"});

TEST_CASE("onnx: integers are moved before they are dequantized, from operator set 21 on") {
  const std::string chain = kStart + Node("Transpose", {"d"}, {"t"}, Ints("perm", {0, 3, 1, 2})) +
                            Node("Reshape", {"t", "flat"}, {"r"}) + Node("Sin", {"r"}, {"y"});
  CHECK(Written(chain, 20) == "quantize dequantize transpose reshape sin ");
  CHECK(Written(chain, 21) == "quantize transpose reshape dequantize sin ");
  const std::string output = kStart + Node("Reshape", {"d", "flat"}, {"y"});
  CHECK(Written(output, 21) == "quantize reshape dequantize ");
  // The other user of the numbers keeps them.
  const std::string both = kStart + Node("Reshape", {"d", "flat"}, {"r"}) +
                           Node("Transpose", {"d"}, {"t"}, Ints("perm", {1, 0, 2, 3})) +
                           Node("Reshape", {"t", "flat"}, {"u"}) + Node("Sin", {"d"}, {"e"}) +
                           Node("Reshape", {"e", "flat"}, {"f"}) +
                           Node("Sum", {"r", "u", "f"}, {"y"});
  CHECK(Written(both, 21).find("quantize dequantize reshape dequantize transpose reshape "
                               "dequantize sin reshape") == 0);
}

TEST_CASE("onnx: integers are sliced and pooled before they are dequantized") {
  const std::string slice =
      "initializer { name: \"from\" data_type: 7 dims: 1 int64_data: 1 }\n"
      "initializer { name: \"to\" data_type: 7 dims: 1 int64_data: 3 }\n"
      "initializer { name: \"axis\" data_type: 7 dims: 1 int64_data: 3 }\n" +
      kStart + Node("Slice", {"d", "from", "to", "axis"}, {"l"}) + Node("Sin", {"l"}, {"y"});
  CHECK(Written(slice, 20) == "quantize dequantize slice sin ");
  CHECK(Written(slice, 21) == "quantize slice dequantize sin ");
  const std::string pool =
      kStart +
      Node("MaxPool", {"d"}, {"p"}, Ints("kernel_shape", {2, 2}) + Ints("pads", {1, 0, 0, 1})) +
      Node("Sin", {"p"}, {"y"});
  CHECK(Written(pool, 20) == "quantize dequantize max_pool sin ");
  CHECK(Written(pool, 21) == "quantize max_pool dequantize sin ");
}

TEST_CASE("onnx: integers are flattened before a product with a bias") {
  const std::string product =
      fmt::format(
          "initializer {{ name: \"w\" data_type: {} dims: [4, 1] float_data: [1, 2, 3, 4] }}\n"
          "initializer {{ name: \"b\" data_type: {} dims: 1 float_data: 5 }}\n",
          kF32, kF32) +
      kStart + Node("MatMul", {"d", "w"}, {"m"});
  const std::string biased = product + Node("Add", {"m", "b"}, {"y"});
  CHECK(Written(biased, 20) == "quantize dequantize matmul add ");
  CHECK(Written(biased, 21) == "quantize reshape dequantize matmul reshape add ");
  CHECK(Written(product + Node("Sin", {"m"}, {"y"}), 21) == "quantize dequantize matmul sin ");
}

TEST_CASE("onnx: inputs of integers have the scales of the numbers that their moves lead to") {
  const Graph source = Parse(R"(graph { in %x "x": i8[1, 2, 4]{scale=0.5, zp=3}
    %d = dequantize(%x)  %t = transpose(%d) {perm = [0, 2, 1]}  %r = reshape(%t) {dims = [8]}
    %s = sin(%r)  %c = cos(%d)  out "s" = %s  out "c" = %c })");
  const TempDir dir;
  ExportOptions options;
  options.opset = 21;
  for (const bool alone : {false, true}) {
    CAPTURE(alone);
    Graph graph = source.Clone();
    if (alone) {
      graph.RemoveOutput(1);
      REQUIRE(RemoveDeadCode(graph).has_value());
    }
    WriteModel(dir / "m.onnx", PrintGraph(graph), options);
    const ReadModel read = ReadOrFail(dir / "m.onnx");
    const auto imported = read.format->importer.Import(*read.model);
    REQUIRE(imported.has_value());
    CHECK(imported->graph.inputs()[0].value->type() == source.inputs()[0].value->type());
    std::string operators;
    for (const auto& node : imported->graph.nodes()) operators += std::string(node.op_name()) + ' ';
    CHECK(operators == (alone ? "transpose reshape dequantize sin "
                              : "dequantize transpose reshape dequantize sin cos "));
  }
}

TEST_CASE("onnx: what is only quantized again, and scales per axis, stay") {
  const std::string again = kStart + Node("Reshape", {"d", "flat"}, {"r"}) +
                            Node("QuantizeLinear", {"r", "s", "z"}, {"p"}) +
                            Node("DequantizeLinear", {"p", "s", "z"}, {"e"}) +
                            Node("Sin", {"e"}, {"y"});
  CHECK(Written(again, 21) == "quantize dequantize reshape quantize dequantize sin ");
  const std::string axes = Node("QuantizeLinear", {"x", "v", "zv"}, {"q"}) +
                           Node("DequantizeLinear", {"q", "v", "zv"}, {"d"}) +
                           Node("Transpose", {"d"}, {"t"}, Ints("perm", {0, 3, 1, 2})) +
                           Node("Sin", {"t"}, {"y"});
  CHECK(Written(axes, 21) == "quantize dequantize transpose sin ");
}

}  // namespace
}  // namespace nn::test::onnx_move_integers_test
