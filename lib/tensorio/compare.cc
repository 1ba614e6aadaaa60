#include "tensorio/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/text/text.h"
#include "ir/types/type.h"

namespace nn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Difference {
  double absolute = 0;
  std::optional<double> relative;  // nullopt: of zero, or of text
  bool agrees = true;
};

// The difference in proportion to the magnitude of what is wanted.
std::optional<double> Relative(double difference, double magnitude) {
  return magnitude == 0 ? std::nullopt : std::optional(difference / magnitude);
}

Difference RealDifference(double want, double got, const Tolerance& t) {
  if (want == got || (std::isnan(want) && std::isnan(got))) return {};
  if (!std::isfinite(want) || !std::isfinite(got)) return {kInfinity, kInfinity, false};
  const double d = std::fabs(got - want);
  return {d, Relative(d, std::fabs(want)), d <= t.atol + t.rtol * std::fabs(want)};
}

Difference IntegerDifference(const Tensor& want, const Tensor& got, int64_t i, int64_t steps) {
  const int64_t a = want.GetInt(i), b = got.GetInt(i);
  if (a == b) return {};
  const bool unsigned64 = want.dtype() == DType::kU64;
  const bool less = unsigned64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  // Larger minus smaller is exact modulo 2^64.
  const uint64_t d = less ? static_cast<uint64_t>(b) - static_cast<uint64_t>(a)
                          : static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
  const auto distance = static_cast<double>(d);
  return {distance, Relative(distance, std::fabs(want.GetDouble(i))),
          d <= static_cast<uint64_t>(steps)};
}

Difference ComplexDifference(const Tensor& want, const Tensor& got, int64_t i, const Tolerance& t) {
  const bool narrow = want.dtype() == DType::kC64;
  const auto part = [&](const Tensor& tensor, int64_t k) {
    const DType real = narrow ? DType::kF32 : DType::kF64;
    return Tensor(real, {2 * tensor.elements()}, tensor.blob()).GetDouble(2 * i + k);
  };
  const Difference re = RealDifference(part(want, 0), part(got, 0), t);
  const Difference im = RealDifference(part(want, 1), part(got, 1), t);
  return {std::max(re.absolute, im.absolute), std::max(re.relative, im.relative),
          re.agrees && im.agrees};
}

// Accumulates differences in element order and keeps the worst.
class Summary {
 public:
  explicit Summary(Comparison& out) : out_(out) {}

  void Add(int64_t i, const Difference& d) {
    if (d.agrees && d.absolute == 0) return;
    out_.max_absolute = std::max(out_.max_absolute, d.absolute);
    out_.max_relative = std::max(out_.max_relative, d.relative.value_or(0));
    const bool first_outside = !d.agrees && out_.outside == 0;
    const bool same_kind = d.agrees == (out_.outside == 0);
    if (first_outside || (same_kind && (!out_.worst || d.absolute > out_.worst_absolute))) {
      out_.worst = i;
      out_.worst_absolute = d.absolute;
      out_.worst_relative = d.relative;
    }
    if (!d.agrees) ++out_.outside;
  }

 private:
  Comparison& out_;
};

// Sums of products, for the similarity of two tensors as wholes.
class Similarity {
 public:
  void Add(double want, double got) {
    if (!std::isfinite(want) || !std::isfinite(got)) return;
    want_ += want * want;
    got_ += got * got;
    both_ += want * got;
    noise_ += (got - want) * (got - want);
    distance_ += std::fabs(got - want);
    ++count_;
  }

  void Store(Comparison& out) const {
    if (count_ > 0) out.mean_absolute = distance_ / static_cast<double>(count_);
    if (noise_ == 0) return;
    out.snr_db = want_ == 0 ? -kInfinity : 10 * std::log10(want_ / noise_);
    const double norm = std::sqrt(want_) * std::sqrt(got_);
    out.cosine = norm == 0 ? 0 : std::clamp(both_ / norm, -1.0, 1.0);
  }

 private:
  double want_ = 0, got_ = 0, both_ = 0, noise_ = 0, distance_ = 0;
  int64_t count_ = 0;
};

template <typename Fn>
void ForEach(int64_t n, Summary& summary, Fn difference) {
  for (int64_t i = 0; i < n; ++i) summary.Add(i, difference(i));
}

void CompareElements(const Tensor& want, const Tensor& got, const Tolerance& t, Comparison& out) {
  Summary summary(out);
  Similarity similarity;
  const int64_t n = out.elements;
  const DType type = want.dtype();
  if (type == DType::kString) {
    ForEach(n, summary, [&](int64_t i) {
      const auto k = static_cast<size_t>(i);
      return Difference{0, std::nullopt, want.strings()[k] == got.strings()[k]};
    });
  } else if (type == DType::kF32) {
    const Tensor a = want.Aligned(), b = got.Aligned();
    const auto x = a.As<float>(), y = b.As<float>();
    ForEach(n, summary, [&](int64_t i) {
      const auto k = static_cast<size_t>(i);
      similarity.Add(x[k], y[k]);
      return RealDifference(x[k], y[k], t);
    });
  } else if (IsFloat(type)) {
    ForEach(n, summary, [&](int64_t i) {
      const double a = want.GetDouble(i), b = got.GetDouble(i);
      similarity.Add(a, b);
      return RealDifference(a, b, t);
    });
  } else if (IsComplex(type)) {
    ForEach(n, summary, [&](int64_t i) { return ComplexDifference(want, got, i, t); });
  } else {
    const int64_t steps = type == DType::kBool ? 0 : t.steps;
    ForEach(n, summary, [&](int64_t i) {
      similarity.Add(want.GetDouble(i), got.GetDouble(i));
      return IntegerDifference(want, got, i, steps);
    });
  }
  similarity.Store(out);
}

std::string DoubleText(double v, DType type) {
  return type == DType::kF64 ? fmt::format("{}", v) : FloatText(static_cast<float>(v));
}

}  // namespace

std::string ElementText(const Tensor& tensor, int64_t i) {
  const DType type = tensor.dtype();
  if (type == DType::kString) return Quote(tensor.strings()[static_cast<size_t>(i)]);
  if (type == DType::kBool) return tensor.GetInt(i) != 0 ? "true" : "false";
  if (type == DType::kU64) return std::to_string(static_cast<uint64_t>(tensor.GetInt(i)));
  if (IsInteger(type)) return std::to_string(tensor.GetInt(i));
  if (!IsComplex(type)) return DoubleText(tensor.GetDouble(i), type);
  const DType real = type == DType::kC64 ? DType::kF32 : DType::kF64;
  const Tensor parts(real, {2 * tensor.elements()}, tensor.blob());
  const std::string imaginary = DoubleText(parts.GetDouble(2 * i + 1), real);
  return DoubleText(parts.GetDouble(2 * i), real) + (imaginary[0] == '-' ? "" : "+") + imaginary +
         "i";
}

std::string IndexText(int64_t flat, const std::vector<int64_t>& dims) {
  std::vector<int64_t> index(dims.size());
  for (size_t k = dims.size(); k-- > 0;) {
    index[k] = flat % dims[k];
    flat /= dims[k];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

Comparison Compare(const Tensor& want, const Tensor& got, const Tolerance& tolerance) {
  Comparison c;
  if (want.dtype() != got.dtype() || want.dims() != got.dims()) {
    const auto text = [](const Tensor& t) { return Type(t.dtype(), ToDims(t.dims())).ToString(); };
    c.mismatch = fmt::format("{}, expected {}", text(got), text(want));
    return c;
  }
  c.elements = want.elements();
  c.identical = want.Identical(got);
  if (!c.identical) CompareElements(want, got, tolerance, c);
  c.agrees = c.outside == 0;
  if (c.worst) {
    c.want_text = ElementText(want, *c.worst);
    c.got_text = ElementText(got, *c.worst);
  }
  return c;
}

double LargestMagnitude(const Tensor& tensor) {
  double largest = 0;
  if (!IsFloat(tensor.dtype())) return largest;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (const double v = std::fabs(tensor.GetDouble(i)); std::isfinite(v))
      largest = std::max(largest, v);
  return largest;
}

Tolerance ScaledTolerance(double atol, double rtol, const Tensor& want) {
  return {atol + rtol * LargestMagnitude(want), 0, 0};
}

std::string Describe(const Comparison& c, const Tensor& want) {
  if (!c.mismatch.empty()) return c.mismatch;
  if (c.identical) return "bit-identical";
  if (!c.worst) return "equal";  // differ only in signs of zeros or bits of NaNs
  std::string size;
  if (want.dtype() != DType::kString)
    size = fmt::format("largest difference {:.3g} absolute, ", c.worst_absolute);
  if (c.worst_relative) size += fmt::format("{:.3g} relative, ", *c.worst_relative);
  const std::string where = fmt::format("at {}: {}, expected {}", IndexText(*c.worst, want.dims()),
                                        c.got_text, c.want_text);
  if (c.agrees) return fmt::format("within tolerance, {}{}", size, where);
  return fmt::format("{} of {} elements differ, {}{}",
                     WithThousands(static_cast<uint64_t>(c.outside)),
                     WithThousands(static_cast<uint64_t>(c.elements)), size, where);
}

}  // namespace nn
