// Which operators must stay float32.
#include "against/search_dtype.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/run_graph.h"
#include "tensorio/compare.h"

namespace nn::test::search_dtype_test {
namespace {

against::AcceptsOutputs Within(double rtol) {
  return [rtol](const std::vector<Tensor>& want, const std::vector<Tensor>& got) {
    for (size_t i = 0; i < want.size(); ++i)
      if (!Compare(want[i], got[i], ScaledTolerance(0, rtol, want[i])).agrees) return false;
    return true;
  };
}

// The operators that stay, by their values.
std::string Staying(const std::string& text, DType dtype, double rtol) {
  const Graph graph = Parse(text);
  const auto found =
      against::SearchDtype(graph.Clone(), dtype, InputsOf(graph, {}), {}, Within(rtol));
  REQUIRE_MESSAGE(found.has_value(), found.error().message());
  CHECK(Within(rtol)(found->want, found->got));
  std::string out;
  for (const auto& o : found->operators)
    if (o.stays) out += o.value + " ";
  return out;
}

TEST_CASE("search: overflow of f16, which bf16 does not have") {
  // b exceeds 65504; the rest does not.
  const std::string text = R"(graph {
    in %x: f32[8]
    const %large: f32[1] = [100000]
    const %small: f32[1] = [0.00001]
    %a = sigmoid(%x)
    %b = mul(%a, %large)
    %t = reshape(%b) {dims=[2, 4]}
    %c = mul(%t, %small)
    %d = tanh(%c)
    out "d" = %d
  })";
  CHECK(Staying(text, DType::kF16, 0.01) == "b c ");
  CHECK(Staying(text, DType::kBF16, 0.02) == "");
}

TEST_CASE("search: nothing must stay, or everything") {
  const std::string text =
      "graph { in %x: f32[8]  %a = tanh(%x)  %b = exp(%a)  %c = sigmoid(%b)  out \"c\" = %c }";
  CHECK(Staying(text, DType::kF16, 0.01) == "");
  CHECK(Staying(text, DType::kF16, 0) == "a b c ");
}

TEST_CASE("search: two branches, one of which loses its digits") {
  // 1 + x - 1 has no digits of a small x left.
  const std::string text = R"(graph {
    in %x: f32[8]
    const %k: f32[1] = [0.0001]
    const %one: f32[1] = [1]
    %s = mul(%x, %k)
    %p = add(%s, %one)
    %q = sub(%p, %one)
    %y = tanh(%q)
    %z = sigmoid(%x)
    out "y" = %y
    out "z" = %z
  })";
  CHECK(Staying(text, DType::kF16, 0.01) == "p q ");
}

TEST_CASE("search: a model without float32") {
  const Graph graph = Parse("graph { in %x: i64[2]  %y = add(%x, %x)  out \"y\" = %y }");
  const auto found =
      against::SearchDtype(graph.Clone(), DType::kF16, InputsOf(graph, {}), {}, Within(1));
  CHECK(found.error().code() == ErrorCode::kUsage);
}

}  // namespace
}  // namespace nn::test::search_dtype_test
