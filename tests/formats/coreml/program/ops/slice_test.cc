// Slices, updates of slices, windows, and the order of elements.
#include <doctest/doctest.h>

#include <numeric>

#include "formats/coreml/program/mil_operation.h"

namespace nn::test::coreml_program_slice_test {
namespace {

std::vector<double> Numbers(int n) {
  std::vector<double> out(static_cast<size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

const MilOperand kMatrix = In("x", "f32[3, 4]", Numbers(12));

TEST_CASE("coreml programs: slices by index") {
  const auto begin = Const("begin", "i32[2]", {1, -3});
  const auto end = Const("end", "i32[2]", {3, -1});
  CheckMil({"slice_by_index", {kMatrix, begin, end}, {"f32[2, 2]"}, {{5, 6, 9, 10}}});
  CheckMil({"slice_by_index",
            {kMatrix, begin, end, Const("stride", "i32[2]", {1, 2}),
             Const("begin_mask", "bool[2]", {1, 0}), Const("end_mask", "bool[2]", {0, 1})},
            {"f32[3, 2]"},
            {{1, 3, 5, 7, 9, 11}}});
  // Backwards, masks are the other ends.
  CheckMil({"slice_by_index",
            {kMatrix, Const("begin", "i32[2]", {0, 2}), Const("end", "i32[2]", {0, 0}),
             Const("stride", "i32[2]", {-2, -1}), Const("begin_mask", "bool[2]", {1, 0}),
             Const("end_mask", "bool[2]", {1, 0})},
            {"f32[2, 2]"},
            {{10, 9, 2, 1}}});
  CheckMil({"slice_by_index",
            {kMatrix, Const("begin", "i32[2]", {-1, 1}), Const("end", "i32[2]", {0, 3}),
             Const("squeeze_mask", "bool[2]", {1, 0})},
            {"f32[2]"},
            {{9, 10}}});
  CheckMil({"slice_by_index",
            {kMatrix, Const("begin", "i16[2]", {1, 2}), Const("end", "i16[2]", {0, 0}),
             Const("squeeze_mask", "bool[2]", {1, 1})},
            {"f32[]"},
            {{6}},
            "CoreML7"});
  CHECK(WhyNotMil({"slice_by_index", {kMatrix, Const("begin", "i32[1]", {0}), end}, {"f32[2, 2]"}})
            .ends_with("input begin is i32[1]; expected a number for each of 2 axes"));
  CHECK(
      WhyNotMil(
          {"slice_by_index", {kMatrix, begin, end, Const("stride", "i32[1]", {1})}, {"f32[2, 2]"}})
          .ends_with("stride, begin_mask, end_mask and squeeze_mask have 1, 2, 2 and 2 elements; "
                     "expected 2"));
}

TEST_CASE("coreml programs: slices by index with bounds that depend on the run") {
  for (const double first : {1, -2})
    CheckMil({"slice_by_index",
              {kMatrix, In("begin", "i32[2]", {first, 0}), In("end", "i32[2]", {3, 9}),
               Const("end_mask", "bool[2]", {0, 1}), Const("stride", "i32[2]", {1, 3})},
              {"f32[m, n]"},
              {{4, 7, 8, 11}}});
  for (const double row : {2, -1})
    CheckMil({"slice_by_index",
              {kMatrix, In("begin", "i32[2]", {row, 1}), Const("end", "i32[2]", {0, 3}),
               Const("squeeze_mask", "bool[2]", {1, 0})},
              {"f32[n]"},
              {{9, 10}}});
}

TEST_CASE("coreml programs: slices by size") {
  const auto size = Const("size", "i32[2]", {2, -1});
  CheckMil({"slice_by_size",
            {kMatrix, Const("begin", "i32[2]", {1, 2}), size},
            {"f32[2, 2]"},
            {{6, 7, 10, 11}}});
  CheckMil({"slice_by_size",
            {kMatrix, Const("begin", "i32[2]", {-2, -3}), Const("size", "i32[2]", {2, 2})},
            {"f32[2, 2]"},
            {{5, 6, 9, 10}}});
  for (const double first : {1, -2}) {
    CheckMil({"slice_by_size",
              {kMatrix, In("begin", "i32[2]", {first, 2}), size},
              {"f32[2, n]"},
              {{6, 7, 10, 11}}});
    CheckMil({"slice_by_size",
              {kMatrix, In("begin", "i32[2]", {first, 2}), In("size", "i32[2]", {2, -1})},
              {"f32[m, n]"},
              {{6, 7, 10, 11}}});
  }
}

// 12 numbers with those at positions replaced by -1, -2, ...
std::vector<double> Replaced(const std::vector<size_t>& positions) {
  std::vector<double> out = Numbers(12);
  for (size_t i = 0; i < positions.size(); ++i) out[positions[i]] = -1.0 - static_cast<double>(i);
  return out;
}

void CheckUpdate(const std::string& type, std::vector<MilOperand> operands,
                 const std::vector<size_t>& positions) {
  std::vector<double> values;
  for (size_t i = 0; i < positions.size(); ++i) values.push_back(-1.0 - static_cast<double>(i));
  operands.push_back(In("update", type, values));
  CheckMil({"slice_update", std::move(operands), {"f32[3, 4]"}, {Replaced(positions)}, "CoreML8"});
}

TEST_CASE("coreml programs: slices are updated") {
  // Rows.
  CheckUpdate("f32[2, 4]",
              {kMatrix, Const("begin", "i32[2]", {1, 0}), Const("end", "i32[2]", {3, 0}),
               Const("end_mask", "bool[2]", {0, 1})},
              {4, 5, 6, 7, 8, 9, 10, 11});
  // Columns, backwards.
  CheckUpdate("f32[3, 2]",
              {kMatrix, Const("begin", "i32[2]", {0, -1}), Const("end", "i32[2]", {0, 0}),
               Const("stride", "i32[2]", {1, -2}), Const("begin_mask", "bool[2]", {1, 0}),
               Const("end_mask", "bool[2]", {1, 0})},
              {3, 1, 7, 5, 11, 9});
  // Both.
  CheckUpdate("f32[2, 2]",
              {kMatrix, Const("begin", "i32[2]", {0, 1}), Const("end", "i32[2]", {3, 3}),
               Const("stride", "i32[2]", {2, 1})},
              {1, 2, 9, 10});
  // An axis that the slice drops.
  CheckUpdate("f32[4]",
              {kMatrix, Const("begin", "i32[2]", {-1, 0}), Const("end", "i32[2]", {0, 4}),
               Const("squeeze_mask", "bool[2]", {1, 0})},
              {8, 9, 10, 11});
  // Everything.
  CheckUpdate("f32[3, 4]",
              {kMatrix, Const("begin", "i32[2]", {0, 0}), Const("end", "i32[2]", {0, 0}),
               Const("begin_mask", "bool[2]", {1, 1}), Const("end_mask", "bool[2]", {1, 1})},
              {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  // Bounds that depend on the run.
  for (const double row : {1, -2})
    CheckUpdate("f32[1, 2]",
                {kMatrix, In("begin", "i32[2]", {row, 2}), In("end", "i32[2]", {2, 4})}, {6, 7});
}

TEST_CASE("coreml programs: sliding windows") {
  const MilOperand x = In("x", "f32[5, 2]", Numbers(10));
  const auto axis = Const("axis", "i32[]", {-2});
  CheckMil({"sliding_windows",
            {x, axis, Const("size", "i32[]", {3}), Const("stride", "i32[]", {2})},
            {"f32[2, 3, 2]"},
            {{0, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9}}});
  CheckMil(
      {"sliding_windows", {x, axis, Const("size", "i32[]", {1})}, {"f32[5, 1, 2]"}, {Numbers(10)}});
  CHECK(WhyNotMil({"sliding_windows", {x, axis, Const("size", "i32[]", {6})}, {"f32[0, 6, 2]"}})
            .ends_with("windows of 6 elements, 1 apart, do not fit an axis of size 5"));
}

TEST_CASE("coreml programs: reversed axes") {
  const MilOperand x = In("x", "f32[2, 3]", Numbers(6));
  CheckMil({"reverse", {x}, {"f32[2, 3]"}, {{5, 4, 3, 2, 1, 0}}});
  CheckMil({"reverse", {x, Const("axes", "i32[1]", {-1})}, {"f32[2, 3]"}, {{2, 1, 0, 5, 4, 3}}});
  CheckMil({"reverse_sequence",
            {x, Const("lengths", "i32[2]", {3, 2}), Const("seq_axis", "i32[]", {1}),
             Const("batch_axis", "i32[]", {0})},
            {"f32[2, 3]"},
            {{2, 1, 0, 4, 3, 5}}});
}

}  // namespace
}  // namespace nn::test::coreml_program_slice_test
