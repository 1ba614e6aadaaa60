#include "ir/graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text/text.h"
#include "ir/op_def.h"
#include "ir/value_table.h"

namespace nn {

std::string Source::ToString() const {
  if (index < 0) return std::string(op.view());
  if (!place.empty())
    return fmt::format("operator {} ({})", Escape(place.view()), Escape(op.view()));
  return fmt::format("operator {} ({})", index, Escape(op.view()));
}

std::string Source::Short() const {
  if (index < 0) return std::string(op.view());
  if (!place.empty()) return fmt::format("{} {}", op.view(), place.view());
  return fmt::format("{} {}", op.view(), index);
}

std::string_view Node::op_name() const {
  return op_->name;
}

std::string Node::Describe() const {
  std::string out(op_->is_opaque ? "unsupported operator" : op_->name);
  if (!name_.empty()) out += " " + Quote(name_.view());
  const std::string where = source_.ToString();
  return where.empty() ? out : out + " (" + where + ")";
}

void UseList::Add(Use use) {
  if (many_ == nullptr && one_.node == nullptr) {
    one_ = use;
    return;
  }
  if (many_ == nullptr) many_ = std::make_unique<Many>(Many{{one_}, nullptr});
  if (many_->places != nullptr) many_->places->emplace(use, many_->uses.size());
  many_->uses.push_back(use);
}

void UseList::Remove(Use use) {
  if (many_ == nullptr) {
    if (one_ == use) one_ = {};
    return;
  }
  auto& [uses, places] = *many_;
  if (places == nullptr && uses.size() < kManyUses) {
    const auto it = std::find(uses.begin(), uses.end(), use);
    if (it != uses.end()) uses.erase(it);
  } else {
    if (places == nullptr) {
      places = std::make_unique<std::unordered_map<Use, size_t, Hash>>();
      for (size_t i = 0; i < uses.size(); ++i) places->emplace(uses[i], i);
    }
    const auto it = places->find(use);
    if (it == places->end()) return;
    const size_t place = it->second;
    places->erase(it);
    if (place + 1 < uses.size()) {
      uses[place] = uses.back();
      (*places)[uses[place]] = place;
    }
    uses.pop_back();
  }
  if (!uses.empty()) return;
  many_.reset();
  one_ = {};
}

std::vector<Use> UseList::TakeAll() {
  std::vector<Use> uses;
  if (many_ != nullptr)
    uses = std::move(many_->uses);
  else if (one_.node != nullptr)
    uses.push_back(one_);
  many_.reset();
  one_ = {};
  return uses;
}

std::span<const std::unique_ptr<Graph>> Node::regions() const {
  if (regions_ == nullptr) return {};
  return *regions_;
}

void Node::AddRegion(Graph region) {
  if (regions_ == nullptr) regions_ = std::make_unique<std::vector<std::unique_ptr<Graph>>>();
  regions_->push_back(std::make_unique<Graph>(std::move(region)));
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
  v->set_name(std::string_view(input_name));
  v->type_ = std::move(type);
  inputs_.push_back({std::move(input_name), v});
  return v;
}

Value* Graph::AddConstant(Tensor tensor, SharedString constant_name,
                          std::shared_ptr<const Quant> quant) {
  Type type(tensor.dtype(), ToDims(tensor.dims()), std::move(quant));
  // Constants that follow each other often have the same shape, which is then stored once.
  if (!values_.empty() && values_.back().type_.dims == type.dims)
    type.dims = values_.back().type_.dims;
  Value* v = NewValue();
  v->name_ = std::move(constant_name);
  v->type_ = std::move(type);
  v->constant_ = Shared<Tensor>(std::move(tensor));
  return v;
}

Node* Graph::AddNode(const OpDef& op, std::vector<Value*> inputs, Attrs attrs, size_t output_count,
                     Node* before) {
  const auto position = before != nullptr ? before->self_ : nodes_.end();
  const auto it = nodes_.emplace(position);
  Node& n = *it;
  n.self_ = it;
  n.op_ = &op;
  n.attrs_ = attrs.Is<NoAttrs>() ? Attrs(op.attrs) : std::move(attrs);
  SetInputs(&n, std::move(inputs));
  for (size_t i = 0; i < output_count; ++i) {
    Value* v = NewValue();
    v->def_ = &n;
    v->def_index_ = static_cast<int>(i);
    n.outputs_.push_back(v);
  }
  return &n;
}

void Graph::SetSource(Node* node, std::string_view op, int64_t index, SharedString place) {
  auto it = source_ops_.find(op);
  if (it == source_ops_.end()) {
    SharedString shared(op);
    const std::string_view key = shared.view();
    it = source_ops_.emplace(key, std::move(shared)).first;
  }
  node->source_ = {it->second, index, std::move(place)};
}

Result<Node*> Graph::Append(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                            size_t output_count, Node* before) {
  const OpDef* def = Ops().Find(op);
  if (def == nullptr) return InternalError("no operator named {}", op);
  return InferAdded(AddNode(*def, std::move(inputs), std::move(attrs), output_count, before));
}

Result<Node*> Graph::InferAdded(Node* node) {
  const Status inferred = InferNode(*node);
  if (inferred) return node;
  Erase(node);
  return tl::unexpected(inferred.error());
}

void Graph::SetInput(Node* node, size_t index, Value* value) {
  Value* old = node->inputs_[index];
  const Use use{node, static_cast<int>(index)};
  if (old != nullptr) old->uses_.Remove(use);
  node->inputs_[index] = value;
  if (value != nullptr) value->uses_.Add(use);
}

void Graph::SetInputs(Node* node, std::vector<Value*> inputs) {
  while (!inputs.empty() && inputs.back() == nullptr) inputs.pop_back();
  for (size_t i = 0; i < node->inputs_.size(); ++i) SetInput(node, i, nullptr);
  node->inputs_.assign(inputs.size(), nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) SetInput(node, i, inputs[i]);
}

void Graph::SetOp(Node* node, const OpDef& op, Attrs attrs) {
  node->op_ = &op;
  node->attrs_ = std::move(attrs);
}

void Graph::MakeConstant(Value* value, Tensor tensor) {
  const bool is_input = value->is_input();
  if (value->def_ != nullptr) {
    // The node gets a new, unused output in place of the value.
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
  if (is_input) std::erase_if(inputs_, [&](const Port& p) { return p.value == value; });
  value->type_.dtype = tensor.dtype();
  value->type_.dims = ToDims(tensor.dims());
  value->elements_.reset();
  value->constant_ = Shared<Tensor>(std::move(tensor));
}

void Graph::AddOutput(std::string output_name, Value* value) {
  output_places_[value].push_back(outputs_.size());
  value->is_output_ = true;
  outputs_.push_back({std::move(output_name), value});
}

void Graph::set_output(size_t i, Value* value) {
  const auto it = output_places_.find(outputs_[i].value);
  std::erase(it->second, i);
  if (it->second.empty()) {
    outputs_[i].value->is_output_ = false;
    output_places_.erase(it);
  }
  output_places_[value].push_back(i);
  value->is_output_ = true;
  outputs_[i].value = value;
}

void Graph::RemoveInput(size_t i) {
  values_.erase(inputs_[i].value->self_);
  inputs_.erase(inputs_.begin() + static_cast<ptrdiff_t>(i));
}

void Graph::RemoveOutput(size_t i) {
  const auto it = output_places_.find(outputs_[i].value);
  std::erase(it->second, i);
  if (it->second.empty()) {
    outputs_[i].value->is_output_ = false;
    output_places_.erase(it);
  }
  for (auto& [value, places] : output_places_)
    for (size_t& place : places)
      if (place > i) --place;
  outputs_.erase(outputs_.begin() + static_cast<ptrdiff_t>(i));
}

void Graph::RemoveResult(Node* node, size_t i) {
  std::vector<Value*> outputs(node->outputs_.begin(), node->outputs_.end());
  values_.erase(outputs[i]->self_);
  outputs.erase(outputs.begin() + static_cast<ptrdiff_t>(i));
  node->outputs_.assign(outputs.size(), nullptr);
  for (size_t k = 0; k < outputs.size(); ++k) {
    node->outputs_[k] = outputs[k];
    outputs[k]->def_index_ = static_cast<int>(k);
  }
}

void Graph::ReplaceUses(Value* from, Value* to) {
  if (from == to) return;
  for (const Use& use : from->uses_.TakeAll()) {
    use.node->inputs_[static_cast<size_t>(use.index)] = to;
    to->uses_.Add(use);
  }
  const auto it = output_places_.find(from);
  if (it == output_places_.end()) return;
  const std::vector<size_t> places = std::move(it->second);
  output_places_.erase(it);
  for (const size_t i : places) outputs_[i].value = to;
  from->is_output_ = false;
  to->is_output_ = true;
  auto& taken = output_places_[to];
  taken.insert(taken.end(), places.begin(), places.end());
}

void Graph::Replace(Node* node, std::span<Value* const> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    Value* const old = node->output(i);
    if (values[i]->name().empty()) values[i]->name_ = old->name_;
    ReplaceUses(old, values[i]);
  }
  Erase(node);
}

Node* Graph::After(const Value* value) {
  const auto next = value->def_ == nullptr ? nodes_.begin() : std::next(value->def_->self_);
  return next == nodes_.end() ? nullptr : &*next;
}

void Graph::MoveBefore(Node* node, Node* before) {
  nodes_.splice(before->self_, nodes_, node->self_);
}

void Graph::Erase(Node* node) {
  for (size_t i = 0; i < node->inputs_.size(); ++i) SetInput(node, i, nullptr);
  for (Value* v : node->outputs_) values_.erase(v->self_);
  nodes_.erase(node->self_);
}

size_t Graph::EraseDeadValues() {
  std::unordered_set<const Value*> inputs;
  for (const Port& p : inputs_) inputs.insert(p.value);
  return std::erase_if(values_, [&](const Value& v) {
    return v.def_ == nullptr && v.uses().empty() && !IsOutput(&v) && !inputs.contains(&v);
  });
}

void Graph::Clear() {
  inputs_.clear();
  outputs_.clear();
  output_places_.clear();
  nodes_.clear();
  values_.clear();
}

Status Graph::SortNodes() {
  // The round of a node is the number of additional walks through the current order that are needed
  // until all of its operands have been visited.
  struct Entry {
    size_t position = 0;
    size_t missing = 0;
    size_t round = 0;
  };
  std::unordered_map<const Node*, Entry> entries;
  entries.reserve(nodes_.size());
  std::vector<const Node*> ready;
  for (const Node& n : nodes_) {
    Entry& entry = entries[&n];
    entry.position = entries.size() - 1;
    for (const Value* v : n.inputs_)
      if (v != nullptr && v->def_ != nullptr) ++entry.missing;
    if (entry.missing == 0) ready.push_back(&n);
  }
  size_t rounds = 1;
  size_t done = 0;
  for (; done < ready.size(); ++done) {
    const Entry entry = entries.at(ready[done]);
    rounds = std::max(rounds, entry.round + 1);
    for (const Value* v : ready[done]->outputs_)
      for (const Use& u : v->uses()) {
        Entry& user = entries.at(u.node);
        user.round = std::max(user.round, entry.round + (user.position < entry.position ? 1 : 0));
        if (--user.missing == 0) ready.push_back(u.node);
      }
  }
  if (done < nodes_.size()) {
    const auto first = std::find_if(nodes_.begin(), nodes_.end(),
                                    [&](const Node& n) { return entries.at(&n).missing > 0; });
    return ModelError("the graph has a cycle of {} operators, through {}", nodes_.size() - done,
                      first->Describe());
  }
  if (rounds == 1) return {};
  std::vector<std::list<Node>> sorted(rounds);
  while (!nodes_.empty()) {
    auto& round = sorted[entries.at(&nodes_.front()).round];
    round.splice(round.end(), nodes_, nodes_.begin());
  }
  for (auto& round : sorted) nodes_.splice(nodes_.end(), round);
  return {};
}

Graph Graph::Clone() const {
  Graph g;
  g.name = name;
  g.metadata = metadata;
  g.next_id_ = next_id_;
  ValueTable<Value*> map(*this);
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
    for (const auto& region : n.regions()) copy.AddRegion(region->Clone());
    std::vector<Value*> inputs;
    for (const Value* v : n.inputs_) inputs.push_back(v == nullptr ? nullptr : map[v]);
    g.SetInputs(&copy, std::move(inputs));
    for (const Value* v : n.outputs_) {
      Value* o = map[v];
      o->def_ = &copy;
      copy.outputs_.push_back(o);
    }
  }
  for (const Port& p : inputs_) g.inputs_.push_back({p.name, map[p.value]});
  for (const Port& p : outputs_) g.AddOutput(p.name, map[p.value]);
  return g;
}

}  // namespace nn
