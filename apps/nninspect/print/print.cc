#include "apps/nninspect/print/print.h"

#include "apps/common/program.h"
#include "apps/nninspect/csv.h"
#include "apps/nninspect/print/cost.h"
#include "apps/nninspect/print/micro.h"
#include "apps/nninspect/print/node.h"
#include "apps/nninspect/print/statistics.h"
#include "apps/nninspect/print/tensors.h"
#include "apps/nninspect/print/tree.h"
#include "apps/nninspect/print/values.h"
#include "base/text/table.h"
#include "base/text/text.h"

namespace nn::app {
namespace {

std::string ShapeText(const TensorSummary& t) {
  if (!t.shape) return "[*]";
  std::string out;
  for (const std::string& d : *t.shape) out += (out.empty() ? "" : ", ") + Escape(d);
  return "[" + out + "]";
}

std::string Joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& n : names)
    out += (out.empty() ? "" : ", ") + (n.empty() ? std::string("-") : Escape(n));
  return out;
}

std::string TensorTable(std::string_view title, const std::vector<TensorSummary>& tensors) {
  Table table({{""}, {""}, {""}, {""}});
  for (const TensorSummary& t : tensors)
    table.Add({Escape(t.name), t.type, ShapeText(t), EscapeControls(t.quantization)});
  return fmt::format("\n{}{}\n{}", title, table.empty() ? ": none" : "", table.Text(2));
}

std::string MultiplyAddsText(const Inspection& i) {
  const auto& count = i.overview.multiply_adds;
  std::string out = count ? WithThousands(*count) : "";
  for (const std::string& note : i.notes) {
    const std::string text = EscapeControls(note);
    out += out.empty() ? text : " (" + text + ")";
  }
  return out;
}

std::string DynamicText(const Inspection& i) {
  Table table({{""}, {""}});
  for (const auto& [symbol, axes] : i.overview.dynamic) {
    std::string where;
    for (const inspect::DynamicAxis& a : axes)
      where += fmt::format("{}{} {} axis {}", where.empty() ? "" : ", ",
                           a.is_output ? "output" : "input", Quote(a.tensor), a.axis);
    table.Add({symbol.empty() ? "?" : Escape(symbol), where});
  }
  return table.empty() ? "" : "\nDynamic dimensions\n" + table.Text(2);
}

std::string UnsupportedText(const Inspection& i) {
  Table table({{""}, {"", Align::kRight}, {""}});
  for (const inspect::Unsupported& u : i.overview.unsupported)
    table.Add({Escape(u.op), WithThousands(u.count), EscapeControls(u.reason)});
  return table.empty() ? "" : "\nUnsupported\n" + table.Text(2);
}

std::string HistogramText(const Inspection& i) {
  Table table({{""}, {"", Align::kRight}});
  for (const auto& [op, count] : i.overview.histogram)
    table.Add({Escape(op), WithThousands(count)});
  return fmt::format("\nOperators: {}\n{}", WithThousands(i.model.summary.operators.size()),
                     table.Text(2));
}

std::string AttributesText(const OperatorSummary& op) {
  std::string out;
  for (const auto& [name, value] : op.attributes)
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", Escape(name), EscapeControls(value));
  return out;
}

std::string NodeTable(const Inspection& i) {
  Table table({{"#", Align::kRight},
               {"operator"},
               {"name"},
               {"scope"},
               {"inputs"},
               {"outputs"},
               {"attributes"}});
  for (const size_t index : i.table) {
    const OperatorSummary& op = i.model.summary.operators[index];
    table.Add({std::to_string(index), Escape(op.op), Escape(op.name), Escape(op.scope),
               Joined(op.inputs), Joined(op.outputs), AttributesText(op)});
  }
  return "\n" + table.Text();
}

std::string NodesCsv(const Inspection& i) {
  std::string out =
      CsvLine({"index", "operator", "name", "scope", "inputs", "outputs", "attributes"});
  for (const size_t index : i.table) {
    const OperatorSummary& op = i.model.summary.operators[index];
    out += CsvLine({std::to_string(index), op.op, op.name, op.scope, Joined(op.inputs),
                    Joined(op.outputs), AttributesText(op)});
  }
  return out;
}

std::string HashText(const GraphDigests& digests) {
  return fmt::format("\nHash\n  structure  {}\n  weights    {}\n", digests.structure,
                     digests.weights);
}

std::string SummaryText(const Inspection& i) {
  const ModelSummary& s = i.model.summary;
  std::string out;
  Table facts({{""}, {""}});
  if (!s.producer.empty()) facts.Add({"Producer", Escape(s.producer)});
  if (!s.name.empty()) facts.Add({"Name", Escape(s.name)});
  for (const auto& [key, value] : s.metadata) facts.Add({Escape(key), EscapeControls(value)});
  out += facts.Text(2);
  out += TensorTable("Inputs", s.inputs);
  out += TensorTable("Outputs", s.outputs);
  out += HistogramText(i);
  out += UnsupportedText(i);
  out += DynamicText(i);
  Table totals({{""}, {""}});
  totals.Add({"Parameters", fmt::format("{} ({})", WithThousands(s.parameter_count),
                                        HumanBytes(s.parameter_bytes))});
  totals.Add({"Multiply-adds", MultiplyAddsText(i)});
  if (i.model.file_bytes) totals.Add({"File", HumanBytes(*i.model.file_bytes)});
  return out + "\n" + totals.Text();
}

}  // namespace

std::string InspectionText(const Inspection& i, const InspectOptions& options) {
  const ModelSummary& s = i.model.summary;
  std::string out = fmt::format("{}: {}, {}\n", i.model.path, s.format, EscapeControls(s.version));
  if (!options.parts() || options.nodes) out += SummaryText(i);
  if (options.table()) out += NodeTable(i);
  if (i.node) out += NodesText(*i.node, options.histogram);
  if (i.tree) out += TreeText(*i.tree);
  if (i.tensors) out += TensorsText(s, *i.tensors, options.histogram);
  if (i.values) out += ValuesText(*i.values);
  if (i.cost) out += CostText(*i.cost);
  if (i.micro) out += MicroText(*i.micro);
  if (i.digests) out += HashText(*i.digests);
  return out;
}

std::string InspectionCsv(const Inspection& i) {
  if (i.tensors) return TensorsCsv(i.model.summary, *i.tensors);
  if (i.values) return ValuesCsv(*i.values);
  return i.cost ? CostCsv(*i.cost) : NodesCsv(i);
}

}  // namespace nn::app
