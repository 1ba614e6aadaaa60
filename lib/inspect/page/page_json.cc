#include "inspect/page/page_json.h"

#include <fmt/core.h>

#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/text/text.h"
#include "inspect/picture/groups.h"
#include "inspect/picture/picture.h"
#include "inspect/report/cost.h"
#include "inspect/report/node.h"
#include "inspect/report/shape_text.h"

namespace nn::inspect {
namespace {

Json Rounded(double v) {
  if (!std::isfinite(v)) return fmt::format("{}", v);
  return std::stod(fmt::format("{:.7g}", v));
}

// Numbers that are shown as text, because JavaScript would round large integers.
Json ExtremeJson(const Json& v) {
  return v.is_number_integer() ? Json(v.dump()) : v.is_number() ? Rounded(v.get<double>()) : v;
}

Json StatisticsOfPage(const TensorStatistics& s) {
  Json out = {{"count", s.count}};
  if (s.mean) {
    out["min"] = ExtremeJson(s.min);
    out["max"] = ExtremeJson(s.max);
    out["mean"] = Rounded(*s.mean);
    out["deviation"] = Rounded(*s.deviation);
    out["zeros"] = s.zeros;
  }
  if (s.nans > 0) out["nans"] = s.nans;
  if (s.infinities > 0) out["infinities"] = s.infinities;
  if (s.histogram)
    out["histogram"] = {{"low", Rounded(s.histogram->low)},
                        {"high", Rounded(s.histogram->high)},
                        {"counts", s.histogram->counts}};
  return out;
}

Json ConstantJson(const TensorRow& r) {
  const TensorEntry& e = r.entry;
  Json out = {{"name", EscapeControls(e.name)},
              {"type", EscapeControls(e.type + ShapeText(e.shape))}};
  out["bytes"] = e.bytes;
  if (!e.location.empty()) out["location"] = EscapeControls(e.location);
  if (std::string q = QuantizationText(r); !q.empty()) out["quantization"] = EscapeControls(q);
  if (r.statistics) out["statistics"] = StatisticsOfPage(*r.statistics);
  if (!r.problem.empty()) out["problem"] = EscapeControls(r.problem);
  return out;
}

Json OperandsJson(const std::vector<Operand>& operands) {
  Json out = Json::array();
  for (const Operand& o : operands)
    out.push_back({EscapeControls(o.name), EscapeControls(o.type), o.constant ? 1 : 0});
  return out;
}

Json OperatorJson(const NodeDetails& node) {
  Json attributes = Json::array(), constants = Json::array();
  for (const auto& [name, value] : node.op->attributes)
    attributes.push_back({EscapeControls(name), EscapeControls(value)});
  for (const TensorRow& r : node.constants) constants.push_back(ConstantJson(r));
  Json out = {{"op", EscapeControls(node.op->op)}, {"name", EscapeControls(node.op->name)}};
  if (!node.op->scope.empty()) out["scope"] = EscapeControls(node.op->scope);
  if (!attributes.empty()) out["attributes"] = std::move(attributes);
  out["inputs"] = OperandsJson(node.inputs);
  out["outputs"] = OperandsJson(node.outputs);
  if (!constants.empty()) out["constants"] = std::move(constants);
  return out;
}

Json GroupJson(const Panel& panel, const std::vector<Group>& groups, const Group& g) {
  Json items = Json::array(), edges = Json::array();
  for (const Group::Item& item : g.items)
    items.push_back(item.is_group ? -static_cast<int64_t>(item.index)
                                  : static_cast<int64_t>(item.index));
  for (const Group::Edge& e : g.edges) edges.push_back({e.from, e.to, e.lines});
  const Arrangement layout = ArrangeGroup(g);
  Json out = {{"title", GroupTitle(groups, g)}, {"contents", GroupContents(panel, g)}};
  out["first"] = g.first;
  out["end"] = g.end;
  if (g.times > 0) out["times"] = g.times;
  if (g.has_ports) out["ports"] = 1;
  if (g.open) out["open"] = 1;
  out["items"] = std::move(items);
  out["edges"] = std::move(edges);
  out["layers"] = layout.layers;
  out["columns"] = layout.columns;
  out["routes"] = layout.routes;
  return out;
}

Json PanelJson(const Panel& panel) {
  const std::vector<Group> all = GroupsOf(panel);
  Json boxes = Json::array(), lines = Json::array(), groups = Json::array();
  for (const Box& b : panel.boxes)
    boxes.push_back({static_cast<int>(b.kind), b.title, b.rows,
                     b.op ? static_cast<int64_t>(*b.op) : -1, b.op ? "" : b.hint});
  for (const Line& l : panel.lines) {
    Json line = {l.from, l.to, l.name};
    if (!l.label.empty()) line.push_back(l.label);
    lines.push_back(std::move(line));
  }
  for (const Group& g : all) groups.push_back(GroupJson(panel, all, g));
  return {{"title", panel.title},
          {"boxes", std::move(boxes)},
          {"lines", std::move(lines)},
          {"groups", std::move(groups)}};
}

// Indices of the operators of the main graph, which the rows of costs and differences count.
std::vector<size_t> MainOperators(const LoadedModel& model) {
  std::vector<size_t> main;
  for (size_t i = 0; i < model.summary.operators.size(); ++i)
    if (model.summary.operators[i].scope.empty()) main.push_back(i);
  return main;
}

// An operator may have several rows, one for each run of its nodes.
void AddCosts(const LoadedModel& model, Json& operators) {
  const auto cost = CostOf(model);
  if (!cost) return;
  const std::vector<size_t> main = MainOperators(model);
  for (const OperatorCost& row : cost->operators) {
    if (row.index < 0 || static_cast<size_t>(row.index) >= main.size()) continue;
    Json& op = operators[main[static_cast<size_t>(row.index)]];
    const auto add = [&](const char* name, std::optional<uint64_t> value) {
      if (value && *value > 0) op[name] = op.value(name, uint64_t{0}) + *value;
    };
    add("multiply_adds", row.multiply_adds);
    add("parameters", row.parameters);
    if (row.bytes_read && row.bytes_written) add("traffic", *row.bytes_read + *row.bytes_written);
  }
}

Json KindsJson() {
  Json kinds = Json::array();
  for (size_t k = 0; k <= static_cast<size_t>(BoxKind::kOutput); ++k) {
    const BoxColors& c = ColorsOf(static_cast<BoxKind>(k));
    kinds.push_back({c.name, c.fill, c.border});
  }
  return kinds;
}

Json FieldsOf(const std::vector<FieldDiff>& fields) {
  Json out = Json::array();
  for (const FieldDiff& f : fields)
    out.push_back({EscapeControls(f.what), EscapeControls(f.a), EscapeControls(f.b)});
  return out;
}

}  // namespace

Result<Json> PageModel(const LoadedModel& model, const PageNotes& notes) {
  const size_t count = model.summary.operators.size();
  if (count > kMaxPageOperators)
    return LimitError("{}: a page shows at most {} operators; the model has {}", model.path,
                      kMaxPageOperators, count);
  NN_ASSIGN(const Picture picture, DrawModel(model, true));
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), size_t{0});
  NN_ASSIGN(const std::vector<NodeDetails> nodes, DescribeNodes(model, all));
  Json operators = Json::array(), panels = Json::array(), findings = Json::array();
  for (const NodeDetails& n : nodes) operators.push_back(OperatorJson(n));
  AddCosts(model, operators);
  for (const auto& [op, ms] : notes.times)
    operators[op]["time"] = operators[op].value("time", 0.0) + ms;
  for (const auto& [op, error] : notes.errors)
    operators[op]["error"] = std::max(operators[op].value("error", 0.0), error);
  for (const PageNotes::Finding& f : notes.findings)
    findings.push_back({f.op ? Json(*f.op) : Json(nullptr), EscapeControls(f.severity),
                        EscapeControls(f.rule), EscapeControls(f.message), EscapeControls(f.hint)});
  for (const Panel& p : picture.panels) panels.push_back(PanelJson(p));
  Json out = {{"title", picture.title}, {"subtitle", picture.subtitle}};
  out["path"] = EscapeControls(model.path);
  out["kinds"] = KindsJson();
  const LayoutOptions gaps;
  out["gaps"] = {{"box", gaps.box_gap}, {"line", gaps.line_gap}, {"layer", gaps.layer_gap}};
  out["panels"] = std::move(panels);
  out["operators"] = std::move(operators);
  out["findings"] = std::move(findings);
  if (notes.other_time > 0) out["other_time"] = notes.other_time;
  return out;
}

Json PageDiff(const LoadedModel& a, const LoadedModel& b, const ModelDiff& diff) {
  const std::vector<size_t> main_a = MainOperators(a), main_b = MainOperators(b);
  const auto number = [](const std::vector<size_t>& main, int64_t index) {
    const bool known = index >= 0 && static_cast<size_t>(index) < main.size();
    return known ? Json(main[static_cast<size_t>(index)]) : Json(nullptr);
  };
  const auto numbers = [&](const std::vector<size_t>& main, const std::vector<OperatorRef>& list) {
    Json out = Json::array();
    for (const OperatorRef& r : list)
      if (Json n = number(main, r.index); !n.is_null()) out.push_back(std::move(n));
    return out;
  };
  Json changed = Json::array(), weights = Json::array(), pairs = Json::array();
  for (const OperatorDiff& d : diff.changed)
    changed.push_back({number(main_a, d.a.index), number(main_b, d.b.index), FieldsOf(d.fields)});
  for (const WeightDiff& w : diff.weights)
    weights.push_back(
        {number(main_a, w.a.index), number(main_b, w.b.index),
         EscapeControls(fmt::format("{} {}: {} of {} elements differ, by up to {:.4g}", w.name,
                                    w.type, w.comparison.outside, w.comparison.elements,
                                    w.comparison.max_absolute))});
  for (const auto& [x, y] : diff.pairs) pairs.push_back({number(main_a, x), number(main_b, y)});
  Json facts = FieldsOf(diff.facts), interface = FieldsOf(diff.interface);
  facts.insert(facts.end(), interface.begin(), interface.end());
  Json fields = FieldsOf(diff.fields);
  facts.insert(facts.end(), fields.begin(), fields.end());
  return {{"removed", numbers(main_a, diff.removed)},
          {"added", numbers(main_b, diff.added)},
          {"changed", std::move(changed)},
          {"weights", std::move(weights)},
          {"pairs", std::move(pairs)},
          {"facts", std::move(facts)}};
}

}  // namespace nn::inspect
