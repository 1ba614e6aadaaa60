// Multiply-adds of models whose runs decide between branches.
#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "formats/onnx/text.h"
#include "ir/run_cost.h"

namespace nn::test::branch_cost_test {
namespace {

using namespace onnx_text;

// x is f32[2, 4]: 2 x 4 x 4 multiply-adds.
std::string Product(const std::string& x, const std::string& y) {
  return Node("MatMul", {x, "w"}, {y});
}

std::string If(const std::string& condition, const std::string& y, const std::string& yes,
               const std::string& no) {
  return Node("If", {condition}, {y},
              Subgraph("then_branch", yes + Outputs({y + "_yes"})) +
                  Subgraph("else_branch", no + Outputs({y + "_no"})));
}

std::optional<uint64_t> CostOf(const std::string& nodes, const std::string& rows = "2") {
  return MultiplyAddsOf(Import(nodes +
                               "initializer { name: \"w\" data_type: 1 dims: [4, 4] "
                               "float_data: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, "
                               "14, 15, 16] }\n" +
                               Input("x", TypeOf(kF32, {rows, "4"})) +
                               Input("c", TypeOf(kBool, {})) + Input("d", TypeOf(kBool, {})) +
                               Outputs({"y"}))
                            .graph);
}

TEST_CASE("multiply-adds: a run takes one branch, the larger one counts") {
  const std::string one = Product("x", "y_no");
  const std::string two = Product("x", "t") + Product("t", "y_yes");
  CHECK(CostOf(If("c", "y", Product("x", "y_yes"), one)) == 32);
  CHECK(CostOf(If("c", "y", two, one)) == 64);
  CHECK(CostOf(If("c", "y", Node("Neg", {"x"}, {"y_yes"}), one)) == 32);
  // What is computed outside, even for one branch only, is computed in every run.
  const std::string before = Product("x", "t");
  CHECK(CostOf(before + If("c", "y", Node("Neg", {"t"}, {"y_yes"}), one)) == 64);
  CHECK(CostOf(If("c", "z", Product("x", "z_yes"), Product("x", "z_no")) + Product("z", "y")) ==
        64);
  CHECK(!CostOf(If("c", "y", two, one), "n").has_value());
}

TEST_CASE("multiply-adds: nested branches, and branches one after another") {
  const std::string two = Product("x", "t") + Product("t", "z_yes");
  const std::string inner = If("d", "z", two, Product("x", "z_no"));
  const std::string keep = Node("Neg", {"x"}, {"y_no"});
  CHECK(CostOf(If("c", "y", inner + Product("z", "y_yes"), keep)) == 96);
  const std::string three = Product("x", "a") + Product("a", "b") + Product("b", "y_no");
  CHECK(CostOf(If("c", "y", inner + Node("Neg", {"z"}, {"y_yes"}), three)) == 96);
  // Different conditions may both choose the larger branch; the same condition chooses once.
  const std::string first = If("c", "z", two, Product("x", "z_no"));
  const std::string second = Product("z", "p") + Product("p", "y_no");
  CHECK(CostOf(first + If("d", "y", Product("z", "y_yes"), second)) == 128);
  CHECK(CostOf(first + If("c", "y", Product("z", "y_yes"), second)) == 96);
}

TEST_CASE("multiply-adds: the operands of a selection are both computed") {
  const std::string operands = Product("x", "a") + Product("a", "b");
  CHECK(CostOf(operands + Node("Where", {"c", "x", "b"}, {"y"})) == 64);
  CHECK(CostOf(Product("x", "a") + Node("Neg", {"x"}, {"n"}) + Product("n", "b") +
               Node("Where", {"c", "a", "b"}, {"y"})) == 64);
}

}  // namespace
}  // namespace nn::test::branch_cost_test
