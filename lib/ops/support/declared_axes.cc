#include "ops/support/declared_axes.h"

#include <bit>

namespace nn {

std::optional<std::vector<int64_t>> AxesBetween(const std::vector<int64_t>& shorter,
                                                const std::vector<int64_t>& longer) {
  std::vector<int64_t> axes;
  size_t next = 0;  // of the shorter shape
  for (size_t k = 0; k < longer.size(); ++k) {
    if (next < shorter.size() && shorter[next] == longer[k])
      ++next;
    else if (longer[k] == 1)
      axes.push_back(static_cast<int64_t>(k));
    else
      return std::nullopt;
  }
  return next == shorter.size() ? std::optional(std::move(axes)) : std::nullopt;
}

std::vector<std::vector<int64_t>> AxesThatReduce(const std::vector<int64_t>& x,
                                                 const std::vector<int64_t>& y, int64_t count,
                                                 bool keep_dims) {
  constexpr size_t kMaxAxes = 16;
  std::vector<std::vector<int64_t>> choices;
  if (x.size() > kMaxAxes) return choices;
  for (uint32_t set = 0; set < uint32_t{1} << x.size(); ++set) {
    if (std::popcount(set) != count) continue;
    std::vector<int64_t> axes, rest;
    for (size_t k = 0; k < x.size(); ++k) {
      const bool is_reduced = (set >> k & 1) != 0;
      if (is_reduced) axes.push_back(static_cast<int64_t>(k));
      if (!is_reduced || keep_dims) rest.push_back(is_reduced ? 1 : x[k]);
    }
    if (rest == y) choices.push_back(std::move(axes));
  }
  return choices;
}

}  // namespace nn
