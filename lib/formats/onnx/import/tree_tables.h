// The tables of TreeEnsembleRegressor and TreeEnsembleClassifier, where nodes and leaves are in one
// list and have identifiers.
#pragma once

#include <string_view>
#include <vector>

#include "formats/onnx/import/import.h"
#include "ops/reduce/tree_ensemble.h"

namespace nn::onnx {

// Numbers of an attribute in f32, or of the attribute with the suffix "_as_tensor" in f64.
struct RealList {
  std::vector<double> values;
  bool is_double = false;
};
Result<RealList> RealsOf(const ImportContext& ctx, std::string_view name);

struct TreeTables {
  TreeEnsembleAttrs attrs;  // without `targets`
  std::vector<double> splits;
  std::vector<double> weights;
  bool is_double = false;  // some of the numbers are
};

// Reads the attributes "nodes_..." and those of the votes, "<votes>_treeids" and so on. kModel,
// with the identifiers, if the nodes are not trees.
Result<TreeTables> ReadTreeTables(const ImportContext& ctx, std::string_view votes);

// tree_ensemble on the rows, whose type it has unless some of its numbers need f64.
Result<Value*> AddTrees(ImportContext& ctx, Value* rows, TreeTables tables);

}  // namespace nn::onnx
