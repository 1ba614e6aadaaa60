#include "passes/types/float32.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/op_def.h"
#include "ops/control/region.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

bool IsOtherFloat(DType t) {
  return t == DType::kF16 || t == DType::kBF16 || t == DType::kF64;
}

Result<Tensor> InFloat32(const Tensor& tensor) {
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(DType::kF32, tensor.dims()));
  for (int64_t i = 0; i < b.elements(); ++i) b.SetDouble(i, tensor.GetDouble(i));
  return b.Finish();
}

// Makes float32 of the types that `changes` is true for.
Status ChangeAttributes(Node& node, bool (*changes)(DType)) {
  for (const AttrField& field : node.attrs().info().fields) {
    const AttrValue value = node.attrs().Get(field);
    const DType* const type = std::get_if<DType>(&value);
    if (type == nullptr || !changes(*type)) continue;
    NN_ASSIGN(Attrs attrs, node.attrs().With(field.name, DType::kF32));
    node.set_attrs(std::move(attrs));
  }
  return {};
}

// Changes all values and attributes, and those in regions.
Status ChangeFloats(Graph& graph) {
  std::vector<Value*> others;
  for (Value& v : graph.values())
    if (IsOtherFloat(v.dtype()) && !v.type().quantized()) others.push_back(&v);
  for (Value* v : others) {
    if (v->is_constant()) {
      NN_ASSIGN(Tensor tensor, InFloat32(v->constant()));
      graph.ReplaceUses(v, graph.AddConstant(std::move(tensor), v->name()));
      continue;
    }
    Type type = v->type();
    type.dtype = DType::kF32;
    v->set_type(std::move(type));
  }
  graph.EraseDeadValues();
  for (Node& node : graph.nodes()) NN_RETURN_IF_ERROR(ChangeAttributes(node, IsOtherFloat));
  return ForEachRegion(graph, ChangeFloats);
}

// ---- Inner f64 ----------------------------------------------------------------------------------

// The place and index of an operator of the file.
using Origin = std::pair<std::string_view, int64_t>;

Origin OriginOf(const Node& node) {
  return {node.source().place.view(), node.source().index};
}

bool IsWide(const Value* v) {
  return v != nullptr && v->dtype() == DType::kF64;
}

bool HasWide(const Node& node) {
  return std::ranges::any_of(node.inputs(), IsWide) || std::ranges::any_of(node.outputs(), IsWide);
}

// Whether other nodes or the caller see f64 of the node, or it is what integers become or are made
// of, which may need all digits.
bool IsSeen(const Graph& graph, const Node& node) {
  const auto is_other = [&](const Node* other) {
    return other == nullptr || !other->source().IsSame(node.source());
  };
  for (const Value* v : node.inputs())
    if (IsWide(v) && !v->is_constant() && is_other(v->def())) return true;
  for (const Value* v : node.outputs())
    if (IsWide(v) && (graph.IsOutput(v) || std::ranges::any_of(v->uses(), [&](const Use& use) {
                        return is_other(use.node);
                      })))
      return true;
  return node.Is<CastAttrs>() &&
         (IsInteger(node.input(0)->dtype()) || IsInteger(node.output()->dtype()));
}

bool IsExactInFloat32(const Tensor& tensor) {
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double v = tensor.GetDouble(i);
    if (!std::isfinite(v)) continue;
    if (std::fabs(v) > static_cast<double>(std::numeric_limits<float>::max()) ||
        static_cast<double>(static_cast<float>(v)) != v)
      return false;
  }
  return true;
}

bool HasExactConstants(const Node& node) {
  return std::ranges::all_of(node.inputs(), [](const Value* v) {
    return !IsWide(v) || !v->is_constant() || IsExactInFloat32(v->constant());
  });
}

// The operators with f64 of their own and constants that float32 has, and their nodes that have it.
std::map<Origin, std::vector<Node*>> InnerWide(Graph& graph) {
  std::map<Origin, std::vector<Node*>> inner;
  std::set<Origin> kept;
  for (Node& node : graph.nodes()) {
    if (node.source().index < 0 || !HasWide(node)) continue;
    inner[OriginOf(node)].push_back(&node);
    if (!node.regions().empty() || IsSeen(graph, node) || !HasExactConstants(node))
      kept.insert(OriginOf(node));
  }
  for (const Origin& origin : kept) inner.erase(origin);
  return inner;
}

// The factor of a square that is a product; null for other values.
Value* RootOf(const Value* v) {
  const Node* const def = v->def();
  return def != nullptr && def->Is("mul") && def->input(0) == def->input(1) ? def->input(0)
                                                                            : nullptr;
}

// sqrt(a * a + b * b) -> s * sqrt((a / s)^2 + (b / s)^2), where s is the larger magnitude.
Status ScaleMagnitude(Graph& graph, Node& node) {
  const Node* const sum = node.Is("sqrt") ? node.input(0)->def() : nullptr;
  if (sum == nullptr || !sum->Is("add")) return {};
  Value *const a = RootOf(sum->input(0)), *const b = RootOf(sum->input(1));
  if (a == nullptr || b == nullptr) return {};
  Expansion e(graph, node);
  const Term largest = Maximum(Apply("abs", {a}), Apply("abs", {b}));
  const Term scale = Select(Equal(largest, 0), 1, largest);
  const Term x = a / scale, y = b / scale;
  return e.Replace(scale * Apply("sqrt", {x * x + y * y})).map([](bool) {});
}

Status Narrow(Graph& graph, Node& node) {
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    Value* const v = node.input(i);
    if (!IsWide(v) || !v->is_constant()) continue;
    NN_ASSIGN(Tensor tensor, InFloat32(v->constant()));
    graph.SetInput(&node, i, graph.AddConstant(std::move(tensor), v->name()));
  }
  for (Value* const v : node.outputs()) {
    if (!IsWide(v)) continue;
    Type type = v->type();
    type.dtype = DType::kF32;
    v->set_type(std::move(type));
  }
  NN_RETURN_IF_ERROR(ChangeAttributes(node, [](DType t) { return t == DType::kF64; }));
  return InferNode(node);
}

}  // namespace

Status ComputeInnerInFloat32(Graph& graph) {
  for (const auto& [origin, nodes] : InnerWide(graph))
    for (Node* const node : nodes) NN_RETURN_IF_ERROR(ScaleMagnitude(graph, *node));
  for (const auto& [origin, nodes] : InnerWide(graph))
    for (Node* const node : nodes) NN_RETURN_IF_ERROR(Narrow(graph, *node));
  return {};
}

bool HasOtherFloats(const Graph& graph) {
  return std::ranges::any_of(graph.values(),
                             [](const Value& v) { return IsOtherFloat(v.dtype()); }) ||
         AnyRegion(graph, HasOtherFloats);
}

Status ComputeInFloat32(Graph& graph) {
  NN_RETURN_IF_ERROR(ChangeFloats(graph));
  return InferGraph(graph);
}

}  // namespace nn
