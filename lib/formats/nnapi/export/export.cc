#include "formats/nnapi/export/export.h"
#include "base/per_thread.h"
#include "formats/nnapi/family.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "formats/common/interface.h"
#include "formats/common/node_memo.h"
#include "formats/nnapi/export/integers.h"
#include "formats/nnapi/export/rewrites.h"
#include "formats/nnapi/export/rewrites_functions.h"
#include "formats/nnapi/roles.h"
#include "formats/nnapi/spec/constraint.h"
#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/math/matmul.h"
#include "ops/nn/norm.h"
#include "ops/nn/softmax.h"
#include "ops/recurrent/unroll.h"
#include "ops/reduce/reduce.h"
#include "passes/qdq/qdq.h"
#include "rewrite/apply_rule.h"
#include "rewrite/functions.h"
#include "rewrite/weights.h"

namespace nn::nnapi {
namespace {

std::optional<OperandType> OperandTypeOf(const Type& type) {
  switch (type.dtype) {
    case DType::kF32:
      return OperandType::kTensorFloat32;
    case DType::kI32:
      return OperandType::kTensorInt32;
    case DType::kU8:
      return OperandType::kTensorQuant8Asymm;
    default:
      return std::nullopt;
  }
}

// Why a value has no operand type.
std::optional<std::string> WhyNotType(const Value& v) {
  const Type& type = v.type();
  if (type.dtype == DType::kU8 && !type.quantized())
    return "NNAPI 1.0 has no u8 tensors without quantization";
  if (!OperandTypeOf(type))
    return fmt::format("NNAPI 1.0 has no {} tensors", DTypeName(type.dtype));
  if (type.quantized() && type.quant->per_axis())
    return "NNAPI 1.0 has no per-channel quantization";
  if (!type.ranked()) return "the ranks of its tensors must be known";
  if (type.rank() == 0 && !v.is_constant()) return "NNAPI 1.0 has no computed scalars";
  return std::nullopt;
}

template <typename WhyNot>
std::optional<std::string> WhyNotValues(const Node& node, const WhyNot& why_not) {
  for (const auto values : {node.inputs(), node.outputs()})
    for (const Value* v : values)
      if (v != nullptr)
        if (auto reason = why_not(*v)) return reason;
  return std::nullopt;
}

// Why an input or output of the graph cannot be an operand.
std::optional<std::string> WhyNotPort(const Value& v) {
  if (auto reason = WhyNotType(v)) return reason;
  Model trial;
  ExportContext ctx(trial, ExportContext::Mode::kTrial);
  if (const auto operand = ctx.OperandOf(&v); !operand) return operand.error().message();
  const auto misfit = FirstMisfit(trial);
  return misfit ? std::optional(misfit->text) : std::nullopt;
}

bool TakesFunction(const Node& node, const FunctionRow& row) {
  return row.name == FunctionName::kSecondSpatialAxis || row.name == FunctionName::kSteps ||
         row.name == FunctionName::kProduct || node.Is<TransposeAttrs>() ||
         node.Is<BatchNormAttrs>() || node.Is<SoftmaxAttrs>() || node.Is<ReduceAttrs>();
}

Status WriteNode(ExportContext& ctx, const Node& node) {
  if (const ExportRow* row = FindExport(node.op_name()); row != nullptr && row->write != nullptr)
    return row->write(ctx, node);
  const FormatName* format = node.op().FindFormat("nnapi");
  const auto type = format == nullptr ? std::nullopt : Parse<OperationType>(format->path);
  if (!type) return InternalError("{} was not legalized for NNAPI", node.Describe());
  std::vector<uint32_t> inputs;
  for (const Value* v : node.inputs()) {
    NN_ASSIGN(const uint32_t operand, ctx.OperandOf(v));
    inputs.push_back(operand);
  }
  return ctx.AddOperation(node, *type, std::move(inputs));
}

std::optional<std::string> TryOperations(const Node& node) {
  Model trial;
  ExportContext ctx(trial, ExportContext::Mode::kTrial);
  if (const Status s = WriteNode(ctx, node); !s) return s.error().message();
  const auto misfit = FirstMisfit(trial);
  return misfit ? std::optional(misfit->text) : std::nullopt;
}

// The constraint of NNAPI that the operations of a node would break.
std::optional<std::string> WhyNotAllowed(const Node& node) {
  static PerThread<NodeMemo<std::optional<std::string>>> memos;
  NodeMemo<std::optional<std::string>>& memo = memos.Get();
  return memo.Find(node, true, {}, TryOperations);
}

// Why an operator without a row cannot be written.
std::string WhyNoOperation(std::string_view op) {
  std::string name(op);
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return Parse<OperationType>(name) ? fmt::format("NNAPI's {} cannot be written yet", name)
                                    : fmt::format("NNAPI 1.0 has no {} operation", op);
}

// Whether the operator has an operation or a rewrite.
bool HasOperator(std::string_view op) {
  const auto has = [&](std::span<const Rewrite> rows) {
    return std::ranges::any_of(rows, [&](const Rewrite& r) { return r.op == op && !r.is_rare; });
  };
  return FindExport(op) != nullptr || Ops().Find(op)->FindFormat("nnapi") != nullptr ||
         has(Rewrites()) || has(LateRewrites());
}

// Whether operations compute some nodes with the operator, by rewrites and rules.
bool IsComputed(const Node& node) {
  static const auto by_rules = OperatorsWithRulesTo(HasOperator);
  return HasRewrite(NnapiTarget(), node) || IsFunction(node.op_name()) ||
         by_rules.contains(node.op_name());
}

// Why operations do not compute a node of float32, if the reason is a shape. It is the same for the
// nodes of a decomposition, so that rules do not lead to another node without a fixed shape.
std::optional<std::string> WhyNotShape(const Node& node) {
  if (node.output()->dtype() != DType::kF32) return std::nullopt;
  // A reduction's axes, which decide about its shape, may be an input.
  if (node.Is<ReduceAttrs>() && node.inputs().size() > 1 && !node.input(1)->is_constant())
    return "its axes must be constant";
  return WhyNotValues(node, [](const Value& v) -> std::optional<std::string> {
    const auto dims = v.type().const_dims();
    if (!dims)
      return "NNAPI 1.0 has no such operation, and its decomposition needs a fixed shape; use "
             "--batch or --input-shape";
    if (std::ranges::count(*dims, 0) == 0) return std::nullopt;
    return fmt::format("a tensor is {}, but NNAPI 1.0 has no empty dimensions",
                       v.type().ToString());
  });
}

std::optional<std::string> WhyIllegal(const Node& node) {
  const ExportRow* row = FindExport(node.op_name());
  const bool has_operation = row != nullptr || node.op().FindFormat("nnapi") != nullptr;
  if (!has_operation) {
    auto reason = WhyNotAsFloats(node);
    const bool is_computed = IsComputed(node);
    if (!reason && is_computed) reason = WhyNotOperands(node);
    if (!reason && node.op().category == Category::kRecurrent) reason = WhyNotUnrolled(node);
    if (!reason && is_computed) reason = WhyNotShape(node);
    if (!reason) reason = WhyNoFunction(node);
    if (!reason) reason = WhyNotSampled(node);
    return reason ? reason : WhyNoOperation(node.op_name());
  }
  if (auto reason = WhyNotValues(node, WhyNotType)) return reason;
  if (node.Is<MatmulAttrs>() && TakesFlattenedTranspose(node))
    return "its transposition can be folded into the weights";
  if (row != nullptr && row->why_not != nullptr)
    if (auto reason = row->why_not(node)) return reason;
  if (auto reason = WhyNotAllowed(node)) return reason;
  return row != nullptr && row->why_not_layout != nullptr ? row->why_not_layout(node)
                                                          : std::nullopt;
}

// Fewer operations compute a fused operator than its parts, and more exactly. A recurrent layer
// without an operation would be unrolled again.
bool TakesIdiom(const Node& node) {
  if (!WhyIllegal(node)) return true;
  return node.op().category != Category::kRecurrent && IsComputed(node) && !WhyNotOperands(node);
}

Status CheckShapes(const Graph& graph) {
  for (const Port& p : graph.inputs())
    if (!p.value->type().const_dims())
      return UnsupportedError(
          "input {}: it is {}, but NNAPI 1.0 models need fixed shapes; use --batch or "
          "--input-shape",
          Quote(p.name), p.value->type().ToString());
  for (const Node& node : graph.nodes())
    for (const Value* v : node.outputs())
      if (!v->type().const_dims())
        return UnsupportedError("{}: its result is {}, but NNAPI 1.0 models need fixed shapes",
                                node.Describe(), v->type().ToString());
  return CheckEachPort(graph, WhyNotPort);
}

// Adds the operands of inputs and outputs. Returns outputs whose value already has one (an input, a
// constant, a second output), to be written as copies.
Result<std::vector<std::pair<const Value*, uint32_t>>> AddInterface(ExportContext& ctx,
                                                                    const Graph& graph,
                                                                    Model& model) {
  std::vector<const Value*> taken;
  const auto is_taken = [&](const Value* v) {
    return v->is_constant() || std::find(taken.begin(), taken.end(), v) != taken.end();
  };
  for (const Port& p : graph.inputs()) {
    NN_ASSIGN(const uint32_t i, ctx.AddOperand(p.value, LifeTime::kModelInput, p.name));
    model.input_indexes.push_back(i);
    taken.push_back(p.value);
  }
  std::vector<std::pair<const Value*, uint32_t>> copies;
  for (const Port& p : graph.outputs()) {
    NN_ASSIGN(const uint32_t i, ctx.AddOperand(p.value, LifeTime::kModelOutput, p.name));
    model.output_indexes.push_back(i);
    if (is_taken(p.value)) copies.emplace_back(p.value, i);
    taken.push_back(p.value);
  }
  return copies;
}

}  // namespace

std::optional<FusedActivation> ActivationOf(const Node& node) {
  const auto clamp = ClampOptionOf(node);
  if (!clamp) return std::nullopt;
  switch (*clamp) {
    case ClampOption::kRelu:
      return FusedActivation::kRelu;
    case ClampOption::kRelu6:
      return FusedActivation::kRelu6;
    case ClampOption::kRelu1:
      break;
  }
  return FusedActivation::kRelu1;
}

Status ExportContext::Store(const Blob& bytes, Operand& operand) {
  if (bytes.size() > std::numeric_limits<uint32_t>::max())
    return UnsupportedError("tensors must have less than 2^32 bytes");
  const auto length = static_cast<uint32_t>(bytes.size());
  if (mode_ == Mode::kTrial) {
    operand.lifetime = LifeTime::kConstantReference;
    operand.location = {static_cast<uint32_t>(model_.pools.size()), 0, length};
    model_.pools.push_back({bytes, {}});
    return {};
  }
  auto offset = memories_.empty() ? std::nullopt : memories_.back().Append(bytes);
  if (!offset) offset = memories_.emplace_back().Append(bytes);
  const auto memory = static_cast<uint32_t>(memories_.size() - 1);
  operand.lifetime = memory == 0 ? LifeTime::kConstantCopy : LifeTime::kConstantReference;
  operand.location = {memory == 0 ? 0 : memory - 1, *offset, length};
  return {};
}

Result<uint32_t> ExportContext::AddOperand(const Value* value, LifeTime lifetime, std::string name,
                                           const AxisMap* axes) {
  const Type& type = value->type();
  const auto operand_type = OperandTypeOf(type);
  if (!operand_type || !type.ranked() || (mode_ == Mode::kModel && !type.const_dims()))
    return UnsupportedError("a tensor {} cannot be an operand", type.ToString());
  Operand o;
  o.type = *operand_type;
  o.lifetime = lifetime;
  o.name = std::move(name);
  for (const Dim& d : axes == nullptr ? *type.dims : axes->Apply(*type.dims)) {
    if (d.is_const() && (d.value() < 1 || d.value() > std::numeric_limits<uint32_t>::max()))
      return UnsupportedError("a tensor is {}, but NNAPI 1.0 has no empty dimensions",
                              type.ToString());
    o.dimensions.push_back(d.is_const() ? static_cast<uint32_t>(d.value()) : 0);
  }
  if (o.dimensions.empty()) o.dimensions = {1};  // a broadcast constant
  if (type.quantized()) {
    o.scale = type.quant->scale();
    o.zero_point = static_cast<int32_t>(std::clamp<int64_t>(type.quant->zero_point(),
                                                            std::numeric_limits<int32_t>::min(),
                                                            std::numeric_limits<int32_t>::max()));
  }
  if (lifetime == LifeTime::kConstantCopy) NN_RETURN_IF_ERROR(Store(value->constant().blob(), o));
  const auto index = static_cast<uint32_t>(model_.operands.size());
  model_.operands.push_back(std::move(o));
  if (value->is_constant() == (lifetime == LifeTime::kConstantCopy))
    operands_.emplace(value, index);
  return index;
}

Result<uint32_t> ExportContext::OperandOf(const Value* value) {
  if (const auto it = operands_.find(value); it != operands_.end()) return it->second;
  return AddOperand(value,
                    value->is_constant() ? LifeTime::kConstantCopy : LifeTime::kTemporaryVariable,
                    std::string(value->name()));
}

Result<uint32_t> ExportContext::OperandOf(const Value* value, const AxisMap& axes) {
  if (mode_ == Mode::kModel || operands_.contains(value)) return OperandOf(value);
  return AddOperand(value,
                    value->is_constant() ? LifeTime::kConstantCopy : LifeTime::kTemporaryVariable,
                    std::string(value->name()), &axes);
}

uint32_t ExportContext::AddUnknown(OperandType type, std::vector<uint32_t> dimensions) {
  Operand o;
  o.type = type;
  o.dimensions = std::move(dimensions);
  o.lifetime = LifeTime::kModelInput;
  model_.operands.push_back(std::move(o));
  return static_cast<uint32_t>(model_.operands.size() - 1);
}

Result<uint32_t> ExportContext::AddConstant(const Tensor& tensor, const Quant* quant) {
  Operand o;
  const Type type(tensor.dtype(), ToDims(tensor.dims()));
  o.type = *OperandTypeOf(type);
  if (tensor.rank() == 0)
    o.type = tensor.dtype() == DType::kF32 ? OperandType::kFloat32 : OperandType::kInt32;
  for (const int64_t d : tensor.dims()) o.dimensions.push_back(static_cast<uint32_t>(d));
  if (quant != nullptr) o.scale = quant->scale();
  NN_RETURN_IF_ERROR(Store(tensor.blob(), o));
  model_.operands.push_back(std::move(o));
  return static_cast<uint32_t>(model_.operands.size() - 1);
}

Result<uint32_t> ExportContext::AddZeros(DType dtype, const Dim& count, const Quant* quant) {
  if (mode_ == Mode::kModel) {
    const auto n = static_cast<size_t>(count.value());
    return AddConstant(dtype == DType::kF32 ? Tensor::Of({count.value()}, std::vector<float>(n))
                                            : Tensor::Of({count.value()}, std::vector<int32_t>(n)),
                       quant);
  }
  const uint32_t index =
      AddUnknown(dtype == DType::kF32 ? OperandType::kTensorFloat32 : OperandType::kTensorInt32,
                 {count.is_const() ? static_cast<uint32_t>(count.value()) : 0});
  if (quant != nullptr) model_.operands[index].scale = quant->scale();
  return index;
}

Result<uint32_t> ExportContext::Int(const Dim& value) {
  if (!value.is_const()) {
    if (mode_ == Mode::kTrial) return AddUnknown(OperandType::kInt32, {});
    return UnsupportedError("argument {} is not a number", value.ToString());
  }
  const int64_t v = value.value();
  if (const auto it = ints_.find(v); it != ints_.end()) return it->second;
  if (v < std::numeric_limits<int32_t>::min() || v > std::numeric_limits<int32_t>::max())
    return UnsupportedError("argument {} does not fit in 32 bits", v);
  NN_ASSIGN(ints_[v], AddConstant(Tensor::Scalar(static_cast<int32_t>(v))));
  return ints_[v];
}

Result<uint32_t> ExportContext::Float(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (const auto it = floats_.find(bits); it != floats_.end()) return it->second;
  NN_ASSIGN(floats_[bits], AddConstant(Tensor::Scalar(value)));
  return floats_[bits];
}

Result<uint32_t> ExportContext::Ints(const Dims& values) {
  std::vector<int32_t> numbers;
  for (const Dim& d : values) {
    if (mode_ == Mode::kTrial && !d.is_const())
      return AddUnknown(OperandType::kTensorInt32, {static_cast<uint32_t>(values.size())});
    if (!d.is_const() || d.value() > std::numeric_limits<int32_t>::max())
      return UnsupportedError("argument {} does not fit in 32 bits", d.ToString());
    numbers.push_back(static_cast<int32_t>(d.value()));
  }
  return AddConstant(Tensor::Of({static_cast<int64_t>(numbers.size())}, numbers));
}

Result<uint32_t> ExportContext::Activation(const Node& node) {
  const Node* const fused = activations_.Of(node);
  const auto code = fused == nullptr ? FusedActivation::kNone : *ActivationOf(*fused);
  return Int(static_cast<int64_t>(code));
}

Status ExportContext::AddOperation(const Node& node, OperationType type,
                                   std::vector<uint32_t> inputs) {
  const Node* const fused = activations_.Of(node);
  NN_ASSIGN(const uint32_t output, OperandOf(activations_.ResultOf(node),
                                             ChannelsLastMap(fused == nullptr ? node : *fused)));
  model_.operations.push_back({type, std::move(inputs), {output}});
  return {};
}

void ExportContext::AddStep(OperationType type, std::vector<uint32_t> inputs,
                            std::vector<uint32_t> outputs) {
  model_.operations.push_back({type, std::move(inputs), std::move(outputs)});
}

uint32_t ExportContext::AddTemporary(const std::vector<int64_t>& dims) {
  Operand o;
  o.type = OperandType::kTensorFloat32;
  for (const int64_t d : dims) o.dimensions.push_back(static_cast<uint32_t>(d));
  model_.operands.push_back(std::move(o));
  return static_cast<uint32_t>(model_.operands.size() - 1);
}

uint32_t ExportContext::Omitted(size_t rank) {
  const auto [it, added] = omitted_.emplace(rank, static_cast<uint32_t>(model_.operands.size()));
  if (added) {
    Operand o;
    o.type = OperandType::kTensorFloat32;
    o.dimensions.assign(rank, 0);
    o.lifetime = LifeTime::kNoValue;
    model_.operands.push_back(std::move(o));
  }
  return it->second;
}

Status ExportContext::AddCopy(uint32_t from, uint32_t to) {
  const Operand& o = model_.operands[to];
  if (o.type == OperandType::kTensorInt32)
    return UnsupportedError("it needs a copy of i32, but NNAPI 1.0 has no operation for it");
  if (o.dimensions.size() > kMaxRank)
    return UnsupportedError("it needs a copy of rank {}, but RESHAPE has at most rank {}",
                            o.dimensions.size(), kMaxRank);
  NN_ASSIGN(const uint32_t shape, Ints(Dims(o.dimensions.begin(), o.dimensions.end())));
  model_.operations.push_back({OperationType::kReshape, {from, shape}, {to}});
  return {};
}

void ExportContext::Finish() {
  for (const Operation& operation : model_.operations)
    for (const uint32_t i : operation.inputs) ++model_.operands[i].number_of_consumers;
  for (MemoryPacker& memory : memories_)
    if (&memory == &memories_.front())
      model_.operand_values = memory.Finish();
    else
      model_.pools.push_back({memory.Finish(), {}});
}

std::optional<std::string> WhyNotOperands(const Node& node) {
  return WhyNotValues(node, [](const Value& v) {
    auto reason = WhyNotType(v);
    if (!reason && v.type().rank() > kMaxRank)
      reason = fmt::format("NNAPI 1.0 has no tensors of rank {}", v.type().rank());
    return reason;
  });
}

std::optional<std::string> WhyNotArithmetic(const Node& node) {
  if (!node.input(0)->type().quantized() || node.arithmetic() == Arithmetic::kTflite)
    return std::nullopt;
  return "its quantized arithmetic must be TensorFlow Lite's";
}

AxisMap ChannelsLastMap(const Node& node) {
  const int rank = node.output()->type().rank();
  const auto layout = node.attrs().Get("layout");
  const bool first = layout && std::get<EnumValue>(*layout).name == EnumName(Layout::kNcx);
  return first && rank > 2 ? AxisMap::ChannelsLast(rank) : AxisMap::Identity(rank);
}

std::optional<std::string> WhyNotLayout(const Node& node) {
  if (ChannelsLastMap(node).IsIdentity()) return std::nullopt;
  return "the channels must be the last axis";
}

const ExportRow* FindExport(std::string_view op) {
  static const auto table = RowsBy(&ExportRow::op, &Family::exports, Families());
  return FindRow(table, op);
}

const Target& NnapiTarget() {
  static const Target target = {
      .name = "NNAPI 1.0",
      .why_illegal = WhyIllegal,
      .takes_idiom = TakesIdiom,
      .forms = {.layout = Layout::kNxc, .lacks_groups = LacksGroups, .filter_layout = FilterOrder},
      .rewrites = Rewrites(),
      .late_rewrites = LateRewrites(),
      .takes_function = TakesFunction,
      .moves_interface = true,
      .lacks_scalars = true,
      .prepare = FuseQuantized,
      .change_types = IntegersAsFloats,
      .shifts_interface = true};
  return target;
}

Result<FileImage> NnapiWriter::Write(const Graph& graph, const ExportOptions& options) const {
  NN_RETURN_IF_ERROR(CheckInterface(graph, {.label = "NNAPI", .inputs = true, .outputs = true}));
  NN_RETURN_IF_ERROR(CheckShapes(graph));
  Model model;
  model.version = kFormVersion;
  model.name = graph.name;
  ExportContext ctx(model);
  NN_ASSIGN(const auto copies, AddInterface(ctx, graph, model));
  for (const Node& node : graph.nodes())
    if (const ExportRow* row = FindExport(node.op_name()); row != nullptr && row->fuses)
      ctx.activations().Add(graph, node);
  for (const Node& node : graph.nodes()) {
    if (ctx.activations().Has(node)) continue;
    if (auto s = WriteNode(ctx, node); !s) return tl::unexpected(s.error().In(node.Describe()));
  }
  for (const auto& [value, operand] : copies) {
    NN_ASSIGN(const uint32_t from, ctx.OperandOf(value));
    if (auto s = ctx.AddCopy(from, operand); !s)
      return tl::unexpected(s.error().In("output " + Quote(model.operands[operand].name)));
  }
  ctx.Finish();
  return Assemble(std::move(model), options);
}

}  // namespace nn::nnapi
