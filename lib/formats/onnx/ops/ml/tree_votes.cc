// TreeEnsembleRegressor and TreeEnsembleClassifier of ai.onnx.ml, which version 5 deprecates in
// favor of TreeEnsemble.
#include <algorithm>
#include <iterator>
#include <optional>

#include "base/text/text.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/ml.h"
#include "formats/onnx/import/tree_tables.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::onnx {
namespace {

constexpr std::string_view kAggregates[] = {"SUM", "AVERAGE", "MIN", "MAX"};

// Adds the base values, one for all targets or one for each.
Result<Value*> WithBase(ImportContext& ctx, Value* scores, const RealList& base, int64_t targets) {
  if (base.values.empty()) return scores;
  const auto count = static_cast<int64_t>(base.values.size());
  if (count != 1 && count != targets)
    return ModelError("base_values has {} entries; expected 1 or {}", count, targets);
  return ctx.Add("add", {scores, RealConstant(ctx, scores->dtype(), {count}, base.values)});
}

Status ImportTreeRegressor(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, RowsOf(ctx));
  NN_ASSIGN(TreeTables tables, ReadTreeTables(ctx, "target"));
  NN_ASSIGN(const PostTransform transform, PostTransformOf(ctx));
  NN_ASSIGN(const RealList base, RealsOf(ctx, "base_values"));
  const std::string aggregate = ctx.String("aggregate_function", kAggregates[0]);
  const auto known = std::ranges::find(kAggregates, aggregate);
  if (known == std::end(kAggregates))
    return ModelError("aggregate_function is {}, which is unknown", Quote(aggregate));
  TreeEnsembleAttrs& a = tables.attrs;
  a.aggregate = static_cast<VoteSum>(known - std::begin(kAggregates));
  const int64_t largest = a.vote_targets.empty() ? 0 : std::ranges::max(a.vote_targets);
  a.targets = ctx.Int("n_targets", std::max<int64_t>(largest, 0) + 1);
  const int64_t targets = a.targets;
  NN_ASSIGN(Value * y, AddTrees(ctx, x, std::move(tables)));
  NN_ASSIGN(y, WithBase(ctx, y, base, targets));
  NN_ASSIGN(y, Converted(ctx, y, DType::kF32));
  NN_ASSIGN(y, Transformed(ctx, transform, y));
  ctx.SetOutput(0, y);
  return {};
}

// The only class for which the trees vote, where there are at most two.
std::optional<int64_t> OnlyClass(const TreeEnsembleAttrs& a, int64_t classes) {
  if (classes > 2) return std::nullopt;
  if (a.vote_targets.empty()) return 0;
  const auto [least, most] = std::ranges::minmax(a.vote_targets);
  if (least != most || least < 0 || least >= classes) return std::nullopt;
  return least;
}

// The scores of two classes from those of the second one, [N, 1], before the transform.
Result<Value*> BothClasses(ImportContext& ctx, Value* second, PostTransform transform) {
  Value* first = nullptr;
  if (transform == PostTransform::kNone || transform == PostTransform::kProbit) {
    NN_ASSIGN(Value* const one, ctx.Number(DType::kF32, 1));
    NN_ASSIGN(first, ctx.Add("sub", {one, second}));
  } else {
    NN_ASSIGN(first, ctx.Add("neg", {second}));
  }
  return Pairs(ctx, first, second);
}

Status ImportTreeClassifier(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, RowsOf(ctx));
  NN_ASSIGN(Value * labels, ClassLabels(ctx, "classlabels_int64s"));
  const int64_t classes = LengthOfConstant(labels);
  if (classes == 0) return ModelError("there are no labels");
  NN_ASSIGN(TreeTables tables, ReadTreeTables(ctx, "class"));
  NN_ASSIGN(const PostTransform transform, PostTransformOf(ctx));
  NN_ASSIGN(RealList base, RealsOf(ctx, "base_values"));
  const auto only = OnlyClass(tables.attrs, classes);
  tables.attrs.targets = only ? 1 : classes;
  if (only) {
    std::ranges::fill(tables.attrs.vote_targets, 0);
    if (base.values.size() == 2 && classes == 2)
      base.values = {base.values[static_cast<size_t>(*only)]};
  }
  NN_ASSIGN(Value * y, AddTrees(ctx, x, std::move(tables)));
  NN_ASSIGN(y, WithBase(ctx, y, base, only ? 1 : classes));
  NN_ASSIGN(y, Converted(ctx, y, DType::kF32));
  if (only) {
    NN_ASSIGN(y, BothClasses(ctx, y, transform));
  }
  NN_ASSIGN(y, Transformed(ctx, transform, y));
  ctx.SetOutput(1, y);
  if (classes == 1) {
    NN_ASSIGN(labels, OrNoClass(ctx, labels));
  }
  NN_ASSIGN(Value * winner, Winners(ctx, y));
  NN_ASSIGN(winner, LabelsAt(ctx, labels, winner));
  ctx.SetOutput(0, winner);
  return {};
}

constexpr ImportRow kTreeVoteImports[] = {
    {.op = "TreeEnsembleRegressor", .import = ImportTreeRegressor, .domain = kMlDomain},
    {.op = "TreeEnsembleClassifier", .import = ImportTreeClassifier, .domain = kMlDomain}};

}  // namespace

Family TreeVotesFamily() {
  return {.imports = kTreeVoteImports};
}

}  // namespace nn::onnx
