// Integers, comparisons and orders in float32, for NNAPI 1.0: the results are exact.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "formats/format.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::nnapi_integers_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<float>::max();
constexpr double kTiny = 0x1p-149;

std::vector<UnsupportedNode> Legalized(Graph& graph) {
  InterfaceAxes axes;
  const auto unsupported = Legalize(graph, *FindFormat("nnapi")->target, &axes);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  return *unsupported;
}

std::vector<double> Numbers(const Tensor& t) {
  std::vector<double> out;
  for (int64_t i = 0; i < t.elements(); ++i) out.push_back(t.GetDouble(i));
  return out;
}

struct ExactRow {
  std::string graph;  // its body
  std::vector<std::vector<double>> inputs;
};

// Numbers that are close, equal, infinite, zeros, and too small to be scaled down.
const std::vector<double> kEdges = {1,         -1, 0,      -0.0,     kTiny,      -kTiny,
                                    kInfinity, 1,  -1e-40, kLargest, -kInfinity, -kLargest};

const ExactRow kExact[] = {
    {"in %x: f32[1, 12]\n%y = arg_max(%x) {axis = 1}", {kEdges}},
    {"in %x: f32[1, 12]\n%y = arg_min(%x) {axis = 1}", {kEdges}},
    {"in %x: f32[2, 6]\n%y = arg_max(%x) {axis = 0, output_type = i32}", {kEdges}},
    {"in %x: f32[3, 4]\n%y = arg_max(%x) {axis = 1, select_last_index = true, keep_dims = false}",
     {kEdges}},
    {"in %x: f32[1, 3]\n%y = arg_max(%x) {axis = 1}", {{-kInfinity, -kInfinity, -kInfinity}}},
    {"in %x: f32[1, 3]\n%y = arg_max(%x) {axis = 1, select_last_index = true}",
     {{-kInfinity, -kInfinity, -kInfinity}}},
    {"in %x: f32[1, 3]\n%y = arg_max(%x) {axis = 1}", {{kLargest, kInfinity, kInfinity}}},
    {"in %x: f32[1, 4]\n%y = arg_max(%x) {axis = 1}", {{0, kTiny, kTiny, -kTiny}}},
    {"in %x: f32[12, 1]\nin %z: f32[12]\n%y = equal(%x, %z)", {kEdges, kEdges}},
    {"in %x: f32[12, 1]\nin %z: f32[12]\n%y = less(%x, %z)", {kEdges, kEdges}},
    {"in %x: f32[12, 1]\nin %z: f32[12]\n%y = greater_equal(%x, %z)", {kEdges, kEdges}},
    {"in %x: f32[12]\nconst %z: f32[] = [0]\n%y = not_equal(%x, %z)", {kEdges}},
    {"in %x: f32[12, 1]\nin %z: f32[12]\n%c = greater(%x, %z)\n%y = select(%c, %x, %z)",
     {kEdges, kEdges}},
    {"in %x: f32[12]\nconst %k: i64[1] = [12]\n%v, %y = top_k(%x, %k)", {kEdges}},
    {"in %x: f32[12]\nconst %k: i64[1] = [5]\n%y, %i = top_k(%x, %k) {largest = false}", {kEdges}},
    {"in %x: f32[9]\n%y = cast(%x) {to = i32}",
     {{0.5, -0.5, 1.5, -1.5, 16777217, -3, 3, 2.9999, -2.9999}}},
    {"in %x: f32[6]\n%y = cast(%x) {to = u8}", {{-3, 0.9, 254.9, 255, 256, 1e10}}},
    {"in %x: f32[12]\n%y = cast(%x) {to = bool}", {kEdges}},
    {"in %x: i8[8]\nconst %d: i8[] = [7]\n%y = floor_div(%x, %d)",
     {{-128, -8, -7, -1, 0, 6, 7, 127}}},
    {"in %x: i8[8]\nconst %d: i8[] = [-7]\n%y = mod(%x, %d)", {{-128, -8, -7, -1, 0, 6, 7, 127}}},
    {"in %x: i8[8]\nconst %d: i8[] = [7]\n%y = mod(%x, %d)", {{-128, -8, -7, -1, 0, 6, 7, 127}}},
    {"in %x: i8[8]\nconst %d: i8[] = [7]\n%y = fmod(%x, %d)", {{-128, -8, -7, -1, 0, 6, 7, 127}}},
    {"in %x: i8[8]\nconst %d: i8[] = [-7]\n%y = div(%x, %d)", {{-128, -8, -7, -1, 0, 6, 7, 127}}},
    // Narrow integers wrap, also where other operators or types follow.
    {"in %x: i8[4]\nconst %k: i8[] = [100]\n%y = add(%x, %k)", {{100, -100, 27, 28}}},
    {"in %x: i8[4]\n%m = mul(%x, %x)\n%y = cast(%m) {to = i16}", {{100, -100, 5, -128}}},
    {"in %x: i8[4]\n%m = mul(%x, %x)\n%y = less(%m, %x)", {{100, -100, 5, -128}}},
    {"in %x: u8[4]\nconst %k: u8[] = [50]\n%d = sub(%x, %k)\n%y = cast(%d) {to = f32}",
     {{0, 49, 50, 255}}},
    {"in %x: i8[3]\n%n = neg(%x)\n%a = abs(%n)\n%y = maximum(%a, %x)", {{-128, 127, 5}}},
    {"in %x: u8[2, 3]\n%s = reduce_sum(%x) {axes = [1]}\n%y = minimum(%s, %x)",
     {{200, 100, 3, 1, 2, 3}}},
    {"in %x: i8[3]\nconst %d: i8[] = [-1]\n%q = div(%x, %d)\n%y = cast(%q) {to = i16}",
     {{-128, 127, 5}}},
    {"in %x: i16[4]\n%y = cast(%x) {to = i8}", {{300, -300, 127, -129}}},
    {"in %a: bool[4]\nin %b: bool[4]\n%y = xor(%a, %b)", {{0, 0, 1, 1}, {0, 1, 0, 1}}},
    {"in %a: bool[4]\nin %b: bool[4]\n%y = or(%a, %b)", {{0, 0, 1, 1}, {0, 1, 0, 1}}},
    {"in %a: bool[2, 2]\n%n = not(%a)\n%y = reduce_all(%n) {axes = [1]}", {{0, 0, 0, 1}}},
    // A computed index of a vector, as a pose network has it.
    {"in %x: f32[1, 6]\nin %d: f32[2, 3, 2]\nconst %n: i64[] = [3]\n"
     "%i = arg_max(%x) {axis = 1, keep_dims = false}\n%r = floor_div(%i, %n)\n%m = mul(%r, %n)\n"
     "%c = sub(%i, %m)\n%a = expand_dims(%r) {axes = [1]}\n%b = expand_dims(%c) {axes = [1]}\n"
     "%v = concat(%a, %b) {axis = 1}\n%y = gather_nd(%d, %v)",
     {{0, 1, 2, 3, 9, 4}, kEdges}},
};

TEST_CASE("nnapi integers: results are exact") {
  for (const ExactRow& row : kExact) {
    CAPTURE(row.graph);
    Graph graph = Parse("graph \"g\" {\n" + row.graph + "\nout \"y\" = %y\n}");
    const auto want = RunEverywhere(graph, InputsOf(graph, row.inputs));
    const auto unsupported = Legalized(graph);
    REQUIRE_MESSAGE(unsupported.empty(), unsupported[0].reason);
    CHECK(graph.outputs()[0].value->dtype() == DType::kF32);
    const auto got = RunEverywhere(graph, InputsOf(graph, row.inputs));
    CHECK(Numbers(got[0]) == Numbers(want[0]));
  }
}

TEST_CASE("nnapi integers: what float32 cannot do is refused by name") {
  struct RefusedRow {
    std::string graph, reason;
  };
  const RefusedRow rows[] = {
      // The sum of two inputs may be beyond 2^24.
      {"in %a: i32[4]\nin %b: i32[4]\n%s = add(%a, %b)\n%y = equal(%s, %b)",
       "float32 may not represent its integers exactly"},
      // A difference that wraps to a number beyond 2^24.
      {"in %a: u32[4]\nconst %k: u32[] = [5]\n%s = sub(%a, %k)\n%y = cast(%s) {to = f32}",
       "float32 may not represent its integers exactly"},
      // The remainder of a divisor that may be 0.
      {"in %a: i32[4]\nin %b: i32[4]\n%y = mod(%a, %b)",
       "float32 may not represent its integers exactly"},
      {"in %x: f32[4]\nconst %k: f32[1] = [nan]\n%z = concat(%x, %k)\n%y = arg_max(%z)",
       "its decomposition does not handle NaN constants"},
      {"in %x: f32[2, 4]\nin %c: bool[2, 4]\n%s = softmax(%x)\nconst %z: f32[] = [0]\n"
       "%y = select(%c, %s, %z)",
       "its decomposition propagates NaN of both operands"},
      // The softmax of scores that are all -infinity, which a mask adds: the mask is a formula by
      // then.
      {"in %x: f32[2, 3]\nin %v: bool[2, 3]\nin %e: bool[2, 1]\nconst %z: f32[] = [0]\n"
       "const %n: f32[] = [-inf]\n%t = tanh(%x)\n%b = select(%v, %z, %n)\n%w = add(%t, %b)\n"
       "%s = softmax(%w)\n%y = select(%e, %z, %s)",
       "its decomposition propagates NaN of both operands"},
      {"in %x: f32[n, 4]\n%y = arg_max(%x)", "use --batch or --input-shape"},
      {"in %x: f32[2048]\nconst %k: i64[1] = [2]\n%v, %y = top_k(%x, %k)",
       "too large for its decomposition"},
  };
  for (const RefusedRow& row : rows) {
    CAPTURE(row.graph);
    Graph graph = Parse("graph \"g\" {\n" + row.graph + "\nout \"y\" = %y\n}");
    bool found = false;
    std::string reasons;
    for (const UnsupportedNode& node : Legalized(graph)) {
      found |= node.reason.find(row.reason) != std::string::npos;
      reasons += node.reason + "\n";
    }
    CHECK_MESSAGE(found, reasons);
  }
}

TEST_CASE("nnapi integers: indices of lookups stay integers") {
  Graph graph = Parse(R"(graph "g" {
    in %i "i": i32[3]
    const %table: i64[4, 2] = [5, 6, 7, 8, 9, 10, 11, 12]
    %y = gather(%table, %i)
    out "y" = %y
  })");
  CHECK(Legalized(graph).empty());
  CHECK(graph.inputs()[0].value->dtype() == DType::kI32);
  CHECK(graph.outputs()[0].value->dtype() == DType::kF32);
}

}  // namespace
}  // namespace nn::test::nnapi_integers_test
