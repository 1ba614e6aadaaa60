#include "inspect/report/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <type_traits>
#include <utility>

#include "base/half.h"

namespace nn::inspect {
namespace {

// NaN sorts last and compares equal to itself.
template <typename T>
struct Before {
  bool operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
    return a < b;
  }
};

template <typename T>
Json Number(T v) {
  if constexpr (std::is_same_v<T, float>)
    return static_cast<double>(v);
  else
    return v;
}

// Counts numbers between `low` and `high`.
class Counter {
 public:
  Counter(double low, double high, bool integers) {
    out_.low = low;
    out_.high = high;
    // Halves, because the difference of two large numbers may be infinite.
    half_ = high * 0.5 - low * 0.5;
    const bool one_each = integers && high - low < double{Histogram::kBins};
    out_.counts.resize(one_each ? static_cast<size_t>(high - low) + 1 : Histogram::kBins);
    if (half_ <= 0) out_.counts.resize(1);
    // With a part for each integer, the last one is not the upper end of a part.
    parts_ = static_cast<double>(one_each ? out_.counts.size() - 1 : out_.counts.size());
  }

  void Add(double v) {
    const double part = half_ > 0 ? (v * 0.5 - out_.low * 0.5) / half_ * parts_ : 0;
    ++out_.counts[std::min(static_cast<size_t>(part), out_.counts.size() - 1)];
  }
  Histogram Take() { return std::move(out_); }

 private:
  Histogram out_;
  double half_;
  double parts_;
};

// `at(i)` gives element i as T.
template <typename T, typename Fn>
TensorStatistics Collect(uint64_t count, Fn at) {
  TensorStatistics s;
  s.count = count;
  std::set<T, Before<T>> distinct;
  T low{}, high{};
  double sum = 0;
  uint64_t finite = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const T v = at(i);
    if (distinct.size() <= TensorStatistics::kMaxDistinct) distinct.insert(v);
    if constexpr (std::is_floating_point_v<T>) {
      s.nans += std::isnan(v);
      s.infinities += std::isinf(v);
      if (!std::isfinite(v)) continue;
    }
    s.zeros += v == T{};
    low = finite == 0 ? v : std::min(low, v);
    high = finite == 0 ? v : std::max(high, v);
    sum += static_cast<double>(v);
    ++finite;
  }
  if (distinct.size() <= TensorStatistics::kMaxDistinct) {
    s.distinct.emplace();
    for (const T v : distinct) s.distinct->push_back(Number(v));
  }
  if (finite == 0) return s;
  s.min = Number(low);
  s.max = Number(high);
  s.mean = sum / static_cast<double>(finite);
  double squares = 0;
  Counter counter(static_cast<double>(low), static_cast<double>(high), std::is_integral_v<T>);
  for (uint64_t i = 0; i < count; ++i) {
    const auto v = static_cast<double>(at(i));
    if (!std::isfinite(v)) continue;
    squares += (v - *s.mean) * (v - *s.mean);
    counter.Add(v);
  }
  s.histogram = counter.Take();
  s.deviation = std::sqrt(squares / static_cast<double>(finite));
  return s;
}

// Elements in memory, aligned or not, widened by `widen`.
template <typename Stored, typename Fn>
TensorStatistics CollectStored(const Tensor& tensor, Fn widen) {
  const std::byte* data = tensor.blob().data();
  return Collect<decltype(widen(Stored{}))>(tensor.byte_size() / sizeof(Stored), [=](uint64_t i) {
    Stored v;
    std::memcpy(&v, data + i * sizeof(Stored), sizeof(Stored));
    return widen(v);
  });
}

template <typename T>
TensorStatistics CollectAs(const Tensor& tensor) {
  return CollectStored<T>(tensor, [](T v) { return v; });
}

TensorStatistics OfStrings(const Tensor& tensor) {
  TensorStatistics s;
  s.count = tensor.strings().size();
  std::set<std::string> distinct;
  for (const std::string& text : tensor.strings())
    if (distinct.size() <= TensorStatistics::kMaxDistinct) distinct.insert(text);
  if (distinct.size() <= TensorStatistics::kMaxDistinct)
    s.distinct.emplace(distinct.begin(), distinct.end());
  return s;
}

}  // namespace

TensorStatistics StatisticsOf(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kF32:
    case DType::kC64:
      return CollectAs<float>(tensor);
    case DType::kF64:
    case DType::kC128:
      return CollectAs<double>(tensor);
    case DType::kI8:
      return CollectAs<int8_t>(tensor);
    case DType::kU8:
    case DType::kBool:
      return CollectAs<uint8_t>(tensor);
    case DType::kI16:
      return CollectAs<int16_t>(tensor);
    case DType::kU16:
      return CollectAs<uint16_t>(tensor);
    case DType::kI32:
      return CollectAs<int32_t>(tensor);
    case DType::kU32:
      return CollectAs<uint32_t>(tensor);
    case DType::kI64:
      return CollectAs<int64_t>(tensor);
    case DType::kU64:
      return CollectAs<uint64_t>(tensor);
    case DType::kF16:
      return CollectStored<uint16_t>(tensor, HalfToFloat);
    case DType::kBF16:
      return CollectStored<uint16_t>(tensor, Bfloat16ToFloat);
    case DType::kString:
      return OfStrings(tensor);
    case DType::kUnknown:
      return {};
    default:
      return Collect<double>(static_cast<uint64_t>(tensor.elements()),
                             [&](uint64_t i) { return tensor.GetDouble(static_cast<int64_t>(i)); });
  }
}

}  // namespace nn::inspect
