#include "apps/nninspect/node.h"

#include <algorithm>

#include "apps/common/table.h"
#include "base/text.h"

namespace nn::app {
namespace {

std::string TypeText(const Type& type) {
  std::string out = ShapeText(type);
  if (type.dtype != DType::kUnknown) out.insert(0, DTypeName(type.dtype));
  const Quant* q = type.quant.get();
  if (q == nullptr) return out;
  if (q->per_axis())
    return out + fmt::format(", {} scales along axis {}", q->scales.size(), q->axis);
  return out + fmt::format(", scale {}, zero point {}", FloatText(q->scale()), q->zero_point());
}

class Describer {
 public:
  Describer(const LoadedModel& model, const std::vector<TensorEntry>& tensors)
      : model_(model), tensors_(tensors), types_(TypesByName(model)) {}

  NodeDetails Describe(size_t index) const {
    const OperatorSummary& op = model_.summary.operators[index];
    NodeDetails out;
    out.index = index;
    out.op = &op;
    for (const TensorEntry& t : tensors_)
      if (std::binary_search(t.users.begin(), t.users.end(), index)) {
        out.constants.push_back({t, {}, {}});
        AddStatistics(out.constants.back());
      }
    for (const std::string& name : op.inputs) out.inputs.push_back(OperandOf(name, op, out));
    for (const std::string& name : op.outputs) out.outputs.push_back(OperandOf(name, op, out));
    return out;
  }

 private:
  Operand OperandOf(const std::string& name, const OperatorSummary& op,
                    const NodeDetails& node) const {
    Operand out;
    out.name = name;
    for (const TensorRow& row : node.constants)
      if (!row.entry.is_attribute && row.entry.name == name) {
        out.constant = true;
        out.type = row.entry.type + ShapeText(row.entry.shape);
      }
    const auto it = types_.find(name);
    if (!out.constant && op.scope.empty() && it != types_.end()) out.type = TypeText(*it->second);
    return out;
  }

  const LoadedModel& model_;
  const std::vector<TensorEntry>& tensors_;
  std::map<std::string, const Type*, std::less<>> types_;
};

std::string OperandsText(std::string_view title, const std::vector<Operand>& operands) {
  Table table({{"", Align::kRight}, {""}, {""}, {""}});
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand& o = operands[i];
    table.Add({std::to_string(i), o.name.empty() ? "-" : Escape(o.name), Escape(o.type),
               o.constant ? "constant" : ""});
  }
  return table.empty() ? "" : fmt::format("\n{}\n{}", title, table.Text(2));
}

Json OperandsJson(const std::vector<Operand>& operands) {
  Json list = Json::array();
  for (const Operand& o : operands)
    list.push_back({{"name", o.name}, {"type", o.type}, {"constant", o.constant}});
  return list;
}

std::string NodeText(const NodeDetails& node) {
  std::string out = fmt::format("\n#{} {}{}{}\n", node.index, Escape(node.op->op),
                                node.op->name.empty() ? "" : " ", Escape(node.op->name));
  if (!node.op->scope.empty()) out += fmt::format("  in {}\n", Escape(node.op->scope));
  Table attributes({{""}, {""}});
  for (const auto& [name, value] : node.op->attributes)
    attributes.Add({Escape(name), EscapeControls(value)});
  if (!attributes.empty()) out += "\nAttributes\n" + attributes.Text(2);
  out += OperandsText("Inputs", node.inputs) + OperandsText("Outputs", node.outputs);
  Table constants({{""}, {""}, {""}, {""}, {""}});
  for (const TensorRow& r : node.constants)
    constants.Add({Escape(r.entry.name), r.entry.type + ShapeText(r.entry.shape),
                   HumanBytes(r.entry.bytes), Escape(StoredText(r.entry)),
                   r.statistics ? StatisticsText(*r.statistics) : EscapeControls(r.problem)});
  if (!constants.empty()) out += "\nConstants\n" + constants.Text(2);
  return out;
}

}  // namespace

Result<std::vector<NodeDetails>> DescribeNodes(const LoadedModel& model, const std::string& name) {
  NN_ASSIGN(const std::vector<size_t> found, FindOperators(model.summary, name));
  NN_ASSIGN(const std::vector<TensorEntry> tensors, TensorsOf(model));
  const Describer describer(model, tensors);
  std::vector<NodeDetails> out;
  out.reserve(found.size());
  for (const size_t index : found) out.push_back(describer.Describe(index));
  return out;
}

std::string NodesText(const std::vector<NodeDetails>& nodes) {
  std::string out;
  for (const NodeDetails& n : nodes) out += NodeText(n);
  return out;
}

Json NodesJson(const std::vector<NodeDetails>& nodes) {
  Json list = Json::array();
  for (const NodeDetails& n : nodes) {
    Json attributes = Json::array();
    for (const auto& [name, value] : n.op->attributes)
      attributes.push_back({{"name", name}, {"value", value}});
    Json json = {{"index", n.index}, {"operator", n.op->op}, {"name", n.op->name}};
    json["scope"] = n.op->scope;
    json["attributes"] = std::move(attributes);
    json["inputs"] = OperandsJson(n.inputs);
    json["outputs"] = OperandsJson(n.outputs);
    json["constants"] = TensorsJson(n.constants);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace nn::app
