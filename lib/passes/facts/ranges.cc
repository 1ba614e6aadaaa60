#include "passes/facts/ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/op_def.h"
#include "ir/tensor_bounds.h"

namespace nn {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxValues = 256;
// Larger constants of floats are not searched for their bounds.
constexpr int64_t kMaxFloats = 1 << 16;
// Results are rounded, those of some operators to within a few units in the last place of float32.
constexpr double kSlack = 0x1p-18;
constexpr double kSmallest = 0x1p-100;

bool IsWhole(const Type& type) {
  return type.dtype == DType::kBool || IsInteger(type.dtype);
}

// Whether bounds of the type are followed. double does not represent the bounds of u64.
bool IsFollowed(const Type& type) {
  if (type.quantized() || type.dtype == DType::kU64) return false;
  return IsWhole(type) || type.dtype == DType::kF32 || type.dtype == DType::kF64;
}

Interval OfType(const Type& type) {
  if (!IsFollowed(type) || !IsWhole(type)) return {};
  return {static_cast<double>(MinInteger(type.dtype)), static_cast<double>(MaxInteger(type.dtype))};
}

Interval OfConstant(const Value& v) {
  const Tensor& t = v.constant();
  const bool whole = IsWhole(v.type());
  if (t.elements() == 0) return whole ? Interval{0, 0} : Interval();
  if (!whole && t.elements() > kMaxFloats) return {};
  return BoundsOf(t).value_or(Interval());
}

// From the contents that inference knows.
Interval OfElements(const Value& v) {
  const Dims* const elements = v.elements();
  if (elements == nullptr || elements->empty()) return {};
  std::optional<Interval> all;
  for (const Dim& d : *elements) {
    Interval range;
    if (d.non_negative()) range.min = 0;
    if (d.is_const()) range = {static_cast<double>(d.value()), static_cast<double>(d.value())};
    all = all ? Union(*all, range) : range;
  }
  return *all;
}

// Results above the largest float are infinite.
double Rounded(double bound, double slack, DType dtype) {
  const double x = bound + std::fabs(bound) * slack;
  const bool overflows =
      dtype == DType::kF32 && std::fabs(x) > double{std::numeric_limits<float>::max()};
  return overflows ? std::copysign(std::numeric_limits<double>::infinity(), x) : x;
}

bool IsConstant(const Value* v, int64_t number) {
  return v->is_constant() && v->constant().elements() == 1 && v->constant().GetInt(0) == number;
}

}  // namespace

class Ranges::Context : public RangeContext {
 public:
  Context(const Node& node, Ranges& ranges) : RangeContext(node), ranges_(ranges) {}
  Interval Of(const Value* v) override { return ranges_.Of(v); }

 private:
  Ranges& ranges_;
};

Interval SelectionRange(RangeContext& context, const Selection& selection) {
  const auto inputs = context.node().inputs();
  std::optional<Interval> all;
  if (selection.zero) all = {0, 0};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!selection.Has(i) || inputs[i] == nullptr) continue;
    all = all ? Union(*all, context.in(i)) : context.in(i);
  }
  return all.value_or(Interval());
}

Interval Ranges::Of(const Value* v) {
  if (v == nullptr || !IsFollowed(v->type())) return {};
  if (v->is_constant()) return OfConstant(*v);
  if (const auto it = known_.find(v); it != known_.end()) return it->second;
  const Interval of_type = OfType(v->type());
  if (depth_ == kMaxDepth || known_.size() == kMaxValues) return of_type;
  Interval range = of_type;
  if (v->def() == nullptr) {
    if (of_inputs_ && IsWhole(v->type())) range = Intersection(*of_inputs_, of_type);
  } else {
    ++depth_;
    range = OfResult(*v);
    --depth_;
    // Integers beyond their type wrap. NaN is no bound.
    if (!(range.min <= range.max) || !of_type.Contains(range)) range = of_type;
  }
  range = Intersection(range, OfElements(*v));
  known_.insert_or_assign(v, range);
  return range;
}

Interval Ranges::OfResult(const Value& v) {
  const Node& node = *v.def();
  const OpDef& op = node.op();
  Context context(node, *this);
  const auto output = static_cast<size_t>(v.def_index());
  Interval range;
  if (op.range != nullptr) {
    range = op.range(context, output);
    if (!IsWhole(v.type()))
      range = {Rounded(range.min, -kSlack, v.dtype()), Rounded(range.max, kSlack, v.dtype())};
  }
  // The same elements as others are not rounded.
  const auto selection = SelectionOf(node);
  if (selection && std::min(output, op.outputs.size() - 1) == 0) {
    const Interval selected = SelectionRange(context, *selection);
    range = range.min <= range.max ? Intersection(range, selected) : selected;
  }
  return range;
}

bool IsAboveZero(const Interval& range) {
  return range.min >= kSmallest;
}
bool IsBelowZero(const Interval& range) {
  return range.max <= -kSmallest;
}

bool NeverNegative(const Value* v) {
  if (v->is_constant()) {
    const Tensor& t = v->constant();
    const auto bounds = BoundsOf(t);
    return bounds ? bounds->min >= 0 : t.elements() == 0;
  }
  return Ranges().Of(v).min >= 0;
}

bool IsDivisor(const Value* v) {
  const Node* const select = v->def();
  if (select == nullptr || !select->Is("select")) return false;
  const Node* const equal = select->input(0)->def();
  return equal != nullptr && equal->Is("equal") && IsConstant(equal->input(1), 0) &&
         IsConstant(select->input(1), 1) && equal->input(0) == select->input(2);
}

}  // namespace nn
