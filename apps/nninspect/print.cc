#include "apps/nninspect/print.h"

#include "apps/common/program.h"
#include "apps/common/table.h"
#include "apps/nninspect/csv.h"
#include "base/text.h"

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

Json InterfaceJson(const std::vector<TensorSummary>& tensors) {
  Json list = Json::array();
  for (const TensorSummary& t : tensors) {
    Json entry = {{"name", t.name}, {"type", t.type}, {"shape", nullptr}};
    if (t.shape) {
      entry["shape"] = Json::array();
      for (const std::string& d : *t.shape) {
        const auto size = inspect::FixedSize(d);
        entry["shape"].push_back(size ? Json(*size) : Json(d));
      }
    }
    if (!t.quantization.empty()) entry["quantization"] = t.quantization;
    list.push_back(std::move(entry));
  }
  return list;
}

Json TableJson(const Inspection& i) {
  Json list = Json::array();
  for (const size_t index : i.table) {
    const OperatorSummary& op = i.model.summary.operators[index];
    Json attributes = Json::array();
    for (const auto& [name, value] : op.attributes)
      attributes.push_back({{"name", name}, {"value", value}});
    list.push_back({{"index", index},
                    {"operator", op.op},
                    {"name", op.name},
                    {"scope", op.scope},
                    {"inputs", op.inputs},
                    {"outputs", op.outputs},
                    {"attributes", std::move(attributes)}});
  }
  return list;
}

Json DynamicJson(const Inspection& i) {
  Json list = Json::array();
  for (const auto& [symbol, axes] : i.overview.dynamic) {
    Json where = Json::array();
    for (const inspect::DynamicAxis& a : axes)
      where.push_back(
          {{"role", a.is_output ? "output" : "input"}, {"tensor", a.tensor}, {"axis", a.axis}});
    list.push_back(
        {{"symbol", symbol.empty() ? Json(nullptr) : Json(symbol)}, {"where", std::move(where)}});
  }
  return list;
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

Json ReportHead() {
  return {{"version", 1}, {"tool", {{"name", "nninspect"}, {"version", Version()}}}};
}

Json InspectionJson(const Inspection& i, const InspectOptions& options) {
  const ModelSummary& s = i.model.summary;
  Json metadata = Json::array();
  for (const auto& [key, value] : s.metadata) metadata.push_back({{"key", key}, {"value", value}});
  Json histogram = Json::array();
  for (const auto& [op, count] : i.overview.histogram)
    histogram.push_back({{"operator", op}, {"count", count}});
  Json unsupported = Json::array();
  for (const inspect::Unsupported& u : i.overview.unsupported)
    unsupported.push_back({{"operator", u.op}, {"count", u.count}, {"reason", u.reason}});

  Json json = ReportHead();
  json["path"] = i.model.path;
  if (i.model.file_bytes) json["file_bytes"] = *i.model.file_bytes;
  json["format"] = s.format;
  json["format_version"] = s.version;
  json["producer"] = s.producer;
  json["name"] = s.name;
  json["metadata"] = std::move(metadata);
  json["inputs"] = InterfaceJson(s.inputs);
  json["outputs"] = InterfaceJson(s.outputs);
  json["operators"] = {{"count", s.operators.size()}, {"histogram", std::move(histogram)}};
  json["unsupported"] = std::move(unsupported);
  json["dynamic_dimensions"] = DynamicJson(i);
  json["parameters"] = {{"count", s.parameter_count}, {"bytes", s.parameter_bytes}};
  const auto& multiply_adds = i.overview.multiply_adds;
  json["multiply_adds"] = {{"count", multiply_adds ? Json(*multiply_adds) : Json(nullptr)},
                           {"complete", multiply_adds && i.overview.uncounted == 0},
                           {"notes", i.notes}};
  if (options.table()) json["nodes"] = TableJson(i);
  if (i.node) json["node"] = NodesJson(*i.node, options.histogram);
  if (i.tree) json["tree"] = TreeJson(*i.tree);
  if (i.tensors) json["tensors"] = TensorsJson(*i.tensors, options.histogram);
  if (i.values) json["values"] = ValuesJson(*i.values);
  if (i.cost) json["cost"] = CostJson(*i.cost);
  if (i.micro) json["cost"]["micro"] = MicroJson(*i.micro);
  if (i.digests)
    json["hash"] = {{"structure", i.digests->structure}, {"weights", i.digests->weights}};
  return json;
}

}  // namespace nn::app
