#include "inspect/report/opaque_reader.h"

#include <cstdint>
#include <utility>

namespace nn::inspect {
namespace {

// The text of a graph attribute contains the graph's name.
std::string WithoutNames(const std::string& value) {
  return value.starts_with("graph \"") ? "graph" : value;
}

}  // namespace

OpaqueReader::OpaqueReader(const LoadedModel& model, std::vector<TensorEntry> tensors)
    : operators_(model.summary.operators), tensors_(std::move(tensors)) {
  if (model.graph)
    for (const Value& v : model.graph->values())
      if (!v.name().empty()) values_.emplace(v.name(), &v);
  for (size_t i = 0; i < operators_.size(); ++i)
    if (operators_[i].scope.empty()) main_.push_back(i);
  for (size_t i = 0; i < tensors_.size(); ++i)
    for (const size_t user : tensors_[i].users) taken_[user].push_back(i);
}

const OperatorSummary* OpaqueReader::Find(const Node& node) const {
  const int64_t index = node.source().index;
  if (index < 0 || static_cast<size_t>(index) >= main_.size()) return nullptr;
  return &operators_[main_[static_cast<size_t>(index)]];
}

OpaqueContents OpaqueReader::Read(const Node& node) const {
  OpaqueContents out;
  const OperatorSummary* op = Find(node);
  if (op == nullptr) {
    out.structure = node.source().op.view();
    return out;
  }
  const auto first = static_cast<size_t>(op - operators_.data());
  Names names;
  AddOperator(first, out, names);
  // The operators of its subgraphs follow it in the list.
  for (size_t i = first + 1; i < operators_.size() && IsInside(i, first); ++i) {
    out.structure += "; " + names.Text(operators_[i].scope);
    AddOperator(i, out, names);
    AddCaptures(i, out, names);
    AddTensors(i, false, out);
  }
  return out;
}

// ONNX and Core ML name the scope of a subgraph after its operator; TensorFlow Lite subgraphs are
// not part of an operator.
bool OpaqueReader::IsInside(size_t i, size_t owner) const {
  const std::string& scope = operators_[i].scope;
  return !scope.empty() && (scope.starts_with(operators_[owner].name + ".") ||
                            scope.starts_with(operators_[owner].op + " "));
}

void OpaqueReader::AddOperator(size_t i, OpaqueContents& out, Names& names) const {
  const OperatorSummary& op = operators_[i];
  out.structure += op.op;
  for (const auto& [name, value] : op.attributes)
    out.structure += fmt::format(", {} = {}", name, WithoutNames(value));
  if (!op.scope.empty()) {
    for (const std::string& input : op.inputs) out.structure += " <" + names.Text(input);
    for (const std::string& output : op.outputs) out.structure += " >" + names.Text(output);
  }
  AddTensors(i, true, out);
}

void OpaqueReader::AddCaptures(size_t i, OpaqueContents& out, Names& names) const {
  for (const std::string& input : operators_[i].inputs)
    if (const auto it = values_.find(input); it != values_.end()) {
      out.structure += " captures " + names.Text(input);
      out.captures.push_back(it->second);
    }
}

// Attributes, and constants of subgraphs, at their first user; constants of the main graph are
// values of the graph.
void OpaqueReader::AddTensors(size_t i, bool attributes, OpaqueContents& out) const {
  const auto it = taken_.find(i);
  if (it == taken_.end()) return;
  for (const size_t t : it->second) {
    const TensorEntry& e = tensors_[t];
    const bool own = attributes || (!e.scope.empty() && e.users.front() == i);
    if (e.is_attribute == attributes && own) out.tensors.push_back(e.read);
  }
}

}  // namespace nn::inspect
