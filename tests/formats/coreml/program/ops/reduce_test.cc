// Reductions, and sums along an axis.
#include <doctest/doctest.h>

#include <cmath>

#include "formats/coreml/program/mil_operation.h"

namespace nn::test::coreml_program_reduce_test {
namespace {

const MilOperand kX = In("x", "f32[2, 2, 2]", {1, -2, 3, 4, 5, 6, -7, 8});

void CheckReduction(const std::string& op, const std::vector<double>& axis, double all) {
  const auto axes = Const("axes", "i32[1]", {-2});
  CheckMil({op, {kX, axes}, {"f32[2, 2]"}, {axis}, "CoreML5", 1e-6});
  CheckMil({op,
            {kX, axes, Const("keep_dims", "bool[]", {1})},
            {"f32[2, 1, 2]"},
            {axis},
            "CoreML5",
            1e-6});
  CheckMil({op, {kX}, {"f32[]"}, {{all}}, "CoreML5", 1e-6});
}

TEST_CASE("coreml programs: reductions") {
  CheckReduction("reduce_sum", {4, 2, -2, 14}, 18);
  CheckReduction("reduce_mean", {2, 1, -1, 7}, 2.25);
  CheckReduction("reduce_max", {3, 4, 5, 8}, 8);
  CheckReduction("reduce_min", {1, -2, -7, 6}, -7);
  CheckReduction("reduce_prod", {3, -8, -35, 48}, 40320);
  CheckReduction("reduce_l1_norm", {4, 6, 12, 14}, 36);
  CheckReduction("reduce_l2_norm", {std::sqrt(10.0), std::sqrt(20.0), std::sqrt(74.0), 10},
                 std::sqrt(204.0));
  CheckReduction("reduce_sum_square", {10, 20, 74, 100}, 204);
  CheckReduction("reduce_log_sum", {std::log(4.0), std::log(2.0), std::nan(""), std::log(14.0)},
                 std::log(18.0));
  const auto log_sum = [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); };
  CheckReduction("reduce_log_sum_exp",
                 {log_sum(1, 3), log_sum(-2, 4), log_sum(5, -7), log_sum(6, 8)},
                 std::log(std::exp(1) + std::exp(-2) + std::exp(3) + std::exp(4) + std::exp(5) +
                          std::exp(6) + std::exp(-7) + std::exp(8)));
  CheckMil({"reduce_sum", {kX, Const("axes", "i32[2]", {-1, 0})}, {"f32[2]"}, {{10, 8}}});
  CheckMil({"reduce_mean", {In("x", "i32[2]", {-4, 1})}, {"i32[]"}, {{-1}}});
  CHECK(WhyNotMil({"reduce_sum", {kX, Const("axes", "i32[1]", {3})}, {"f32[2, 2]"}})
            .ends_with("input axes: axis 3 is out of range for rank 3"));
  CHECK(WhyNotMil({"reduce_sum", {kX, Const("axes", "i32[0]", {})}, {"f32[2, 2, 2]"}}) ==
        "a reduction of no axes is unsupported");
}

TEST_CASE("coreml programs: positions of extrema") {
  const MilOperand x = In("x", "f32[2, 3]", {1, 5, 5, -2, -3, 7});
  CheckMil({"reduce_argmax", {x}, {"i32[2]"}, {{1, 2}}});
  CheckMil({"reduce_argmin", {x, Const("axis", "i32[]", {0})}, {"i32[3]"}, {{1, 1, 0}}});
  CheckMil({"reduce_argmax",
            {x, Const("axis", "i32[]", {0}), Const("keep_dims", "bool[]", {1}),
             Text("output_dtype", "UINT16")},
            {"u16[1, 3]"},
            {{0, 0, 1}},
            "CoreML7"});
}

TEST_CASE("coreml programs: running sums") {
  const MilOperand x = In("x", "f32[2, 3]", {1, 2, 3, 4, 5, 6});
  const std::vector<std::string> type = {"f32[2, 3]"};
  const auto flag = [](const std::string& name) { return Const(name, "bool[]", {1}); };
  const auto axis = Const("axis", "i32[]", {-1});
  CheckMil({"cumsum", {x}, type, {{1, 2, 3, 5, 7, 9}}});
  CheckMil({"cumsum", {x, axis, flag("exclusive")}, type, {{0, 1, 3, 0, 4, 9}}});
  CheckMil({"cumsum", {x, axis, flag("reverse")}, type, {{6, 5, 3, 15, 11, 6}}});
}

}  // namespace
}  // namespace nn::test::coreml_program_reduce_test
