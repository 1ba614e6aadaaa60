#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "passes/qdq/qdq.h"

namespace nn {
namespace {

constexpr int64_t kOffset = -int64_t{std::numeric_limits<int8_t>::min()};

bool IsSigned(const Value* v) {
  return v != nullptr && v->dtype() == DType::kI8 && v->type().quantized();
}

template <typename T>
bool AllEqual(const std::vector<T>& v) {
  return std::ranges::all_of(v, [&](const T& x) { return x == v.front(); });
}

// One scale and zero point for those of all channels, if they are equal.
std::shared_ptr<const Quant> Unified(const std::shared_ptr<const Quant>& quant) {
  if (!quant->per_axis() || !AllEqual(quant->scales) || !AllEqual(quant->zero_points)) return quant;
  return Quant::PerTensor(quant->scale(), quant->zero_point());
}

std::shared_ptr<const Quant> WithOffset(const Quant& quant) {
  auto out = std::make_shared<Quant>(quant);
  out->zero_points.resize(out->scales.size());
  for (size_t i = 0; i < out->scales.size(); ++i)
    out->zero_points[i] = quant.zero_point(i) + kOffset;
  return out;
}

Result<Tensor> WithOffset(const Tensor& tensor) {
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(DType::kU8, tensor.dims()));
  for (int64_t i = 0; i < b.elements(); ++i) b.SetInt(i, tensor.GetInt(i) + kOffset);
  return b.Finish();
}

Status Change(Graph& graph, Value& v) {
  const bool is_signed = IsSigned(&v);
  Type type = v.type();
  type.quant = Unified(type.quant);
  if (is_signed) type.quant = WithOffset(*type.quant);
  if (is_signed && v.is_constant()) {
    NN_ASSIGN(Tensor tensor, WithOffset(v.constant()));
    graph.MakeConstant(&v, std::move(tensor));
  }
  if (is_signed) type.dtype = DType::kU8;
  v.set_type(std::move(type));
  return {};
}

// Whether the node computes with the integers themselves, not with what they represent.
bool ReadsIntegers(const Node& node) {
  const bool represents =
      node.Is<QuantizeAttrs>() || node.Is<DequantizeAttrs>() ||
      node.op().movement != Movement::kNone ||
      (node.op().quant_rule != QuantRule::kNone && node.op().quant_rule != QuantRule::kStored);
  return !represents && (std::ranges::any_of(node.inputs(), IsSigned) ||
                         std::ranges::any_of(node.outputs(), IsSigned));
}

bool IsFixed(const Node& node) {
  return !node.regions().empty() || ReadsIntegers(node);
}

}  // namespace

Status MakeUnsigned(Graph& graph) {
  const auto is_quantized = [](const Value& v) { return v.type().quantized(); };
  if (std::ranges::none_of(graph.values(), is_quantized) ||
      std::ranges::any_of(graph.nodes(), IsFixed))
    return {};
  Graph changed = graph.Clone();
  for (Value& v : changed.values())
    if (v.type().quantized()) NN_RETURN_IF_ERROR(Change(changed, v));
  if (InferGraph(changed)) graph = std::move(changed);
  return {};
}

}  // namespace nn
