#include "formats/onnx/export/own_axes.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/control/region.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/resize/resize.h"
#include "ops/support/types.h"
#include "passes/core/passes.h"

namespace nn::onnx {
namespace {

constexpr int kMaxInterpolated = 5;  // axes

bool IsOnlyUsedOnce(const Graph& graph, const Value& v) {
  return v.uses().size() == 1 && !graph.IsOutput(&v);
}

// Whether the node has one number for one, whatever their axes.
bool IsRounding(const Node& node) {
  const auto is_per_axis = [](const Value* v) {
    return v->type().quantized() && v->type().quant->per_axis();
  };
  return (node.Is<QuantizeAttrs>() || node.Is<DequantizeAttrs>()) && node.inputs().size() == 1 &&
         !is_per_axis(node.input(0)) && !is_per_axis(node.output());
}

// The axes of size 1 that the node inserts or removes before all others; empty if it does something
// else.
std::vector<int> UnitAxes(const Node& node, std::string_view op, int rank) {
  if (!node.Is(op) || node.inputs().size() != 1) return {};
  auto axes = NormalizeAxes(node.attrs<AxesAttrs>().axes, rank);
  if (!axes || std::ranges::any_of(*axes, [](int axis) { return axis > 1; })) return {};
  std::ranges::sort(*axes);
  return *std::move(axes);
}

// Whether the attributes of a resize and the types of its inputs tell how many axes it has numbers
// for.
bool HasKnownCount(const Node& resize) {
  return std::ranges::all_of(resize.inputs().subspan(1), [](const Value* v) {
    return v == nullptr || v->type().const_dims().has_value();
  });
}

// A resize between nodes that insert and remove axes, with the quantized steps between them.
struct Around {
  Node* expand = nullptr;
  Node* squeeze = nullptr;
  std::vector<Value*> operands = {};  // up to the resize
  std::vector<Value*> results = {};   // from the resize on
};

std::optional<Around> AxesAround(const Graph& graph, Node& resize) {
  const Type& x = resize.input(0)->type();
  if (!HasKnownCount(resize) || resize.arithmetic() != Arithmetic::kDefault ||
      resize.attrs<ResizeAttrs>().layout != Layout::kNcx || !x.ranked() ||
      x.rank() <= kMaxInterpolated)
    return std::nullopt;
  Around found;
  Value* v = resize.input(0);
  for (; v->def() != nullptr && IsRounding(*v->def()) && IsOnlyUsedOnce(graph, *v);
       v = v->def()->input(0))
    found.operands.push_back(v);
  found.expand = v->def();
  for (v = resize.output(); IsOnlyUsedOnce(graph, *v); v = found.squeeze->output()) {
    found.results.push_back(v);
    found.squeeze = v->uses()[0].node;
    if (!IsRounding(*found.squeeze)) break;
  }
  if (found.expand == nullptr || found.squeeze == nullptr) return std::nullopt;
  const std::vector<int> axes = UnitAxes(*found.expand, "expand_dims", x.rank());
  if (axes.empty() || axes != UnitAxes(*found.squeeze, "squeeze", x.rank())) return std::nullopt;
  return found;
}

void SetDims(std::span<Value* const> values, const Value& like) {
  for (Value* const v : values) v->set_type(v->type().WithDims(*like.type().dims));
}

}  // namespace

Status ResizeOwnAxes(Graph& graph) {
  NN_RETURN_IF_ERROR(ForEachRegion(graph, ResizeOwnAxes));
  bool any = false;
  for (Node& node : graph.nodes()) {
    if (!node.Is<ResizeAttrs>()) continue;
    const auto around = AxesAround(graph, node);
    if (!around) continue;
    Value* const x = around->expand->input(0);
    Node* const first = around->operands.empty() ? &node : around->operands.back()->def();
    graph.SetInput(first, 0, x);
    SetDims(around->operands, *x);
    SetDims(around->results, *around->squeeze->output());
    Value* const y = around->results.back();
    y->set_name(around->squeeze->output()->name());
    graph.Replace(around->squeeze, y);
    any = true;
  }
  return any ? RemoveDeadCode(graph) : Status();
}

}  // namespace nn::onnx
