#include "ops/reduce/reduction.h"

#include <algorithm>
#include <numeric>

#include "ops/support/types.h"

namespace nn {
namespace {

bool Contains(std::span<const int> axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::vector<int> KeptAxes(int rank, std::span<const int> axes) {
  std::vector<int> kept;
  for (int a = 0; a < rank; ++a)
    if (!Contains(axes, a)) kept.push_back(a);
  return kept;
}

std::vector<int64_t> ToAxes(std::span<const int> axes) {
  return {axes.begin(), axes.end()};
}

// The map of the output, which has only the kept axes, for a map of the input.
AxisMap KeptMap(const std::vector<int>& kept, std::span<const int> axes, const AxisMap& map) {
  std::vector<int> from;
  for (const int f : map.from()) {
    if (f == AxisMap::kNew)
      from.push_back(f);
    else if (!Contains(axes, f))
      from.push_back(static_cast<int>(std::find(kept.begin(), kept.end(), f) - kept.begin()));
  }
  return AxisMap(static_cast<int>(kept.size()), std::move(from));
}

// The map of the input for a map of an output that has only the kept axes: each reduced axis stays
// after the axis that it follows.
AxisMap FullMap(int rank, const std::vector<int>& kept, std::span<const int> axes,
                const AxisMap& map) {
  std::vector<int> from;
  for (const int f : map.from())
    from.push_back(f == AxisMap::kNew ? f : kept[static_cast<size_t>(f)]);
  std::vector<int> sorted(axes.begin(), axes.end());
  std::sort(sorted.begin(), sorted.end());
  for (const int axis : sorted) {
    const auto before = std::find(from.begin(), from.end(), axis - 1);
    from.insert(axis == 0 || before == from.end() ? from.begin() : before + 1, axis);
  }
  return AxisMap(rank, std::move(from));
}

}  // namespace

Rows::Rows(const std::vector<int64_t>& dims, std::span<const int> axes) {
  const auto strides = Strides(dims);
  std::vector<int64_t> sizes, steps;
  for (const int a : axes) {
    sizes.push_back(dims[static_cast<size_t>(a)]);
    steps.push_back(strides[static_cast<size_t>(a)]);
    length_ *= sizes.back();
  }
  bool empty = false;
  for (const int a : KeptAxes(static_cast<int>(dims.size()), axes)) {
    kept_sizes_.push_back(dims[static_cast<size_t>(a)]);
    kept_steps_.push_back(strides[static_cast<size_t>(a)]);
    empty |= kept_sizes_.back() == 0;
  }
  if (empty) return;  // no rows: the row length is not bounded by memory, so it is not expanded
  offsets_.reserve(static_cast<size_t>(length_));
  ForEachOffset(sizes, steps, [&](int64_t, int64_t offset) { offsets_.push_back(offset); });
}

Result<std::vector<int>> ReducedAxes(std::span<const int64_t> axes, int rank) {
  if (!axes.empty()) return NormalizeAxes(axes, rank);
  std::vector<int> all(static_cast<size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Dims ReducedDims(const Dims& dims, std::span<const int> axes, bool keep_dims) {
  Dims out;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!Contains(axes, static_cast<int>(i)))
      out.push_back(dims[i]);
    else if (keep_dims)
      out.emplace_back(1);
  }
  return out;
}

std::optional<std::vector<int64_t>> MapAxes(std::span<const int> axes, const AxisMap& map) {
  std::vector<int64_t> out;
  for (const int a : axes) {
    const auto to = map.ResultAxis(a);
    if (!to) return std::nullopt;
    out.push_back(*to);
  }
  return out;
}

std::optional<int64_t> MapAxis(int64_t axis, int rank, const AxisMap& map) {
  return map.ResultAxis(static_cast<int>(axis < 0 ? axis + rank : axis));
}

std::optional<ReductionChange> FollowReduction(int rank, std::span<const int> axes, bool keep_dims,
                                               Operand changed, const AxisMap& map) {
  if (axes.empty()) return std::nullopt;
  const std::vector<int> kept = KeptAxes(rank, axes);
  const Operand other{!changed.is_output, 0};
  ReductionChange change{{}, keep_dims, {}};
  if (!changed.is_output) {
    // A reduced axis of size 1 can be dropped, but an empty list would mean all axes.
    for (const int a : axes)
      if (const auto to = map.ResultAxis(a)) change.axes.push_back(*to);
    if (change.axes.empty()) return std::nullopt;
    change.others = {{other, keep_dims ? map : KeptMap(kept, axes, map)}};
    return change;
  }
  if (keep_dims) {
    if (auto mapped = MapAxes(axes, map)) {
      change.axes = *std::move(mapped);
      change.others = {{other, map}};
      return change;
    }
    // The reduced axes are squeezed: the same reduction without them.
    if (map.from() != kept) return std::nullopt;
    return ReductionChange{ToAxes(axes), false, {}};
  }
  std::vector<int> with_unit_axes;
  for (int a = 0, k = 0; a < rank; ++a)
    with_unit_axes.push_back(Contains(axes, a) ? AxisMap::kNew : k++);
  if (map.from() == with_unit_axes) return ReductionChange{ToAxes(axes), true, {}};
  const AxisMap full = FullMap(rank, kept, axes, map);
  change.axes = *MapAxes(axes, full);
  change.others = {{other, full}};
  return change;
}

}  // namespace nn
