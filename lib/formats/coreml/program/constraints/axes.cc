// Constraints on axes, and shapes that follow from them.
#include <algorithm>
#include <set>

#include "formats/coreml/program/spec/constraint.h"

namespace nn::coreml::program {
namespace {

// Joining scalars has an axis.
void CheckAxisInRange(const ConstraintAt& c) {
  const auto rank = c.RankOf(0);
  const spec::Operand* const operand = c.facts().definition().Input(c.Name(0));
  if (rank && !(*rank == 0 && operand != nullptr && operand->repeats)) c.NeedAxis(1, *rank);
}

void CheckAxesInRange(const ConstraintAt& c) {
  const auto rank = c.RankOf(0);
  const auto axes = c.Has(1) ? c.Ints(1) : std::nullopt;
  if (!rank || !axes) return;
  for (const int64_t axis : *axes)
    if (axis < -*rank || axis >= *rank)
      c.Add("input {} has axis {}, which is out of range for rank {}", c.Name(1), axis, *rank);
}

void CheckAxisFromMinusOne(const ConstraintAt& c) {
  const auto rank = c.RankOf(0);
  const auto axis = c.Int(1);
  if (rank && axis && (*axis < -1 || *axis >= *rank))
    c.Add("input {} is {}, which is not from -1 to {}", c.Name(1), *axis, *rank - 1);
}

// The size of an axis that the operation inserts.
int64_t InsertedSize(const ConstraintAt& c) {
  constexpr std::string_view kDepth = "one_hot_vector_size";
  if (c.facts().definition().Input(kDepth) == nullptr)
    return static_cast<int64_t>(c.facts().Values(c.Name(0)).size());
  return std::max(c.facts().Int(kDepth).value_or(kAnySize), kAnySize);
}

void CheckNewAxisInRange(const ConstraintAt& c) {
  auto sizes = c.SizesOf(0);
  const auto axis = c.Int(1);
  if (!sizes || !axis) return;
  const auto rank = static_cast<int64_t>(sizes->size());
  if (*axis < -rank - 1 || *axis > rank)
    return c.Add("input {} is {}, which is out of range for rank {}", c.Name(1), *axis, rank + 1);
  sizes->insert(sizes->begin() + (*axis < 0 ? *axis + rank + 1 : *axis), InsertedSize(c));
  c.NeedResult(0, sizes);
}

void CheckNormalizedShape(const ConstraintAt& c) {
  const auto sizes = c.SizesOf(0), is = c.SizesOf(2);
  if (!sizes || !is) return;
  const auto axes = c.facts().Axes(c.Name(1), static_cast<int64_t>(sizes->size()));
  if (!axes) return;
  Sizes want;
  for (const int64_t axis : std::set(axes->begin(), axes->end()))
    want.push_back((*sizes)[static_cast<size_t>(axis)]);
  if (!MayEqual(*is, want))
    c.Add("input {} has shape {} instead of {}, the sizes of input {} along the axes", c.Name(2),
          TextOf(*is), TextOf(want), c.Name(0));
}

Sizes WithoutAxes(const Sizes& sizes, const std::vector<int64_t>& axes, bool keep) {
  Sizes out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool reduced = std::ranges::find(axes, static_cast<int64_t>(i)) != axes.end();
    if (!reduced) out.push_back(sizes[i]);
    if (reduced && keep) out.push_back(1);
  }
  return out;
}

void CheckReducedShape(const ConstraintAt& c) {
  const auto sizes = c.SizesOf(0);
  const auto keep = c.Bool(2);
  if (!sizes || !keep) return;
  const auto axes = c.facts().Axes(c.Name(1), static_cast<int64_t>(sizes->size()));
  if (axes) c.NeedResult(0, WithoutAxes(*sizes, *axes, *keep));
}

void CheckReducedAxis(const ConstraintAt& c) {
  const auto sizes = c.SizesOf(0);
  const auto keep = c.Bool(2);
  if (!sizes || !keep) return;
  const auto axis = c.Axis(1, static_cast<int64_t>(sizes->size()));
  if (axis) c.NeedResult(0, WithoutAxes(*sizes, {*axis}, *keep));
}

void CheckInsertedAxes(const ConstraintAt& c) {
  auto sizes = c.SizesOf(0);
  auto axes = c.Ints(1);
  if (!sizes || !axes || axes->size() > kMostAxes) return;
  const auto rank = static_cast<int64_t>(sizes->size() + axes->size());
  for (int64_t& axis : *axes) {
    if (axis < -rank || axis >= rank)
      return c.Add("input {} has axis {}, which is out of range for rank {}", c.Name(1), axis,
                   rank);
    if (axis < 0) axis += rank;
  }
  std::ranges::sort(*axes);
  for (const int64_t axis : *axes)
    sizes->insert(sizes->begin() + std::min(axis, static_cast<int64_t>(sizes->size())), 1);
  c.NeedResult(0, sizes);
}

void CheckSqueezedAxes(const ConstraintAt& c) {
  const auto sizes = c.SizesOf(0);
  if (!sizes) return;
  const auto rank = static_cast<int64_t>(sizes->size());
  const auto axes = c.facts().Axes(c.Name(1), rank);
  if (!axes) return CheckAxesInRange(c);
  Sizes want;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t size = (*sizes)[static_cast<size_t>(i)];
    const bool listed = std::ranges::find(*axes, i) != axes->end();
    // Whether it has size 1 is not known.
    if (listed && size == kAnySize) return;
    if (!listed || size != 1) want.push_back(size);
  }
  c.NeedResult(0, want);
}

void CheckPermutation(const ConstraintAt& c) {
  const auto perm = c.Ints(0);
  if (!perm) return;
  const auto rank = static_cast<int64_t>(perm->size());
  std::set<int64_t> seen;
  for (const int64_t axis : *perm)
    if (axis >= -rank && axis < rank && !seen.insert(axis < 0 ? axis + rank : axis).second)
      c.Add("input {} has axis {} twice", c.Name(0), axis);
}

void CheckPermutedShape(const ConstraintAt& c) {
  const auto sizes = c.SizesOf(0);
  const auto perm = c.Ints(1);
  if (!sizes || !perm || perm->size() != sizes->size()) return;
  const auto axes = c.facts().Axes(c.Name(1), static_cast<int64_t>(sizes->size()));
  if (!axes) return CheckAxesInRange(c);
  Sizes want;
  for (const int64_t axis : *axes) want.push_back((*sizes)[static_cast<size_t>(axis)]);
  c.NeedResult(0, want);
}

constexpr ConstraintRow kAxisConstraints[] = {
    {Label::kAxisInRange, CheckAxisInRange},
    {Label::kAxesInRange, CheckAxesInRange},
    {Label::kAxisFromMinusOne, CheckAxisFromMinusOne},
    {Label::kNewAxisInRange, CheckNewAxisInRange},
    {Label::kNormalizedShape, CheckNormalizedShape},
    {Label::kReducedShape, CheckReducedShape},
    {Label::kReducedAxis, CheckReducedAxis},
    {Label::kInsertedAxes, CheckInsertedAxes},
    {Label::kSqueezedAxes, CheckSqueezedAxes},
    {Label::kPermutation, CheckPermutation},
    {Label::kPermutedShape, CheckPermutedShape},
};

}  // namespace

std::span<const ConstraintRow> AxisConstraintRows() {
  return kAxisConstraints;
}

}  // namespace nn::coreml::program
