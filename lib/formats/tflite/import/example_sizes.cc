#include "formats/tflite/import/example_sizes.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "ir/op_def.h"
#include "passes/core/ports.h"

namespace nn::tflite {
namespace {

// Larger sizes are not tried.
constexpr int64_t kMaxExample = 4096;

struct Less {
  bool operator()(const Dim& a, const Dim& b) const { return Dim::Compare(a, b) < 0; }
};
using DimSet = std::set<Dim, Less>;

// What must be 1 or more.
void CollectOpen(const Graph& graph, DimSet& open) {
  const auto collect = [&](const Dim& d) {
    if (!d.is_const() && d.is_valid() && !d.symbol()) open.insert(d);
  };
  for (const Node& node : graph.nodes()) {
    for (const Value* v : node.outputs())
      if (v->type().ranked())
        for (const Dim& d : *v->type().dims) collect(d);
    // A reshape to known sizes needs as many elements.
    if (node.op().movement == Movement::kInOrder && node.input(0)->type().ranked() &&
        node.output()->type().ranked())
      collect(Product(*node.input(0)->type().dims) - Product(*node.output()->type().dims) + 1);
    for (const auto& region : node.regions()) CollectOpen(*region, open);
  }
}

// nullopt if other symbols determine it.
std::optional<int64_t> SizeWith(const Dim& dim, const ExampleSizes& sizes) {
  const Dim size = dim.Substitute([&](std::string_view s) -> std::optional<Dim> {
    const auto it = sizes.find(s);
    return it == sizes.end() ? std::nullopt : std::optional<Dim>(it->second);
  });
  return size.is_const() ? std::optional(size.value()) : std::nullopt;
}

// The symbols of a dimension that is too small, other than a batch if there are any.
std::set<std::string> ToEnlarge(const Dim& dim, const std::vector<std::string>& batch) {
  std::set<std::string> all, others;
  dim.CollectSymbols(all);
  for (const std::string& s : all)
    if (std::ranges::find(batch, s) == batch.end()) others.insert(s);
  return others.empty() ? all : others;
}

}  // namespace

ExampleSizes ExampleSizesOf(const Graph& graph) {
  ExampleSizes sizes;
  for (const std::string& s : InputSymbols(graph)) sizes[s] = 1;
  DimSet open;
  if (!sizes.empty()) CollectOpen(graph, open);
  const std::vector<std::string> batch = BatchSymbols(graph);
  for (int64_t largest = 1; largest <= kMaxExample; largest *= 2) {
    std::set<std::string> small;  // symbols that make something empty
    for (const Dim& d : open)
      if (const auto size = SizeWith(d, sizes); size && *size < 1) small.merge(ToEnlarge(d, batch));
    if (small.empty()) return largest == 1 ? ExampleSizes() : sizes;
    for (const std::string& s : small) sizes[s] *= 2;
  }
  return {};
}

int64_t ExampleSize(const Dim& dim, const ExampleSizes& sizes) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();  // that a file can hold
  const int64_t size = sizes.empty() ? 1 : SizeWith(dim, sizes).value_or(1);
  return size > kMax ? 1 : size;
}

}  // namespace nn::tflite
