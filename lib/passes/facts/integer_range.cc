#include "passes/facts/integer_range.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string_view>

#include "ir/op_def.h"
#include "ops/array/arrange/scatter.h"
#include "ops/support/types.h"

namespace nn {
namespace {

// Axes and tensors do not have more elements.
constexpr double kMostSize = std::numeric_limits<int32_t>::max();

using MaybeRange = std::optional<IntegerBounds>;

IntegerBounds Union(const IntegerBounds& a, const IntegerBounds& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

IntegerBounds Intersection(const IntegerBounds& a, const IntegerBounds& b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

bool IsOneOf(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, op) != names.end();
}

bool IsConstant(const Value* v, int64_t number) {
  return v->is_constant() && v->constant().elements() == 1 && v->constant().GetInt(0) == number;
}

// nullopt if there are no integers of the type.
MaybeRange OfType(const Type& type) {
  if (type.dtype == DType::kBool) return IntegerBounds{0, 1};
  if (!IsInteger(type.dtype) || type.dtype == DType::kU64 || type.quantized()) return std::nullopt;
  return IntegerBounds{static_cast<double>(MinInteger(type.dtype)),
                       static_cast<double>(MaxInteger(type.dtype))};
}

IntegerBounds OfConstant(const Tensor& t) {
  if (t.elements() == 0) return {0, 0};
  IntegerBounds r{t.GetDouble(0), t.GetDouble(0)};
  for (int64_t i = 1; i < t.elements(); ++i) r = Union(r, {t.GetDouble(i), t.GetDouble(i)});
  return r;
}

// From the contents that inference knows.
MaybeRange OfElements(const Value& v) {
  const Dims* const elements = v.elements();
  if (elements == nullptr || elements->empty()) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  MaybeRange all;
  for (const Dim& d : *elements) {
    IntegerBounds r{d.non_negative() ? 0 : -kInfinity, kInfinity};
    if (d.is_const()) r = {static_cast<double>(d.value()), static_cast<double>(d.value())};
    all = all ? Union(*all, r) : r;
  }
  return all;
}

// Indices along the axis of an attribute.
MaybeRange OfIndex(const Node& node) {
  const Type& x = node.input(0)->type();
  if (!x.ranked() || x.rank() == 0) return IntegerBounds{0, kMostSize};
  const auto at = NormalizeAxis(std::get<int64_t>(*node.attrs().Get("axis")), x.rank());
  if (!at || !x.dim(*at).is_const()) return IntegerBounds{0, kMostSize};
  return IntegerBounds{0, static_cast<double>(x.dim(*at).value())};
}

// Indices into the axes of a value, such as the batches, classes and boxes of scores.
IntegerBounds OfSelected(const Type& type) {
  const auto dims = type.const_dims();
  if (!dims || dims->empty()) return {0, kMostSize};
  return {0, static_cast<double>(std::ranges::max(*dims))};
}

// Partial sums are in the range, too.
IntegerBounds OfSum(const Node& node, const IntegerBounds& a) {
  double most = kMostSize;
  if (const auto in = node.input(0)->type().const_dims()) {
    most = 1;
    for (const int64_t d : *in) most *= static_cast<double>(d);
  }
  return {most * std::min(a.min, 0.0), most * std::max(a.max, 0.0)};
}

// Of a divisor of either sign that is not 0. fmod has the sign of a.
IntegerBounds OfRemainder(std::string_view op, const IntegerBounds& a, const IntegerBounds& b) {
  const double most = std::max(std::max(-b.min, b.max) - 1, 0.0);
  if (op == "fmod") return {a.min < 0 ? -most : 0, a.max > 0 ? most : 0};
  return {b.min < 0 ? -most : 0, b.max > 0 ? most : 0};
}

MaybeRange OfTwo(std::string_view op, const IntegerBounds& a, const IntegerBounds& b) {
  if (op == "add") return IntegerBounds{a.min + b.min, a.max + b.max};
  if (op == "sub") return IntegerBounds{a.min - b.max, a.max - b.min};
  if (op == "minimum") return IntegerBounds{std::min(a.min, b.min), std::min(a.max, b.max)};
  if (op == "maximum") return IntegerBounds{std::max(a.min, b.min), std::max(a.max, b.max)};
  if (op == "mul") {
    const auto [least, most] =
        std::minmax({a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max});
    return IntegerBounds{least, most};
  }
  if (b.min < 1) return std::nullopt;
  if (op == "fmod") return IntegerBounds{1 - b.max, b.max - 1};
  if (op == "mod") return IntegerBounds{0, b.max - 1};
  if (op == "floor_div") return IntegerBounds{std::min(a.min, -1.0), std::max(a.max, 0.0)};
  return std::nullopt;
}

}  // namespace

MaybeRange IntegerRanges::Of(const Value* v, int depth) {
  constexpr int kMostDepth = 64;
  constexpr size_t kMostValues = 256;
  if (v == nullptr) return std::nullopt;
  const MaybeRange of_type = OfType(v->type());
  if (!of_type) return std::nullopt;
  if (v->is_constant()) return OfConstant(v->constant());
  if (const auto it = known_.find(v); it != known_.end()) return it->second;
  if (depth == kMostDepth || known_.size() == kMostValues) return of_type;
  MaybeRange range = of_type;
  if (v->def() == nullptr) {
    if (of_inputs_) range = Intersection(*of_inputs_, *of_type);
  } else if (const MaybeRange r = OfResult(*v->def(), v, depth + 1);
             r && r->min >= of_type->min && r->max <= of_type->max) {
    range = r;  // others wrap
  }
  if (const MaybeRange elements = OfElements(*v)) range = Intersection(*range, *elements);
  known_[v] = range;
  return range;
}

MaybeRange IntegerRanges::OfAll(const Node& node, size_t first, size_t end, int depth) {
  MaybeRange all;
  for (size_t i = first; i < std::min(end, node.inputs().size()); ++i) {
    const auto r = Of(node.input(i), depth);
    if (!r) return std::nullopt;
    all = all ? Union(*all, *r) : *r;
  }
  return all;
}

// Of elements that are replaced, or the smaller or larger ones of two.
MaybeRange IntegerRanges::OfScatter(const Node& node, int depth) {
  const auto name = std::get<EnumValue>(*node.attrs().Get("reduction")).name;
  if (name == EnumName(Reduction::kAdd) || name == EnumName(Reduction::kMul)) return std::nullopt;
  const auto x = Of(node.input(0), depth), updates = Of(node.input(2), depth);
  return x && updates ? MaybeRange(Union(*x, *updates)) : std::nullopt;
}

// Of operators whose results are elements of operands.
MaybeRange IntegerRanges::OfMoved(const Node& node, int depth) {
  const std::string_view op = node.op_name();
  if (node.op().movement != Movement::kNone ||
      IsOneOf(op, {"gather", "gather_nd", "gather_elements", "slice", "split", "reverse",
                   "reverse_sequence", "expand", "tile", "reduce_max", "reduce_min", "max_pool",
                   "cast"}))
    return Of(node.input(0), depth);
  if (op == "concat") return OfAll(node, 0, SIZE_MAX, depth);
  if (op == "range") return OfAll(node, 0, 2, depth);
  if (op == "scatter_nd" || op == "scatter_elements") return OfScatter(node, depth);
  if (op == "pad") {
    const auto elements = OfAll(node, 0, 2, depth);
    return elements ? MaybeRange(Union(*elements, {0, 0})) : std::nullopt;
  }
  if (op == "select") return OfAll(node, 1, 3, depth);
  if (op == "one_hot") return OfAll(node, 2, 3, depth);
  return std::nullopt;
}

// Of operators whose results are positions and sizes.
MaybeRange IntegerRanges::OfPositions(const Node& node, const Value* result, int depth) {
  const std::string_view op = node.op_name();
  if (op == "top_k") return result == node.output(0) ? Of(node.input(0), depth) : OfIndex(node);
  if (op == "arg_max" || op == "arg_min") return OfIndex(node);
  if (op == "non_max_suppression") return OfSelected(node.input(1)->type());
  if (op == "non_zero") return OfSelected(node.input(0)->type());
  if (op == "unique")
    return result == node.output(0) ? Of(node.input(0), depth) : IntegerBounds{0, kMostSize};
  if (op == "shape_of" || op == "size_of") return IntegerBounds{0, kMostSize};
  return std::nullopt;
}

MaybeRange IntegerRanges::OfResult(const Node& node, const Value* result, int depth) {
  const std::string_view op = node.op_name();
  if (const MaybeRange r = OfMoved(node, depth)) return r;
  if (const MaybeRange r = OfPositions(node, result, depth)) return r;
  const auto a = Of(node.input(0), depth);
  if (!a) return std::nullopt;
  if (op == "abs") return IntegerBounds{0, std::max(-a->min, a->max)};
  if (op == "neg") return IntegerBounds{-a->max, -a->min};
  if (op == "sign") return IntegerBounds{-1, 1};
  if (op == "reduce_sum" || op == "cum_sum") return OfSum(node, *a);
  if (node.inputs().size() != 2) return std::nullopt;
  const auto b = Of(node.input(1), depth);
  if (!b) return std::nullopt;
  if ((op == "mod" || op == "fmod") && IsDivisor(node.input(1))) return OfRemainder(op, *a, *b);
  return node.op().keeps_integers ? OfTwo(op, *a, *b) : std::nullopt;
}

bool NeverNegative(const Value* v) {
  if (v->is_constant()) {
    const Tensor& t = v->constant();
    for (int64_t i = 0; i < t.elements(); ++i)
      if (!(t.GetDouble(i) >= 0)) return false;
    return true;
  }
  const auto range = IntegerRanges().Of(v);
  return range && range->min >= 0;
}

bool IsDivisor(const Value* v) {
  const Node* const select = v->def();
  if (select == nullptr || !select->Is("select")) return false;
  const Node* const equal = select->input(0)->def();
  return equal != nullptr && equal->Is("equal") && IsConstant(equal->input(1), 0) &&
         IsConstant(select->input(1), 1) && equal->input(0) == select->input(2);
}

}  // namespace nn
