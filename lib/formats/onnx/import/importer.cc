#include "formats/onnx/import/importer.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/text/text.h"
#include "formats/onnx/edit/output_names.h"
#include "formats/onnx/file/metadata.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/import/declared_sizes.h"
#include "formats/onnx/import/dynamic_lstm.h"
#include "ir/verify.h"
#include "ops/array/opaque.h"
#include "ops/array/sequence.h"

namespace nn::onnx {
namespace {

// Limit of ONNX: nodes of all inlined functions.
constexpr int64_t kMaxInlinedNodes = int64_t{1} << 18;

// Adds the names that a subgraph takes from the scopes around it.
void AddCaptured(const pb::GraphProto& g, std::set<std::string_view>& out) {
  std::unordered_set<std::string_view> own;
  for (const auto& input : g.input()) own.insert(input.name());
  for (const auto& t : g.initializer()) own.insert(t.name());
  for (const auto& t : g.sparse_initializer()) own.insert(t.values().name());
  for (const auto& node : g.node()) own.insert(node.output().begin(), node.output().end());
  std::set<std::string_view> used;
  for (const auto& node : g.node()) {
    used.insert(node.input().begin(), node.input().end());
    for (const auto& a : node.attribute())
      if (a.has_g()) AddCaptured(a.g(), used);
  }
  for (const auto& output : g.output()) used.insert(output.name());
  for (const std::string_view name : used)
    if (!name.empty() && !own.contains(name)) out.insert(name);
}

// Whether a node needs other names than its inputs.
bool NeedsOthers(const pb::NodeProto& node) {
  return IsControlFlow(NormalDomain(node.domain()), node.op_type()) ||
         std::ranges::any_of(node.attribute(), [](const auto& a) { return a.has_g(); });
}

}  // namespace

std::vector<std::string_view> NeededBy(const pb::NodeProto& node) {
  std::vector<std::string_view> names(node.input().begin(), node.input().end());
  if (node.op_type() == "Gradient" && NeedsOthers(node)) {
    for (const auto& a : node.attribute()) {
      names.insert(names.end(), a.strings().begin(), a.strings().end());
      if (a.name() == "y") names.emplace_back(a.s());
    }
  }
  std::set<std::string_view> captured;
  for (const auto& a : node.attribute())
    if (a.has_g()) AddCaptured(a.g(), captured);
  names.insert(names.end(), captured.begin(), captured.end());
  return names;
}

namespace {

// Whether no node needs the result of itself or a later one.
bool IsSorted(const Nodes& nodes, const NameMap<int>& producer) {
  for (int i = 0; i < nodes.size(); ++i) {
    const auto is_earlier = [&](std::string_view name) {
      const auto it = producer.find(name);
      return it == producer.end() || it->second < i;
    };
    const pb::NodeProto& node = nodes[i];
    if (!(NeedsOthers(node) ? std::ranges::all_of(NeededBy(node), is_earlier)
                            : std::ranges::all_of(node.input(), is_earlier)))
      return false;
  }
  return true;
}

}  // namespace

Result<std::vector<int>> SortedOrder(const Nodes& nodes) {
  NameMap<int> producer;
  producer.reserve(static_cast<size_t>(nodes.size()));
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string& name : nodes[i].output())
      if (!name.empty()) producer[name] = i;
  if (IsSorted(nodes, producer)) {
    std::vector<int> order(static_cast<size_t>(nodes.size()));
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  struct Open {
    int node;
    std::vector<std::string_view> needed;
    size_t next = 0;
  };
  std::vector<int> order;
  std::vector<uint8_t> state(static_cast<size_t>(nodes.size()), 0);  // 1: open, 2: done
  std::vector<Open> stack;
  const auto open = [&](int node) {
    state[static_cast<size_t>(node)] = 1;
    stack.push_back({node, NeededBy(nodes[node])});
  };
  for (int root = 0; root < nodes.size(); ++root) {
    if (state[static_cast<size_t>(root)] != 0) continue;
    open(root);
    while (!stack.empty()) {
      Open& top = stack.back();
      if (top.next == top.needed.size()) {
        state[static_cast<size_t>(top.node)] = 2;
        order.push_back(top.node);
        stack.pop_back();
        continue;
      }
      const auto it = producer.find(top.needed[top.next++]);
      if (it == producer.end() || state[static_cast<size_t>(it->second)] == 2) continue;
      if (state[static_cast<size_t>(it->second)] == 1)
        return ModelError("the graph has a cycle through value {}", Quote(it->first));
      open(it->second);
    }
  }
  return order;
}

Value* const* Scope::Find(std::string_view name) const {
  for (const Scope* s = this; s != nullptr; s = s->outer) {
    if (const auto it = s->values.find(name); it != s->values.end()) return &it->second;
    if (s->subgraph == nullptr) continue;
    const auto& initializers = s->subgraph->initializers;
    if (const auto it = initializers.find(name); it != initializers.end()) return &it->second;
  }
  return nullptr;
}

const Type* Scope::Declaration(std::string_view name) const {
  const auto& types = subgraph == nullptr ? declared : subgraph->declared;
  const auto it = types.find(name);
  return it == types.end() ? nullptr : &it->second;
}

bool Scope::IsResult(std::string_view name) const {
  return (subgraph == nullptr ? results : subgraph->results).contains(name);
}

std::string PrefixOf(const Scope& caller, const pb::NodeProto& node, std::string_view callee) {
  std::string prefix =
      caller.prefix + (node.name().empty() ? std::string(callee) : node.name()) + "/";
  return prefix.size() <= kMaxPrefix ? prefix : std::string(".../");
}

Result<ImportedModel> Importer::Run() {
  const pb::GraphProto& g = model_.proto.graph();
  graph_.name = g.name();
  ReadMetadata();
  for (const auto& info : g.value_info()) main_.declared[info.name()] = TypeOf(info);
  for (const auto& info : g.output()) main_.declared[info.name()] = TypeOf(info);
  ReadFunctions();
  const auto initializers = static_cast<size_t>(g.initializer_size());
  main_.values.reserve(initializers + static_cast<size_t>(g.input_size()) +
                       static_cast<size_t>(g.node_size()));
  NN_RETURN_IF_ERROR(ReadInitializers(g, main_));
  NN_RETURN_IF_ERROR(ReadInputs(g));
  NN_RETURN_IF_ERROR(ImportNodes(g.node(), main_));
  const std::vector<std::string> names = OutputNames(g);
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = g.output(static_cast<int>(i)).name();
    const auto it = main_.values.find(name);
    if (it == main_.values.end()) return ModelError("graph output {} is not defined", Quote(name));
    AddOutput(names[i], it->second);
  }
  main_ = Scope();
  RemoveSequences();
  NN_RETURN_IF_ERROR(Verify(graph_));
  ImportedModel out{std::move(graph_), std::move(unsupported_)};
  contradicted_.AddNote(out.notes);
  NoteRepeatedKeys(model_.proto, out.notes);
  return out;
}

// Those that are left belong to unsupported operators.
void Importer::RemoveSequences() {
  std::vector<Node*> sequences;
  for (Node& node : graph_.nodes())
    if (node.attrs().Is<SequenceAttrs>()) sequences.push_back(&node);
  for (auto it = sequences.rbegin(); it != sequences.rend(); ++it)
    if (!graph_.HasUses((*it)->output())) graph_.Erase(*it);
}

Type Importer::TypeOf(const pb::ValueInfoProto& info, const std::string& prefix) const {
  return known_inputs_.WithSizes(ReadType(info.type(), prefix + info.name()));
}

void Importer::ReadMetadata() {
  const pb::ModelProto& m = model_.proto;
  if (!m.producer_name().empty()) graph_.metadata["producer_name"] = m.producer_name();
  if (!m.producer_version().empty()) graph_.metadata["producer_version"] = m.producer_version();
  if (!m.doc_string().empty()) graph_.metadata["doc_string"] = m.doc_string();
  for (const auto& p : m.metadata_props()) graph_.metadata["onnx." + p.key()] = p.value();
}

Status Importer::ReadInitializers(const pb::GraphProto& g, Scope& scope) {
  const auto add = [&](const std::string& name, Tensor tensor) -> Status {
    if (scope.values.contains(name))
      return ModelError("two initializers are named {}", Quote(name));
    scope.values[name] = graph_.AddConstant(std::move(tensor), scope.prefix + name);
    return {};
  };
  for (const pb::TensorProto& t : g.initializer()) {
    NN_ASSIGN(Tensor tensor, ReadTensor(t, model_));
    NN_RETURN_IF_ERROR(add(t.name(), std::move(tensor)));
  }
  for (const pb::SparseTensorProto& t : g.sparse_initializer()) {
    NN_ASSIGN(Tensor tensor, ReadSparseTensor(t, model_));
    NN_RETURN_IF_ERROR(add(t.values().name(), std::move(tensor)));
  }
  return {};
}

// An input with an initializer has a default; it becomes a constant.
Status Importer::ReadInputs(const pb::GraphProto& g) {
  size_t position = 0;
  for (const auto& info : g.input()) {
    if (main_.values.contains(info.name())) continue;
    if (KindOf(info.type()) != nullptr) {
      NN_ASSIGN(main_.values[info.name()], ReadListInput(info, position));
      continue;
    }
    const Type type = TypeOf(info);
    if (type.dtype == DType::kUnknown)
      return ModelError("graph input {} has an unknown element type", Quote(info.name()));
    NN_ASSIGN(main_.values[info.name()],
              known_inputs_.AddInput(graph_, position++, info.name(), type));
  }
  return {};
}

void Importer::ReadFunctions() {
  for (const pb::FunctionProto& f : model_.proto.functions())
    functions_[{std::string(NormalDomain(f.domain())), f.name(), f.overload()}] = &f;
}

const pb::FunctionProto* Importer::FindFunction(const pb::NodeProto& node) const {
  if (functions_.empty()) return nullptr;
  const auto it =
      functions_.find({std::string(NormalDomain(node.domain())), node.op_type(), node.overload()});
  return it == functions_.end() ? nullptr : it->second;
}

// The validator checks the order; import accepts any order that can be sorted.
Result<const std::vector<int>*> Importer::NodeOrder(const Nodes& nodes) {
  if (const auto it = orders_.find(&nodes); it != orders_.end()) return &it->second;
  NN_ASSIGN(std::vector<int> order, SortedOrder(nodes));
  return &orders_.emplace(&nodes, std::move(order)).first->second;
}

Status Importer::ImportNodes(const Nodes& nodes, Scope& scope) {
  NN_ASSIGN(const std::vector<int>* const order, NodeOrder(nodes));
  scope.nodes = &nodes;
  for (const int i : *order) {
    const pb::NodeProto& node = nodes[i];
    if (auto s = ImportNode(node, i, scope); !s)
      return tl::unexpected(s.error().In(
          fmt::format("operator {} ({} {})", i, Escape(node.op_type()), Quote(node.name()))));
  }
  return {};
}

Status Importer::ImportNode(const pb::NodeProto& node, int index, Scope& scope) {
  if (node.output().empty()) return ModelError("the node has no output");
  if (const auto it = constants_.find(&node); it != constants_.end() && scope.function == nullptr)
    return Declare(it->second, node.output(0), scope);
  const int64_t last_id = LastId(graph_);
  const size_t unsupported = unsupported_.size();
  std::vector<Value*> inputs;
  // Values after an unsupported operator often have unknown types, which lets others fail: no
  // fault of theirs, nor of the model.
  bool on_opaque = false;
  for (const std::string& name : node.input()) {
    if (name.empty()) {
      inputs.push_back(nullptr);
      continue;
    }
    Value* const* const v = scope.Find(name);
    if (v == nullptr) return ModelError("input {} is not defined", Quote(name));
    inputs.push_back(*v);
    on_opaque |= *v != nullptr && !(*v)->type().ranked() && !unsupported_.empty();
  }
  const std::string_view domain = NormalDomain(node.domain());
  ImportContext ctx(model_, node, OpsetOf(domain, scope), scope.call < 0 ? index : scope.call,
                    graph_, std::move(inputs));
  ctx.set_place(PlaceOf(scope, index));
  if (scope.function != nullptr) ctx.set_bindings(&scope.attrs);
  const pb::FunctionProto* function = FindFunction(node);
  const bool is_control = function == nullptr && IsControlFlow(domain, node.op_type());
  auto status = function != nullptr                     ? Inline(ctx, *function, scope, index)
                : is_control                            ? ImportControl(ctx, scope, index)
                : IsDynamicLstm(domain, node.op_type()) ? ImportDynamicLstm(ctx, scope, index)
                                                        : ImportOp(ctx, domain);
  const bool is_refused = !status && (status.error().code() == ErrorCode::kUnsupported ||
                                      (on_opaque && status.error().code() == ErrorCode::kModel));
  if (is_refused) {
    // A subgraph or function may have reported its own operators.
    const bool follows =
        unsupported_.size() > unsupported ||
        (on_opaque && (function != nullptr || is_control || IsImported(ctx, domain)));
    return MakeOpaque(ctx, follows ? std::string() : status.error().message(), scope);
  }
  NN_RETURN_IF_ERROR(status);
  for (size_t i = 0; i < ctx.outputs().size(); ++i) {
    const std::string& name = node.output(static_cast<int>(i));
    if (name.empty()) continue;
    Value* v = ctx.outputs()[i];
    if (v == nullptr) return UnsupportedError("output {} is unsupported", i);
    NN_RETURN_IF_ERROR(Declare(v, name, scope));
    if (scope.unrolled && v->is_constant() && node.op_type() == "Constant") constants_[&node] = v;
  }
  if (!scope.unrolled) return {};
  NN_RETURN_IF_ERROR(unrolled_.TakeConstants(graph_, last_id));
  FoldKnown(graph_, known_, ctx.outputs(), last_id);
  return {};
}

int64_t Importer::OpsetOf(std::string_view domain, Scope& scope) const {
  if (const auto it = scope.opsets.find(domain); it != scope.opsets.end()) return it->second;
  const int64_t version = scope.function == nullptr
                              ? OpsetVersion(model_.proto, domain)
                              : OpsetVersion(scope.function->opset_import(), domain);
  return scope.opsets.emplace(domain, version).first->second;
}

Status Importer::TakeInlined(int64_t operators) {
  inlined_ += operators + 1;
  if (depth_ < kMaxCallDepth && inlined_ <= kMaxInlinedNodes) return {};
  return LimitError("function calls are nested deeper than {} or expand to more than {} operators",
                    kMaxCallDepth, kMaxInlinedNodes);
}

// Inlines the nodes of a function.
Status Importer::Inline(ImportContext& ctx, const pb::FunctionProto& f, const Scope& caller,
                        int index) {
  if (std::find(calls_.begin(), calls_.end(), &f) != calls_.end())
    return ModelError("the function calls itself");
  NN_RETURN_IF_ERROR(TakeInlined(f.node_size()));
  if (ctx.input_count() > static_cast<size_t>(f.input_size()))
    return ModelError("the call has {} inputs, but the function has {}", ctx.input_count(),
                      f.input_size());
  Scope body;
  body.function = &f;
  body.unrolled = caller.unrolled;
  body.call = caller.call < 0 ? index : caller.call;
  body.place = PlaceOf(caller, index);
  body.results.insert(f.output().begin(), f.output().end());
  body.prefix = PrefixOf(caller, ctx.node(), f.name());
  for (int i = 0; i < f.input_size(); ++i)
    body.values[f.input(i)] = ctx.input(static_cast<size_t>(i));
  for (const std::string& name : f.attribute()) body.attrs[name] = ctx.FindAttr(name);
  for (const pb::AttributeProto& a : f.attribute_proto())
    body.attrs[a.name()] = ctx.HasAttr(a.name()) ? ctx.FindAttr(a.name()) : &a;
  for (const auto& info : f.value_info()) body.declared[info.name()] = TypeOf(info, body.prefix);
  calls_.push_back(&f);
  ++depth_;
  const Status status = ImportNodes(f.node(), body);
  --depth_;
  calls_.pop_back();
  NN_RETURN_IF_ERROR(status);
  for (size_t i = 0; i < ctx.output_count(); ++i) {
    if (!ctx.WantsOutput(i)) continue;
    if (i >= static_cast<size_t>(f.output_size()))
      return ModelError("output {} does not exist; the function has {} outputs", i,
                        f.output_size());
    const auto it = body.values.find(f.output(static_cast<int>(i)));
    if (it == body.values.end() || it->second == nullptr)
      return ModelError("output {} of the function is not defined", i);
    ctx.SetOutput(i, it->second);
  }
  return {};
}

Status Importer::ImportDynamicLstm(ImportContext& ctx, const Scope& scope, int index) {
  if (ctx.opset() == 0)
    return ModelError("the model does not import operator set {}", Quote(ctx.node().domain()));
  NN_ASSIGN(pb::FunctionProto f, FunctionOfDynamicLstm(ctx));
  built_.push_back(std::move(f));
  return Inline(ctx, built_.back(), scope, index);
}

// Names a value after the ONNX output (results of a function, after those of its call) and
// refines its type by the declaration. A declared shape that the operator contradicts is a finding
// of the validator; like other runtimes, the import relies on the operator.
Status Importer::Declare(Value* v, const std::string& name, Scope& scope) {
  if (!v->is_input() && v->name().empty() && !scope.IsResult(name))
    v->set_name(scope.prefix + name);
  if (const Type* const declaration = scope.Declaration(name)) {
    Type declared = *declaration;
    if (declared.dims && v->type().dims && declared.rank() != v->type().rank()) {
      contradicted_.Add(Quote(name), declared, v->type());
      declared.dims.reset();
    }
    Type shapeless = declared;
    shapeless.dims.reset();
    if (!Compatible(shapeless, v->type()))
      return ModelError("value {} is declared as {}, but is {}", Quote(name),
                        declaration->ToString(), v->type().ToString());
    if (input_symbols_.empty()) input_symbols_ = InputSymbols(graph_);
    v->set_type(Complete(v->type(), declared, input_symbols_));
  }
  scope.values[name] = v;
  return {};
}

Status Importer::MakeOpaque(ImportContext& ctx, std::string reason, Scope& scope) {
  const pb::NodeProto& node = ctx.node();
  NN_ASSIGN(const Node* const opaque,
            ctx.EmitOpaque(ctx.output_count(), std::move(reason), unsupported_));
  for (int i = 0; i < node.output_size(); ++i)
    if (!node.output(i).empty())
      NN_RETURN_IF_ERROR(Declare(opaque->output(static_cast<size_t>(i)), node.output(i), scope));
  return {};
}

}  // namespace nn::onnx
