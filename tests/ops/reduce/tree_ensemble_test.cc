#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::tree_ensemble_test {
namespace {

std::string Graph(std::string_view attrs, std::string_view splits, std::string_view weights,
                  std::string_view x, std::string_view type = "f32") {
  return fmt::format(
      "graph {{ in %x: {0}{1} const %s: {0}{2} const %w: {0}{3} %y = tree_ensemble(%x, %s, %w) "
      "{{{4}}} out \"y\" = %y }}",
      type, x, splits, weights, attrs);
}

// x0 <= 1 ? leaf 0 : x1 < 2 ? leaf 1 : leaf 2, and x0 > 0 ? leaf 3 : leaf 4, which has no vote.
std::string TwoTrees(std::string_view aggregate, std::string_view type = "f32") {
  return Graph(fmt::format("targets = 2, aggregate = {}, roots = [0, 2], features = [0, 1, 0], "
                           "modes = [0, 1, 3], on_true = [-1, -2, -4], on_false = [1, -3, -5], "
                           "leaf_starts = [0, 1, 2, 4, 5], vote_targets = [0, 1, 0, 1, 0]",
                           aggregate),
               "[3] = [1, 2, 0]", "[5] = [1, 2, 4, 8, -3]", "[3, 2]", type);
}

TEST_CASE("tree_ensemble: by hand") {
  const double largest = std::numeric_limits<float>::max();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::vector<double>> x = {{0, 0, 2, 1, 2, 5}};
  for (const OpCase& c : {
           OpCase{"sum", TwoTrees("sum"), x, {{1, 0, -3, 2, 1, 8}}},
           OpCase{"sum of f64", TwoTrees("sum", "f64"), x, {{1, 0, -3, 2, 1, 8}}},
           OpCase{"sum of f16", TwoTrees("sum", "f16"), x, {{1, 0, -3, 2, 1, 8}}},
           OpCase{"mean", TwoTrees("mean"), x, {{0.5, 0, -1.5, 1, 0.5, 4}}},
           OpCase{"min", TwoTrees("min"), x, {{1, largest, -3, 2, -3, 8}}},
           OpCase{"max", TwoTrees("max"), x, {{1, -largest, -3, 2, 4, 8}}},
           OpCase{"max of f16",
                  TwoTrees("max", "f16"),
                  x,
                  {{1, -std::numeric_limits<double>::infinity(), -3, 2, 4, 8}}},
           // A tree for each comparison with 1.
           OpCase{"comparisons",
                  Graph("targets = 6, roots = [0, 1, 2, 3, 4, 5], features = [0, 0, 0, 0, 0, 0], "
                        "modes = [0, 1, 2, 3, 4, 5], on_true = [-1, -2, -3, -4, -5, -6], "
                        "on_false = [-7, -7, -7, -7, -7, -7], nan_true = [1, 0, 1, 0, 1, 0], "
                        "vote_targets = [0, 1, 2, 3, 4, 5, 0]",
                        "[6] = [1, 1, 1, 1, 1, 1]", "[7] = [1, 1, 1, 1, 1, 1, 0]", "[4, 1]"),
                  {{0, 1, 2, nan}},
                  {{1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0, 1, 0}}},
           OpCase{"a node with two parents, in two trees",
                  Graph("roots = [0, 1, 2], features = [0, 0, 1], on_true = [2, 2, -1], "
                        "on_false = [-3, 2, -2], vote_targets = [0, 0, 0]",
                        "[3] = [1, 1, 1]", "[3] = [1, 10, 100]", "[2, 2]"),
                  {{0, 0, 2, 2}},
                  {{3, 120}}},
           OpCase{"trees of one leaf, without features",
                  Graph("roots = [-1, -2, -1], vote_targets = [0, 0]", "[0] = []", "[2] = [1, 10]",
                        "[2, 0]"),
                  {},
                  {{12, 12}}},
           OpCase{"trees of one leaf",
                  Graph("roots = [-1, -2, -1], vote_targets = [0, 0]", "[0] = []", "[2] = [1, 10]",
                        "[2, 3]"),
                  {},
                  {{12, 12}}},
       })
    CheckCase(c);
}

TEST_CASE("tree_ensemble: contradictions") {
  const auto fails = [](const char* attrs, const char* why) {
    return Fails(Graph(attrs, "[2] = [1, 2]", "[2] = [1, 2]", "[3, 2]"), why);
  };
  CHECK(
      fails("roots = [0], features = [0, 1], on_true = [1, 0], on_false = [-1, -2], "
            "vote_targets = [0, 0]",
            "tree 0: node 0 is its own descendant"));
  CHECK(
      fails("roots = [-1, 1], features = [0, 1], on_true = [1, 1], on_false = [-1, -2], "
            "vote_targets = [0, 0]",
            "tree 1: node 1 is its own descendant"));
  CHECK(
      fails("roots = [0], features = [0, 1], on_true = [1, -3], on_false = [-1, -2], "
            "vote_targets = [0, 0]",
            "tree 0: a child of node 1 is leaf 2 of 2"));
  CHECK(
      fails("roots = [0, 2], features = [0, 1], on_true = [1, -1], on_false = [-1, -2], "
            "vote_targets = [0, 0]",
            "tree 1: its root is node 2 of 2"));
  CHECK(fails("features = [0, 1], on_true = [1, -1], on_false = [-1, -2], vote_targets = [0, 0]",
              "there are no trees"));
  CHECK(
      fails("roots = [0], features = [0, 2], on_true = [1, -1], on_false = [-1, -2], "
            "vote_targets = [0, 0]",
            "a row has 2 elements, but a node has feature 2"));
  CHECK(
      fails("roots = [0], features = [0, 1], modes = [0, 6], on_true = [1, -1], "
            "on_false = [-1, -2], vote_targets = [0, 0]",
            "node 1 has mode 6; expected 0 to 5"));
  CHECK(
      fails("roots = [0], features = [0, 1], on_true = [1], on_false = [-1, -2], "
            "vote_targets = [0, 0]",
            "there are 2 features but 1 entries in on_true"));
  CHECK(
      fails("roots = [0], features = [0, 1], on_true = [1, -1], on_false = [-1, -2], "
            "vote_targets = [0, 1]",
            "vote 1 is for target 1 of 1"));
  CHECK(
      fails("roots = [0], features = [0, 1], on_true = [1, -1], on_false = [-1, -2], "
            "leaf_starts = [0, 3], vote_targets = [0, 0]",
            "leaf 0 has the votes 0 to 3 of 2"));
  CHECK(
      fails("roots = [0], features = [0, 1], on_true = [1, -1], on_false = [-1, -2], "
            "vote_targets = [0, 0, 0]",
            "must be a vector of 3 elements"));
}

TEST_CASE("tree_ensemble: many rows on kernels") {
  for (const char* type : {"f32", "f64"}) CheckHasKernels(Parse(TwoTrees("sum", type)));
  std::string roots, ones, on_true, on_false, targets, splits, weights;
  for (int i = 0; i < 50; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    roots += fmt::format("{}{}", comma, i);
    ones += fmt::format("{}{}", comma, i % 7);
    on_true += fmt::format("{}{}", comma, -1 - i);
    on_false += fmt::format("{}{}", comma, i + 1 < 50 ? i + 1 : -1);
    targets += fmt::format("{}{}", comma, i % 3);
    splits += fmt::format("{}{}", comma, i / 25.0 - 1);
    weights += fmt::format("{}{}", comma, i * 0.1);
  }
  CheckCase(
      {"chains",
       Graph(fmt::format("targets = 3, roots = [{}], features = [{}], on_true = [{}], "
                         "on_false = [{}], vote_targets = [{}]",
                         roots, ones, on_true, on_false, targets),
             fmt::format("[50] = [{}]", splits), fmt::format("[50] = [{}]", weights), "[999, 7]")});
}

}  // namespace
}  // namespace nn::test::tree_ensemble_test
