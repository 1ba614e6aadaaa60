// Shapes, joining and splitting, repetition and padding, and blocks.
#include <doctest/doctest.h>

#include <numeric>

#include "formats/coreml/program/mil_operation.h"

namespace nn::test::coreml_program_shape_test {
namespace {

std::vector<double> Count(int n) {
  std::vector<double> out(static_cast<size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

TEST_CASE("coreml programs: reshape") {
  const MilOperand x = In("x", "f32[2, 3]", Count(6));
  CheckMil({"reshape", {x, Const("shape", "i32[2]", {3, -1})}, {"f32[3, 2]"}, {Count(6)}});
  CheckMil({"reshape", {x, Const("shape", "i32[2]", {0, 3})}, {"f32[2, 3]"}, {Count(6)}});
  CheckMil({"reshape", {x, In("shape", "i32[2]", {0, -1})}, {"f32[m, n]"}, {Count(6)}});
  CheckMil({"reshape", {x, Const("shape", "i32[1]", {6})}, {"f32[6]"}, {Count(6)}});
}

TEST_CASE("coreml programs: since iOS17, zeros of reshape copy sizes from the end") {
  const MilOperand x = In("x", "f32[2, 3]", Count(6));
  for (const std::string opset : {"CoreML7", "CoreML8"}) {
    CheckMil({"reshape",
              {x, Const("shape", "i32[4]", {1, 0, -1, 0})},
              {"f32[1, 1, 2, 3]"},
              {Count(6)},
              opset});
    CheckMil(
        {"reshape", {x, In("shape", "i32[3]", {0, 0, 0})}, {"f32[k, m, n]"}, {Count(6)}, opset});
    CheckMil({"reshape",
              {In("x", "f32[2, 1, 3]", Count(6)), Const("shape", "i16[2]", {-1, 0})},
              {"f32[2, 3]"},
              {Count(6)},
              opset});
  }
  CHECK(WhyNotMil({"reshape", {x, Const("shape", "i32[3]", {1, 0, 0})}, {"f32[1, 2, 3]"}})
            .ends_with("copies a dimension that does not exist"));
}

TEST_CASE("coreml programs: reshape_like joins slices of shapes") {
  const auto ref = [](const std::string& type, int n) { return In("ref_tensors", type, Count(n)); };
  const auto number = [](const std::string& name, double v) { return Const(name, "i32[]", {v}); };
  CheckMil({"reshape_like",
            {In("x", "f32[60]", Count(60)), ref("f32[2, 3, 4]", 24), ref("f32[1, 5, 2]", 10),
             number("begins", 0), number("begins", -2), number("ends", 2), number("ends", 0),
             Const("end_masks", "bool[]", {0}), Const("end_masks", "bool[]", {1})},
            {"f32[2, 3, 5, 2]"},
            {Count(60)},
            "CoreML6"});
  CHECK(WhyNotMil({"reshape_like",
                   {In("x", "f32[2]", {1, 2}), ref("f32[2]", 2), number("begins", 0),
                    number("ends", 1), number("ends", 1), Const("end_masks", "bool[]", {0})},
                   {"f32[2]"},
                   {},
                   "CoreML6"})
            .ends_with("ref_tensors, begins, ends and end_masks have 1, 1, 2 and 1 entries"));
}

TEST_CASE("coreml programs: axes of size 1, and permutations") {
  const MilOperand x = In("x", "f32[2, 3]", Count(6));
  CheckMil({"expand_dims", {x, Const("axes", "i32[2]", {0, -1})}, {"f32[1, 2, 3, 1]"}, {Count(6)}});
  const MilOperand y = In("x", "f32[1, 2, 1]", {4, 5});
  CheckMil({"squeeze", {y}, {"f32[2]"}, {{4, 5}}});
  CheckMil({"squeeze", {y, Const("axes", "i32[2]", {-1, 1})}, {"f32[1, 2]"}, {{4, 5}}});
  CheckMil({"squeeze", {y, Const("axes", "i32[1]", {1})}, {"f32[1, 2, 1]"}, {{4, 5}}});
  CheckMil({"squeeze", {In("x", "f32[1]", {4})}, {"f32[]"}, {{4}}});
  CheckMil(
      {"transpose", {x, Const("perm", "i32[2]", {-1, 0})}, {"f32[3, 2]"}, {{0, 3, 1, 4, 2, 5}}});
  CheckMil({"shape", {x}, {"i32[2]"}, {{2, 3}}});
  CheckMil({"identity", {x}, {"f32[2, 3]"}, {Count(6)}});
  const MilOperand z = In("x", "f32[2, 1, 3]", Count(6));
  CheckMil({"flatten2d", {z}, {"f32[2, 3]"}, {Count(6)}});
  CheckMil({"flatten2d", {z, Const("axis", "i32[]", {-2})}, {"f32[2, 3]"}, {Count(6)}});
  CheckMil({"flatten2d", {z, Const("axis", "i32[]", {3})}, {"f32[6, 1]"}, {Count(6)}});
}

TEST_CASE("coreml programs: joined tensors") {
  const MilOperand a = In("values", "f32[2, 2]", {1, 2, 3, 4});
  const MilOperand b = In("values", "f32[2, 2]", {5, 6, 7, 8});
  const MilOperand axis = Const("axis", "i32[]", {-2});
  CheckMil({"concat", {a, b, axis}, {"f32[4, 2]"}, {{1, 2, 3, 4, 5, 6, 7, 8}}});
  CheckMil({"concat",
            {a, b, axis, Const("interleave", "bool[]", {1})},
            {"f32[4, 2]"},
            {{1, 2, 5, 6, 3, 4, 7, 8}}});
  CheckMil({"concat",
            {In("values", "i32[]", {4}), In("values", "i32[]", {5}), Const("axis", "i32[]", {0})},
            {"i32[2]"},
            {{4, 5}}});
  CheckMil({"concat", {a, Const("axis", "i32[]", {0})}, {"f32[2, 2]"}, {{1, 2, 3, 4}}});
  CheckMil({"stack",
            {a, b, Const("axis", "i32[]", {-1})},
            {"f32[2, 2, 2]"},
            {{1, 5, 2, 6, 3, 7, 4, 8}}});
  CheckMil(
      {"stack", {a, b, Const("axis", "i32[]", {0})}, {"f32[2, 2, 2]"}, {{1, 2, 3, 4, 5, 6, 7, 8}}});
}

TEST_CASE("coreml programs: parts") {
  const MilOperand x = In("x", "f32[1, 6]", Count(6));
  const MilOperand axis = Const("axis", "i32[]", {-1});
  CheckMil({"split",
            {x, axis, Const("num_splits", "i32[]", {2})},
            {"f32[1, 3]", "f32[1, 3]"},
            {{0, 1, 2}, {3, 4, 5}}});
  CheckMil({"split",
            {x, axis, Const("num_splits", "i32[]", {3}), Const("split_sizes", "i32[3]", {1, 3, 2})},
            {"f32[1, 1]", "f32[1, 3]", "f32[1, 2]"},
            {{0}, {1, 2, 3}, {4, 5}}});
  CHECK(WhyNotMil({"split",
                   {x, axis, Const("num_splits", "i32[]", {4})},
                   {"f32[1, 1]", "f32[1, 1]", "f32[1, 1]", "f32[1, 1]"}})
            .ends_with("an axis of size 6 cannot be split into 4 equal parts"));
  CHECK(WhyNotMil({"split", {x, axis, Const("num_splits", "i32[]", {2})}, {"f32[1, 3]"}})
            .ends_with("there are 1 outputs for 2 parts"));
}

TEST_CASE("coreml programs: repeated values") {
  CheckMil({"tile",
            {In("x", "f32[1, 2]", {1, 2}), Const("reps", "i32[2]", {2, 2})},
            {"f32[2, 4]"},
            {{1, 2, 1, 2, 1, 2, 1, 2}}});
  CheckMil({"tile",
            {In("x", "f32[1, 2]", {1, 2}), In("reps", "i32[2]", {2, 1})},
            {"f32[m, n]"},
            {{1, 2, 1, 2}}});
  CheckMil({"fill", {Const("shape", "i32[2]", {1, 2})}, {"f32[1, 2]"}, {{0, 0}}});
  CheckMil({"fill",
            {In("shape", "i32[2]", {1, 2}), Const("value", "i32[]", {7})},
            {"i32[m, n]"},
            {{7, 7}}});
  CheckMil({"fill_like",
            {In("ref_tensor", "f32[2]", {1, 2}), Const("value", "bool[]", {1})},
            {"bool[2]"},
            {{1, 1}},
            "CoreML6"});
}

TEST_CASE("coreml programs: padding of the last axes") {
  const MilOperand x = In("x", "f32[2, 3]", {1, 2, 3, 4, 5, 6});
  const MilOperand pad = Const("pad", "i32[2]", {1, 2});
  const std::vector<std::string> type = {"f32[2, 6]"};
  CheckMil({"pad", {x, pad}, type, {{0, 1, 2, 3, 0, 0, 0, 4, 5, 6, 0, 0}}});
  CheckMil({"pad",
            {x, pad, Text("mode", "constant"), Const("constant_val", "f32[]", {9})},
            type,
            {{9, 1, 2, 3, 9, 9, 9, 4, 5, 6, 9, 9}}});
  CheckMil({"pad",
            {x, pad, Text("mode", "reflect"), Const("constant_val", "f32[]", {9})},
            type,
            {{2, 1, 2, 3, 2, 1, 5, 4, 5, 6, 5, 4}}});
  CheckMil(
      {"pad", {x, pad, Text("mode", "replicate")}, type, {{1, 1, 2, 3, 3, 3, 4, 4, 5, 6, 6, 6}}});
  CheckMil({"pad",
            {x, Const("pad", "i32[4]", {1, 0, 0, 1})},
            {"f32[3, 4]"},
            {{0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0}}});
  CheckMil({"pad",
            {x, In("pad", "i32[4]", {1, 0, 0, 1})},
            {"f32[m, n]"},
            {{0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0}}});
  CHECK(WhyNotMil({"pad", {x, Const("pad", "i32[3]", {1, 2, 3})}, type})
            .ends_with("input pad has 3 entries for a tensor of rank 2"));
  CHECK(WhyNotMil({"pad", {x, pad, Text("mode", "wrap")}, type}).ends_with("mode wrap is unknown"));
}

TEST_CASE("coreml programs: blocks") {
  const std::vector<double> split = {0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15};
  const MilOperand deep = In("x", "f32[1, 8, 1, 2]", Count(16));
  // Channel 4 i + c (of 8) is element i of a block in channel c (of 2): i * 2 + c.
  CheckMil({"depth_to_space",
            {deep, Const("block_size", "i32[]", {2})},
            {"f32[1, 2, 2, 4]"},
            {{0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15}}});
  CheckMil({"space_to_depth",
            {In("x", "f32[1, 2, 2, 4]", split), Const("block_size", "i32[]", {2})},
            {"f32[1, 8, 1, 2]"},
            {Count(16)}});
  CheckMil({"pixel_shuffle",
            {deep, Const("upscale_factor", "i32[]", {2})},
            {"f32[1, 2, 2, 4]"},
            {{0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15}}});
  CheckMil({"pixel_unshuffle",
            {In("x", "f32[1, 2, 2, 4]", {0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15}),
             Const("downscale_factor", "u32[]", {2})},
            {"f32[1, 8, 1, 2]"},
            {Count(16)},
            "CoreML6"});
  CheckMil({"space_to_batch",
            {In("x", "f32[1, 1, 2, 3]", {1, 2, 3, 4, 5, 6}), Const("block_shape", "i32[2]", {1, 2}),
             Const("paddings", "i32[2, 2]", {0, 0, 1, 0})},
            {"f32[2, 1, 2, 2]"},
            {{0, 2, 0, 5, 1, 3, 4, 6}}});
  CheckMil({"batch_to_space",
            {In("x", "f32[2, 1, 2, 2]", {0, 2, 0, 5, 1, 3, 4, 6}),
             Const("block_shape", "i32[2]", {1, 2}), Const("crops", "i32[2, 2]", {0, 0, 1, 0})},
            {"f32[1, 1, 2, 3]"},
            {{1, 2, 3, 4, 5, 6}}});
}

// ---- Sizes that only a run knows ----------------------------------------------------------------

// The results of an operation on 1 2 / 3 4 / 5 6, a slice of an input from a position that is
// another input. The operation names it "x".
std::vector<std::vector<double>> RunOpen(const MilOperation& operation,
                                         const std::string& opset = "CoreML5") {
  const MilOperation slice = {
      "slice_by_index",
      {Ref("x", "data"), Ref("begin", "begin"), Const("end", "i32[2]", {0, 0}),
       Const("end_mask", "bool[2]", {1, 1})},
      {{"x", "f32[m, n]"}}};
  std::vector<std::string> outputs;
  for (const auto& [name, type] : operation.results) outputs.push_back(name);
  return RunMil({{{"data", "f32[4, 3]"}, {"begin", "i32[2]"}}, {slice, operation}, outputs},
                {{9, 9, 9, 9, 1, 2, 9, 3, 4, 9, 5, 6}, {1, 1}}, opset);
}

using Results = std::vector<std::vector<double>>;
const MilOperand kX = Ref("x", "x");

MilOperand Integer(const std::string& name, double v) {
  return Const(name, "i32[]", {v});
}

TEST_CASE("coreml programs: shapes of sizes that depend on the run") {
  CHECK(RunOpen({"flatten2d", {kX, Integer("axis", 2)}, {{"y", "f32[k, 1]"}}}) ==
        Results{{1, 2, 3, 4, 5, 6}});
  CHECK(RunOpen({"reshape", {kX, Const("shape", "i32[2]", {-1, 3})}, {{"y", "f32[k, 3]"}}}) ==
        Results{{1, 2, 3, 4, 5, 6}});
  CHECK(RunOpen({"reshape", {kX, Const("shape", "i32[3]", {1, -1, 0})}, {{"y", "f32[1, k, n]"}}},
                "CoreML7") == Results{{1, 2, 3, 4, 5, 6}});
  CHECK(RunOpen({"concat",
                 {Ref("values", "x"), Ref("values", "x"), Integer("axis", 1),
                  Const("interleave", "bool[]", {1})},
                 {{"y", "f32[m, k]"}}}) == Results{{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}});
  CHECK(RunOpen({"split",
                 {kX, Integer("axis", 0), Integer("num_splits", 3)},
                 {{"a", "f32[k, n]"}, {"b", "f32[k, n]"}, {"c", "f32[k, n]"}}}) ==
        Results{{1, 2}, {3, 4}, {5, 6}});
  CHECK(RunOpen({"fill_like", {Ref("ref_tensor", "x")}, {{"y", "f32[m, n]"}}}, "CoreML6") ==
        Results{{0, 0, 0, 0, 0, 0}});
  CHECK(RunOpen({"shape", {kX}, {{"y", "i32[2]"}}}) == Results{{3, 2}});
  CHECK(RunOpen({"squeeze", {kX}, {{"y", "f32[m, n]"}}}) == Results{{1, 2, 3, 4, 5, 6}});
}

TEST_CASE("coreml programs: an axis that is squeezed has size 1, whatever the run") {
  const MilBlock f{{{"x", "f32[n, 2]"}},
                   {{"squeeze", {Ref("x", "x"), Const("axes", "i32[1]", {0})}, {{"y", "f32[2]"}}}},
                   {"y"}};
  const auto imported = ImportMil(f);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  CHECK(imported->graph.outputs()[0].value->type().ToString() == "f32[2]");
}

TEST_CASE("coreml programs: parts of sizes that depend on the run") {
  CHECK(RunOpen({"slice_by_size",
                 {kX, Const("begin", "i32[2]", {-2, 1}), Const("size", "i32[2]", {2, 1})},
                 {{"y", "f32[2, 1]"}}}) == Results{{4, 6}});
  CHECK(RunOpen({"slice_update",
                 {kX, Const("update", "f32[2, 1]", {7, 8}), Const("begin", "i32[2]", {0, -1}),
                  Const("end", "i32[2]", {0, 0}), Const("stride", "i32[2]", {-2, 1}),
                  Const("begin_mask", "bool[2]", {1, 0}), Const("end_mask", "bool[2]", {1, 1})},
                 {{"y", "f32[m, n]"}}},
                "CoreML8") == Results{{1, 8, 3, 4, 5, 7}});
  CHECK(RunOpen({"sliding_windows",
                 {kX, Integer("axis", 0), Integer("size", 2)},
                 {{"y", "f32[k, 2, n]"}}}) == Results{{1, 2, 3, 4, 3, 4, 5, 6}});
  CHECK(RunOpen({"pad",
                 {kX, Const("pad", "i32[2]", {1, 0}), Text("mode", "replicate")},
                 {{"y", "f32[m, k]"}}}) == Results{{1, 1, 2, 3, 3, 4, 5, 5, 6}});
}

TEST_CASE("coreml programs: order along axes of sizes that depend on the run") {
  CHECK(RunOpen({"argsort", {kX, Integer("axis", 0)}, {{"y", "i32[m, n]"}}}) ==
        Results{{2, 2, 1, 1, 0, 0}});
  CHECK(RunOpen({"topk", {kX, Integer("k", -1)}, {{"y", "f32[m, n]"}, {"i", "i32[m, n]"}}},
                "CoreML7") == Results{{2, 1, 4, 3, 6, 5}, {1, 0, 1, 0, 1, 0}});
}

TEST_CASE("coreml programs: resizes of sizes that depend on the run") {
  CHECK(RunOpen({"resize",
                 {kX, Const("shape", "i32[2]", {0, 3}), Const("resized_dims", "u32[]", {2}),
                  Text("sampling_mode", "STRICT_ALIGN_CORNERS")},
                 {{"y", "f32[m, 3]"}}},
                "CoreML7") == Results{{1, 1.5, 2, 3, 3.5, 4, 5, 5.5, 6}});
  CHECK(RunOpen({"random_categorical",
                 {kX, Integer("size", 2), Text("mode", "probs")},
                 {{"y", "f32[m, 2]"}}})[0]
            .size() == 6);
}

}  // namespace
}  // namespace nn::test::coreml_program_shape_test
