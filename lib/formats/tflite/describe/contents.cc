// Writes graphs as subgraphs.
#include "base/text/text.h"
#include "formats/tflite/export/export.h"

namespace nn::tflite {
namespace {

// A copy of the value, by RESHAPE.
Result<TensorIndex> WriteCopy(ExportContext& ctx, const Port& p) {
  const Type& type = p.value->type();
  if (!type.ranked())
    return UnsupportedError("output {} has an unknown rank; set shapes with --input-shape",
                            Quote(p.name));
  TensorIndex shape = kNoTensor;
  if (type.const_dims()) {
    NN_ASSIGN(shape, ctx.AddDims(*type.dims, "shape"));
  } else {
    shape = ctx.AddTensor(Type(DType::kI32, {Dim(type.rank())}), "shape");
    ctx.AddOperator(fb::BuiltinOperator::SHAPE, {{shape}, {ctx.TensorOf(p.value)}},
                    fb::CreateShapeOptions(ctx.builder(), fb::TensorType::INT32));
  }
  const TensorIndex y = ctx.AddNamed(type, p.name);
  ctx.AddOperator(fb::BuiltinOperator::RESHAPE, {{y}, {ctx.TensorOf(p.value), shape}},
                  fb::CreateReshapeOptions(ctx.builder()));
  return y;
}

}  // namespace

std::vector<TensorIndex> ExportContext::ClaimPorts(const Graph& graph, std::span<const Port> inputs,
                                                   std::span<const Port> outputs) {
  for (const Port& p : inputs) Claim(p.value, p.name);
  for (const Port& p : graph.inputs()) Define(p.value);
  std::vector<TensorIndex> tensors;
  for (const Port& p : outputs) {
    if (p.value->is_constant() || HasTensor(p.value)) {
      Reserve(p.name);
      tensors.push_back(kNoTensor);
    } else {
      Claim(p.value, p.name);
      tensors.push_back(TensorOf(p.value));
    }
  }
  return tensors;
}

Status ExportContext::WriteContents(const Graph& graph, std::span<const Port> outputs,
                                    std::vector<TensorIndex>& tensors) {
  for (const Node& node : graph.nodes()) {
    if (!IsFused(node))
      if (const Status s = WriteNode(*this, node); !s)
        return tl::unexpected(s.error().In(node.Describe()));
    for (const Value* v : node.outputs()) Define(v);
  }
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i] == kNoTensor) {
      NN_ASSIGN(tensors[i], WriteCopy(*this, outputs[i]));
    }
  return {};
}

void ExportContext::BeginSubgraph(std::string_view name) {
  around_.push_back(std::move(part_));
  part_ = Part();
  part_.name = name;
}

int32_t ExportContext::EndSubgraph(std::vector<TensorIndex> inputs,
                                   std::vector<TensorIndex> outputs) {
  part_.inputs = std::move(inputs);
  part_.outputs = std::move(outputs);
  parts_.push_back(std::move(part_));
  part_ = std::move(around_.back());
  around_.pop_back();
  return static_cast<int32_t>(parts_.size());
}

}  // namespace nn::tflite
