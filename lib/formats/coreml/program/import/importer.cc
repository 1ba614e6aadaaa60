#include "formats/coreml/program/import/importer.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "coreml_model.pb.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/import/import.h"
#include "formats/coreml/import/interface.h"
#include "formats/coreml/program/family.h"
#include "ir/verify.h"
#include "ops/array/shape.h"
#include "passes/core/allowed_shapes.h"

namespace nn::coreml::program {
namespace {

const ImportRow* FindImport(std::string_view op) {
  static const auto table = RowsBy(&ImportRow::op, &Family::imports, Families());
  return FindRow(table, op);
}

// Operations that become no nodes.
constexpr std::string_view kConst = "const", kClassify = "classify";

// Zeros as the value of a state before the first run.
Result<Tensor> ZerosOf(const Type& type) {
  const auto dims = type.const_dims();
  if (!dims) return UnsupportedError("the size of a state must be known");
  return UniformTensor(type.dtype, *dims, 0);
}

}  // namespace

// Operations with blocks or states.
struct Importer::OwnRow {
  std::string_view op;
  Status (Importer::*import)(ImportContext&);
};

const Importer::OwnRow* Importer::FindOwn(std::string_view op) {
  static constexpr OwnRow kRows[] = {
      {"cond", &Importer::ImportControl},
      {"coreml_update_state", &Importer::ImportUpdateState},
      {"read_state", &Importer::ImportReadState},
      {"while_loop", &Importer::ImportControl},
      {"write_state", &Importer::ImportWriteState},
  };
  const auto* const row = std::ranges::find(kRows, op, &OwnRow::op);
  return row == std::end(kRows) ? nullptr : row;
}

bool Importer::IsImported(std::string_view op) {
  return op == kConst || op == kClassify || FindOwn(op) != nullptr || FindImport(op) != nullptr ||
         ImportContext::IsOneToOne("mil", op);
}

Importer::Importer(const Model& model, KnownInputs known)
    : model_(model),
      known_inputs_(std::move(known)),
      program_(model.proto->mlprogram()),
      description_(model.root().Sub("description")),
      values_(model) {}

Result<ImportedModel> Importer::Run() {
  NN_RETURN_IF_ERROR(ChooseFunction());
  ReadModelMetadata(graph_, model_.root().Sub("description").Sub("metadata"));
  size_t position = 0;
  for (const Fields& feature : description_.List("input"))
    NN_RETURN_IF_ERROR(ReadInput(feature, position++));
  state_position_ = position;
  for (const mil::NamedValueType& input : function_->inputs())
    if (input.type().has_statetype()) NN_RETURN_IF_ERROR(ReadState(input));
  NN_RETURN_IF_ERROR(ImportBlock(*block_, -1, {}));
  for (const Fields& feature : description_.List("output")) NN_RETURN_IF_ERROR(ReadOutput(feature));
  NN_RETURN_IF_ERROR(FinishStates());
  NN_RETURN_IF_ERROR(Verify(graph_));
  return ImportedModel{.graph = std::move(graph_),
                       .unsupported = std::move(unsupported_),
                       .states = std::move(ports_)};
}

Status Importer::ChooseFunction() {
  function_name_ = DefaultFunction(description_);
  if (description_.Has("functions")) {
    const auto function = DefaultFunctionIn(description_);
    if (!function)
      return ModelError("the default function {} is not described", Quote(function_name_));
    description_ = *function;
  }
  for (const auto& function : program_.functions())
    if (function.key() == function_name_) function_ = &function.value();
  if (function_ == nullptr)
    return ModelError("the program has no function {}", Quote(function_name_));
  const auto opset = OpsetNamed(function_->opset());
  if (!opset)
    return UnsupportedError("function {}: the operation set {} is unknown", Quote(function_name_),
                            Quote(function_->opset()));
  opset_ = *opset;
  for (const auto& s : function_->block_specializations())
    if (s.key() == function_->opset()) block_ = &s.value();
  if (block_ == nullptr)
    return ModelError("function {} has no block for its operation set {}", Quote(function_name_),
                      Quote(function_->opset()));
  return {};
}

// ---- The interface ------------------------------------------------------------------------------

// The type of an input in the graph: that of the feature, which may have axes of size 1 that the
// function's input does not have, or, if the feature has no shape, that of the function's input.
Result<Type> Importer::InputType(const Fields& feature, const Type& declared) const {
  const Fields array = feature.Sub("type").Sub("multiArrayType");
  const bool is_array = feature.Sub("type").OneOf("Type") == "multiArrayType";
  if (is_array && declared.ranked() && !array.Has("shape") &&
      array.OneOf("ShapeFlexibility").empty())
    return Type(ArrayDType(array.Enum("dataType")), *declared.dims);
  NN_ASSIGN(Type type, FeatureType(feature, model_.root().Sub("description").Sub("metadata")));
  const auto is_alike = [&] {
    const auto a = type.const_dims(), b = declared.const_dims();
    return a && b && CheckedElements(*a) == CheckedElements(*b);
  };
  if (declared.ranked() && declared.rank() != type.rank() && !is_alike())
    return ModelError("it is {}, but the function takes {}", type.ToString(), declared.ToString());
  return type;
}

Status Importer::ReadInput(const Fields& feature, size_t position) {
  const std::string name = feature.Text("name");
  const auto in_input = [&](const Error& error) {
    return tl::unexpected(error.In("input " + Quote(name)));
  };
  const auto input = std::ranges::find(function_->inputs(), name, &mil::NamedValueType::name);
  if (input == function_->inputs().end())
    return ModelError("input {} is no input of function {}", Quote(name), Quote(function_name_));
  const auto declared = TypeOf(input->type(), name);
  if (!declared) return in_input(declared.error());
  auto type = InputType(feature, *declared);
  if (!type) return in_input(type.error());
  SetAllowedShapes(graph_, name, FeatureShapes(feature, *type));
  NN_ASSIGN(Value* const value, known_inputs_.AddInput(graph_, position, name, *type));
  ReadFeatureMetadata(graph_, feature);
  NN_ASSIGN(Value * converted, ConvertTo(graph_, value, declared->dtype));
  if (declared->ranked() && declared->rank() != type->rank()) {
    NN_ASSIGN(const Node* const node,
              graph_.Append("reshape", {converted}, ReshapeAttrs{*declared->dims, false}));
    converted = node->output();
  }
  Declare(input->name(), converted);
  return {};
}

Status Importer::ReadState(const mil::NamedValueType& input) {
  auto type = TypeOf(input.type().statetype().wrappedtype(), input.name());
  if (!type) return tl::unexpected(type.error().In("state " + Quote(input.name())));
  states_[input.name()].type = *std::move(type);
  Named named;
  named.state = input.name();
  Declare(input.name(), std::move(named));
  return {};
}

Status Importer::ReadClasses(const mil::Operation& classify) {
  NN_ASSIGN(const Arguments arguments, ArgumentsOf(classify));
  const ImportContext ctx(classify, nullptr, 0, graph_, arguments, known_);
  NN_ASSIGN(const std::optional<Tensor> labels, ctx.Contents("classes"));
  if (!labels) return ModelError("input classes of {} is missing", Quote(coreml::NameOf(classify)));
  SetClassLabels(graph_, *labels);
  graph_.metadata[std::string(kLabelKey)] = description_.Text("predictedFeatureName");
  return {};
}

Status Importer::ReadOutput(const Fields& feature) {
  const std::string name = feature.Text("name");
  std::string_view from = name;
  if (classify_ != nullptr) {
    if (name == description_.Text("predictedFeatureName")) return {};
    if (name == description_.Text("predictedProbabilitiesName")) {
      NN_RETURN_IF_ERROR(ReadClasses(*classify_));
      graph_.metadata[std::string(kScoresKey)] = name;
      for (const auto& input : classify_->inputs())
        if (input.key() == "probabilities" && input.value().arguments_size() == 1)
          from = input.value().arguments(0).name();
    }
  }
  const auto it = scope_.find(from);
  if (it == scope_.end()) return ModelError("output {} is not defined", Quote(from));
  Value* const result = ValueOf(graph_, *it->second);
  if (result == nullptr) return UnsupportedError("output {} is not a tensor", Quote(from));
  ReadFeatureMetadata(graph_, feature);
  auto value = OutputOf(graph_, result, feature, false);
  if (!value) return tl::unexpected(value.error().In("output " + Quote(name)));
  graph_.AddOutput(name, *value);
  return {};
}

// ---- Blocks -------------------------------------------------------------------------------------

void Importer::Declare(std::string_view name, Named named) {
  if (named.name.empty()) named.name = name;
  named_.push_back(std::move(named));
  scope_[name] = &named_.back();
}

void Importer::Declare(std::string_view name, Value* value) {
  if (!value->is_input() && value->name().empty()) value->set_name(std::string(name));
  Named named;
  named.value = value;
  Declare(name, std::move(named));
}

Result<Arguments> Importer::ArgumentsOf(const mil::Operation& operation) {
  Arguments out;
  const auto constant = [&](std::string_view name, const mil::Value& value) -> Result<Named*> {
    auto tensor = values_.Read(value);
    if (!tensor) return tl::unexpected(tensor.error().In("input " + std::string(name)));
    Named named;
    named.constant = *std::move(tensor);
    named.name = fmt::format("{}.{}", coreml::NameOf(operation), name);
    named_.push_back(std::move(named));
    return &named_.back();
  };
  for (const auto& input : operation.inputs()) {
    std::vector<Named*> list;
    for (const auto& binding : input.value().arguments()) {
      if (binding.has_value()) {
        NN_ASSIGN(list.emplace_back(), constant(input.key(), binding.value()));
        continue;
      }
      const auto it = scope_.find(binding.name());
      if (it == scope_.end())
        return ModelError("input {}: {} is not defined", input.key(), Quote(binding.name()));
      list.push_back(it->second);
    }
    out.emplace_back(input.key(), std::move(list));
  }
  const Definition* const definition = Find(operation.type(), opset_);
  if (definition == nullptr || definition->Find(Label::kStoredAsAttributes) == nullptr) return out;
  for (const mil::NamedValue& attribute : operation.attributes()) {
    if (definition->Input(attribute.key()) == nullptr) continue;
    NN_ASSIGN(Named* const named, constant(attribute.key(), attribute.value()));
    out.emplace_back(attribute.key(), std::vector<Named*>{named});
  }
  return out;
}

Status Importer::ImportBlock(const mil::Block& block, int64_t index, const std::string& place) {
  for (int i = 0; i < block.operations_size(); ++i) {
    const mil::Operation& operation = block.operations(i);
    const SharedString where =
        place.empty() ? SharedString() : SharedString(fmt::format("{} in {}", i, place));
    if (auto done = ImportOperation(operation, index < 0 ? i : index, where); !done)
      return tl::unexpected(done.error().In(fmt::format("operation {} ({} {})", i, operation.type(),
                                                        Quote(coreml::NameOf(operation)))));
  }
  return {};
}

Status Importer::ImportConst(const mil::Operation& operation) {
  const mil::Value* const value = FindAttribute(operation, "val");
  if (value == nullptr || operation.outputs_size() != 1) return ModelError("a const has no value");
  NN_ASSIGN(Tensor tensor, values_.Read(*value));
  Named named;
  named.constant = std::move(tensor);
  Declare(operation.outputs(0).name(), std::move(named));
  return {};
}

Status Importer::CheckResult(const mil::NamedValueType& output, Value* value) const {
  const auto declared = TypeOf(output.type(), output.name());
  if (!declared || !declared->ranked()) return {};
  const Type& type = value->type();
  const auto differs = [&] {
    if (type.dtype != DType::kUnknown && type.dtype != declared->dtype) return true;
    if (!type.ranked()) return false;
    if (type.rank() != declared->rank()) return true;
    for (int i = 0; i < type.rank(); ++i)
      if (type.dim(i).is_const() && declared->dim(i).is_const() &&
          !(type.dim(i) == declared->dim(i)))
        return true;
    return false;
  };
  if (!differs()) return {};
  return ModelError("output {} is declared as {}, but is {}", Quote(output.name()),
                    declared->ToString(), type.ToString());
}

Status Importer::ImportOperation(const mil::Operation& operation, int64_t index,
                                 SharedString place) {
  if (operation.type() == kConst) return ImportConst(operation);
  if (operation.type() == kClassify) {
    classify_ = &operation;
    return {};
  }
  const int64_t last_id = LastId(graph_);
  NN_ASSIGN(Arguments arguments, ArgumentsOf(operation));
  const auto is_opaque = [&](const Named* named) { return opaque_.contains(named->value); };
  const bool on_opaque = std::ranges::any_of(
      arguments, [&](const auto& a) { return std::ranges::any_of(a.second, is_opaque); });
  const Definition* const definition = Find(operation.type(), opset_);
  ImportContext ctx(operation, definition, index, graph_, std::move(arguments), known_);
  ctx.set_place(std::move(place));
  if (on_opaque && IsImported(operation.type())) return MakeOpaque(ctx, "");
  if (definition == nullptr)
    return MakeOpaque(
        ctx, DefinitionsOf(operation.type()).empty()
                 ? fmt::format("there is no operation {}", operation.type())
                 : fmt::format("{} has no operation {}", NameOf(opset_), operation.type()));
  auto done = ImportOperator(ctx);
  if (!done && done.error().code() == ErrorCode::kUnsupported)
    return MakeOpaque(ctx, done.error().message());
  if (!done) return done;
  for (int i = 0; i < operation.outputs_size(); ++i) {
    Value* const value = ctx.outputs()[static_cast<size_t>(i)];
    const mil::NamedValueType& output = operation.outputs(i);
    if (value == nullptr)
      return ModelError("output {} does not exist; the operation has fewer outputs",
                        Quote(output.name()));
    NN_RETURN_IF_ERROR(CheckResult(output, value));
    Declare(output.name(), value);
  }
  if (loops_ > 0 || depth_ > 0) {
    NN_RETURN_IF_ERROR(unrolled_.TakeConstants(graph_, last_id));
    FoldKnown(graph_, known_, ctx.outputs(), last_id);
  }
  return {};
}

Status Importer::ImportOperator(ImportContext& ctx) {
  const std::string& op = ctx.kind();
  if (const OwnRow* const row = FindOwn(op)) return (this->*row->import)(ctx);
  if (const ImportRow* const row = FindImport(op)) return row->import(ctx);
  NN_ASSIGN(const bool done, ctx.EmitOneToOne("mil", op));
  if (done) return {};
  return UnsupportedError("operation {} is unsupported", op);
}

Status Importer::MakeOpaque(ImportContext& ctx, std::string reason) {
  const auto& outputs = ctx.operation().outputs();
  NN_ASSIGN(const Node* const opaque,
            ctx.EmitOpaque(static_cast<size_t>(outputs.size()), std::move(reason), unsupported_));
  for (int i = 0; i < outputs.size(); ++i) {
    Value* const value = opaque->output(static_cast<size_t>(i));
    opaque_.insert(value);
    Declare(outputs[i].name(), value);
  }
  return {};
}

// ---- States -------------------------------------------------------------------------------------

Result<Importer::State*> Importer::StateOf(const ImportContext& ctx, std::string_view input) {
  const Named* const named = ctx.Find(input);
  if (named == nullptr) return ModelError("input {} is missing", input);
  const auto it = states_.find(named->state);
  if (named->state.empty() || it == states_.end())
    return ModelError("input {} is not a state", input);
  return &it->second;
}

Result<Value*> Importer::ReadOf(State& state, const std::string& name) {
  if (state.value != nullptr) return state.value;
  if (state.start == nullptr && known_inputs_.states != StatePorts::kNone) {
    state.input = name + "_in";
    NN_ASSIGN(state.start,
              known_inputs_.AddInput(graph_, state_position_++, state.input, state.type));
  } else if (state.start == nullptr) {
    NN_ASSIGN(Tensor zeros, ZerosOf(state.type));
    state.start = graph_.AddConstant(std::move(zeros), name);
  }
  return state.value = state.start;
}

Status Importer::ImportReadState(ImportContext& ctx) {
  NN_ASSIGN(State* const state, StateOf(ctx, "input"));
  NN_ASSIGN(Value* const value, ReadOf(*state, ctx.Find("input")->state));
  ctx.SetOutput(0, value);
  return {};
}

Status Importer::ImportWriteState(ImportContext& ctx) {
  return WriteState(ctx, "input", "data");
}

Status Importer::ImportUpdateState(ImportContext& ctx) {
  return WriteState(ctx, "state", "value");
}

Status Importer::WriteState(ImportContext& ctx, std::string_view state, std::string_view value) {
  NN_ASSIGN(State* const to, StateOf(ctx, state));
  NN_ASSIGN(to->value, ctx.In(value));
  ctx.SetOutput(0, to->value);
  return {};
}

std::vector<Value*> Importer::StateValues() const {
  std::vector<Value*> values;
  for (const auto& [name, state] : states_) values.push_back(state.value);
  return values;
}

// A state that is written before it is read has no input: no run depends on another.
Status Importer::FinishStates() {
  for (const mil::NamedValueType& input : function_->inputs()) {
    const auto it = states_.find(input.name());
    if (it == states_.end() || it->second.input.empty()) continue;
    const auto& [name, state] = *it;
    const std::string output = name + "_out";
    graph_.AddOutput(output, state.value);
    ports_.push_back({name, state.input, output, std::nullopt});
  }
  return {};
}

std::vector<OperatorSupport> Operators() {
  std::vector<OperatorSupport> out;
  for (const Definition& d : Definitions())
    if (d.in_files() && (out.empty() || out.back().name != d.op))
      out.push_back({std::string(d.op), Importer::IsImported(d.op)});
  return out;
}

}  // namespace nn::coreml::program
