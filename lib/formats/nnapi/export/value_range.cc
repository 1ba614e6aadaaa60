#include "formats/nnapi/export/value_range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/norm.h"
#include "ops/nn/pool.h"

namespace nn::nnapi {
namespace {

constexpr double kSmallest = 0x1p-100;
// Results are rounded, some operators to within a few units in the last place.
constexpr double kSlack = 0x1p-18;
constexpr size_t kMostValues = 64;
constexpr int64_t kMostNumbers = 1 << 16;

class Ranges {
 public:
  ValueRange Of(const Value* v) {
    if (v->dtype() != DType::kF32 || v->type().quantized()) return {};
    if (v->is_constant()) return OfConstant(*v);
    if (v->def() == nullptr) return {};
    if (const auto it = known_.find(v); it != known_.end()) return it->second;
    if (known_.size() == kMostValues) return {};
    known_.emplace(v, ValueRange());
    ValueRange r = OfNode(*v->def());
    // NaN is not a bound.
    if (!(r.lo <= r.hi)) return {};
    return known_[v] = {Bound(r.lo - std::fabs(r.lo) * kSlack),
                        Bound(r.hi + std::fabs(r.hi) * kSlack)};
  }

 private:
  // Results above the largest float32 are infinite.
  static double Bound(double x) {
    constexpr double kLargest = std::numeric_limits<float>::max();
    return std::fabs(x) > kLargest ? std::copysign(std::numeric_limits<double>::infinity(), x) : x;
  }

  static ValueRange OfConstant(const Value& v) {
    if (v.constant().elements() == 0 || v.constant().elements() > kMostNumbers) return {};
    const Tensor t = v.constant().Aligned();
    const auto numbers = t.As<float>();
    if (std::ranges::any_of(numbers, [](float f) { return std::isnan(f); })) return {};
    const auto [lo, hi] = std::ranges::minmax(numbers);
    return {lo, hi};
  }

  static ValueRange Sum(ValueRange a, ValueRange b) { return {a.lo + b.lo, a.hi + b.hi}; }

  static double Times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }
  static ValueRange Product(ValueRange a, ValueRange b) {
    const auto [lo, hi] =
        std::minmax({Times(a.lo, b.lo), Times(a.lo, b.hi), Times(a.hi, b.lo), Times(a.hi, b.hi)});
    return {lo, hi};
  }
  static ValueRange Magnitude(ValueRange x) {
    const double lo = x.lo > 0 ? x.lo : x.hi < 0 ? -x.hi : 0;
    return {lo, std::max(std::fabs(x.lo), std::fabs(x.hi))};
  }

  // f is monotonic.
  template <typename F>
  ValueRange Map(const Node& node, const F& f) {
    const ValueRange x = Of(node.input(0));
    return {f(x.lo), f(x.hi)};
  }

  // The elements are those of the inputs.
  ValueRange Union(const Node& node) {
    ValueRange all{std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity()};
    for (const Value* v : node.inputs()) {
      if (v == nullptr || v->dtype() != DType::kF32) continue;
      const ValueRange r = Of(v);
      all = {std::min(all.lo, r.lo), std::max(all.hi, r.hi)};
    }
    return all;
  }

  // The power that rewrites compute by lrn of single channels.
  ValueRange OfLrn(const Node& node) {
    const auto& a = node.attrs<LrnAttrs>();
    const ValueRange x = Of(node.input(0));
    if (a.size != 1 || a.alpha <= 0 || a.bias <= 0 || x.lo < 0) return {};
    const auto f = [&](double v) {
      return v / std::pow(static_cast<double>(a.alpha) * v * v + static_cast<double>(a.bias),
                          static_cast<double>(a.beta));
    };
    // Rises and falls at most once.
    if (std::isinf(x.hi)) return {0, std::numeric_limits<double>::infinity()};
    return {std::min(f(x.lo), f(x.hi)), std::numeric_limits<double>::infinity()};
  }

  // The maximum of tensors that a pool compares (MaximumByPool()).
  std::optional<ValueRange> OfColumnMaxima(const Node& node) {
    const auto& a = node.attrs<MaxPoolAttrs>();
    const Node* const concat = node.input(0)->def();
    if (concat == nullptr || !concat->Is("concat") || concat->output()->type().rank() != 4 ||
        concat->attrs<ConcatAttrs>().axis != 1 || a.layout != Layout::kNxc ||
        a.padding != Padding::kValid ||
        a.kernel != std::vector<int64_t>{std::ssize(concat->inputs()), 1})
      return std::nullopt;
    ValueRange all{-std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity()};
    for (const Value* v : concat->inputs()) {
      if (!(v->type().dim(1) == Dim(1))) return std::nullopt;
      const ValueRange r = Of(v);
      all = {std::max(all.lo, r.lo), std::max(all.hi, r.hi)};
    }
    return all;
  }

  ValueRange OfNode(const Node& node) {
    const std::string_view op = node.op_name();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (op == "add") {
      const ValueRange a = Of(node.input(0)), b = Of(node.input(1));
      return Sum(a, b);
    }
    if (op == "mul" && node.input(0) == node.input(1)) {
      const ValueRange x = Magnitude(Of(node.input(0)));
      return {x.lo * x.lo, x.hi * x.hi};
    }
    if (op == "mul") {
      const ValueRange a = Of(node.input(0)), b = Of(node.input(1));
      return Product(a, b);
    }
    if (op == "sub") {
      const ValueRange a = Of(node.input(0)), b = Of(node.input(1));
      return Sum(a, {-b.hi, -b.lo});
    }
    if (op == "neg") {
      const ValueRange x = Of(node.input(0));
      return {-x.hi, -x.lo};
    }
    if (op == "abs") return Magnitude(Of(node.input(0)));
    if (op == "relu") return Map(node, [](double v) { return std::max(v, 0.0); });
    if (op == "clip" && node.inputs().size() == 1) {
      const auto& a = node.attrs<ClipAttrs>();
      const auto lo = static_cast<double>(a.min), hi = static_cast<double>(a.max);
      if (!(lo <= hi)) return {};
      return Map(node, [&](double v) { return std::clamp(v, lo, hi); });
    }
    if (op == "exp") return Map(node, [](double v) { return std::exp(v); });
    if (op == "sigmoid") return Map(node, [](double v) { return 1 / (1 + std::exp(-v)); });
    if (op == "tanh") return {-1, 1};
    if (op == "softmax") return {0, 1};
    if (op == "sqrt") return Map(node, [](double v) { return std::sqrt(std::max(v, 0.0)); });
    if (op == "maximum") {
      const ValueRange a = Of(node.input(0)), b = Of(node.input(1));
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    }
    if (op == "minimum") {
      const ValueRange a = Of(node.input(0)), b = Of(node.input(1));
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    }
    if (op == "lrn") return OfLrn(node);
    if (op == "squared_difference" || op == "reduce_sum_square" || op == "reduce_l1" ||
        op == "reduce_l2" || op == "lp_pool")
      return {0, kInfinity};
    if (op == "pow" && node.input(1)->is_constant() && node.input(1)->constant().elements() == 1 &&
        node.input(1)->dtype() == DType::kF32 &&
        std::fmod(node.input(1)->constant().GetDouble(0), 2) == 0)
      return {0, kInfinity};
    if (op == "max_pool")
      if (const auto r = OfColumnMaxima(node)) return *r;
    if (op == "reduce_mean" || op == "reduce_max" || op == "reduce_min" || op == "max_pool")
      return Of(node.input(0));
    // If no number is negative, the sum is at least as large as one of them.
    if (op == "reduce_sum") {
      const ValueRange x = Of(node.input(0));
      return {x.lo >= 0 ? x.lo : -kInfinity, kInfinity};
    }
    if ((op == "conv" || op == "average_pool") &&
        std::ranges::all_of(node.inputs(),
                            [&](const Value* v) { return v == nullptr || Of(v).lo >= 0; }))
      return {0, kInfinity};
    if (node.op().movement != Movement::kNone || op == "concat" || op == "slice" || op == "split" ||
        op == "expand" || op == "gather" || op == "tile")
      return Union(node);
    return {};
  }

  std::unordered_map<const Value*, ValueRange> known_;
};

}  // namespace

bool ValueRange::positive() const {
  return lo >= kSmallest;
}
bool ValueRange::negative() const {
  return hi <= -kSmallest;
}

ValueRange RangeOf(const Value* value) {
  return Ranges().Of(value);
}

}  // namespace nn::nnapi
