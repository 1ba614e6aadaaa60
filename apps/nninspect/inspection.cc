#include "apps/nninspect/inspection.h"

#include <charconv>
#include <string>

#include "base/text.h"
#include "passes/ports.h"

namespace nn::app {
namespace {

// The model's operators by name or "#12". kUsage if there is none.
Result<std::vector<size_t>> FindOperators(const ModelSummary& summary, const std::string& name) {
  std::vector<size_t> found = inspect::OperatorsNamed(summary, name);
  if (!found.empty()) return found;
  size_t index = 0;
  const char* end = name.data() + name.size();
  if (name.starts_with("#") && name.size() > 1) {
    const auto r = std::from_chars(name.data() + 1, end, index);
    if (r.ec == std::errc() && r.ptr == end) {
      if (index < summary.operators.size()) return std::vector{index};
      return UsageError("--node {}: out of range; the model has {} operators, #0 to #{}", name,
                        summary.operators.size(), summary.operators.size() - 1);
    }
  }
  return UsageError(
      "--node {}: no operator or operator output has this name; use a name or #NUMBER listed by "
      "--nodes",
      Quote(name));
}

// The operators to list.
Result<std::vector<size_t>> TableOf(const ModelSummary& summary, const InspectOptions& options) {
  std::vector<size_t> table;
  if (!options.table()) return table;
  for (size_t i = 0; i < summary.operators.size(); ++i)
    if (options.op.empty() || summary.operators[i].op == options.op) table.push_back(i);
  if (table.empty() && !options.op.empty())
    return UsageError("--op {}: the model has no operator of this type", Quote(options.op));
  return table;
}

std::vector<std::string> NotesOn(const inspect::LoadedModel& model,
                                 const inspect::Overview& overview) {
  std::vector<std::string> notes;
  if (model.import_error)
    notes.push_back("unknown, because the model cannot be imported: " +
                    model.import_error->message());
  if (!model.graph) return notes;
  if (!overview.multiply_adds)
    notes.push_back(InputSymbols(*model.graph).empty()
                        ? "unknown, because shapes inside the model are"
                        : "unknown: set input shapes with --input-shape or --batch");
  if (overview.uncounted != 0)
    notes.push_back(
        fmt::format("without {} operators that are unsupported or depend on an unsupported one",
                    overview.uncounted));
  return notes;
}

// The digests come first, because the tables need not be in memory for them.
Status AddParts(const InspectOptions& options, Inspection& out) {
  NN_ASSIGN(out.table, TableOf(out.model.summary, options));
  if (!options.node.empty()) {
    NN_ASSIGN(const auto operators, FindOperators(out.model.summary, options.node));
    NN_ASSIGN(out.node, inspect::DescribeNodes(out.model, operators));
  }
  if (options.hash) {
    NN_ASSIGN(out.digests, inspect::DigestsOf(out.model));
  }
  if (options.tensors) {
    NN_ASSIGN(out.tensors, inspect::ListTensors(out.model, options.stats || options.histogram));
  }
  if (options.values) {
    NN_ASSIGN(out.values, inspect::ValuesOf(out.model));
  }
  if (options.tree) {
    NN_ASSIGN(out.tree, inspect::TreeOf(out.model));
  }
  if (options.cost) {
    NN_ASSIGN(out.cost, inspect::CostOf(out.model));
    if (const auto micro = out.model.read.format->micro) out.micro = micro(*out.model.read.model);
  }
  return {};
}

}  // namespace

inspect::LoadOptions LoadOptionsOf(const InspectOptions& options) {
  inspect::LoadOptions load = {.limits = options.limits};
  if (options.shapes.empty()) return load;
  // BindShapes() reports shapes that cannot be read.
  if (auto settings = SettingsOf(options.shapes)) load.inputs = *std::move(settings);
  load.bind = [shapes = options.shapes](Graph& graph) { return BindShapes(graph, shapes); };
  return load;
}

Result<Inspection> Inspect(const InspectOptions& options) {
  const bool of_graph = !options.node.empty() || options.hash || options.cost || options.values;
  const bool summary = !options.parts() || options.nodes || options.format == "json";
  inspect::LoadOptions load = LoadOptionsOf(options);
  load.in_full = !options.node.empty() || options.hash;
  load.graph = of_graph || summary;
  Inspection out;
  NN_ASSIGN(out.model, inspect::Load(options.model, load));
  out.overview = inspect::OverviewOf(out.model);
  out.notes = NotesOn(out.model, out.overview);
  NN_RETURN_IF_ERROR(AddParts(options, out));
  // A text of a million operators takes as much memory as they do.
  out.model.graph.reset();
  out.model.read.model.reset();
  return out;
}

}  // namespace nn::app
