#include "validators/onnx/rule_context.h"

#include "base/text/text.h"
#include "formats/onnx/onnx.h"

namespace nn::onnx {
namespace {

OpsetMap OpsetsOf(const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>& imports) {
  OpsetMap map;
  for (const auto& id : imports) map[id.domain()] = id.version();
  return map;
}

std::string Field(std::string path, std::string_view field) {
  if (!field.empty()) path.append(".").append(field);
  return path;
}

size_t CountOfData(const pb::GraphProto& graph) {
  return static_cast<size_t>(graph.input_size() + graph.initializer_size());
}

}  // namespace

std::string_view PlainDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

std::optional<int64_t> FindOpset(const OpsetMap& opsets, std::string_view domain) {
  auto found = opsets.find(domain);
  if (found == opsets.end() && domain.empty()) found = opsets.find("ai.onnx");
  if (found == opsets.end() && domain == "ai.onnx") found = opsets.find("");
  return found != opsets.end() ? std::optional(found->second) : std::nullopt;
}

RuleContext::RuleContext(const Model& model, Reach reach)
    : model_(model), functions_seen_(reach == Reach::kAll || ir_version() >= 8) {
  AddOpsets();
  if (functions_seen_)
    for (const auto& f : proto().functions())
      functions_.try_emplace({PlainDomain(f.domain()), f.name(), f.overload()}, &f);
  auto main = std::make_unique<Body>();
  main->graph = &proto().graph();
  main->path = "graph";
  main->opsets = &opsets_;
  AddBody(std::move(main), proto().graph().node());
  if (reach == Reach::kAll) AddTraining();
  if (functions_seen_) AddFunctions();
}

void RuleContext::AddTraining() {
  const Body* const graph = bodies_.front().get();
  for (int i = 0; i < proto().training_info_size(); ++i) {
    const auto& training = proto().training_info(i);
    const auto add = [&](const pb::GraphProto& g, std::string_view field, const Body* outer) {
      auto body = std::make_unique<Body>();
      body->kind = Body::Kind::kTraining;
      body->graph = &g;
      body->outer = outer;
      body->path = fmt::format("training_info[{}].{}", i, field);
      body->opsets = &opsets_;
      AddBody(std::move(body), g.node());
    };
    if (training.has_initialization()) add(training.initialization(), "initialization", nullptr);
    if (training.has_algorithm()) add(training.algorithm(), "algorithm", graph);
  }
}

void RuleContext::AddFunctions() {
  for (int i = 0; i < proto().functions_size(); ++i) {
    const auto& f = proto().functions(i);
    function_opsets_.push_back(std::make_unique<OpsetMap>(OpsetsOf(f.opset_import())));
    auto body = std::make_unique<Body>();
    body->kind = Body::Kind::kFunction;
    body->function = &f;
    body->path = fmt::format("functions[{}]", i);
    body->opsets = function_opsets_.back().get();
    AddBody(std::move(body), f.node());
  }
}

void RuleContext::AddOpsets() {
  opsets_ = OpsetsOf(proto().opset_import());
  if (opsets_.empty() && ir_version() < 3) opsets_[""] = 1;
}

void RuleContext::AddBody(std::unique_ptr<Body> owned,
                          const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes) {
  Body& body = *owned;
  bodies_.push_back(std::move(owned));
  body.first_node = static_cast<int>(nodes_.size());
  body.node_count = nodes.size();
  body.defined.reserve(static_cast<size_t>(nodes.size()) +
                       (body.graph == nullptr ? 0 : CountOfData(*body.graph)));
  if (bodies_.size() == 1) {  // The main graph has most of the nodes.
    nodes_.reserve(static_cast<size_t>(nodes.size()));
    values_.reserve(CountOfData(*body.graph) + static_cast<size_t>(nodes.size()));
  }
  if (body.graph != nullptr) AddGraphData(body);
  if (body.kind == Body::Kind::kFunction)
    for (const auto& name : body.function->input()) Define(body, name, -1);
  for (int i = 0; i < nodes.size(); ++i) {
    NodeAt at;
    at.node = &nodes.Get(i);
    at.body = &body;
    at.index = i;
    const std::string_view domain = PlainDomain(at.node->domain());
    const auto opset = FindOpset(*body.opsets, at.node->domain());
    at.imported = opset.has_value();
    at.opset = opset.value_or(0);
    if (const auto f = functions_.find({domain, at.node->op_type(), at.node->overload()});
        f != functions_.end())
      at.function = f->second;
    at.standard = FindSchema(domain, at.node->op_type(), at.opset);
    if (at.function == nullptr) at.schema = at.standard;
    nodes_.push_back(at);
    for (const auto& name : at.node->output()) Define(body, name, i);
  }
  for (int i = 0; i < body.node_count; ++i)
    AddOperands(nodes_[static_cast<size_t>(body.first_node + i)]);
  for (int i = 0; i < body.node_count; ++i) AddNodeParts(body.first_node + i);
}

int RuleContext::Define(Body& body, std::string_view name, int position) {
  if (name.empty()) return -1;
  const auto [it, added] = body.defined.try_emplace(name, static_cast<int>(values_.size()));
  if (added) values_.push_back({&body, position});
  return it->second;
}

// Values of enclosing bodies are already defined.
void RuleContext::AddOperands(NodeAt& node) {
  node.first_operand = static_cast<int>(operands_.size());
  const auto add = [&](std::string_view name) {
    int value = -1;
    if (!name.empty())
      for (const Body* b = node.body; b != nullptr && value < 0; b = b->outer)
        value = ValueOf(*b, name);
    operands_.push_back(value);
  };
  for (const auto& name : node.node->input()) add(name);
  for (const auto& name : node.node->output()) add(name);
}

void RuleContext::AddGraphData(Body& body) {
  const pb::GraphProto& graph = *body.graph;
  for (const auto& info : graph.input()) Define(body, info.name(), -1);
  for (int i = 0; i < graph.initializer_size(); ++i) {
    const int value = Define(body, graph.initializer(i).name(), -1);
    tensors_.push_back({&graph.initializer(i), {&body, -1, -1, "initializer", i}, {}, value});
  }
  for (int i = 0; i < graph.sparse_initializer_size(); ++i) {
    Define(body, graph.sparse_initializer(i).values().name(), -1);
    AddSparse(graph.sparse_initializer(i), {&body, -1, -1, "sparse_initializer", i});
  }
}

void RuleContext::AddNodeParts(int node) {
  const pb::NodeProto& proto = *nodes_[static_cast<size_t>(node)].node;
  const Body* const body = nodes_[static_cast<size_t>(node)].body;
  for (int i = 0; i < proto.attribute_size(); ++i) {
    const auto& a = proto.attribute(i);
    attributes_.push_back({&a, node, i});
    if (a.has_t()) tensors_.push_back({&a.t(), {body, node, i, "t", -1}, {}});
    for (int k = 0; k < a.tensors_size(); ++k)
      tensors_.push_back({&a.tensors(k), {body, node, i, "tensors", k}, {}});
    if (a.has_sparse_tensor()) AddSparse(a.sparse_tensor(), {body, node, i, "sparse_tensor", -1});
    for (int k = 0; k < a.sparse_tensors_size(); ++k)
      AddSparse(a.sparse_tensors(k), {body, node, i, "sparse_tensors", k});
    if (!a.has_g() && a.graphs_size() == 0) continue;
    const std::string path = Where(AttributeAt{&a, node, i}).element;
    if (a.has_g()) AddSubGraph(a.g(), node, path + ".g");
    for (int k = 0; k < a.graphs_size(); ++k)
      AddSubGraph(a.graphs(k), node, fmt::format("{}.graphs[{}]", path, k));
  }
}

void RuleContext::AddSubGraph(const pb::GraphProto& graph, int owner, std::string path) {
  const Body& outer = *nodes_[static_cast<size_t>(owner)].body;
  auto body = std::make_unique<Body>();
  body->kind = Body::Kind::kSubGraph;
  body->graph = &graph;
  body->function = outer.function;
  body->outer = &outer;
  body->owner = owner;
  body->path = std::move(path);
  body->opsets = outer.opsets;
  AddBody(std::move(body), graph.node());
}

void RuleContext::AddSparse(const pb::SparseTensorProto& tensor, const DataPlace& place) {
  if (tensor.has_values()) tensors_.push_back({&tensor.values(), place, "values"});
  if (tensor.has_indices()) tensors_.push_back({&tensor.indices(), place, "indices"});
  sparse_.push_back({&tensor, place});
}

bool RuleContext::DefinedOutside(const Body& body, std::string_view name) const {
  for (const Body* b = &body; b->outer != nullptr; b = b->outer) {
    const int value = ValueOf(*b->outer, name);
    if (value < 0) continue;
    if (b->owner < 0 ||
        values_[static_cast<size_t>(value)].position < nodes_[static_cast<size_t>(b->owner)].index)
      return true;
  }
  return false;
}

bool RuleContext::DefinedBefore(const NodeAt& node, int i) const {
  const int value = InputOf(node, i);
  if (value < 0) return false;
  const ValueAt& at = values_[static_cast<size_t>(value)];
  return (at.body == node.body && at.position < node.index) ||
         DefinedOutside(*node.body, node.node->input(i));
}

Location RuleContext::Where(const NodeAt& node, std::string_view field) const {
  return At(Field(fmt::format("{}.node[{}]", node.body->path, node.index), field), node.index);
}

Location RuleContext::Where(const AttributeAt& attribute, std::string_view field) const {
  const NodeAt& node = nodes_[static_cast<size_t>(attribute.node)];
  return Where(node, Field(fmt::format("attribute[{}]", attribute.index), field));
}

Location RuleContext::Where(const DataPlace& place, std::string_view field) const {
  std::string own(place.field);
  if (place.index >= 0) own += fmt::format("[{}]", place.index);
  own = Field(std::move(own), field);
  if (place.node < 0) return At(Field(place.body->path, own));
  return Where(AttributeAt{nullptr, place.node, place.attribute}, own);
}

Location RuleContext::Where(const TensorAt& tensor, std::string_view field) const {
  return Where(tensor.place, tensor.part.empty() ? field : Field(std::string(tensor.part), field));
}

bool RuleContext::Has(const google::protobuf::Message& message, int field) const {
  const auto* descriptor = message.GetDescriptor()->FindFieldByNumber(field);
  const auto* reflection = message.GetReflection();
  if (descriptor->is_repeated() ? reflection->FieldSize(message, descriptor) > 0
                                : reflection->HasField(message, descriptor))
    return true;
  return model_.payloads.Find(message, field).has_value();
}

uint64_t RuleContext::SizeOf(const google::protobuf::Message& message, int field) const {
  const auto* descriptor = message.GetDescriptor()->FindFieldByNumber(field);
  const auto* reflection = message.GetReflection();
  if (const auto blob = model_.payloads.Find(message, field)) {
    if (!descriptor->is_repeated()) return blob->size();
    const bool wide = descriptor->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE;
    return blob->size() / (wide ? 8 : 4);
  }
  if (descriptor->is_repeated())
    return static_cast<uint64_t>(reflection->FieldSize(message, descriptor));
  std::string scratch;
  return reflection->GetStringReference(message, descriptor, &scratch).size();
}

const std::vector<TypeDefect>& RuleContext::type_defects() const {
  if (!type_defects_) type_defects_ = OnnxFormat().describer.CheckTypes(model_);
  return *type_defects_;
}

const pb::AttributeProto* FindAttribute(const NodeAt& node, std::string_view name) {
  for (const auto& a : node.node->attribute())
    if (a.name() == name && a.ref_attr_name().empty()) return &a;
  return nullptr;
}

bool IsOf(const NodeAt& node, std::string_view op) {
  return node.schema != nullptr && PlainDomain(node.node->domain()).empty() &&
         node.schema->op == op;
}

std::string Title(const NodeAt& node) {
  std::string out = fmt::format("node {} ({}", node.index, EscapeControls(node.node->op_type()));
  if (!node.node->name().empty()) out += " " + Quote(node.node->name());
  return out + ")";
}

}  // namespace nn::onnx
