// Writes the contents of graphs: that of the model, and subgraphs in it.
#include "formats/onnx/export/export.h"
#include "formats/onnx/file/tensor.h"
#include "ir/op_def.h"

namespace nn::onnx {

void ExportContext::AddInput(const std::string& name, const Type& type) {
  auto* info = graph_->add_input();
  info->set_name(name);
  WriteType(type, info->mutable_type());
}

void ExportContext::AddInput(const std::string& name, const Value* value) {
  Claim(value, name);
  AddInput(name, value->type());
}

void ExportContext::AddOutput(const std::string& name, const Type& type) {
  auto* info = graph_->add_output();
  info->set_name(name);
  WriteType(type, info->mutable_type());
}

Status ExportContext::WriteContents(const Graph& graph, std::span<const Port> outputs) {
  for (const Port& p : graph.inputs()) Define(p.value);
  std::vector<const Port*> copies;
  for (const Port& p : outputs) {
    AddOutput(p.name, p.value->type());
    // An output may be an input.
    if (p.value->is_input() && NameOf(p.value) == p.name) continue;
    if (p.value->is_constant() || !Claim(p.value, p.name)) {
      Reserve(p.name);
      copies.push_back(&p);
    }
  }
  for (const Node& node : graph.nodes()) {
    if (auto s = WriteNode(*this, node); !s) return tl::unexpected(s.error().In(node.Describe()));
    for (const Value* v : node.outputs()) Define(v);
  }
  for (const Port* p : copies) AddHelper("Identity", {{p->name}, {NameOf(p->value)}});
  return {};
}

ExportContext::Subgraph::Subgraph(ExportContext& ctx, pb::GraphProto* graph)
    : ctx_(ctx), graph_(ctx.graph_), symbols_(ctx.symbols_), dims_(std::move(ctx.dims_)) {
  ctx.graph_ = graph;
  // Those that inference made up have another meaning in a region.
  std::erase_if(ctx.symbols_, [](const auto& s) { return InferContext::IsNewSymbol(s.first); });
  ctx.dims_.clear();
}

ExportContext::Subgraph::~Subgraph() {
  ctx_.graph_ = graph_;
  ctx_.symbols_ = std::move(symbols_);
  ctx_.dims_ = std::move(dims_);
}

}  // namespace nn::onnx
