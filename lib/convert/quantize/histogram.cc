#include "convert/quantize/histogram.h"

#include <algorithm>
#include <cmath>

#include "numeric/doubles.h"

namespace nn {
namespace {

constexpr double kLevels = 255;
// The ends that are tried: these parts of the whole.
constexpr int kParts = 64;
constexpr int kMinPart = 16;
// Each trial of the divergence visits every bin.
constexpr int kDivergenceStep = 3;

}  // namespace

Histogram::Histogram(const ValueRange& range, size_t bins)
    : low_(range.min),
      width_(std::max((range.max - range.min) / static_cast<double>(bins), 1e-300)),
      counts_(bins) {}

size_t Histogram::BinOf(double x) const {
  const double at = (x - low_) / width_;
  return at <= 0 ? 0 : std::min(static_cast<size_t>(at), counts_.size() - 1);
}

void Histogram::Add(std::span<const float> numbers) {
  for (const float x : numbers) {
    if (!std::isfinite(x)) continue;
    if (x == 0)
      ++zeros_;
    else
      ++counts_[BinOf(static_cast<double>(x))];
  }
}

ValueRange Histogram::Percentile(double percentile) const {
  uint64_t total = 0;
  for (const uint64_t n : counts_) total += n;
  const double cut = static_cast<double>(total + zeros_) * (100 - percentile) / 200;
  size_t first = 0;
  double passed = 0;
  while (first + 1 < counts_.size() && passed + static_cast<double>(counts_[first]) <= cut)
    passed += static_cast<double>(counts_[first++]);
  size_t last = counts_.size();
  passed = 0;
  while (last > first + 1 && passed + static_cast<double>(counts_[last - 1]) <= cut)
    passed += static_cast<double>(counts_[--last]);
  return {low_ + static_cast<double>(first) * width_, low_ + static_cast<double>(last) * width_};
}

Histogram::Sums Histogram::SumsOf() const {
  Sums s;
  double count = 0, linear = 0, square = 0;
  for (size_t i = 0; i <= counts_.size(); ++i) {
    s.count.push_back(count);
    s.linear.push_back(linear);
    s.square.push_back(square);
    if (i == counts_.size()) break;
    const auto n = static_cast<double>(counts_[i]);
    count += n;
    linear += n * Center(i);
    square += n * Center(i) * Center(i);
  }
  return s;
}

double Histogram::SquaredError(const Sums& s, const ValueRange& range, double step) const {
  const size_t first = BinOf(range.min);
  const size_t last = BinOf(range.max) + 1;
  const auto outside = [&](size_t from, size_t to, double bound) {
    const double n = s.count[to] - s.count[from];
    return (s.square[to] - s.square[from]) - 2 * bound * (s.linear[to] - s.linear[from]) +
           n * bound * bound;
  };
  return (s.count[last] - s.count[first]) * step * step / 12 + outside(0, first, range.min) +
         outside(last, counts_.size(), range.max);
}

double Histogram::Divergence(const ValueRange& range, double step) const {
  const size_t first = BinOf(range.min);
  const size_t last = BinOf(range.max) + 1;
  double total = 0, before = 0, behind = 0, inside = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    const auto n = static_cast<double>(counts_[i]);
    total += n;
    (i < first ? before : i >= last ? behind : inside) += n;
  }
  if (!(inside > 0)) return INFINITY;
  double divergence = 0;
  constexpr double kNone = 1e-9;
  for (size_t at = first; at < last;) {
    // The bins of one level.
    const double level = std::nearbyint(Center(at) / step);
    size_t end = at;
    double sum = 0, filled = 0;
    while (end < last && std::nearbyint(Center(end) / step) == level) {
      sum += static_cast<double>(counts_[end]);
      filled += counts_[end] != 0 ? 1 : 0;
      ++end;
    }
    for (; at < end; ++at) {
      double p = static_cast<double>(counts_[at]);
      if (at == first) p += before;
      if (at + 1 == last) p += behind;
      if (p == 0) continue;
      p /= total;
      const double q = counts_[at] == 0 ? kNone : sum / filled / inside;
      divergence += p * LogOf(p / q);
    }
  }
  return divergence;
}

ValueRange Histogram::Choose(RangeMethod method, double percentile, bool symmetric) const {
  const double high = low_ + static_cast<double>(counts_.size()) * width_;
  ValueRange whole{std::min(low_, 0.0), std::max(high, 0.0)};
  if (method == RangeMethod::kMinMax) return whole;
  if (method == RangeMethod::kPercentile) {
    const ValueRange range = Percentile(percentile);
    return {std::min(range.min, 0.0), std::max(range.max, 0.0)};
  }
  const bool entropy = method == RangeMethod::kEntropy;
  const double most = std::max(-whole.min, whole.max);
  const Sums sums = SumsOf();
  ValueRange best = whole;
  double least = INFINITY;
  const int step = entropy ? kDivergenceStep : 1;
  for (int a = kParts; a >= kMinPart; a -= step) {
    if (whole.min == 0 && a != kParts) break;
    for (int b = kParts; b >= kMinPart; b -= step) {
      if (symmetric ? a != b && whole.min != 0 : whole.max == 0 && b != kParts) continue;
      const double low_end = static_cast<double>(a) / kParts;
      const double high_end = static_cast<double>(b) / kParts;
      const ValueRange range = symmetric ? ValueRange{std::max(whole.min, -most * high_end),
                                                      std::min(whole.max, most * high_end)}
                                         : ValueRange{whole.min * low_end, whole.max * high_end};
      const double width = symmetric ? 2 * most * high_end : range.max - range.min;
      const double error =
          entropy ? Divergence(range, width / kLevels) : SquaredError(sums, range, width / kLevels);
      if (!(error < least)) continue;
      least = error;
      best = range;
    }
  }
  return best;
}

}  // namespace nn
