#include "inspect/diff/diff_form.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <vector>

#include "ops/array/arrange/pad.h"
#include "ops/nn/conv.h"
#include "ops/support/window.h"
#include "rewrite/legalize.h"

namespace nn::inspect {
namespace {

using Ints = std::vector<int64_t>;

Ints IntsOf(const Attrs& attrs, std::string_view name) {
  const auto value = attrs.Get(name);
  const Ints* list = value ? std::get_if<Ints>(&*value) : nullptr;
  return list == nullptr ? Ints() : *list;
}

void Set(Node& node, std::string_view name, const AttrValue& value) {
  if (auto attrs = node.attrs().With(name, value)) node.set_attrs(*std::move(attrs));
}

nn::Layout LayoutOf(const Node& node) {
  return *ParseEnum<nn::Layout>(std::get<EnumValue>(*node.attrs().Get("layout")).name);
}

Result<std::vector<ConstWindow>> WindowsOfConv(const Node& node) {
  const Type& filter = node.input(1)->type();
  if (!filter.ranked()) return ModelError("the rank must be known");
  NN_ASSIGN(const auto windows,
            ConvWindows(node.attrs<ConvAttrs>(), *node.input(0)->type().dims, *filter.dims));
  return ConstWindows(windows);
}

Result<std::vector<ConstWindow>> WindowsOfPool(const Node& node) {
  const Attrs& attrs = node.attrs();
  WindowSpec spec{IntsOf(attrs, "kernel"), IntsOf(attrs, "strides"), IntsOf(attrs, "dilations"),
                  IntsOf(attrs, "pads")};
  spec.padding = *ParseEnum<Padding>(std::get<EnumValue>(*attrs.Get("padding")).name);
  spec.ceil_mode = attrs.Get("ceil_mode") == AttrValue(true);
  NN_ASSIGN(const auto windows,
            ResolveWindows(spec, SpatialDims(*node.input(0)->type().dims, LayoutOf(node))));
  return ConstWindows(windows);
}

// Removes a zero bias, which some formats require.
void DropZeroBias(Graph& graph, Node& conv) {
  const Value* bias = conv.input(2);
  if (bias == nullptr || !bias->is_constant() || bias->type().quantized()) return;
  const Tensor& t = bias->constant();
  for (int64_t i = 0; i < t.elements(); ++i)
    if (t.GetDouble(i) != 0) return;
  graph.SetInputs(&conv, {conv.input(0), conv.input(1)});
}

// An operator on windows of padded axes.
struct WindowedOp {
  std::string_view op;
  Result<std::vector<ConstWindow>> (*windows)(const Node&);  // for an input of known rank
  // Whether a pad node with the number is equivalent to the operator's padding; null: none is.
  bool (*is_own_padding)(double) = nullptr;
  void (*simplify)(Graph&, Node&) = nullptr;
};
constexpr WindowedOp kWindowedOps[] = {
    {.op = "conv",
     .windows = WindowsOfConv,
     .is_own_padding = [](double v) { return v == 0; },
     .simplify = DropZeroBias},
    {.op = "max_pool",
     .windows = WindowsOfPool,
     .is_own_padding = [](double v) { return v <= double{std::numeric_limits<float>::lowest()}; }},
    {.op = "average_pool", .windows = WindowsOfPool},
    {.op = "lp_pool", .windows = WindowsOfPool},
};

// Null for other operators.
const WindowedOp* WindowedOpOf(const Node& node) {
  const auto* const row = std::ranges::find(kWindowedOps, node.op_name(), &WindowedOp::op);
  return row == std::end(kWindowedOps) ? nullptr : row;
}

// Makes padding explicit, as far as windows reach; unchanged where sizes are unknown.
void SpellOutPadding(const WindowedOp& op, Node& node) {
  if (!node.input(0)->type().ranked()) return;
  const auto windows = op.windows(node);
  if (!windows) return;
  Ints begins, ends;
  bool beyond = false;  // a window ends past the padding: ceil_mode
  for (const ConstWindow& w : *windows) {
    const int64_t extent = (w.kernel - 1) * w.dilation + 1;
    const int64_t end = (w.output - 1) * w.stride + extent - w.input - w.pad_begin;
    beyond |= end > w.pad_end;
    begins.push_back(w.pad_begin);
    ends.push_back(std::clamp<int64_t>(end, 0, std::max<int64_t>(0, w.pad_end)));
  }
  Ints pads = std::move(begins);
  pads.insert(pads.end(), ends.begin(), ends.end());
  if (std::all_of(pads.begin(), pads.end(), [](int64_t p) { return p == 0; })) pads.clear();
  Set(node, "padding", EnumValue{EnumName(Padding::kExplicit)});
  Set(node, "pads", pads);
  if (!beyond) Set(node, "ceil_mode", false);
}

// Whether a pad node with the value, or zeros, is equivalent to the operator's padding.
bool IsOwnPadding(const WindowedOp& op, const Value* value) {
  if (op.is_own_padding == nullptr) return false;
  if (value == nullptr) return op.is_own_padding(0);
  return value->is_constant() && value->constant().elements() == 1 &&
         op.is_own_padding(value->constant().GetDouble(0));
}

// Folds a pad node at the input into the operator's explicit padding.
void TakePadding(const WindowedOp& op, Graph& graph, Node& node) {
  Value* const x = node.input(0);
  if (x->def() == nullptr || !x->def()->attrs().Is<PadAttrs>() || x->uses().size() != 1 ||
      graph.IsOutput(x))
    return;
  Node& pad = *x->def();
  const auto& a = pad.attrs<PadAttrs>();
  const auto rank = static_cast<size_t>(x->type().rank());
  if (a.mode != PadMode::kConstant || pad.inputs().size() > 2 || a.pads.size() != 2 * rank ||
      !IsOwnPadding(op, pad.input(1)))
    return;
  const auto first = static_cast<size_t>(FirstSpatialAxis(LayoutOf(node)));
  const size_t spatial = rank - 2;
  Ints sum = IntsOf(node.attrs(), "pads");
  sum.resize(2 * spatial);
  for (size_t k = 0; k < rank; ++k) {
    if (k >= first && k < first + spatial) {
      sum[k - first] += a.pads[k];
      sum[spatial + k - first] += a.pads[rank + k];
    } else if (a.pads[k] != 0 || a.pads[rank + k] != 0) {
      return;
    }
  }
  Set(node, "pads", sum);
  graph.SetInput(&node, 0, pad.input(0));
  graph.Erase(&pad);
}

// Canonicalizes attributes that have several equivalent forms.
void SpellOut(Graph& graph, Node& node) {
  if (const WindowedOp* const op = WindowedOpOf(node)) {
    SpellOutPadding(*op, node);
    const auto padding = node.attrs().Get("padding");
    if (padding == AttrValue(EnumValue{EnumName(Padding::kExplicit)})) {
      TakePadding(*op, graph, node);
      SpellOutPadding(*op, node);
    }
    if (op->simplify != nullptr) op->simplify(graph, node);
  }
  for (const char* name : {"strides", "dilations", "steps"}) {
    const Ints list = IntsOf(node.attrs(), name);
    if (!list.empty() && std::all_of(list.begin(), list.end(), [](int64_t v) { return v == 1; }))
      Set(node, name, Ints());
  }
}

}  // namespace

std::optional<Graph> InFormOf(const Format& format, const Graph& graph) {
  Graph fitted = graph.Clone();
  if (!Legalize(fitted, *format.target)) return std::nullopt;
  for (Node& node : fitted.nodes()) SpellOut(fitted, node);
  return fitted;
}

}  // namespace nn::inspect
