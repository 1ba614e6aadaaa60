#include "formats/onnx/export/export.h"
#include "formats/onnx/family.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "formats/common/interface.h"
#include "formats/onnx/edit/node_names.h"
#include "formats/onnx/export/own_axes.h"
#include "formats/onnx/export/quant/block_form.h"
#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/export/quant/lstm_steps.h"
#include "formats/onnx/export/quant/move_integers.h"
#include "formats/onnx/export/quant/narrow_products.h"
#include "formats/onnx/export/quant/requantize.h"
#include "formats/onnx/export/schema_fit.h"
#include "formats/onnx/file/external.h"
#include "formats/onnx/file/frame.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/import/ml.h"
#include "formats/onnx/roles.h"
#include "formats/onnx/spec/schema.h"
#include "ir/op_def.h"
#include "ops/array/arrange/positions.h"
#include "ops/array/generate.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/nn/resize/resize.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/unroll.h"
#include "ops/support/types.h"
#include "passes/qdq/qdq.h"
#include "rewrite/apply_rule.h"
#include "rewrite/expand.h"
#include "rewrite/expand/tflite_integers.h"
#include "rewrite/forms/forms.h"
#include "rewrite/functions.h"
#include "rewrite/rewrite.h"

namespace nn::onnx {
namespace {

// The IR version for an operator set: that of the first onnx release with the set, but at least 4,
// from which on initializers need not be inputs.
int64_t IrVersionFor(int64_t opset) {
  if (opset >= 25) return 13;
  if (opset >= 24) return 12;
  if (opset >= 23) return 11;
  if (opset >= 21) return 10;
  if (opset >= 19) return 9;
  if (opset >= 15) return 8;
  if (opset >= 12) return 7;
  if (opset >= 11) return 6;
  if (opset >= 10) return 5;
  return 4;
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

std::optional<std::string> WhyIllegal(const Node& node) {
  // Stored integers need no mapping where they are only moved, or the operator is defined on them.
  if (OnQuantizedTypes(node) && node.op().quant_rule != QuantRule::kStored &&
      node.op().movement == Movement::kNone)
    return "its operands are quantized; the ONNX operator needs real ones";
  const ExportRow* row = FindExport(node.op_name());
  if (row == nullptr && node.op().FindFormat("onnx") == nullptr) {
    const auto steps = node.op().category == Category::kRecurrent ? WhyNotUnrolled(node)
                                                                  : std::optional<std::string>();
    return fmt::format("ONNX has no {} operator{}", node.op_name(),
                       steps ? fmt::format("; {}", *steps) : "");
  }
  const Category category = node.op().category;
  if (row == nullptr && (category == Category::kActivation || category == Category::kArithmetic))
    if (auto reason = WhyNotReal(node)) return reason;
  const SchemaFit fit = FitToSchemas(node, kDefaultOpset, kNewestOpset);
  // Newer sets lost the form of a few nodes. Others have it for fewer types, which are those that
  // it is defined for.
  const bool fits =
      fit.opset != 0 ||
      (!fit.has_form && FitToSchemas(node, kOldestOpset, kDefaultOpset - 1).opset != 0);
  return fits ? std::nullopt : std::optional(fit.reason);
}

// Whether an output is written as a copy of a value that has another name.
bool IsCopied(const Graph& graph, const Port& output) {
  if (output.value->is_constant() || output.value->is_input()) return true;
  const auto first = std::find_if(graph.outputs().begin(), graph.outputs().end(),
                                  [&](const Port& p) { return p.value == output.value; });
  return &*first != &output;
}

// The lowest operator set, from `least` on, in which Identity takes the outputs that are copies.
int64_t OpsetOfCopies(const Graph& graph, int64_t least) {
  int64_t opset = least;
  for (const Port& p : graph.outputs()) {
    if (!IsCopied(graph, p)) continue;
    for (; opset < kNewestOpset; ++opset) {
      const Schema* identity = FindSchema("", "Identity", opset);
      const std::string_view variable = identity->inputs.front().type;
      if (identity->types.find(variable)->second.contains(std::string(DTypeName(p.value->dtype()))))
        break;
    }
  }
  return opset;
}

// The operator set that the nodes need at least, if it is at least `least`, and those that have
// none up to `most`.
struct NeededOpset {
  int64_t opset = 0;
  std::string misfits = {};  // a line each
  bool is_low = true;        // newer sets have all of these
};

NeededOpset OpsetNeededBy(const Graph& graph, int64_t least, int64_t most) {
  NeededOpset needed{.opset = OpsetOfCopies(graph, least)};
  for (const Node& node : graph.nodes()) {
    const SchemaFit fit = FitToSchemas(node, least, kNewestOpset);
    if (fit.opset == 0 || fit.opset > most)
      needed.misfits += fit.opset == 0 ? fmt::format("\n  {}: {}", node.Describe(), fit.reason)
                                       : fmt::format("\n  {} needs {}", node.Describe(), fit.opset);
    needed.is_low = needed.is_low && fit.opset != 0;
    needed.opset = std::max(needed.opset, fit.opset);
    for (const auto& region : node.regions()) {
      const NeededOpset inner = OpsetNeededBy(*region, least, most);
      needed.misfits += inner.misfits;
      needed.is_low = needed.is_low && inner.is_low;
      needed.opset = std::max(needed.opset, inner.opset);
    }
  }
  return needed;
}

// The lowest operator set, from `least` on, in which all nodes can be written; kUnsupported, with
// the nodes, if there is none up to `most`.
Result<int64_t> ChooseOpset(const Graph& graph, int64_t least, int64_t most) {
  // An operator may need a newer set, where another one is deprecated; so all are checked again.
  for (int64_t opset = least;;) {
    const NeededOpset needed = OpsetNeededBy(graph, opset, most);
    if (!needed.misfits.empty() && least == most)
      return UnsupportedError("operator set {} {}:{}", least,
                              needed.is_low ? "is too low" : "lacks operators", needed.misfits);
    if (!needed.misfits.empty())
      return UnsupportedError("no operator set has all operators:{}", needed.misfits);
    if (needed.opset == opset) return opset;
    opset = needed.opset;
  }
}

// The operator set to write without a wish: the default or a newer one, else the newest older one.
Result<int64_t> DefaultOpset(const Graph& graph) {
  if (const int64_t least = OpsetOfBlocks(graph); least > kDefaultOpset)
    if (auto chosen = ChooseOpset(graph, least, kNewestOpset)) return chosen;
  auto chosen = ChooseOpset(graph, kDefaultOpset, kNewestOpset);
  for (int64_t opset = kDefaultOpset - 1; !chosen && opset >= kOldestOpset; --opset)
    if (ChooseOpset(graph, opset, opset)) return opset;
  return chosen;
}

// The version of ai.onnx.ml that a graph and its regions need; 0 if none.
int64_t MlOpsetOfGraph(const Graph& graph) {
  int64_t version = 0;
  for (const Node& node : graph.nodes()) {
    version = std::max(version, MlOpsetOf(node));
    for (const auto& region : node.regions()) version = std::max(version, MlOpsetOfGraph(*region));
  }
  return version;
}

}  // namespace

Status WriteNode(ExportContext& ctx, const Node& node) {
  if (const ExportRow* row = FindExport(node.op_name())) return row->write(ctx, node);
  const FormatName* format = node.op().FindFormat("onnx");
  if (format == nullptr) return InternalError("{} was not legalized for ONNX", node.Describe());
  pb::NodeProto* out = ctx.AddNode(node, format->path);
  for (const auto& [ours, theirs] : format->attrs)
    if (const auto value = node.attrs().Get(ours)) SetAttr(out, theirs, *value);
  return {};
}

std::string ExportContext::NameOf(const Value* value) {
  if (value == nullptr) return {};
  if (const std::string* const name = FindName(value)) return *name;
  std::string name = value->is_constant() ? NameOfConstant(*value) : NewName(value->name());
  SetName(value, name);
  if (!value->is_constant()) SetType(name, value->dtype());
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
                                      Operands operands) {
  pb::NodeProto* node = AddHelper(op_type, std::move(operands));
  if (!source.name().empty()) node->set_name(std::string(source.name()));
  return node;
}

pb::NodeProto* ExportContext::AddContrib(const Node& source, std::string_view op_type,
                                         Operands operands) {
  pb::NodeProto* node = AddNode(source, op_type, std::move(operands));
  node->set_domain(std::string(kMicrosoft));
  has_contrib_ = true;
  return node;
}

pb::NodeProto* ExportContext::AddHelper(std::string_view op_type, Operands operands) {
  std::vector<std::string>& inputs = operands.inputs;
  pb::NodeProto* node = graph_->add_node();
  node->set_op_type(std::string(op_type));
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  for (std::string& name : inputs) node->add_input(std::move(name));
  for (std::string& name : operands.outputs) node->add_output(std::move(name));
  return node;
}

pb::NodeProto* ExportContext::AddNode(const Node& source, std::string_view op_type) {
  std::vector<std::string> inputs, outputs;
  for (const Value* v : source.inputs()) inputs.push_back(NameOf(v));
  for (const Value* v : source.outputs()) outputs.push_back(NameOf(v));
  return AddNode(source, op_type, {std::move(outputs), std::move(inputs)});
}

void ExportContext::AddCast(std::string from, std::string to, DType dtype) {
  SetType(to, dtype);
  SetInt(AddHelper("Cast", {{std::move(to)}, {std::move(from)}}), "to", DataTypeOf(dtype));
}

std::string ExportContext::AddValue(std::string_view op_type, std::vector<std::string> inputs,
                                    std::string_view hint) {
  std::string name = NewName(hint);
  AddHelper(op_type, {{name}, std::move(inputs)});
  return name;
}

int64_t FrontAxis(int64_t axis, const Value* value) {
  return axis < 0 && value->type().ranked() ? axis + value->type().rank() : axis;
}

std::string ExportContext::AddTensor(const Tensor& tensor, std::string_view hint) {
  std::string name = NewName(hint);
  AddInitializer(tensor, name);
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

// The batch and time axes -> axes 0 and 1, by permutation.
Result<bool> SequencesFirst(Graph& graph, Node& node) {
  const Type& x = node.input(0)->type();
  if (!x.ranked()) return false;
  const auto& a = node.attrs<ReverseSequenceAttrs>();
  NN_ASSIGN(const int batch, NormalizeAxis(a.batch_axis, x.rank()));
  NN_ASSIGN(const int time, NormalizeAxis(a.time_axis, x.rank()));
  if (batch == a.batch_axis && time == a.time_axis && std::max(batch, time) == 1) return false;
  std::vector<int64_t> perm = {batch, time};
  for (int axis = 0; axis < x.rank(); ++axis)
    if (axis != batch && axis != time) perm.push_back(axis);
  return RearrangeAround(graph, node, AxisMap::Permutation(perm));
}

// Only the shape matters if the type of the result is stated.
Result<bool> EyeLikeOfReals(Graph& graph, Node& node) {
  Value* const x = node.input(0);
  if (!x->type().quantized() || node.attrs<EyeLikeAttrs>().dtype == DType::kUnknown) return false;
  NN_ASSIGN(Value* const reals, Expansion(graph, node).Add("dequantize", {x}, DequantizeAttrs{}));
  graph.SetInput(&node, 0, reals);
  return true;
}

// Integer arithmetic of TensorFlow Lite.
constexpr Rewrite kPreparations[] = {
    {"softmax", "scale by beta", ScaleByBeta},
    {"quantize", "integers", ExpandRequantize},
    {"lstm", "steps of integers", ExpandQuantizedLstm},
    {"reduce_prod", "integers", ExpandQuantizedProd},
    {"", "table", TabulateUnary},
};

Status Prepare(Graph& graph) {
  return PrepareQuantized(graph, kPreparations);
}

}  // namespace

void ExportContext::SetTensor(pb::NodeProto* node, std::string_view name, const Tensor& tensor) {
  pb::AttributeProto* a = AddAttr(node, name, pb::AttributeProto::TENSOR);
  if (!trial()) WriteTensor(tensor, std::string(name), a->mutable_t(), payloads_);
}

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

std::optional<std::string> WhyNotReal(const Node& node) {
  const auto quantized = [](const Value* v) { return v != nullptr && v->type().quantized(); };
  if (std::any_of(node.inputs().begin(), node.inputs().end(), quantized))
    return "its operands are quantized; the ONNX operator needs real ones";
  if (std::any_of(node.outputs().begin(), node.outputs().end(), quantized))
    return "its result is quantized; the ONNX operator needs a real one";
  return std::nullopt;
}

const ExportRow* FindExport(std::string_view op) {
  static const auto table = RowsBy(&ExportRow::op, &Family::exports, Families());
  return FindRow(table, op);
}

int64_t MlOpsetOf(const Node& node) {
  const ExportRow* row = FindExport(node.op_name());
  return row == nullptr || row->ml_opset == nullptr ? 0 : row->ml_opset(node);
}

namespace {

// ONNX has the operators, and what keeps a node from them are types that their parts have, too.
bool TakesFunction(const Node& node, const FunctionRow& row) {
  return row.name == FunctionName::kElimination || (node.Is<ResizeAttrs>() && IsPlainF32(node)) ||
         (node.Is<LstmAttrs>() && CellClipMatters(node));
}

}  // namespace

const Target& OnnxTarget() {
  static const Rewrite rewrites[] = {
      kForms,
      {"matmul", "transposed operands",
       [](Graph& g, Node& n) {
         // Gemm supports transposed operands, but the bias may have to be split off first.
         return n.input(2) == nullptr ? TransposeMatmulOperands(g, n) : Result<bool>(false);
       }},
      {"reverse_sequence", "batch and time first", SequencesFirst},
      {"dequantize", "constant", DequantizeConstant},
      {"eye_like", "real numbers", EyeLikeOfReals},
      {"lstm", "without a limit of the cell state", &DropWideCellClip},
      kSharedFunctions,
      {"", "float32 arithmetic", ComputeInFloat},
      kSharedRules,
  };
  static const Target target = {
      .name = "ONNX",
      .why_illegal = WhyIllegal,
      .takes_regions = true,
      .takes_unranked = true,
      .forms = {.layout = Layout::kNcx, .filter_layout = ChannelsBeforeTaps},
      .rewrites = rewrites,
      .takes_function = TakesFunction,
      .prepare = Prepare};
  return target;
}

namespace {

// The version of com.microsoft.
constexpr int64_t kContribVersion = 1;

void AddImport(pb::ModelProto& model, std::string_view domain, int64_t version) {
  auto* id = model.add_opset_import();
  id->set_domain(std::string(domain));
  id->set_version(version);
}

// Changes the graph to what the operator set of the file takes best.
Result<FileImage> WriteGraph(Graph graph, const ExportOptions& options) {
  NN_RETURN_IF_ERROR(
      CheckInterface(graph, {.label = "ONNX", .distinct_values = true, .ranks = true}));
  if (options.opset != 0 && (options.opset < kOldestOpset || options.opset > kNewestOpset))
    return UnsupportedError("operator set {} cannot be written; --opset accepts {} to {}",
                            options.opset, kOldestOpset, kNewestOpset);
  NN_ASSIGN(const int64_t opset, options.opset == 0
                                     ? DefaultOpset(graph)
                                     : ChooseOpset(graph, options.opset, options.opset));
  if (opset >= kOutputDTypeOpset) NN_RETURN_IF_ERROR(MoveIntegers(graph));
  NN_RETURN_IF_ERROR(ResizeOwnAxes(graph));
  NN_RETURN_IF_ERROR(NarrowProducts(graph, opset));
  Model model;
  model.proto.set_ir_version(IrVersionFor(opset));
  model.proto.set_producer_name("nnconvert");
  model.proto.set_producer_version(options.producer_version);
  AddImport(model.proto, "", opset);
  const int64_t ml_opset = MlOpsetOfGraph(graph);
  if (ml_opset != 0) {
    AddImport(model.proto, kMlDomain, ml_opset);
    if (ml_opset >= 5) model.proto.set_ir_version(std::max<int64_t>(model.proto.ir_version(), 10));
  }
  pb::GraphProto* g = model.proto.mutable_graph();
  g->set_name(graph.name.empty() ? "main" : graph.name);

  ExportContext ctx(g, model.payloads, opset, ml_opset);
  ctx.ReserveNames(graph.values().size());
  for (const Port& p : graph.inputs()) ctx.AddInput(p.name, p.value);
  NN_RETURN_IF_ERROR(ctx.WriteContents(graph, graph.outputs()));
  if (ctx.has_contrib()) AddImport(model.proto, kMicrosoft, kContribVersion);
  // A node of the graph may have become several.
  SeparateNodeNames(*g);
  if (options.frame != nullptr)
    ApplyFrame(*options.frame, graph, model.proto);
  else
    WriteTexts(graph, model.proto);
  return Assemble(model, options);
}

}  // namespace

Result<FileImage> OnnxWriter::Write(const Graph& graph, const ExportOptions& options) const {
  Graph written = graph.Clone();
  // Legalization does not know the operator set, so it may have undone what Lower() did.
  if (options.opset != 0) NN_RETURN_IF_ERROR(Lower(written, options, nullptr));
  return WriteGraph(std::move(written), options);
}

}  // namespace nn::onnx
