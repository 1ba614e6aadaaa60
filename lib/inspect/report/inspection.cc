#include "inspect/report/inspection.h"

#include <charconv>
#include <string>
#include <utility>

#include "base/text/text.h"
#include "passes/core/ports.h"

namespace nn::inspect {
namespace {

// The model's operators by name or "#12". kUsage if there is none.
Result<std::vector<size_t>> FindOperators(const ModelSummary& summary, const std::string& name) {
  std::vector<size_t> found = OperatorsNamed(summary, name);
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
Result<std::vector<size_t>> TableOf(const ModelSummary& summary, const Parts& parts) {
  std::vector<size_t> table;
  if (!parts.table()) return table;
  for (size_t i = 0; i < summary.operators.size(); ++i)
    if (parts.op.empty() || summary.operators[i].op == parts.op) table.push_back(i);
  if (table.empty() && !parts.op.empty())
    return UsageError("--op {}: the model has no operator of this type", Quote(parts.op));
  return table;
}

std::vector<std::string> NotesOn(const LoadedModel& model, const Overview& overview) {
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
Status AddParts(const Parts& parts, Inspection& out) {
  NN_ASSIGN(out.table, TableOf(out.model.summary, parts));
  if (!parts.node.empty()) {
    NN_ASSIGN(const auto operators, FindOperators(out.model.summary, parts.node));
    NN_ASSIGN(out.node, DescribeNodes(out.model, operators));
  }
  if (parts.hash) {
    NN_ASSIGN(out.digests, DigestsOf(out.model));
  }
  if (parts.tensors) {
    NN_ASSIGN(out.tensors, ListTensors(out.model, parts.stats || parts.histogram));
  }
  if (parts.values) {
    NN_ASSIGN(out.values, ValuesOf(out.model));
  }
  if (parts.tree) {
    NN_ASSIGN(out.tree, TreeOf(out.model));
  }
  if (parts.cost) {
    NN_ASSIGN(out.cost, CostOf(out.model));
    out.micro = out.model.read.format->describer.MicroModelOf(*out.model.read.model);
  }
  return {};
}

}  // namespace

void Parts::SetNeeds(bool summary, LoadOptions& load) const {
  const bool of_graph = !node.empty() || hash || cost || values;
  load.in_full = !node.empty() || hash;
  load.graph = of_graph || summary;
}

Result<Inspection> InspectModel(LoadedModel model, const Parts& parts) {
  Inspection out;
  out.model = std::move(model);
  out.overview = OverviewOf(out.model);
  out.notes = NotesOn(out.model, out.overview);
  NN_RETURN_IF_ERROR(AddParts(parts, out));
  // A text of a million operators takes as much memory as they do.
  out.model.graph.reset();
  out.model.read.model.reset();
  return out;
}

}  // namespace nn::inspect
