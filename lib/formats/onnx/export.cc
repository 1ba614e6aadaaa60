#include "formats/onnx/export.h"
#include "formats/onnx/family.h"

#include <fmt/core.h>

#include <algorithm>

#include "formats/common/interface.h"
#include "formats/onnx/external.h"
#include "formats/onnx/family.h"
#include "formats/onnx/tensor.h"
#include "ir/op_def.h"
#include "ops/math/matmul.h"
#include "passes/qdq.h"

namespace nn::onnx {
namespace {

// The IR version for an operator set: that of the first onnx release with the set.
int64_t IrVersionFor(int64_t opset) {
  if (opset >= 23) return 11;
  if (opset >= 21) return 10;
  if (opset >= 19) return 9;
  if (opset >= 15) return 8;
  if (opset >= 12) return 7;
  if (opset >= 11) return 6;
  if (opset >= 10) return 5;
  if (opset >= 9) return 4;
  return 3;
}

void SetAttr(pb::NodeProto* node, std::string_view name, const AttrValue& value) {
  if (const auto* v = std::get_if<int64_t>(&value)) SetInt(node, name, *v);
  if (const auto* v = std::get_if<bool>(&value)) SetInt(node, name, *v ? 1 : 0);
  if (const auto* v = std::get_if<float>(&value)) SetFloat(node, name, *v);
  if (const auto* v = std::get_if<EnumValue>(&value)) SetString(node, name, v->name);
  if (const auto* v = std::get_if<std::string>(&value)) SetString(node, name, *v);
  if (const auto* v = std::get_if<std::vector<int64_t>>(&value)) SetInts(node, name, *v);
  if (const auto* v = std::get_if<std::vector<float>>(&value)) SetFloats(node, name, *v);
}

Status WriteNode(ExportContext& ctx, const Node& node) {
  if (const ExportRow* row = FindExport(node.op_name())) return row->write(ctx, node);
  const FormatName* format = node.op().FindFormat("onnx");
  if (format == nullptr) return InternalError("{} was not legalized for ONNX", node.Describe());
  pb::NodeProto* out = ctx.AddNode(node, format->path);
  for (const auto& [ours, theirs] : format->attrs)
    if (const auto value = node.attrs().Get(ours)) SetAttr(out, theirs, *value);
  return {};
}

std::optional<std::string> WhyIllegal(const Node& node) {
  if (OnQuantizedTypes(node))
    return "its operands are quantized; the ONNX operator needs real ones";
  if (const ExportRow* row = FindExport(node.op_name()))
    return row->why_not == nullptr ? std::nullopt : row->why_not(node);
  const FormatName* format = node.op().FindFormat("onnx");
  if (format == nullptr) return fmt::format("ONNX has no {} operator", node.op_name());
  return std::nullopt;
}

// The lowest operator set for a node; 1 if all support it.
int64_t MinOpset(const Node& node) {
  if (const ExportRow* row = FindExport(node.op_name()))
    return row->min_opset == nullptr ? 1 : row->min_opset(node);
  const FormatName* format = node.op().FindFormat("onnx");
  return format == nullptr ? 1 : format->since_version;
}

// The operator set to write if none was requested.
int64_t DefaultOpset(const Graph& graph) {
  int64_t opset = kDefaultOpset;
  for (const Node& node : graph.nodes()) opset = std::max(opset, MinOpset(node));
  return opset;
}

// kUnsupported, with all nodes that the operator set cannot express.
Status CheckOpset(const Graph& graph, int64_t opset) {
  std::string text;
  for (const Node& node : graph.nodes())
    if (const int64_t needs = MinOpset(node); needs > opset)
      text += fmt::format("\n  {} needs {}", node.Describe(), needs);
  if (text.empty()) return {};
  return UnsupportedError("operator set {} is too low:{}", opset, text);
}

}  // namespace

std::string ExportContext::NewName(std::string_view hint) {
  return used_.New(std::string(hint.empty() ? "value" : hint));
}

bool ExportContext::Claim(const Value* value, const std::string& name) {
  if (names_.contains(value)) return false;
  used_.Claim(name);
  names_[value] = name;
  return true;
}

std::string ExportContext::NameOf(const Value* value) {
  if (value == nullptr) return {};
  const auto it = names_.find(value);
  if (it != names_.end()) return it->second;
  std::string name = NewName(value->name());
  names_[value] = name;
  if (value->is_constant())
    WriteTensor(value->constant(), name, graph_->add_initializer(), payloads_);
  return name;
}

std::string ExportContext::NameAs(const Value* value, DType dtype) {
  if (value == nullptr || value->dtype() == dtype) return NameOf(value);
  if (value->is_constant() && dtype == DType::kI64 && IsInteger(value->dtype())) {
    const Tensor& t = value->constant();
    return AddTensor(Tensor::Of(t.dims(), t.ToInts()), value->name());
  }
  std::string name = NewName(value->name());
  AddCast(NameOf(value), name, dtype);
  return name;
}

pb::NodeProto* ExportContext::AddNode(const Node& source, std::string_view op_type,
                                      std::vector<std::string> inputs,
                                      std::vector<std::string> outputs) {
  pb::NodeProto* node = AddHelper(op_type, std::move(inputs), std::move(outputs));
  if (!source.name().empty()) node->set_name(source.name());
  return node;
}

pb::NodeProto* ExportContext::AddHelper(std::string_view op_type, std::vector<std::string> inputs,
                                        std::vector<std::string> outputs) {
  pb::NodeProto* node = graph_->add_node();
  node->set_op_type(std::string(op_type));
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  for (std::string& name : inputs) node->add_input(std::move(name));
  for (std::string& name : outputs) node->add_output(std::move(name));
  return node;
}

pb::NodeProto* ExportContext::AddNode(const Node& source, std::string_view op_type) {
  std::vector<std::string> inputs, outputs;
  for (const Value* v : source.inputs()) inputs.push_back(NameOf(v));
  for (const Value* v : source.outputs()) outputs.push_back(NameOf(v));
  return AddNode(source, op_type, std::move(inputs), std::move(outputs));
}

void ExportContext::AddCast(std::string from, std::string to, DType dtype) {
  SetInt(AddHelper("Cast", {std::move(from)}, {std::move(to)}), "to", DataTypeOf(dtype));
}

std::string ExportContext::AddValue(std::string_view op_type, std::vector<std::string> inputs,
                                    std::string_view hint) {
  std::string name = NewName(hint);
  AddHelper(op_type, std::move(inputs), {name});
  return name;
}

std::string ExportContext::AddTensor(const Tensor& tensor, std::string_view hint) {
  std::string name = NewName(hint);
  WriteTensor(tensor, name, graph_->add_initializer(), payloads_);
  return name;
}

namespace {

pb::AttributeProto* AddAttr(pb::NodeProto* node, std::string_view name,
                            pb::AttributeProto::AttributeType type) {
  pb::AttributeProto* a = node->add_attribute();
  a->set_name(std::string(name));
  a->set_type(type);
  return a;
}

}  // namespace

void SetInt(pb::NodeProto* node, std::string_view name, int64_t value) {
  AddAttr(node, name, pb::AttributeProto::INT)->set_i(value);
}
void SetFloat(pb::NodeProto* node, std::string_view name, float value) {
  AddAttr(node, name, pb::AttributeProto::FLOAT)->set_f(value);
}
void SetString(pb::NodeProto* node, std::string_view name, std::string_view value) {
  AddAttr(node, name, pb::AttributeProto::STRING)->set_s(std::string(value));
}
void SetInts(pb::NodeProto* node, std::string_view name, const std::vector<int64_t>& values) {
  auto* a = AddAttr(node, name, pb::AttributeProto::INTS);
  for (const int64_t v : values) a->add_ints(v);
}
void SetStrings(pb::NodeProto* node, std::string_view name,
                const std::vector<std::string>& values) {
  auto* a = AddAttr(node, name, pb::AttributeProto::STRINGS);
  for (const std::string& v : values) a->add_strings(v);
}
void SetFloats(pb::NodeProto* node, std::string_view name, const std::vector<float>& values) {
  auto* a = AddAttr(node, name, pb::AttributeProto::FLOATS);
  for (const float v : values) a->add_floats(v);
}

const ExportRow* FindExport(std::string_view op) {
  static const auto table = RowsBy(&ExportRow::op, &Family::exports, Families());
  return FindRow(table, op);
}

const Target& OnnxTarget() {
  static const Rewrite rewrites[] = {
      {"", "channels first", &SetLayout<Layout::kNcx>},
      {"conv", "filter layout",
       [](Graph& g, Node& n) { return SetFilterLayout(g, n, FilterLayout::kOix); }},
      {"conv_transpose", "filter layout",
       [](Graph& g, Node& n) { return SetFilterLayout(g, n, FilterLayout::kIox); }},
      {"matmul", "transposed operands",
       [](Graph& g, Node& n) {
         // Gemm supports transposed operands, but the bias may have to be split off first.
         return n.input(2) == nullptr ? TransposeMatmulOperands(g, n) : Result<bool>(false);
       }},
  };
  static const Target target = {.name = "ONNX",
                                .why_illegal = WhyIllegal,
                                .takes_unranked = true,
                                .rewrites = rewrites,
                                .prepare = UnfuseQdq};
  return target;
}

Result<FileImage> Write(const Graph& graph, const ExportOptions& options) {
  NN_RETURN_IF_ERROR(
      CheckInterface(graph, {.label = "ONNX", .distinct_names = true, .ranks = true}));
  const int64_t opset =
      options.opset == 0 ? std::min(DefaultOpset(graph), kNewestOpset) : options.opset;
  if (opset < 7 || opset > kNewestOpset)
    return UnsupportedError("operator set {} is unsupported; expected 7 to {}", opset,
                            kNewestOpset);
  NN_RETURN_IF_ERROR(CheckOpset(graph, opset));
  pb::ModelProto model;
  PayloadTable payloads;
  model.set_ir_version(IrVersionFor(opset));
  model.set_producer_name("nnconvert");
  model.set_producer_version(options.producer_version);
  auto* id = model.add_opset_import();
  id->set_domain("");
  id->set_version(opset);
  pb::GraphProto* g = model.mutable_graph();
  g->set_name(graph.name.empty() ? "main" : graph.name);

  ExportContext ctx(g, payloads, opset);
  for (const Port& p : graph.inputs()) {
    ctx.Claim(p.value, p.name);
    ctx.Define(p.value);
    auto* info = g->add_input();
    info->set_name(p.name);
    WriteType(p.value->type(), info->mutable_type());
  }
  // An output whose value already has another name (an input, a constant, a second output) is
  // written as a copy.
  std::vector<const Port*> copies;
  for (const Port& p : graph.outputs()) {
    auto* info = g->add_output();
    info->set_name(p.name);
    WriteType(p.value->type(), info->mutable_type());
    if (p.value->is_constant() || !ctx.Claim(p.value, p.name)) {
      ctx.Reserve(p.name);
      copies.push_back(&p);
    }
  }
  for (const Node& node : graph.nodes()) {
    if (auto s = WriteNode(ctx, node); !s) return tl::unexpected(s.error().In(node.Describe()));
    for (const Value* v : node.outputs()) ctx.Define(v);
  }
  for (const Port* p : copies) {
    pb::NodeProto* identity = g->add_node();
    identity->set_op_type("Identity");
    identity->add_input(ctx.NameOf(p->value));
    identity->add_output(p->name);
  }
  return Assemble(std::move(model), std::move(payloads), {}, options);
}

}  // namespace nn::onnx
