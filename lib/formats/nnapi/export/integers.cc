#include "formats/nnapi/export/integers.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "formats/nnapi/export/comparisons.h"
#include "formats/nnapi/export/export.h"
#include "formats/nnapi/export/integer_bounds.h"
#include "formats/nnapi/export/rewrites.h"
#include "ir/op_def.h"
#include "ir/tensor_bounds.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/selection.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "passes/core/passes.h"
#include "passes/facts/ranges.h"
#include "rewrite/expand.h"

namespace nn::nnapi {
namespace {

// Limit of NNAPI: elements of a tensor that compares all elements with each other, as a sort does.
constexpr int64_t kMaxCompared = int64_t{1} << 22;
// Limit of NNAPI: elements of an axis that is sorted. They need a constant of its square.
constexpr int64_t kLongestOrder = 1024;
// Dividends of 24 bits are divided in two steps.
constexpr double kHigh = 0x1p12;

constexpr struct {
  std::string_view op;
  Term (*of)(const Compared& a, const Compared& b);
} kComparisonTerms[] = {
    {"equal", [](auto& a, auto& b) { return Complement(IsNonzero(Order(a, b))); }},
    {"not_equal", [](auto& a, auto& b) { return IsNonzero(Order(a, b)); }},
    {"less", [](auto& a, auto& b) { return IsPositive(Order(b, a)); }},
    {"less_equal", [](auto& a, auto& b) { return Complement(IsPositive(Order(a, b))); }},
    {"greater", [](auto& a, auto& b) { return IsPositive(Order(a, b)); }},
    {"greater_equal", [](auto& a, auto& b) { return Complement(IsPositive(Order(b, a))); }},
};

// Of 0 and 1.
constexpr struct {
  std::string_view op;
  Term (*of)(const Term& a, const Term& b);
} kLogicTerms[] = {
    {"and", [](auto& a, auto& b) { return a * b; }},
    {"or", [](auto& a, auto& b) { return AtMostOne(a + b); }},
    {"xor", [](auto& a, auto& b) { return IsNonzero(a - b); }},
};

class Carrier {
 public:
  Carrier(Graph& graph, RewriteCounts* counts) : graph_(graph), counts_(counts) {}

  Status Run() {
    for (Node& node : graph_.nodes()) {
      NN_ASSIGN(const bool done, Lower(node));
      if (done) lowered_.push_back(&node);
    }
    return Finish();
  }

 private:
  // ---- Operands

  // The float32 value of an integer or boolean; nullopt if it is not known to be exact.
  std::optional<Whole> Of(Value* v) {
    if (v == nullptr || !IsWholeType(v->type())) return std::nullopt;
    if (const auto it = wholes_.find(v); it != wholes_.end()) return it->second;
    std::optional<Whole> w;
    if (v->is_constant()) w = OfConstant(*v);
    if (v->is_input()) w = OfInput(v);
    if (w) wholes_[v] = *w;
    return w;
  }

  std::optional<Whole> Known(const Value* v) const {
    const auto it = wholes_.find(v);
    return it == wholes_.end() ? std::nullopt : std::optional(it->second);
  }

  std::optional<Whole> OfConstant(const Value& v) {
    const Tensor& t = v.constant();
    const auto bounds = BoundsOf(t);
    if (!bounds || !IsExact(bounds->min, bounds->max)) return std::nullopt;
    auto b = TensorBuilder::Create(DType::kF32, t.dims());
    if (!b) return std::nullopt;
    for (int64_t i = 0; i < t.elements(); ++i)
      b->As<float>()[static_cast<size_t>(i)] = static_cast<float>(t.GetDouble(i));
    return Whole{graph_.AddConstant(b->Finish()), bounds->min, bounds->max};
  }

  std::optional<Whole> OfInput(Value* v) {
    auto cast = graph_.Append("cast", {v}, CastAttrs{.to = DType::kF32}, 1, graph_.After(v));
    if (!cast) return std::nullopt;
    Whole w = Bounds(v->dtype());
    w.value = (*cast)->output();
    return w;
  }

  static Compared Operand(const Whole& w) { return {w.value, {w.lo, w.hi}, true}; }
  // An operand of float32, or an integer as such.
  std::optional<Compared> OperandOf(Value* v) {
    if (v == nullptr) return std::nullopt;
    if (v->dtype() == DType::kF32 && !v->type().quantized()) {
      if (HasNan(v)) return std::nullopt;
      return Compared{v, Ranges().Of(v), false};
    }
    const auto w = Of(v);
    return w ? std::optional(Operand(*w)) : std::nullopt;
  }

  // ---- Results

  bool Keep(Value* result, Whole w) {
    wholes_[result] = w;
    return true;
  }
  // The terms of `node`, which stays.
  Result<bool> Keep(Node& node, Value* result, const Term& y, double lo, double hi) {
    NN_ASSIGN(Value* const v, Formulas(graph_, node).Build(y));
    return Keep(result, {v, lo, hi});
  }

  Result<bool> ReplaceUses(Node& node, Value* result, const Term& y) {
    NN_ASSIGN(Value* const v, Formulas(graph_, node).Build(y));
    graph_.ReplaceUses(result, v);
    return true;
  }

  // ---- Operators

  Result<bool> Lower(Node& node) {
    if (!HasWhole(node) || WhyNotElements(node)) return false;
    if (node.op().is_opaque || !node.regions().empty()) return false;
    constexpr struct {
      std::string_view op;
      Result<bool> (Carrier::*lower)(Node&);
      bool of_computed_indices = false;
    } kRows[] = {
        {"cast", &Carrier::Cast},
        {"not", &Carrier::Negate},
        {"reduce_all", &Carrier::ReduceAll},
        {"reduce_any", &Carrier::ReduceAny},
        {"select", &Carrier::Select},
        {"arg_max", &Carrier::ArgMax},
        {"arg_min", &Carrier::ArgMin},
        {"top_k", &Carrier::TopK},
        {"floor_div", &Carrier::DivideWhole},
        {"mod", &Carrier::DivideWhole},
        {"div", &Carrier::DivideWhole},
        {"fmod", &Carrier::DivideWhole},
        {"gather", &Carrier::Gather, true},
        {"gather_nd", &Carrier::Gather, true},
    };
    for (const auto& row : kRows)
      if (node.Is(row.op) && !(row.of_computed_indices && node.input(1)->is_constant()))
        return (this->*row.lower)(node);
    for (const auto& row : kComparisonTerms)
      if (node.Is(row.op)) return Compare(node, row.of);
    for (const auto& row : kLogicTerms)
      if (node.Is(row.op)) return Logic(node, row.of);
    if (!IsWholeType(node.output()->type())) return false;
    if (const auto moved = MovedInputs(node); !moved.empty()) return Move(node, moved);
    return IsArithmetic(node) ? Same(node) : Result<bool>(false);
  }

  // The same operator on float32.
  Result<bool> Same(Node& node) {
    std::vector<Value*> inputs;
    for (Value* v : node.inputs()) {
      const auto w = Of(v);
      if (v != nullptr && !w) return false;
      inputs.push_back(v == nullptr ? nullptr : w->value);
    }
    const Whole bounds = ArithmeticBounds(node, [&](const Value* v) { return Known(v); });
    if (!IsExact(bounds.lo, bounds.hi)) return false;
    NN_ASSIGN(Value* const y,
              Expansion(graph_, node).Add(node.op_name(), std::move(inputs), node.attrs()));
    NN_ASSIGN(const bool kept, KeepWrapped(node, node.output(), y, bounds));
    // The application may wrap the numbers that only it reads.
    return kept ||
           (node.output()->uses().empty() && Keep(node.output(), {y, bounds.lo, bounds.hi}));
  }

  Result<bool> Move(Node& node, const std::vector<size_t>& moved) {
    std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
    std::optional<Whole> all;
    for (const size_t i : moved) {
      const auto w = Of(inputs[i]);
      if (!w) return false;
      inputs[i] = w->value;
      all = all ? Union(*all, *w) : *w;
    }
    // Conditions would stay booleans.
    if (std::ranges::any_of(inputs, [](const Value* v) {
          return v != nullptr && v->dtype() == DType::kBool && !v->is_constant();
        }))
      return false;
    // Elements that are not of the input are 0.
    if (node.op().selects && node.op().selects->zero) all = Union(*all, Whole());
    Expansion e(graph_, node);
    NN_ASSIGN(Node* const y,
              e.AddNode(node.op_name(), std::move(inputs), node.attrs(), node.outputs().size()));
    for (size_t i = 0; i < node.outputs().size(); ++i)
      Keep(node.output(i), {y->output(i), all->lo, all->hi});
    return true;
  }

  Result<bool> Cast(Node& node) {
    Value *const x = node.input(0), *const y = node.output();
    if (y->dtype() == DType::kF32) {
      const auto w = Of(x);
      if (!w) return false;
      graph_.ReplaceUses(y, w->value);
      return true;
    }
    const auto v = OperandOf(x);
    if (!v || !IsWholeType(y->type())) return false;
    if (y->dtype() == DType::kBool) {
      if (v->whole && v->range.min >= 0 && v->range.max <= 1) return Keep(node, y, v->term, 0, 1);
      return Keep(node, y, IsNonzero(v->whole ? Unit(v->term) : SignOf(v->term)), 0, 1);
    }
    const Whole bounds{nullptr, v->range.min, v->range.max};
    if (v->whole) return KeepWrapped(node, y, v->term, bounds);
    return Truncate(node, y, *v);
  }

  // Integers modulo 2^bits, within the bounds of the type. They are within 2^24, so that no step
  // rounds.
  static Term Wrapped(const Term& whole, DType dtype) {
    const double count = std::ldexp(1.0, DTypeBits(dtype));
    const auto lo = static_cast<double>(MinInteger(dtype));
    const Term rounds = Floor((whole - lo) * (1 / count));
    return whole + rounds * -count;
  }

  // Integers of which those that the type of the result lacks wrap. To which number a wider type
  // wraps, float32 does not represent.
  Result<bool> KeepWrapped(Node& node, Value* result, const Term& y, const Whole& bounds) {
    // Limit of NNAPI: bits of an integer type to which results wrap around.
    constexpr int kMaxBits = 16;
    const DType dtype = result->dtype();
    if (Contains(dtype, bounds)) return Keep(node, result, y, bounds.lo, bounds.hi);
    if (DTypeBits(dtype) > kMaxBits) return false;
    return Keep(node, result, Wrapped(y, dtype), static_cast<double>(MinInteger(dtype)),
                static_cast<double>(MaxInteger(dtype)));
  }

  // Toward 0, and modulo 2^bits to a type of fewer than 8 bits. All multiples of 2^27 are 0, as
  // infinities are, and all larger numbers of float32 are such multiples.
  Result<bool> TruncateModulo(Node& node, Value* y, const Compared& x) {
    constexpr float kMultiple = 0x1p27f;
    const Term v = Clip(x.term, -kMultiple, kMultiple);
    const Term whole = Floor(Relu(v)) - Floor(Relu(-v));
    return Keep(node, y, Wrapped(whole, y->dtype()), static_cast<double>(MinInteger(y->dtype())),
                static_cast<double>(MaxInteger(y->dtype())));
  }

  // Toward 0, and to the bounds of the type.
  Result<bool> Truncate(Node& node, Value* y, const Compared& x) {
    const auto lo = static_cast<double>(MinInteger(y->dtype()));
    const auto hi = static_cast<double>(MaxInteger(y->dtype()));
    Term v = x.term;
    const bool exceeds = x.range.min <= lo - 1 || x.range.max >= hi + 1;
    if (exceeds && DTypeBits(y->dtype()) < 8) return TruncateModulo(node, y, x);
    if (exceeds) v = Clip(v, static_cast<float>(lo), static_cast<float>(hi));
    const double least = std::max(x.range.min, lo), most = std::min(x.range.max, hi);
    Term whole = Floor(Relu(v));
    if (least < 0) whole = whole - Floor(Relu(-v));
    return Keep(node, y, whole, std::trunc(least), std::trunc(most));
  }

  Result<bool> Compare(Node& node, Term (*of)(const Compared& a, const Compared& b)) {
    const auto a = OperandOf(node.input(0));
    const auto b = OperandOf(node.input(1));
    if (!a || !b) return false;
    return Keep(node, node.output(), of(*a, *b), 0, 1);
  }

  Result<bool> Negate(Node& node) {
    const auto a = Of(node.input(0));
    if (!a || node.output()->dtype() != DType::kBool) return false;
    return Keep(node, node.output(), Complement(a->value), 0, 1);
  }

  Result<bool> ReduceAll(Node& node) { return ReduceLogic(node, "reduce_min"); }
  Result<bool> ReduceAny(Node& node) { return ReduceLogic(node, "reduce_max"); }
  Result<bool> ReduceLogic(Node& node, std::string_view reduction) {
    const auto a = Of(node.input(0));
    if (!a || node.output()->dtype() != DType::kBool || node.inputs().size() != 1) return false;
    return Keep(node, node.output(), Apply(reduction, {a->value}, node.attrs()), 0, 1);
  }

  Result<bool> Logic(Node& node, Term (*of)(const Term& a, const Term& b)) {
    const auto a = Of(node.input(0));
    if (!a || node.output()->dtype() != DType::kBool) return false;
    const auto b = Of(node.input(1));
    if (!b) return false;
    return Keep(node, node.output(), of(a->value, b->value), 0, 1);
  }

  Result<bool> Select(Node& node) {
    Value *const condition = node.input(0), *const result = node.output();
    const bool is_real = result->dtype() == DType::kF32 && !result->type().quantized();
    if (is_real && condition->is_constant()) return false;
    if (!is_real && !IsWholeType(result->type())) return false;
    const auto mask = Of(condition);
    if (MayBeNan(node.input(1)) || MayBeNan(node.input(2))) return false;
    const auto a = OperandOf(node.input(1));
    const auto b = OperandOf(node.input(2));
    if (!mask || !a || !b) return false;
    const Term y = Selected(mask->value, *a, *b);
    if (!is_real)
      return Keep(node, result, y, std::min(a->range.min, b->range.min),
                  std::max(a->range.max, b->range.max));
    return ReplaceUses(node, result, y);
  }

  // The first operand of an order along an axis, dequantized: the scale is positive.
  std::optional<Compared> Ordered(const Node& node) {
    Value* const x = node.input(0);
    if (x->dtype() != DType::kU8 || !x->type().quantized() || x->type().quant->per_axis())
      return OperandOf(x);
    const Term v = Apply("dequantize", {x}, DequantizeAttrs{.to = DType::kF32});
    constexpr double kLarge = 0x1p120;
    return Compared{v, {-kLarge, kLarge}, false};
  }

  Result<bool> ArgMax(Node& node) { return IndexOf(node, Ordered(node)); }
  Result<bool> ArgMin(Node& node) {
    const auto x = Ordered(node);
    if (!x) return false;
    return IndexOf(node, Compared{-x->term, {-x->range.max, -x->range.min}, x->whole});
  }
  // The index of the largest number of `x`.
  Result<bool> IndexOf(Node& node, const std::optional<Compared>& x) {
    const ArgAttrs& a = node.attrs<ArgAttrs>();
    const auto dims = node.input(0)->type().const_dims();
    if (!dims || dims->empty() || CheckedElements(*dims).value_or(0) == 0) return false;
    NN_ASSIGN(const int axis, NormalizeAxis(a.axis, static_cast<int>(dims->size())));
    IndexOfMaximum what;
    what.axis = axis;
    what.n = (*dims)[static_cast<size_t>(axis)];
    what.inner = static_cast<int>(dims->size()) - 1 - axis;
    what.last = a.select_last_index;
    what.keep_dims = a.keep_dims;
    if (!x || !IsExact(0, static_cast<double>(what.n))) return false;
    return Keep(node, node.output(), Index(*x, what), 0, static_cast<double>(what.n - 1));
  }

  Result<bool> TopK(Node& node) {
    const TopKAttrs& a = node.attrs<TopKAttrs>();
    Value* const x = node.input(0);
    const auto dims = x->type().const_dims();
    const Value* const count = node.input(1);
    if (!dims || dims->empty() || !count->is_constant() || count->constant().elements() != 1 ||
        CheckedElements(*dims).value_or(0) == 0)
      return false;
    NN_ASSIGN(const int axis, NormalizeAxis(a.axis, static_cast<int>(dims->size())));
    const int64_t n = (*dims)[static_cast<size_t>(axis)], outer = *CheckedElements(*dims) / n;
    const int64_t k = count->constant().GetInt(0);
    if (n > kLongestOrder || outer > kMaxCompared / (n * n) || k < 1 || k > n) return false;
    auto operand = OperandOf(x);
    if (!operand) return false;
    std::vector<int64_t> perm(dims->size());
    for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
    std::swap(perm[static_cast<size_t>(axis)], perm.back());
    const auto last = [&](const Term& t) {
      return axis + 1 == static_cast<int>(dims->size()) ? t : Transpose(t, perm);
    };
    std::vector<int64_t> shape = *dims;
    std::swap(shape[static_cast<size_t>(axis)], shape.back());
    operand->term = last(operand->term);
    if (!a.largest)
      *operand = {-operand->term, {-operand->range.max, -operand->range.min}, operand->whole};
    const LargestTerms found = Largest(*operand, shape, k);
    shape.back() = k;
    Term values = last(Shaped(found.values, {outer, k}, shape));
    const Term indices = last(Shaped(found.indices, {outer, k}, shape));
    if (!a.largest) values = -values;
    if (node.outputs().size() > 1)
      NN_RETURN_IF_ERROR(Keep(node, node.output(1), indices, 0, static_cast<double>(n - 1)));
    if (operand->whole) {
      const auto w = Of(x);
      return Keep(node, node.output(), values, w->lo, w->hi);
    }
    return ReplaceUses(node, node.output(), values);
  }

  Result<bool> DivideWhole(Node& node) {
    auto a = Of(node.input(0)), b = Of(node.input(1));
    if (!a || !b || (b->lo < 1 && b->hi > -1)) return false;
    Term x = a->value, y = b->value;
    const bool negative = b->hi < 0;
    if (negative) {
      x = -x;
      y = -y;
      *a = {nullptr, -a->hi, -a->lo};
      *b = {nullptr, -b->hi, -b->lo};
    }
    const bool truncates = IsOneOf(node, {"div", "fmod"}), is_rest = IsOneOf(node, {"mod", "fmod"});
    const bool has_sign = truncates && a->lo < 0;
    const double most = std::max(-a->lo, a->hi);
    // Divided() computes integers beyond those that it divides.
    const auto is_exact = [&](double largest) { return IsExact(0, largest + 32 + 4 * b->hi); };
    const bool splits = !is_exact(most);
    if (splits && !(is_rest && is_exact((b->hi + 1) * kHigh))) return false;
    const Term sign = has_sign ? Unit(x) : x;
    if (has_sign) x = x * sign;
    const Term inverse = Apply("reciprocal", {y});
    if (splits) {
      // A smaller number with the same rest.
      const Term high = Floor(x * (1 / kHigh));
      const Term low = x + high * -kHigh;
      x = Divided(high, y, inverse).rest * kHigh + low;
    }
    const WholeQuotient divided = Divided(x, y, inverse);
    Term result = is_rest ? divided.rest : divided.quotient;
    if (has_sign) result = result * sign;
    // The sign of a remainder is that of the divisor, or of the dividend.
    if (is_rest && negative) result = -result;
    const double bound = is_rest ? b->hi - 1 : std::floor(most / b->lo) + 1;
    // The remainder of a negative divisor is not positive.
    const bool from_0 = !(is_rest && negative) && (a->lo >= 0 || (is_rest && !truncates));
    const Whole bounds{nullptr, from_0 ? 0 : -bound, bound};
    // The least integer divided by -1 wraps.
    if (negative && !is_rest) return KeepWrapped(node, node.output(), result, bounds);
    return Keep(node, node.output(), result, bounds.lo, bounds.hi);
  }

  // Whether EMBEDDING_LOOKUP can take the integers of an input: others become float32.
  static bool IsVectorOfInputs(const Value* v) {
    const auto dims = v->type().const_dims();
    if (!dims || std::ranges::count_if(*dims, [](int64_t n) { return n != 1; }) > 1) return false;
    const Node* const def = v->def();
    const bool is_reshape = def != nullptr && def->op().movement == Movement::kInOrder;
    return is_reshape ? IsVectorOfInputs(def->input(0)) : v->is_input();
  }

  // Of float32, or of integers, at computed indices that are only one number each.
  Result<bool> Gather(Node& node) {
    Value* const data = node.input(0);
    const auto dims = data->type().const_dims();
    const auto at = node.input(1)->type().const_dims();
    const auto result = node.output()->type().const_dims();
    if (!dims || !at || !result) return false;
    const bool looks_up = node.Is<GatherAttrs>() && IsVectorOfInputs(node.input(1));
    if (looks_up && IsPlainF32(node)) return false;
    const auto x = OperandOf(data);
    if (!x) return false;
    if (looks_up) {
      if (!IsWholeType(node.output()->type())) return false;
      return Keep(node, node.output(), Apply("gather", {x->term, node.input(1)}, node.attrs()),
                  x->range.min, x->range.max);
    }
    const auto index = Of(node.input(1));
    if (!index) return false;
    return AtComputed(node, *x, *index, *dims, *at, *result);
  }

  // Negative indices count from the end of an axis.
  static Term FromStart(const Term& index, const Term& size) {
    return index + Relu(Unit(-index)) * size;
  }

  Result<bool> AtComputed(Node& node, const Compared& x, const Whole& index,
                          const std::vector<int64_t>& dims, std::vector<int64_t> at,
                          const std::vector<int64_t>& result) {
    Term position = index.value;
    int64_t rows = 1, count = CheckedElements(at).value_or(0);
    if (node.Is<GatherAttrs>()) {
      const auto& a = node.attrs<GatherAttrs>();
      if (a.axis != 0 || a.batch_dims != 0 || dims.empty()) return false;
      rows = dims[0];
      if (index.lo < 0) position = FromStart(position, rows);
    } else {
      // The position of a vector of indices among the rows.
      if (node.attrs<GatherNdAttrs>().batch_dims != 0 || at.empty() || at.back() == 0) return false;
      const auto axes = static_cast<size_t>(at.back());
      count /= at.back();
      if (axes > dims.size()) return false;
      std::vector<float> steps(axes, 1.0f), ends;
      for (size_t i = axes; i-- > 0;) {
        steps[i] = static_cast<float>(rows);
        rows *= dims[i];
      }
      for (size_t i = 0; i < axes; ++i) ends.push_back(static_cast<float>(dims[i]));
      if (!IsExact(0, static_cast<double>(rows))) return false;
      Term indices = Shaped(position, at, {count, at.back()});
      if (index.lo < 0) indices = FromStart(indices, Tensor::Of({at.back()}, ends));
      position = ReduceSum(indices * Tensor::Of({at.back()}, steps), {1}, false);
      at = {count};
    }
    const auto elements = CheckedElements(dims).value_or(0);
    if (elements == 0 || count == 0) return false;
    const auto compared = CheckedMul(count, elements);
    if (!compared || *compared > kMaxCompared) return false;
    const Term y = RowsAt({x, dims, rows}, position, at);
    const Term shaped = Shaped(y, {count, elements / rows}, result);
    if (IsWholeType(node.output()->type()))
      return Keep(node, node.output(), shaped, x.range.min, x.range.max);
    return ReplaceUses(node, node.output(), shaped);
  }

  // ---- The interface

  Status Finish() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i)
      if (const auto w = Of(graph_.outputs()[i].value)) graph_.set_output(i, w->value);
    if (counts_ != nullptr)
      for (const Node* node : lowered_) ++(*counts_)[{node->op().name, "float32"}];
    if (lowered_.empty()) return {};
    NN_RETURN_IF_ERROR(RemoveDeadCode(graph_));
    return FoldConstants(graph_);
  }

  Graph& graph_;
  RewriteCounts* counts_;
  std::unordered_map<const Value*, Whole> wholes_;
  std::vector<const Node*> lowered_;
};

}  // namespace

Status IntegersAsFloats(Graph& graph, RewriteCounts* counts) {
  NN_RETURN_IF_ERROR(Carrier(graph, counts).Run());
  // An input whose only use is its conversion becomes its result.
  for (const Port& p : graph.inputs()) {
    Value* const input = p.value;
    if (!IsWholeType(input->type()) || input->uses().size() != 1 || graph.IsOutput(input)) continue;
    Node* const cast = input->uses()[0].node;
    if (!cast->Is<CastAttrs>() || cast->output()->dtype() != DType::kF32) continue;
    Type type = input->type();
    type.dtype = DType::kF32;
    input->set_type(std::move(type));
    graph.ReplaceUses(cast->output(), input);
    graph.Erase(cast);
  }
  return {};
}

}  // namespace nn::nnapi
