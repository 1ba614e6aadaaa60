#include "formats/nnapi/export/integer_bounds.h"

#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "formats/nnapi/export/value_range.h"
#include "ir/op_def.h"

namespace nn::nnapi {
namespace {

constexpr double kMostWhole = 1 << 24;

// x - floor_div(x, n) * n.
std::optional<Whole> BoundsOfRest(const Node& node, const WholeOf& of) {
  const Node* const product = node.input(1)->def();
  const Node* const quotient =
      product != nullptr && product->Is("mul") ? product->input(0)->def() : nullptr;
  if (quotient == nullptr || !quotient->Is("floor_div") || quotient->input(0) != node.input(0) ||
      quotient->input(1) != product->input(1))
    return std::nullopt;
  const auto n = of(product->input(1));
  if (!n || n->lo < 1) return std::nullopt;
  return Whole{nullptr, 0, n->hi - 1};
}

}  // namespace

bool IsExact(double lo, double hi) {
  return lo >= -kMostWhole && hi <= kMostWhole;
}

bool IsWholeType(const Type& type) {
  return (IsInteger(type.dtype) || type.dtype == DType::kBool) && !type.quantized();
}

bool HasWhole(const Node& node) {
  const auto is_whole = [](const Value* v) { return v != nullptr && IsWholeType(v->type()); };
  return std::ranges::any_of(node.inputs(), is_whole) ||
         std::ranges::any_of(node.outputs(), is_whole);
}

bool IsOneOf(const Node& node, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, node.op_name()) != names.end();
}

Whole Bounds(DType dtype) {
  if (dtype == DType::kBool) return {nullptr, 0, 1};
  return {nullptr, std::max(-kMostWhole, static_cast<double>(MinInteger(dtype))),
          std::min(kMostWhole, static_cast<double>(MaxInteger(dtype)))};
}

bool Contains(DType dtype, const Whole& w) {
  if (dtype == DType::kBool) return w.lo >= 0 && w.hi <= 1;
  return w.lo >= static_cast<double>(MinInteger(dtype)) &&
         w.hi <= static_cast<double>(MaxInteger(dtype));
}

Whole Union(const Whole& a, const Whole& b) {
  return {nullptr, std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

// NaN among the constants from which a value is computed directly: comparisons cannot tell it from
// numbers.
bool HasNan(const Value* v, int depth) {
  constexpr int kMostDepth = 4;
  constexpr int64_t kMostNumbers = 1 << 16;
  if (v == nullptr || v->dtype() != DType::kF32 || depth == kMostDepth) return false;
  if (v->is_constant()) {
    if (v->constant().elements() > kMostNumbers) return false;
    const Tensor t = v->constant().Aligned();
    return std::ranges::any_of(t.As<float>(), [](float f) { return std::isnan(f); });
  }
  return v->def() != nullptr && std::ranges::any_of(v->def()->inputs(), [&](const Value* in) {
           return HasNan(in, depth + 1);
         });
}

bool MayBeNan(const Value* v, int depth) {
  constexpr int kMostDepth = 8;
  if (v == nullptr || v->def() == nullptr || v->dtype() != DType::kF32 || depth == kMostDepth)
    return false;
  const Node& node = *v->def();
  if (IsOneOf(node, {"softmax", "log_softmax"})) {
    const ValueRange x = RangeOf(node.input(0));
    return std::isinf(x.lo) || std::isinf(x.hi);
  }
  if (IsOneOf(node, {"log", "sqrt"})) return RangeOf(node.input(0)).lo < 0;
  return std::ranges::any_of(node.inputs(),
                             [&](const Value* in) { return MayBeNan(in, depth + 1); });
}

std::optional<Whole> ArithmeticBounds(const Node& node, const WholeOf& of) {
  const auto a = of(node.input(0));
  if (!a) return std::nullopt;
  if (node.inputs().size() == 2) {
    const auto b = of(node.input(1));
    if (!b) return std::nullopt;
    if (node.Is("add")) return Whole{nullptr, a->lo + b->lo, a->hi + b->hi};
    if (node.Is("sub")) {
      if (const auto rest = BoundsOfRest(node, of)) return rest;
      return Whole{nullptr, a->lo - b->hi, a->hi - b->lo};
    }
    if (node.Is("minimum")) return Whole{nullptr, std::min(a->lo, b->lo), std::min(a->hi, b->hi)};
    if (node.Is("maximum")) return Whole{nullptr, std::max(a->lo, b->lo), std::max(a->hi, b->hi)};
    if (!node.Is("mul")) return std::nullopt;
    const auto [lo, hi] = std::minmax({a->lo * b->lo, a->lo * b->hi, a->hi * b->lo, a->hi * b->hi});
    return Whole{nullptr, lo, hi};
  }
  if (node.inputs().size() != 1) return std::nullopt;
  if (node.Is("neg")) return Whole{nullptr, -a->hi, -a->lo};
  if (node.Is("abs")) return Whole{nullptr, 0, std::max(-a->lo, a->hi)};
  if (node.Is("sign")) return Whole{nullptr, -1, 1};
  if (node.Is("relu")) return Whole{nullptr, std::max(a->lo, 0.0), std::max(a->hi, 0.0)};
  if (IsOneOf(node, {"reduce_max", "reduce_min"})) return a;
  if (!IsOneOf(node, {"reduce_sum", "cum_sum"})) return std::nullopt;
  const auto dims = node.input(0)->type().const_dims();
  const auto n = dims ? CheckedElements(*dims) : std::nullopt;
  if (!n) return std::nullopt;
  return Whole{nullptr, static_cast<double>(*n) * std::min(a->lo, 0.0),
               static_cast<double>(*n) * std::max(a->hi, 0.0)};
}

}  // namespace nn::nnapi
