#include <utility>

#include "inspect/report/parts_json.h"
#include "nnsuite/version.h"

namespace nn::inspect {
namespace {

Json InterfaceJson(const std::vector<TensorSummary>& tensors) {
  Json list = Json::array();
  for (const TensorSummary& t : tensors) {
    Json entry = {{"name", t.name}, {"type", t.type}, {"shape", nullptr}};
    if (t.shape) {
      entry["shape"] = Json::array();
      for (const std::string& d : *t.shape) {
        const auto size = FixedSize(d);
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
    for (const DynamicAxis& a : axes)
      where.push_back(
          {{"role", a.is_output ? "output" : "input"}, {"tensor", a.tensor}, {"axis", a.axis}});
    list.push_back(
        {{"symbol", symbol.empty() ? Json(nullptr) : Json(symbol)}, {"where", std::move(where)}});
  }
  return list;
}

Json OrNull(const std::optional<uint64_t>& n) {
  return n ? Json(*n) : Json(nullptr);
}

}  // namespace

Json ReportHead() {
  return {{"version", 1}, {"tool", {{"name", "nninspect"}, {"version", nnsuite::Version()}}}};
}

Json CostJson(const ModelCost& cost) {
  Json rows = Json::array();
  for (const OperatorCost& r : cost.operators) {
    Json row = {{"index", r.index < 0 ? Json(nullptr) : Json(r.index)}, {"operator", r.op}};
    row["name"] = r.name;
    row["output"] = r.output;
    row["multiply_adds"] = OrNull(r.multiply_adds);
    row["parameters"] = r.parameters;
    row["bytes_read"] = OrNull(r.bytes_read);
    row["bytes_written"] = OrNull(r.bytes_written);
    if (!r.unknown.empty()) row["unknown"] = r.unknown;
    rows.push_back(std::move(row));
  }
  Json json = {{"multiply_adds", cost.multiply_adds}, {"unknown_operators", cost.unknown}};
  json["parameters"] = cost.parameters;
  json["bytes_read"] = cost.bytes_read;
  json["bytes_written"] = cost.bytes_written;
  json["unsized_operators"] = cost.unsized;
  json["peak_activation_bytes"] = OrNull(cost.peak_bytes);
  json["peak_operator"] =
      cost.peak_bytes && !cost.operators.empty()
          ? OrNull(cost.operators[cost.peak_operator].index < 0
                       ? std::nullopt
                       : std::optional<uint64_t>(cost.operators[cost.peak_operator].index))
          : Json(nullptr);
  json["operators"] = std::move(rows);
  return json;
}

Json MicroJson(const Result<MicroModel>& micro) {
  if (!micro) return {{"error", micro.error().message()}};
  Json operators = Json::array();
  for (const MicroModel::Operator& op : micro->operators)
    operators.push_back(
        {{"operator", op.name},
         {"count", op.count},
         {"registration", op.registration.empty() ? Json(nullptr) : Json(op.registration)}});
  Json tensors = Json::array();
  for (const MicroModel::Placement& t : micro->placements)
    tensors.push_back({{"name", t.tensor},
                       {"subgraph", t.subgraph},
                       {"offset", t.offset},
                       {"bytes", t.bytes},
                       {"first", t.first},
                       {"last", t.last}});
  return {{"arena_bytes", micro->arena_bytes},
          {"live_bytes", micro->live_bytes},
          {"alignment", MicroModel::kAlignment},
          {"operators", std::move(operators)},
          {"tensors", std::move(tensors)}};
}

Json TreeJson(const TreeBranch& tree) {
  Json branches = Json::array();
  for (const TreeBranch& b : tree.branches) {
    Json branch = {{"name", b.name}};
    branch.update(TreeJson(b));
    branches.push_back(std::move(branch));
  }
  return {{"operators", tree.operators},
          {"parameters", tree.parameters},
          {"bytes", tree.bytes},
          {"branches", std::move(branches)}};
}

Json InspectionJson(const Inspection& i, const Parts& parts) {
  const ModelSummary& s = i.model.summary;
  Json metadata = Json::array();
  for (const auto& [key, value] : s.metadata) metadata.push_back({{"key", key}, {"value", value}});
  Json histogram = Json::array();
  for (const auto& [op, count] : i.overview.histogram)
    histogram.push_back({{"operator", op}, {"count", count}});
  Json unsupported = Json::array();
  for (const Unsupported& u : i.overview.unsupported)
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
  if (parts.table()) json["nodes"] = TableJson(i);
  if (i.node) json["node"] = NodesJson(*i.node, parts.histogram);
  if (i.tree) json["tree"] = TreeJson(*i.tree);
  if (i.tensors) json["tensors"] = TensorsJson(*i.tensors, parts.histogram);
  if (i.values) json["values"] = ValuesJson(*i.values);
  if (i.cost) json["cost"] = CostJson(*i.cost);
  if (i.micro) json["cost"]["micro"] = MicroJson(*i.micro);
  if (i.digests)
    json["hash"] = {{"structure", i.digests->structure}, {"weights", i.digests->weights}};
  return json;
}

}  // namespace nn::inspect
