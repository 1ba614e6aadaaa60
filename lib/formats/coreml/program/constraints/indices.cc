// Constraints on gathering, scattering and selecting elements.
#include <algorithm>

#include "formats/coreml/program/spec/constraint.h"

namespace nn::coreml::program {
namespace {

// `sizes` with those of the indices, from axis `first` on, in place of an axis.
Sizes InPlaceOf(Sizes sizes, int64_t axis, const Sizes& indices, int64_t first = 0) {
  const auto at = sizes.erase(sizes.begin() + axis);
  sizes.insert(at, indices.begin() + std::min(first, static_cast<int64_t>(indices.size())),
               indices.end());
  return sizes;
}

// x, indices, axis, batch_dims
void CheckGatheredShape(const ConstraintAt& c) {
  const auto x = c.SizesOf(0), indices = c.SizesOf(1);
  if (!x || !indices) return;
  const auto axis = c.Axis(2, static_cast<int64_t>(x->size()));
  const auto batches = c.Name(3).empty() ? std::optional(int64_t{0}) : c.Int(3);
  if (axis && batches && *batches >= 0) c.NeedResult(0, InPlaceOf(*x, *axis, *indices, *batches));
}

void CheckBatchDims(const ConstraintAt& c) {
  const auto x = c.RankOf(0), indices = c.RankOf(1), batches = c.Int(2);
  if (batches && x && *batches >= *x)
    c.Add("input {} is {}, but input {} has rank {}", c.Name(2), *batches, c.Name(0), *x);
  else if (batches && indices && *batches > *indices)
    c.Add("input {} is {}, but input {} has rank {}", c.Name(2), *batches, c.Name(1), *indices);
}

// The sizes that an index is for, one after the other: that along the axis, or, if the last axis of
// the indices has a position in each of some axes, theirs. Empty if they are not known.
Sizes SizesForIndices(const ConstraintAt& c) {
  const auto sizes = c.SizesOf(0);
  if (!sizes) return {};
  const auto rank = static_cast<int64_t>(sizes->size());
  if (c.facts().definition().Input("axis") != nullptr) {
    const auto axis = c.facts().Axis("axis", rank);
    return axis ? Sizes{(*sizes)[static_cast<size_t>(*axis)]} : Sizes();
  }
  const int64_t depth = c.SizeOf(1, -1);
  const bool has_batches = c.facts().definition().Input("batch_dims") != nullptr;
  const auto batches = has_batches ? c.facts().Int("batch_dims") : std::optional(int64_t{0});
  if (depth <= 0 || !batches || *batches < 0 || *batches + depth > rank) return {};
  return {sizes->begin() + *batches, sizes->begin() + *batches + depth};
}

void NeedIndices(const ConstraintAt& c, bool may_be_negative) {
  const auto indices = c.Ints(1);
  const Sizes sizes = SizesForIndices(c);
  if (!indices || sizes.empty()) return;
  for (size_t i = 0; i < indices->size(); ++i) {
    const int64_t size = sizes[i % sizes.size()], index = (*indices)[i];
    if (size == kAnySize || (index < size && index >= (may_be_negative ? -size : 0))) continue;
    return c.Add("input {} has index {}, which is out of range for size {}", c.Name(1), index,
                 size);
  }
}

void CheckIndicesInRange(const ConstraintAt& c) {
  NeedIndices(c, true);
}

void CheckValidatedIndices(const ConstraintAt& c) {
  if (c.Bool(2) == true) NeedIndices(c, false);
}

// x, indices, batch_dims
void CheckIndexDepth(const ConstraintAt& c) {
  const auto x = c.SizesOf(0), indices = c.SizesOf(1);
  const auto batches = c.Name(2).empty() ? std::optional(int64_t{0}) : c.Int(2);
  if (!x || !indices || indices->empty() || !batches || *batches < 0) return;
  const int64_t depth = indices->back(), rank = static_cast<int64_t>(x->size());
  if (depth == kAnySize) return;
  if (depth + *batches > rank)
    return c.Add("input {} has {} numbers in each index; input {} has {} other axes", c.Name(1),
                 depth, c.Name(0), std::max(int64_t{0}, rank - *batches));
  if (c.facts().definition().Find(Label::kKeepsShape) != nullptr) return;
  Sizes want(indices->begin(), indices->end() - 1);
  want.insert(want.end(), x->begin() + *batches + depth, x->end());
  c.NeedResult(0, want);
}

// x, indices, axis
void CheckOtherSizes(const ConstraintAt& c) {
  const auto x = c.SizesOf(0), indices = c.SizesOf(1);
  if (!x || !indices || x->size() != indices->size()) return;
  const auto axis = c.Axis(2, static_cast<int64_t>(x->size()));
  if (!axis) return;
  for (size_t i = 0; i < x->size(); ++i)
    if (static_cast<int64_t>(i) != *axis && !MayEqual((*x)[i], (*indices)[i]))
      c.Add("input {} has size {} along axis {}, but input {} has {}", c.Name(1), (*indices)[i], i,
            c.Name(0), (*x)[i]);
}

void NeedShape(const ConstraintAt& c, size_t i, const Sizes& want) {
  const auto is = c.SizesOf(i);
  if (is && !MayEqual(*is, want))
    c.Add("input {} has shape {} instead of {}", c.Name(i), TextOf(*is), TextOf(want));
}

// data, indices, updates, axis
void CheckScatteredUpdates(const ConstraintAt& c) {
  const auto data = c.SizesOf(0), indices = c.SizesOf(1);
  if (!data || !indices) return;
  const auto axis = c.Axis(3, static_cast<int64_t>(data->size()));
  if (axis) NeedShape(c, 2, InPlaceOf(*data, *axis, *indices));
}

// data, indices, updates
void CheckScatteredSlices(const ConstraintAt& c) {
  const auto data = c.SizesOf(0), indices = c.SizesOf(1);
  if (!data || !indices || indices->empty() || indices->back() == kAnySize ||
      indices->back() > static_cast<int64_t>(data->size()))
    return;
  Sizes want(indices->begin(), indices->end() - 1);
  want.insert(want.end(), data->begin() + indices->back(), data->end());
  NeedShape(c, 2, want);
}

void CheckRowForEach(const ConstraintAt& c) {
  const auto rank = c.RankOf(0);
  if (!rank) return;
  int64_t rows = kAnySize;
  if (c.facts().Constant(c.Name(0)) != nullptr)
    if (const auto numbers = c.facts().Doubles(c.Name(0)))
      rows = std::ranges::count_if(*numbers, [](double n) { return n != 0; });
  c.NeedResult(0, Sizes{rows, *rank});
}

// x, k, axis
void CheckKFits(const ConstraintAt& c) {
  auto sizes = c.SizesOf(0);
  const auto k = c.Int(1);
  if (!sizes || !k) return;
  const auto axis = c.Axis(2, static_cast<int64_t>(sizes->size()));
  if (!axis) return;
  int64_t& size = (*sizes)[static_cast<size_t>(*axis)];
  if (size != kAnySize && *k > size)
    return c.Add("input {} is {}, but the axis has size {}", c.Name(1), *k, size);
  if (*k >= 0) size = *k;
  for (size_t i = 0; i < c.facts().results(); ++i) c.NeedResult(i, sizes);
}

void CheckIndicesIfReturned(const ConstraintAt& c) {
  const auto returned = c.Bool(0);
  const size_t results = c.facts().results();
  if (returned && results > 0 && results != (*returned ? 2 : 1))
    c.AddResult("it has {} results, but {} is {}", results, c.Name(0), *returned);
}

// x: [n, ...], of an operation on boxes.
bool IsChannelsFirst(const ConstraintAt& c) {
  return c.facts().definition().opset >= Opset::kIos17;
}

// scores, max_boxes
void CheckSelectedBoxes(const ConstraintAt& c) {
  const auto scores = c.SizesOf(0);
  const auto most = c.Int(1);
  if (!scores || scores->size() != 3 || !most || *most < 0) return;
  const bool first = IsChannelsFirst(c);
  const int64_t n = (*scores)[0], classes = (*scores)[first ? 1 : 2];
  c.NeedResult(0, first ? Sizes{n, 4, *most} : Sizes{n, *most, 4});
  c.NeedResult(1, first ? Sizes{n, classes, *most} : Sizes{n, *most, classes});
  c.NeedResult(2, Sizes{n, *most});
  c.NeedResult(3, Sizes{n});
}

// boxes, scores
void CheckBoxesAndScores(const ConstraintAt& c) {
  const auto scores = c.SizesOf(1);
  if (!scores || scores->size() != 3) return;
  const Sizes& s = *scores;
  NeedShape(c, 0, IsChannelsFirst(c) ? Sizes{s[0], 4, s[2]} : Sizes{s[0], s[1], 4});
}

constexpr ConstraintRow kIndexConstraints[] = {
    {Label::kGatheredShape, CheckGatheredShape},
    {Label::kBatchDimsFit, CheckBatchDims},
    {Label::kIndicesInRange, CheckIndicesInRange},
    {Label::kValidatedIndices, CheckValidatedIndices},
    {Label::kIndexDepth, CheckIndexDepth},
    {Label::kOtherSizes, CheckOtherSizes},
    {Label::kScatteredUpdates, CheckScatteredUpdates},
    {Label::kScatteredSlices, CheckScatteredSlices},
    {Label::kRowForEachElement, CheckRowForEach},
    {Label::kKFits, CheckKFits},
    {Label::kIndicesIfReturned, CheckIndicesIfReturned},
    {Label::kSelectedBoxes, CheckSelectedBoxes},
    {Label::kBoxesAndScores, CheckBoxesAndScores},
};

}  // namespace

std::span<const ConstraintRow> IndexConstraintRows() {
  return kIndexConstraints;
}

}  // namespace nn::coreml::program
