#include "ops/array/arrange/permute.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/file/file.h"
#include "ops/array/shape.h"
#include "ops/quant/block_weights.h"

namespace nn {
namespace {

// An axis of the result. Strides are in units, as below.
struct Axis {
  int64_t size = 1;
  int64_t from = 0;  // stride in the source
  int64_t to = 0;    // stride in the result
};

template <size_t kUnit>
void CopyUnits(const std::byte* from, std::byte* to, const Axis& axis, size_t unit) {
  const size_t size = kUnit == 0 ? unit : kUnit;
  const auto step = static_cast<std::ptrdiff_t>(size);
  for (int64_t i = 0; i < axis.size; ++i)
    std::memcpy(to + i * axis.to * step, from + i * axis.from * step, size);
}

class PermutedBytes : public DeferredBytes {
 public:
  // A permutation of whole bytes.
  PermutedBytes(const Tensor& source, const AxisMap& map)
      : source_(source.blob()), unit_(ByteSize(source.dtype(), 1)) {
    const auto strides = Strides(source.dims());
    for (const int f : map.from()) {
      if (f == AxisMap::kNew || source.dim(f) == 1) continue;
      const Axis axis{source.dim(f), strides[static_cast<size_t>(f)], 0};
      if (!axes_.empty() && axes_.back().from == axis.size * axis.from) {
        axes_.back().size *= axis.size;
        axes_.back().from = axis.from;
      } else {
        axes_.push_back(axis);
      }
    }
    // An innermost axis that stays innermost is copied as a whole.
    if (!axes_.empty() && axes_.back().from == 1) {
      const int64_t row = axes_.back().size;
      unit_ *= static_cast<size_t>(row);
      axes_.pop_back();
      for (Axis& axis : axes_) axis.from /= row;
    }
    int64_t stride = 1;
    for (size_t k = axes_.size(); k-- > 0;) {
      axes_[k].to = stride;
      stride *= axes_[k].size;
    }
  }

  void Compute(size_t offset, std::span<std::byte> to) const override {
    // The end of a unit, whole units, the start of a unit.
    if (const size_t skipped = offset % unit_; skipped > 0) {
      const size_t count = std::min(unit_ - skipped, to.size());
      std::memcpy(to.data(), UnitAt(offset / unit_) + skipped, count);
      to = to.subspan(count);
      offset += count;
    }
    const size_t first = offset / unit_;
    const size_t count = to.size() / unit_;
    if (count > 0)
      FillRange(0, static_cast<int64_t>(first), static_cast<int64_t>(first + count), source_.data(),
                to.data());
    to = to.subspan(count * unit_);
    if (!to.empty()) std::memcpy(to.data(), UnitAt(first + count), to.size());
  }
  void Release() const override { DropResidentPages(source_); }

 private:
  const std::byte* UnitAt(size_t index) const {
    auto rest = static_cast<int64_t>(index);
    int64_t from = 0;
    for (const Axis& axis : axes_) {
      from += rest / axis.to * axis.from;
      rest %= axis.to;
    }
    return source_.data() + static_cast<size_t>(from) * unit_;
  }

  const std::byte* Advance(const std::byte* from, const Axis& axis, int64_t steps) const {
    return from + static_cast<size_t>(steps * axis.from) * unit_;
  }

  // Fills units [begin, end) of the axes from `axis` on; `from` is their first source unit. `to` is
  // the place of unit `begin`.
  void FillRange(size_t axis, int64_t begin, int64_t end, const std::byte* from,
                 std::byte* to) const {
    if (begin == end) return;
    if (axis == axes_.size()) {
      std::memcpy(to, from, unit_);
      return;
    }
    const Axis& a = axes_[axis];
    const auto fill_inner = [&](int64_t index, int64_t inner_begin, int64_t inner_end) {
      FillRange(axis + 1, inner_begin, inner_end, Advance(from, a, index), to);
      to += static_cast<size_t>(inner_end - inner_begin) * unit_;
    };
    int64_t first = begin / a.to;
    const int64_t last = end / a.to;
    if (first == last) return fill_inner(first, begin % a.to, end % a.to);
    if (begin % a.to != 0) fill_inner(first++, begin % a.to, a.to);
    if (first < last) {
      FillBox(axis, last - first, Advance(from, a, first), to);
      to += static_cast<size_t>((last - first) * a.to) * unit_;
    }
    if (end % a.to != 0) fill_inner(last, 0, end % a.to);
  }

  // Fills `size` steps of an axis and all of the axes after it, in the order of the source.
  void FillBox(size_t axis, int64_t size, const std::byte* from, std::byte* to) const {
    std::vector<Axis> loops(axes_.begin() + static_cast<std::ptrdiff_t>(axis), axes_.end());
    loops.front().size = size;
    std::ranges::sort(loops, std::greater(), &Axis::from);
    const Axis inner = loops.back();
    loops.pop_back();
    std::vector<int64_t> index(loops.size(), 0);
    while (true) {
      CopyRow(from, to, inner);
      size_t k = loops.size();
      while (k > 0) {
        const Axis& a = loops[k - 1];
        const int64_t steps = ++index[k - 1] < a.size ? 1 : 1 - a.size;
        if (steps != 1) index[k - 1] = 0;
        from += steps * a.from * static_cast<std::ptrdiff_t>(unit_);
        to += steps * a.to * static_cast<std::ptrdiff_t>(unit_);
        if (steps == 1) break;
        --k;
      }
      if (k == 0) return;
    }
  }

  void CopyRow(const std::byte* from, std::byte* to, const Axis& axis) const {
    switch (unit_) {
      case 1:
        return CopyUnits<1>(from, to, axis, unit_);
      case 2:
        return CopyUnits<2>(from, to, axis, unit_);
      case 4:
        return CopyUnits<4>(from, to, axis, unit_);
      case 8:
        return CopyUnits<8>(from, to, axis, unit_);
      default:
        return CopyUnits<0>(from, to, axis, unit_);
    }
  }

  Blob source_;
  size_t unit_;             // bytes that stay together
  std::vector<Axis> axes_;  // of the result, from the outermost
};

}  // namespace

Result<Tensor> RearrangeConstant(const Tensor& tensor, const AxisMap& map) {
  if (map.KeepsOrder(ToDims(tensor.dims()))) return RearrangeTensor(tensor, map);
  size_t offset = 0;
  if (const auto* weights = tensor.blob().SourceAs<BlockWeights>(offset);
      weights != nullptr && offset == 0 && tensor.rank() == 2 && map.IsPermutation() &&
      tensor.dims() == std::vector{weights->rows, weights->columns})
    return TensorOf(Transposed(*weights), map.Apply(tensor.dims()));
  const bool whole_bytes = tensor.dtype() != DType::kString && DTypeBits(tensor.dtype()) >= 8;
  if (!whole_bytes || tensor.byte_size() < kDeferredPermutationBytes)
    return RearrangeTensor(tensor, map);
  return Tensor::Make(
      tensor.dtype(), map.Apply(tensor.dims()),
      Blob::Deferred(tensor.byte_size(), std::make_unique<PermutedBytes>(tensor, map)));
}

}  // namespace nn
