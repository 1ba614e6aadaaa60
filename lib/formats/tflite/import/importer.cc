#include "formats/tflite/import/importer.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text/text.h"
#include "formats/tflite/file/blockwise.h"
#include "formats/tflite/file/frame.h"
#include "formats/tflite/file/tensor.h"
#include "formats/tflite/spec/operand_fit.h"
#include "formats/tflite/spec/signature.h"
#include "ir/verify.h"
#include "ops/array/opaque.h"

namespace nn::tflite {
namespace {

constexpr size_t kMaxMetadata = 4096;

// Required inputs must be listed, and not as -1.
Status CheckPresence(const fb::Operator& op, const fb::OperatorCode& code) {
  const Signature* signature = FindSignature(OperatorOf(code));
  if (signature == nullptr) return {};
  const auto inputs = ListOf<int64_t>(op.inputs());
  for (size_t i = 0; i < signature->inputs.size(); ++i) {
    const SignatureOperand& operand = signature->inputs[i];
    if (operand.presence == SignatureOperand::Presence::kRequired && !operand.repeated &&
        (i >= inputs.size() || inputs[i] == -1))
      return ModelError("input {} ({}) is missing", i, operand.name);
  }
  return {};
}

// Some kernels give their results a type, whatever the file declares.
void GiveTypes(const fb::OperatorCode& code, const std::vector<Value*>& inputs,
               std::vector<Type>& outputs) {
  const Signature* signature = FindSignature(OperatorOf(code));
  for (size_t i = 0; signature != nullptr && i < outputs.size(); ++i) {
    const SignatureOperand* operand = OperandAt(signature->outputs, i);
    if (operand == nullptr) continue;
    DType given = operand->has_given_type ? DTypeOf(operand->given_type) : DType::kUnknown;
    const auto giver = static_cast<size_t>(std::max(operand->given_by, 0));
    if (operand->given_by >= 0 && giver < inputs.size() && inputs[giver] != nullptr)
      given = inputs[giver]->dtype();
    if (given != DType::kUnknown) outputs[i].dtype = given;
  }
}

// Why the kernels do not compute what the scales of an operator say; empty if they do.
std::string WhyNotScalesOf(const fb::OperatorCode& code, const std::vector<Value*>& inputs,
                           const std::vector<Type>& outputs) {
  std::vector<const Type*> in, out;
  for (const Value* v : inputs) in.push_back(v == nullptr ? nullptr : &v->type());
  for (const Type& type : outputs) out.push_back(&type);
  return WhyNotScales(OperatorOf(code), in, out).value_or(std::string());
}

}  // namespace

Status Importer::Run() {
  graph_.name = std::string(Text(sub_.name()));
  ReadMetadata();
  values_.resize(static_cast<size_t>(SizeOf(sub_.tensors())), nullptr);
  NN_RETURN_IF_ERROR(ReadInputs());
  std::set<std::string> names;
  for (const auto* list : {sub_.inputs(), sub_.outputs()})
    for (const int64_t index : ListOf<int64_t>(list))
      if (const fb::Tensor* const t = At(sub_.tensors(), index)) PortName(*t, index, names);
  state_.variables.SetPorts(std::move(names), static_cast<size_t>(SizeOf(sub_.inputs())));
  NN_RETURN_IF_ERROR(ImportOperators());
  NN_RETURN_IF_ERROR(ReadOutputs());
  NN_ASSIGN(state_.result.states, state_.variables.Finish(graph_));
  return Verify(graph_);
}

// Adds the operators of the subgraph to the graph of the caller and returns its outputs.
// `dynamic`: whether an input of the model has an unknown size.
Result<std::vector<Value*>> Importer::Inline(std::span<Value* const> inputs, bool dynamic) {
  dynamic_ = dynamic;
  values_.resize(static_cast<size_t>(SizeOf(sub_.tensors())), nullptr);
  const auto tensors = ListOf<int64_t>(sub_.inputs());
  if (tensors.size() != inputs.size())
    return ModelError("it has {} inputs, not {}", tensors.size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    NN_ASSIGN(const fb::Tensor* const tensor, TensorAt(tensors[i]));
    NN_ASSIGN(const Type type, TypeOf(*tensor, tensors[i]));
    Value*& v = values_[static_cast<size_t>(tensors[i])];
    if (v != nullptr) return ModelError("tensor {} occurs twice in the inputs", tensors[i]);
    if (inputs[i]->dtype() != DType::kUnknown && inputs[i]->dtype() != type.dtype &&
        !state_.variables.IsHandle(inputs[i]))
      return ModelError("input {} is declared as {}, but is {}", i, type.ToString(),
                        inputs[i]->type().ToString());
    v = inputs[i];
  }
  NN_RETURN_IF_ERROR(ImportOperators());
  std::vector<Value*> outputs;
  for (const int64_t index : ListOf<int64_t>(sub_.outputs())) {
    NN_ASSIGN(Value* const v, ValueOf(index));
    outputs.push_back(v);
  }
  return outputs;
}

Status Importer::ImportOperators() {
  // The validator checks the order; import accepts any order that can be sorted.
  NN_ASSIGN(const std::vector<int64_t> order, OperatorOrder());
  CountUses();
  for (const int64_t i : order) NN_RETURN_IF_ERROR(ImportOperator(*At(sub_.operators(), i), i));
  return {};
}

void Importer::CountUses() {
  uses_.assign(values_.size(), 0);
  for (int64_t i = 0; i < SizeOf(sub_.operators()); ++i)
    for (const int64_t t : ListOf<int64_t>(At(sub_.operators(), i)->inputs()))
      if (t >= 0 && t < static_cast<int64_t>(uses_.size())) ++uses_[static_cast<size_t>(t)];
}

Result<bool> Importer::IsState(const fb::OperatorCode& code, size_t i, int64_t index) const {
  const ImportRow* const row = FindImport(code);
  if (row == nullptr || std::ranges::find(row->states, i) == row->states.end()) return false;
  NN_ASSIGN(const fb::Tensor* const tensor, TensorAt(index));
  if (values_[static_cast<size_t>(index)] != nullptr) return false;
  NN_ASSIGN(const bool contents, HasContents(model_, *tensor));
  return !contents;
}

bool Importer::IsZeroState(int64_t index) const {
  return uses_[static_cast<size_t>(index)] == 1 && depth_ == 0 && !state_.variables.HasPorts(false);
}

Result<Value*> Importer::ReadState(int64_t index) {
  NN_ASSIGN(const fb::Tensor* const tensor, TensorAt(index));
  NN_ASSIGN(const Type type, TypeOf(*tensor, index));
  return state_.variables.Read(graph_, state_.known_inputs, state_.variables.OfTensor(sub_, index),
                               type);
}

Status Importer::KeepStates(const ImportContext& ctx) {
  for (const auto& [i, value] : ctx.states()) {
    if (value == nullptr) return UnsupportedError("state {} cannot be kept from run to run", i);
    const int64_t index = ctx.op().inputs()->Get(static_cast<flatbuffers::uoffset_t>(i));
    NN_RETURN_IF_ERROR(state_.variables.Assign(state_.variables.OfTensor(sub_, index), value));
  }
  return {};
}

Result<bool> Importer::IsBlockwiseInput(const fb::OperatorCode& code, size_t i,
                                        int64_t index) const {
  const ImportRow* const row = FindImport(code);
  if (index == -1 || row == nullptr || std::ranges::find(row->blockwise, i) == row->blockwise.end())
    return false;
  NN_ASSIGN(const fb::Tensor* const tensor, TensorAt(index));
  return IsBlockwise(*tensor) && values_[static_cast<size_t>(index)] == nullptr;
}

void Importer::ReadMetadata() {
  const fb::Model& m = *model_.root;
  if (const auto text = Text(m.description()); !text.empty() && !text.starts_with(kProducer))
    graph_.metadata["description"] = std::string(text);
  for (int64_t i = 0; i < SizeOf(m.metadata()); ++i) {
    const fb::Metadata* entry = At(m.metadata(), i);
    const auto bytes =
        entry == nullptr ? Result<Blob>(Blob()) : BufferBytes(model_, entry->buffer());
    if (!bytes || bytes->empty() || bytes->size() > kMaxMetadata) continue;
    std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    text = text.substr(0, text.find_last_not_of('\0') + 1);
    if (IsUtf8(text) && text.find('\0') == std::string_view::npos)
      graph_.metadata["tflite." + std::string(Text(entry->name()))] = std::string(text);
  }
  for (int64_t i = 0; i < SizeOf(m.signature_defs()); ++i) {
    const fb::SignatureDef* s = At(m.signature_defs(), i);
    if (s == nullptr || At(m.subgraphs(), s->subgraph_index()) != &sub_) continue;
    graph_.metadata["tflite.signature_key"] = std::string(Text(s->signature_key()));
    ReadSignature(s->inputs(), sub_.inputs(), "tflite.signature.input.");
    ReadSignature(s->outputs(), sub_.outputs(), "tflite.signature.output.");
    return;
  }
}

// Records the names of the graph's inputs or outputs in a signature, by position.
void Importer::ReadSignature(const flatbuffers::Vector<flatbuffers::Offset<fb::TensorMap>>* map,
                             const flatbuffers::Vector<int32_t>* tensors,
                             const std::string& prefix) {
  const auto indices = ListOf<int64_t>(tensors);
  for (int64_t i = 0; i < SizeOf(map); ++i) {
    const fb::TensorMap* m = At(map, i);
    if (m == nullptr) continue;
    const auto it = std::find(indices.begin(), indices.end(), int64_t{m->tensor_index()});
    if (it != indices.end())
      graph_.metadata[fmt::format("{}{}", prefix, it - indices.begin())] =
          std::string(Text(m->name()));
  }
}

Result<const fb::Tensor*> Importer::TensorAt(int64_t index) const {
  const fb::Tensor* t = At(sub_.tensors(), index);
  if (t == nullptr)
    return ModelError("tensor {} does not exist; the subgraph has {}", index,
                      SizeOf(sub_.tensors()));
  return t;
}

Result<Type> Importer::TypeOf(const fb::Tensor& tensor, int64_t index) const {
  const auto type = ReadType(tensor, NameOfTensor(tensor, index));
  if (type) return state_.known_inputs.WithSizes(*type);
  return tl::unexpected(
      type.error().In(fmt::format("tensor {} ({})", index, Quote(Text(tensor.name())))));
}

Status Importer::ReadInputs() {
  std::set<std::string> used;
  size_t position = 0;
  for (const int64_t index : ListOf<int64_t>(sub_.inputs())) {
    NN_ASSIGN(const fb::Tensor* const tensor, TensorAt(index));
    if (values_[static_cast<size_t>(index)] != nullptr)
      return ModelError("tensor {} occurs twice in the inputs", index);
    NN_ASSIGN(const Type type, TypeOf(*tensor, index));
    if (type.dtype == DType::kUnknown)
      return UnsupportedError("input {} has unsupported type {}", Quote(Text(tensor->name())),
                              TensorTypeName(tensor->type()));
    NN_ASSIGN(Value* const v, state_.known_inputs.AddInput(graph_, position++,
                                                           PortName(*tensor, index, used), type));
    if (v->type().dims && !ConstDims(*v->type().dims)) dynamic_ = true;
    v->set_name(std::string(Text(tensor->name())));
    values_[static_cast<size_t>(index)] = v;
  }
  return {};
}

Status Importer::ReadOutputs() {
  std::set<std::string> used;
  for (const int64_t index : ListOf<int64_t>(sub_.outputs())) {
    NN_ASSIGN(const fb::Tensor* const tensor, TensorAt(index));
    NN_ASSIGN(Value* const v, ValueOf(index));
    graph_.AddOutput(PortName(*tensor, index, used), v);
  }
  return {};
}

Result<std::vector<int64_t>> Importer::OperatorOrder() const {
  const int64_t count = SizeOf(sub_.operators());
  std::unordered_map<int64_t, int64_t> producer;
  for (int64_t i = 0; i < count; ++i) {
    const fb::Operator* op = At(sub_.operators(), i);
    for (const int64_t t : ListOf<int64_t>(op->outputs())) {
      if (t == -1) continue;
      NN_RETURN_IF_ERROR(TensorAt(t));
      if (values_[static_cast<size_t>(t)] != nullptr)
        return ModelError("operator {} writes tensor {}, an input", i, t);
      if (!producer.emplace(t, i).second)
        return ModelError("tensor {} is written by operators {} and {}", t, producer[t], i);
    }
  }
  std::vector<int64_t> order;
  std::vector<uint8_t> state(static_cast<size_t>(count), 0);  // 1: open, 2: done
  std::vector<std::pair<int64_t, int64_t>> stack;             // operator, next input
  for (int64_t root = 0; root < count; ++root) {
    if (state[static_cast<size_t>(root)] != 0) continue;
    stack.emplace_back(root, 0);
    state[static_cast<size_t>(root)] = 1;
    while (!stack.empty()) {
      auto& [at, next] = stack.back();
      const auto* inputs = At(sub_.operators(), at)->inputs();
      if (next == SizeOf(inputs)) {
        state[static_cast<size_t>(at)] = 2;
        order.push_back(at);
        stack.pop_back();
        continue;
      }
      const int64_t tensor = inputs->Get(static_cast<flatbuffers::uoffset_t>(next++));
      const auto it = producer.find(tensor);
      if (it == producer.end() || state[static_cast<size_t>(it->second)] == 2) continue;
      if (state[static_cast<size_t>(it->second)] == 1)
        return ModelError("the graph has a cycle through tensor {}", tensor);
      state[static_cast<size_t>(it->second)] = 1;
      stack.emplace_back(it->second, 0);
    }
  }
  return order;
}

// The value of a tensor; constants are read on first use.
Result<Value*> Importer::ValueOf(int64_t index) {
  NN_ASSIGN(const fb::Tensor* const tensor, TensorAt(index));
  Value*& v = values_[static_cast<size_t>(index)];
  if (v != nullptr) return v;
  if (tensor->is_variable()) {
    NN_ASSIGN(const bool contents, HasContents(model_, *tensor));
    if (!contents) return ReadState(index);
  }
  const auto shared = state_.constants.find({&sub_, index});
  if (shared != state_.constants.end()) return v = shared->second;
  auto constant = ReadConstant(*tensor, index);
  if (!constant)
    return tl::unexpected(
        constant.error().In(fmt::format("tensor {} ({})", index, Quote(Text(tensor->name())))));
  if (depth_ > 0) state_.constants[{&sub_, index}] = *constant;
  return v = *constant;
}

Result<Value*> Importer::ReadConstant(const fb::Tensor& tensor, int64_t index) {
  NN_ASSIGN(Type type, TypeOf(tensor, index));
  NN_ASSIGN(const bool contents, HasContents(model_, tensor));
  const bool empty = type.dims && Product(*type.dims) == 0;
  if (!contents && !empty) return ModelError("the tensor is used, but has no value");
  NN_ASSIGN(Tensor value, ReadContents(model_, tensor));
  return graph_.AddConstant(std::move(value), std::string(Text(tensor.name())), type.quant);
}

Status Importer::ImportOperator(const fb::Operator& op, int64_t index) {
  const fb::OperatorCode* code = At(model_.root->operator_codes(), op.opcode_index());
  const std::string name = OperatorName(code);
  auto status = code == nullptr
                    ? Status(ModelError("operator code {} does not exist; the model has {}",
                                        op.opcode_index(), SizeOf(model_.root->operator_codes())))
                    : ImportWithCode(op, *code, index);
  if (!status)
    return tl::unexpected(status.error().In(fmt::format("operator {} ({})", index, name)));
  return {};
}

Status Importer::ImportWithCode(const fb::Operator& op, const fb::OperatorCode& code,
                                int64_t index) {
  const int64_t last_id = LastId(graph_);
  const size_t unsupported = unsupported_.size();
  std::vector<Value*> inputs;
  std::vector<size_t> states;
  std::string reason;
  // Values after an unsupported operator often have unknown types, which lets others fail: no
  // fault of theirs, nor of the model.
  bool on_opaque = false;
  for (const int64_t t : ListOf<int64_t>(op.inputs())) {
    NN_ASSIGN(const bool is_blockwise, IsBlockwiseInput(code, inputs.size(), t));
    bool is_state = false;
    if (t != -1 && !is_blockwise) {
      NN_ASSIGN(is_state, IsState(code, inputs.size(), t));
    }
    const bool is_absent = t == -1 || is_blockwise || (is_state && IsZeroState(t));
    auto v = is_absent ? Result<Value*>(nullptr) : is_state ? ReadState(t) : ValueOf(t);
    if (is_state && !is_absent) states.push_back(inputs.size());
    const bool is_unsupported = !v && v.error().code() == ErrorCode::kUnsupported;
    // Custom operators also have inputs without a value: memory for their use.
    if (!v && !is_unsupported && OperatorOf(code) != fb::BuiltinOperator::CUSTOM)
      return tl::unexpected(v.error());
    if (is_unsupported && reason.empty()) reason = v.error().message();
    inputs.push_back(v ? *v : nullptr);
    on_opaque |= v && *v != nullptr && !(*v)->type().ranked() && !unsupported_.empty();
  }
  std::vector<Type> types;
  for (const int64_t t : ListOf<int64_t>(op.outputs())) {
    NN_ASSIGN(const fb::Tensor* const tensor, TensorAt(t));
    auto type = TypeOf(*tensor, t);
    if (!type && type.error().code() != ErrorCode::kUnsupported)
      return tl::unexpected(type.error());
    if (!type && reason.empty()) reason = type.error().message();
    types.push_back(type ? *type : Type());
  }
  NN_RETURN_IF_ERROR(CheckPresence(op, code));
  GiveTypes(code, inputs, types);
  if (reason.empty()) reason = WhyNotScalesOf(code, inputs, types);
  ImportContext ctx(model_, sub_, op, code, index, graph_, inputs, types, state_.result.hybrids,
                    state_.hybrid_as_float, state_.variables, state_.known_inputs);
  ctx.set_place(PlaceOf(index));
  for (const size_t i : states) ctx.KeepState(i);
  const ImportRow* const row = FindImport(code);
  const bool has_effect = CallsSubgraphs(OperatorOf(code)) || (row != nullptr && row->has_effect);
  auto status = !reason.empty()                ? Status(UnsupportedError("{}", reason))
                : types.empty() && !has_effect ? Status(ModelError("the operator has no output"))
                : CallsSubgraphs(OperatorOf(ctx.code())) ? ImportControl(ctx)
                                                         : ImportOp(ctx);
  if (status) status = KeepStates(ctx);
  if (status) status = CheckPassedOn(ctx);
  // A subgraph may have reported its own operators.
  const bool follows = on_opaque || unsupported_.size() > unsupported;
  if (!status && (status.error().code() == ErrorCode::kUnsupported ||
                  (on_opaque && status.error().code() == ErrorCode::kModel)))
    return MakeOpaque(ctx, follows ? std::string() : status.error().message());
  if (!status) return status;
  for (size_t i = 0; i < types.size(); ++i) {
    if (ctx.outputs()[i] == nullptr)
      return ModelError("there are {} outputs, more than the operator has", types.size());
    NN_RETURN_IF_ERROR(Declare(
        ctx.outputs()[i], op.outputs()->Get(static_cast<flatbuffers::uoffset_t>(i)), types[i]));
  }
  if (state_.loops == 0) return {};
  NN_RETURN_IF_ERROR(state_.inlined.TakeConstants(graph_, last_id));
  FoldKnown(graph_, state_.known, ctx.outputs(), last_id);
  return {};
}

std::string Importer::PlaceOf(int64_t index) const {
  return called_ ? fmt::format("{} in subgraph {}", index, *called_) : std::string();
}

// If an operator copies the integers of its input, a result declared with a different
// quantization has other real values, which no graph operator expresses.
Status Importer::CheckPassedOn(const ImportContext& ctx) const {
  for (size_t i = 0; i < ctx.output_count() && i < ctx.outputs().size(); ++i) {
    const Value* v = ctx.outputs()[i];
    const auto& declared = ctx.output_type(i).quant;
    if (v == nullptr || declared == nullptr || v->type().quant == nullptr ||
        declared->SameMapping(*v->type().quant))
      continue;
    const Type& is = v->type();
    return UnsupportedError("it copies the integers of {} to {}", is.ToString(),
                            is.dims ? Type(is.dtype, *is.dims, declared).ToString()
                                    : std::string("a different quantization"));
  }
  return {};
}

// Names a value after its tensor and refines its type by the declaration. Unknown sizes are taken
// from the file only if a declared 1 cannot mean "unknown".
Status Importer::Declare(Value* v, int64_t index, Type declared) {
  NN_ASSIGN(const fb::Tensor* const tensor, TensorAt(index));
  values_[static_cast<size_t>(index)] = v;
  if (v->def() == nullptr) return {};
  if (v->name().empty()) v->set_name(std::string(Text(tensor->name())));
  Type type = v->type();
  if (declared.dtype == DType::kUnknown && type.dtype == DType::kUnknown &&
      !v->def()->op().is_opaque)
    return UnsupportedError("the element type of tensor {} ({}) is unsupported: {}", index,
                            Quote(Text(tensor->name())), TensorTypeName(tensor->type()));
  if (declared.dtype != DType::kUnknown && type.dtype != DType::kUnknown &&
      declared.dtype != type.dtype)
    return ModelError("tensor {} ({}) is declared as {}, but is {}", index,
                      Quote(Text(tensor->name())), declared.ToString(), type.ToString());
  if (declared.quant != nullptr) type.quant = declared.quant;
  const bool sizes_known = SizeOf(tensor->shape_signature()) > 0 || !dynamic_;
  const bool contradicted = type.ranked() && !Compatible(declared, type);
  // Sizes that a run gives contradict those of the file.
  if (sizes_known && contradicted && state_.known_inputs.sizes.empty())
    state_.contradicted.Add(NameOfTensor(*tensor, index), declared, type);
  if (!sizes_known || contradicted) declared.dims = type.dims;
  v->set_type(Refine(type, declared));
  return {};
}

Status Importer::MakeOpaque(ImportContext& ctx, std::string reason) {
  NN_ASSIGN(const Node* const opaque,
            ctx.EmitOpaque(ctx.output_count(), std::move(reason), unsupported_));
  for (size_t i = 0; i < ctx.output_count(); ++i) {
    const int64_t t = ctx.op().outputs()->Get(static_cast<flatbuffers::uoffset_t>(i));
    Value* v = opaque->output(i);
    values_[static_cast<size_t>(t)] = v;
    v->set_name(std::string(Text(At(sub_.tensors(), t)->name())));
  }
  return {};
}

}  // namespace nn::tflite
