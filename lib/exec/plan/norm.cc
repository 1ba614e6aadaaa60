// Normalization of float32. A row is a run of adjacent elements, a column, or several columns.
#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>

#include "exec/plan/families.h"
#include "exec/plan/norm.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/conv/row_plan.h"
#include "exec/steps/norm_steps.h"
#include "ops/nn/norm.h"
#include "ops/reduce/reduction.h"
#include "ops/support/types.h"

namespace nn {
namespace {

bool AllF32(const Node& node) {
  return std::all_of(node.inputs().begin(), node.inputs().end(),
                     [](const Value* v) { return v == nullptr || v->dtype() == DType::kF32; });
}

// Sets the members common to all steps; false if a post-op has no kernel. The node's first input
// and the group's result must have the same shape.
bool Prepare(PlanContext& ctx, NormStep& step) {
  if (!step.post_ops.AddPostOps(ctx)) return false;
  step.in = ctx.ViewOf(ctx.node().input(0));
  step.out = ctx.ViewOf(ctx.group().result());
  return true;
}

// The step reads the node's inputs and writes the result and the node's other outputs.
void Finish(PlanContext& ctx, std::unique_ptr<NormStep> step) {
  const Node& node = ctx.node();
  std::vector<BufferId> reads = step->post_ops.reads();
  for (const Value* v : node.inputs())
    if (v != nullptr) reads.push_back(ctx.ViewOf(v).buffer);
  std::vector<BufferId> writes = {step->out.buffer};
  for (size_t i = 1; i < node.outputs().size(); ++i)
    writes.push_back(ctx.ViewOf(node.output(i)).buffer);
  ctx.AddStep(std::move(step), std::move(reads), std::move(writes));
}

NormRule MomentsRule(float epsilon) {
  NormRule rule;
  rule.centered = true;
  rule.mean = true;
  rule.epsilon = epsilon;
  rule.inverse = true;
  return rule;
}

NormRule::Root RootOf(EpsilonRule rule) {
  return rule == EpsilonRule::kInside    ? NormRule::Root::kInside
         : rule == EpsilonRule::kOutside ? NormRule::Root::kOutside
                                         : NormRule::Root::kFloor;
}

// Rows are the axes starting at `axis`.
void SetRows(RowNormStep& step, const std::vector<int64_t>& shape, size_t axis) {
  step.rows = ElementsOf(shape, 0, axis);
  step.n = ElementsOf(shape, axis, shape.size());
  step.lines = ElementsOf(shape, axis, shape.size() - 1);
  step.columns = static_cast<size_t>(shape.back());
}

RowOperand OperandOf(PlanContext& ctx, const Value* operand, const std::vector<int64_t>& shape,
                     size_t n) {
  RowOperand o;
  const auto dims = ShapeOf(operand);
  o.view = ctx.ViewOf(operand);
  o.rows = RowMap(shape, dims, o.view.row_stride);
  const size_t elements = ElementsOf(dims, 0, dims.size());
  o.fixed = elements == 1;
  o.one = elements == 1 || o.rows.scalar();
  if (elements == n && IsDense(o.view, dims)) {
    // Its elements are those of a row if all axes before the row have size 1.
    size_t row = 1;
    for (size_t k = 0; k < dims.size() && row != n; ++k) {
      const auto size = static_cast<size_t>(dims[dims.size() - 1 - k]);
      if (size != static_cast<size_t>(shape[shape.size() - 1 - k])) break;
      row *= size;
    }
    o.fixed |= row == n;
  }
  return o;
}

Result<bool> PlanTrailing(PlanContext& ctx, int64_t axis, const NormRule& rule) {
  const Node& node = ctx.node();
  if (!AllF32(node)) return false;
  const auto shape = ShapeOf(node.input(0));
  NN_ASSIGN(const int first, NormalizeAxis(axis, static_cast<int>(shape.size())));
  auto step = std::make_unique<RowNormStep>();
  if (!Prepare(ctx, *step)) return false;
  SetRows(*step, shape, static_cast<size_t>(first));
  const auto operand = [&](size_t i) -> std::optional<RowOperand> {
    if (node.inputs().size() <= i || node.input(i) == nullptr) return std::nullopt;
    return OperandOf(ctx, node.input(i), shape, step->n);
  };
  step->scale = operand(1);
  step->bias = operand(2);
  step->rule = rule;
  step->result = step->bias    ? NormResult::kTimesScaleShift
                 : step->scale ? NormResult::kTimesScale
                               : NormResult::kTimes;
  if (node.outputs().size() > 1) step->mean_out = ctx.ViewOf(node.output(1));
  if (node.outputs().size() > 2) step->factor_out = ctx.ViewOf(node.output(2));
  Finish(ctx, std::move(step));
  return true;
}

Result<bool> PlanLayerNorm(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<LayerNormAttrs>();
  return PlanTrailing(ctx, a.axis, MomentsRule(a.epsilon));
}

Result<bool> PlanRmsNorm(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<RmsNormAttrs>();
  NormRule rule = MomentsRule(a.epsilon);
  rule.centered = false;
  return PlanTrailing(ctx, a.axis, rule);
}

// The offsets of the lines of a tensor that has `rows` blocks of `lines` lines.
struct LineOffsets {
  std::vector<int64_t> starts, offsets;

  LineOffsets(size_t rows, size_t lines, size_t stride) {
    for (size_t i = 0; i < rows; ++i) starts.push_back(static_cast<int64_t>(i * lines * stride));
    for (size_t i = 0; i < lines; ++i) offsets.push_back(static_cast<int64_t>(i * stride));
  }
};

// Adds the normalizing step, after the one for the statistics.
template <class Statistics>
void AddSteps(PlanContext& ctx, std::unique_ptr<Statistics> first,
              std::unique_ptr<ColumnNormStep> second, const NormRule& rule, NormResult result) {
  first->in = second->in;
  first->rule = rule;
  first->label = "statistics of " + std::string(ctx.node().op_name());
  ColumnStatistics& s = first->statistics;
  s.rows = second->in_starts.size();
  s.buffer = ctx.AddScratch(s.elements() * sizeof(float));
  if constexpr (std::is_same_v<Statistics, GroupStatisticsStep>) {
    if (first->scale) second->scale = s.scale();
    if (first->bias) second->bias = s.bias();
  }
  second->statistics = s;
  second->result = result;
  std::vector<BufferId> reads = {first->in.buffer};
  for (size_t i = 1; i < ctx.node().inputs().size(); ++i)
    reads.push_back(ctx.ViewOf(ctx.node().input(i)).buffer);
  first->ChooseBlocks();
  second->ChooseBlocks();
  ctx.AddStep(std::move(first), reads, {s.buffer});
  reads.push_back(s.buffer);
  reads.insert(reads.end(), second->post_ops.reads().begin(), second->post_ops.reads().end());
  const BufferId out = second->out.buffer;
  ctx.AddStep(std::move(second), std::move(reads), {out});
}

// Groups of the channels, which are the last axis, of `batch` times `lines` lines.
Result<bool> PlanGroups(PlanContext& ctx, size_t batch, size_t lines, size_t channels,
                        size_t groups, const NormRule& rule, NormResult result) {
  const Node& node = ctx.node();
  auto norm = std::make_unique<ColumnNormStep>();
  if (!Prepare(ctx, *norm)) return false;
  const LineOffsets from(batch, lines, norm->in.row_stride);
  LineOffsets to(batch, lines, norm->out.row_stride);
  norm->in_starts = from.starts;
  norm->in_offsets = from.offsets;
  norm->out_starts = std::move(to.starts);
  norm->out_offsets = std::move(to.offsets);
  norm->statistics.columns = channels;
  const auto parameter = [&](size_t i) -> std::optional<MemoryView> {
    if (node.inputs().size() <= i) return std::nullopt;
    return ctx.ViewOf(node.input(i));
  };
  norm->scale = parameter(1);
  norm->bias = parameter(2);
  if (groups == channels) {
    auto statistics = std::make_unique<ColumnStatisticsStep>();
    statistics->starts = from.starts;
    statistics->offsets = from.offsets;
    statistics->statistics.columns = channels;
    AddSteps(ctx, std::move(statistics), std::move(norm), rule, result);
    return true;
  }
  auto statistics = std::make_unique<GroupStatisticsStep>();
  statistics->batch = batch;
  statistics->lines = lines;
  statistics->groups = groups;
  statistics->per_group = channels / groups;
  statistics->statistics.columns = channels;
  const auto by_group = [&](size_t i) {
    return norm->scale && ShapeOf(node.input(i)).front() != static_cast<int64_t>(channels);
  };
  if (by_group(1)) statistics->scale = norm->scale;
  if (by_group(2)) statistics->bias = norm->bias;
  AddSteps(ctx, std::move(statistics), std::move(norm), rule, result);
  return true;
}

Result<bool> PlanChannels(PlanContext& ctx, Layout layout, int64_t groups, float epsilon) {
  const Node& node = ctx.node();
  const auto shape = ShapeOf(node.input(0));
  if (!AllF32(node) || layout != Layout::kNxc) return false;
  return PlanGroups(ctx, static_cast<size_t>(shape.front()), ElementsOf(shape, 1, shape.size() - 1),
                    static_cast<size_t>(shape.back()), static_cast<size_t>(groups),
                    MomentsRule(epsilon), NormResult::kTimesScaleShift);
}

Result<bool> PlanInstanceNorm(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<InstanceNormAttrs>();
  return PlanChannels(ctx, a.layout, ShapeOf(ctx.node().input(0)).back(), a.epsilon);
}

Result<bool> PlanGroupNorm(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<GroupNormAttrs>();
  return PlanChannels(ctx, a.layout, a.groups, a.epsilon);
}

// Whether the row axes are the last ones, in order.
bool LastAxisFirst(const std::vector<int>& axes, size_t rank) {
  if (axes.size() < 2 || axes.front() != static_cast<int>(rank) - 1) return false;
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i] != static_cast<int>(rank - axes.size() + i - 1)) return false;
  return true;
}

// Rows of adjacent elements.
Result<bool> PlanRows(PlanContext& ctx, const RowPlan& plan, const NormRule& rule,
                      NormResult result) {
  auto step = std::make_unique<RowNormStep>();
  if (!Prepare(ctx, *step)) return false;
  step->rows = plan.starts.size();
  step->n = plan.offsets.size();
  step->columns = static_cast<size_t>(RowShape(ctx.node().input(0)).back());
  step->lines = step->columns == 0 ? 1 : step->n / step->columns;
  step->rule = rule;
  step->result = result;
  Finish(ctx, std::move(step));
  return true;
}

Result<bool> PlanColumns(PlanContext& ctx, const RowPlan& plan, const NormRule& rule,
                         NormResult result) {
  const auto shape = RowShape(ctx.node().input(0));
  const auto inner = static_cast<size_t>(shape.back());
  auto norm = std::make_unique<ColumnNormStep>();
  if (!Prepare(ctx, *norm)) return false;
  const bool dense = IsDense(norm->in, shape) && IsDense(norm->out, shape);
  if (plan.columns != inner && !(dense && norm->post_ops.empty())) return false;
  norm->in_starts = Spread(plan.starts, inner, norm->in.row_stride);
  norm->in_offsets = Spread(plan.offsets, inner, norm->in.row_stride);
  norm->out_starts = Spread(plan.starts, inner, norm->out.row_stride);
  norm->out_offsets = Spread(plan.offsets, inner, norm->out.row_stride);
  auto statistics = std::make_unique<ColumnStatisticsStep>();
  statistics->starts = norm->in_starts;
  statistics->offsets = norm->in_offsets;
  statistics->statistics.columns = plan.columns;
  AddSteps(ctx, std::move(statistics), std::move(norm), rule, result);
  return true;
}

Result<bool> PlanOverAxes(PlanContext& ctx, const std::vector<int64_t>& listed,
                          const NormRule& rule, NormResult result) {
  const Node& node = ctx.node();
  if (!AllF32(node)) return false;
  const int rank = static_cast<int>(ShapeOf(node.input(0)).size());
  std::vector<int> axes = {0};
  if (rank > 0) {
    NN_ASSIGN(axes, ReducedAxes(listed, rank));
  }
  const auto shape = RowShape(node.input(0));
  if (LastAxisFirst(axes, shape.size())) {
    const size_t first = shape.size() - axes.size();
    return PlanGroups(ctx, ElementsOf(shape, 0, first), ElementsOf(shape, first, shape.size() - 1),
                      static_cast<size_t>(shape.back()), 1, rule, result);
  }
  const RowPlan plan(shape, axes);
  return plan.contiguous ? PlanRows(ctx, plan, rule, result) : PlanColumns(ctx, plan, rule, result);
}

Result<bool> PlanL2(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<L2NormalizationAttrs>();
  NormRule rule;
  rule.root = RootOf(a.epsilon_rule);
  rule.epsilon = a.epsilon;
  return PlanOverAxes(ctx, a.axes, rule, NormResult::kOver);
}

Result<bool> PlanLp(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<LpNormalizationAttrs>();
  NormRule rule;
  if (a.p == 1) {
    rule.spread = NormRule::Spread::kMagnitudes;
    rule.root = NormRule::Root::kNone;
  }
  return PlanOverAxes(ctx, {a.axis}, rule, NormResult::kOverOrZero);
}

Result<bool> PlanMeanVariance(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<MeanVarianceNormalizationAttrs>();
  NormRule rule = MomentsRule(a.epsilon);
  rule.inverse = false;
  rule.root = RootOf(a.epsilon_rule);
  if (!a.normalize_variance) rule.spread = NormRule::Spread::kNone;
  return PlanOverAxes(ctx, a.axes, rule,
                      a.normalize_variance ? NormResult::kOver : NormResult::kTimes);
}

Result<bool> PlanLrn(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<LrnAttrs>();
  if (!AllF32(node) || a.layout != Layout::kNxc) return false;
  auto step = std::make_unique<LrnStep>();
  if (!Prepare(ctx, *step)) return false;
  const auto shape = ShapeOf(node.input(0));
  step->rows = ElementsOf(shape, 0, shape.size() - 1);
  step->columns = static_cast<size_t>(shape.back());
  step->window.before = static_cast<size_t>(std::min((a.size - 1) / 2, shape.back()));
  step->window.after = static_cast<size_t>(std::min(a.size - 1 - (a.size - 1) / 2, shape.back()));
  step->window.alpha = a.alpha / static_cast<float>(a.size);
  step->window.beta = a.beta;
  step->window.bias = a.bias;
  Finish(ctx, std::move(step));
  return true;
}

}  // namespace

Result<bool> PlanComputedBatchNorm(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<BatchNormAttrs>();
  if (!AllF32(node) || a.layout != Layout::kNxc) return false;
  auto step = std::make_unique<ScaleShiftStep>();
  if (!Prepare(ctx, *step)) return false;
  const auto shape = ShapeOf(node.input(0));
  auto factors = std::make_unique<FactorsStep>();
  factors->channels = static_cast<size_t>(shape.back());
  factors->epsilon = a.epsilon;
  factors->label = "factors of batch_norm";
  factors->out = ctx.AddScratch(2 * factors->channels * sizeof(float));
  std::vector<BufferId> operands;
  for (size_t i = 0; i < 4; ++i) {
    factors->operands[i] = ctx.ViewOf(node.input(i + 1));
    operands.push_back(factors->operands[i].buffer);
  }
  step->rows = ElementsOf(shape, 0, shape.size() - 1);
  step->columns = factors->channels;
  step->factors = factors->out;
  ctx.AddStep(std::move(factors), std::move(operands), {step->factors});
  std::vector<BufferId> reads = step->post_ops.reads();
  reads.insert(reads.end(), {step->in.buffer, step->factors});
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), std::move(reads), {out});
  return true;
}

void AddNormKernels(std::vector<KernelInfo>& kernels) {
  for (const auto& [op, plan] :
       {std::pair("layer_norm", &PlanLayerNorm), std::pair("rms_norm", &PlanRmsNorm),
        std::pair("instance_norm", &PlanInstanceNorm), std::pair("group_norm", &PlanGroupNorm),
        std::pair("l2_normalization", &PlanL2), std::pair("lp_normalization", &PlanLp),
        std::pair("mean_variance_normalization", &PlanMeanVariance), std::pair("lrn", &PlanLrn)})
    kernels.push_back({.op = op,
                       .plan = plan,
                       .takes_post_ops = true,
                       .strided_input = true,
                       .strided_output = true});
}

}  // namespace nn
