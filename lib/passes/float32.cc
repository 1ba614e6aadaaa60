#include "passes/float32.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "ir/op_def.h"
#include "ops/control/region.h"

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

Status ChangeAttributes(Node& node) {
  for (const AttrField& field : node.attrs().info().fields) {
    const AttrValue value = node.attrs().Get(field);
    const DType* const type = std::get_if<DType>(&value);
    if (type == nullptr || !IsOtherFloat(*type)) continue;
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
  for (Node& node : graph.nodes()) NN_RETURN_IF_ERROR(ChangeAttributes(node));
  return ForEachRegion(graph, ChangeFloats);
}

}  // namespace

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
