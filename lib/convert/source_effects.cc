#include "convert/source_effects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "formats/holdings.h"
#include "passes/ports.h"

namespace nn {
namespace {

// Whether an input may have one of these shapes in the file: importing takes longer.
bool MayDeclare(const ReadModel& read, const InputShapes& shapes) {
  const auto summary = read.format->summarize(*read.model);
  if (!summary) return false;
  return std::ranges::any_of(shapes, [&](const auto& shape) {
    std::vector<std::string> dims;
    for (const int64_t d : shape.second) dims.push_back(std::to_string(d));
    return std::ranges::any_of(summary->inputs,
                               [&](const TensorSummary& in) { return in.shape == dims; });
  });
}

}  // namespace

Status CheckSourceEffects(const ReadModel& read, const InputShapes& shapes, bool embeds) {
  if (embeds) {
    const auto is_file = [](const Holding& h) { return h.kind == "external file"; };
    if (std::ranges::none_of(HoldingsOf(read), is_file))
      return UsageError("--embed-data has no effect: the model has no data in other files");
  }
  if (shapes.empty() || !MayDeclare(read, shapes)) return {};
  auto imported = read.format->import(*read.model);
  if (!imported) return {};
  NamePorts(imported->graph);
  for (const Port& p : imported->graph.inputs()) {
    const auto it = shapes.find(p.name);
    if (it != shapes.end() && p.value->type().const_dims() == it->second)
      return UsageError("--input-shape {}:{} has no effect: the input has this shape", p.name,
                        fmt::join(it->second, ","));
  }
  return {};
}

}  // namespace nn
