#include "passes/core/allowed_shapes.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/json/json.h"
#include "base/text/text.h"

namespace nn {
namespace {

// Key of Graph::metadata, followed by the name of the input; a JSON list of lists of sizes.
constexpr const char* kAllowedShapesKey = "shapes.";
constexpr size_t kListedShapes = 16;

std::string ListOf(const std::vector<std::vector<int64_t>>& shapes) {
  std::string out;
  for (size_t i = 0; i < std::min(shapes.size(), kListedShapes); ++i)
    out += fmt::format("{}[{}]", i == 0 ? "" : ", ", fmt::join(shapes[i], ", "));
  if (shapes.size() > kListedShapes) out += fmt::format(", ... {} in all", shapes.size());
  return out;
}

}  // namespace

void SetAllowedShapes(Graph& graph, const std::string& input,
                      const std::vector<std::vector<int64_t>>& shapes) {
  if (!shapes.empty()) graph.metadata[kAllowedShapesKey + input] = Json(shapes).dump();
}

Status CheckAllowedShapes(const Graph& graph) {
  for (const Port& p : graph.inputs()) {
    const auto it = graph.metadata.find(kAllowedShapesKey + p.name);
    const auto dims = p.value->type().const_dims();
    if (it == graph.metadata.end() || !dims) continue;
    const auto shapes =
        Json::parse(it->second).get<std::vector<std::vector<int64_t>>>();  // ours, so valid
    if (shapes.front().size() == dims->size() && std::ranges::find(shapes, *dims) == shapes.end())
      return UsageError("input {} cannot have the shape [{}]: the model allows only {}",
                        Quote(p.name), fmt::join(*dims, ", "), ListOf(shapes));
  }
  return {};
}

}  // namespace nn
