#include "apps/nninspect/print/node.h"

#include <string_view>

#include "apps/nninspect/print/statistics.h"
#include "apps/nninspect/print/tensors.h"
#include "base/text/table.h"
#include "base/text/text.h"
#include "inspect/report/shape_text.h"

namespace nn::app {
namespace {

std::string OperandsText(std::string_view title, const std::vector<inspect::Operand>& operands) {
  Table table({{"", Align::kRight}, {""}, {""}, {""}});
  for (size_t i = 0; i < operands.size(); ++i) {
    const inspect::Operand& o = operands[i];
    table.Add({std::to_string(i), o.name.empty() ? "-" : Escape(o.name), Escape(o.type),
               o.constant ? "constant" : ""});
  }
  return table.empty() ? "" : fmt::format("\n{}\n{}", title, table.Text(2));
}

std::string NodeText(const inspect::NodeDetails& node, bool histograms) {
  std::string out = fmt::format("\n#{} {}{}{}\n", node.index, Escape(node.op->op),
                                node.op->name.empty() ? "" : " ", Escape(node.op->name));
  if (!node.op->scope.empty()) out += fmt::format("  in {}\n", Escape(node.op->scope));
  Table attributes({{""}, {""}});
  for (const auto& [name, value] : node.op->attributes)
    attributes.Add({Escape(name), EscapeControls(value)});
  if (!attributes.empty()) out += "\nAttributes\n" + attributes.Text(2);
  out += OperandsText("Inputs", node.inputs) + OperandsText("Outputs", node.outputs);
  Table constants({{""}, {""}, {""}, {""}, {""}, {""}, {""}});
  for (const inspect::TensorRow& r : node.constants)
    constants.Add({Escape(r.entry.name), r.entry.type + inspect::ShapeText(r.entry.shape),
                   HumanBytes(r.entry.bytes), Escape(StoredText(r.entry)),
                   EscapeControls(inspect::QuantizationText(r)),
                   r.statistics ? StatisticsText(*r.statistics) : EscapeControls(r.problem),
                   histograms && r.statistics ? HistogramText(*r.statistics) : ""});
  if (!constants.empty()) out += "\nConstants\n" + constants.Text(2);
  return out;
}

}  // namespace

std::string NodesText(const std::vector<inspect::NodeDetails>& nodes, bool histograms) {
  std::string out;
  for (const inspect::NodeDetails& n : nodes) out += NodeText(n, histograms);
  return out;
}

}  // namespace nn::app
