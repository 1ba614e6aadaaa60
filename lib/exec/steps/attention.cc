#include "exec/steps/attention.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/memory.h"
#include "base/per_thread.h"
#include "exec/runtime/planning/sub_plan.h"
#include "exec/steps/post_ops.h"
#include "ir/op_def.h"
#include "ops/math/matmul.h"
#include "ops/nn/norm.h"
#include "ops/nn/softmax.h"
#include "ops/support/types.h"

namespace nn {
namespace {

// The size of a matrix of scores, over all batches and heads, from which on it is computed in
// bands; and the size of a band.
constexpr size_t kLargeScores = size_t{4} << 20;
constexpr size_t kBandBytes = size_t{1} << 20;
// Minimum rows of a band: each band packs the right operands again.
constexpr size_t kFewestRows = 64;

bool IsFloat(const Value* v) {
  return v->dtype() == DType::kF32 && !v->type().quantized();
}

// A product whose left operand is stored by rows.
bool IsProduct(const Node& node) {
  return node.Is<MatmulAttrs>() && IsFloat(node.output()) && IsFloat(node.input(0)) &&
         IsFloat(node.input(1)) && !node.attrs<MatmulAttrs>().transpose_a &&
         ShapeOf(node.output()).size() >= 2 && ShapeOf(node.input(0)).size() >= 2 &&
         ShapeOf(node.input(1)).size() >= 2;
}

bool IsElementwise(const Node& node, const std::vector<int64_t>& shape) {
  const KernelInfo* kernel = FindKernel(node.op_name());
  return ((kernel != nullptr && kernel->elementwise && !node.Is<BatchNormAttrs>()) ||
          node.Is("select")) &&
         IsFloat(node.output()) && ShapeOf(node.output()) == shape;
}

bool IsSoftmaxOfRows(const Node& node) {
  if (!node.Is<SoftmaxAttrs>() || !IsFloat(node.output())) return false;
  const int rank = static_cast<int>(ShapeOf(node.output()).size());
  const auto axis = NormalizeAxis(node.attrs<SoftmaxAttrs>().axis, rank);
  return axis && *axis == rank - 1;
}

// Whether two shapes agree on all axes but the last.
bool HaveSameRows(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end() - 1, b.begin());
}

// Follows a value to its only user.
class Follower {
 public:
  Follower(const Graph& graph, std::span<const Group> groups) : graph_(graph), groups_(groups) {
    for (size_t i = 0; i < groups.size(); ++i) heads_[groups[i].node] = i;
  }

  // The group that begins with the only user of the group's result. If `first`, the user must take
  // it as its first input.
  std::optional<size_t> Next(size_t group, bool first) const {
    const Value* v = groups_[group].result();
    if (v->uses().size() != 1 || graph_.IsOutput(v)) return std::nullopt;
    const Node* user = v->uses()[0].node;
    const auto it = heads_.find(user);
    if (it == heads_.end() || (first && user->input(0) != v)) return std::nullopt;
    return it->second;
  }

  // The groups of an attention that begins here; empty if there is none.
  std::vector<size_t> From(size_t begin) const {
    const Group& product = groups_[begin];
    if (!IsProduct(*product.node)) return {};
    const auto shape = ShapeOf(product.node->output());
    if (ElementsOf(shape, 0, shape.size()) * sizeof(float) < kLargeScores) return {};
    std::vector<size_t> region = {begin};
    const auto is_simple = [&](size_t g) {
      return std::all_of(groups_[g].post_ops.begin(), groups_[g].post_ops.end(),
                         [&](const Node* n) { return IsElementwise(*n, shape); });
    };
    for (;;) {
      if (!is_simple(region.back())) return {};
      const Node& last = *groups_[region.back()].node;
      const bool scored = IsSoftmaxOfRows(last);
      const auto next = Next(region.back(), scored);
      if (!next) return {};
      const Node& node = *groups_[*next].node;
      region.push_back(*next);
      if (scored) {
        const auto result = ShapeOf(node.output());
        const bool fits =
            IsProduct(node) && HaveSameRows(shape, result) &&
            std::all_of(groups_[*next].post_ops.begin(), groups_[*next].post_ops.end(),
                        [&](const Node* n) { return IsElementwise(*n, result); });
        return fits ? region : std::vector<size_t>();
      }
      if (!IsElementwise(node, shape) &&
          !(IsSoftmaxOfRows(node) && ShapeOf(node.output()) == shape))
        return {};
    }
  }

 private:
  const Graph& graph_;
  std::span<const Group> groups_;
  std::unordered_map<const Node*, size_t> heads_;
};

// ---- The step

// The axes around the matrices of a value, as rows of one element.
std::vector<int64_t> Batches(const std::vector<int64_t>& shape) {
  std::vector<int64_t> batches(shape.begin(), shape.end() - 2);
  batches.push_back(1);
  return batches;
}

// A value from outside the attention: its place, and the part that a band uses.
struct External {
  const Value* value = nullptr;
  bool rows = false;  // the rows of the band; otherwise all of the last two axes
  MemoryView view;
  size_t row_bytes = 0;
  size_t element = 1;  // bytes
  RowMap batches;      // where those of a batch begin
};

// An attention split into bands of rows.
class Attention {
 public:
  explicit Attention(const Group& group)
      : nodes_(group.post_ops.begin(), group.post_ops.end()),
        shape_(ShapeOf(group.node->output())) {
    nodes_.insert(nodes_.begin(), group.node);
  }

  int64_t rows() const { return shape_[shape_.size() - 2]; }
  size_t columns() const { return static_cast<size_t>(shape_.back()); }
  size_t batches() const { return ElementsOf(shape_, 0, shape_.size() - 2); }
  std::vector<External>& externals() { return externals_; }

  // The graph of a band of `count` rows; its inputs are the externals. nullopt if it cannot be
  // split.
  std::optional<Graph> Band(int64_t count) {
    Graph band;
    std::unordered_map<const Value*, Value*> values;
    externals_.clear();
    for (const Node* node : nodes_) {
      std::vector<Value*> inputs;
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        const Value* v = node->input(i);
        if (v != nullptr && !values.contains(v)) {
          Value* inside = AddExternal(band, *node, i, count);
          if (inside == nullptr) return std::nullopt;
          // Another node may use another part of it.
          inputs.push_back(inside);
        } else {
          inputs.push_back(v == nullptr ? nullptr : values.at(v));
        }
      }
      Attrs attrs = node->attrs();
      if (node->Is<SoftmaxAttrs>()) {
        SoftmaxAttrs softmax = node->attrs<SoftmaxAttrs>();
        softmax.axis = 1;
        attrs = softmax;
      }
      Node* copy = band.AddNode(node->op(), std::move(inputs), std::move(attrs));
      copy->set_arithmetic(node->arithmetic());
      const std::vector<int64_t> want = {count, ShapeOf(node->output()).back()};
      if (!InferNode(*copy) || copy->output()->type().const_dims() != want) return std::nullopt;
      values[node->output()] = copy->output();
    }
    band.AddOutput("y", values.at(nodes_.back()->output()));
    return band;
  }

 private:
  // The input or constant of a band for input i of a node; null if it cannot be split.
  Value* AddExternal(Graph& band, const Node& node, size_t i, int64_t count) {
    const Value* v = node.input(i);
    const auto dims = ShapeOf(v);
    const size_t rank = dims.size();
    if (v->type().quantized() || DTypeBits(v->dtype()) < 8) return nullptr;
    External e;
    e.value = v;
    e.element = ElementSize(v);
    std::vector<int64_t> inside = dims;
    if (rank >= 2) {
      inside = {dims[rank - 2], dims[rank - 1]};
      if (rank > shape_.size()) return nullptr;
      e.batches = RowMap(Batches(shape_), Batches(dims), ElementsOf(inside, 0, 2));
      const bool along_rows = node.Is<MatmulAttrs>() ? i == 0 : inside[0] != 1;
      if (node.Is<MatmulAttrs>() && i == 2) return nullptr;
      if (along_rows) {
        if (inside[0] != rows()) return nullptr;
        inside[0] = count;
        e.rows = true;
        e.row_bytes = static_cast<size_t>(inside[1]) * e.element;
      }
    }
    const bool whole = !e.rows && ElementsOf(dims, 0, rank) == ElementsOf(inside, 0, inside.size());
    if (v->is_constant() && whole)
      return band.AddConstant(Tensor(v->dtype(), inside, v->constant().blob()));
    externals_.push_back(std::move(e));
    return band.AddInput("", Type(v->dtype(), ToDims(inside)));
  }

  std::vector<const Node*> nodes_;
  std::vector<int64_t> shape_;  // of the scores
  std::vector<External> externals_;
};

class AttentionStep : public Step {
 public:
  std::vector<External> externals;
  MemoryView out;
  size_t rows = 0, out_row_bytes = 0;
  size_t band = 0, bands = 0, batches = 0;
  std::optional<SubPlan> whole, rest;  // bands of all rows, and the last one

  size_t grid() const override { return batches * bands; }
  void Run(const Memory& memory, size_t item) const override {
    const size_t batch = item / bands;
    const size_t first = item % bands * band;
    std::vector<std::byte*> inputs;
    inputs.reserve(externals.size());
    for (const External& e : externals)
      inputs.push_back(e.view.As<std::byte>(memory) + e.batches.Offset(batch) * e.element +
                       (e.rows ? first * e.row_bytes : 0));
    const SubPlan& plan = first + band <= rows ? *whole : *rest;
    static PerThread<Buffer> arenas;
    Buffer& arena = arenas.Get();
    if (arena.size() < plan.arena_bytes()) arena = Buffer(plan.arena_bytes());
    Poison({arena.data(), arena.size()});
    plan.Run(inputs, out.As<std::byte>(memory) + (batch * rows + first) * out_row_bytes,
             arena.data(), memory.error());
  }
};

}  // namespace

AttentionGroups::AttentionGroups(const Graph& graph, std::span<const Group> groups) {
  const Follower follower(graph, groups);
  for (size_t i = 0; i < groups.size(); ++i) {
    std::vector<size_t> region = follower.From(i);
    if (region.empty()) continue;
    const auto is_taken = [&](size_t g) { return deferred_.contains(g) || regions_.contains(g); };
    if (std::any_of(region.begin(), region.end(), is_taken)) continue;
    deferred_.insert(region.begin(), region.end() - 1);
    const size_t last = region.back();
    regions_[last] = std::move(region);
  }
}

Result<bool> PlanAttention(PlanContext& ctx, std::span<const Group> groups,
                           std::span<const size_t> region) {
  Group all = groups[region.front()];
  for (const size_t g : region.subspan(1)) {
    all.post_ops.push_back(groups[g].node);
    all.post_ops.insert(all.post_ops.end(), groups[g].post_ops.begin(), groups[g].post_ops.end());
  }
  Attention attention(all);
  auto step = std::make_unique<AttentionStep>();
  const int64_t rows = attention.rows();
  const auto most = static_cast<int64_t>(
      std::max(FitIn(kBandBytes, attention.columns() * sizeof(float)), kFewestRows));
  const int64_t band = std::min(rows, most);
  for (const int64_t count : {rows % band, band}) {
    if (count == 0) continue;
    auto graph = attention.Band(count);
    if (!graph) return false;
    NN_ASSIGN(auto plan, SubPlan::Create(*std::move(graph)));
    if (!plan) return false;
    (count == band ? step->whole : step->rest) = *std::move(plan);
  }
  ctx.set_group(&all);
  step->externals = std::move(attention.externals());
  std::vector<BufferId> reads;
  for (External& e : step->externals) {
    e.view = ctx.ViewOf(e.value);
    if (!IsDense(e.view, ShapeOf(e.value))) return false;
    reads.push_back(e.view.buffer);
  }
  const Value* y = all.result();
  step->out = ctx.ViewOf(y);
  if (!IsDense(step->out, ShapeOf(y))) return false;
  step->rows = static_cast<size_t>(rows);
  step->out_row_bytes = static_cast<size_t>(ShapeOf(y).back()) * sizeof(float);
  step->band = static_cast<size_t>(band);
  step->bands = (step->rows + step->band - 1) / step->band;
  step->batches = attention.batches();
  const auto depth = static_cast<size_t>(ShapeOf(all.node->input(0)).back());
  step->multiply_adds = static_cast<int64_t>(step->batches * step->rows * attention.columns() *
                                             (depth + static_cast<size_t>(ShapeOf(y).back())));
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), std::move(reads), {out});
  ctx.set_group(nullptr);
  return true;
}

}  // namespace nn
