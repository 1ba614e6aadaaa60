#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text/text.h"
#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "passes/interface/edits.h"

namespace nn {
namespace {

std::string_view LayoutName(Layout layout) {
  return layout == Layout::kNcx ? "nchw" : "nhwc";
}

// Searches the operators around a value for their layouts.
class LayoutSearch {
 public:
  explicit LayoutSearch(int rank) : rank_(rank) {}

  // `axes`: those of the value at which the search began, by axis of `v`.
  void Visit(const Value& v, const AxisMap& axes) {
    if (!seen_.insert(&v).second || seen_.size() > kMax) return;
    for (const Use& use : v.uses()) Pass(*use.node, {false, static_cast<size_t>(use.index)}, axes);
    if (v.def() != nullptr) Pass(*v.def(), {true, static_cast<size_t>(v.def_index())}, axes);
  }

  std::optional<Layout> Found() const {
    return found_.size() == 1 ? std::optional(*found_.begin()) : std::nullopt;
  }

 private:
  static constexpr size_t kMax = 4096;  // values

  static const Value* ValueOf(const Node& node, Operand at) {
    return at.is_output ? node.output(at.index) : node.input(at.index);
  }

  void Pass(const Node& node, Operand at, const AxisMap& axes) {
    if (node.op().is_opaque || !node.regions().empty()) return;
    const Value* const v = ValueOf(node, at);
    if (const auto layout = node.attrs().Get("layout"); layout && at.index == 0) {
      const bool last = std::get<EnumValue>(*layout).name == EnumName(Layout::kNxc);
      const int channels = axes.from()[last ? axes.from().size() - 1 : 1];
      if (channels == 1) found_.insert(Layout::kNcx);
      if (channels == rank_ - 1) found_.insert(Layout::kNxc);
      return;
    }
    if (node.op().movement == Movement::kPermuted) {
      const auto map = AxisMapOf(node);
      if (map && map->IsPermutation())
        Follow(node, {!at.is_output, 0}, axes.Then(at.is_output ? map->Inverse() : *map));
      return;
    }
    if (node.op().change_axes == nullptr) return;
    // Values whose axes move along have the same axes.
    const AxisMap probe = AxisMap::ChannelsLast(v->type().rank());
    const auto change = node.op().change_axes(node, at, probe);
    if (!change) return;
    for (const auto& [operand, map] : change->others)
      if (map == probe && operand.is_output != at.is_output) Follow(node, operand, axes);
  }

  void Follow(const Node& node, Operand operand, const AxisMap& axes) {
    const Value* const v = ValueOf(node, operand);
    if (v != nullptr && !v->is_constant() && v->type().ranked() && v->type().rank() == rank_)
      Visit(*v, axes);
  }

  int rank_;
  std::set<const Value*> seen_;
  std::set<Layout> found_;
};

Result<std::vector<Tensor>> PermuteOne(std::vector<Tensor> tensors, size_t i, const AxisMap& map) {
  NN_ASSIGN(tensors[i], RearrangeTensor(tensors[i], map));
  return tensors;
}

}  // namespace

std::optional<Layout> LayoutOf(const Value& value) {
  if (!value.type().ranked() || value.type().rank() < 3) return std::nullopt;
  LayoutSearch search(value.type().rank());
  search.Visit(value, AxisMap::Identity(value.type().rank()));
  return search.Found();
}

Result<GraphEdit> ChangeLayout(Graph& graph, bool is_input, size_t port, std::optional<Layout> from,
                               Layout to) {
  const auto& [name, value] = is_input ? graph.inputs()[port] : graph.outputs()[port];
  const std::string kind = is_input ? "input" : "output";
  const Type before = value->type();
  if (!before.ranked() || before.rank() < 3)
    return UsageError("--layout: {} {} is {}, which has no layout", kind, Quote(name),
                      before.ToString());
  if (!from) from = LayoutOf(*value);
  if (!from)
    return UsageError(
        "--layout: no operator shows the present layout of {} {}, {}; state both, as in "
        "--layout {}=nchw:nhwc",
        kind, Quote(name), before.ToString(), name);
  if (*from == to)
    return UsageError("--layout {}={} has no effect: the {} has this layout", name, LayoutName(to),
                      kind);
  GraphEdit edit;
  const AxisMap map = to == Layout::kNxc ? AxisMap::ChannelsLast(before.rank())
                                         : AxisMap::ChannelsFirst(before.rank());
  if (is_input) {
    Value* const x = value;
    x->set_type(RearrangeType(before, map));
    NN_ASSIGN(Value* const inner, Rearrange(graph, x, map.Inverse()));
    graph.ReplaceUses(x, inner);
    graph.SetInput(inner->def(), 0, x);
    edit.wrap = [port, inverse = map.Inverse()](ModelFunction run) -> ModelFunction {
      return [=](std::vector<Tensor> inputs) -> Result<std::vector<Tensor>> {
        NN_ASSIGN(std::vector<Tensor> moved, PermuteOne(std::move(inputs), port, inverse));
        return run(std::move(moved));
      };
    };
  } else {
    NN_ASSIGN(Value* const moved, Rearrange(graph, value, map));
    graph.set_output(port, moved);
    edit.wrap = [port, map](ModelFunction run) -> ModelFunction {
      return [=](std::vector<Tensor> inputs) -> Result<std::vector<Tensor>> {
        NN_ASSIGN(std::vector<Tensor> outputs, run(std::move(inputs)));
        return PermuteOne(std::move(outputs), port, map);
      };
    };
  }
  const Value* const now = is_input ? graph.inputs()[port].value : graph.outputs()[port].value;
  edit.notes.push_back(fmt::format("{} {} is {}: {} -> {}", kind, Quote(name), LayoutName(to),
                                   before.ToString(), now->type().ToString()));
  return edit;
}

}  // namespace nn
