// Constraints on slices.
#include <algorithm>
#include <cstdlib>

#include "base/checked_math.h"
#include "formats/coreml/program/spec/constraint.h"

namespace nn::coreml::program {
namespace {

// What selects elements along one axis. Bounds that are not known are absent.
struct AxisSlice {
  std::optional<int64_t> begin, end;
  int64_t stride = 1;
  bool from_first = false, to_last = false;  // the masks
};

// The size of a slice that is 0 or 1 whatever the size of the axis.
std::optional<int64_t> SizeAnyway(const AxisSlice& s) {
  if (!s.begin) return std::nullopt;
  if (!s.from_first && s.to_last && *s.begin == (s.stride > 0 ? -1 : 0)) return 1;
  if (s.from_first || s.to_last || !s.end) return std::nullopt;
  const bool forward = *s.begin >= 0 && *s.end >= 0 && s.stride > 0;
  const bool backward = *s.begin < 0 && *s.end < 0 && s.stride < 0;
  if (!forward && !backward) return std::nullopt;
  const int64_t size = CeilDiv(forward ? *s.end - *s.begin : *s.begin - *s.end, std::abs(s.stride));
  return size == 0 || size == 1 ? std::optional(size) : std::nullopt;
}

int64_t SizeOfSlice(const AxisSlice& s, int64_t size) {
  if (s.stride == 0) return kAnySize;
  const int64_t step = std::abs(s.stride);
  if (s.from_first && s.to_last) {
    if (size == kAnySize) return kAnySize;
    return CeilDiv(size, step);
  }
  if (const auto anyway = SizeAnyway(s)) return *anyway;
  if (size == kAnySize) return kAnySize;
  if (size == 1) return 1;
  if ((!s.begin && !s.from_first) || (!s.end && !s.to_last)) return kAnySize;
  const auto position = [&](int64_t n) { return n < 0 ? std::max(int64_t{0}, n + size) : n; };
  const int64_t begin = position(s.begin.value_or(0)), end = position(s.end.value_or(0));
  // From the lower end to the higher one.
  const bool forward = s.stride > 0;
  const int64_t low = forward ? 0 : -1, high = forward ? size : size - 1;
  const int64_t first = (forward ? s.from_first : s.to_last) ? low : forward ? begin : end;
  const int64_t last =
      (forward ? s.to_last : s.from_first) ? high : std::min(forward ? end : begin, high);
  return std::max(int64_t{0}, CeilDiv(last - first, step));
}

// Whether slicing goes against its direction, which type inference refuses.
bool IsReversed(const AxisSlice& s) {
  if (s.from_first || s.to_last || !s.begin || !s.end) return false;
  if (*s.begin >= 0 && *s.end >= 0 && s.stride > 0) return *s.end < *s.begin;
  return *s.begin < 0 && *s.end < 0 && s.stride < 0 && *s.begin < *s.end;
}

// Operands of slices from position `first` of a constraint on: begin, end, stride and the masks.
class SliceOperands {
 public:
  SliceOperands(const ConstraintAt& c, size_t first, size_t rank) {
    for (size_t i = 0; i < std::size(lists_); ++i) {
      lists_[i] = c.Ints(first + i, static_cast<int64_t>(rank));
      // Lists of other lengths, and absent ones that need a constant, are not known.
      if (lists_[i] && lists_[i]->size() != rank) lists_[i].reset();
      if (i >= 2 && !lists_[i]) valid_ = false;
    }
  }

  bool valid() const { return valid_; }
  bool Squeezes(size_t axis) const { return (*lists_[5])[axis] != 0; }
  AxisSlice operator[](size_t axis) const {
    AxisSlice s;
    if (lists_[0]) s.begin = (*lists_[0])[axis];
    if (lists_[1]) s.end = (*lists_[1])[axis];
    s.stride = (*lists_[2])[axis];
    s.from_first = (*lists_[3])[axis] != 0;
    s.to_last = (*lists_[4])[axis] != 0;
    return s;
  }

 private:
  std::optional<std::vector<int64_t>> lists_[6];
  bool valid_ = true;
};

// nullopt if it is not known, or is a misfit.
std::optional<Sizes> SlicedSizes(const ConstraintAt& c, size_t first_operand) {
  const auto sizes = c.SizesOf(0);
  if (!sizes) return std::nullopt;
  const SliceOperands operands(c, first_operand, sizes->size());
  if (!operands.valid()) return std::nullopt;
  Sizes out;
  for (size_t i = 0; i < sizes->size(); ++i) {
    if (operands.Squeezes(i)) continue;
    const AxisSlice s = operands[i];
    if (s.stride == 0 || IsReversed(s)) {
      c.Add("axis {} is sliced from {} to {} with stride {}", i, s.begin.value_or(0),
            s.end.value_or(0), s.stride);
      return std::nullopt;
    }
    out.push_back(SizeOfSlice(s, (*sizes)[i]));
  }
  return out;
}

void CheckSlicedShape(const ConstraintAt& c) {
  c.NeedResult(0, SlicedSizes(c, 1));
}

void CheckUpdatesSlice(const ConstraintAt& c) {
  const auto want = SlicedSizes(c, 2), is = c.SizesOf(1);
  if (want && is && !MayEqual(*is, *want))
    c.Add("input {} has shape {}, but the slice has shape {}", c.Name(1), TextOf(*is),
          TextOf(*want));
}

void CheckOneForEachAxis(const ConstraintAt& c) {
  const auto rank = c.RankOf(0);
  if (!rank) return;
  for (size_t i = 1; i < c.size(); ++i)
    if (c.Has(i)) c.NeedSize(i, 0, *rank, "one for each axis");
}

void CheckSliceOfSize(const ConstraintAt& c) {
  auto sizes = c.SizesOf(0);
  const auto size = c.Ints(2), begin = c.Ints(1);
  if (!sizes || !size || size->size() != sizes->size()) return;
  const bool known = begin && begin->size() == sizes->size();
  for (size_t i = 0; i < sizes->size(); ++i) {
    int64_t& s = (*sizes)[i];
    const int64_t rest = s == kAnySize || !known || (*begin)[i] < 0 ? kAnySize : s - (*begin)[i];
    s = (*size)[i] == -1 ? std::max(rest, kAnySize) : std::max((*size)[i], kAnySize);
  }
  c.NeedResult(0, sizes);
}

constexpr ConstraintRow kSliceConstraints[] = {
    {Label::kSlicedShape, CheckSlicedShape},
    {Label::kUpdatesSlice, CheckUpdatesSlice},
    {Label::kOneForEachAxis, CheckOneForEachAxis},
    {Label::kSliceOfSize, CheckSliceOfSize},
};

}  // namespace

std::span<const ConstraintRow> SliceConstraintRows() {
  return kSliceConstraints;
}

}  // namespace nn::coreml::program
