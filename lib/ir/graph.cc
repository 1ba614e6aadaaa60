#include "ir/graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "ir/op_def.h"

namespace nn {

std::string Source::ToString() const {
  if (index < 0) return op;
  return fmt::format("operator {} ({})", index, Escape(op));
}

std::string_view Node::op_name() const {
  return op_->name;
}

std::string Node::Describe() const {
  std::string out(op_->name);
  if (!name_.empty()) out += " " + Quote(name_);
  const std::string where = source_.ToString();
  return where.empty() ? out : out + " (" + where + ")";
}

Value* Graph::NewValue() {
  values_.emplace_back();
  Value& v = values_.back();
  v.id_ = next_id_++;
  v.self_ = std::prev(values_.end());
  return &v;
}

Value* Graph::AddInput(std::string input_name, Type type) {
  Value* v = NewValue();
  v->name_ = input_name;
  v->type_ = std::move(type);
  inputs_.push_back({std::move(input_name), v});
  return v;
}

Value* Graph::AddConstant(Tensor tensor, std::string constant_name,
                          std::shared_ptr<const Quant> quant) {
  Value* v = NewValue();
  v->name_ = std::move(constant_name);
  v->type_ = Type(tensor.dtype(), ToDims(tensor.dims()), std::move(quant));
  v->constant_ = std::move(tensor);
  return v;
}

Node* Graph::AddNode(const OpDef& op, std::vector<Value*> inputs, Attrs attrs, size_t output_count,
                     Node* before) {
  const auto position = before != nullptr ? before->self_ : nodes_.end();
  const auto it = nodes_.emplace(position);
  Node& n = *it;
  n.self_ = it;
  n.op_ = &op;
  n.attrs_ = std::move(attrs);
  SetInputs(&n, std::move(inputs));
  for (size_t i = 0; i < output_count; ++i) {
    Value* v = NewValue();
    v->def_ = &n;
    v->def_index_ = static_cast<int>(i);
    n.outputs_.push_back(v);
  }
  return &n;
}

Result<Node*> Graph::Append(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                            size_t output_count, Node* before) {
  const OpDef* def = Ops().Find(op);
  if (def == nullptr) return InternalError("no operator named {}", op);
  if (&attrs.info() != def->attrs && attrs.Is<NoAttrs>()) attrs = Attrs(def->attrs);
  Node* n = AddNode(*def, std::move(inputs), std::move(attrs), output_count, before);
  if (auto inferred = InferNode(*n); !inferred) {
    Erase(n);
    return tl::unexpected(inferred.error());
  }
  return n;
}

void Graph::RemoveUse(Value* value, Use use) {
  const auto it = std::find(value->uses_.begin(), value->uses_.end(), use);
  if (it != value->uses_.end()) value->uses_.erase(it);
}

void Graph::SetInput(Node* node, size_t index, Value* value) {
  Value* old = node->inputs_[index];
  const Use use{node, static_cast<int>(index)};
  if (old != nullptr) RemoveUse(old, use);
  node->inputs_[index] = value;
  if (value != nullptr) value->uses_.push_back(use);
}

void Graph::SetInputs(Node* node, std::vector<Value*> inputs) {
  for (size_t i = 0; i < node->inputs_.size(); ++i) SetInput(node, i, nullptr);
  node->inputs_.assign(inputs.size(), nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) SetInput(node, i, inputs[i]);
}

void Graph::SetOp(Node* node, const OpDef& op, Attrs attrs) {
  node->op_ = &op;
  node->attrs_ = std::move(attrs);
}

void Graph::MakeConstant(Value* value, Tensor tensor) {
  if (value->def_ != nullptr) {
    // The node keeps a fresh, unused output in place of the value.
    Node* node = value->def_;
    const int index = value->def_index_;
    Value* fresh = NewValue();
    fresh->type_ = value->type_;
    fresh->def_ = node;
    fresh->def_index_ = index;
    node->outputs_[static_cast<size_t>(index)] = fresh;
    value->def_ = nullptr;
    value->def_index_ = 0;
  }
  std::erase_if(inputs_, [&](const Port& p) { return p.value == value; });
  value->type_.dtype = tensor.dtype();
  value->type_.dims = ToDims(tensor.dims());
  value->elements_.reset();
  value->constant_ = std::move(tensor);
}

void Graph::ReplaceUses(Value* from, Value* to) {
  if (from == to) return;
  for (const Use& use : std::vector<Use>(from->uses_))
    SetInput(use.node, static_cast<size_t>(use.index), to);
  for (Port& p : outputs_)
    if (p.value == from) p.value = to;
}

void Graph::Replace(Node* node, std::span<Value* const> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    Value* const old = node->output(i);
    if (values[i]->name().empty()) values[i]->set_name(old->name());
    ReplaceUses(old, values[i]);
  }
  Erase(node);
}

Node* Graph::After(const Value* value) {
  const auto next = value->def_ == nullptr ? nodes_.begin() : std::next(value->def_->self_);
  return next == nodes_.end() ? nullptr : &*next;
}

void Graph::Erase(Node* node) {
  for (size_t i = 0; i < node->inputs_.size(); ++i) SetInput(node, i, nullptr);
  for (Value* v : node->outputs_) values_.erase(v->self_);
  nodes_.erase(node->self_);
}

bool Graph::IsOutput(const Value* value) const {
  return std::any_of(outputs_.begin(), outputs_.end(),
                     [&](const Port& p) { return p.value == value; });
}

size_t Graph::EraseDeadValues() {
  std::unordered_set<const Value*> keep;
  for (const Port& p : inputs_) keep.insert(p.value);
  for (const Port& p : outputs_) keep.insert(p.value);
  return std::erase_if(values_, [&](const Value& v) {
    return v.def_ == nullptr && v.uses_.empty() && !keep.contains(&v);
  });
}

Status Graph::SortNodes() {
  // Kahn's algorithm over a queue in the present order.
  std::unordered_map<const Node*, size_t> missing;
  for (const Node& n : nodes_) {
    size_t count = 0;
    for (const Value* v : n.inputs_)
      if (v != nullptr && v->def_ != nullptr) ++count;
    missing[&n] = count;
  }
  std::list<Node> sorted;
  const size_t total = nodes_.size();
  // Nodes become ready in waves; each wave keeps the present order.
  while (!nodes_.empty()) {
    bool progress = false;
    for (auto it = nodes_.begin(); it != nodes_.end();) {
      const auto next = std::next(it);
      if (missing[&*it] == 0) {
        for (const Value* v : it->outputs_)
          for (const Use& u : v->uses_) --missing[u.node];
        sorted.splice(sorted.end(), nodes_, it);
        progress = true;
      }
      it = next;
    }
    if (!progress) {
      const Node& first = nodes_.front();
      const std::string message = fmt::format("the graph has a cycle of {} operators, through {}",
                                              nodes_.size(), first.Describe());
      sorted.splice(sorted.end(), nodes_);
      nodes_ = std::move(sorted);
      return ModelError("{}", message);
    }
  }
  nodes_ = std::move(sorted);
  if (nodes_.size() != total) return InternalError("nodes were lost in sorting");
  return {};
}

Graph Graph::Clone() const {
  Graph g;
  g.name = name;
  g.metadata = metadata;
  g.next_id_ = next_id_;
  std::unordered_map<const Value*, Value*> map;
  for (const Value& v : values_) {
    g.values_.emplace_back();
    Value& copy = g.values_.back();
    copy.id_ = v.id_;
    copy.name_ = v.name_;
    copy.type_ = v.type_;
    copy.constant_ = v.constant_;
    copy.elements_ = v.elements_;
    copy.def_index_ = v.def_index_;
    copy.self_ = std::prev(g.values_.end());
    map[&v] = &copy;
  }
  for (const Node& n : nodes_) {
    g.nodes_.emplace_back();
    Node& copy = g.nodes_.back();
    copy.self_ = std::prev(g.nodes_.end());
    copy.op_ = n.op_;
    copy.attrs_ = n.attrs_;
    copy.arithmetic_ = n.arithmetic_;
    copy.name_ = n.name_;
    copy.source_ = n.source_;
    for (const auto& region : n.regions_)
      copy.regions_.push_back(std::make_unique<Graph>(region->Clone()));
    std::vector<Value*> inputs;
    for (const Value* v : n.inputs_) inputs.push_back(v == nullptr ? nullptr : map.at(v));
    g.SetInputs(&copy, std::move(inputs));
    for (const Value* v : n.outputs_) {
      Value* o = map.at(v);
      o->def_ = &copy;
      copy.outputs_.push_back(o);
    }
  }
  for (const Port& p : inputs_) g.inputs_.push_back({p.name, map.at(p.value)});
  for (const Port& p : outputs_) g.outputs_.push_back({p.name, map.at(p.value)});
  return g;
}

}  // namespace nn
