#include "formats/coreml/integer_range.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "ir/op_def.h"
#include "ops/array/scatter.h"
#include "ops/reduce/reduce.h"
#include "ops/support/types.h"

namespace nn::coreml {
namespace {

struct IndexRange {
  double min, max;
};

bool IsExact(const IndexRange& r) {
  return r.min >= -static_cast<double>(kMostExact) && r.max <= static_cast<double>(kMostExact);
}

IndexRange Union(const IndexRange& a, const IndexRange& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

bool IsCarried(DType t) {
  return t == DType::kI32 || t == DType::kI64 || t == DType::kBool;
}

bool IsOneOf(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, op) != names.end();
}

bool IsConstant(const Value* v, int64_t number) {
  return v->is_constant() && v->constant().elements() == 1 && v->constant().GetInt(0) == number;
}

// The ranges of integer values, followed from their definitions as far as a few values.
class Ranges {
 public:
  // nullopt if it is not known.
  std::optional<IndexRange> Of(const Value* v, int depth = 0) {
    constexpr int kMostDepth = 64;
    constexpr size_t kMostValues = 256;
    if (v == nullptr || !IsCarried(v->dtype())) return std::nullopt;
    if (v->dtype() == DType::kBool) return IndexRange{0, 1};
    if (v->is_constant()) return OfConstant(v->constant());
    if (v->def() == nullptr)
      return IndexRange{-static_cast<double>(kMostExact), static_cast<double>(kMostExact)};
    if (const auto it = known_.find(v); it != known_.end()) return it->second;
    if (depth == kMostDepth || known_.size() == kMostValues) return std::nullopt;
    const auto range = OfResult(*v->def(), v, depth + 1);
    known_[v] = range;
    return range;
  }

 private:
  static std::optional<IndexRange> OfConstant(const Tensor& t) {
    if (t.elements() == 0) return std::nullopt;
    IndexRange r{t.GetDouble(0), t.GetDouble(0)};
    for (int64_t i = 1; i < t.elements(); ++i) r = Union(r, {t.GetDouble(i), t.GetDouble(i)});
    return r;
  }

  std::optional<IndexRange> OfAll(const Node& node, size_t first, size_t end, int depth) {
    std::optional<IndexRange> all;
    for (size_t i = first; i < std::min(end, node.inputs().size()); ++i) {
      const auto r = Of(node.input(i), depth);
      if (!r) return std::nullopt;
      all = all ? Union(*all, *r) : *r;
    }
    return all;
  }

  // Indices along an axis.
  static std::optional<IndexRange> OfIndex(const Type& x, int64_t axis) {
    const auto at = x.ranked() ? NormalizeAxis(axis, x.rank()) : Result<int>(0);
    if (!at || !x.ranked() || x.rank() == 0 || !x.dim(*at).is_const()) return std::nullopt;
    return IndexRange{0, static_cast<double>(x.dim(*at).value())};
  }

  static bool IsScatter(const Node& node) {
    return node.Is("scatter_nd") || node.Is("scatter_elements");
  }
  // Of elements that are replaced, or the smaller or larger ones of two.
  std::optional<IndexRange> OfScatter(const Node& node, int depth) {
    const auto name = std::get<EnumValue>(*node.attrs().Get("reduction")).name;
    if (name == EnumName(Reduction::kAdd) || name == EnumName(Reduction::kMul)) return std::nullopt;
    const auto x = Of(node.input(0), depth), updates = Of(node.input(2), depth);
    return x && updates ? std::optional(Union(*x, *updates)) : std::nullopt;
  }

  // Indices into the axes of a value, such as the batches, classes and boxes of scores.
  static std::optional<IndexRange> OfSelected(const Type& type) {
    const auto dims = type.const_dims();
    if (!dims || dims->empty()) return std::nullopt;
    return IndexRange{0, static_cast<double>(std::ranges::max(*dims))};
  }

  std::optional<IndexRange> OfResult(const Node& node, const Value* result, int depth) {
    const std::string_view op = node.op_name();
    if (node.op().movement != Movement::kNone ||
        IsOneOf(op, {"gather", "gather_nd", "gather_elements", "slice", "split", "reverse",
                     "reverse_sequence", "expand", "tile", "reduce_max", "reduce_min", "max_pool",
                     "cast"}))
      return Of(node.input(0), depth);
    if (op == "concat") return OfAll(node, 0, SIZE_MAX, depth);
    if (op == "range") return OfAll(node, 0, 2, depth);
    if (IsScatter(node)) return OfScatter(node, depth);
    if (op == "pad") {
      const auto elements = OfAll(node, 0, 2, depth);
      return elements ? std::optional(Union(*elements, {0, 0})) : std::nullopt;
    }
    if (op == "select") return OfAll(node, 1, 3, depth);
    if (op == "one_hot") return OfAll(node, 2, 3, depth);
    if (op == "top_k") {
      if (result == node.output(0)) return Of(node.input(0), depth);
      return OfIndex(node.input(0)->type(), std::get<int64_t>(*node.attrs().Get("axis")));
    }
    if (op == "arg_max" || op == "arg_min")
      return OfIndex(node.input(0)->type(), std::get<int64_t>(*node.attrs().Get("axis")));
    if (op == "non_max_suppression") return OfSelected(node.input(1)->type());
    if (op == "non_zero") return OfSelected(node.input(0)->type());
    const auto a = Of(node.input(0), depth);
    if (!a) return std::nullopt;
    if (op == "abs") return IndexRange{0, std::max(-a->min, a->max)};
    if (op == "neg") return IndexRange{-a->max, -a->min};
    if (op == "sign") return IndexRange{-1, 1};
    if (op == "reduce_sum" || op == "cum_sum") return OfSum(node, *a);
    if ((op == "mod" || op == "fmod") && IsDivisor(node.input(1)))
      return OfRemainder(op, *a, Of(node.input(1), depth));
    return node.op().keeps_integers && node.inputs().size() == 2
               ? OfTwo(op, *a, Of(node.input(1), depth))
               : std::nullopt;
  }

  // Partial sums are in the range, too.
  static std::optional<IndexRange> OfSum(const Node& node, const IndexRange& a) {
    const auto in = node.input(0)->type().const_dims();
    if (!in) return std::nullopt;
    double most = 1;
    for (const int64_t d : *in) most *= static_cast<double>(d);
    return IndexRange{most * std::min(a.min, 0.0), most * std::max(a.max, 0.0)};
  }

  // Of a divisor of either sign that is not 0. fmod has the sign of a.
  static std::optional<IndexRange> OfRemainder(std::string_view op, const IndexRange& a,
                                               const std::optional<IndexRange>& b) {
    if (!b) return std::nullopt;
    const double most = std::max(std::max(-b->min, b->max) - 1, 0.0);
    if (op == "fmod") return IndexRange{a.min < 0 ? -most : 0, a.max > 0 ? most : 0};
    return IndexRange{b->min < 0 ? -most : 0, b->max > 0 ? most : 0};
  }

  static std::optional<IndexRange> OfTwo(std::string_view op, const IndexRange& a,
                                         const std::optional<IndexRange>& b) {
    if (!b) return std::nullopt;
    if (op == "add") return IndexRange{a.min + b->min, a.max + b->max};
    if (op == "sub") return IndexRange{a.min - b->max, a.max - b->min};
    if (op == "minimum") return IndexRange{std::min(a.min, b->min), std::min(a.max, b->max)};
    if (op == "maximum") return IndexRange{std::max(a.min, b->min), std::max(a.max, b->max)};
    if (op == "mul") {
      const auto [least, most] =
          std::minmax({a.min * b->min, a.min * b->max, a.max * b->min, a.max * b->max});
      return IndexRange{least, most};
    }
    if (b->min < 1) return std::nullopt;
    if (op == "fmod") return IndexRange{1 - b->max, b->max - 1};
    if (op == "mod") return IndexRange{0, b->max - 1};
    if (op == "floor_div") return IndexRange{std::min(a.min, -1.0), std::max(a.max, 0.0)};
    return std::nullopt;
  }

  std::unordered_map<const Value*, std::optional<IndexRange>> known_;
};

}  // namespace

bool IsDivisor(const Value* v) {
  const Node* const select = v->def();
  if (select == nullptr || !select->Is("select")) return false;
  const Node* const equal = select->input(0)->def();
  return equal != nullptr && equal->Is("equal") && IsConstant(equal->input(1), 0) &&
         IsConstant(select->input(1), 1) && equal->input(0) == select->input(2);
}

bool AllExact(const Tensor& integers) {
  for (int64_t i = 0; i < integers.elements(); ++i) {
    const double v = integers.GetDouble(i);
    if (v < -static_cast<double>(kMostExact) || v > static_cast<double>(kMostExact)) return false;
  }
  return true;
}

std::string WhyNotComputed(DType dtype) {
  if (dtype == DType::kBool) return "Core ML does not compute with bool";
  return fmt::format(
      "Core ML computes with float32, which may not represent all results of {} exactly",
      DTypeName(dtype));
}

bool IsExactArithmetic(const Node& node) {
  if (!node.op().keeps_integers &&
      !IsOneOf(node.op_name(), {"abs", "neg", "sign", "reduce_sum", "reduce_max", "reduce_min",
                                "cum_sum", "arg_max", "arg_min", "max_pool", "range", "top_k",
                                "pad", "scatter_nd", "scatter_elements"}))
    return false;
  if (!IsCarried(node.output()->dtype()) || node.output()->dtype() == DType::kBool) return false;
  Ranges ranges;
  for (const Value* v : node.inputs()) {
    if (v == nullptr) continue;
    const auto r = ranges.Of(v);
    if (!r || !IsExact(*r)) return false;
  }
  const auto r = ranges.Of(node.output());
  return r && IsExact(*r);
}

}  // namespace nn::coreml
