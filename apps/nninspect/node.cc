#include "apps/nninspect/node.h"

#include <string_view>
#include <unordered_map>

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
      : model_(model), tensors_(tensors), types_(TypesByName(model)) {
    for (size_t t = 0; t < tensors.size(); ++t)
      for (const size_t user : tensors[t].users) constants_[user].push_back(t);
  }

  NodeDetails Describe(size_t index) const {
    const OperatorSummary& op = model_.summary.operators[index];
    NodeDetails out;
    out.index = index;
    out.op = &op;
    std::unordered_map<std::string_view, std::string> constants;  // types
    if (const auto it = constants_.find(index); it != constants_.end()) {
      for (const size_t t : it->second) {
        const TensorEntry& entry = tensors_[t];
        out.constants.push_back({entry, {}, {}});
        AddStatistics(out.constants.back());
        if (!entry.is_attribute)
          constants.insert_or_assign(entry.name, entry.type + ShapeText(entry.shape));
      }
    }
    const auto operand = [&](const std::string& name) {
      const auto it = constants.find(name);
      return it == constants.end() ? ValueOf(name, op) : Operand{name, it->second, true};
    };
    for (const std::string& name : op.inputs) out.inputs.push_back(operand(name));
    for (const std::string& name : op.outputs) out.outputs.push_back(operand(name));
    return out;
  }

 private:
  Operand ValueOf(const std::string& name, const OperatorSummary& op) const {
    const auto it = types_.find(name);
    const bool known = op.scope.empty() && it != types_.end();
    return {name, known ? TypeText(*it->second) : std::string(), false};
  }

  const LoadedModel& model_;
  const std::vector<TensorEntry>& tensors_;
  std::map<std::string, const Type*, std::less<>> types_;
  std::unordered_map<size_t, std::vector<size_t>> constants_;  // by operator
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
