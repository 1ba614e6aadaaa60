#include "formats/nnapi/export/integer_bounds.h"

#include <algorithm>
#include <cmath>

#include "ir/op_def.h"
#include "passes/facts/ranges.h"

namespace nn::nnapi {
namespace {

// Limit of NNAPI: magnitude of the integers that float32 represents.
constexpr double kMaxWhole = 1 << 24;

// The bounds of operands that are float32.
class WholeContext : public RangeContext {
 public:
  WholeContext(const Node& node, const WholeOf& of) : RangeContext(node), of_(of) {}
  Interval Of(const Value* v) override {
    const auto w = of_(v);
    return w ? Interval{w->lo, w->hi} : Interval();
  }

 private:
  const WholeOf& of_;
};

}  // namespace

bool IsExact(double lo, double hi) {
  return lo >= -kMaxWhole && hi <= kMaxWhole;
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
  return {nullptr, std::max(-kMaxWhole, static_cast<double>(MinInteger(dtype))),
          std::min(kMaxWhole, static_cast<double>(MaxInteger(dtype)))};
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
  constexpr int kMaxDepth = 4;
  constexpr int64_t kMaxNumbers = 1 << 16;
  if (v == nullptr || v->dtype() != DType::kF32 || depth == kMaxDepth) return false;
  if (v->is_constant()) {
    if (v->constant().elements() > kMaxNumbers) return false;
    const Tensor t = v->constant().Aligned();
    return std::ranges::any_of(t.As<float>(), [](float f) { return std::isnan(f); });
  }
  return v->def() != nullptr && std::ranges::any_of(v->def()->inputs(), [&](const Value* in) {
           return HasNan(in, depth + 1);
         });
}

bool MayBeNan(const Value* v, int depth) {
  constexpr int kMaxDepth = 8;
  if (v == nullptr || v->def() == nullptr || v->dtype() != DType::kF32 || depth == kMaxDepth)
    return false;
  const Node& node = *v->def();
  if (IsOneOf(node, {"softmax", "log_softmax"})) {
    const Interval x = Ranges().Of(node.input(0));
    return std::isinf(x.min) || std::isinf(x.max);
  }
  if (const auto& domain = node.op().real_domain)
    return !Interval{domain->min, domain->max}.Contains(Ranges().Of(node.input(0)));
  return std::ranges::any_of(node.inputs(),
                             [&](const Value* in) { return MayBeNan(in, depth + 1); });
}

bool IsArithmetic(const Node& node) {
  const OpDef& op = node.op();
  if (node.outputs().size() != 1) return false;
  return op.keeps_integers || (op.exact_integers && node.inputs().size() == 1);
}

Whole ArithmeticBounds(const Node& node, const WholeOf& of) {
  WholeContext context(node, of);
  Interval range;
  if (node.op().range != nullptr) range = node.op().range(context, 0);
  if (const auto selection = SelectionOf(node))
    range = Intersection(range, SelectionRange(context, *selection));
  return {nullptr, range.min, range.max};
}

}  // namespace nn::nnapi
