// Decision trees of ai.onnx.ml.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "formats/onnx/ops/ml.h"
#include "support/files.h"
#include "support/run_graph.h"

namespace nn::test::onnx_trees_test {

using namespace onnx_ml;  // NOLINT(google-build-using-namespace)

namespace {

// Two trees, whose identifiers are not in order and do not begin at 0:
//   5: node 3: x0 <= 1 ? leaf 4 : node 7; node 7: x1 <= 2 ? leaf 8 : leaf 9
//   2: node 0: x0 > 0 ? leaf 1 : leaf 2
struct Tables {
  std::vector<int64_t> trees = {5, 5, 5, 5, 5, 2, 2, 2};
  std::vector<int64_t> ids = {4, 3, 7, 8, 9, 0, 1, 2};
  std::vector<std::string> modes = {"LEAF", "BRANCH_LEQ", "BRANCH_LEQ", "LEAF",
                                    "LEAF", "BRANCH_GT",  "LEAF",       "LEAF"};
  std::vector<int64_t> features = {0, 0, 1, 0, 0, 0, 0, 0};
  std::vector<int64_t> on_true = {0, 4, 8, 0, 0, 1, 0, 0};
  std::vector<int64_t> on_false = {0, 7, 9, 0, 0, 2, 0, 0};
  std::vector<double> values = {0, 1, 2, 0, 0, 0, 0, 0};
  // Leaf 9 has two votes, leaf 2 none.
  std::vector<int64_t> vote_trees = {5, 5, 5, 5, 2};
  std::vector<int64_t> vote_ids = {4, 8, 9, 9, 1};
  std::vector<int64_t> targets = {0, 1, 0, 1, 0};
  std::vector<double> weights = {1, 2, 4, 8, -3};

  std::string text(std::string_view votes) const {
    const auto name = [&](std::string_view of) { return fmt::format("{}_{}", votes, of); };
    return nodes() + Numbers("nodes_values", values) + Ints(name("treeids"), vote_trees) +
           Ints(name("nodeids"), vote_ids) + Ints(name("ids"), targets) +
           Numbers(name("weights"), weights);
  }
  std::string nodes() const {
    return Ints("nodes_treeids", trees) + Ints("nodes_nodeids", ids) + Texts("nodes_modes", modes) +
           Ints("nodes_featureids", features) + Ints("nodes_truenodeids", on_true) +
           Ints("nodes_falsenodeids", on_false);
  }
};

const std::vector<double> kX = {0, 0, 2, 1, 2, 5};  // leaves 4 and 2, 8 and 1, 9 and 1

Model Regressor(const std::string& more, const Tables& tables = {}, int type = kF32) {
  return {"TreeEnsembleRegressor", tables.text("target") + more, {Rows(type, 3, 2)}};
}
Model Classifier(const std::string& more, const Tables& tables = {}) {
  return {"TreeEnsembleClassifier", tables.text("class") + more, {Rows(kF32, 3, 2)}, 2};
}

std::vector<double> Each(const std::vector<double>& values, double (*fn)(double)) {
  std::vector<double> out;
  for (const double v : values) out.push_back(fn(v));
  return out;
}

}  // namespace

TEST_CASE("ONNX ml: TreeEnsembleRegressor") {
  const double largest = std::numeric_limits<float>::max();
  const auto aggregate = [](std::string_view name) {
    return Int("n_targets", 2) + Text("aggregate_function", name);
  };
  for (const int type : {kF32, kF64, kI32, kI64})
    Check(Regressor(aggregate("SUM"), {}, type), {kX}, {{1, 0, -3, 2, 1, 8}});
  Check(Regressor(""), {kX}, {{1, 0, -3, 2, 1, 8}});
  Check(Regressor(aggregate("AVERAGE")), {kX}, {{0.5, 0, -1.5, 1, 0.5, 4}});
  Check(Regressor(aggregate("MIN")), {kX}, {{1, largest, -3, 2, -3, 8}});
  Check(Regressor(aggregate("MAX")), {kX}, {{1, -largest, -3, 2, 4, 8}});
  // The base is added to the mean.
  Check(Regressor(aggregate("AVERAGE") + Numbers("base_values", {10, 20})), {kX},
        {{10.5, 20, 8.5, 21, 10.5, 24}});
  Check(Regressor(aggregate("SUM") + Numbers("base_values", {10})), {kX},
        {{11, 10, 7, 12, 11, 18}});
  Check(Regressor(aggregate("SUM") + Text("post_transform", "LOGISTIC")), {kX},
        {Each({1, 0, -3, 2, 1, 8}, Sigmoid)});
  // NaN: the second child, or the first one where the list says so.
  Check(Regressor(""), {{kNan, kNan, kNan, 0, 0, kNan}}, {{4, 8, 0, 2, 1, 0}});
  Check(Regressor(Ints("nodes_missing_value_tracks_true", {0, 0, 1, 0, 0, 1, 0, 0})),
        {{kNan, kNan, kNan, 5, 2, kNan}}, {{-3, 2, 1, 8, -3, 2}});
}

TEST_CASE("ONNX ml: TreeEnsembleRegressor in f64") {
  Tables tables;
  // f32 cannot tell 1 and this split apart.
  tables.values[1] = 1 - 0x1p-40;
  const std::string votes =
      Ints("target_treeids", tables.vote_trees) + Ints("target_nodeids", tables.vote_ids) +
      Ints("target_ids", tables.targets) + Vector("target_weights_as_tensor", kF64, tables.weights);
  for (const int type : {kF32, kF64})
    Check({"TreeEnsembleRegressor",
           tables.nodes() + votes + Vector("base_values_as_tensor", kF64, {100, 200}) +
               Vector("nodes_values_as_tensor", kF64, tables.values),
           {Rows(type, 2, 2)}},
          {{1, 1, 0.5, 0}}, {{97, 202, 98, 200}});
}

TEST_CASE("ONNX ml: TreeEnsembleClassifier") {
  const std::string labels = Ints("classlabels_int64s", {10, 20});
  const std::vector<double> scores = {1, 0, -3, 2, 1, 8};
  Check(Classifier(labels), {kX}, {{10, 20, 20}, scores});
  Check(Classifier(labels + Numbers("base_values", {5, 1})), {kX},
        {{10, 20, 20}, {6, 1, 2, 3, 6, 9}});
  Check(Classifier(labels + Text("post_transform", "LOGISTIC")), {kX},
        {{10, 20, 20}, Each(scores, Sigmoid)});
  // One more class than votes.
  Check(Classifier(Ints("classlabels_int64s", {7, 8, 9}) + Numbers("base_values", {0, 0, 5})), {kX},
        {{9, 9, 8}, {1, 0, 5, -3, 2, 5, 1, 8, 5}});
  CHECK(LabelsOf(Classifier(Texts("classlabels_strings", {"a", "b"})), {kX}) ==
        std::vector<std::string>{"a", "b", "b"});
  CHECK(Refused(Classifier(""), "there are no labels"));
  CHECK(Refused(Classifier(labels + Numbers("base_values", {1, 2, 3})),
                "base_values has 3 entries; expected 1 or 2"));
  CHECK(Refused(Classifier(Ints("classlabels_int64s", {7, 8, 9}) + Numbers("base_values", {1, 2})),
                "base_values has 2 entries; expected 1 or 3"));
}

TEST_CASE("ONNX ml: TreeEnsembleClassifier whose trees vote for one class") {
  Tables tables;
  tables.targets = {0, 0, 0, 0, 0};
  tables.weights = {0.25, 0.125, 0.5, 0.25, 0.125};
  const std::vector<double> s = {0.25, 0.25, 0.875};  // of the second class
  const std::string labels = Ints("classlabels_int64s", {10, 20});
  Check(Classifier(labels, tables), {kX},
        {{10, 10, 20}, {1 - s[0], s[0], 1 - s[1], s[1], 1 - s[2], s[2]}});
  Check(Classifier(labels + Text("post_transform", "LOGISTIC"), tables), {kX},
        {{20, 20, 20},
         {Sigmoid(-s[0]), Sigmoid(s[0]), Sigmoid(-s[1]), Sigmoid(s[1]), Sigmoid(-s[2]),
          Sigmoid(s[2])}});
  Check(Classifier(labels + Text("post_transform", "SOFTMAX"), tables), {kX},
        {{20, 20, 20},
         {Sigmoid(-2 * s[0]), Sigmoid(2 * s[0]), Sigmoid(-2 * s[1]), Sigmoid(2 * s[1]),
          Sigmoid(-2 * s[2]), Sigmoid(2 * s[2])}});
  // A single label is that of the second class.
  Check(Classifier(Ints("classlabels_int64s", {1}), tables), {kX},
        {{0, 0, 1}, {1 - s[0], s[0], 1 - s[1], s[1], 1 - s[2], s[2]}});
  CHECK(Refused(Classifier(Texts("classlabels_strings", {"a"}), tables),
                "a single string label is unsupported"));
  tables.targets = {1, 1, 1, 1, 1};
  Check(Classifier(labels + Numbers("base_values", {100, 0.125}), tables), {kX},
        {{10, 10, 20}, {0.625, 0.375, 0.625, 0.375, 0, 1}});
}

TEST_CASE("ONNX ml: tables that are not trees") {
  const auto refused = [](auto change, std::string_view why) {
    Tables tables;
    change(tables);
    return Refused(Regressor("", tables), why);
  };
  CHECK(refused([](Tables& t) { t.on_true[1] = 3; },
                "tree 5: node 3 is its own descendant, or that of such a node"));
  CHECK(refused([](Tables& t) { t.on_false[2] = 7; },
                "tree 5: the nodes 3 and 9 have no parent; expected one root"));
  CHECK(refused([](Tables& t) { t.on_false[2] = 6; },
                "tree 5: node 7 has the child 6, which does not exist"));
  CHECK(refused([](Tables& t) { t.ids[3] = 4; }, "tree 5: there are several nodes 4"));
  CHECK(refused([](Tables& t) { t.modes[1] = "BRANCH"; },
                "tree 5: node 3 has the mode \"BRANCH\", which is unknown"));
  CHECK(refused([](Tables& t) { t.vote_ids[4] = 5; },
                "tree 2: there are votes of node 5, which does not exist"));
  CHECK(refused([](Tables& t) { t.values.pop_back(); },
                "nodes_values has 7 entries, but there are 8 nodes"));
  CHECK(refused([](Tables& t) { t.weights.pop_back(); }, "target_weights 4"));
  CHECK(refused([](Tables& t) { t.features[1] = 2; },
                "a row has 2 elements, but a node has feature 2"));
  CHECK(Refused(Regressor(Int("n_targets", 1)), "is for target 1 of 1"));
  CHECK(Refused(Regressor(Text("aggregate_function", "SUMS")),
                "aggregate_function is \"SUMS\", which is unknown"));
  // A child may have two parents.
  Tables shared;
  shared.on_true[2] = 4;
  shared.on_false[1] = 7;
  shared.modes[3] = "LEAF";
  shared.trees.erase(shared.trees.begin() + 3);
  for (auto* list : {&shared.ids, &shared.features, &shared.on_true, &shared.on_false})
    list->erase(list->begin() + 3);
  shared.modes.erase(shared.modes.begin() + 3);
  shared.values.erase(shared.values.begin() + 3);
  shared.vote_ids[1] = 9;
  Check(Regressor("", shared), {kX}, {{1, 0, -2, 0, 1, 10}});
}

namespace {

// x0 <= 1 ? leaf 0 : node 1; node 1: x1 is 2, 3 or 5 ? leaf 1 : node 2; node 2: x1 is 7 ? leaf 2 :
// leaf 3.
std::string Members(int type, std::string_view members) {
  return Ints("nodes_featureids", {0, 1, 1}) + Vector("nodes_splits", type, {1, 0, 0}) +
         Vector("nodes_modes", kU8, {0, 6, 6}) + Ints("nodes_truenodeids", {0, 1, 2}) +
         Ints("nodes_trueleafs", {1, 1, 1}) + Ints("nodes_falsenodeids", {1, 2, 3}) +
         Ints("nodes_falseleafs", {0, 0, 1}) + Ints("tree_roots", {0}) +
         Ints("leaf_targetids", {0, 1, 0, 1}) + Vector("leaf_weights", type, {1, 2, 4, 8}) +
         fmt::format(
             "attribute {{ name: \"membership_values\" type: TENSOR t {{ data_type: {} {} }} }} ",
             type, members);
}

Model Ensemble(const std::string& attributes, int type, int64_t rows = 6) {
  return {"TreeEnsemble", attributes, {Rows(type, rows, 2)}, 1, 5};
}

}  // namespace

TEST_CASE("ONNX ml: TreeEnsemble") {
  const std::vector<double> x = {0, 2, 2, 3, 2, 7, 2, 4, kNan, kNan, 2, 5};
  const std::vector<double> want = {1, 0, 0, 2, 4, 0, 0, 8, 0, 8, 0, 2};
  const std::string f32 = Members(kF32, "dims: 5 float_data: [2, 3, 5, nan, 7]");
  Check(Ensemble(f32, kF32), {x}, {want});
  Check(Ensemble(Members(kF64, "dims: 6 double_data: [2, 3, 5, nan, 7, nan]"), kF64), {x}, {want});
  Check(Ensemble(f32 + Int("n_targets", 2) + Int("aggregate_function", 0), kF32), {x}, {want});
  Check(Ensemble(f32 + Int("post_transform", 2), kF32), {x}, {Each(want, Sigmoid)});
  // NaN is no member, but may continue at the child for members.
  Check(Ensemble(f32 + Ints("nodes_missing_value_tracks_true", {0, 1, 0}), kF32, 1), {{2, kNan}},
        {{0, 2}});
  // The first set is empty.
  Check(Ensemble(Members(kF32, "dims: 3 float_data: [nan, 7, nan]"), kF32, 2), {{2, 2, 2, 7}},
        {{0, 8, 4, 0}});
  CHECK(Refused(Ensemble(Members(kF32, "dims: 2 float_data: [2, 3]"), kF32),
                "membership_values has 1 sets for 2 nodes"));
  CHECK(Refused(Ensemble(f32 + Int("aggregate_function", 4), kF32),
                "aggregate_function is 4; expected 0 to 3"));
  CHECK(Refused(Ensemble(f32 + Int("post_transform", 5), kF32),
                "post_transform is 5; expected 0 to 4"));
  CHECK(Refused(
      Ensemble(Members(kF64, "dims: 2 double_data: [nan, 2]") + Int("post_transform", 1), kF64),
      "post_transform of f64"));
}

TEST_CASE("ONNX ml: ZipMap is the tensor of its values") {
  const Model model = {"ZipMap", Ints("classlabels_int64s", {4, 6}), {Rows(kF32, 2, 2)}};
  Check(model, {{1, 2, 3, 4}}, {{1, 2, 3, 4}});
  Check({"ZipMap", Texts("classlabels_strings", {"a", "b"}), {Rows(kF32, 2, 2)}}, {{1, 2, 3, 4}},
        {{1, 2, 3, 4}});
  CHECK(Refused({"ZipMap", Ints("classlabels_int64s", {4}), {Rows(kF32, 2, 2)}},
                "there are 1 keys for 2 columns"));
}

}  // namespace nn::test::onnx_trees_test
