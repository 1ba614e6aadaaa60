// Constraints on the shapes of results that lists of sizes determine.
#include <algorithm>
#include <cmath>

#include "formats/coreml/program/spec/constraint.h"

namespace nn::coreml::program {
namespace {

void CheckRankMany(const ConstraintAt& c) {
  if (const auto rank = c.RankOf(0)) c.NeedResult(0, Sizes{*rank});
}

void CheckRangeLength(const ConstraintAt& c) {
  double bounds[3];
  for (size_t i = 0; i < std::size(bounds); ++i) {
    const auto number = c.facts().Doubles(c.Name(i));
    if (!number || number->size() != 1) return;
    bounds[i] = number->front();
  }
  const auto [end, start, step] = bounds;
  const double length = std::ceil((end - start) / step);
  if (length >= 0 && length < 1e9) c.NeedResult(0, Sizes{static_cast<int64_t>(length)});
}

void CheckTiledShape(const ConstraintAt& c) {
  auto sizes = c.SizesOf(0);
  const auto repetitions = c.Ints(1);
  if (!sizes || !repetitions || sizes->size() != repetitions->size()) return;
  for (size_t i = 0; i < sizes->size(); ++i)
    (*sizes)[i] = MultiplySizes((*sizes)[i], std::max((*repetitions)[i], kAnySize));
  c.NeedResult(0, sizes);
}

void CheckFlattenedShape(const ConstraintAt& c) {
  const auto sizes = c.SizesOf(0);
  const auto axis = c.Int(1);
  if (!sizes || !axis) return;
  const auto rank = static_cast<int64_t>(sizes->size());
  const auto split =
      static_cast<size_t>(std::clamp(*axis < 0 ? *axis + rank : *axis, int64_t{0}, rank));
  const std::span all(*sizes);
  c.NeedResult(0, Sizes{ElementsIn(all.first(split)), ElementsIn(all.subspan(split))});
}

// ---- Joining and splitting ----------------------------------------------------------------------

// Scalars are joined to a vector.
void JoinScalars(const ConstraintAt& c, size_t values) {
  c.NeedResult(0, Sizes{static_cast<int64_t>(values)});
}

void CheckConcatenatedShape(const ConstraintAt& c) {
  const auto values = c.facts().Values(c.Name(0));
  auto sum = c.SizesOf(0);
  if (!sum) return;
  if (sum->empty()) return JoinScalars(c, values.size());
  const auto axis = c.Axis(1, static_cast<int64_t>(sum->size()));
  const bool interleaved = c.Bool(2) == true;
  if (!axis) return;
  const auto at = static_cast<size_t>(*axis);
  for (size_t i = 1; i < values.size(); ++i) {
    const auto next = values[i].type == nullptr ? std::nullopt : SizesOf(*values[i].type);
    if (!next || next->size() != sum->size()) return;
    for (size_t k = 0; k < sum->size(); ++k) {
      const int64_t first = k == at ? c.SizeOf(0, *axis) : (*sum)[k];
      if ((k != at || interleaved) && !MayEqual(first, (*next)[k]))
        return c.Add("input {}[{}] has shape {}, which is not joined to {} along axis {}",
                     c.Name(0), i, TextOf(*next), TextOf(*c.SizesOf(0)), *axis);
      if (k != at && (*sum)[k] == kAnySize) (*sum)[k] = (*next)[k];
    }
    (*sum)[at] = AddSizes((*sum)[at], (*next)[at]);
  }
  c.NeedResult(0, sum);
}

// The sizes along the axis of the parts; nullopt if their number is not known. A number that does
// not divide the size is a misfit.
std::optional<Sizes> PartsOf(const ConstraintAt& c, int64_t size) {
  const auto number = c.Int(1);
  auto parts = c.Ints(2);
  if (parts)
    for (int64_t& part : *parts) part = std::max(part, kAnySize);
  if (parts || !number || c.Has(2)) return parts;
  const auto results = static_cast<int64_t>(c.facts().results());
  if (*number != results)
    c.AddResult("it has {} results instead of {}", results, *number);
  else if (size != kAnySize && *number > 0 && size % *number != 0)
    c.Add("input {} is {}, which does not divide the size {}", c.Name(1), *number, size);
  else
    return Sizes(static_cast<size_t>(results), DivideSizes(size, *number));
  return std::nullopt;
}

void CheckSplitInto(const ConstraintAt& c) {
  auto sizes = c.SizesOf(0);
  if (!sizes) return;
  const auto axis = c.Axis(3, static_cast<int64_t>(sizes->size()));
  if (!axis) return;
  int64_t& size = (*sizes)[static_cast<size_t>(*axis)];
  const auto parts = PartsOf(c, size);
  if (!parts) return;
  if (parts->size() != c.facts().results())
    return c.AddResult("it has {} results instead of {}", c.facts().results(), parts->size());
  for (size_t i = 0; i < parts->size(); ++i) {
    size = (*parts)[i];
    c.NeedResult(i, sizes);
  }
}

void CheckSizesAddUp(const ConstraintAt& c) {
  const auto rank = c.RankOf(0);
  const auto parts = c.Has(1) ? c.Ints(1) : std::nullopt;
  const auto axis = rank ? c.Axis(2, *rank) : std::nullopt;
  if (!axis || !parts) return;
  int64_t sum = 0;
  for (const int64_t part : *parts) sum = AddSizes(sum, part);
  if (!MayEqual(sum, c.SizeOf(0, *axis)))
    c.Add("input {} adds up to {}, but the size is {}", c.Name(1), sum, c.SizeOf(0, *axis));
}

// ---- Reshaping ----------------------------------------------------------------------------------

void CheckOneInferredSize(const ConstraintAt& c) {
  const auto shape = c.Ints(0);
  if (const auto inferred = shape ? std::ranges::count(*shape, -1) : 0; inferred > 1)
    c.Add("input {} has -1 {} times", c.Name(0), inferred);
}

void CheckZerosNeedRank(const ConstraintAt& c) {
  const auto rank = c.RankOf(0);
  const auto shape = c.Ints(1);
  if (rank && shape && std::ranges::count(*shape, 0) > 0 &&
      *rank != static_cast<int64_t>(shape->size()))
    c.Add("input {} has a 0, and {} sizes; input {} has rank {}", c.Name(1), shape->size(),
          c.Name(0), *rank);
}

// The shape with the sizes that a 0 copies; nullopt if there are none to copy.
std::optional<Sizes> WithoutZeros(const ConstraintAt& c, const Sizes& from, Sizes shape) {
  if (std::ranges::count(shape, 0) == 0) return shape;
  const bool from_the_end = c.facts().definition().Find(Label::kZerosFromTheEnd) != nullptr;
  if (!from_the_end && from.size() != shape.size()) return std::nullopt;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t distance = shape.size() - i;
    if (shape[i] == 0) shape[i] = distance > from.size() ? 1 : from[from.size() - distance];
  }
  return shape;
}

void CheckSameElements(const ConstraintAt& c) {
  const auto from = c.SizesOf(0);
  const auto list = c.Ints(1);
  if (!from || !list || std::ranges::any_of(*list, [](int64_t n) { return n < -1; })) return;
  auto shape = WithoutZeros(c, *from, *list);
  if (!shape) return;
  const int64_t elements = ElementsIn(*from);
  if (const auto inferred = std::ranges::find(*shape, kAnySize); inferred != shape->end()) {
    *inferred = 1;
    const int64_t others = ElementsIn(*shape);
    *inferred = DivideSizes(elements, others);
  }
  if (!MayEqual(elements, ElementsIn(*shape)))
    return c.Add("input {} has {} elements, which is not the number of shape {}", c.Name(0),
                 elements, TextOf(*list));
  c.NeedResult(0, shape);
}

// Of reshape_like: the sizes that the slices of shapes give.
std::optional<Sizes> JoinedSlices(const ConstraintAt& c) {
  const auto& f = c.facts();
  const auto values = f.Values(c.Name(1));
  Sizes out;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto sizes = values[i].type == nullptr ? std::nullopt : SizesOf(*values[i].type);
    int64_t bounds[3];
    for (size_t k = 0; k < std::size(bounds); ++k) {
      const auto list = f.Values(c.Name(2 + k));
      if (i >= list.size() || list[i].constant == nullptr || list[i].constant->elements() != 1)
        return std::nullopt;
      bounds[k] = list[i].constant->GetInt(0);
    }
    if (!sizes) return std::nullopt;
    const auto rank = static_cast<int64_t>(sizes->size());
    const auto position = [&](int64_t n) {
      return std::clamp(n < 0 ? n + rank : n, int64_t{0}, rank);
    };
    const int64_t last = bounds[2] != 0 ? rank : position(bounds[1]);
    for (int64_t k = position(bounds[0]); k < last; ++k)
      out.push_back((*sizes)[static_cast<size_t>(k)]);
  }
  return out;
}

void CheckJoinedShape(const ConstraintAt& c) {
  const auto shape = JoinedSlices(c);
  const auto from = c.SizesOf(0);
  if (!shape) return;
  if (std::ranges::count(*shape, kAnySize) > 0)
    return c.Add("the slices give the shape {}, which is not known", TextOf(*shape));
  if (from && !MayEqual(ElementsIn(*from), ElementsIn(*shape)))
    return c.Add("input {} has shape {}, which has not the number of elements of {}", c.Name(0),
                 TextOf(*from), TextOf(*shape));
  c.NeedResult(0, shape);
}

// ---- Others -------------------------------------------------------------------------------------

void CheckLengthsFit(const ConstraintAt& c) {
  const auto rank = c.RankOf(0);
  if (!rank) return;
  const auto sequence = c.Axis(2, *rank), batch = c.Axis(3, *rank);
  if (batch) c.NeedSize(1, 0, c.SizeOf(0, *batch), "one for each index of the batch");
  const auto lengths = c.Ints(1);
  const int64_t most = sequence ? c.SizeOf(0, *sequence) : kAnySize;
  if (!lengths || most == kAnySize) return;
  for (const int64_t length : *lengths)
    if (length > most)
      c.Add("input {} has {}, but the sequence has size {}", c.Name(1), length, most);
}

void CheckPadsOfLastAxes(const ConstraintAt& c) {
  auto sizes = c.SizesOf(0);
  const int64_t count = c.SizeOf(1, 0);
  if (!sizes || count == kAnySize) return;
  if (count % 2 != 0) return c.Add("input {} has {} elements, not pairs", c.Name(1), count);
  const auto pairs = static_cast<size_t>(count / 2);
  if (pairs > sizes->size())
    return c.Add("input {} has {} pairs; input {} has rank {}", c.Name(1), pairs, c.Name(0),
                 sizes->size());
  const auto pad = c.Ints(1);
  const size_t first = sizes->size() - pairs;
  for (size_t i = 0; i < pairs; ++i) {
    int64_t& size = sizes->at(first + i);
    size = pad && pad->size() == 2 * pairs ? OffsetSize(size, (*pad)[2 * i] + (*pad)[2 * i + 1])
                                           : kAnySize;
  }
  c.NeedResult(0, sizes);
}

void CheckAllAxesIfVariable(const ConstraintAt& c) {
  const auto rank = c.RankOf(0);
  const auto pads = c.facts().Values(c.Name(1));
  if (!rank || pads.empty() || pads[0].is_constant || pads[0].constant != nullptr) return;
  c.NeedSize(1, 0, 2 * *rank, "a pair for each axis, because it is not a constant");
}

void CheckReflectionsFit(const ConstraintAt& c) {
  const auto sizes = c.SizesOf(0);
  const auto pad = c.Ints(1);
  const auto mode = c.Text(2);
  if (!sizes || !pad || !mode || pad->size() > 2 * sizes->size()) return;
  const int64_t less = *mode == "reflect" ? 1 : 0;
  if (less == 0 && *mode != "replicate") return;
  const size_t first = sizes->size() - pad->size() / 2;
  for (size_t i = 0; i < pad->size(); ++i) {
    const int64_t size = (*sizes)[std::min(first + i / 2, sizes->size() - 1)];
    if (size != kAnySize && (*pad)[i] > size - less)
      c.Add("input {} has {}, which is too large for mode {} and size {}", c.Name(1), (*pad)[i],
            *mode, size);
  }
}

void CheckLastSize(const ConstraintAt& c) {
  auto sizes = c.facts().SizesOf("x");
  if (!sizes || sizes->empty()) return;
  sizes->back() = std::max(c.Int(0).value_or(kAnySize), kAnySize);
  c.NeedResult(0, sizes);
}

void CheckWindowsOfAxis(const ConstraintAt& c) {
  auto sizes = c.SizesOf(0);
  const auto size = c.Int(2), stride = c.Int(3);
  if (!sizes || !size || !stride || *size < 0) return;
  const auto axis = c.Axis(1, static_cast<int64_t>(sizes->size()));
  if (!axis) return;
  int64_t& at = (*sizes)[static_cast<size_t>(*axis)];
  if (at != kAnySize && at < *size)
    return c.Add("input {} is {}, but the axis has size {}", c.Name(2), *size, at);
  at = at == kAnySize ? kAnySize : AddSizes(DivideSizes(at - *size, *stride), 1);
  sizes->insert(sizes->begin() + *axis + 1, *size);
  c.NeedResult(0, sizes);
}

constexpr ConstraintRow kShapeConstraints[] = {
    {Label::kRankMany, CheckRankMany},
    {Label::kRangeLength, CheckRangeLength},
    {Label::kTiledShape, CheckTiledShape},
    {Label::kFlattenedShape, CheckFlattenedShape},
    {Label::kConcatenatedShape, CheckConcatenatedShape},
    {Label::kSplitInto, CheckSplitInto},
    {Label::kSizesAddUp, CheckSizesAddUp},
    {Label::kOneInferredSize, CheckOneInferredSize},
    {Label::kZerosNeedRank, CheckZerosNeedRank},
    {Label::kSameElements, CheckSameElements},
    {Label::kJoinedShape, CheckJoinedShape},
    {Label::kLengthsFit, CheckLengthsFit},
    {Label::kPadsOfLastAxes, CheckPadsOfLastAxes},
    {Label::kAllAxesIfVariable, CheckAllAxesIfVariable},
    {Label::kReflectionsFit, CheckReflectionsFit},
    {Label::kLastSize, CheckLastSize},
    {Label::kWindowsOfAxis, CheckWindowsOfAxis},
};

}  // namespace

std::span<const ConstraintRow> ShapeConstraintRows() {
  return kShapeConstraints;
}

}  // namespace nn::coreml::program
