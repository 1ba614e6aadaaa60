#include "convert/edits/shape_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "convert/edits/layer_steps.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"

namespace nn {
namespace {

// The second dimensions of inputs of which only that one is open, and the first is more than one:
// by convention the batch of the states of recurrent layers, [layers, batch, units].
std::set<std::string, std::less<>> StateBatches(const Graph& graph) {
  std::set<std::string, std::less<>> symbols;
  for (const Port& p : graph.inputs()) {
    const Type& type = p.value->type();
    if (!type.ranked() || type.rank() != 3 || !type.dim(0).is_const() || !type.dim(2).is_const() ||
        type.dim(0).value() < 2)
      continue;
    if (const auto symbol = type.dim(1).symbol()) symbols.emplace(*symbol);
  }
  return symbols;
}

}  // namespace

std::string ShellWord(const std::string& word) {
  constexpr std::string_view kSafe =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./@%";
  if (word.find_first_not_of(kSafe) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::optional<std::vector<int64_t>> SizesIn(const Type& type,
                                            const std::map<std::string, int64_t>& symbols) {
  if (!type.ranked() || type.const_dims()) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const Dim& d : *type.dims) {
    const Dim size = d.Substitute([&](std::string_view s) -> std::optional<Dim> {
      const auto it = symbols.find(std::string(s));
      return it == symbols.end() ? std::nullopt : std::optional<Dim>(it->second);
    });
    if (!size.is_const()) return std::nullopt;
    sizes.push_back(size.value());
  }
  return sizes;
}

ChosenShapes ChooseShapes(const Graph& graph, int64_t size) {
  ChosenShapes out;
  const auto open = InputSymbols(graph);
  const auto batch = BatchSymbols(graph);
  const auto steps = StepSymbols(graph);
  const auto states = StateBatches(graph);
  bool only_batch = true;
  for (const std::string& s : open) {
    const bool is_batch = std::ranges::find(batch, s) != batch.end() && !steps.contains(s);
    only_batch = only_batch && is_batch;
    out.symbols[s] = is_batch || (states.contains(s) && !steps.contains(s)) ? 1 : size;
  }
  if (only_batch) {
    out.options = "--batch 1";
    return out;
  }
  for (const Port& p : graph.inputs())
    if (const auto sizes = SizesIn(p.value->type(), out.symbols))
      out.options += fmt::format("{}--input-shape {}", out.options.empty() ? "" : " ",
                                 ShellWord(fmt::format("{}:{}", p.name, fmt::join(*sizes, ","))));
  return out;
}

std::string WorkingShapes(const Graph& graph) {
  if (InputSymbols(graph).empty()) return {};
  for (const int64_t size : kOpenSizes) {
    const ChosenShapes chosen = ChooseShapes(graph, size);
    // As the options do it: sizes that are computed from symbols cannot be set.
    std::map<std::string, std::vector<int64_t>> shapes;
    for (const Port& p : graph.inputs())
      if (const auto sizes = SizesIn(p.value->type(), chosen.symbols)) shapes[p.name] = *sizes;
    Graph bound = graph.Clone();
    if (!BindInputs(bound, shapes) || !FoldConstants(bound)) continue;
    const auto is_known = [](const Port& p) { return p.value->type().const_dims().has_value(); };
    if (std::ranges::all_of(bound.inputs(), is_known)) return chosen.options;
  }
  return {};
}

}  // namespace nn
