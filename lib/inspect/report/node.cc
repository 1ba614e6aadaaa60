#include "inspect/report/node.h"

#include <fmt/core.h>

#include <map>
#include <string_view>
#include <unordered_map>

#include "inspect/report/shape_text.h"

namespace nn::inspect {
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
        out.constants.push_back({entry, {}, {}, {}, {}});
        AddQuantization(out.constants.back());
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

}  // namespace

Result<std::vector<NodeDetails>> DescribeNodes(const LoadedModel& model,
                                               std::span<const size_t> operators) {
  const size_t count = model.summary.operators.size();
  for (const size_t index : operators)
    if (index >= count) return UsageError("operator {}: the model has {} operators", index, count);
  NN_ASSIGN(const std::vector<TensorEntry> tensors, TensorsOf(model));
  const Describer describer(model, tensors);
  std::vector<NodeDetails> out;
  out.reserve(operators.size());
  for (const size_t index : operators) out.push_back(describer.Describe(index));
  return out;
}

}  // namespace nn::inspect
