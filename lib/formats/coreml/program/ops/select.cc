// Selection and generation of elements: by order, by position, by overlap of boxes.
#include "ops/reduce/selection.h"

#include <algorithm>

#include "formats/common/suppression.h"
#include "formats/coreml/import/suppression.h"
#include "formats/coreml/program/export/broadcast.h"
#include "formats/coreml/program/family.h"
#include "formats/coreml/program/import/operands.h"
#include "ops/array/generate.h"
#include "ops/nn/detect/non_max_suppression.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

// k = -1: all elements of the axis.
Status ImportTopk(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(Value* const given, ctx.Optional("k"));
  TopKAttrs a{.index_type = DType::kI32};
  NN_ASSIGN(a.axis, ctx.Axis("axis", x->type().rank()));
  NN_ASSIGN(const bool ascending, ctx.Bool("ascending"));
  a.largest = !ascending;
  if (ctx.definition().Input("sort") != nullptr) {
    NN_ASSIGN(a.sorted, ctx.Bool("sort"));
  }
  const auto known = KnownElements(given);
  const bool all = known && known->size() == 1 && known->front() == -1;
  const Term k = all ? SizeOfAxis(x, a.axis) : given == nullptr ? Vector({1}) : Term(given);
  const auto y = ApplyAll("top_k", {x, k}, a, 2);
  NN_RETURN_IF_ERROR(ctx.EmitTerm(y[0]));
  return ctx.output_count() > 1 ? ctx.EmitCast(y[1], 1) : Status();
}

Status ImportArgsort(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("x"));
  NN_ASSIGN(const int64_t axis, ctx.Axis("axis", x->type().rank()));
  NN_ASSIGN(const bool ascending, ctx.Bool("ascending"));
  const TopKAttrs a{.axis = axis, .largest = !ascending, .index_type = DType::kI32};
  return ctx.EmitTerm(ApplyAll("top_k", {x, SizeOfAxis(x, axis)}, a, 2)[1]);
}

// One row per element that is not 0.
Status ImportNonZero(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  return ctx.EmitCast(Transpose(Apply("non_zero", {x}), {1, 0}));
}

// Both values, of the type that one of them or the file declares.
Result<Tensor> OffAndOn(const ImportContext& ctx) {
  NN_ASSIGN(const std::optional<Tensor> off, ctx.Contents("off_value"));
  NN_ASSIGN(const std::optional<Tensor> on, ctx.Contents("on_value"));
  for (const auto* const value : {&off, &on})
    if (*value && (*value)->elements() != 1)
      return ModelError("off_value or on_value has {} elements, not 1", (*value)->elements());
  const DType dtype = on ? on->dtype() : off ? off->dtype() : ctx.DeclaredType();
  NN_ASSIGN(TensorBuilder values, TensorBuilder::Create(dtype, {2}));
  values.SetDouble(0, off ? off->GetDouble(0) : 0);
  values.SetDouble(1, on ? on->GetDouble(0) : 1);
  return values.Finish();
}

Status ImportOneHot(ImportContext& ctx) {
  NN_ASSIGN(Value* const indices, ctx.In("indices"));
  NN_ASSIGN(Value* const size, ctx.In("one_hot_vector_size"));
  NN_ASSIGN(const int64_t axis, ctx.Int("axis"));
  NN_ASSIGN(Tensor values, OffAndOn(ctx));
  return ctx.Emit("one_hot", {indices, size, std::move(values)}, OneHotAttrs{axis, false});
}

// A negative number keeps all diagonals on its side.
Status ImportBandPart(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(const int64_t lower, ctx.Int("lower"));
  NN_ASSIGN(const int64_t upper, ctx.Int("upper"));
  Term y = x;
  if (lower >= 0) y = Apply("trilu", {y}, TriluAttrs{true, -lower});
  if (upper >= 0) y = Apply("trilu", {y}, TriluAttrs{false, upper});
  return ctx.EmitTerm(y);
}

Status ImportRange1d(ImportContext& ctx) {
  NN_ASSIGN(Value* const start, ctx.In("start"));
  NN_ASSIGN(Value* const end, ctx.In("end"));
  NN_ASSIGN(Value* const step, ctx.In("step"));
  return ctx.Emit("range", {start, end, step});
}

// Since iOS17, the boxes are the last axis, every score passes, and nothing counts the results.
Status ImportSuppression(ImportContext& ctx) {
  NN_ASSIGN(Value * boxes, ctx.Ranked("boxes"));
  NN_ASSIGN(Value * scores, ctx.Ranked("scores"));
  NN_ASSIGN(const float iou, ctx.Float("iou_threshold"));
  NN_ASSIGN(const int64_t most, ctx.Int("max_boxes"));
  SuppressionLimits limits{Vector({most}), Tensor::Scalar(iou), {}};
  NN_ASSIGN(limits.by_class, ctx.Bool("per_class_suppression"));
  const bool is_last = ctx.definition().Input("score_threshold") == nullptr;
  if (!is_last) {
    NN_ASSIGN(const float score, ctx.Float("score_threshold"));
    limits.score = Tensor::Scalar(score);
  }
  const auto arranged = [&](const Term& v) { return is_last ? Transpose(v, {0, 2, 1}) : v; };
  NN_ASSIGN(boxes, ctx.Build(arranged(Wide(boxes))));
  NN_ASSIGN(scores, ctx.Build(arranged(Wide(scores))));
  NN_ASSIGN(const auto results, Suppress(ctx, boxes, scores, limits));
  for (size_t i = 0; i < std::min(results.size(), ctx.output_count()); ++i)
    NN_RETURN_IF_ERROR(ctx.EmitCast(i < 2 ? arranged(results[i]) : results[i], i));
  return {};
}

// ---- Export -------------------------------------------------------------------------------------

// With a computed k, all elements in order, and the first k of them.
class ComputedTopK {
 public:
  ComputedTopK(ExportContext& ctx, const Node& node)
      : ctx_(ctx), node_(node), x_(node.input(0)->type()) {
    const int64_t axis = node.attrs<TopKAttrs>().axis;
    axis_ = static_cast<int>(axis < 0 ? axis + x_.rank() : axis);
  }

  Status Write() {
    const std::string names[] = {ctx_.NewIdentifier("sorted"), ctx_.NewIdentifier("order")};
    const Type types[] = {x_, Type(DType::kI32, *x_.dims)};
    NN_RETURN_IF_ERROR(ctx_.Add("topk")
                           .In("x", node_.input(0))
                           .Int("k", x_.dim(axis_).value())
                           .Int("axis", axis_)
                           .Bool("ascending", !node_.attrs<TopKAttrs>().largest)
                           .To(names, types, node_));
    NN_ASSIGN(const std::string end, End());
    const std::vector<int64_t> begin(static_cast<size_t>(x_.rank()), 0);
    std::vector<bool> is_whole(static_cast<size_t>(x_.rank()), true);
    is_whole[static_cast<size_t>(axis_)] = false;
    for (size_t i = 0; i < node_.outputs().size(); ++i) {
      const Value* const y = node_.output(i);
      const std::string name = ctx_.NameOf(y);
      NN_RETURN_IF_ERROR(ctx_.Add("slice_by_index")
                             .In("x", names[i])
                             .Ints("begin", begin)
                             .In("end", end)
                             .Bools("end_mask", is_whole)
                             .To(std::span(&name, 1), std::span(&y->type(), 1), node_));
    }
    return {};
  }

 private:
  // k for the axis; the others are whole.
  Result<std::string> End() {
    NN_ASSIGN(const std::string k, ctx_.Add("reshape")
                                       .In("x", node_.input(1))
                                       .Ints("shape", {1})
                                       .Helper(Type(DType::kI32, {Dim(1)}), node_));
    NN_ASSIGN(const std::string none, ctx_.AddConstant(Tensor::Ints({0}), "zero"));
    OperationWriter end = ctx_.Add("concat");
    for (int axis = 0; axis < x_.rank(); ++axis) end.In("values", axis == axis_ ? k : none);
    return end.Int("axis", 0).Helper(Type(DType::kI32, {Dim(x_.rank())}), node_);
  }

  ExportContext& ctx_;
  const Node& node_;
  const Type& x_;
  int axis_;
};

Status WriteTopK(ExportContext& ctx, const Node& node) {
  if (ConstantOf(node, 1) == nullptr) return ComputedTopK(ctx, node).Write();
  const auto& a = node.attrs<TopKAttrs>();
  return ctx.Add("topk")
      .In("x", node.input(0))
      .Int("k", ConstantOf(node, 1)->GetInt(0))
      .Int("axis", a.axis)
      .Bool("ascending", !a.largest)
      .To(node);
}

std::optional<std::string> WhyNotTopK(const Node& node) {
  const Type& x = node.input(0)->type();
  const int64_t axis = node.attrs<TopKAttrs>().axis;
  if (ConstantOf(node, 1) == nullptr &&
      !x.dim(static_cast<int>(axis < 0 ? axis + x.rank() : axis)).is_const())
    return "k or the size of the axis must be known";
  return std::nullopt;
}

// One row for each element, of which the graph has columns.
Status WriteNonZero(ExportContext& ctx, const Node& node) {
  const Type& y = node.output()->type();
  NN_ASSIGN(
      const std::string rows,
      ctx.Add("non_zero").In("x", node.input(0)).Helper(y.WithDims({y.dim(1), y.dim(0)}), node));
  return ctx.Add("transpose").In("x", rows).Ints("perm", {1, 0}).To(node);
}

Status WriteOneHot(ExportContext& ctx, const Node& node) {
  const Tensor& values = *ConstantOf(node, 2);
  const auto value = [&](int64_t i) -> Result<Tensor> {
    NN_ASSIGN(TensorBuilder scalar, TensorBuilder::Create(values.dtype(), {}));
    scalar.SetDouble(0, values.GetDouble(i));
    return scalar.Finish();
  };
  NN_ASSIGN(const Tensor off, value(0));
  NN_ASSIGN(const Tensor on, value(1));
  return ctx.Add("one_hot")
      .In("indices", node.input(0))
      .In("one_hot_vector_size", node.input(1))
      .Int("axis", node.attrs<OneHotAttrs>().axis)
      .Const("on_value", on)
      .Const("off_value", off)
      .To(node);
}

std::optional<std::string> WhyNotOneHot(const Node& node) {
  if (node.attrs<OneHotAttrs>().wrap) return "ML Programs do not count indices from the end";
  if (ConstantOf(node, 2) == nullptr) return "the values of one_hot must be constants";
  if (node.input(1)->type().rank() != 0) return "the depth must be a scalar";
  return std::nullopt;
}

// A number of diagonals is kept on one side, and all on the other.
Status WriteTrilu(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<TriluAttrs>();
  return ctx.Add("band_part")
      .In("x", node.input(0))
      .Int("lower", a.upper ? -a.k : -1)
      .Int("upper", a.upper ? -1 : a.k)
      .To(node);
}

std::optional<std::string> WhyNotTrilu(const Node& node) {
  const auto& a = node.attrs<TriluAttrs>();
  if (node.inputs().size() > 1) return "the diagonal must be a constant";
  if (a.upper ? a.k > 0 : a.k < 0) return "ML Programs keep the main diagonal";
  return std::nullopt;
}

Status WriteRange(ExportContext& ctx, const Node& node) {
  return ctx.Add("range_1d")
      .In("start", node.input(0))
      .In("end", node.input(1))
      .In("step", node.input(2))
      .To(node);
}

// The size along an axis of values that are aligned at the end.
Dim AlignedSize(const Type& x, int axis, int rank) {
  const int more = rank - x.rank();
  return axis < more ? Dim(1) : x.dim(axis - more);
}

// Type inference gives the result the shape of the last two operands.
Status WriteSelect(ExportContext& ctx, const Node& node) {
  const Type &y = node.output()->type(), &a = node.input(1)->type(), &b = node.input(2)->type();
  bool has_shape = y.rank() == std::max(a.rank(), b.rank());
  for (int axis = 0; axis < y.rank(); ++axis)
    has_shape &= AlignedSize(a, axis, y.rank()) == y.dim(axis) ||
                 AlignedSize(b, axis, y.rank()) == y.dim(axis);
  OperationWriter op = ctx.Add("select");
  op.In("cond", node.input(0));
  if (has_shape) return op.In("a", node.input(1)).In("b", node.input(2)).To(node);
  const std::string broadcast = ctx.NewIdentifier("select_b");
  NN_RETURN_IF_ERROR(WriteBroadcast(ctx, node, node.input(2), nullptr, broadcast));
  return op.In("a", node.input(1)).In("b", broadcast).To(node);
}

// ---- Suppression

enum SuppressionInput : size_t { kBoxes, kScores, kMaxBoxes, kIouThreshold, kScoreThreshold };

double LimitOf(const Node& node, size_t i, double otherwise) {
  const Tensor* const t = ConstantOf(node, i);
  return t == nullptr ? otherwise : t->GetDouble(0);
}

std::optional<std::string> WhyNotSuppression(const Node& node) {
  if (auto reason = WhyNotOneList(node)) return reason;
  for (const size_t i : {size_t{kMaxBoxes}, size_t{kIouThreshold}, size_t{kScoreThreshold}})
    if (node.input(i) != nullptr && !node.input(i)->is_constant())
      return "its limits must be constant";
  if (!node.input(kBoxes)->type().dim(1).is_const() || !(LimitOf(node, kMaxBoxes, 0) >= 1) ||
      node.input(kBoxes)->type().dim(1).value() < 1)
    return "it selects no boxes";
  if (!node.attrs<NonMaxSuppressionAttrs>().center_point_box)
    return "ML Programs need the centers of boxes";
  return std::nullopt;
}

// The list of indices that the operation gives, as rows of batch 0 and class 0: without the entries
// that fill it up, and without a box whose score does not pass.
class SuppressionExport {
 public:
  SuppressionExport(ExportContext& ctx, const Node& node)
      : ctx_(ctx),
        node_(node),
        count_(std::min(node.input(kBoxes)->type().dim(1).value(),
                        ConstantOf(node, kMaxBoxes)->GetInt(0))),
        flags_(DType::kBool, {Dim(1), Dim(count_)}) {}

  Status Write() {
    NN_RETURN_IF_ERROR(Suppress());
    NN_ASSIGN(std::string valid,
              ctx_.Add("greater_equal").In("x", list_).Int("y", 0).Helper(flags_, node_));
    if (const Tensor* const threshold = ConstantOf(node_, kScoreThreshold)) {
      const Type column(DType::kF32, {Dim(1), Dim(count_)});
      NN_ASSIGN(
          const std::string scores,
          ctx_.Add("reshape").In("x", scores_).Ints("shape", {1, count_}).Helper(column, node_));
      NN_ASSIGN(const std::string passes, ctx_.Add("greater")
                                              .In("x", scores)
                                              .Number("y", threshold->GetDouble(0))
                                              .Helper(flags_, node_));
      NN_ASSIGN(valid,
                ctx_.Add("logical_and").In("x", valid).In("y", passes).Helper(flags_, node_));
    }
    return Select(valid);
  }

 private:
  // From iOS17 on, the boxes are the last axis.
  Status Suppress() {
    const Value *const boxes = node_.input(kBoxes), *const scores = node_.input(kScores);
    OperationWriter op = ctx_.Add("non_maximum_suppression");
    const bool is_last = !op.Takes("score_threshold");
    const Value* const turned = is_last ? boxes : scores;
    const Type& type = turned->type();
    NN_ASSIGN(const std::string name,
              ctx_.Add("transpose")
                  .In("x", turned)
                  .Ints("perm", {0, 2, 1})
                  .Helper(type.WithDims({type.dim(0), type.dim(2), type.dim(1)}), node_));
    if (is_last)
      op.In("boxes", name).In("scores", scores);
    else
      op.In("boxes", boxes).In("scores", name);
    op.Number("iou_threshold", LimitOf(node_, kIouThreshold, 0)).Int("max_boxes", count_);
    if (!is_last)
      op.Number("score_threshold",
                LimitOf(node_, kScoreThreshold, std::numeric_limits<float>::lowest()));
    list_ = ctx_.NewIdentifier("indices");
    scores_ = ctx_.NewIdentifier("scores");
    const auto matrix = [&](int64_t n) {
      return is_last ? Type(DType::kF32, {Dim(1), Dim(n), Dim(count_)})
                     : Type(DType::kF32, {Dim(1), Dim(count_), Dim(n)});
    };
    std::vector<std::string> names = {ctx_.NewIdentifier("boxes"), scores_, list_};
    std::vector<Type> types = {matrix(4), matrix(1), Type(DType::kI32, {Dim(1), Dim(count_)})};
    if (!is_last) {
      names.push_back(ctx_.NewIdentifier("count"));
      types.emplace_back(DType::kI32, Dims{Dim(1)});
    }
    return op.To(names, types, node_);
  }

  Status Select(const std::string& valid) {
    const Dim& found = node_.output()->type().dim(0);
    const auto integers = [&](Dims dims) { return Type(DType::kI32, std::move(dims)); };
    NN_ASSIGN(const std::string places,
              ctx_.Add("non_zero").In("x", valid).Helper(integers({found, Dim(2)}), node_));
    NN_ASSIGN(const std::string chosen, ctx_.Add("gather_nd")
                                            .In("x", list_)
                                            .In("indices", places)
                                            .Helper(integers({found}), node_));
    NN_ASSIGN(const std::string column, ctx_.Add("expand_dims")
                                            .In("x", chosen)
                                            .Ints("axes", {1})
                                            .Helper(integers({found, Dim(1)}), node_));
    NN_ASSIGN(const std::string zeros,
              ctx_.Add("mul").In("x", column).Int("y", 0).Helper(integers({found, Dim(1)}), node_));
    return ctx_.Add("concat")
        .In("values", zeros)
        .In("values", zeros)
        .In("values", column)
        .Int("axis", 1)
        .To(node_);
  }

  ExportContext& ctx_;
  const Node& node_;
  int64_t count_;
  Type flags_;
  std::string list_, scores_;
};

Status WriteSuppression(ExportContext& ctx, const Node& node) {
  return SuppressionExport(ctx, node).Write();
}

}  // namespace

Family SelectFamily() {
  static constexpr ImportRow kImports[] = {
      {"argsort", ImportArgsort},
      {"band_part", ImportBandPart},
      {"non_maximum_suppression", ImportSuppression},
      {"non_zero", ImportNonZero},
      {"one_hot", ImportOneHot},
      {"range_1d", ImportRange1d},
      {"topk", ImportTopk},
  };
  static constexpr ExportRow kExports[] = {
      {"non_max_suppression", WriteSuppression, WhyNotSuppression},
      {"non_zero", WriteNonZero},
      {"one_hot", WriteOneHot, WhyNotOneHot},
      {"range", WriteRange},
      {"select", WriteSelect},
      {"top_k", WriteTopK, WhyNotTopK},
      {"trilu", WriteTrilu, WhyNotTrilu},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program
