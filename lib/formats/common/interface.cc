#include "formats/common/interface.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/text/text.h"

namespace nn {
namespace {

std::optional<std::string> WhyNotHeld(const Type& type, const InterfaceRules& rules) {
  if (!type.ranked()) {
    if (!rules.ranks) return std::nullopt;
    return fmt::format(
        "its rank is unknown, but {} requires a known one; set shapes with --input-shape",
        rules.label);
  }
  const auto is_small = [&](const Dim& d) { return d.is_const() && d.value() < rules.least_size; };
  if (std::ranges::none_of(*type.dims, is_small)) return std::nullopt;
  return fmt::format("it is {}, but dimensions of {} must be at least {}", type.ToString(),
                     rules.label, rules.least_size);
}

Status CheckNames(const Graph& graph, const InterfaceRules& rules) {
  std::map<std::string_view, const Value*> inputs;
  for (const Port& p : graph.inputs()) inputs.emplace(p.name, p.value);
  for (const Port& p : graph.outputs()) {
    const auto input = inputs.find(p.name);
    if (input != inputs.end() &&
        (rules.distinct_names || (rules.distinct_values && input->second != p.value)))
      return UnsupportedError(
          "output {}: an input has the same name, which {} does not allow; rename one with "
          "--rename-input or --rename-output",
          Quote(p.name), rules.label);
  }
  return {};
}

}  // namespace

Status CheckEachPort(const Graph& graph,
                     const std::function<std::optional<std::string>(const Value&)>& why_not) {
  for (const Port& p : graph.inputs())
    if (const auto reason = why_not(*p.value))
      return UnsupportedError("input {}: {}", Quote(p.name), *reason);
  for (const Port& p : graph.outputs())
    if (const auto reason = why_not(*p.value))
      return UnsupportedError("output {}: {}", Quote(p.name), *reason);
  return {};
}

Status CheckInterface(const Graph& graph, const InterfaceRules& rules) {
  if (rules.inputs && graph.inputs().empty())
    return UnsupportedError("model: it has no inputs, but {} models need at least one",
                            rules.label);
  if (rules.outputs && graph.outputs().empty())
    return UnsupportedError("model: it has no outputs, but {} models need at least one",
                            rules.label);
  NN_RETURN_IF_ERROR(
      CheckEachPort(graph, [&](const Value& v) { return WhyNotHeld(v.type(), rules); }));
  return CheckNames(graph, rules);
}

}  // namespace nn
