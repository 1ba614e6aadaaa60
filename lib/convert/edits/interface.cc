#include "convert/edits/interface.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <variant>

#include "base/text/text.h"
#include "ops/array/shape.h"
#include "ops/control/region.h"

namespace nn {
namespace {

std::vector<TypedPort> TypedPorts(const std::vector<Port>& ports) {
  std::vector<TypedPort> out;
  out.reserve(ports.size());
  for (const Port& p : ports) out.push_back({p.name, p.value->type()});
  return out;
}

std::optional<std::string> NameOfPort(const std::vector<Port>& ports, const Value* value) {
  const auto it = std::ranges::find(ports, value, &Port::value);
  return it == ports.end() ? std::nullopt : std::optional(Quote(it->name));
}

std::string DescribeOperand(const Graph& graph, const Value& value) {
  if (value.def() != nullptr) return value.def()->Describe();
  const auto name = NameOfPort(graph.inputs(), &value);
  return name ? "input " + *name : "a constant";
}

std::string DescribeUses(const Graph& graph, const Value& value) {
  if (value.uses().empty()) {
    const auto name = NameOfPort(graph.outputs(), &value);
    return name ? "output " + *name : "no operator";
  }
  const size_t more = value.uses().size() - 1;
  return value.uses().front().node->Describe() +
         (more == 0 ? "" : fmt::format(" and {} more", more));
}

// "for the layout nxc of conv "c"" for a neighbor that has a layout.
std::optional<std::string> LayoutReason(const Node* node) {
  if (node == nullptr) return std::nullopt;
  const auto layout = node->attrs().Get("layout");
  if (!layout) return std::nullopt;
  return fmt::format("for the layout {} of {}", std::get<EnumValue>(*layout).name,
                     node->Describe());
}

std::string ReasonOf(const Graph& graph, const Node& node) {
  if (!node.source().op.empty()) return node.source().ToString() + " of the source";
  const Value& operand = *node.input(0);
  const Value& result = *node.output();
  if (auto reason = LayoutReason(operand.def())) return *reason;
  for (const Use& use : result.uses())
    if (auto reason = LayoutReason(use.node)) return *reason;
  return fmt::format("between {} and {}", DescribeOperand(graph, operand),
                     DescribeUses(graph, result));
}

}  // namespace

Interface InterfaceOf(const Graph& graph) {
  return {TypedPorts(graph.inputs()), TypedPorts(graph.outputs())};
}

std::vector<TransposeNode> TransposesOf(const Graph& graph) {
  std::vector<TransposeNode> out;
  for (const Node& node : graph.nodes()) {
    if (!node.Is<TransposeAttrs>()) continue;
    const auto& perm = node.attrs<TransposeAttrs>().perm;
    out.push_back({node.Describe(), node.input(0)->type().ToString(),
                   node.output()->type().ToString(), std::vector<int>(perm.begin(), perm.end()),
                   ReasonOf(graph, node)});
  }
  return out;
}

Result<Tensor> CastTo(const Tensor& tensor, DType dtype, int64_t offset) {
  if (tensor.dtype() == dtype && offset == 0) return tensor;
  const auto numeric = [](DType t) { return IsFloat(t) || IsInteger(t) || t == DType::kBool; };
  if (!numeric(tensor.dtype()) || !numeric(dtype))
    return UnsupportedError("cannot compare {} with {}", DTypeName(tensor.dtype()),
                            DTypeName(dtype));
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, tensor.dims()));
  for (int64_t i = 0; i < b.elements(); ++i) {
    if (IsFloat(tensor.dtype()))
      b.SetDouble(i, tensor.GetDouble(i));
    else
      b.SetInt(i, tensor.GetInt(i) + offset);
  }
  return b.Finish();
}

Result<Tensor> Moved(const Tensor& tensor, const AxisMap& map) {
  if (map.IsIdentity()) return tensor;
  return RearrangeTensor(tensor, map);
}

bool HasType(const Graph& graph, DType type) {
  return std::ranges::any_of(graph.values(), [&](const Value& v) { return v.dtype() == type; }) ||
         AnyRegion(graph, [&](const Graph& region) { return HasType(region, type); });
}

uint64_t ConstantBytesOf(const Graph& graph) {
  uint64_t bytes = 0;
  for (const Value& v : graph.values())
    if (v.is_constant()) bytes += v.constant().byte_size();
  for (const Node& node : graph.nodes())
    for (const auto& region : node.regions()) bytes += ConstantBytesOf(*region);
  return bytes;
}

}  // namespace nn
