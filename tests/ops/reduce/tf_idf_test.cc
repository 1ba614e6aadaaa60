#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::tf_idf_test {
namespace {

// The numbers 2 and 5, the pairs 2 5 and 5 2, and the triple 2 5 2.
std::string Counts(const std::string& attrs, const std::string& type = "i64[6]") {
  return OneOp(type, fmt::format("tf_idf(%x) {{{}, starts = [0, 2, 6], indexes = [0, 1, 2, 3, 4], "
                                 "pool = [2, 5, 2, 5, 5, 2, 2, 5, 2]}}",
                                 attrs));
}

TEST_CASE("tf_idf: by hand") {
  const std::vector<std::vector<double>> x = {{2, 5, 2, 7, 5, 2}};
  for (const OpCase& c : {
           OpCase{"numbers", Counts("max_length = 1"), x, {{3, 2, 0, 0, 0}}},
           OpCase{"pairs", Counts("min_length = 2, max_length = 2"), x, {{0, 0, 1, 2, 0}}},
           // 2 _ 2, 5 _ 7, 2 _ 5 and 7 _ 2 at a distance of 2.
           OpCase{"pairs, with one number between",
                  Counts("min_length = 2, max_length = 2, max_skip = 1"),
                  x,
                  {{0, 0, 2, 2, 0}}},
           OpCase{"all lengths; numbers are counted once",
                  Counts("max_length = 3, max_skip = 1"),
                  x,
                  {{3, 2, 2, 2, 1}}},
           OpCase{"weights",
                  Counts("mode = tfidf, max_length = 2, weights = [0.5, 2, 4, 8, 16]"),
                  x,
                  {{1.5, 4, 4, 16, 0}}},
           OpCase{"weights of those that occur",
                  Counts("mode = idf, max_length = 2, weights = [0.5, 2, 4, 8, 16]"),
                  x,
                  {{0.5, 2, 4, 8, 0}}},
           OpCase{"without weights", Counts("mode = idf, max_length = 3"), x, {{1, 1, 1, 1, 1}}},
           OpCase{
               "rows", Counts("max_length = 2", "i32[2, 3]"), x, {{2, 1, 1, 1, 0, 1, 1, 0, 1, 0}}},
           OpCase{"n-grams of one index, and the last of equal ones",
                  OneOp("i64[4]",
                        "tf_idf(%x) {starts = [0], indexes = [0, 2, 2, 1], "
                        "pool = [4, 5, 6, 4]}"),
                  {{4, 5, 6, 4}},
                  {{0, 2, 2}}},
       })
    CheckCase(c);
}

TEST_CASE("tf_idf: attributes that contradict each other") {
  const auto fails = [](const char* attrs, const char* why) {
    return Fails(OneOp("i64[4]", fmt::format("tf_idf(%x) {{{}}}", attrs)), why);
  };
  CHECK(fails("starts = [0], indexes = [0], pool = [1, 2]", "there are 2 n-grams and 1 indexes"));
  CHECK(fails("starts = [0, 1], indexes = [0], pool = [1, 2]", "n-grams of length 2"));
  CHECK(fails("starts = [3], indexes = [0], pool = [1]", "n-grams of length 1 from position 3"));
  CHECK(fails("starts = [0], indexes = [-1], pool = [1]", "negative entries"));
  CHECK(fails("starts = [0], indexes = [3], pool = [1], weights = [1]",
              "there are 1 weights for 4 output indexes"));
  CHECK(fails("starts = [0], indexes = [0], pool = [1], weights = [1, 2]",
              "there are 2 weights and 1 indexes"));
  CHECK(fails("min_length = 2, starts = [0], indexes = [0], pool = [1]", "2 to 1 elements"));
  CHECK(Fails(OneOp("f32[4]", "tf_idf(%x) {starts = [0], indexes = [0], pool = [1]}"),
              "tf_idf: f32[4] is not supported"));
}

}  // namespace
}  // namespace nn::test::tf_idf_test
