#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "coreml_model.pb.h"
#include "formats/coreml/describe/summary.h"

namespace nn::coreml {
namespace {

void Count(uint64_t numbers, size_t bytes_each, Summary& totals) {
  totals.parameter_count += numbers;
  totals.parameter_bytes += numbers * bytes_each;
}

// Lists of numbers, one per message: "3 x 4", or "3, of 2 to 5" numbers.
struct Rows {
  uint64_t rows = 0, numbers = 0, least = 0, most = 0;

  void Add(uint64_t size) {
    least = rows == 0 ? size : std::min(least, size);
    most = std::max(most, size);
    ++rows;
    numbers += size;
  }
  std::string Text() const {
    return least == most ? fmt::format("{} x {}", rows, most)
                         : fmt::format("{}, of {} to {}", rows, least, most);
  }
};

Rows RowsOf(const Fields& owner, std::string_view list, std::string_view numbers) {
  Rows out;
  for (const Fields& row : owner.List(list)) out.Add(row.Count(numbers));
  return out;
}

void AddLinear(const Fields& m, Summary& totals, Facts& facts) {
  const Rows rows = RowsOf(m, "weights", "value");
  facts.emplace_back("weights", rows.Text());
  AddFields(m, "", {"weights"}, totals, facts);
  Count(rows.numbers + m.Count("offset"), sizeof(double), totals);
}

void AddVectorMachine(const Fields& m, Summary& totals, Facts& facts) {
  const std::string_view form = m.OneOf("supportVectors");
  const bool sparse = form == "sparseSupportVectors";
  Rows vectors;
  if (!form.empty()) vectors = RowsOf(m.Sub(form), "vectors", sparse ? "nodes" : "values");
  facts.emplace_back("supportVectors", vectors.Text() + (sparse ? ", sparse" : ""));
  Rows coefficients;
  if (m.message().GetDescriptor()->FindFieldByName("coefficients")->is_repeated())
    coefficients = RowsOf(m, "coefficients", "alpha");
  else
    coefficients.Add(m.Sub("coefficients").Count("alpha"));
  facts.emplace_back("coefficients", coefficients.Text());
  AddFields(m, "", {"sparseSupportVectors", "denseSupportVectors", "coefficients"}, totals, facts);
  Count(vectors.numbers + coefficients.numbers, sizeof(double), totals);
}

void AddTrees(const pb::TreeEnsembleParameters& trees, Facts& facts) {
  std::set<uint64_t> ids;
  uint64_t leaves = 0, features = 0;
  for (const auto& node : trees.nodes()) {
    ids.insert(node.treeid());
    if (node.nodebehavior() == pb::TreeEnsembleParameters::TreeNode::LeafNode)
      ++leaves;
    else
      features = std::max(features, node.branchfeatureindex() + 1);
  }
  facts.emplace_back("trees", std::to_string(ids.size()));
  facts.emplace_back("nodes", fmt::format("{}, {} of them leaves", trees.nodes_size(), leaves));
  facts.emplace_back("features", fmt::format("{} at least", features));
}

template <typename Ensemble>
void AddEnsemble(const Fields& m, Summary& totals, Facts& facts) {
  AddTrees(static_cast<const Ensemble&>(m.message()).treeensemble(), facts);
  AddFields(m.Sub("treeEnsemble"), "", {"nodes"}, totals, facts);
  AddFields(m, "", {"treeEnsemble"}, totals, facts);
}

void AddNeighbors(const Fields& m, Summary& totals, Facts& facts) {
  const Fields index = m.Sub("nearestNeighborsIndex");
  const Rows samples = RowsOf(index, "floatSamples", "vector");
  facts.emplace_back("samples", samples.Text());
  AddFields(index, "", {"floatSamples"}, totals, facts);
  AddFields(m, "", {"nearestNeighborsIndex"}, totals, facts);
  Count(samples.numbers, sizeof(float), totals);
}

void AddProbit(const Fields& m, Summary& totals, Facts& facts) {
  const Rows weights = RowsOf(m, "features", "weights");
  facts.emplace_back("weights", fmt::format("{} of {} features", weights.numbers, weights.rows));
  AddFields(m, "", {"features"}, totals, facts);
  Count(2 * weights.numbers, sizeof(double), totals);  // means and precisions
}

void AddRecommender(const Fields& m, Summary& totals, Facts& facts) {
  const Rows items = RowsOf(m, "itemItemSimilarities", "similarItemList");
  facts.emplace_back("similarities", fmt::format("{} of {} items", items.numbers, items.rows));
  AddFields(m, "", {"itemItemSimilarities"}, totals, facts);
  Count(items.numbers, sizeof(double), totals);
}

void AddThresholding(const Fields& m, Summary&, Facts& facts) {
  facts.emplace_back("precisionRecallCurves", std::to_string(m.Count("precisionRecallCurves")));
}

struct KindRow {
  std::string_view kind;
  void (*add)(const Fields& model, Summary& totals, Facts& facts);
};

// Kinds with large tables; all others are described by their fields.
constexpr KindRow kRows[] = {
    {"glmRegressor", AddLinear},
    {"glmClassifier", AddLinear},
    {"supportVectorRegressor", AddVectorMachine},
    {"supportVectorClassifier", AddVectorMachine},
    {"treeEnsembleRegressor", AddEnsemble<pb::TreeEnsembleRegressor>},
    {"treeEnsembleClassifier", AddEnsemble<pb::TreeEnsembleClassifier>},
    {"bayesianProbitRegressor", AddProbit},
    {"kNearestNeighborsClassifier", AddNeighbors},
    {"itemSimilarityRecommender", AddRecommender},
    {"classConfidenceThresholding", AddThresholding},
};

}  // namespace

void AddKind(const Fields& model, std::string_view kind, Summary& totals, Facts& facts) {
  if (kind.empty()) return;
  for (const KindRow& row : kRows)
    if (row.kind == kind) return row.add(model.Sub(kind), totals, facts);
  AddFields(model.Sub(kind), "", {}, totals, facts);
}

}  // namespace nn::coreml
