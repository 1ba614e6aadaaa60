#include "ops/quant/block_weights.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "ir/eval.h"
#include "ir/op_def.h"
#include "support/run_graph.h"

namespace nn::test::block_weights_test {
namespace {

// All bytes, computed in pieces of `piece` numbers.
std::vector<float> Computed(const BlockWeights& w, size_t piece) {
  std::vector<float> out(static_cast<size_t>(w.rows * w.columns));
  const auto bytes = std::as_writable_bytes(std::span(out));
  for (size_t at = 0; at < bytes.size(); at += piece * sizeof(float))
    w.Compute(at, bytes.subspan(at, std::min(piece * sizeof(float), bytes.size() - at)));
  return out;
}

TEST_CASE("block weights: the numbers of dequantize, of every type and axis") {
  for (const char* type : {"i8", "u8", "i4", "u4", "i2", "u2"})
    for (const char* quant :
         {"scale=0.3, zp=1", "axis=0, scale=[0.1, 0.2, 0.7], zp=[0, 1, 1]",
          "axis=1, scale=[0.5, 0.3], zp=[1, 0]", "axis=2, scale=[0.3, 0.1, 0.2, 0.5]"}) {
      CAPTURE(type);
      CAPTURE(quant);
      const bool is_last = std::string(quant).starts_with("axis=2");
      const Graph graph =
          Parse(fmt::format("graph {{ in %x: f32[1]  const %q: {}[{}]{{{}}} = seeded(3)  "
                            "%y = dequantize(%q)  out \"y\" = %y }}",
                            type, is_last ? "3, 1500, 4" : "3, 2, 3001", quant));
      const Node& node = *graph.outputs()[0].value->def();
      const Value* q = node.input(0);
      const auto want = EvalNode(node, {&q->constant()});
      REQUIRE(want.has_value());
      const auto weights = WeightsOf(q->constant(), *q->type().quant);
      REQUIRE(weights.has_value());
      const auto numbers = want->front().As<float>();
      for (const size_t piece : {size_t{1} << 20, size_t{7}, size_t{3001}}) {
        const std::vector<float> got = Computed(*weights, piece);
        REQUIRE(got.size() == numbers.size());
        CHECK(std::memcmp(got.data(), numbers.data(), numbers.size_bytes()) == 0);
      }
      const auto tensor = TensorOf(*weights, q->constant().dims());
      REQUIRE(tensor.has_value());
      CHECK(tensor->blob().is_deferred());
      CHECK(tensor->Identical(want->front()));
    }
}

TEST_CASE("block weights: blocks along several axes") {
  std::vector<int8_t> integers;
  for (int i = 0; i < 130 * 150; ++i) integers.push_back(static_cast<int8_t>(i * 37 % 251 - 125));
  std::vector<float> scales;
  for (int i = 0; i < 44 * 10; ++i) scales.push_back(0.25f + static_cast<float>(i));
  const auto weights = WeightsOf(Tensor::Of<int8_t>({130, 150}, integers), {{3, 16}, scales, {-2}});
  REQUIRE(weights.has_value());
  const std::vector<float> got = Computed(*weights, 1000);
  for (size_t r = 0; r < 130; ++r)
    for (size_t c = 0; c < 150; ++c)
      REQUIRE(got[r * 150 + c] ==
              static_cast<float>(integers[r * 150 + c] + 2) * scales[r / 3 * 10 + c / 16]);
  const std::vector<float> transposed = Computed(Transposed(*weights), 1000);
  for (size_t r = 0; r < 130; ++r)
    for (size_t c = 0; c < 150; ++c) REQUIRE(transposed[c * 130 + r] == got[r * 150 + c]);
}

TEST_CASE("block weights: few, wide or far integers are computed by operators") {
  CHECK_FALSE(WeightsOf(Tensor::Of<int8_t>({2}, {1, 2}), Quant{{1}, {}, -1, {}, {}}));
  const Tensor wide = Tensor::Of<int16_t>({40000}, std::vector<int16_t>(40000, 3));
  CHECK_FALSE(WeightsOf(wide, Quant{{1}, {}, -1, {}, {}}));
  const Tensor bytes = Tensor::Of<int8_t>({40000}, std::vector<int8_t>(40000, 3));
  CHECK(WeightsOf(bytes, Quant{{1}, {}, -1, {}, {}}));
  CHECK_FALSE(WeightsOf(bytes, Quant{{1}, {int64_t{1} << 40}, -1, {}, {}}));
}

}  // namespace
}  // namespace nn::test::block_weights_test
