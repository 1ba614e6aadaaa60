// Type inference through the whole model, including subgraphs and function calls.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/text/text.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/infer/facts.h"
#include "formats/onnx/infer/infer.h"
#include "formats/onnx/infer/infer_schema.h"
#include "formats/onnx/infer/window.h"
#include "ir/op_def.h"
#include "ops/array/opaque.h"

namespace nn::onnx {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<pb::NodeProto>;

// Limits on nested calls and subgraphs, and on the total number of function nodes, counted for each
// call.
constexpr int kMaxDepth = 64;
constexpr int64_t kMaxCalledNodes = int64_t{1} << 18;
// Limit on nodes of trial passes, whose number doubles with each nested loop.
constexpr int64_t kMaxTrialNodes = int64_t{1} << 18;

using Known = KnownFacts;

std::string PathOf(const TypeScope& scope, int64_t node) {
  return fmt::format("{}.node[{}]", scope.path, node);
}

std::string TitleOf(const pb::NodeProto& node) {
  return node.name().empty() ? Escape(node.op_type())
                             : fmt::format("{} {}", Escape(node.op_type()), Quote(node.name()));
}

class ModelInference {
 public:
  ModelInference(const Model& model, const InputTypes& inputs, bool declarations)
      : model_(model), inputs_(inputs), declarations_(declarations) {
    for (const pb::FunctionProto& f : model.proto.functions())
      functions_[{NormalDomain(f.domain()), f.name(), f.overload()}] = &f;
  }

  ModelTypes Run() {
    TypeScope main;
    main.path = "graph";
    graphs_.push_back({&model_.proto.graph(), {}});
    CheckGraph(model_.proto.graph(), {}, main);
    return {std::move(defects_), std::move(graphs_)};
  }

 private:
  // ---- Graphs -----------------------------------------------------------------------------------

  // `inputs` are the known inputs of the graph, regardless of their declarations.
  void CheckGraph(const pb::GraphProto& g, const std::vector<Known>& inputs, TypeScope& scope) {
    size_t names = 0;
    for (const int count : {g.input_size(), g.initializer_size(), g.node_size()})
      names += static_cast<size_t>(count);
    scope.values.reserve(names);
    for (const auto& info : g.value_info()) Declare(info, scope);
    for (const auto& info : g.output()) Declare(info, scope);
    for (int i = 0; i < g.input_size(); ++i) {
      const pb::ValueInfoProto& info = g.input(i);
      Known known{Read(info.type())};
      if (static_cast<size_t>(i) < inputs.size()) {
        const Known& given = inputs[static_cast<size_t>(i)];
        if (const Agreement agreement = Compare(known.type, given.type);
            agreement != Agreement::kAgree)
          Report(agreement, fmt::format("{}.input[{}]", scope.path, i), -1, scope,
                 fmt::format("{} is declared as {}, but gets {}", Quote(info.name()),
                             known.type.ToString(), given.type.ToString()));
        known.type = Refine(known.type, given.type);
        if (given.constant) known.constant = ShapedAs(*given.constant, known.type);
      }
      if (scope.outer == nullptr)
        if (const auto it = inputs_.find(info.name()); it != inputs_.end())
          known.type = ValueType::Tensor(it->second);
      scope.values[info.name()] = std::move(known);
    }
    for (int i = 0; i < g.initializer_size(); ++i) AddInitializer(g.initializer(i), i, scope);
    for (int i = 0; i < g.sparse_initializer_size(); ++i)
      AddSparseInitializer(g.sparse_initializer(i), i, scope);
    CheckNodes(g.node(), scope);
    if (scope.function == nullptr && trials_ == 0) List(g, scope);
  }

  // Lists the values of a graph. The body of a loop may be inferred again, with more specific
  // types.
  void List(const pb::GraphProto& g, const TypeScope& scope) {
    auto types = std::ranges::find(graphs_, &g, &GraphTypes::graph);
    if (types == graphs_.end()) types = graphs_.insert(types, {&g, {}});
    std::unordered_set<std::string_view> inputs;
    for (const auto& info : g.input()) inputs.insert(info.name());
    std::unordered_set<std::string_view> constants;
    for (const auto& t : g.initializer()) constants.insert(t.name());
    for (const auto& t : g.sparse_initializer()) constants.insert(t.values().name());
    types->values.clear();
    types->values.reserve(scope.values.size());
    for (const auto& [name, known] : scope.values) {
      const auto role = inputs.contains(name)      ? ValueEntry::Role::kInput
                        : constants.contains(name) ? ValueEntry::Role::kConstant
                                                   : ValueEntry::Role::kResult;
      types->values.push_back({std::string(name), scope.name, role, known.type});
    }
  }

  // Each declared dimension without a name is distinct.
  ValueType Read(const pb::TypeProto& type) {
    return ReadValueType(type, fmt::format("?{}", ++symbols_));
  }

  void Declare(const pb::ValueInfoProto& info, TypeScope& scope) const {
    if (declarations_ && info.has_type()) scope.declared[info.name()] = &info.type();
  }

  void AddInitializer(const pb::TensorProto& t, int i, TypeScope& scope) {
    const std::string_view name = t.name();
    Known known{ValueType::Tensor(TypeOf(t))};
    if (IsSmall(t)) {
      // If data and shape do not match, the type is unknown.
      if (ReadTensor(t, model_))
        known.initializer = &t;
      else
        known.type.tensor.dims.reset();
    }
    AddKnown(std::move(known), name, "initializer", i, scope);
  }

  void AddSparseInitializer(const pb::SparseTensorProto& t, int i, TypeScope& scope) {
    Known known;
    known.type.kind = ValueType::Kind::kSparse;
    known.type.tensor = TypeOf(t);
    AddKnown(std::move(known), t.values().name(), "sparse_initializer", i, scope);
  }

  // An initializer may be the default of an input; then the type of the input applies.
  void AddKnown(Known known, std::string_view name, std::string_view field, int i,
                TypeScope& scope) {
    const auto input = scope.values.find(name);
    if (input != scope.values.end()) {
      input->second = {Refine(known.type, input->second.type), known.initializer};
      return;
    }
    const auto declared = scope.declared.find(name);
    if (declared != scope.declared.end()) {
      const ValueType type = Read(*declared->second);
      if (const Agreement agreement = Compare(type, known.type); agreement != Agreement::kAgree)
        Report(agreement, fmt::format("{}.{}[{}]", scope.path, field, i), -1, scope,
               fmt::format("{} is declared as {}, but is {}", Quote(name), type.ToString(),
                           known.type.ToString()));
    }
    scope.values[name] = std::move(known);
  }

  // ---- Nodes ------------------------------------------------------------------------------------

  void CheckNodes(const Nodes& nodes, TypeScope& scope) {
    for (int i = 0; i < nodes.size(); ++i) {
      if (scope.function != nullptr && ++called_nodes_ > kMaxCalledNodes) return;
      if (trials_ > 0 && ++trial_nodes_ > kMaxTrialNodes) return;
      CheckNode(nodes[i], i, scope);
      // Nothing is known by its place in the graph. Ids distinguish unknown dimensions.
      if (depth_ == 0) graph_.Clear();
    }
  }

  const Known* Find(std::string_view name, const TypeScope& scope) const {
    for (const TypeScope* s = &scope; s != nullptr; s = s->outer)
      if (const auto it = s->values.find(name); it != s->values.end()) return &it->second;
    return nullptr;
  }

  void CheckNode(const pb::NodeProto& node, int index, TypeScope& scope) {
    std::vector<Known> inputs;
    for (const std::string& name : node.input()) {
      const Known* known = name.empty() ? nullptr : Find(name, scope);
      inputs.push_back(known == nullptr ? Known() : *known);
    }
    std::vector<Known> outputs(static_cast<size_t>(node.output_size()));
    const size_t defects = defects_.size();
    const Status status = InferNode(node, index, inputs, outputs, scope);
    // Errors inside a call are reported there; its results are then unknown.
    const bool sound = defects_.size() == defects;
    Add(status, node, index, scope);
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      Known& known = outputs[static_cast<size_t>(i)];
      if (!sound) known = Known();
      if (!known.type.is_known() ||
          (known.type.is_tensor() && known.type.tensor.dtype == DType::kUnknown))
        known.type = Refine(known.type, TypeBySchema(SchemaOf(node, scope), i, TypesOf(inputs)));
      Define(std::move(known), node, i, index, scope);
    }
  }

  // Names a result and refines its type by the declaration; if they differ, the inferred type wins.
  void Define(Known known, const pb::NodeProto& node, int output, int64_t index, TypeScope& scope) {
    const std::string& name = node.output(output);
    if (const auto it = scope.declared.find(name); it != scope.declared.end()) {
      const ValueType type = Read(*it->second);
      const Agreement agreement = Compare(type, known.type);
      if (agreement == Agreement::kAgree)
        known.type = Refine(known.type, type);
      else
        Report(agreement, fmt::format("{}.output[{}]", PathOf(scope, index), output), index, scope,
               fmt::format("{} is declared as {}, but {} returns {}", Quote(name), type.ToString(),
                           TitleOf(node), known.type.ToString()));
    }
    scope.values.insert_or_assign(name, std::move(known));
  }

  // The contents as a constant in graph_; null if they are not known.
  Value* ConstantOf(const Known& known) {
    Value* v = nullptr;
    if (known.constant) {
      v = graph_.AddConstant(*known.constant);
    } else if (known.initializer != nullptr) {
      if (auto tensor = ReadTensor(*known.initializer, model_))
        v = graph_.AddConstant(*std::move(tensor));
    }
    return v;
  }

  // The operands of a node in graph_; null for absent ones.
  std::vector<Value*> AddOperands(const pb::NodeProto& node, const std::vector<Known>& inputs) {
    static const OpDef* const opaque = Ops().Find("opaque");
    static const Attrs attrs = OpaqueAttrs();
    Node* const computing = graph_.AddNode(*opaque, {}, attrs, inputs.size());
    std::vector<Value*> values;
    values.reserve(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Known& in = inputs[i];
      Value* const constant = ConstantOf(in);
      if (constant != nullptr || node.input(static_cast<int>(i)).empty()) {
        values.push_back(constant);
        continue;
      }
      values.push_back(in.computed ? computing->output(i) : graph_.AddInput("", in.type.tensor));
      values[i]->set_type(in.type.tensor);
      if (in.elements) values[i]->set_elements(*in.elements);
    }
    return values;
  }

  int64_t Opset(std::string_view domain, const pb::FunctionProto* function) {
    const auto [it, added] = opsets_.try_emplace({function, domain}, 0);
    if (added)
      it->second = function == nullptr ? OpsetVersion(model_.proto, domain)
                                       : OpsetVersion(function->opset_import(), domain);
    return it->second;
  }

  // Null for calls and unknown operators.
  const Schema* SchemaOf(const pb::NodeProto& node, const TypeScope& scope) {
    const std::string_view domain = NormalDomain(node.domain());
    if (functions_.contains({domain, node.op_type(), node.overload()})) return nullptr;
    return FindSchema(domain, node.op_type(), Opset(domain, scope.function));
  }

  Status InferNode(const pb::NodeProto& node, int index, const std::vector<Known>& inputs,
                   std::vector<Known>& outputs, const TypeScope& scope) {
    const std::string_view domain = NormalDomain(node.domain());
    const int64_t opset = Opset(domain, scope.function);
    const bool tensors = std::ranges::all_of(
        inputs, [](const Known& in) { return !in.type.is_known() || in.type.is_tensor(); });
    ImportContext context(model_, node, opset, index, graph_, AddOperands(node, inputs));
    context.set_bindings(scope.attrs);
    const auto function = functions_.find({domain, node.op_type(), node.overload()});
    if (function != functions_.end())
      return InferCall(context, *function->second, index, inputs, outputs, scope);
    if (opset == 0) return {};
    if (const InferFn infer = Inferences().Find(domain, node.op_type(), opset))
      return InferByTable(context, infer, index, inputs, outputs, scope, tensors);
    if (!tensors) return {};
    Status status = InferByImport(context, domain, outputs);
    if (const Schema* schema = FindSchema(domain, node.op_type(), opset); !status && schema)
      InferShapes(*schema, context, inputs, outputs, scope);
    return status;
  }

  // With an element type that the operator does not accept, the shapes still follow.
  void InferShapes(const Schema& schema, const ImportContext& context,
                   const std::vector<Known>& inputs, std::vector<Known>& outputs,
                   const TypeScope& scope) {
    std::vector<Known> accepted = inputs;
    const std::set<std::string_view> replaced = AcceptTypes(schema, accepted);
    if (replaced.empty()) return;
    const pb::NodeProto& node = context.node();
    ImportContext other(model_, node, context.opset(), 0, graph_, AddOperands(node, accepted));
    other.set_bindings(scope.attrs);
    if (!InferByImport(other, NormalDomain(node.domain()), outputs)) return;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const SchemaParameter* p = ParameterAt(schema.outputs, static_cast<int>(i));
      outputs[i] = {outputs[i].type};
      if (p == nullptr || replaced.contains(p->type))
        outputs[i].type.tensor.dtype = DType::kUnknown;
    }
  }

  static Status InferByImport(ImportContext& context, std::string_view domain,
                              std::vector<Known>& outputs) {
    NN_RETURN_IF_ERROR(CheckPads(context));
    NN_RETURN_IF_ERROR(CheckSizes(context));
    NN_RETURN_IF_ERROR(ImportOp(context, domain));
    for (size_t i = 0; i < outputs.size(); ++i)
      if (Value* v = context.outputs()[i]; v != nullptr) outputs[i] = FactsOf(v);
    return {};
  }

  Status InferByTable(ImportContext& context, InferFn infer, int64_t index,
                      const std::vector<Known>& inputs, std::vector<Known>& outputs,
                      const TypeScope& scope, bool tensors) {
    const TypeContext::SubGraph sub_graph =
        [&](std::string_view name, const std::vector<Known>& given, TypeContext::Pass pass) {
          return pass == TypeContext::Pass::kTrial
                     ? TrySubGraph(context.node(), name, given, index, scope)
                     : InferSubGraph(context.node(), name, given, index, scope);
        };
    TypeContext types_context(context, TypesOf(inputs), sub_graph, symbols_);
    NN_RETURN_IF_ERROR(infer(types_context));
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].type = types_context.outputs()[i];
      const auto& constant = types_context.constants()[i];
      if (constant) outputs[i].constant = Shared<Tensor>(*constant);
    }
    return tensors ? InferFurther(context, outputs) : Status();
  }

  // What the import refuses as contradictory is a defect, too. The table has the types; constants
  // are those of the import.
  static Status InferFurther(ImportContext& context, std::vector<Known>& outputs) {
    NN_RETURN_IF_ERROR(ImportOp(context, NormalDomain(context.node().domain())));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Value* const v = context.outputs()[i];
      if (v == nullptr || !v->is_constant() || outputs[i].constant || v->type().quantized())
        continue;
      if (Compare(outputs[i].type, ValueType::Tensor(v->type())) == Agreement::kAgree)
        outputs[i].constant = Shared<Tensor>(v->constant());
    }
    return {};
  }

  // ---- Subgraphs and functions -----------------------------------------------------------------

  // Without defects, as far as there is time for it.
  std::optional<std::vector<Known>> TrySubGraph(const pb::NodeProto& node, std::string_view name,
                                                const std::vector<Known>& given, int64_t index,
                                                const TypeScope& scope) {
    if (trial_nodes_ > kMaxTrialNodes) return std::nullopt;
    const size_t defects = defects_.size();
    ++trials_;
    auto made = InferSubGraph(node, name, given, index, scope);
    --trials_;
    defects_.resize(defects);
    return trial_nodes_ > kMaxTrialNodes ? std::nullopt : std::move(made);
  }

  std::optional<std::vector<Known>> InferSubGraph(const pb::NodeProto& node, std::string_view name,
                                                  const std::vector<Known>& given, int64_t index,
                                                  const TypeScope& scope) {
    for (int i = 0; i < node.attribute_size(); ++i) {
      const pb::AttributeProto& a = node.attribute(i);
      if (a.name() != name || !a.has_g() || depth_ == kMaxDepth) continue;
      TypeScope inner;
      inner.outer = &scope;
      inner.function = scope.function;
      inner.attrs = scope.attrs;
      inner.call = scope.call;
      inner.call_index = scope.call_index;
      inner.path = fmt::format("{}.attribute[{}].g", PathOf(scope, index), i);
      inner.name = SubgraphName(scope.name, node, index, a.name());
      if (!TakesInputs(a.g(), given.size())) {
        Add(TypeDefect::Kind::kInference, PathOf(scope, index), index,
            fmt::format("{}: {} has {} inputs, but gets {}", TitleOf(node), name,
                        a.g().input_size(), given.size()),
            scope);
        return std::nullopt;
      }
      ++depth_;
      CheckGraph(a.g(), given, inner);
      --depth_;
      std::vector<Known> outputs;
      for (const auto& info : a.g().output()) {
        const Known* known = Find(info.name(), inner);
        outputs.push_back(known == nullptr ? Known() : *known);
        Known& made = outputs.back();
        if (made.initializer == nullptr || made.constant) continue;
        if (auto tensor = ReadTensor(*made.initializer, model_))
          made.constant = Shared<Tensor>(*std::move(tensor));
      }
      return outputs;
    }
    return std::nullopt;
  }

  // The attributes of a call.
  static AttrBindings Bind(const pb::FunctionProto& f, const ImportContext& call) {
    AttrBindings attrs;
    for (const std::string& name : f.attribute()) attrs[name] = nullptr;
    for (const pb::AttributeProto& a : f.attribute_proto()) attrs[a.name()] = &a;
    for (const pb::AttributeProto& a : call.node().attribute())
      if (const auto it = attrs.find(a.name()); it != attrs.end())
        if (const pb::AttributeProto* given = call.Resolve(a)) it->second = given;
    return attrs;
  }

  Status InferCall(ImportContext& context, const pb::FunctionProto& f, int index,
                   const std::vector<Known>& inputs, std::vector<Known>& outputs,
                   const TypeScope& caller) {
    if (depth_ == kMaxDepth || std::find(calls_.begin(), calls_.end(), &f) != calls_.end())
      return {};
    const AttrBindings attrs = Bind(f, context);
    TypeScope body;
    body.function = &f;
    body.attrs = &attrs;
    body.path = fmt::format("function {}", Quote(f.name()));
    body.call = caller.call ? caller.call : PathOf(caller, index);
    body.call_index = caller.call ? caller.call_index : index;
    for (const auto& info : f.value_info()) Declare(info, body);
    for (int i = 0; i < f.input_size(); ++i)
      body.values[f.input(i)] =
          static_cast<size_t>(i) < inputs.size() ? inputs[static_cast<size_t>(i)] : Known();
    calls_.push_back(&f);
    ++depth_;
    CheckNodes(f.node(), body);
    --depth_;
    calls_.pop_back();
    for (size_t i = 0; i < outputs.size() && i < static_cast<size_t>(f.output_size()); ++i)
      if (const Known* known = Find(f.output(static_cast<int>(i)), body)) outputs[i] = *known;
    return {};
  }

  // ---- Defects ----------------------------------------------------------------------------------

  void Report(Agreement disagreement, std::string path, int64_t index, const TypeScope& scope,
              std::string message) {
    Add(disagreement == Agreement::kShape ? TypeDefect::Kind::kShape
                                          : TypeDefect::Kind::kElementType,
        std::move(path), index, std::move(message), scope);
  }

  // Reports an error in the types of a node. Unsupported or too large contents are not defects.
  void Add(const Status& status, const pb::NodeProto& node, int index, const TypeScope& scope) {
    if (status || status.error().code() != ErrorCode::kModel) return;
    Add(TypeDefect::Kind::kInference, PathOf(scope, index), index,
        fmt::format("{}: {}", TitleOf(node), status.error().message()), scope);
  }

  void Add(TypeDefect::Kind kind, std::string path, int64_t index, std::string message,
           const TypeScope& scope) {
    if (scope.call)
      defects_.push_back({TypeDefect::Kind::kInference, *scope.call, scope.call_index,
                          fmt::format("in {}: {}", scope.path, message)});
    else
      defects_.push_back({kind, std::move(path), index, std::move(message)});
  }

  const Model& model_;
  const InputTypes& inputs_;
  const bool declarations_;  // of values other than inputs count
  std::vector<GraphTypes> graphs_;
  // The node that is being checked, with its operands and the nodes inside it, as imported.
  Graph graph_;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>,
           const pb::FunctionProto*>
      functions_;
  std::vector<const pb::FunctionProto*> calls_;  // active calls, outermost first
  std::map<std::pair<const pb::FunctionProto*, std::string_view>, int64_t> opsets_;
  std::vector<TypeDefect> defects_;
  int depth_ = 0;
  int64_t called_nodes_ = 0;
  int trials_ = 0;  // active trial passes
  int64_t trial_nodes_ = 0;
  int64_t symbols_ = 0;
};

}  // namespace

ModelTypes InferModelTypes(const Model& model, const InputTypes& inputs) {
  return model.proto.has_graph() ? ModelInference(model, inputs, true).Run() : ModelTypes();
}

ModelTypes InferUndeclaredTypes(const Model& model) {
  const InputTypes as_declared;
  return model.proto.has_graph() ? ModelInference(model, as_declared, false).Run() : ModelTypes();
}

}  // namespace nn::onnx
