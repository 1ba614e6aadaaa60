// Constraints on resizing and sampling images.
#include <algorithm>
#include <cmath>

#include "formats/coreml/program/spec/constraint.h"

namespace nn::coreml::program {
namespace {

// The sizes of the result before the last two axes; nullopt if they are not known.
std::optional<Sizes> BeforeImage(const ConstraintAt& c) {
  const OperationFacts& f = c.facts();
  const auto x = f.SizesOf("x");
  if (!x || x->size() < 2) return std::nullopt;
  if (f.definition().Input("roi") != nullptr) return Sizes{f.SizeOf("roi", 0), (*x)[0], (*x)[1]};
  if (f.definition().Input("boxes") != nullptr) return Sizes{f.SizeOf("boxes", 0), (*x)[1]};
  return Sizes(x->begin(), x->end() - 2);
}

void NeedImage(const ConstraintAt& c, int64_t height, int64_t width) {
  auto sizes = BeforeImage(c);
  if (!sizes) return;
  sizes->push_back(std::max(height, kAnySize));
  sizes->push_back(std::max(width, kAnySize));
  c.NeedResult(0, sizes);
}

void CheckTargetSizes(const ConstraintAt& c) {
  NeedImage(c, c.Int(0).value_or(kAnySize), c.Int(1).value_or(kAnySize));
}

// A size times a factor, rounded down. Not known if it depends on the precision of the product.
int64_t Scaled(const ConstraintAt& c, size_t factor, int64_t size) {
  const auto number = c.facts().Doubles(c.Name(factor));
  if (!number || number->size() != 1 || size == kAnySize) return kAnySize;
  const double exact = std::floor(number->front() * static_cast<double>(size));
  const float narrow = std::floor(static_cast<float>(number->front()) * static_cast<float>(size));
  const bool is_certain = exact == static_cast<double>(narrow) && exact >= 0 && exact < 1e9;
  return is_certain ? static_cast<int64_t>(exact) : kAnySize;
}

void CheckScaledSizes(const ConstraintAt& c) {
  NeedImage(c, Scaled(c, 0, c.facts().SizeOf("x", -2)), Scaled(c, 1, c.facts().SizeOf("x", -1)));
}

// What remains of a size; kAnySize if it is not known.
int64_t Cropped(const ConstraintAt& c, size_t crop, int64_t size) {
  const auto pair = c.Ints(crop);
  if (!pair || pair->size() != 2 || size == kAnySize) return kAnySize;
  const int64_t rest = size - (*pair)[0] - (*pair)[1];
  if (rest < 0)
    c.Add("input {} removes {} and {}, but the size is {}", c.Name(crop), (*pair)[0], (*pair)[1],
          size);
  return rest;
}

void CheckCrops(const ConstraintAt& c) {
  const int64_t height = Cropped(c, 0, c.facts().SizeOf("x", -2));
  NeedImage(c, height, Cropped(c, 1, c.facts().SizeOf("x", -1)));
}

void CheckSixColumns(const ConstraintAt& c) {
  c.NeedSize(0, -1, 6, "the numbers of a matrix");
}

// The result has the height and width of the coordinates.
void CheckPairsOfCoordinates(const ConstraintAt& c) {
  c.NeedSize(0, -1, 2, "the numbers of a position");
  if (c.RankOf(0) == 4) NeedImage(c, c.SizeOf(0, 1), c.SizeOf(0, 2));
}

void CheckRegions(const ConstraintAt& c) {
  const auto sizes = c.SizesOf(0);
  if (!sizes || sizes->size() != 5) return;
  const int64_t n = (*sizes)[0], numbers = (*sizes)[2];
  if (!MayEqual(*sizes, Sizes{n, 1, numbers, 1, 1}) ||
      (!MayEqual(numbers, 4) && !MayEqual(numbers, 5)))
    c.Add("input {} has shape {}, which is neither [n, 1, 4, 1, 1] nor [n, 1, 5, 1, 1]", c.Name(0),
          TextOf(*sizes));
}

void CheckBoxesOfFour(const ConstraintAt& c) {
  c.NeedSize(0, 1, 4, "the numbers of a box");
}

void CheckIndexForEachBox(const ConstraintAt& c) {
  if (c.Has(0)) c.NeedSize(0, 0, c.SizeOf(1, 0), "one for each box");
}

// x, boxes, box_indices
void CheckBoxesInBatch(const ConstraintAt& c) {
  const int64_t batch = c.SizeOf(0, 0), boxes = c.SizeOf(1, 0);
  if (batch == kAnySize) return;
  if (!c.Has(2) && boxes > batch)
    return c.Add("input {} has {} boxes for {} images, and there are no indices", c.Name(1), boxes,
                 batch);
  const auto indices = c.Has(2) ? c.Ints(2) : std::nullopt;
  for (const int64_t index : indices.value_or(std::vector<int64_t>()))
    if (index >= batch)
      return c.Add("input {} has index {}, which is out of range for {} images", c.Name(2), index,
                   batch);
}

// x, shape, resized_dims
void CheckResizedDims(const ConstraintAt& c) {
  auto sizes = c.SizesOf(0);
  const auto resized = c.Int(2);
  const int64_t given = c.SizeOf(1, 0);
  if (!sizes || !resized || given == kAnySize) return;
  const auto rank = static_cast<int64_t>(sizes->size());
  if (*resized > given || given > rank)
    return c.Add("{} of {} sizes are resized; input {} has rank {}", *resized, given, c.Name(0),
                 rank);
  const auto shape = c.Ints(1);
  const bool is_known = shape && std::ssize(*shape) == given;
  for (int64_t i = 0; i < *resized; ++i) {
    int64_t& size = (*sizes)[static_cast<size_t>(rank - *resized + i)];
    const int64_t want = is_known ? (*shape)[static_cast<size_t>(given - *resized + i)] : kAnySize;
    if (want != 0) size = std::max(want, kAnySize);
  }
  c.NeedResult(0, sizes);
}

constexpr ConstraintRow kImageConstraints[] = {
    {Label::kTargetSizes, CheckTargetSizes},
    {Label::kScaledSizes, CheckScaledSizes},
    {Label::kCrops, CheckCrops},
    {Label::kSixColumns, CheckSixColumns},
    {Label::kPairsOfCoordinates, CheckPairsOfCoordinates},
    {Label::kRegions, CheckRegions},
    {Label::kBoxesOfFour, CheckBoxesOfFour},
    {Label::kIndexForEachBox, CheckIndexForEachBox},
    {Label::kBoxesInBatch, CheckBoxesInBatch},
    {Label::kResizedDimsFit, CheckResizedDims},
};

}  // namespace

std::span<const ConstraintRow> ImageConstraintRows() {
  return kImageConstraints;
}

}  // namespace nn::coreml::program
