#include "formats/tflite/export/export.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "formats/common/interface.h"
#include "formats/tflite/export/hybrid.h"
#include "formats/tflite/family.h"
#include "formats/tflite/file/frame.h"
#include "formats/tflite/file/options.h"
#include "formats/tflite/file/tensor.h"
#include "formats/tflite/import/states.h"
#include "formats/tflite/roles.h"
#include "formats/tflite/spec/operand_fit.h"
#include "formats/tflite/spec/signature.h"
#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/quant/quantized.h"

namespace nn::tflite {
namespace {

// Data up to this size are stored inside the flatbuffer, which every reader supports.
constexpr uint64_t kMaxInlineBytes = uint64_t{1} << 30;

// The first version of FULLY_CONNECTED with sparse weights.
constexpr int32_t kSparseFullyConnected = 8;

Status WriteOneToOne(ExportContext& ctx, const Node& node) {
  const FormatName* format = node.op().FindFormat("tflite");
  const auto op = format == nullptr ? std::nullopt : OperatorNamed(format->path);
  if (!op) return InternalError("{} was not legalized for TensorFlow Lite", node.Describe());
  std::vector<std::pair<std::string_view, AttrValue>> fields;
  for (const auto& [ours, theirs] : format->attrs)
    if (const auto value = node.attrs().Get(ours)) fields.emplace_back(theirs, *value);
  const fb::BuiltinOptions kind = OptionsOf(*op);
  flatbuffers::Offset<void> options = 0;
  if (kind != fb::BuiltinOptions::NONE) {
    NN_ASSIGN(options, WriteOptions(ctx.builder(), kind, fields));
  }
  ctx.AddOperatorOf(*op, {ctx.ResultsOf(node), ctx.InputsOf(node)}, kind, options, {});
  return {};
}

fb::ActivationFunctionType FusedTypeOf(ClampOption clamp) {
  switch (clamp) {
    case ClampOption::kRelu:
      return fb::ActivationFunctionType::RELU;
    case ClampOption::kRelu6:
      return fb::ActivationFunctionType::RELU6;
    case ClampOption::kRelu1:
      break;
  }
  return fb::ActivationFunctionType::RELU_N1_TO_1;
}

}  // namespace

ExportContext::ExportContext(const Graph& graph, const NativeModel* frame)
    : FileNames(Mode::kFile, /*utf8=*/false), examples_(ExampleSizesOf(graph)) {
  buffers_.emplace_back();
  if (frame != nullptr) sparse_ = SparseTensorsOf(*frame);
  FindFused(graph);
}

void ExportContext::FindFused(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    for (const auto& region : node.regions()) FindFused(*region);
    if (IsPartOfHybrids(node) && !graph.IsOutput(node.output())) hybrid_parts_.insert(&node);
    const ExportRow* row = FindExport(node.op_name());
    if (row != nullptr && row->fuses != nullptr && row->fuses(node)) activations_.Add(graph, node);
  }
}

fb::ActivationFunctionType ExportContext::ActivationOf(const Node& node) const {
  const Node* const activation = activations_.Of(node);
  return activation == nullptr ? fb::ActivationFunctionType::NONE
                               : FusedTypeOf(*ClampOptionOf(*activation));
}

TensorIndex ExportContext::ResultOf(const Node& node, size_t i) {
  return TensorOf(activations_.ResultOf(node, i));
}

TensorIndex ExportContext::BiasOf(const Node& node) {
  const Value* bias = node.input(2);
  if (bias == nullptr || !bias->is_constant() || bias->type().quantized()) return TensorOf(bias);
  const auto quant = ProductQuant(node.input(0)->type(), node.input(1)->type());
  return quant == nullptr ? TensorOf(bias) : AddConstant(bias->constant(), bias->name(), quant);
}

fb::TensorType ExportContext::BiasTypeOf(const Node& node) {
  const Type& x = node.input(0)->type();
  const Value* const bias = node.input(2);
  const bool narrow =
      x.quantized() && x.dtype == DType::kI16 && bias != nullptr && bias->dtype() == DType::kI32;
  return narrow ? fb::TensorType::INT32 : fb::TensorType::FLOAT32;
}

const Value* ExportContext::OperandOf(const Node& node, size_t i) {
  const auto hybrid = i < 2 ? HybridOf(node) : std::nullopt;
  return !hybrid ? node.input(i) : i == 0 ? hybrid->x : hybrid->weights;
}

std::vector<TensorIndex> ExportContext::InputsOf(const Node& node) {
  std::vector<TensorIndex> out;
  const bool has_bias = node.op().quant_rule == QuantRule::kProduct;
  for (size_t i = 0; i < node.inputs().size(); ++i)
    out.push_back(has_bias && i == 2 ? BiasOf(node) : TensorOf(OperandOf(node, i)));
  while (!out.empty() && out.back() == kNoTensor) out.pop_back();
  return out;
}

std::vector<TensorIndex> ExportContext::ResultsOf(const Node& node) {
  std::vector<TensorIndex> out;
  for (size_t i = 0; i < node.outputs().size(); ++i) out.push_back(ResultOf(node, i));
  return out;
}

void ExportContext::Claim(const Value* value, const std::string& name) {
  tensors_[value] = AddNamed(value->type(), name);
}

TensorIndex ExportContext::AddNamed(const Type& type, const std::string& name) {
  Reserve(name);
  part_.tensors.push_back({type, name});
  return static_cast<TensorIndex>(part_.tensors.size()) - 1;
}

TensorIndex ExportContext::TensorOf(const Value* value) {
  if (value == nullptr) return kNoTensor;
  const auto it = tensors_.find(value);
  if (it != tensors_.end()) return it->second;
  TensorIndex index = value->is_constant() ? AddSparse(*value) : kNoTensor;
  if (index == kNoTensor)
    index = value->is_constant()
                ? AddConstant(value->constant(), value->name(), value->type().quant)
                : AddTensor(value->type(), value->name());
  tensors_[value] = index;
  return index;
}

TensorIndex ExportContext::TensorAs(const Value* value, DType dtype) {
  TensorIndex from = TensorOf(value);
  if (value == nullptr || value->dtype() == dtype) return from;
  Type type = value->type();
  // CAST wraps. Numbers that shapes determine are within 32 bits; of others, such as indices and
  // bounds, those beyond stay beyond what any axis has.
  if (value->dtype() == DType::kI64 && dtype == DType::kI32 && value->elements() == nullptr) {
    for (const auto& [op, bound] :
         {std::pair(fb::BuiltinOperator::MAXIMUM, MinInteger(DType::kI32)),
          std::pair(fb::BuiltinOperator::MINIMUM, MaxInteger(DType::kI32))}) {
      const TensorIndex clipped = AddTensor(type, value->name());
      AddOperator(op, {{clipped}, {from, AddConstant(Tensor::Scalar(bound), "bound")}},
                  fb::CreateMaximumMinimumOptions(builder_));
      from = clipped;
    }
  }
  type.dtype = dtype;
  const TensorIndex to = AddTensor(type, value->name());
  AddCast(from, to);
  return to;
}

void ExportContext::AddCast(TensorIndex from, TensorIndex to) {
  const auto type = [&](TensorIndex i) {
    return TensorTypeOf(part_.tensors[static_cast<size_t>(i)].type.dtype)
        .value_or(fb::TensorType::INT32);
  };
  AddOperator(fb::BuiltinOperator::CAST, {{to}, {from}},
              fb::CreateCastOptions(builder_, type(from), type(to)));
}

TensorIndex ExportContext::AddTensor(const Type& type, std::string_view name) {
  part_.tensors.push_back({type, NewName(name)});
  return static_cast<TensorIndex>(part_.tensors.size()) - 1;
}

TensorIndex ExportContext::AddVariable(const Type& type, std::string_view name) {
  const TensorIndex index = AddTensor(type, name);
  part_.tensors.back().variable = true;
  return index;
}

TensorIndex ExportContext::AddHandle(std::string_view name) {
  const TensorIndex index = AddTensor(Type(DType::kI32, {}), name);
  part_.tensors.back().handle = true;
  return index;
}

uint32_t ExportContext::AddBuffer(Blob bytes) {
  const auto next = static_cast<uint32_t>(buffers_.size());
  // Regions have copies of the constants around them.
  const bool in_region = !around_.empty();
  if (!bytes.empty() && !bytes.is_deferred()) {
    const auto [known, is_new] =
        shared_.try_emplace({bytes.data(), bytes.size()}, SharedBuffer{next, in_region});
    if (!is_new && (in_region || known->second.of_region)) return known->second.index;
  }
  buffers_.push_back(std::move(bytes));
  return next;
}

TensorIndex ExportContext::AddConstant(const Tensor& tensor, std::string_view hint,
                                       const std::shared_ptr<const Quant>& quant) {
  const TensorIndex index = AddTensor(Type(tensor.dtype(), ToDims(tensor.dims()), quant),
                                      std::string(hint.empty() ? "constant" : hint));
  Blob bytes = tensor.blob();
  // Legal graphs have no strings above 2 GiB.
  if (tensor.dtype() == DType::kString && !trial())
    if (auto packed = PackStrings(tensor.strings())) bytes = *std::move(packed);
  part_.tensors.back().buffer = AddBuffer(std::move(bytes));
  return index;
}

Result<TensorIndex> ExportContext::AddInts(const std::vector<int64_t>& numbers,
                                           std::string_view hint) {
  if (const auto it = part_.ints.find(numbers); it != part_.ints.end()) return it->second;
  std::vector<int32_t> narrow;
  for (const int64_t n : numbers) {
    if (n < std::numeric_limits<int32_t>::min() || n > std::numeric_limits<int32_t>::max())
      return LimitError("{} {} does not fit in 32 bits", hint, n);
    narrow.push_back(static_cast<int32_t>(n));
  }
  const TensorIndex index =
      AddConstant(Tensor::Of({static_cast<int64_t>(narrow.size())}, narrow), hint);
  part_.ints[numbers] = index;
  return index;
}

Result<TensorIndex> ExportContext::AddInt(int64_t number, std::string_view hint) {
  if (number < std::numeric_limits<int32_t>::min() || number > std::numeric_limits<int32_t>::max())
    return LimitError("{} {} does not fit in 32 bits", hint, number);
  return AddConstant(Tensor::Scalar(static_cast<int32_t>(number)), hint);
}

void ExportContext::AddOperatorOf(fb::BuiltinOperator op, Operands operands,
                                  fb::BuiltinOptions kind, flatbuffers::Offset<void> options,
                                  const VersionTraits& traits) {
  std::vector<Type> in, out;
  for (const TensorIndex i : operands.inputs)
    in.push_back(i == kNoTensor ? Type() : part_.tensors[static_cast<size_t>(i)].type);
  for (const TensorIndex i : operands.outputs)
    out.push_back(part_.tensors[static_cast<size_t>(i)].type);
  int32_t version = VersionOf(op, in, out, traits);
  if (op == fb::BuiltinOperator::FULLY_CONNECTED &&
      part_.tensors[static_cast<size_t>(operands.inputs[1])].sparsity != nullptr)
    version = std::max(version, kSparseFullyConnected);
  const std::pair code(op, version);
  auto it = std::find(codes_.begin(), codes_.end(), code);
  if (it == codes_.end()) it = codes_.insert(codes_.end(), code);
  part_.operators.push_back({static_cast<uint32_t>(it - codes_.begin()), std::move(operands.inputs),
                             std::move(operands.outputs), kind, options});
}

std::optional<std::string> WhyNotElements(fb::BuiltinOperator op, size_t input, const Type& type) {
  const Signature* signature = FindSignature(op);
  const auto* operand = signature == nullptr ? nullptr : OperandAt(signature->inputs, input);
  if (operand == nullptr || !TensorTypeOf(type.dtype)) return std::nullopt;
  for (const Misfit& m : MisfitsOf(*operand, FactsOf(type), false, nullptr, ""))
    if (m.kind == Misfit::Kind::kTypes || m.kind == Misfit::Kind::kKernelTypes ||
        m.kind == Misfit::Kind::kScale)
      return fmt::format("in the {} operator of TensorFlow Lite, {}",
                         fb::EnumNameBuiltinOperator(op), m.text);
  return std::nullopt;
}

bool NamesType(const Node& node, DType dtype) {
  const FormatName* format = node.op().FindFormat("tflite");
  const auto op = format == nullptr ? std::nullopt : OperatorNamed(format->path);
  const Signature* signature = op ? FindSignature(*op) : nullptr;
  const auto type = TensorTypeOf(dtype);
  return signature != nullptr && type && !signature->inputs.empty() &&
         signature->inputs[0].types.Has(*type);
}

const ExportRow* FindExport(std::string_view op) {
  static const auto table = RowsBy(&ExportRow::op, &Family::exports, Families());
  return FindRow(table, op);
}

Status WriteNode(ExportContext& ctx, const Node& node) {
  const ExportRow* row = FindExport(node.op_name());
  return row == nullptr || row->write == nullptr ? WriteOneToOne(ctx, node) : row->write(ctx, node);
}

std::optional<std::string> WhyNotBias(const Node& node) {
  const Type& x = node.input(0)->type();
  const Value* const bias = node.input(2);
  if (x.quantized() && bias != nullptr && !bias->is_constant() && !bias->type().quantized())
    return fmt::format("{} of {} needs a bias with a scale, not {}", node.op_name(), x.ToString(),
                       bias->type().ToString());
  return std::nullopt;
}

std::optional<std::string> WhyNotUnranked(const Node& node) {
  if (node.input(0)->type().ranked()) return std::nullopt;
  return "its rank must be known";
}

std::optional<std::string> WhyNotAxes(const Node& node) {
  if (const Value* axes = node.input(1))
    return axes->is_constant() ? "its axes cannot be empty" : "its axes must be constant";
  return WhyNotUnranked(node);
}

std::optional<std::string> WhyNotWeights(const Node& node, std::initializer_list<DType> with_i8,
                                         std::initializer_list<DType> with_i16) {
  const Type& x = node.input(0)->type();
  const Type& w = node.input(1)->type();
  if (!x.quantized()) return std::nullopt;
  const auto has = [&](std::initializer_list<DType> types) {
    return std::find(types.begin(), types.end(), w.dtype) != types.end();
  };
  const bool fits = x.dtype == DType::kU8    ? w.dtype == DType::kU8
                    : x.dtype == DType::kI8  ? has(with_i8)
                    : x.dtype == DType::kI16 ? has(with_i16)
                                             : true;  // refused by the signature
  if (fits) return std::nullopt;
  return fmt::format("TensorFlow Lite has no {} of {} by {}", node.op_name(), DTypeName(x.dtype),
                     DTypeName(w.dtype));
}

Result<FileImage> WriteWith(const ExportPlan& plan, uint64_t max_inline_bytes) {
  bool appended = false;
  uint64_t base = 0;
  while (true) {
    ExportContext ctx(plan.graph, plan.frame.get());
    std::vector<TensorIndex> outputs = ctx.ClaimPorts(plan.graph, plan.inputs, plan.outputs);
    StateWriter states(ctx, plan);
    states.Begin();
    NN_RETURN_IF_ERROR(ctx.WriteContents(plan.graph, plan.outputs, outputs));
    states.End();
    uint64_t bytes = 0;
    for (const Blob& b : ctx.buffers()) bytes += b.size();
    if (!appended && bytes > max_inline_bytes) appended = true;
    flatbuffers::DetachedBuffer file = ctx.Finish(plan, outputs, appended, base);
    // Offsets of appended data count from the start of the file, so the flatbuffer is built twice:
    // first for its size, then with the offsets. Both have the same size.
    const uint64_t rounded = RoundUp(file.size(), ExportContext::kDataAlignment);
    if (appended && base == 0) {
      base = rounded;
      continue;
    }
    FileImage image;
    if (!appended) {
      image.parts = ctx.PlaceOutside(std::move(file));
      return image;
    }
    auto owner = std::make_shared<flatbuffers::DetachedBuffer>(std::move(file));
    const auto* data = reinterpret_cast<const std::byte*>(owner->data());
    image.parts.emplace_back(std::span(data, owner->size()), owner);
    const auto pad = [&](uint64_t size) {
      const uint64_t rest = RoundUp(size, ExportContext::kDataAlignment) - size;
      if (rest > 0) {
        Buffer zeros(rest);
        zeros.Clear();
        image.parts.emplace_back(std::move(zeros));
      }
    };
    pad(owner->size());
    for (const Blob& b : ctx.buffers()) {
      if (b.empty()) continue;
      image.parts.push_back(b);
      pad(b.size());
    }
    return image;
  }
}

namespace {

// Sizes are 32-bit integers, and so are their products.
Status CheckSizes(const Graph& graph) {
  // Limit of TensorFlow Lite: size of an axis, and elements of a tensor, in a written model.
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  for (const Node& node : graph.nodes())
    for (const auto& region : node.regions()) NN_RETURN_IF_ERROR(CheckSizes(*region));
  for (const Value& v : graph.values()) {
    if (!v.type().ranked()) continue;
    std::vector<int64_t> sizes;
    for (const Dim& d : *v.type().dims) {
      if (d.is_const() && d.value() > 1) sizes.push_back(d.value());
      if (d.is_const() && d.value() > kMax)
        return UnsupportedError("tensor {}: it is {}, but TensorFlow Lite limits dimensions to {}",
                                Quote(v.name()), v.type().ToString(), kMax);
    }
    if (const auto n = CheckedElements(sizes); !n || *n > kMax)
      return UnsupportedError(
          "tensor {}: it is {}, but TensorFlow Lite limits tensors to {} elements", Quote(v.name()),
          v.type().ToString(), kMax);
  }
  return {};
}

// The types of inputs and outputs, which may not be operands of a node.
std::optional<std::string> WhyNotPort(const Value& v) {
  if (TensorTypeOf(v.dtype())) return std::nullopt;
  return fmt::format("TensorFlow Lite has no element type {}", DTypeName(v.dtype()));
}

}  // namespace

Result<FileImage> TfliteWriter::Write(const Graph& graph, const ExportOptions& options) const {
  NN_RETURN_IF_ERROR(CheckSizes(graph));
  NN_RETURN_IF_ERROR(CheckEachPort(graph, WhyNotPort));
  NN_ASSIGN(const ExportPlan plan, PlanOf(graph, options));
  NN_ASSIGN(FileImage image, WriteWith(plan, kMaxInlineBytes));
  if (plan.frame != nullptr) NN_RETURN_IF_ERROR(AddArchive(*plan.frame, image));
  return image;
}

}  // namespace nn::tflite
