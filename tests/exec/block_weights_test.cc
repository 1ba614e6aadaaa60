// Products with weights of small integers, which are unpacked in tiles.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "exec/program.h"
#include "exec/steps/conv/block_panels.h"
#include "ir/op_def.h"
#include "ops/math/matmul.h"
#include "ops/quant/block_weights.h"
#include "support/run_graph.h"

namespace nn::test::exec_block_weights_test {
namespace {

// Runs the product everywhere; returns the bytes of packed weights.
uint64_t Run(const std::string& text) {
  CAPTURE(text);
  const Graph graph = Parse(text);
  CheckHasKernels(graph);
  RunEverywhere(graph, InputsOf(graph, {}));
  auto program = Program::Compile(graph, {});
  REQUIRE(program.has_value());
  return program->packed_bytes();
}

std::string Product(int m, const std::string& a, const std::string& q, const std::string& attrs,
                    const std::string& rest = "") {
  return fmt::format(
      "graph {{ in %a: f32[{}, {}]  const %q: {} = seeded(3)  %b = dequantize(%q)  "
      "%y = matmul(%a, %b) {}  %z = tanh(%y)  out \"z\" = %z {} }}",
      m, a, q, attrs, rest);
}

TEST_CASE("block weights: every width, height and axis of a product") {
  const std::string transposed = "{transpose_b = true}";
  for (const auto& [type, bits] : {std::pair("i8", 8), std::pair("u8", 8), std::pair("i4", 4),
                                   std::pair("u4", 4), std::pair("i2", 2), std::pair("u2", 2)})
    for (const int m : {1, 2, 3, 5, 19, 130}) {
      // Less than the integers and a few scales.
      const uint64_t most = 517 * 144 * static_cast<uint64_t>(bits) / 8 + 144 * 8 + 4096;
      CHECK(Run(Product(m, "517", fmt::format("{}[517, 140]{{scale=0.02, zp=1}}", type), "")) <=
            most);
      CHECK(Run(Product(m, "517", fmt::format("{}[140, 517]{{scale=0.02, zp=1}}", type),
                        transposed)) <= most);
    }
  std::string scales = "1";
  for (int i = 1; i < 140; ++i) scales += fmt::format(", {}", 1 + i % 7);
  const auto per_axis = [&](int axis) { return fmt::format("axis={}, scale=[{}]", axis, scales); };
  const uint64_t most = 517 * 144 / 2 + 144 * 8 + 4096;
  CHECK(Run(Product(3, "517", "i4[517, 140]{" + per_axis(1) + "}", "")) <= most);
  CHECK(Run(Product(3, "517", "i4[140, 517]{" + per_axis(0) + "}", transposed)) <= most);
}

TEST_CASE("block weights: too many scales for a column") {
  std::string scales = "1";
  for (int i = 1; i < 140; ++i) scales += ", 2";
  const std::string quant = "{axis=0, scale=[" + scales + "]}";
  CHECK(Run(Product(2, "140", "i8[140, 517]" + quant, "")) == 140 * 528 * sizeof(float));
}

TEST_CASE("block weights: other uses of the numbers") {
  Run(Product(2, "150", "i4[150, 130]{scale=0.5}", "", "  %w = relu(%b)  out \"w\" = %w"));
  // A batch of products with matrices of their own.
  Run("graph { in %a: f32[3, 2, 130]  const %q: i4[3, 130, 140]{scale=0.5} = seeded(3)  "
      "%b = dequantize(%q)  %y = matmul(%a, %b)  out \"y\" = %y }");
  // Transposed, which keeps the integers if there are many.
  for (const char* quant : {"scale=0.5", "axis=0", "axis=1"}) {
    std::string full = quant;
    if (full != "scale=0.5") {
      full += ", scale=[1";
      for (int i = 1; i < 520; ++i) full += fmt::format(", {}", 1 + i % 5);
      full += "]";
    }
    const uint64_t most = full[5] == '1' ? 520 * 528 * 4 : 520 * 528 / 2 + 528 * 4 + 16;
    CHECK(Run("graph { in %a: f32[2, 520]  const %q: i4[520, 520]{" + full +
              "} = seeded(3)  %f = dequantize(%q)  %b = transpose(%f) {perm = [1, 0]}  "
              "%y = matmul(%a, %b)  out \"y\" = %y }") <= most);
  }
  // Reshaped after the dequantization, as blockwise weights of TensorFlow Lite are.
  std::string scales = "1";
  for (int i = 1; i < 140 * 4; ++i) scales += fmt::format(", {}", 1 + i % 5);
  CHECK(Run("graph { in %a: f32[2, 128]  const %q: i4[560, 32]{axis=0, scale=[" + scales +
            "]} = seeded(3)  %f = dequantize(%q)  %b = reshape(%f) {dims = [140, 128]}  "
            "%y = matmul(%a, %b) {transpose_b = true}  out \"y\" = %y }") <=
        128 * 144 / 2 + 144 * 4 * 4 + 4096);
}

// The blocks of steps of k may come in any order, and change at any step.
TEST_CASE("block weights: blocks in any order") {
  constexpr int64_t kDepth = 203, kColumns = 150;
  for (const int bits : {2, 4, 8}) {
    BlockWeights w;
    w.bits = bits;
    w.rows = kColumns;
    w.columns = kDepth;
    w.row_step = 208;
    Buffer bytes(static_cast<size_t>(w.rows * w.row_step * bits / 8));
    for (size_t i = 0; i < bytes.size(); ++i) bytes.data()[i] = static_cast<std::byte>(i * 41 + 7);
    w.integers = Blob(std::move(bytes));
    for (int64_t r = 0; r < w.rows; ++r) w.row_block.push_back(static_cast<uint32_t>(3 * r));
    for (int64_t k = 0; k < w.columns; ++k)
      w.column_block.push_back(static_cast<uint32_t>(k * k / 5 % 3));
    for (int64_t b = 0; b < 3 * w.rows; ++b) {
      w.scales.push_back(static_cast<float>(b % 11) * 0.125f);
      w.zeros.push_back(static_cast<float>(b % 5) * 0.5f);
    }
    auto weights = TensorOf(std::move(w), {kColumns, kDepth});
    REQUIRE(weights.has_value());
    for (const int m : {1, 7}) {
      Graph graph;
      Value* a = graph.AddInput("a", Type(DType::kF32, {m, kDepth}));
      Value* b = graph.AddConstant(*weights);
      const auto node = graph.Append("matmul", {a, b}, MatmulAttrs{false, true});
      REQUIRE(node.has_value());
      graph.AddOutput("y", (*node)->output());
      CheckHasKernels(graph);
      RunEverywhere(graph, InputsOf(graph, {}));
      auto program = Program::Compile(graph, {});
      REQUIRE(program.has_value());
      CHECK(program->packed_bytes() < kDepth * 160 * sizeof(float) / 2);
    }
  }
}

}  // namespace
}  // namespace nn::test::exec_block_weights_test
