#include "exec/steps/conv/row_plan.h"

#include <algorithm>

#include "ops/reduce/reduction.h"

namespace nn {

RowPlan::RowPlan(std::vector<int64_t> dims, std::span<const int> axes) {
  int last = -1;
  for (const int a : axes) last = std::max(last, a);
  while (static_cast<int>(dims.size()) > last + 1) {
    columns *= static_cast<size_t>(dims.back());
    dims.pop_back();
  }
  const Rows rows(dims, axes);
  const auto width = static_cast<int64_t>(columns);
  rows.ForEach([&](int64_t, int64_t start) { starts.push_back(start * width); });
  if (starts.empty() || columns == 0) return;
  contiguous = columns == 1;
  for (int64_t i = 0; i < rows.length(); ++i) {
    contiguous &= rows.offset(i) == i;
    offsets.push_back(rows.offset(i) * width);
  }
}

std::vector<int64_t> Spread(std::vector<int64_t> offsets, size_t inner, size_t stride) {
  if (inner == stride) return offsets;
  const auto row = static_cast<int64_t>(inner);
  for (int64_t& o : offsets) o = o / row * static_cast<int64_t>(stride) + o % row;
  return offsets;
}

}  // namespace nn
