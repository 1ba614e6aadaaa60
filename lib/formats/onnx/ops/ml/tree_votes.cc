// TreeEnsembleRegressor and TreeEnsembleClassifier of ai.onnx.ml, which version 5 deprecates in
// favor of TreeEnsemble.
#include <algorithm>
#include <iterator>
#include <optional>

#include "base/text/text.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/ml.h"
#include "formats/onnx/import/tree_tables.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

constexpr std::string_view kAggregates[] = {"SUM", "AVERAGE", "MIN", "MAX"};

// The votes with the base values, one for all targets or one for each; f32.
Result<Term> ScoresOf(ImportContext& ctx, Value* x, TreeTables tables, const RealList& base) {
  const int64_t targets = tables.attrs.targets;
  NN_ASSIGN(Value* const votes, AddTrees(ctx, x, std::move(tables)));
  const auto count = static_cast<int64_t>(base.values.size());
  if (count > 1 && count != targets)
    return ModelError("base_values has {} entries; expected 1 or {}", count, targets);
  const DType dtype = votes->dtype();
  const Term y = count == 0 ? Term(votes) : votes + Term(RealTensor(dtype, {count}, base.values));
  return As(y, dtype, DType::kF32);
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
  NN_ASSIGN(const Term y, ScoresOf(ctx, x, std::move(tables), base));
  return ctx.EmitTerm(Transformed(transform, y));
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
Term BothClasses(const Term& second, PostTransform transform) {
  const bool is_share = transform == PostTransform::kNone || transform == PostTransform::kProbit;
  return Pairs(is_share ? 1 - second : -second, second);
}

Status ImportTreeClassifier(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, RowsOf(ctx));
  Value* labels = ClassLabels(ctx, "classlabels_int64s");
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
  NN_ASSIGN(Term y, ScoresOf(ctx, x, std::move(tables), base));
  if (only) y = BothClasses(y, transform);
  y = Transformed(transform, y);
  NN_RETURN_IF_ERROR(ctx.EmitTerm(y, 1));
  if (classes == 1) {
    NN_ASSIGN(labels, OrNoClass(ctx, labels));
  }
  return ctx.EmitTerm(LabelsAt(labels, Winners(y)));
}

constexpr ImportRow kTreeVoteImports[] = {
    {.op = "TreeEnsembleRegressor", .import = ImportTreeRegressor, .domain = kMlDomain},
    {.op = "TreeEnsembleClassifier", .import = ImportTreeClassifier, .domain = kMlDomain}};

}  // namespace

Family TreeVotesFamily() {
  return {.imports = kTreeVoteImports};
}

}  // namespace nn::onnx
