// Models with keys and values of earlier tokens: what they compute token by token is what they
// compute for all tokens at once.
#include <doctest/doctest.h>

#include <vector>

#include "exec/program.h"
#include "passes/core/passes.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/run_graph.h"

namespace nn::test::cache_test {
namespace {

constexpr int64_t kTokens = 6;

Graph Stored(const std::string& name) {
  return Parse(ReadText(SourcePath("tests/golden/graphs/") + name + ".graph"));
}

std::vector<Tensor> Run(const Graph& graph, const std::vector<Tensor>& inputs) {
  auto program = Program::Compile(graph, {});
  REQUIRE_MESSAGE(program.has_value(), program.error().message());
  auto outputs = program->Run(inputs);
  REQUIRE_MESSAGE(outputs.has_value(), outputs.error().message());
  return *std::move(outputs);
}

// Part `i` of an array of one batch, along the axis behind it.
Tensor Token(const Tensor& x, int64_t i) {
  const int64_t size = x.dims()[2];
  const auto all = x.As<float>();
  const auto part = all.subspan(static_cast<size_t>(i * size), static_cast<size_t>(size));
  return Tensor::Of<float>({1, 1, size}, std::vector<float>(part.begin(), part.end()));
}

TEST_CASE("cache: a decoder whose keys and values grow") {
  Graph whole = Stored("decoder");
  REQUIRE(BindSymbols(whole, {{"tokens", kTokens}, {"past", 0}}).has_value());
  const std::vector<Tensor> inputs = InputsOf(whole, {});
  const std::vector<Tensor> expected = Run(whole, inputs);
  std::vector<Tensor> cached = {inputs[1], inputs[2]};
  for (int64_t i = 0; i < kTokens; ++i) {
    CAPTURE(i);
    Graph step = Stored("decoder");
    REQUIRE(BindSymbols(step, {{"tokens", 1}, {"past", i}}).has_value());
    const std::vector<Tensor> results = Run(step, {Token(inputs[0], i), cached[0], cached[1]});
    const Tensor want = Token(expected[0], i);
    REQUIRE(results[0].elements() == want.elements());
    for (int64_t k = 0; k < want.elements(); ++k)
      CHECK(results[0].GetDouble(k) == want.GetDouble(k));
    cached = {results[1], results[2]};
  }
  for (size_t i = 0; i < 2; ++i)
    for (int64_t k = 0; k < cached[i].elements(); ++k)
      CHECK(cached[i].GetDouble(k) == expected[1 + i].GetDouble(k));
}

// Places that no token has written to have no effect.
TEST_CASE("cache: keys and values in arrays of fixed sizes") {
  const Graph graph = Stored("cache");
  const std::vector<Tensor> seeded = InputsOf(graph, {});
  const auto fill = [&](double v) {
    return Tensor::Of<float>(
        seeded[1].dims(),
        std::vector<float>(static_cast<size_t>(seeded[1].elements()), static_cast<float>(v)));
  };
  std::vector<Tensor> zeros = {fill(0), fill(0)}, others = {fill(3), fill(-2)};
  for (int64_t i = 0; i < kTokens; ++i) {
    CAPTURE(i);
    const Tensor place = Tensor::Of<int64_t>({1}, {i});
    const auto a = Run(graph, {seeded[0], zeros[0], zeros[1], place});
    const auto b = Run(graph, {seeded[0], others[0], others[1], place});
    for (int64_t k = 0; k < a[0].elements(); ++k) CHECK(a[0].GetDouble(k) == b[0].GetDouble(k));
    zeros = {a[1], a[2]};
    others = {b[1], b[2]};
  }
  // Token i of each head is at place i, and nothing behind the last one.
  for (int64_t i = 0; i < zeros[0].elements(); ++i) {
    const bool written = i / 8 % 16 < kTokens;
    CHECK((zeros[0].GetDouble(i) != 0) == written);
    CHECK((others[1].GetDouble(i) != -2) == written);
  }
}

}  // namespace
}  // namespace nn::test::cache_test
