#include "against/align.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "ops/array/shape.h"

namespace nn::against {
namespace {

// Axes that are compared with one another; more than two or three of equal size are rare.
constexpr size_t kMaxMaps = 24;

std::vector<int64_t> LargerThanOne(std::vector<int64_t> dims) {
  std::erase(dims, 1);
  return dims;
}

// The map of axes larger than 1, with those of size 1 in their order.
AxisMap WithUnitAxes(std::vector<int> map, const std::vector<int64_t>& from,
                     const std::vector<int64_t>& to) {
  size_t i = 0;
  for (size_t k = 0; k < to.size(); ++k) {
    if (to[k] != 1) continue;
    while (i < from.size() && from[i] != 1) ++i;
    if (i < from.size()) map[k] = static_cast<int>(i++);
  }
  return AxisMap(static_cast<int>(from.size()), std::move(map));
}

bool IsNumber(DType type) {
  return IsFloat(type) || IsInteger(type) || type == DType::kBool;
}

Result<Tensor> Cast(const Tensor& tensor, DType to) {
  if (tensor.dtype() == to) return tensor;
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(to, tensor.dims()));
  for (int64_t i = 0; i < b.elements(); ++i) {
    if (IsFloat(to))
      b.SetDouble(i, tensor.GetDouble(i));
    else
      b.SetInt(i, tensor.GetInt(i));
  }
  return b.Finish();
}

// Whether float32 holds every number of the type.
bool FitsFloat32(DType type) {
  if (IsFloat(type)) return type != DType::kF64;
  return type == DType::kBool || DTypeBits(type) < 32;
}

Result<Aligned> CompareIn(const std::optional<AxisMap>& map, const Tensor& want, const Tensor& got,
                          const Tolerance& tolerance) {
  Aligned out;
  if (map) {
    NN_ASSIGN(out.want, RearrangeTensor(want, *map));
  } else {
    NN_ASSIGN(out.want, want.Reshaped(got.dims()));
  }
  out.got = got;
  out.axes = map;
  out.comparison = Compare(out.want, got, tolerance);
  return out;
}

}  // namespace

std::vector<AxisMap> MapsBetween(const std::vector<int64_t>& from, const std::vector<int64_t>& to,
                                 size_t most) {
  std::vector<AxisMap> out;
  if (from == to && !from.empty()) out.push_back(AxisMap::Identity(static_cast<int>(from.size())));
  if (from.empty() && to.empty()) return {AxisMap::Identity(0)};
  if (LargerThanOne(from).size() != LargerThanOne(to).size()) return {};
  std::vector<int> map(to.size(), AxisMap::kNew);
  std::vector<bool> used(from.size(), false);
  const std::function<void(size_t)> place = [&](size_t k) {
    if (out.size() >= most) return;
    if (k == to.size()) {
      AxisMap found = WithUnitAxes(map, from, to);
      if (std::ranges::find(out, found) == out.end() &&
          !(from == to && found.KeepsOrder(ToDims(from))))
        out.push_back(std::move(found));
      return;
    }
    if (to[k] == 1) return place(k + 1);
    for (size_t i = 0; i < from.size(); ++i) {
      if (used[i] || from[i] != to[k]) continue;
      used[i] = true;
      map[k] = static_cast<int>(i);
      place(k + 1);
      used[i] = false;
    }
    map[k] = AxisMap::kNew;
  };
  place(0);
  return out;
}

bool SameAxes(const Type& a, const Type& b) {
  const auto x = a.const_dims(), y = b.const_dims();
  if (!x || !y) return a.ranked() && b.ranked() && a.rank() == b.rank();
  std::vector<int64_t> left = LargerThanOne(*x), right = LargerThanOne(*y);
  std::ranges::sort(left);
  std::ranges::sort(right);
  return left == right;
}

Result<SameType> InOneType(const Tensor& want, const Tensor& got) {
  const DType a = want.dtype(), b = got.dtype();
  if (a == b && (a == DType::kF32 || !IsFloat(a))) return SameType{want, got};
  if (!IsNumber(a) || !IsNumber(b))
    return UnsupportedError("{} cannot be compared with {}", DTypeName(a), DTypeName(b));
  const bool reals = IsFloat(a) || IsFloat(b);
  const DType common = !reals                             ? DType::kI64
                       : FitsFloat32(a) && FitsFloat32(b) ? DType::kF32
                                                          : DType::kF64;
  SameType out;
  NN_ASSIGN(out.want, Cast(want, common));
  NN_ASSIGN(out.got, Cast(got, common));
  return out;
}

Result<Aligned> CompareAligned(const Tensor& want, const Tensor& got, double atol, double rtol,
                               double step) {
  NN_ASSIGN(const SameType same, InOneType(want, got));
  Tolerance tolerance = ScaledTolerance(atol, rtol, same.want);
  tolerance.atol += step;
  if (want.elements() != got.elements()) {
    Aligned out;
    out.want = same.want;
    out.got = same.got;
    out.comparison = Compare(same.want, same.got, tolerance);
    return out;
  }
  const std::vector<AxisMap> maps = MapsBetween(want.dims(), got.dims(), kMaxMaps);
  if (maps.empty()) return CompareIn(std::nullopt, same.want, same.got, tolerance);
  NN_ASSIGN(Aligned best, CompareIn(maps[0], same.want, same.got, tolerance));
  for (size_t i = 1; i < maps.size() && !best.comparison.agrees; ++i) {
    NN_ASSIGN(Aligned other, CompareIn(maps[i], same.want, same.got, tolerance));
    if (other.comparison.agrees || other.comparison.snr_db > best.comparison.snr_db)
      best = std::move(other);
  }
  return best;
}

NotFinite CountNotFinite(const Tensor& tensor) {
  NotFinite out;
  if (!IsFloat(tensor.dtype())) return out;
  const auto count = [&](double v) {
    out.nan += std::isnan(v) ? 1 : 0;
    out.infinite += std::isinf(v) ? 1 : 0;
  };
  if (tensor.dtype() == DType::kF32) {
    const Tensor aligned = tensor.Aligned();
    for (const float v : aligned.As<float>()) count(v);
  } else {
    for (int64_t i = 0; i < tensor.elements(); ++i) count(tensor.GetDouble(i));
  }
  return out;
}

}  // namespace nn::against
