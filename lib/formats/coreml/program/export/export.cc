#include "formats/coreml/program/export/export.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "base/per_thread.h"
#include "base/text/text.h"
#include "formats/common/node_memo.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/program/export/packed.h"
#include "formats/coreml/program/family.h"
#include "formats/coreml/program/import/values.h"
#include "formats/coreml/program/spec/check.h"
#include "formats/coreml/program/spec/words.h"
#include "ir/op_def.h"
#include "ops/control/region.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::coreml::program {
namespace {

// From this many elements on, other writers put numbers into the weight file.
constexpr int64_t kLeastOfFile = 10;
constexpr std::string_view kWeightFile = "@model_path/weights/weight.bin";

// Integers of 64 bits as int32.
Result<Tensor> AsInt32(const Tensor& t) {
  std::vector<int32_t> numbers;
  for (int64_t i = 0; i < t.elements(); ++i) {
    const int64_t number = t.GetInt(i);
    if (number < std::numeric_limits<int32_t>::min() ||
        number > std::numeric_limits<int32_t>::max())
      return UnsupportedError("a constant has {}, but ML Programs have integers of 32 bits",
                              number);
    numbers.push_back(static_cast<int32_t>(number));
  }
  return Tensor::Of(t.dims(), numbers);
}

// Whether a weight file is to have the elements; it could have more types.
bool GoesToFile(mil::DataType type, int64_t elements) {
  constexpr mil::DataType kLists[] = {mil::BOOL,  mil::STRING, mil::FLOAT64,
                                      mil::INT32, mil::INT64,  mil::UINT32};
  return elements >= kLeastOfFile && std::ranges::count(kLists, type) == 0 &&
         BlobStorageWriter::Holds(TypeName(type));
}

void SetElements(const Tensor& t, mil::DataType type, mil::TensorValue& value,
                 PayloadTable& payloads) {
  switch (type) {
    case mil::FLOAT32:
      Writer(value.mutable_floats(), &payloads).Bytes("values", t.blob());
      return;
    case mil::FLOAT64:
      Writer(value.mutable_doubles(), &payloads).Bytes("values", t.blob());
      return;
    case mil::INT16:
    case mil::INT32:
    case mil::UINT16: {
      auto& list = *value.mutable_ints();  // which may stay empty
      for (int64_t i = 0; i < t.elements(); ++i) list.add_values(static_cast<int32_t>(t.GetInt(i)));
      return;
    }
    case mil::BOOL: {
      auto& list = *value.mutable_bools();
      for (int64_t i = 0; i < t.elements(); ++i) list.add_values(t.GetInt(i) != 0);
      return;
    }
    case mil::STRING:
      for (const std::string& text : t.strings()) value.mutable_strings()->add_values(text);
      return;
    default:
      Writer(value.mutable_bytes(), &payloads).Bytes("values", t.blob());
  }
}

// The bits of the last byte that no element has.
uint64_t UnusedBits(mil::DataType type, uint64_t bytes, uint64_t elements) {
  const auto bits = static_cast<uint64_t>(BitsOf(type));
  return bits >= 8 ? 0 : bytes * 8 - bits * elements;
}

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// The operation that the operator is, with the same operands and attributes.
Status WriteOneToOne(ExportContext& ctx, const Node& node, const FormatName& format) {
  OperationWriter op = ctx.AddFor(format.path, node);
  for (const auto& [ours, theirs] : format.attrs) {
    const auto value = node.attrs().Get(ours);
    if (!value) return InternalError("{} has no attribute {}", node.op_name(), ours);
    if (const auto* real = std::get_if<float>(&*value))
      op.Number(theirs, *real);
    else if (const auto* flag = std::get_if<bool>(&*value))
      op.Bool(theirs, *flag);
    else if (const auto* integer = std::get_if<int64_t>(&*value))
      op.Int(theirs, *integer);
    else if (const auto* list = std::get_if<std::vector<int64_t>>(&*value))
      op.Ints(theirs, *list);
    else
      return InternalError("attribute {} of {} has no encoding", ours, node.op_name());
  }
  return op.To(node);
}

}  // namespace

const ExportRow* FindExport(std::string_view op) {
  static const auto table = RowsBy(&ExportRow::op, &Family::exports, Families());
  return FindRow(table, op);
}

bool HasOperation(const OpDef& op) {
  return FindExport(op.name) != nullptr || op.FindFormat("mil") != nullptr;
}

Status WriteNode(ExportContext& ctx, const Node& node) {
  if (const ExportRow* const row = FindExport(node.op_name())) return row->write(ctx, node);
  const FormatName* const format = node.op().FindFormat("mil");
  if (format == nullptr)
    return InternalError("{} was not legalized for ML Programs", node.Describe());
  return WriteOneToOne(ctx, node, *format);
}

// ---- Types and values ---------------------------------------------------------------------------

mil::DataType DataTypeOf(DType dtype) {
  if (dtype == DType::kI64) return mil::INT32;
  for (const TypeWord& row : kTypes)
    if (DTypeOf(row.type) == dtype && row.type != mil::UINT1 && row.type != mil::UINT3 &&
        row.type != mil::UINT6)
      return row.type;
  return mil::UNUSED_TYPE;
}

std::string_view NameInPrograms(DType dtype) {
  const auto* const row = std::ranges::find(kTypes, DataTypeOf(dtype), &TypeWord::type);
  return row == std::end(kTypes) ? std::string_view() : row->name;
}

mil::ValueType TensorTypeOf(mil::DataType type, const Dims& dims) {
  mil::ValueType out;
  mil::TensorType& tensor = *out.mutable_tensortype();
  tensor.set_datatype(type);
  tensor.set_rank(std::ssize(dims));
  for (const Dim& d : dims) {
    mil::Dimension& dimension = *tensor.add_dimensions();
    if (d.is_const())
      dimension.mutable_constant()->set_size(static_cast<uint64_t>(d.value()));
    else
      dimension.mutable_unknown()->set_variadic(false);
  }
  return out;
}

mil::ValueType ValueTypeOf(const Type& type) {
  if (type.ranked()) return TensorTypeOf(DataTypeOf(type.dtype), *type.dims);
  mil::ValueType out;
  out.mutable_tensortype()->set_datatype(DataTypeOf(type.dtype));
  out.mutable_tensortype()->set_rank(-1);
  return out;
}

void SetAttribute(mil::Operation& operation, std::string_view key, mil::Value value) {
  mil::NamedValue& attribute = *operation.add_attributes();
  attribute.set_key(std::string(key));
  *attribute.mutable_value() = std::move(value);
}

mil::Value TextValue(std::string_view text) {
  mil::Value value;
  *value.mutable_type() = TensorTypeOf(mil::STRING, {});
  value.mutable_immediatevalue()->mutable_tensor()->mutable_strings()->add_values(
      std::string(text));
  return value;
}

std::string Identifier(std::string_view name) {
  std::string out;
  for (const char c : name) out += IsLetter(c) || IsDigit(c) ? c : '_';
  if (out.empty() || IsDigit(out[0])) out.insert(0, "_");
  return out;
}

// ---- The context --------------------------------------------------------------------------------

ExportContext::ExportContext(mil::Block& block, Opset opset, ConstantStore store, Mode mode)
    : NamedExport(mode, /*utf8=*/true),
      block_(&block),
      function_(&block),
      opset_(opset),
      store_(store) {}

std::string ExportContext::NewIdentifier(std::string_view hint) {
  return NewName(hint.empty() ? std::string() : Identifier(hint));
}

void ExportContext::Declare(const std::string& name, mil::ValueType type,
                            std::optional<Tensor> constant) {
  const bool is_constant = constant.has_value();
  symbols_[name] = {std::move(type), std::move(constant), is_constant};
}

const Symbol* ExportContext::Find(const std::string& name) const {
  const auto it = symbols_.find(name);
  return it == symbols_.end() ? nullptr : &it->second;
}

Result<std::string> ExportContext::NameFor(const Value* value) {
  if (const std::string* const name = FindName(value)) return *name;
  std::string name;
  if (value->is_constant()) {
    const bool has_blocks = HasBlocks(value->constant(), opset_);
    const auto packing = !has_blocks && packs_constants_ ? PackingOf(*value) : std::nullopt;
    NN_ASSIGN(const Tensor contents, ContentsOf(*value));
    NN_ASSIGN(name, has_blocks ? AddBlocks(*this, *value)
                    : packing  ? AddPacked(*this, *value, *packing)
                               : AddConstant(contents, value->name()));
  } else {
    name = NewIdentifier(value->name());
    Declare(name, ValueTypeOf(value->type()));
    symbols_[name].is_constant = IsStored(*value);
  }
  SetName(value, name);
  return name;
}

bool IsStored(const Value& value) {
  if (value.is_constant()) return true;
  const Node* const node = value.def();
  if (node == nullptr || !node->Is<DequantizeAttrs>()) return false;
  return node->input(0)->is_constant() && node->input(0)->type().quantized();
}

Result<Tensor> ContentsOf(const Value& constant) {
  auto dims = constant.type().const_dims();
  if (!dims || *dims == constant.constant().dims()) return constant.constant();
  return constant.constant().Reshaped(*std::move(dims));
}

std::string ExportContext::NameOf(const Value* value) {
  return NameFor(value).value_or(std::string());
}

Result<std::string> ExportContext::AddConstant(const Tensor& tensor, std::string_view hint) {
  const mil::DataType type = DataTypeOf(tensor.dtype());
  if (type == mil::UNUSED_TYPE)
    return UnsupportedError("ML Programs have no {} constants", DTypeName(tensor.dtype()));
  return AddConstant(tensor, type, hint);
}

mil::Value ExportContext::ValueOf(const Tensor& tensor, mil::DataType type,
                                  const std::vector<int64_t>& dims) {
  mil::Value value;
  *value.mutable_type() = TensorTypeOf(type, ToDims(dims));
  if (trial()) return value;
  const int64_t elements = CheckedElements(dims).value_or(0);
  if (store_.weights != nullptr && GoesToFile(type, elements)) {
    mil::Value::BlobFileValue& place = *value.mutable_blobfilevalue();
    place.set_filename(std::string(kWeightFile));
    place.set_offset(store_.weights->Add(
        TypeName(type), tensor.blob(),
        UnusedBits(type, tensor.blob().size(), static_cast<uint64_t>(elements))));
    return value;
  }
  SetElements(tensor, type, *value.mutable_immediatevalue()->mutable_tensor(), store_.payloads);
  return value;
}

Result<std::string> ExportContext::AddConstant(const Tensor& tensor, mil::DataType type,
                                               std::string_view hint) {
  Tensor elements = tensor;
  if (tensor.dtype() == DType::kI64) {
    NN_ASSIGN(elements, AsInt32(tensor));
  }
  mil::Value value = ValueOf(elements, type, elements.dims());
  return AddConstant(std::move(value), hint, std::move(elements));
}

std::string ExportContext::AddConstant(mil::Value value, std::string_view hint,
                                       std::optional<Tensor> elements) {
  std::string name = NewIdentifier(hint);
  mil::Operation& constant = *block_->add_operations();
  constant.set_type("const");
  SetAttribute(constant, "name", TextValue(name));
  mil::NamedValueType& output = *constant.add_outputs();
  output.set_name(name);
  *output.mutable_type() = value.type();
  Declare(name, value.type(), std::move(elements));
  SetAttribute(constant, "val", std::move(value));
  return name;
}

OperationWriter ExportContext::AddFor(std::string_view type, const Node& node) {
  OperationWriter op(*this, type);
  const Definition* const definition = program::Find(type, opset_);
  if (definition == nullptr) return op;
  for (size_t i = 0; i < std::min(node.inputs().size(), definition->inputs.size()); ++i)
    op.In(definition->inputs[i].name, node.input(i));
  return op;
}

Status ExportContext::Alias(const Node& node, const Value* same) {
  NN_ASSIGN(std::string name, NameFor(same));
  if (HasName(node.output())) return Add("identity").In("x", name).To(node);
  SetName(node.output(), std::move(name));
  return {};
}

// ---- What programs can hold ---------------------------------------------------------------------

namespace {

// The operands of an operation that was written on trial.
OperationView ViewOf(const ExportContext& ctx, const mil::Operation& operation) {
  OperationView view{.operation = &operation,
                     .definition = program::Find(operation.type(), ctx.opset()),
                     .opset = ctx.opset(),
                     .operands = {}};
  for (const mil::Operation::Input& input : operation.inputs()) {
    OperandView operand{.name = input.key(), .values = {}};
    for (const mil::Argument::Binding& binding : input.value().arguments()) {
      if (binding.has_value()) operand.values.push_back({&binding.value().type(), nullptr, true});
      const Symbol* const symbol = ctx.Find(binding.name());
      if (symbol == nullptr) continue;
      const Tensor* const constant = symbol->constant ? &*symbol->constant : nullptr;
      operand.values.push_back({&symbol->type, constant, symbol->is_constant});
    }
    view.operands.push_back(std::move(operand));
  }
  for (const mil::NamedValue& attribute : operation.attributes())
    if (attribute.key() != "name")
      view.operands.push_back({attribute.key(), {{&attribute.value().type(), nullptr, true}}});
  return view;
}

std::optional<std::string> TryNode(const Node& node, Opset opset) {
  mil::Block block;
  PayloadTable payloads;
  ExportContext ctx(block, opset, {payloads}, ExportContext::Mode::kTrial);
  if (const Status s = WriteNode(ctx, node); !s) return s.error().message();
  for (const mil::Operation& operation : block.operations()) {
    if (operation.type() == "const") continue;
    // Also what the published text alone says: type inference accepts more than Core ML computes.
    if (const auto misfits = MisfitsOf(ViewOf(ctx, operation)); !misfits.empty())
      return misfits.front().text;
  }
  return std::nullopt;
}

// The first operation set, from `from` to `newest`, that holds the node; nullopt if none does.
std::optional<Opset> FirstOpset(const Node& node, Opset from, Opset newest) {
  for (auto i = static_cast<int>(from); i <= static_cast<int>(newest); ++i)
    if (!FindMisfit(node, static_cast<Opset>(i))) return static_cast<Opset>(i);
  return std::nullopt;
}

// Raises the operation set to one that holds all nodes; whether it was raised.
bool Raise(const Graph& graph, Opset newest, Opset& opset) {
  bool raised = false;
  for (const Node& node : graph.nodes()) {
    const Opset first = FirstOpset(node, opset, newest).value_or(newest);
    raised |= first != opset;
    opset = std::max(opset, first);
    for (const auto& region : node.regions()) raised |= Raise(*region, newest, opset);
  }
  return raised;
}

// Whether constants are smaller in a newer operation set than in the first one.
bool HasSmallConstants(const Graph& graph, Opset newest) {
  const auto is_small = [&](const Value& v) {
    if (!v.is_constant()) return false;
    const bool has_few_bits = v.type().quantized() && DTypeBits(v.dtype()) < 8;
    return has_few_bits || HasBlocks(v.constant(), newest);
  };
  return std::ranges::any_of(graph.values(), is_small) ||
         AnyRegion(graph, [&](const Graph& region) { return HasSmallConstants(region, newest); });
}

}  // namespace

std::optional<std::string> FindMisfit(const Node& node, Opset opset) {
  static PerThread<NodeMemo<std::optional<std::string>>> memos;
  const ExportRow* const row = FindExport(node.op_name());
  return memos.Get().Find(node, row != nullptr, {static_cast<int64_t>(opset), 0},
                          [&](const Node& n) { return TryNode(n, opset); });
}

ProgramForm FormOf(const Graph& graph, Opset oldest, Opset newest) {
  Opset opset = oldest;
  const bool is_smaller = IsSmallerPacked(graph);
  if (newest >= Opset::kIos18 && HasSmallConstants(graph, newest))
    opset = std::max(opset, Opset::kIos18);
  else if (is_smaller)
    opset = std::max(opset, std::min(newest, kHasPacked));
  // A newer definition may lack what an older one has.
  while (Raise(graph, newest, opset)) {
  }
  return {opset, is_smaller && opset >= kHasPacked};
}

}  // namespace nn::coreml::program
