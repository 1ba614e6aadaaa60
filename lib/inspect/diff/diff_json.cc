#include <utility>

#include "inspect/report/inspection.h"

namespace nn::inspect {
namespace {

Json FieldsJson(const std::vector<FieldDiff>& fields) {
  const auto or_null = [](const std::string& s) { return s.empty() ? Json(nullptr) : Json(s); };
  Json list = Json::array();
  for (const FieldDiff& f : fields)
    list.push_back({{"what", f.what}, {"a", or_null(f.a)}, {"b", or_null(f.b)}});
  return list;
}

Json RefJson(const OperatorRef& r) {
  return {
      {"index", r.index < 0 ? Json(nullptr) : Json(r.index)}, {"operator", r.op}, {"name", r.name}};
}

Json RefsJson(const std::vector<OperatorRef>& refs) {
  Json list = Json::array();
  for (const OperatorRef& r : refs) list.push_back(RefJson(r));
  return list;
}

Json WeightsJson(const ModelDiff& diff) {
  Json list = Json::array();
  for (const WeightDiff& w : diff.weights)
    list.push_back({{"a", RefJson(w.a)},
                    {"b", RefJson(w.b)},
                    {"input", w.input},
                    {"name", w.name},
                    {"type", w.type},
                    {"elements", w.comparison.elements},
                    {"different", w.comparison.outside},
                    {"max_absolute", w.comparison.max_absolute},
                    {"max_relative", w.comparison.max_relative}});
  return list;
}

Json ModelJson(const LoadedModel& m) {
  return {{"path", m.path}, {"format", m.summary.format}};
}

}  // namespace

Json DiffJson(const LoadedModel& a, const LoadedModel& b, const ModelDiff& d) {
  Json changed = Json::array();
  for (const OperatorDiff& c : d.changed)
    changed.push_back({{"a", RefJson(c.a)}, {"b", RefJson(c.b)}, {"fields", FieldsJson(c.fields)}});
  Json json = ReportHead();
  json["a"] = ModelJson(a);
  json["b"] = ModelJson(b);
  json["equal"] = d.empty();
  json["form"] = d.form == nullptr ? Json(nullptr) : Json(d.form->name);
  json["model"] = FieldsJson(d.facts);
  json["interface"] = FieldsJson(d.interface);
  json["fields"] = d.by_field ? FieldsJson(d.fields) : Json(nullptr);
  json["operators"] = {{"matched", d.matched},
                       {"renamed", d.renamed},
                       {"only_in_a", RefsJson(d.removed)},
                       {"only_in_b", RefsJson(d.added)},
                       {"changed", std::move(changed)}};
  json["weights"] = {{"compared", d.compared}, {"changed", WeightsJson(d)}};
  return json;
}

}  // namespace nn::inspect
