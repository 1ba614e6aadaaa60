#include "ops/math/random.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "numeric/philox.h"
#include "support/run_graph.h"

namespace nn::test::random_test {
namespace {

// The known answers published with the generator.
TEST_CASE("Philox4x32-10: known answers") {
  CHECK(Philox(0).Block(0) == Philox::Words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8});
  CHECK(Philox(~uint64_t{0}, ~uint64_t{0}).Block(~uint64_t{0}) ==
        Philox::Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD});
  CHECK(Philox(0x299F31D0A4093822, 0x0370734413198A2E).Block(0x85A308D3243F6A88) ==
        Philox::Words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1});
}

std::vector<double> NumbersOf(std::string_view op) {
  const Graph g = Parse(fmt::format(R"(graph {{ %y = {}  out "y" = %y }})", op));
  const auto outputs = RunEverywhere(g, {});
  std::vector<double> out;
  for (int64_t i = 0; i < outputs[0].elements(); ++i) out.push_back(outputs[0].GetDouble(i));
  return out;
}

struct Moments {
  double mean = 0, variance = 0, least = INFINITY, most = -INFINITY;
};

Moments MomentsOf(const std::vector<double>& x) {
  Moments m;
  const auto n = static_cast<double>(x.size());
  for (const double v : x) {
    m.mean += v / n;
    m.least = std::min(m.least, v);
    m.most = std::max(m.most, v);
  }
  for (const double v : x) m.variance += (v - m.mean) * (v - m.mean) / n;
  return m;
}

// The first words of key 7, in the documented form.
TEST_CASE("random_uniform: from the words of the generator") {
  const auto y = NumbersOf("random_uniform() {dims = [6], seed = 7, seed2 = 9}");
  REQUIRE(y.size() == 6);
  for (size_t i = 0; i < 6; ++i)
    CHECK(y[i] == (Philox(7, 9).Block(i / 4)[i % 4] & 0x7FFFFF) * 0x1p-23);
}

// Moments of 100,000 numbers are within five deviations of their own.
TEST_CASE("random_uniform, random_normal: moments") {
  for (const int seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Moments u =
        MomentsOf(NumbersOf(fmt::format("random_uniform() {{dims = [100000], seed = {}}}", seed)));
    CHECK(std::fabs(u.mean - 0.5) < 5 * std::sqrt(1.0 / 12 / 1e5));
    CHECK(std::fabs(u.variance - 1.0 / 12) < 5 * std::sqrt(1.0 / 180 / 1e5));
    CHECK(u.least >= 0);
    CHECK(u.least < 0.001);
    CHECK(u.most < 1);
    CHECK(u.most > 0.999);
    const Moments n = MomentsOf(NumbersOf(
        fmt::format("random_normal() {{dims = [100000], mean = 3, scale = 2, seed = {}}}", seed)));
    CHECK(std::fabs(n.mean - 3) < 5 * 2 * std::sqrt(1 / 1e5));
    CHECK(std::fabs(n.variance - 4) < 5 * 4 * std::sqrt(2 / 1e5));
    CHECK(n.least > 3 - 2 * 6);
    CHECK(n.least < 3 - 2 * 3.5);
    CHECK(n.most > 3 + 2 * 3.5);
    CHECK(n.most < 3 + 2 * 6);
  }
}

TEST_CASE("random_uniform: range and type") {
  const Moments m = MomentsOf(
      NumbersOf("random_uniform() {dims = [10000], low = -3, high = 5, dtype = f64, seed = 4}"));
  CHECK(m.least >= -3);
  CHECK(m.least < -2.9);
  CHECK(m.most <= 5);
  CHECK(m.most > 4.9);
  CHECK(Fails(R"(graph { %y = random_uniform() {low = -3e38, high = 3e38}  out "y" = %y })",
              "not finite"));
  CHECK(Fails(R"(graph { %y = random_uniform() {dtype = i32}  out "y" = %y })",
              "random numbers of type i32 are not supported"));
  CHECK(Fails(R"(graph { %y = random_uniform() {dims = [-1]}  out "y" = %y })", "negative"));
  CHECK(Fails(R"(graph { in %s: i64[65]  %y = random_normal(%s)  out "y" = %y })", "limit"));
}

TEST_CASE("random numbers: a shape that is negative at run time is an error") {
  const Graph g = Parse(R"(graph { in %s: i64[2]  %y = random_uniform(%s)  out "y" = %y })");
  CheckSameError(g, {Tensor::Ints({2, -1})});
}

TEST_CASE("bernoulli: shares of ones") {
  const Graph g = Parse(R"(graph {
    const %p: f32[3, 1] = [0, 0.3, 1]
    %q = expand(%p) {dims = [3, 20000]}
    %y = bernoulli(%q) {seed = 5, dtype = bool}
    out "y" = %y
  })");
  const auto y = RunEverywhere(g, {});
  int64_t ones[3] = {};
  for (int64_t i = 0; i < 60000; ++i) ones[i / 20000] += y[0].GetInt(i);
  CHECK(ones[0] == 0);
  CHECK(std::abs(ones[1] - 6000) < 5 * std::sqrt(20000 * 0.3 * 0.7));
  CHECK(ones[2] == 20000);
}

TEST_CASE("multinomial: shares of classes") {
  const Graph g = Parse(R"(graph {
    in %x: f32[2, 4]
    %y = multinomial(%x) {count = 40000, seed = 5}
    out "y" = %y
  })");
  const auto y =
      RunEverywhere(g, {Tensor::Of<float>({2, 4}, {0, std::log(2.0f), -INFINITY, std::log(5.0f),  //
                                                   1000, NAN, 1000, INFINITY})});
  int64_t counts[2][4] = {};
  for (int64_t i = 0; i < 80000; ++i) ++counts[i / 40000][y[0].GetInt(i)];
  const double shares[2][4] = {{0.125, 0.25, 0, 0.625}, {0.5, 0, 0.5, 0}};
  for (int row = 0; row < 2; ++row)
    for (int k = 0; k < 4; ++k) {
      CAPTURE(row);
      CAPTURE(k);
      const double p = shares[row][k];
      CHECK(std::fabs(static_cast<double>(counts[row][k]) - 40000 * p) <=
            5 * std::sqrt(40000 * p * (1 - p)));
    }
}

TEST_CASE("multinomial: without a finite logit, the last class") {
  CheckCase({"none",
             OneOp("f32[1, 3]", "multinomial(%x) {count = 2}"),
             {{-INFINITY, NAN, INFINITY}},
             {{2, 2}}});
  CHECK(Fails(R"(graph { in %x: f32[2, 0]  %y = multinomial(%x)  out "y" = %y })", "no classes"));
  CHECK(Fails(R"(graph { in %x: f32[2]  %y = multinomial(%x)  out "y" = %y })", "a matrix"));
  CHECK(Fails(R"(graph { in %x: f32[2, 3]  %y = multinomial(%x) {count = -1}  out "y" = %y })",
              "-1 samples"));
}

TEST_CASE("seeds: of files with one seed") {
  for (const int64_t seed : {0, 1, -1, 77}) CHECK(SingleSeed(SeedsOf(seed)) == seed);
  CHECK(!(SeedsOf(0) == Seeds()));
  CHECK(!SingleSeed(Seeds()));
  CHECK(!SingleSeed({3, 4}));
}

}  // namespace
}  // namespace nn::test::random_test
