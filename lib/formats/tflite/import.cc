#include "formats/tflite/import.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "formats/tflite/family.h"
#include "formats/tflite/options.h"
#include "formats/tflite/signature.h"
#include "formats/tflite/tensor.h"
#include "ir/number.h"
#include "ir/verify.h"
#include "ops/array/opaque.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise.h"

namespace nn::tflite {
namespace {

// Imports an operator by its one-to-one encoding; false if it has none.
Result<bool> ImportOneToOne(ImportContext& ctx) {
  const fb::BuiltinOperator code = OperatorOf(ctx.code());
  const auto [op, format] = Ops().FindEncoding("tflite", fb::EnumNameBuiltinOperator(code), 1);
  if (op == nullptr) return false;
  Attrs attrs(op->attrs);
  for (const auto& [ours, theirs] : format->attrs) {
    NN_ASSIGN(const AttrValue value, ReadOption(ctx.op(), OptionsOf(code), theirs));
    NN_ASSIGN(attrs, attrs.With(ours, value));
  }
  NN_RETURN_IF_ERROR(ctx.Emit(op->name, ctx.inputs(), std::move(attrs)));
  return true;
}

// State that the import of a subgraph shares with the import of the composites in it.
struct ImportState {
  bool hybrid_as_float = false;
  ImportedModel result = {};
  int64_t inlined_operators = 0;
};

class Importer {
 public:
  Importer(const Model& model, const fb::SubGraph& subgraph, ImportState& state, int depth = 0)
      : model_(model), sub_(subgraph), state_(state), depth_(depth) {}

  Status Run() {
    graph_.name = std::string(Text(sub_.name()));
    ReadMetadata();
    values_.resize(static_cast<size_t>(SizeOf(sub_.tensors())), nullptr);
    NN_RETURN_IF_ERROR(ReadInputs());
    NN_RETURN_IF_ERROR(ImportOperators());
    NN_RETURN_IF_ERROR(ReadOutputs());
    return Verify(graph_);
  }

  // Adds the operators of the subgraph to the graph of the caller and returns its outputs.
  // `dynamic`: whether an input of the model has an unknown size.
  Result<std::vector<Value*>> Inline(std::span<Value* const> inputs, bool dynamic) {
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
      if (inputs[i]->dtype() != DType::kUnknown && inputs[i]->dtype() != type.dtype)
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

 private:
  Status ImportOperators() {
    // The validator checks the order; import accepts any order that can be sorted.
    NN_ASSIGN(const std::vector<int64_t> order, OperatorOrder());
    CountUses();
    for (const int64_t i : order) NN_RETURN_IF_ERROR(ImportOperator(*At(sub_.operators(), i), i));
    return {};
  }

  void CountUses() {
    uses_.assign(values_.size(), 0);
    for (int64_t i = 0; i < SizeOf(sub_.operators()); ++i)
      for (const int64_t t : ListOf<int64_t>(At(sub_.operators(), i)->inputs()))
        if (t >= 0 && t < static_cast<int64_t>(uses_.size())) ++uses_[static_cast<size_t>(t)];
  }

  // Whether input i of an operator is a state that nothing has written yet. kUnsupported if others
  // may write it.
  Result<bool> IsInitialState(fb::BuiltinOperator op, size_t i, int64_t index) const {
    const ImportRow* const row = FindImport(op);
    if (row == nullptr || std::ranges::find(row->states, i) == row->states.end()) return false;
    NN_ASSIGN(const fb::Tensor* const tensor, TensorAt(index));
    if (values_[static_cast<size_t>(index)] != nullptr) return false;
    NN_ASSIGN(const bool contents, HasContents(model_, *tensor));
    if (contents) return false;
    if (uses_[static_cast<size_t>(index)] > 1 || depth_ > 0)
      return UnsupportedError(
          "tensor {} ({}): a state that {} is unsupported", index, Quote(Text(tensor->name())),
          depth_ > 0 ? "belongs to a called subgraph" : "several operators use");
    return true;
  }

  void ReadMetadata() {
    const fb::Model& m = *model_.root;
    if (const auto text = Text(m.description()); !text.empty())
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
  void ReadSignature(const flatbuffers::Vector<flatbuffers::Offset<fb::TensorMap>>* map,
                     const flatbuffers::Vector<int32_t>* tensors, const std::string& prefix) {
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

  Result<const fb::Tensor*> TensorAt(int64_t index) const {
    const fb::Tensor* t = At(sub_.tensors(), index);
    if (t == nullptr)
      return ModelError("tensor {} does not exist; the subgraph has {}", index,
                        SizeOf(sub_.tensors()));
    return t;
  }

  Result<Type> TypeOf(const fb::Tensor& tensor, int64_t index) const {
    auto type = ReadType(tensor, NameOfTensor(tensor, index));
    if (!type)
      return tl::unexpected(
          type.error().In(fmt::format("tensor {} ({})", index, Quote(Text(tensor.name())))));
    return type;
  }

  Status ReadInputs() {
    std::set<std::string> used;
    for (const int64_t index : ListOf<int64_t>(sub_.inputs())) {
      NN_ASSIGN(const fb::Tensor* const tensor, TensorAt(index));
      if (values_[static_cast<size_t>(index)] != nullptr)
        return ModelError("tensor {} occurs twice in the inputs", index);
      NN_ASSIGN(Type type, TypeOf(*tensor, index));
      if (type.dtype == DType::kUnknown)
        return UnsupportedError("input {} has unsupported type {}", Quote(Text(tensor->name())),
                                TensorTypeName(tensor->type()));
      if (type.dims && !ConstDims(*type.dims)) dynamic_ = true;
      Value* v = graph_.AddInput(PortName(*tensor, index, used), std::move(type));
      v->set_name(std::string(Text(tensor->name())));
      values_[static_cast<size_t>(index)] = v;
    }
    return {};
  }

  Status ReadOutputs() {
    std::set<std::string> used;
    for (const int64_t index : ListOf<int64_t>(sub_.outputs())) {
      NN_ASSIGN(const fb::Tensor* const tensor, TensorAt(index));
      NN_ASSIGN(Value* const v, ValueOf(index));
      graph_.AddOutput(PortName(*tensor, index, used), v);
    }
    return {};
  }

  Result<std::vector<int64_t>> OperatorOrder() const {
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

  // The value of a tensor; constants are read on first use. kUnsupported for variables.
  Result<Value*> ValueOf(int64_t index) {
    NN_ASSIGN(const fb::Tensor* const tensor, TensorAt(index));
    Value*& v = values_[static_cast<size_t>(index)];
    if (v != nullptr) return v;
    auto constant = ReadConstant(*tensor, index);
    if (!constant)
      return tl::unexpected(
          constant.error().In(fmt::format("tensor {} ({})", index, Quote(Text(tensor->name())))));
    return v = *constant;
  }

  Result<Value*> ReadConstant(const fb::Tensor& tensor, int64_t index) {
    NN_ASSIGN(Type type, TypeOf(tensor, index));
    NN_ASSIGN(const bool contents, HasContents(model_, tensor));
    const bool empty = type.dims && Product(*type.dims) == 0;
    if (!contents && tensor.is_variable())
      return UnsupportedError("variable tensors are unsupported");
    if (!contents && !empty) return ModelError("the tensor is used, but has no value");
    NN_ASSIGN(Tensor value, ReadContents(model_, tensor));
    return graph_.AddConstant(std::move(value), std::string(Text(tensor.name())), type.quant);
  }

  Status ImportOperator(const fb::Operator& op, int64_t index) {
    const fb::OperatorCode* code = At(model_.root->operator_codes(), op.opcode_index());
    const std::string name = OperatorName(code);
    auto status = code == nullptr
                      ? Status(ModelError("operator code {} does not exist; the model has {}",
                                          op.opcode_index(), SizeOf(model_.root->operator_codes())))
                      : ImportWithCode(op, *code, index, name);
    if (!status)
      return tl::unexpected(status.error().In(fmt::format("operator {} ({})", index, name)));
    return {};
  }

  // Required inputs must be listed, and not as -1.
  static Status CheckPresence(const fb::Operator& op, const fb::OperatorCode& code) {
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

  Status ImportWithCode(const fb::Operator& op, const fb::OperatorCode& code, int64_t index,
                        const std::string& name) {
    std::vector<Value*> inputs;
    std::string reason;
    // Values after an unsupported operator often have unknown types, so later operators fail that
    // are not unsupported themselves.
    bool on_opaque = false;
    for (const int64_t t : ListOf<int64_t>(op.inputs())) {
      const auto is_state =
          t == -1 ? Result<bool>(true) : IsInitialState(OperatorOf(code), inputs.size(), t);
      auto v = !is_state   ? tl::unexpected(is_state.error())
               : *is_state ? Result<Value*>(nullptr)
                           : ValueOf(t);
      const bool is_unsupported = !v && v.error().code() == ErrorCode::kUnsupported;
      // Custom operators may have inputs without a value, which serve as scratch memory.
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
    ImportContext ctx(model_, sub_, op, code, index, graph_, inputs, types,
                      state_.hybrid_as_float ? &state_.result.hybrids : nullptr);
    auto status = reason.empty() ? ImportOp(ctx, name) : Status(UnsupportedError("{}", reason));
    if (status) status = CheckPassedOn(ctx);
    if (!status && (status.error().code() == ErrorCode::kUnsupported ||
                    (on_opaque && status.error().code() == ErrorCode::kModel)))
      return MakeOpaque(ctx, name, index, on_opaque ? std::string() : status.error().message());
    if (!status) return status;
    for (size_t i = 0; i < types.size(); ++i) {
      if (ctx.outputs()[i] == nullptr)
        return ModelError("there are {} outputs, more than the operator has", types.size());
      NN_RETURN_IF_ERROR(
          Declare(ctx.outputs()[i], op.outputs()->Get(static_cast<flatbuffers::uoffset_t>(i))));
    }
    return {};
  }

  Status ImportOp(ImportContext& ctx, const std::string& name) {
    const fb::BuiltinOperator op = OperatorOf(ctx.code());
    if (ctx.output_count() == 0) return ModelError("the operator has no output");
    if (op == fb::BuiltinOperator::STABLEHLO_COMPOSITE) return ImportComposite(ctx);
    if (op == fb::BuiltinOperator::STABLEHLO_CASE) return ImportCase(ctx);
    if (op == fb::BuiltinOperator::IF) return ImportIf(ctx);
    if (const ImportRow* row = FindImport(op)) return row->import(ctx);
    NN_ASSIGN(const bool done, ImportOneToOne(ctx));
    if (done) return {};
    return UnsupportedError("{} (version {}) is unsupported", name, ctx.code().version());
  }

  // The results of a subgraph for these inputs, as operators of the graph.
  Result<std::vector<Value*>> InlineSubgraph(ImportContext& ctx, int64_t index,
                                             std::span<Value* const> inputs) {
    const fb::SubGraph* const sub = At(model_.root->subgraphs(), index);
    if (sub == nullptr) return ModelError("subgraph {} does not exist", index);
    if (depth_ == kMaxDepth)
      return UnsupportedError("subgraphs in more than {} subgraphs are unsupported", kMaxDepth);
    state_.inlined_operators += SizeOf(sub->operators());
    if (state_.inlined_operators > kMaxInlined)
      return UnsupportedError("more than {} operators of subgraphs are unsupported", kMaxInlined);
    if (std::ranges::find(inputs, nullptr) != inputs.end())
      return ModelError("an input of subgraph {} is missing", index);
    auto outputs = Importer(model_, *sub, state_, depth_ + 1).Inline(inputs, dynamic_);
    if (!outputs) return tl::unexpected(outputs.error().In(fmt::format("subgraph {}", index)));
    if (outputs->size() != ctx.output_count())
      return ModelError("subgraph {} has {} outputs, not {}", index, outputs->size(),
                        ctx.output_count());
    return outputs;
  }

  // A composite is imported as its decomposition, which is what the kernel runs.
  Status ImportComposite(ImportContext& ctx) {
    const auto* const o = ctx.op().builtin_options_2_as_StableHLOCompositeOptions();
    if (o == nullptr) return ModelError("the options are missing or of a different kind");
    NN_ASSIGN(const std::vector<Value*> outputs,
              InlineSubgraph(ctx, o->decomposition_subgraph_index(), ctx.inputs()));
    for (size_t i = 0; i < outputs.size(); ++i) ctx.SetOutput(i, outputs[i]);
    return {};
  }

  // A result of the branch that is taken if the condition is true, and of the other one if not.
  Result<Value*> Choose(ImportContext& ctx, Value* condition, Value* taken, Value* other) {
    const Type &a = taken->type(), &b = other->type();
    const bool alike =
        a.dtype == b.dtype && a.dims == b.dims && a.ranked() &&
        (a.quant == b.quant || (a.quant && b.quant && a.quant->SameMapping(*b.quant)));
    if (!alike)
      return UnsupportedError(
          "branches with results of different types, {} and {}, are unsupported", a.ToString(),
          b.ToString());
    return ctx.Add("select", {condition, taken, other}, {}, a.quant);
  }

  Result<Value*> AsScalar(ImportContext& ctx) {
    NN_ASSIGN(Value* const v, ctx.Ranked(0));
    if (v->type().rank() == 0) return v;
    return ctx.Add("reshape", {v}, ReshapeAttrs{});
  }

  // All branches are computed, and the results of one of them are selected: operators have no
  // effects besides their results.
  Status ImportIf(ImportContext& ctx) {
    NN_ASSIGN(const auto* const o, ctx.Options<fb::IfOptions>());
    NN_ASSIGN(Value* const condition, AsScalar(ctx));
    const auto inputs = std::span<Value* const>(ctx.inputs()).subspan(1);
    NN_ASSIGN(const auto yes, InlineSubgraph(ctx, o->then_subgraph_index(), inputs));
    NN_ASSIGN(const auto no, InlineSubgraph(ctx, o->else_subgraph_index(), inputs));
    for (size_t i = 0; i < yes.size(); ++i) {
      NN_ASSIGN(Value* const y, Choose(ctx, condition, yes[i], no[i]));
      ctx.SetOutput(i, y);
    }
    return {};
  }

  // An index out of range takes the last branch.
  Status ImportCase(ImportContext& ctx) {
    const auto* const o = ctx.op().builtin_options_2_as_StablehloCaseOptions();
    if (o == nullptr) return ModelError("the options are missing or of a different kind");
    const auto branches = ListOf<int64_t>(o->branch_subgraph_indices());
    if (branches.empty()) return ModelError("there are no branches");
    NN_ASSIGN(Value* const index, AsScalar(ctx));
    const auto inputs = std::span<Value* const>(ctx.inputs()).subspan(1);
    NN_ASSIGN(std::vector<Value*> chosen, InlineSubgraph(ctx, branches.back(), inputs));
    for (size_t k = branches.size() - 1; k-- > 0;) {
      NN_ASSIGN(Tensor number, Number(index->dtype(), static_cast<double>(k)));
      NN_ASSIGN(Value* const taken, ctx.Add("equal", {index, ctx.Constant(std::move(number))}));
      NN_ASSIGN(const auto branch, InlineSubgraph(ctx, branches[k], inputs));
      for (size_t i = 0; i < chosen.size(); ++i) {
        NN_ASSIGN(chosen[i], Choose(ctx, taken, branch[i], chosen[i]));
      }
    }
    for (size_t i = 0; i < chosen.size(); ++i) ctx.SetOutput(i, chosen[i]);
    return {};
  }

  // If an operator copies the integers of its input, a result declared with a different
  // quantization has other real values, which no graph operator expresses.
  Status CheckPassedOn(const ImportContext& ctx) const {
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
  Status Declare(Value* v, int64_t index) {
    NN_ASSIGN(const fb::Tensor* const tensor, TensorAt(index));
    NN_ASSIGN(Type declared, TypeOf(*tensor, index));
    values_[static_cast<size_t>(index)] = v;
    if (v->def() == nullptr) return {};
    if (v->name().empty()) v->set_name(std::string(Text(tensor->name())));
    Type type = v->type();
    if (declared.dtype != DType::kUnknown && type.dtype != DType::kUnknown &&
        declared.dtype != type.dtype)
      return ModelError("tensor {} ({}) is declared as {}, but is {}", index,
                        Quote(Text(tensor->name())), declared.ToString(), type.ToString());
    if (declared.quant != nullptr) type.quant = declared.quant;
    const bool sizes_known = SizeOf(tensor->shape_signature()) > 0 || !dynamic_;
    if (!sizes_known || (type.ranked() && !Compatible(declared, type))) declared.dims = type.dims;
    v->set_type(Refine(type, declared));
    return {};
  }

  Status MakeOpaque(ImportContext& ctx, const std::string& name, int64_t index,
                    std::string reason) {
    std::vector<Value*> inputs;
    for (Value* v : ctx.inputs())
      if (v != nullptr) inputs.push_back(v);
    NN_ASSIGN(Node* const opaque,
              graph_.Append("opaque", inputs, OpaqueAttrs{name, reason}, ctx.output_count()));
    opaque->set_source({name, index});
    for (size_t i = 0; i < ctx.output_count(); ++i) {
      const int64_t t = ctx.op().outputs()->Get(static_cast<flatbuffers::uoffset_t>(i));
      Value* v = opaque->output(i);
      values_[static_cast<size_t>(t)] = v;
      v->set_name(std::string(Text(At(sub_.tensors(), t)->name())));
    }
    if (!reason.empty())
      unsupported_.push_back({opaque->Describe(), "opaque", name, std::move(reason)});
    return {};
  }

  static constexpr size_t kMaxMetadata = 4096;
  static constexpr int kMaxDepth = 16;
  static constexpr int64_t kMaxInlined = int64_t{1} << 16;

  const Model& model_;
  const fb::SubGraph& sub_;
  ImportState& state_;
  int depth_;
  Graph& graph_ = state_.result.graph;
  std::vector<UnsupportedNode>& unsupported_ = state_.result.unsupported;
  std::vector<Value*> values_;  // by tensor
  std::vector<int64_t> uses_;   // by tensor: as an input of an operator
  bool dynamic_ = false;        // an input has an unknown size
};

struct Activation {
  std::string_view op;
  Attrs attrs;
};

// nullopt for NONE.
Result<std::optional<Activation>> ActivationOf(fb::ActivationFunctionType type) {
  using A = fb::ActivationFunctionType;
  switch (type) {
    case A::NONE:
      return std::nullopt;
    case A::RELU:
      return Activation{"relu", {}};
    case A::RELU_N1_TO_1:
      return Activation{"clip", ClipAttrs{-1, 1}};
    case A::RELU6:
      return Activation{"clip", ClipAttrs{0, 6}};
    case A::TANH:
      return Activation{"tanh", {}};
    case A::SIGN_BIT:
      break;
  }
  return UnsupportedError("fused activation {} is unsupported", static_cast<int>(type));
}

}  // namespace

Result<Value*> ImportContext::Required(size_t i) const {
  if (input(i) == nullptr) return ModelError("input {} is missing", i);
  return input(i);
}

Result<Value*> ImportContext::Ranked(size_t i) const {
  NN_ASSIGN(Value* const v, Required(i));
  if (!v->type().ranked()) return UnsupportedError("the rank of input {} is unknown", i);
  return v;
}

Result<std::vector<int64_t>> ImportContext::KnownInts(size_t i, std::string_view what) const {
  NN_RETURN_IF_ERROR(Required(i));
  const auto elements = Elements(i);
  const auto ints = elements ? ConstDims(*elements) : std::nullopt;
  if (!ints) return UnsupportedError("{} must be constant", what);
  return *ints;
}

Result<Type> ImportContext::DeclaredType(const flatbuffers::Vector<int32_t>* list, size_t i) const {
  const auto at = static_cast<flatbuffers::uoffset_t>(i);
  const int64_t index = at < SizeOf(list) ? list->Get(at) : -1;
  const fb::Tensor* const tensor = At(subgraph_.tensors(), index);
  if (tensor == nullptr) return ModelError("tensor {} does not exist", index);
  return ReadType(*tensor, NameOfTensor(*tensor, index));
}

Result<Node*> ImportContext::AddNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                                     std::span<const Type> types) {
  const OpDef* def = Ops().Find(op);
  if (def == nullptr) return InternalError("no operator named {}", op);
  bool quantized = false;
  for (const Value* v : inputs) quantized |= v != nullptr && v->type().quantized();
  Node* node = graph_.AddNode(*def, std::move(inputs), std::move(attrs), types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    Type type;
    type.dtype = types[i].dtype;
    type.quant = types[i].quant;
    quantized |= type.quantized();
    node->output(i)->set_type(std::move(type));
  }
  node->set_source({OperatorName(&code_), index_});
  if (quantized) node->set_arithmetic(Arithmetic::kTflite);
  return graph_.InferAdded(node);
}

Result<Value*> ImportContext::Add(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                                  std::shared_ptr<const Quant> quant) {
  Type type;
  type.quant = std::move(quant);
  NN_ASSIGN(Node* const node,
            AddNode(op, std::move(inputs), std::move(attrs), std::span(&type, 1)));
  return node->output();
}

Status ImportContext::Emit(std::string_view op, std::vector<Value*> inputs, Attrs attrs) {
  if (output_types_.empty()) return ModelError("the operator has no output");
  NN_ASSIGN(Node* const node, AddNode(op, std::move(inputs), std::move(attrs), output_types_));
  for (size_t i = 0; i < outputs_.size(); ++i) SetOutput(i, node->output(i));
  return {};
}

Status ImportContext::EmitActivated(fb::ActivationFunctionType activation, std::string_view op,
                                    std::vector<Value*> inputs, Attrs attrs) {
  NN_ASSIGN(const auto after, ActivationOf(activation));
  if (!after) return Emit(op, std::move(inputs), std::move(attrs));
  if (output_types_.empty()) return ModelError("the operator has no output");
  NN_ASSIGN(Node* const node,
            AddNode(op, std::move(inputs), std::move(attrs), std::span(&output_types_[0], 1)));
  return Emit(after->op, {node->output()}, after->attrs);
}

Result<Value*> ImportContext::FloatWeights(Value* weights) {
  if (!weights->type().quantized()) return weights;
  if (hybrids_ == nullptr)
    return UnsupportedError(
        "{} weights in a float computation are unsupported (hybrid kernel); nnconvert --dequantize "
        "converts them to floats",
        weights->type().ToString());
  NN_ASSIGN(Value* const floats, Add("dequantize", {weights}, DequantizeAttrs{}));
  ++*hybrids_;
  return floats;
}

const ImportRow* FindImport(fb::BuiltinOperator op) {
  static const auto table = RowsBy(&ImportRow::op, &Family::imports, Families());
  return FindRow(table, op);
}

namespace {

Result<ImportedModel> ImportMain(const NativeModel& native, bool hybrid_as_float) {
  const auto& model = static_cast<const Model&>(native);
  const fb::SubGraph* main = At(model.root->subgraphs(), 0);
  if (main == nullptr) return ModelError("the model has no subgraph");
  ImportState state{.hybrid_as_float = hybrid_as_float};
  NN_RETURN_IF_ERROR(Importer(model, *main, state).Run());
  return std::move(state.result);
}

}  // namespace

Result<ImportedModel> Import(const NativeModel& model) {
  return ImportMain(model, false);
}

Result<ImportedModel> ImportAsFloat(const NativeModel& model) {
  return ImportMain(model, true);
}

namespace {

// Operators that become those of their subgraphs (Importer).
bool CallsSubgraphs(fb::BuiltinOperator op) {
  return op == fb::BuiltinOperator::STABLEHLO_COMPOSITE ||
         op == fb::BuiltinOperator::STABLEHLO_CASE || op == fb::BuiltinOperator::IF;
}

}  // namespace

std::vector<OperatorSupport> Operators() {
  std::vector<OperatorSupport> out;
  for (const fb::BuiltinOperator op : fb::EnumValuesBuiltinOperator()) {
    if (op == fb::BuiltinOperator::CUSTOM) continue;  // each has a name of its own
    const std::string name = fb::EnumNameBuiltinOperator(op);
    out.push_back({name, CallsSubgraphs(op) || FindImport(op) != nullptr ||
                             Ops().FindEncoding("tflite", name, 1).first != nullptr});
  }
  return out;
}

}  // namespace nn::tflite
