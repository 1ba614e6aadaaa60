// Selection and generation of elements.
#include <doctest/doctest.h>

#include "formats/coreml/program/mil_operation.h"

namespace nn::test::coreml_program_select_test {
namespace {

TEST_CASE("coreml programs: the largest and smallest elements") {
  const MilOperand x = In("x", "f32[2, 3]", {1, 5, 3, 4, -6, 0});
  const auto k = Const("k", "i32[]", {2});
  CheckMil({"topk", {x}, {"f32[2, 1]", "i32[2, 1]"}, {{5, 4}, {1, 0}}});
  CheckMil({"topk",
            {x, k, Const("ascending", "bool[]", {1})},
            {"f32[2, 2]", "i32[2, 2]"},
            {{1, 3, -6, 0}, {0, 2, 1, 2}}});
  CheckMil({"topk",
            {x, k, Const("axis", "i32[]", {0}), Const("sort", "bool[]", {0}),
             Const("return_indices", "bool[]", {0})},
            {"f32[2, 3]"},
            {{4, 5, 3, 1, -6, 0}},
            "CoreML6"});
  CheckMil({"topk",
            {x, Const("k", "i8[]", {-1}), Text("output_indices_dtype", "uint16")},
            {"f32[2, 3]", "u16[2, 3]"},
            {{5, 3, 1, 4, 0, -6}, {1, 2, 0, 0, 2, 1}},
            "CoreML7"});
  CheckMil({"topk",
            {x, In("k", "i32[]", {2})},
            {"f32[2, n]", "i32[2, n]"},
            {{5, 3, 4, 0}, {1, 2, 0, 2}}});
  CheckMil({"argsort", {x}, {"i32[2, 3]"}, {{1, 2, 0, 0, 2, 1}}});
  CheckMil({"argsort",
            {x, Const("axis", "i32[]", {0}), Const("ascending", "bool[]", {1})},
            {"i32[2, 3]"},
            {{0, 1, 1, 1, 0, 0}}});
}

TEST_CASE("coreml programs: places and bands") {
  CheckMil({"non_zero",
            {In("x", "f32[2, 3]", {0, 5, 0, -1, 0, 2})},
            {"i32[n, 2]"},
            {{0, 1, 1, 0, 1, 2}}});
  const MilOperand x = In("x", "f32[3, 3]", {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const std::vector<std::string> type = {"f32[3, 3]"};
  CheckMil({"band_part", {x}, type, {{1, 2, 3, 4, 5, 6, 7, 8, 9}}});
  CheckMil({"band_part", {x, Const("lower", "i32[]", {0})}, type, {{1, 2, 3, 0, 5, 6, 0, 0, 9}}});
  CheckMil({"band_part",
            {x, Const("lower", "i32[]", {1}), Const("upper", "i32[]", {0})},
            type,
            {{1, 0, 0, 4, 5, 0, 0, 8, 9}}});
}

TEST_CASE("coreml programs: one_hot") {
  const MilOperand indices = In("indices", "i32[2]", {2, -1});
  const auto size = Const("one_hot_vector_size", "i32[]", {3});
  CheckMil({"one_hot", {indices, size}, {"i32[2, 3]"}, {{0, 0, 1, 0, 0, 0}}});
  CheckMil({"one_hot",
            {indices, size, Const("axis", "i32[]", {0}), Const("on_value", "f32[]", {2.5}),
             Const("off_value", "f32[]", {-1})},
            {"f32[3, 2]"},
            {{-1, -1, -1, -1, 2.5, -1}}});
  CheckMil({"one_hot",
            {indices, In("one_hot_vector_size", "i32[]", {3}), Const("on_value", "bool[]", {0}),
             Const("off_value", "bool[]", {1})},
            {"bool[2, n]"},
            {{1, 1, 0, 1, 1, 1}}});
}

TEST_CASE("coreml programs: ranges") {
  CheckMil(
      {"range_1d",
       {Const("start", "f32[]", {1}), Const("end", "f32[]", {2.6}), Const("step", "f32[]", {0.5})},
       {"f32[4]"},
       {{1, 1.5, 2, 2.5}}});
  CheckMil({"range_1d",
            {Const("start", "i32[]", {5}), In("end", "i32[]", {0}), Const("step", "i32[]", {-2})},
            {"i32[n]"},
            {{5, 3, 1}}});
}

TEST_CASE("coreml programs: boxes that overlap better ones are suppressed") {
  // Box 1 is half of box 0; 2 is elsewhere, and 3 the same as 2.
  const MilOperand boxes =
      In("boxes", "f32[1, 4, 4]", {1, 1, 2, 2, 1, 1, 2, 1, 9, 9, 2, 2, 9, 9, 2, 2});
  const MilOperand scores = In("scores", "f32[1, 4, 2]", {0, 3, 1, 4, 2, 0, 0, 1});
  const auto iou = [](const std::string& type) {
    return Const("iou_threshold", type + "[]", {0.25});
  };
  const auto most = Const("max_boxes", "i32[]", {3});
  const auto score = [](const std::string& type, double v) {
    return Const("score_threshold", type + "[]", {v});
  };
  const std::vector<std::string> types = {"f32[1, 3, 4]", "f32[1, 3, 2]", "i32[1, 3]", "i32[1]"};
  CheckMil({"non_maximum_suppression",
            {boxes, scores, iou("f32"), score("f32", 1.5), most},
            types,
            {{1, 1, 2, 1, 9, 9, 2, 2, 0, 0, 0, 0}, {1, 4, 2, 0, 0, 0}, {1, 2, -1}, {2}}});
  // Boxes of different classes do not compete.
  CheckMil({"non_maximum_suppression",
            {boxes, scores, iou("f32"), score("f32", 0), most,
             Const("per_class_suppression", "bool[]", {1})},
            types,
            {{1, 1, 2, 1, 9, 9, 2, 2, 9, 9, 2, 2}, {1, 4, 2, 0, 0, 1}, {1, 2, 3}, {3}}});
  // The best box is selected if no score passes.
  CheckMil({"non_maximum_suppression",
            {boxes, scores, iou("f32"), score("f32", 5), most},
            types,
            {{1, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 4, 0, 0, 0, 0}, {1, -1, -1}, {1}}});
  CheckMil({"non_maximum_suppression",
            {In("boxes", "f16[1, 4, 4]", {1, 1, 9, 9, 1, 1, 9, 9, 2, 2, 2, 2, 2, 1, 2, 2}),
             In("scores", "f16[1, 2, 4]", {0, 1, 2, 0, 3, 4, 0, 1}), iou("f16"), most},
            {"f16[1, 4, 3]", "f16[1, 2, 3]", "i32[1, 3]"},
            {{1, 9, 0, 1, 9, 0, 2, 2, 0, 1, 2, 0}, {1, 2, 0, 4, 0, 0}, {1, 2, -1}},
            "CoreML7"});
}

}  // namespace
}  // namespace nn::test::coreml_program_select_test
