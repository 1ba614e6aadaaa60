// Weights in blocks stay in blocks when a model is written again.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/format.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/text.h"
#include "formats/tflite/file.h"
#include "ops/quant/block_weights.h"
#include "rewrite/legalize.h"

namespace nn::test::onnx_blocks_test {
namespace {

using namespace onnx_text;

constexpr int kU8 = 2, kI8 = 3, kI32 = 6, kF16 = 10, kU4 = 21, kI4 = 22;

// An initializer of `count` numbers in int32_data, which repeat from `first` to `last`.
std::string Integers(std::string_view name, int type, const std::vector<int64_t>& dims,
                     int64_t count, int64_t first, int64_t last) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(first + i * 7 % (last - first + 1));
  return fmt::format("initializer {{ name: \"{}\" data_type: {} dims: [{}] int32_data: [{}] }}\n",
                     name, type, fmt::join(dims, ", "), fmt::join(values, ", "));
}

std::string Scales(std::string_view name, const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(0.25 + 0.125 * static_cast<double>(i % 9));
  return fmt::format("initializer {{ name: \"{}\" data_type: {} dims: [{}] float_data: [{}] }}\n",
                     name, kF32, fmt::join(dims, ", "), fmt::join(values, ", "));
}

const std::string kContrib = "opset_import { domain: \"com.microsoft\" version: 1 }\n";

struct Stored {
  BlockSource source = BlockSource::kNone;
  std::string bytes;
  std::vector<float> scales, zeros;
  std::vector<uint32_t> column_block;
  int64_t block = 0, accuracy = 0;
  std::vector<double> numbers;
  size_t nodes = 0;

  bool operator==(const Stored&) const = default;
};

// The only weights of the graph.
Stored StoredIn(const Graph& graph) {
  Stored out;
  for (const Value& v : graph.values()) {
    if (!v.is_constant() || v.uses().empty() || v.constant().rank() < 2) continue;
    CHECK(out.numbers.empty());
    out.numbers = v.constant().ToDoubles();
    const BlockWeights* const w = StoredBlocks(v.constant());
    if (w == nullptr) continue;
    out.source = w->source;
    out.bytes.assign(reinterpret_cast<const char*>(w->integers.data()), w->integers.size());
    out.scales = w->scales;
    out.zeros = w->zeros;
    out.column_block = w->column_block;
    out.block = w->block;
    out.accuracy = w->accuracy;
  }
  out.nodes = graph.nodes().size();
  return out;
}

Graph WrittenIn(const Graph& graph, int64_t opset) {
  Graph fitted = graph.Clone();
  const Format* const onnx = FindFormat("onnx");
  REQUIRE(onnx != nullptr);
  const auto unsupported = Legalize(fitted, *onnx->target);
  REQUIRE(unsupported.has_value());
  CHECK(unsupported->empty());
  ExportOptions options;
  options.opset = opset;
  const auto image = onnx->writer.Write(fitted, options);
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  const std::string bytes = Joined(*image);
  const auto model = onnx->reader.Read(Blob::Copy(std::as_bytes(std::span(bytes))), "m", {});
  REQUIRE(model.has_value());
  auto imported = onnx->importer.Import(**model);
  REQUIRE(imported.has_value());
  CHECK(imported->unsupported.empty());
  return std::move(imported->graph);
}

// ---- MatMulNBits

struct Product {
  int64_t bits = 4, k = 40, n = 3, block = 16;
  std::string more_inputs = {}, initializers = {}, attributes = {};
  bool has_vector = false;
};

std::string Model(const Product& p) {
  const int64_t blocks = (p.k + p.block - 1) / p.block, bytes = p.block * p.bits / 8;
  const std::string attributes = Int("K", p.k) + Int("N", p.n) + Int("bits", p.bits) +
                                 Int("block_size", p.block) + p.attributes +
                                 "domain: \"com.microsoft\" ";
  return Input("x", TypeOf(kF32, {"2", "5", std::to_string(p.k)})) + Outputs({"y"}) +
         Integers("b", kU8, {p.n, blocks, bytes}, p.n * blocks * bytes, 0, 255) +
         Scales("s", {p.n, blocks}) + p.initializers +
         fmt::format(
             "node {{ op_type: \"MatMulNBits\" input: [\"x\", \"b\", \"s\"{}] output: \"y\" "
             "{} }}\n",
             p.more_inputs, attributes);
}

TEST_CASE("onnx blocks: MatMulNBits is written with the same integers, scales and zero points") {
  const std::string zeros = Integers("z", kU8, {3, 2}, 6, 0, 255);
  const std::string real_zeros = Scales("z", {3, 3});
  const std::string indices = Integers("g", kI32, {40}, 40, 0, 2);
  const std::string bias = fmt::format(
      "initializer {{ name: \"c\" data_type: {} dims: 3 float_data: [1, 2, 3] }}\n", kF32);
  const Product products[] = {
      {},
      {.bits = 8},
      {.bits = 2},
      {.more_inputs = ", \"z\"", .initializers = zeros},
      {.more_inputs = ", \"z\"", .initializers = real_zeros},
      {.more_inputs = ", \"\", \"g\"", .initializers = indices},
      {.more_inputs = ", \"z\", \"\", \"c\"", .initializers = zeros + bias},
      {.attributes = Int("accuracy_level", 4)},
      {.bits = 8, .k = 16, .block = 64},
  };
  for (const Product& p : products)
    for (const int64_t opset : {0, 13, 17, 21, 25}) {
      const std::string model = Model(p);
      CAPTURE(model);
      CAPTURE(opset);
      const Graph source = Import(model, 21, kContrib).graph;
      const Stored before = StoredIn(source);
      REQUIRE(before.source == BlockSource::kProduct);
      CHECK(before == StoredIn(WrittenIn(source, opset)));
    }
}

// ONNX Runtime has the operator of float16, which computes in float32 and rounds its result.
TEST_CASE("onnx blocks: MatMulNBits of float16 is written without casts") {
  const auto halves = [](std::string_view name, int64_t count) {
    std::vector<int> bits;  // 1, 1 + 2^-10, ...
    for (int64_t i = 0; i < count; ++i) bits.push_back(0x3C00 + static_cast<int>(i % 7));
    return fmt::format("initializer {{ name: \"{}\" data_type: {} dims: [{}] int32_data: [{}] }}\n",
                       name, kF16, count == 3 ? "3" : "3, 3", fmt::join(bits, ", "));
  };
  const std::string zeros = Integers("z", kU8, {3, 2}, 6, 0, 255);
  const std::string attributes = Int("K", 40) + Int("N", 3) + Int("bits", 4) +
                                 Int("block_size", 16) + "domain: \"com.microsoft\" ";
  const std::string around = Input("x", TypeOf(kF16, {"n", "40"})) + Node("Relu", {"x"}, {"a"}) +
                             Outputs({"y"}) + Integers("b", kU8, {3, 3, 8}, 72, 0, 255) +
                             halves("s", 9);
  const struct {
    std::string inputs, initializers;
  } rows[] = {
      {"", ""},
      {", \"z\"", zeros},
      {", \"z\"", halves("z", 9)},
      {", \"\", \"\", \"c\"", halves("c", 3)},
  };
  for (const auto& row : rows) {
    CAPTURE(row.inputs);
    const std::string model =
        around + row.initializers +
        fmt::format(
            "node {{ op_type: \"MatMulNBits\" input: [\"a\", \"b\", \"s\"{}] output: \"m\" "
            "{} }}\n",
            row.inputs, attributes) +
        Node("Neg", {"m"}, {"y"});
    const ImportedModel source = Import(model, 17, kContrib);
    const Format& onnx = *FindFormat("onnx");
    const auto image =
        onnx.writer.Write(source.graph, ExportOptions{.path = "m.onnx", .opset = 17});
    REQUIRE_MESSAGE(image.has_value(), image.error().message());
    const auto read = ReadModelBytes(image->Contents(), "m.onnx");
    REQUIRE_MESSAGE(read.has_value(), read.error().message());
    const auto& graph = static_cast<const onnx::Model&>(*read->model).proto.graph();
    REQUIRE(graph.node_size() == 3);
    CHECK(graph.node(1).op_type() == "MatMulNBits");
    for (const auto& t : graph.initializer()) {
      CAPTURE(t.name());
      const bool is_integer = t.data_type() == kU8;
      CHECK((is_integer || t.data_type() == kF16));
    }
    auto again = onnx.importer.Import(*read->model);
    REQUIRE_MESSAGE(again.has_value(), again.error().message());
    CHECK(StoredIn(again->graph) == StoredIn(source.graph));
  }
  // A result that is needed in float32, too.
  const Graph wide =
      Import(around + fmt::format("node {{ op_type: \"MatMulNBits\" input: [\"a\", \"b\", "
                                  "\"s\"] output: \"y\" {} }}\n",
                                  attributes),
             17, kContrib)
          .graph;
  CHECK(StoredIn(WrittenIn(wide, 17)).source == BlockSource::kProduct);
}

// ---- DequantizeLinear

struct Blocked {
  int type;
  int64_t axis;
  bool has_zeros;
};

// x[2, 64] times the weights, [64, 32] or, for axis 1, the transpose of [32, 64].
std::string Model(const Blocked& b, int64_t block = 32) {
  const bool is_byte = b.type == kI8 || b.type == kU8, is_signed = b.type == kI8 || b.type == kI4;
  const std::vector<int64_t> dims =
      b.axis == 0 ? std::vector<int64_t>{64, 32} : std::vector<int64_t>{32, 64};
  std::vector<int64_t> blocks = dims;
  int64_t& along = blocks[static_cast<size_t>(b.axis)];
  along = (along + block - 1) / block;
  const int64_t count = blocks[0] * blocks[1];
  const int64_t low = is_byte && is_signed ? -128 : 0, high = low + 255;  // of bytes
  const auto stored = [&](int64_t elements) { return is_byte ? elements : (elements + 1) / 2; };
  std::string text = Input("x", TypeOf(kF32, {"2", "64"})) + Outputs({"y"}) +
                     Integers("w", b.type, dims, stored(64 * 32), low, high) + Scales("s", blocks);
  if (b.has_zeros) text += Integers("z", b.type, blocks, stored(count), low, high);
  std::vector<std::string> inputs = {"w", "s"};
  if (b.has_zeros) inputs.emplace_back("z");
  text += Node("DequantizeLinear", inputs, {"d"}, Int("axis", b.axis) + Int("block_size", block));
  return text + Node("Gemm", {"x", "d"}, {"y"}, Int("transB", b.axis));
}

TEST_CASE("onnx blocks: DequantizeLinear is written with the same integers from 21 on") {
  for (const int type : {kI4, kU4, kI8, kU8})
    for (const int64_t axis : {0, 1})
      for (const bool has_zeros : {false, true}) {
        const std::string model = Model(Blocked{type, axis, has_zeros});
        CAPTURE(model);
        const Graph source = Import(model, 21).graph;
        const Stored before = StoredIn(source);
        REQUIRE(before.source == BlockSource::kTensor);
        for (const int64_t opset : {0, 21, 25}) CHECK(before == StoredIn(WrittenIn(source, opset)));
        // Older sets have no blocks, but a product that has.
        const Stored packed = StoredIn(WrittenIn(source, 17));
        CHECK(packed.source == BlockSource::kProduct);
        CHECK(packed.block == 32);
        CHECK(packed.bytes.size() == before.bytes.size());
        std::vector<double> same = before.numbers, numbers = packed.numbers;
        std::ranges::sort(same);
        std::ranges::sort(numbers);
        CHECK(numbers == same);
      }
}

TEST_CASE("onnx blocks: what no operator of the set has in blocks is written as numbers") {
  // MatMulNBits has blocks of 16, 32, 64, ... elements only.
  const Graph source = Import(Model(Blocked{kI4, 0, true}, 20), 21).graph;
  const Stored before = StoredIn(source);
  CHECK(before == StoredIn(WrittenIn(source, 0)));
  const Stored older = StoredIn(WrittenIn(source, 17));
  CHECK(older.source == BlockSource::kNone);
  CHECK(older.numbers == before.numbers);
}

TEST_CASE("onnx blocks: tensors of several axes and of float16") {
  const std::string blocks = Integers("w", kI4, {2, 6, 5}, 30, 0, 255) + Scales("s", {2, 2, 5});
  const std::string middle =
      Input("x", TypeOf(kF32, {"2", "6", "5"})) + Outputs({"y"}) + blocks +
      Node("DequantizeLinear", {"w", "s"}, {"d"}, Int("axis", 1) + Int("block_size", 4)) +
      Node("Add", {"x", "d"}, {"y"});
  const Graph source = Import(middle, 21).graph;
  CHECK(StoredIn(source).source == BlockSource::kTensor);
  CHECK(StoredIn(source) == StoredIn(WrittenIn(source, 0)));
  const std::string halves =
      Input("x", TypeOf(kF16, {"2", "8"})) + Outputs({"y"}) +
      Integers("w", kU8, {2, 8}, 16, 0, 255) +
      fmt::format(
          "initializer {{ name: \"s\" data_type: {} dims: [2, 2] int32_data: [15360, 11878, "
          "14336, 9000] }}\n",
          kF16) +
      Node("DequantizeLinear", {"w", "s"}, {"d"}, Int("axis", 1) + Int("block_size", 4)) +
      Node("Add", {"x", "d"}, {"y"});
  const Graph narrow = Import(halves, 21).graph;
  CHECK(StoredIn(narrow).source == BlockSource::kTensor);
  CHECK(StoredIn(narrow) == StoredIn(WrittenIn(narrow, 0)));
}

}  // namespace
}  // namespace nn::test::onnx_blocks_test
