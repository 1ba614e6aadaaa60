// Findings on decision trees of ai.onnx.ml that no run could follow, and the opset versions that
// findings about types name.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "formats/format.h"
#include "support/files.h"
#include "validators/rule_cases.h"
#include "validators/runner.h"

namespace nn::test::onnx_ensembles_test {
namespace {

// "" if there are no findings; else "RULE: message" of each, one a line.
std::string FindingsOf(const std::string& text) {
  const TempDir dir;
  WriteText(dir / "m.onnx", EncodeProto("nn.onnx.pb.ModelProto", text));
  const ReadModel read = ReadOrFail(dir / "m.onnx");
  std::string out;
  for (const Finding& f : Validate(*read.model, *read.format, {}))
    out += fmt::format("{}: {}\n", f.rule, f.message);
  return out;
}

std::string Ints(std::string_view name, const std::vector<int64_t>& values) {
  return fmt::format("attribute {{ name: \"{}\" type: INTS ints: [{}] }} ", name,
                     fmt::join(values, ", "));
}
std::string Int(std::string_view name, int64_t value) {
  return fmt::format("attribute {{ name: \"{}\" type: INT i: {} }} ", name, value);
}
std::string Floats(std::string_view name, const std::vector<double>& values) {
  return fmt::format("attribute {{ name: \"{}\" type: FLOATS floats: [{}] }} ", name,
                     fmt::join(values, ", "));
}
// A tensor of u8 or f32.
std::string Vector(std::string_view name, const std::vector<int64_t>& values, bool bytes) {
  return fmt::format(
      "attribute {{ name: \"{}\" type: TENSOR t {{ data_type: {} dims: {} {}: [{}] }} }} ", name,
      bytes ? 2 : 1, values.size(), bytes ? "int32_data" : "float_data", fmt::join(values, ", "));
}

// A row of the input has one feature.
std::string Model(std::string_view op, int version, const std::string& attributes) {
  constexpr std::string_view kValue =
      "put {{ name: \"{}\" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_param: \"N\" }} "
      "dim {{ dim_value: 1 }} }} }} }} }} ";
  return fmt::format(
      "ir_version: 8 opset_import {{ version: 17 }} opset_import {{ domain: \"ai.onnx.ml\" "
      "version: "
      "{} }} graph {{ name: \"g\" node {{ op_type: \"{}\" domain: \"ai.onnx.ml\" input: \"x\" "
      "output: \"y\" {}}} in{}out{}}}",
      version, op, attributes, fmt::format(kValue, "x"), fmt::format(kValue, "y"));
}

// A tree of the node 0 with the leaf 1 and the node 2, which has the leaves 3 and 4.
struct Lists {
  std::vector<int64_t> ids = {0, 1, 2, 3, 4};
  std::vector<int64_t> features = {0, 0, 0, 0, 0};
  std::vector<std::string> modes = {"BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"};
  std::vector<double> values = {0, 0, 1, 0, 0};
  std::vector<int64_t> on_true = {1, 0, 3, 0, 0};
  std::vector<int64_t> on_false = {2, 0, 4, 0, 0};
  std::vector<int64_t> vote_nodes = {1, 3, 4};
  std::vector<int64_t> targets = {0, 0, 0};

  std::string text() const {
    std::string list;
    for (const std::string& mode : modes) list += fmt::format("strings: \"{}\" ", mode);
    return Int("n_targets", 1) + Ints("nodes_treeids", {0, 0, 0, 0, 0}) +
           Ints("nodes_nodeids", ids) + Ints("nodes_featureids", features) +
           fmt::format("attribute {{ name: \"nodes_modes\" type: STRINGS {}}} ", list) +
           Floats("nodes_values", values) + Ints("nodes_truenodeids", on_true) +
           Ints("nodes_falsenodeids", on_false) + Ints("target_treeids", {0, 0, 0}) +
           Ints("target_nodeids", vote_nodes) + Ints("target_ids", targets) +
           Floats("target_weights", {10, 20, 30});
  }
};

TEST_CASE("ONNX trees: lists of nodes that are no trees") {
  const auto findings = [](void (*change)(Lists&)) {
    Lists lists;
    change(lists);
    return FindingsOf(Model("TreeEnsembleRegressor", 3, lists.text()));
  };
  CHECK(findings([](Lists&) {}) == "");
  struct Row {
    void (*change)(Lists&);
    std::string_view expected;
  };
  const Row rows[] = {
      {[](Lists& t) { t.on_false[2] = 77; }, "node 2 has the child 77, which does not exist"},
      {[](Lists& t) { t.on_true[2] = 0; }, "descendant"},
      {[](Lists& t) { t.on_true[2] = 2; }, "no parent"},
      {[](Lists& t) { t.ids[4] = 3, t.on_false[2] = 3; }, "there are several nodes 3"},
      {[](Lists& t) { t.features[2] = 5; }, "feature 5"},
      {[](Lists& t) { t.features[0] = -1; }, "feature -1"},
      {[](Lists& t) { t.targets[1] = 3; }, "target 3"},
      {[](Lists& t) { t.vote_nodes[1] = 99; }, "99"},
      {[](Lists& t) { t.modes[0] = "BRANCH_NONE"; }, "BRANCH_NONE"},
      {[](Lists& t) { t.values.pop_back(); }, "nodes_values"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.expected);
    const std::string text = findings(row.change);
    CHECK_MESSAGE(text.find(row.expected) != std::string::npos, text);
  }
}

// The node 0 with the leaf 0 and the node 1, which has the leaves 1 and 2.
struct Ensemble {
  std::vector<int64_t> roots = {0};
  std::vector<int64_t> features = {0, 0};
  std::vector<int64_t> splits = {1, 2};
  std::vector<int64_t> modes = {0, 0};
  std::vector<int64_t> on_true = {0, 1};
  std::vector<int64_t> true_leaves = {1, 1};
  std::vector<int64_t> on_false = {1, 2};
  std::vector<int64_t> false_leaves = {0, 1};
  std::vector<int64_t> targets = {0, 0, 0};
  int64_t aggregate = 1;
  int64_t transform = 0;

  std::string text() const {
    return Ints("tree_roots", roots) + Ints("nodes_featureids", features) +
           Vector("nodes_splits", splits, false) + Vector("nodes_modes", modes, true) +
           Ints("nodes_truenodeids", on_true) + Ints("nodes_trueleafs", true_leaves) +
           Ints("nodes_falsenodeids", on_false) + Ints("nodes_falseleafs", false_leaves) +
           Ints("leaf_targetids", targets) + Vector("leaf_weights", {10, 20, 30}, false) +
           Int("n_targets", 1) + Int("aggregate_function", aggregate) +
           Int("post_transform", transform);
  }
};

TEST_CASE("ONNX trees: nodes and leaves of TreeEnsemble") {
  const auto findings = [](void (*change)(Ensemble&)) {
    Ensemble ensemble;
    change(ensemble);
    return FindingsOf(Model("TreeEnsemble", 5, ensemble.text()));
  };
  CHECK(findings([](Ensemble&) {}) == "");
  struct Row {
    void (*change)(Ensemble&);
    std::string_view expected;
  };
  const Row rows[] = {
      {[](Ensemble& t) {
         t.on_false = {0, 2};
       },
       "node 0 is its own descendant"},
      {[](Ensemble& t) {
         t.on_false = {1, 0}, t.false_leaves = {0, 0};
       },
       "node 0 is its own descendant"},
      {[](Ensemble& t) { t.on_false[0] = 9; }, "refers to node 9"},
      {[](Ensemble& t) { t.on_false[0] = -3; }, "refers to node -3"},
      {[](Ensemble& t) { t.on_true[0] = 9; }, "refers to leaf 9"},
      {[](Ensemble& t) { t.roots = {5}; }, "refers to node 5"},
      {[](Ensemble& t) { t.roots = {-1}; }, "refers to node -1"},
      {[](Ensemble& t) { t.features[0] = 9; }, "feature 9"},
      {[](Ensemble& t) { t.features[0] = -1; }, "feature -1"},
      {[](Ensemble& t) { t.modes[0] = 9; }, "mode 9; expected 0 to 6"},
      {[](Ensemble& t) { t.targets[0] = 4; }, "target 4"},
      {[](Ensemble& t) { t.splits.pop_back(); }, "nodes_splits"},
      {[](Ensemble& t) { t.aggregate = 9; }, "is 9; must be 0 to 3"},
      {[](Ensemble& t) { t.transform = 9; }, "is 9; must be 0 to 4"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.expected);
    const std::string text = findings(row.change);
    CHECK_MESSAGE(text.find(row.expected) != std::string::npos, text);
  }
}

TEST_CASE("ONNX types: findings name the opset that the model imports") {
  // ReduceMax has a version of opset 18, which later opsets up to 19 share.
  for (const int opset : {18, 19}) {
    const std::string text = FindingsOf(fmt::format(
        "ir_version: 8 opset_import {{ version: {} }} graph {{ name: \"g\" node {{ op_type: "
        "\"ReduceMax\" input: \"x\" output: \"y\" }} input {{ name: \"x\" type {{ tensor_type {{ "
        "elem_type: 9 shape {{ dim {{ dim_value: 2 }} }} }} }} }} output {{ name: \"y\" type {{ "
        "tensor_type {{ elem_type: 9 shape {{ dim {{ dim_value: 1 }} }} }} }} }} }}",
        opset));
    const std::string expected = fmt::format("of type bool, which opset {} does not", opset);
    CHECK_MESSAGE(text.find("ONNX-TYPE-001: ") != std::string::npos, text);
    CHECK_MESSAGE(text.find(expected) != std::string::npos, text);
  }
}

}  // namespace
}  // namespace nn::test::onnx_ensembles_test
