#include <cmath>
#include <utility>

#include "inspect/report/parts_json.h"

namespace nn::inspect {
namespace {

// Values that JSON numbers cannot represent.
Json Plain(const Json& v) {
  if (!v.is_number_float() || std::isfinite(v.get<double>())) return v;
  return std::isnan(v.get<double>()) ? "NaN" : v.get<double>() > 0 ? "Infinity" : "-Infinity";
}

Json QuantizationJson(const StoredQuantization& q) {
  Json json = Json::object();
  if (!q.table.empty()) json["table"] = q.table;
  if (q.table.empty()) {
    json["scales"] = q.scales;
    json["zero_points"] = q.zero_points;
    if (q.zero_points.empty() && q.biases.empty()) json["zero_points"] = {0};
    if (!q.biases.empty()) json["biases"] = q.biases;
    json["axis"] = q.axis < 0 ? Json(nullptr) : Json(q.axis);
    if (q.block > 0) json["block"] = q.block;
  }
  return json;
}

Json TensorJson(const TensorRow& r, bool histogram) {
  const TensorEntry& e = r.entry;
  Json json = {{"name", e.name}, {"scope", e.scope}, {"type", e.type}, {"shape", e.shape}};
  json["bytes"] = e.bytes;
  json["storage"] = e.external ? "external" : "inline";
  json["location"] = e.location;
  json["used_by"] = e.users;
  json["is_attribute"] = e.is_attribute;
  if (r.quantization) json["quantization"] = QuantizationJson(*r.quantization);
  if (!r.quantization_problem.empty()) json["quantization_problem"] = r.quantization_problem;
  if (r.statistics) json["statistics"] = StatisticsJson(*r.statistics, histogram);
  if (!r.problem.empty()) json["problem"] = r.problem;
  return json;
}

Json TypedOperandsJson(const std::vector<Operand>& operands) {
  Json list = Json::array();
  for (const Operand& o : operands)
    list.push_back({{"name", o.name}, {"type", o.type}, {"constant", o.constant}});
  return list;
}

}  // namespace

Json StatisticsJson(const TensorStatistics& s, bool histogram) {
  Json json = {{"count", s.count}, {"zeros", s.zeros}, {"nans", s.nans}};
  json["infinities"] = s.infinities;
  json["min"] = s.min;
  json["max"] = s.max;
  json["mean"] = s.mean ? Json(*s.mean) : Json(nullptr);
  json["standard_deviation"] = s.deviation ? Json(*s.deviation) : Json(nullptr);
  json["distinct"] = nullptr;
  if (s.distinct) {
    json["distinct"] = Json::array();
    for (const Json& v : *s.distinct) json["distinct"].push_back(Plain(v));
  }
  if (histogram && s.histogram)
    json["histogram"] = {
        {"low", s.histogram->low}, {"high", s.histogram->high}, {"counts", s.histogram->counts}};
  return json;
}

Json TensorsJson(const std::vector<TensorRow>& rows, bool histograms) {
  Json list = Json::array();
  for (const TensorRow& r : rows) list.push_back(TensorJson(r, histograms));
  return list;
}

Json NodesJson(const std::vector<NodeDetails>& nodes, bool histograms) {
  Json list = Json::array();
  for (const NodeDetails& n : nodes) {
    Json attributes = Json::array();
    for (const auto& [name, value] : n.op->attributes)
      attributes.push_back({{"name", name}, {"value", value}});
    Json json = {{"index", n.index}, {"operator", n.op->op}, {"name", n.op->name}};
    json["scope"] = n.op->scope;
    json["attributes"] = std::move(attributes);
    json["inputs"] = TypedOperandsJson(n.inputs);
    json["outputs"] = TypedOperandsJson(n.outputs);
    json["constants"] = TensorsJson(n.constants, histograms);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace nn::inspect
