#include "passes/quantize/quantize.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "ir/op_def.h"
#include "ir/text/text.h"
#include "ir/verify.h"
#include "passes/qdq/qdq.h"
#include "passes/quantize/prune.h"
#include "support/run_graph.h"

namespace nn::test::quantize_test {
namespace {

// Every value that needs a range gets this one.
ValueRanges SameRange(const Graph& g, const QuantizeOptions& options, ValueRange range = {-4, 4}) {
  ValueRanges out;
  for (const Value* v : ValuesToCalibrate(g, options)) out[v->id()] = range;
  return out;
}

std::string Operators(const Graph& g) {
  std::string out;
  for (const Node& node : g.nodes())
    if (!node.Is("quantize") && !node.Is("dequantize"))
      out += (out.empty() ? "" : " ") + std::string(node.op_name()) +
             (OnQuantizedTypes(node) ? ":i" : ":f");
  return out;
}

QuantizeSummary Quantize(Graph& g, const QuantizeOptions& options = {}) {
  auto done = QuantizeInt8(g, SameRange(g, options), options);
  REQUIRE_MESSAGE(done, (done ? std::string() : done.error().message()));
  REQUIRE(Verify(g));
  return *std::move(done);
}

const Value* ByName(const Graph& g, std::string_view name) {
  for (const Value& v : g.values())
    if (v.name() == name && v.type().quantized()) return &v;
  FAIL("no quantized value ", name);
  return nullptr;
}

constexpr std::string_view kConv = R"(graph { in %x: f32[1, 6, 6, 3]
  const %w: f32[4, 3, 3, 3] = seeded(1) const %b: f32[4] = seeded(2)
  %c = conv(%x, %w, %b) {layout = nxc, filter_layout = oxi} %r = relu(%c)
  %p = max_pool(%r) {layout = nxc, kernel = [2, 2], strides = [2, 2]}
  %s = sigmoid(%p) %e = exp(%p) out "s" = %s out "e" = %e })";

TEST_CASE("quantize: the smallest part of the weights becomes zero") {
  Graph g = Parse(R"(graph { in %x: f32[1, 16]
    const %w: f32[16, 16] = seeded(1) const %small: f32[2, 2] = [1, 2, 3, 4]
    %y = matmul(%x, %w) %r = reshape(%y) {dims = [8, 2]} %z = matmul(%r, %small) out "z" = %z })");
  const Tensor before = g.nodes().front().input(1)->constant();
  const auto done = QuantizeWeights(g, {.zeros = 0.75});
  REQUIRE(done.has_value());
  CHECK(done->weights == 1);
  REQUIRE(done->values.size() == 1);
  CHECK(done->values[0].type == "75 % zeros");
  const Tensor after = g.nodes().front().input(1)->constant();
  double largest_zero = 0, smallest_kept = 100;
  int zeros = 0;
  for (int64_t i = 0; i < 256; ++i) {
    const double was = before.GetDouble(i), is = after.GetDouble(i);
    if (is == 0) {
      ++zeros;
      largest_zero = std::max(largest_zero, std::abs(was));
    } else {
      CHECK(is == was);
      smallest_kept = std::min(smallest_kept, std::abs(was));
    }
  }
  CHECK(zeros == 192);
  CHECK(largest_zero <= smallest_kept);
  // Of equal magnitudes, the first ones.
  const auto equal = Pruned(Tensor::Of<float>({5}, {1, -1, 0.5F, 1, 1}), 0.6);
  REQUIRE(equal.has_value());
  CHECK(equal->ToDoubles() == std::vector<double>{0, 0, 0, 1, 1});
}

TEST_CASE("quantize: int8 operators with the scales of the specification") {
  Graph g = Parse(kConv);
  const QuantizeSummary done = Quantize(g);
  CHECK(done.operators == 4);
  CHECK(done.weights == 2);
  CHECK(done.floats == std::map<std::string, int64_t>{{"exp", 1}});
  const Quant& w = *ByName(g, "w")->type().quant;
  const Quant& b = *ByName(g, "b")->type().quant;
  CHECK(w.scales.size() == 4);
  CHECK(w.axis == 0);
  CHECK(w.zero_points.empty());
  REQUIRE(b.scales.size() == 4);
  CHECK(b.scales[1] == w.scales[1] * static_cast<float>(8.0 / 255));
  const Quant& s = *ByName(g, "s")->type().quant;
  CHECK(s.scale() == 1.0f / 256);
  CHECK(s.zero_point() == -128);
  // Elements that a pool selects have one scale.
  CHECK(ByName(g, "r")->type().quant->SameMapping(*ByName(g, "p")->type().quant));
  CHECK(LargestDifference(Parse(kConv), g) < 0.05);
  REQUIRE(FuseQdq(g));
  CHECK(Operators(g) == "conv:i relu:i max_pool:i sigmoid:i exp:f");
  CHECK(LargestDifference(Parse(kConv), g) < 0.05);
}

TEST_CASE("quantize: one scale for all weights, zero points of 0") {
  Graph g = Parse(kConv);
  QuantizeOptions options;
  options.per_tensor = options.symmetric = true;
  Quantize(g, options);
  CHECK(ByName(g, "w")->type().quant->scales.size() == 1);
  CHECK(ByName(g, "b")->type().quant->scales.size() == 1);
  CHECK(ByName(g, "p")->type().quant->zero_point() == 0);
  REQUIRE(FuseQdq(g));
  CHECK(Operators(g) == "conv:i relu:i max_pool:i sigmoid:i exp:f");
}

TEST_CASE("quantize: inputs and outputs, too") {
  Graph g = Parse(kConv);
  Quantize(g);
  REQUIRE(QuantizePorts(g));
  REQUIRE(Verify(g));
  CHECK(g.inputs()[0].value->dtype() == DType::kI8);
  CHECK(g.outputs()[0].value->dtype() == DType::kI8);
  CHECK(g.outputs()[1].value->dtype() == DType::kF32);
}

TEST_CASE("quantize: products of two values, and operators that stay") {
  constexpr std::string_view kAttention = R"(graph { in %q: f32[2, 4, 8] in %k: f32[2, 8, 4]
    const %w: f32[8, 8] = seeded(1) %s = matmul(%q, %k) %m = softmax(%s)
    %t = transpose(%k) {perm = [0, 2, 1]} %y = matmul(%m, %t) %z = matmul(%y, %w) "last"
    %l = layer_norm(%z) {axis = -1} %o = add(%l, %q) out "o" = %o })";
  Graph g = Parse(kAttention);
  QuantizeOptions options;
  options.keeps = [](const Node& node) { return node.name() == "last"; };
  const QuantizeSummary done = Quantize(g, options);
  CHECK(done.kept == 1);
  CHECK(done.floats == std::map<std::string, int64_t>{{"layer_norm", 1}});
  // The second operand of a product has zero point 0.
  CHECK(ByName(g, "t")->type().quant->zero_point() == 0);
  REQUIRE(FuseQdq(g));
  CHECK(Operators(g) == "matmul:i softmax:i transpose:i matmul:i matmul:f layer_norm:f add:i");
}

TEST_CASE("quantize: operators whose operands have fixed scales keep their ranges") {
  // Numbers up to 4 do not fit in the scale of the sigmoid.
  Graph g = Parse(R"(graph { in %x: f32[2, 8] %s = sigmoid(%x) %c = concat(%s, %x) {axis = 1}
    out "c" = %c })");
  const QuantizeSummary done = Quantize(g);
  CHECK(done.operators == 1);
  CHECK(done.floats == std::map<std::string, int64_t>{{"concat", 1}});
}

TEST_CASE("quantize: biases that exceed 32 bits widen the scale of the weights") {
  Graph g = Parse(R"(graph { in %x: f32[2, 4] const %w: f32[4, 2] = [1e-9, 0, 1e-9, 0, 1e-9, 0,
    1e-9, 0] const %b: f32[2] = [3, 0] %y = matmul(%x, %w, %b) out "y" = %y })");
  const Graph want = g.Clone();
  Quantize(g);
  CHECK(LargestDifference(want, g) < 0.02);
}

TEST_CASE("quantize: ranges include 0") {
  const auto q = Int8Quant({1, 4}, false);
  CHECK(q->scale() == static_cast<float>(4.0 / 255));
  CHECK(q->zero_point() == -128);
  CHECK(Int8Quant({-4, -1}, false)->zero_point() == 127);
  CHECK(Int8Quant({-1, 4}, true)->scale() == static_cast<float>(4.0 / 127));
  CHECK(Int8Quant({0, 0}, false)->scale() == 1.0f);
}

constexpr std::string_view kProduct = R"(graph { in %x: f32[3, 64] in %i: i32[3]
  const %t: f32[40, 64] = seeded(3) const %w: f32[64, 32] = seeded(1) const %b: f32[32] = seeded(2)
  %e = gather(%t, %i) {axis = 0} %s = add(%x, %e) %y = matmul(%s, %w, %b) "product"
  out "y" = %y })";

TEST_CASE("quantize: weights as integers") {
  double last = 0;
  for (const DType type : {DType::kI8, DType::kI4}) {
    Graph g = Parse(kProduct);
    QuantizeOptions options;
    options.type = type;
    const auto done = QuantizeWeights(g, options);
    REQUIRE(done);
    REQUIRE(Verify(g));
    CHECK(done->weights == 2);
    CHECK(ByName(g, "w")->dtype() == type);
    CHECK(ByName(g, "w")->type().quant->axis == 1);
    const double difference = LargestDifference(Parse(kProduct), g);
    CHECK(difference > last);
    CHECK(difference < (type == DType::kI8 ? 0.1 : 1.5));
    last = difference;
  }
}

TEST_CASE("quantize: blocks of weights") {
  Graph channels = Parse(kProduct);
  Graph blocks = Parse(kProduct);
  QuantizeOptions options;
  options.type = DType::kI4;
  const auto by_channel = QuantizeWeights(channels, options);
  options.block = 16;
  const auto by_block = QuantizeWeights(blocks, options);
  REQUIRE(by_block);
  REQUIRE(Verify(blocks));
  CHECK(ByName(blocks, "w")->type().quant->scales.size() == 32 * 4);
  for (size_t i = 0; i < 2; ++i) CHECK(*by_block->values[i].snr_db > *by_channel->values[i].snr_db);
  CHECK(LargestDifference(Parse(kProduct), blocks) < 1.5);
}

TEST_CASE("quantize: weights of operators that stay") {
  Graph g = Parse(kProduct);
  QuantizeOptions options;
  options.keeps = [](const Node& node) { return node.name() == "product"; };
  const auto done = QuantizeWeights(g, options);
  REQUIRE(done);
  CHECK(done->weights == 1);
  CHECK(done->kept == 1);
}

TEST_CASE("equalize: channels between products") {
  constexpr std::string_view kPair = R"(graph { in %x: f32[1, 3, 6, 6]
    const %w: f32[2, 3, 1, 1] = [8, 4, 2, 0.25, 0.125, 0.5] const %b: f32[2] = [1, -1]
    const %d: f32[2, 1, 3, 3] = seeded(1) const %v: f32[4, 2, 1, 1] = seeded(2)
    %c = conv(%x, %w, %b) %r = relu(%c) %e = conv(%r, %d) {groups = 2} %y = conv(%e, %v)
    out "y" = %y })";
  Graph g = Parse(kPair);
  const auto pairs = EqualizeChannels(g, nullptr);
  REQUIRE(pairs);
  CHECK(*pairs >= 1);
  REQUIRE(Verify(g));
  // The factors are powers of two, so nothing is rounded.
  CHECK(LargestDifference(Parse(kPair), g) == 0);
  const auto kept = EqualizeChannels(g, [](const Node&) { return true; });
  CHECK(*kept == 0);
}

}  // namespace
}  // namespace nn::test::quantize_test
