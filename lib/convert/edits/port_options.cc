#include "convert/edits/port_options.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "convert/edits/graph_edits.h"
#include "convert/edits/port_finder.h"
#include "passes/core/ports.h"
#include "passes/interface/edits.h"
#include "tensorio/literal.h"

namespace nn {
namespace {

// Sets the new names in `renamed`, by the present names.
Status Rename(std::string_view option, const std::vector<std::string>& renames,
              const std::vector<std::string>& names, std::vector<std::string>& renamed) {
  std::vector<bool> done(names.size());
  for (const std::string& text : renames) {
    NN_ASSIGN(const Assignment a, SplitAssignment(text, names));
    if (a.value.empty()) return UsageError("{}: the new name is empty", Quote(text));
    if (!IsUtf8(a.value)) return UsageError("{}: the new name is not UTF-8", Quote(text));
    if (done[a.port])
      return UsageError("{}: {} is renamed twice", Quote(text), Quote(names[a.port]));
    if (a.value == names[a.port])
      return UsageError("{} {} has no effect: this is the name", option, Quote(text));
    done[a.port] = true;
    renamed[a.port] = a.value;
  }
  return {};
}

// Applies --clip-input.
Status ClipInputs(Graph& graph, const std::vector<std::string>& clipped) {
  if (clipped.empty()) return {};
  const PortFinder finder(graph.inputs(), {"in"});
  std::set<size_t> done;
  for (const std::string& text : clipped) {
    NN_ASSIGN(const Assignment a, finder.Split(text));
    const auto& [name, value] = graph.inputs()[a.port];
    const Type scalar(value->dtype(), {}, value->type().quant);
    const size_t comma = a.value.find(',');
    if (comma == std::string::npos || !done.insert(a.port).second)
      return UsageError("--clip-input {}: expected NAME=MIN,MAX, once for each input", Quote(text));
    if (scalar.quantized() || !(IsFloat(scalar.dtype) || IsInteger(scalar.dtype)))
      return UsageError(
          "--clip-input {}: the input is {}; only numbers that are not quantized can be "
          "clipped",
          Quote(text), value->type().ToString());
    auto min = ParseLiteral(std::string_view(a.value).substr(0, comma), scalar);
    if (!min) return tl::unexpected(min.error().In("--clip-input " + Quote(text)));
    auto max = ParseLiteral(std::string_view(a.value).substr(comma + 1), scalar);
    if (!max) return tl::unexpected(max.error().In("--clip-input " + Quote(text)));
    if (!(min->GetDouble(0) <= max->GetDouble(0)))
      return UsageError("--clip-input {}: the bounds contain no number", Quote(text));
    NN_RETURN_IF_ERROR(ClipInput(graph, a.port, *std::move(min), *std::move(max)));
  }
  return {};
}

}  // namespace

Result<PortNames> NewNames(const nnsuite::ConvertOptions& o, const PortNames& names) {
  PortNames renamed = names;
  NN_RETURN_IF_ERROR(Rename("--rename-input", o.renamed_inputs, names.inputs, renamed.inputs));
  NN_RETURN_IF_ERROR(Rename("--rename-output", o.renamed_outputs, names.outputs, renamed.outputs));
  std::map<std::string_view, std::string_view> old_names;  // by new ones
  const auto check = [&](const std::vector<std::string>& from,
                         const std::vector<std::string>& to) -> Status {
    for (size_t i = 0; i < from.size(); ++i) {
      const std::string_view old = old_names.try_emplace(to[i], from[i]).first->second;
      if (old == from[i]) continue;
      return UsageError("{}: the model already has an input or output of that name",
                        Quote(fmt::format("{}={}", from[i] == to[i] ? old : from[i], to[i])));
    }
    return {};
  };
  NN_RETURN_IF_ERROR(check(names.inputs, renamed.inputs));
  NN_RETURN_IF_ERROR(check(names.outputs, renamed.outputs));
  return renamed;
}

Status PreparePorts(Graph& graph, const nnsuite::ConvertOptions& o) {
  if (GraphEditOption(o.edits).empty())
    NN_RETURN_IF_ERROR(BindShapes(graph, o.input_shapes, o.batch));
  NN_RETURN_IF_ERROR(ClipInputs(graph, o.clipped_inputs));
  NN_ASSIGN(PortNames names, NewNames(o, {NamesOf(graph.inputs()), NamesOf(graph.outputs())}));
  for (size_t i = 0; i < names.inputs.size(); ++i) graph.RenameInput(i, std::move(names.inputs[i]));
  for (size_t i = 0; i < names.outputs.size(); ++i)
    graph.RenameOutput(i, std::move(names.outputs[i]));
  return {};
}

}  // namespace nn
