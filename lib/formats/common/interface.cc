#include "formats/common/interface.h"

#include <map>
#include <string>

#include "base/text/text.h"

namespace nn {
namespace {

Status CheckPort(const Port& port, std::string_view kind, const InterfaceRules& rules) {
  const Type& type = port.value->type();
  if (!type.ranked()) {
    if (!rules.ranks) return {};
    return UnsupportedError(
        "{} {} has an unknown rank, but {} requires a known one; set shapes with --input-shape",
        kind, Quote(port.name), rules.label);
  }
  for (const Dim& d : *type.dims)
    if (d.is_const() && d.value() < rules.least_size)
      return UnsupportedError("{} {} is {}: dimensions of {} must be at least {}", kind,
                              Quote(port.name), type.ToString(), rules.label, rules.least_size);
  return {};
}

}  // namespace

Status CheckInterface(const Graph& graph, const InterfaceRules& rules) {
  if (rules.inputs && graph.inputs().empty())
    return UnsupportedError("the model has no inputs; {} models need at least one", rules.label);
  if (rules.outputs && graph.outputs().empty())
    return UnsupportedError("the model has no outputs; {} models need at least one", rules.label);
  std::map<std::string_view, const Value*> inputs;
  for (const Port& p : graph.inputs()) {
    NN_RETURN_IF_ERROR(CheckPort(p, "input", rules));
    inputs.emplace(p.name, p.value);
  }
  for (const Port& p : graph.outputs()) {
    NN_RETURN_IF_ERROR(CheckPort(p, "output", rules));
    const auto input = inputs.find(p.name);
    if (input != inputs.end() &&
        (rules.distinct_names || (rules.distinct_values && input->second != p.value)))
      return UnsupportedError(
          "an input and an output are named {}, which {} does not allow; rename "
          "one with --rename-input or --rename-output",
          Quote(p.name), rules.label);
  }
  return {};
}

}  // namespace nn
