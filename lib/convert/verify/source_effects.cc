#include "convert/verify/source_effects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text/text.h"
#include "formats/holdings.h"
#include "passes/core/ports.h"

namespace nn {
namespace {

// Whether an input may have one of these shapes in the file: importing takes longer.
bool MayDeclare(const ReadModel& read, const InputShapes& shapes) {
  const auto summary = read.format->describer.Summarize(*read.model);
  if (!summary) return false;
  return std::ranges::any_of(shapes, [&](const auto& shape) {
    std::vector<std::string> dims;
    for (const int64_t d : shape.second) dims.push_back(std::to_string(d));
    return std::ranges::any_of(summary->inputs,
                               [&](const TensorSummary& in) { return in.shape == dims; });
  });
}

}  // namespace

Status CheckSourceEffects(const ReadModel& read, const ConvertJob& options) {
  const InputShapes& shapes = options.input_shapes;
  if (options.external_data.embed) {
    const auto is_file = [](const Holding& h) { return h.kind == "external file"; };
    if (std::ranges::none_of(HoldingsOf(read), is_file))
      return UsageError("--embed-data has no effect: the model has no data in other files");
  }
  if (shapes.empty() || !MayDeclare(read, shapes)) return {};
  auto imported = read.format->importer.Import(*read.model);
  if (!imported) return {};
  NamePorts(imported->graph);
  const auto holds = [&](const auto& shape) {
    return std::ranges::any_of(imported->graph.inputs(), [&](const Port& p) {
      return p.name == shape.first && p.value->type().const_dims() == shape.second;
    });
  };
  if (!std::ranges::all_of(shapes, holds)) return {};
  std::string given;
  for (const auto& [name, dims] : shapes)
    given += fmt::format("--input-shape {}:{} ", name, fmt::join(dims, ","));
  return UsageError(
      "{}has no effect: {}", given,
      shapes.size() == 1 ? "the input has this shape" : "the inputs have these shapes");
}

}  // namespace nn
