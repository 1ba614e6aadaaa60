#include "formats/onnx/import.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "formats/onnx/family.h"
#include "formats/onnx/schema.h"
#include "formats/onnx/tensor.h"
#include "ir/number.h"
#include "ir/verify.h"
#include "ops/array/opaque.h"

namespace nn::onnx {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<pb::NodeProto>;

// Limits on nested function calls and on the total number of inlined nodes.
constexpr size_t kMaxCallDepth = 64;
constexpr int64_t kMaxInlinedNodes = int64_t{1} << 18;

// The maximum size of Scope::prefix, because each value has a copy.
constexpr size_t kMaxPrefix = 256;

// The names in the graph or in the body of a function. They are those of the model.
struct Scope {
  std::unordered_map<std::string_view, Value*> values;  // null: an input omitted by the call
  std::unordered_map<std::string_view, Type> declared;
  std::map<std::string, int64_t, std::less<>> opsets;  // by domain, cached
  // In a function:
  const pb::FunctionProto* function = nullptr;
  std::unordered_set<std::string_view> results;
  AttrBindings attrs;
  int64_t call = -1;   // index of the call in the graph
  std::string prefix;  // of the names of values and nodes
};

// The kind of a value without a graph type; null for tensors.
const char* KindOf(const pb::TypeProto& type) {
  switch (type.value_case()) {
    case pb::TypeProto::kSequenceType:
      return "a sequence";
    case pb::TypeProto::kMapType:
      return "a map";
    case pb::TypeProto::kOptionalType:
      return "an optional";
    case pb::TypeProto::kSparseTensorType:
      return "a sparse tensor";
    default:
      return nullptr;
  }
}

// Imports a node by its one-to-one encoding; false if it has none.
Result<bool> ImportOneToOne(ImportContext& ctx) {
  const auto [op, format] =
      Ops().FindEncoding("onnx", ctx.node().op_type(), static_cast<int>(ctx.opset()));
  if (op == nullptr) return false;
  Attrs attrs(op->attrs);
  for (const auto& [ours, theirs] : format->attrs) {
    const pb::AttributeProto* a = ctx.FindAttr(theirs);
    if (a == nullptr) continue;
    AttrValue value;
    switch (a->type()) {
      case pb::AttributeProto::FLOAT:
        value = a->f();
        break;
      case pb::AttributeProto::INT: {
        const auto current = attrs.Get(ours);
        value = a->i();
        if (current && std::holds_alternative<bool>(*current)) value = a->i() != 0;
        break;
      }
      case pb::AttributeProto::STRING:
        value = a->s();
        break;
      case pb::AttributeProto::INTS:
        value = ctx.Ints(theirs);
        break;
      case pb::AttributeProto::FLOATS:
        value = ctx.Floats(theirs);
        break;
      default:
        return ModelError("attribute {} has unexpected type {}", theirs,
                          pb::AttributeProto::AttributeType_Name(a->type()));
    }
    NN_ASSIGN(attrs, attrs.With(ours, value));
  }
  std::vector<Value*> inputs;
  for (size_t i = 0; i < ctx.input_count(); ++i) inputs.push_back(ctx.input(i));
  NN_RETURN_IF_ERROR(ctx.Emit(op->name, std::move(inputs), std::move(attrs)));
  return true;
}

class Importer {
 public:
  explicit Importer(const Model& model) : model_(model) {}

  Result<ImportedModel> Run() {
    const pb::GraphProto& g = model_.proto.graph();
    graph_.name = g.name();
    ReadMetadata();
    for (const auto& info : g.value_info())
      main_.declared[info.name()] = ReadType(info.type(), info.name());
    for (const auto& info : g.output())
      main_.declared[info.name()] = ReadType(info.type(), info.name());
    ReadFunctions();
    main_.values.reserve(
        static_cast<size_t>(g.initializer_size() + g.input_size() + g.node_size()));
    NN_RETURN_IF_ERROR(ReadInitializers(g));
    NN_RETURN_IF_ERROR(ReadInputs(g));
    NN_RETURN_IF_ERROR(ImportNodes(g.node(), main_));
    for (const auto& output : g.output()) {
      const auto it = main_.values.find(output.name());
      if (it == main_.values.end())
        return ModelError("graph output {} is not defined", Quote(output.name()));
      graph_.AddOutput(output.name(), it->second);
    }
    main_ = Scope();
    NN_RETURN_IF_ERROR(Verify(graph_));
    return ImportedModel{std::move(graph_), std::move(unsupported_)};
  }

 private:
  void ReadMetadata() {
    const pb::ModelProto& m = model_.proto;
    if (!m.producer_name().empty()) graph_.metadata["producer_name"] = m.producer_name();
    if (!m.producer_version().empty()) graph_.metadata["producer_version"] = m.producer_version();
    if (!m.doc_string().empty()) graph_.metadata["doc_string"] = m.doc_string();
    for (const auto& p : m.metadata_props()) graph_.metadata["onnx." + p.key()] = p.value();
  }

  Status ReadInitializers(const pb::GraphProto& g) {
    for (const pb::TensorProto& t : g.initializer()) {
      NN_ASSIGN(Tensor tensor, ReadTensor(t, model_));
      if (main_.values.contains(t.name()))
        return ModelError("two initializers are named {}", Quote(t.name()));
      main_.values[t.name()] = graph_.AddConstant(std::move(tensor), t.name());
    }
    for (const pb::SparseTensorProto& t : g.sparse_initializer()) {
      const std::string& name = t.values().name();
      NN_ASSIGN(Tensor tensor, ReadSparseTensor(t, model_));
      if (main_.values.contains(name))
        return ModelError("two initializers are named {}", Quote(name));
      main_.values[name] = graph_.AddConstant(std::move(tensor), name);
    }
    return {};
  }

  // An input with an initializer has a default; it becomes a constant.
  Status ReadInputs(const pb::GraphProto& g) {
    for (const auto& info : g.input()) {
      if (main_.values.contains(info.name())) continue;
      if (const char* kind = KindOf(info.type()))
        return UnsupportedError("graph input {} is {}, which is unsupported", Quote(info.name()),
                                kind);
      Type type = ReadType(info.type(), info.name());
      if (type.dtype == DType::kUnknown)
        return ModelError("graph input {} has an unknown element type", Quote(info.name()));
      main_.values[info.name()] = graph_.AddInput(info.name(), std::move(type));
    }
    return {};
  }

  void ReadFunctions() {
    for (const pb::FunctionProto& f : model_.proto.functions())
      functions_[{std::string(NormalDomain(f.domain())), f.name(), f.overload()}] = &f;
  }

  const pb::FunctionProto* FindFunction(const pb::NodeProto& node) const {
    if (functions_.empty()) return nullptr;
    const auto it = functions_.find(
        {std::string(NormalDomain(node.domain())), node.op_type(), node.overload()});
    return it == functions_.end() ? nullptr : it->second;
  }

  static Result<std::vector<int>> NodeOrder(const Nodes& nodes) {
    std::unordered_map<std::string_view, int> producer;
    producer.reserve(static_cast<size_t>(nodes.size()));
    for (int i = 0; i < nodes.size(); ++i)
      for (const std::string& name : nodes[i].output())
        if (!name.empty()) producer[name] = i;
    std::vector<int> order;
    std::vector<uint8_t> state(static_cast<size_t>(nodes.size()), 0);  // 1: open, 2: done
    std::vector<std::pair<int, int>> stack;                            // node, next input
    for (int root = 0; root < nodes.size(); ++root) {
      if (state[static_cast<size_t>(root)] != 0) continue;
      stack.emplace_back(root, 0);
      state[static_cast<size_t>(root)] = 1;
      while (!stack.empty()) {
        auto& [node, next] = stack.back();
        if (next == nodes[node].input_size()) {
          state[static_cast<size_t>(node)] = 2;
          order.push_back(node);
          stack.pop_back();
          continue;
        }
        const auto it = producer.find(nodes[node].input(next++));
        if (it == producer.end() || state[static_cast<size_t>(it->second)] == 2) continue;
        if (state[static_cast<size_t>(it->second)] == 1)
          return ModelError("the graph has a cycle through value {}", Quote(it->first));
        state[static_cast<size_t>(it->second)] = 1;
        stack.emplace_back(it->second, 0);
      }
    }
    return order;
  }

  // The validator checks the order; import accepts any order that can be sorted.
  Status ImportNodes(const Nodes& nodes, Scope& scope) {
    NN_ASSIGN(const std::vector<int> order, NodeOrder(nodes));
    for (const int i : order) {
      const pb::NodeProto& node = nodes[i];
      if (auto s = ImportNode(node, i, scope); !s)
        return tl::unexpected(s.error().In(
            fmt::format("operator {} ({} {})", i, Escape(node.op_type()), Quote(node.name()))));
    }
    return {};
  }

  Status ImportNode(const pb::NodeProto& node, int index, Scope& scope) {
    if (node.output().empty()) return ModelError("the node has no output");
    std::vector<Value*> inputs;
    // Values after an unsupported operator often have unknown types, so later operators fail that
    // are not unsupported themselves.
    bool on_opaque = false;
    for (const std::string& name : node.input()) {
      if (name.empty()) {
        inputs.push_back(nullptr);
        continue;
      }
      const auto it = scope.values.find(name);
      if (it == scope.values.end()) return ModelError("input {} is not defined", Quote(name));
      inputs.push_back(it->second);
      on_opaque |= it->second != nullptr && !it->second->type().ranked() && !unsupported_.empty();
    }
    const std::string_view domain = NormalDomain(node.domain());
    ImportContext ctx(model_, node, OpsetOf(domain, scope),
                      scope.function == nullptr ? index : scope.call, graph_, std::move(inputs));
    if (scope.function != nullptr) ctx.set_bindings(&scope.attrs);
    const pb::FunctionProto* function = FindFunction(node);
    auto status =
        function != nullptr ? Inline(ctx, *function, scope, index) : ImportOp(ctx, domain);
    const bool is_refused = !status && (status.error().code() == ErrorCode::kUnsupported ||
                                        (on_opaque && status.error().code() == ErrorCode::kModel));
    if (is_refused) {
      const bool follows = on_opaque && (function != nullptr || IsImported(ctx, domain));
      return MakeOpaque(ctx, follows ? std::string() : status.error().message(), scope);
    }
    NN_RETURN_IF_ERROR(status);
    for (size_t i = 0; i < ctx.outputs().size(); ++i) {
      const std::string& name = node.output(static_cast<int>(i));
      if (name.empty()) continue;
      Value* v = ctx.outputs()[i];
      if (v == nullptr) return UnsupportedError("output {} is unsupported", i);
      NN_RETURN_IF_ERROR(Declare(v, name, scope));
    }
    return {};
  }

  int64_t OpsetOf(std::string_view domain, Scope& scope) const {
    if (const auto it = scope.opsets.find(domain); it != scope.opsets.end()) return it->second;
    const int64_t version = scope.function == nullptr
                                ? OpsetVersion(model_.proto, domain)
                                : OpsetVersion(scope.function->opset_import(), domain);
    return scope.opsets.emplace(domain, version).first->second;
  }

  // Inlines the nodes of a function.
  Status Inline(ImportContext& ctx, const pb::FunctionProto& f, const Scope& caller, int index) {
    if (std::find(calls_.begin(), calls_.end(), &f) != calls_.end())
      return ModelError("the function calls itself");
    inlined_ += f.node_size() + 1;
    if (calls_.size() == kMaxCallDepth || inlined_ > kMaxInlinedNodes)
      return LimitError(
          "function calls are nested deeper than {} or expand to more than {} operators",
          kMaxCallDepth, kMaxInlinedNodes);
    if (ctx.input_count() > static_cast<size_t>(f.input_size()))
      return ModelError("the call has {} inputs, but the function has {}", ctx.input_count(),
                        f.input_size());
    Scope body;
    body.function = &f;
    body.call = caller.function == nullptr ? index : caller.call;
    body.results.insert(f.output().begin(), f.output().end());
    body.prefix = caller.prefix + (ctx.node().name().empty() ? f.name() : ctx.node().name()) + "/";
    if (body.prefix.size() > kMaxPrefix) body.prefix = ".../";
    for (int i = 0; i < f.input_size(); ++i)
      body.values[f.input(i)] = ctx.input(static_cast<size_t>(i));
    for (const std::string& name : f.attribute()) body.attrs[name] = ctx.FindAttr(name);
    for (const pb::AttributeProto& a : f.attribute_proto())
      body.attrs[a.name()] = ctx.HasAttr(a.name()) ? ctx.FindAttr(a.name()) : &a;
    for (const auto& info : f.value_info())
      body.declared[info.name()] = ReadType(info.type(), body.prefix + info.name());
    calls_.push_back(&f);
    const Status status = ImportNodes(f.node(), body);
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

  // Names a value after the ONNX output (results of a function, after those of its call) and
  // refines its type by the declaration.
  Status Declare(Value* v, const std::string& name, Scope& scope) {
    const bool is_result = scope.results.contains(name);
    if (!v->is_input() && v->name().empty() && !is_result) v->set_name(scope.prefix + name);
    const auto it = scope.declared.find(name);
    if (it != scope.declared.end()) {
      if (!Compatible(it->second, v->type()))
        return ModelError("value {} is declared as {}, but is {}", Quote(name),
                          it->second.ToString(), v->type().ToString());
      v->set_type(Refine(v->type(), it->second));
    }
    scope.values[name] = v;
    return {};
  }

  Status MakeOpaque(ImportContext& ctx, std::string reason, Scope& scope) {
    const pb::NodeProto& node = ctx.node();
    std::vector<Value*> inputs;
    for (size_t i = 0; i < ctx.input_count(); ++i)
      if (ctx.input(i) != nullptr) inputs.push_back(ctx.input(i));
    NN_ASSIGN(Node* const opaque, ctx.AddNode("opaque", inputs, OpaqueAttrs{node.op_type(), reason},
                                              static_cast<size_t>(node.output_size())));
    for (int i = 0; i < node.output_size(); ++i)
      if (!node.output(i).empty())
        NN_RETURN_IF_ERROR(Declare(opaque->output(static_cast<size_t>(i)), node.output(i), scope));
    if (!reason.empty())
      unsupported_.push_back({opaque->Describe(), "opaque", node.op_type(), std::move(reason)});
    return {};
  }

  const Model& model_;
  Graph graph_;
  Scope main_;
  std::map<std::tuple<std::string, std::string, std::string>, const pb::FunctionProto*> functions_;
  std::vector<const pb::FunctionProto*> calls_;  // active calls, outermost first
  int64_t inlined_ = 0;
  std::vector<UnsupportedNode> unsupported_;
};

}  // namespace

Result<Value*> ImportContext::Required(size_t i) const {
  if (input(i) == nullptr) return ModelError("input {} is missing", i);
  return input(i);
}

const Tensor* ImportContext::Constant(size_t i) const {
  const Value* v = input(i);
  return v != nullptr && v->is_constant() ? &v->constant() : nullptr;
}

const pb::AttributeProto* ImportContext::FindAttr(std::string_view name) const {
  for (const auto& a : node_.attribute())
    if (a.name() == name) return Resolve(a);
  return nullptr;
}

const pb::AttributeProto* ImportContext::Resolve(const pb::AttributeProto& a) const {
  if (a.ref_attr_name().empty()) return &a;
  if (bindings_ == nullptr) return nullptr;
  const auto it = bindings_->find(a.ref_attr_name());
  return it == bindings_->end() ? nullptr : it->second;
}

int64_t ImportContext::Int(std::string_view name, int64_t fallback) const {
  const auto* a = FindAttr(name);
  return a == nullptr ? fallback : a->i();
}

Result<int64_t> ImportContext::RequiredInt(std::string_view name) const {
  const auto* a = FindAttr(name);
  if (a == nullptr) return ModelError("attribute {} is missing", name);
  return a->i();
}

float ImportContext::Float(std::string_view name, float fallback) const {
  const auto* a = FindAttr(name);
  return a == nullptr ? fallback : a->f();
}

std::string ImportContext::String(std::string_view name, std::string_view fallback) const {
  const auto* a = FindAttr(name);
  return a == nullptr ? std::string(fallback) : a->s();
}

std::vector<int64_t> ImportContext::Ints(std::string_view name) const {
  const auto* a = FindAttr(name);
  if (a == nullptr) return {};
  return {a->ints().begin(), a->ints().end()};
}

std::vector<float> ImportContext::Floats(std::string_view name) const {
  const auto* a = FindAttr(name);
  if (a == nullptr) return {};
  if (const auto blob = model_.payloads.Find(*a, pb::AttributeProto::kFloatsFieldNumber)) {
    std::vector<float> out(blob->size() / sizeof(float));
    std::memcpy(out.data(), blob->data(), blob->size());
    return out;
  }
  return {a->floats().begin(), a->floats().end()};
}

Result<Tensor> ImportContext::TensorAttr(std::string_view name) const {
  const auto* a = FindAttr(name);
  if (a == nullptr || !a->has_t()) return ModelError("attribute {} is missing", name);
  return ReadTensor(a->t(), model_);
}

Result<Tensor> ImportContext::SparseTensorAttr(std::string_view name) const {
  const auto* a = FindAttr(name);
  if (a == nullptr || !a->has_sparse_tensor()) return ModelError("attribute {} is missing", name);
  return ReadSparseTensor(a->sparse_tensor(), model_);
}

Result<Node*> ImportContext::AddNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                                     size_t output_count) {
  auto node = graph_.Append(op, std::move(inputs), std::move(attrs), output_count);
  if (!node) return node;
  (*node)->set_source({node_.op_type(), index_});
  (*node)->set_name(node_.name());
  return node;
}

Result<Value*> ImportContext::Number(DType dtype, double v) {
  NN_ASSIGN(Tensor number, nn::Number(dtype, v));
  return Constant(std::move(number));
}

Result<Value*> ImportContext::Add(std::string_view op, std::vector<Value*> inputs, Attrs attrs) {
  NN_ASSIGN(Node* const node, AddNode(op, std::move(inputs), std::move(attrs)));
  return node->output();
}

Status ImportContext::Emit(std::string_view op, std::vector<Value*> inputs, Attrs attrs) {
  const OpDef* def = Ops().Find(op);
  if (def == nullptr) return InternalError("no operator named {}", op);
  const bool variadic = !def->outputs.empty() && def->outputs.back().arity == Arity::kVariadic;
  const size_t count = variadic ? outputs_.size() : std::min(outputs_.size(), def->outputs.size());
  NN_ASSIGN(Node* const node,
            AddNode(op, std::move(inputs), std::move(attrs), std::max<size_t>(count, 1)));
  for (size_t i = 0; i < count; ++i) SetOutput(i, node->output(i));
  return {};
}

namespace {

const VersionTable<ImportFn>& Imports() {
  static const auto table = [] {
    VersionTable<ImportFn> t;
    for (const Family& family : Families())
      for (const ImportRow& row : family.imports)
        t.Add(std::string(row.domain), row.op, row.since, row.import);
    return t;
  }();
  return table;
}

}  // namespace

bool IsImported(const ImportContext& ctx, std::string_view domain) {
  const std::string& op = ctx.node().op_type();
  const int version = static_cast<int>(ctx.opset());
  return Imports().Find(domain, op, ctx.opset()) != nullptr ||
         (domain.empty() && Ops().FindEncoding("onnx", op, version).first != nullptr);
}

Status ImportOp(ImportContext& ctx, std::string_view domain) {
  const std::string& op = ctx.node().op_type();
  if (ctx.opset() == 0)
    return ModelError("the model does not import operator set {}", Quote(ctx.node().domain()));
  if (ImportFn fn = Imports().Find(domain, op, ctx.opset())) return fn(ctx);
  if (domain.empty()) {
    NN_ASSIGN(const bool done, ImportOneToOne(ctx));
    if (done) return {};
  }
  return UnsupportedError("{} (operator set {}, version {}) is unsupported", Escape(op),
                          domain.empty() ? "ai.onnx" : Escape(domain), ctx.opset());
}

Result<ImportedModel> Import(const NativeModel& native) {
  const auto& model = static_cast<const Model&>(native);
  if (!model.proto.has_graph()) return ModelError("the model has no graph");
  return Importer(model).Run();
}

std::vector<OperatorSupport> Operators() {
  std::set<std::string> names;
  for (std::string& name : Imports().Names()) names.insert(std::move(name));
  for (const OpDef* op : Ops().All())
    for (const FormatName& f : op->formats)
      if (f.format == "onnx") names.emplace(f.path);
  std::map<std::string, bool> imported;
  for (const std::string& name : names) imported[name] = true;
  for (const auto& [domain, text] : SchemaTexts())
    for (const std::string& op : OperatorsIn(domain))
      imported.try_emplace(domain.empty() ? op : fmt::format("{}.{}", domain, op), false);
  std::vector<OperatorSupport> out;
  out.reserve(imported.size());
  for (const auto& [name, is_imported] : imported) out.push_back({name, is_imported});
  return out;
}

}  // namespace nn::onnx
