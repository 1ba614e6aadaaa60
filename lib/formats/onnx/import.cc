#include "formats/onnx/import.h"

#include <fmt/core.h>

#include <unordered_map>

#include "base/text.h"
#include "formats/onnx/tensor.h"
#include "ir/verify.h"
#include "ops/opaque.h"

namespace nn::onnx {
namespace {

using Scope = std::unordered_map<std::string, Value*>;

std::string_view NormalDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

// What a value is that the graph has no type for; null for tensors.
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
        return ModelError("attribute {} has type {}", theirs,
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
      declared_[info.name()] = ReadType(info.type(), info.name());
    for (const auto& info : g.output()) declared_[info.name()] = ReadType(info.type(), info.name());
    NN_RETURN_IF_ERROR(ReadInitializers(g));
    NN_RETURN_IF_ERROR(ReadInputs(g));
    // Order is checked by the validator; here any order that can be sorted will do.
    NN_ASSIGN(const std::vector<int> order, NodeOrder(g));
    for (const int i : order) NN_RETURN_IF_ERROR(ImportNode(g.node(i), i));
    for (const auto& output : g.output()) {
      const auto it = scope_.find(output.name());
      if (it == scope_.end())
        return ModelError("graph output {} is not defined", Quote(output.name()));
      graph_.AddOutput(output.name(), it->second);
    }
    NN_RETURN_IF_ERROR(Verify(graph_));
    return ImportedModel{std::move(graph_), std::move(obstacles_)};
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
      if (scope_.contains(t.name()))
        return ModelError("two initializers are named {}", Quote(t.name()));
      scope_[t.name()] = graph_.AddConstant(std::move(tensor), t.name());
    }
    for (const pb::SparseTensorProto& t : g.sparse_initializer()) {
      const std::string& name = t.values().name();
      NN_ASSIGN(Tensor tensor, ReadSparseTensor(t, model_));
      if (scope_.contains(name)) return ModelError("two initializers are named {}", Quote(name));
      scope_[name] = graph_.AddConstant(std::move(tensor), name);
    }
    return {};
  }

  // An input that has an initializer is a constant with a default; the constant is taken.
  Status ReadInputs(const pb::GraphProto& g) {
    for (const auto& info : g.input()) {
      if (scope_.contains(info.name())) continue;
      if (const char* kind = KindOf(info.type()))
        return UnsupportedError("graph input {} is {}", Quote(info.name()), kind);
      scope_[info.name()] = graph_.AddInput(info.name(), ReadType(info.type(), info.name()));
    }
    return {};
  }

  static Result<std::vector<int>> NodeOrder(const pb::GraphProto& g) {
    std::unordered_map<std::string_view, int> producer;
    for (int i = 0; i < g.node_size(); ++i)
      for (const std::string& name : g.node(i).output())
        if (!name.empty()) producer[name] = i;
    std::vector<int> order;
    std::vector<uint8_t> state(static_cast<size_t>(g.node_size()), 0);  // 1: open, 2: done
    std::vector<std::pair<int, int>> stack;                             // node, next input
    for (int root = 0; root < g.node_size(); ++root) {
      if (state[static_cast<size_t>(root)] != 0) continue;
      stack.emplace_back(root, 0);
      state[static_cast<size_t>(root)] = 1;
      while (!stack.empty()) {
        auto& [node, next] = stack.back();
        if (next == g.node(node).input_size()) {
          state[static_cast<size_t>(node)] = 2;
          order.push_back(node);
          stack.pop_back();
          continue;
        }
        const auto it = producer.find(g.node(node).input(next++));
        if (it == producer.end() || state[static_cast<size_t>(it->second)] == 2) continue;
        if (state[static_cast<size_t>(it->second)] == 1)
          return ModelError("the graph has a cycle through value {}", Quote(it->first));
        state[static_cast<size_t>(it->second)] = 1;
        stack.emplace_back(it->second, 0);
      }
    }
    return order;
  }

  Status ImportNode(const pb::NodeProto& node, int index) {
    std::vector<Value*> inputs;
    // What lies behind an unsupported operator often has no known type; only the first is reported.
    bool on_opaque = false;
    for (const std::string& name : node.input()) {
      if (name.empty()) {
        inputs.push_back(nullptr);
        continue;
      }
      const auto it = scope_.find(name);
      if (it == scope_.end())
        return ModelError("operator {} ({}): input {} is not defined", index,
                          Escape(node.op_type()), Quote(name));
      inputs.push_back(it->second);
      on_opaque |= !it->second->type().ranked() && !obstacles_.empty();
    }
    const std::string_view domain = NormalDomain(node.domain());
    ImportContext ctx(model_, node, OpsetVersion(model_.proto, domain), index, graph_, inputs);
    auto status = ImportOp(ctx, domain);
    if (!status && status.error().code() == ErrorCode::kUnsupported)
      return MakeOpaque(ctx, on_opaque ? std::string() : status.error().message());
    if (!status)
      return tl::unexpected(status.error().In(
          fmt::format("operator {} ({} {})", index, Escape(node.op_type()), Quote(node.name()))));
    for (size_t i = 0; i < ctx.outputs().size(); ++i) {
      const std::string& name = node.output(static_cast<int>(i));
      if (name.empty()) continue;
      Value* v = ctx.outputs()[i];
      if (v == nullptr)
        return UnsupportedError("operator {}: output {} is not supported", index, i);
      NN_RETURN_IF_ERROR(Declare(v, name));
    }
    return {};
  }

  Status ImportOp(ImportContext& ctx, std::string_view domain) {
    const std::string& op = ctx.node().op_type();
    if (ctx.opset() == 0)
      return ModelError("operator set {} is not imported", Quote(ctx.node().domain()));
    if (ImportFn fn = Imports().Find(domain, op, ctx.opset())) return fn(ctx);
    if (domain.empty()) {
      NN_ASSIGN(const bool done, ImportOneToOne(ctx));
      if (done) return {};
    }
    return UnsupportedError("{} (operator set {}, version {}) is not supported", Escape(op),
                            domain.empty() ? "ai.onnx" : Escape(domain), ctx.opset());
  }

  // Names a value after the ONNX output and refines its type by what the file declares.
  Status Declare(Value* v, const std::string& name) {
    if (!v->is_input() && v->name().empty()) v->set_name(name);
    const auto it = declared_.find(name);
    if (it != declared_.end()) {
      if (!Compatible(it->second, v->type()))
        return ModelError("value {} is declared {} but is {}", Quote(name), it->second.ToString(),
                          v->type().ToString());
      v->set_type(Refine(v->type(), it->second));
    }
    scope_[name] = v;
    return {};
  }

  Status MakeOpaque(ImportContext& ctx, std::string reason) {
    const pb::NodeProto& node = ctx.node();
    std::vector<Value*> inputs;
    for (size_t i = 0; i < ctx.input_count(); ++i)
      if (ctx.input(i) != nullptr) inputs.push_back(ctx.input(i));
    NN_ASSIGN(Node* const opaque, ctx.AddNode("opaque", inputs, OpaqueAttrs{node.op_type(), reason},
                                              static_cast<size_t>(node.output_size())));
    for (int i = 0; i < node.output_size(); ++i)
      if (!node.output(i).empty())
        NN_RETURN_IF_ERROR(Declare(opaque->output(static_cast<size_t>(i)), node.output(i)));
    if (!reason.empty())
      obstacles_.push_back({opaque->Describe(), "opaque", node.op_type(), std::move(reason)});
    return {};
  }

  const Model& model_;
  Graph graph_;
  Scope scope_;
  std::unordered_map<std::string, Type> declared_;
  std::vector<Obstacle> obstacles_;
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
    if (a.name() == name) return &a;
  return nullptr;
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

void ImportTable::Add(std::string_view domain, std::string_view op, int64_t since, ImportFn fn) {
  table_[{std::string(domain), std::string(op)}][since] = fn;
}

ImportFn ImportTable::Find(std::string_view domain, std::string_view op, int64_t opset) const {
  const auto it = table_.find(std::pair(std::string(domain), std::string(op)));
  if (it == table_.end()) return nullptr;
  const auto version = it->second.upper_bound(opset);
  return version == it->second.begin() ? nullptr : std::prev(version)->second;
}

std::vector<std::tuple<std::string, std::string, int64_t>> ImportTable::Entries() const {
  std::vector<std::tuple<std::string, std::string, int64_t>> out;
  for (const auto& [key, versions] : table_)
    for (const auto& [since, fn] : versions) out.emplace_back(key.first, key.second, since);
  return out;
}

const ImportTable& Imports() {
  static const ImportTable table = [] {
    ImportTable t;
    AddConvImports(t);
    AddElementwiseImports(t);
    AddMatmulImports(t);
    AddNormImports(t);
    AddOrderImports(t);
    AddPoolImports(t);
    AddReduceImports(t);
    AddShapeImports(t);
    AddSoftmaxImports(t);
    AddSliceImports(t);
    AddGatherImports(t);
    AddResizeImports(t);
    return t;
  }();
  return table;
}

Result<ImportedModel> Import(const NativeModel& native) {
  const auto& model = static_cast<const Model&>(native);
  if (!model.proto.has_graph()) return ModelError("the model has no graph");
  return Importer(model).Run();
}

}  // namespace nn::onnx
