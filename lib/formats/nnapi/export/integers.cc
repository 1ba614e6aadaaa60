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
#include "ops/array/arrange/gather.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/selection.h"
#include "ops/support/types.h"
#include "passes/core/passes.h"
#include "passes/facts/ranges.h"
#include "rewrite/expand.h"

namespace nn::nnapi {
namespace {

// Elements of the tensors that compare all elements with each other.
constexpr int64_t kMaxCompared = int64_t{1} << 22;
// The longest axis whose elements are ordered, which needs a constant of its square.
constexpr int64_t kLongestOrder = 1024;
// Dividends of 24 bits are divided in two steps.
constexpr double kHigh = 0x1p12;

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
    if (t.elements() == 0) return std::nullopt;
    auto b = TensorBuilder::Create(DType::kF32, t.dims());
    if (!b) return std::nullopt;
    Whole w{nullptr, t.GetDouble(0), t.GetDouble(0)};
    for (int64_t i = 0; i < t.elements(); ++i) {
      const double number = t.GetDouble(i);
      w = Union(w, {nullptr, number, number});
      b->As<float>()[static_cast<size_t>(i)] = static_cast<float>(number);
    }
    if (!IsExact(w.lo, w.hi)) return std::nullopt;
    w.value = graph_.AddConstant(b->Finish());
    return w;
  }

  std::optional<Whole> OfInput(Value* v) {
    auto cast = graph_.Append("cast", {v}, CastAttrs{.to = DType::kF32}, 1, graph_.After(v));
    if (!cast) return std::nullopt;
    Whole w = Bounds(v->dtype());
    w.value = (*cast)->output();
    return w;
  }

  Compared Operand(Terms& terms, const Whole& w) { return {terms.Of(w.value), {w.lo, w.hi}, true}; }
  // An operand of float32, or an integer as such.
  std::optional<Compared> OperandOf(Terms& terms, Value* v) {
    if (v == nullptr) return std::nullopt;
    if (v->dtype() == DType::kF32 && !v->type().quantized()) {
      if (HasNan(v)) return std::nullopt;
      return Compared{terms.Of(v), Ranges().Of(v), false};
    }
    const auto w = Of(v);
    return w ? std::optional(Operand(terms, *w)) : std::nullopt;
  }

  // ---- Results

  bool Keep(Value* result, Whole w) {
    wholes_[result] = w;
    return true;
  }
  Result<bool> Keep(Terms& terms, Value* result, Term y, double lo, double hi) {
    NN_ASSIGN(Value* const v, terms.ValueOf(y));
    return Keep(result, {v, lo, hi});
  }

  // ---- Operators

  Result<bool> Lower(Node& node) {
    if (!HasWhole(node) || WhyNotElements(node)) return false;
    if (node.op().is_opaque || !node.regions().empty()) return false;
    if (node.Is("cast")) return Cast(node);
    if (IsOneOf(node, {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}))
      return Compare(node);
    if (IsOneOf(node, {"and", "or", "xor", "not", "reduce_all", "reduce_any"})) return Logic(node);
    if (node.Is("select")) return Select(node);
    if (IsOneOf(node, {"arg_max", "arg_min"})) return IndexOf(node);
    if (node.Is("top_k")) return TopK(node);
    if (IsOneOf(node, {"floor_div", "mod", "div", "fmod"})) return DivideWhole(node);
    if (IsOneOf(node, {"gather", "gather_nd"}) && !node.input(1)->is_constant())
      return Gather(node);
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
    Expansion e(graph_, node);
    NN_ASSIGN(Value* const y, e.Add(node.op_name(), std::move(inputs), node.attrs()));
    Terms terms(graph_, node);
    NN_ASSIGN(const bool kept, KeepWrapped(terms, node.output(), terms.Of(y), bounds));
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
    Terms terms(graph_, node);
    if (y->dtype() == DType::kF32) {
      const auto w = Of(x);
      if (!w) return false;
      graph_.ReplaceUses(y, w->value);
      return true;
    }
    const auto v = OperandOf(terms, x);
    if (!v || !IsWholeType(y->type())) return false;
    if (y->dtype() == DType::kBool) {
      const Term order = v->whole ? Unit(v->term) : SignOf(v->term);
      if (v->whole && v->range.min >= 0 && v->range.max <= 1)
        return Keep(y, {v->term.value(), 0, 1});
      return Keep(terms, y, IsNonzero(order), 0, 1);
    }
    const Whole bounds{nullptr, v->range.min, v->range.max};
    if (v->whole) return KeepWrapped(terms, y, v->term, bounds);
    return Truncate(terms, y, *v);
  }

  // Integers modulo 2^bits, within the bounds of the type. They are within 2^24, so that no step
  // rounds.
  static Term Wrapped(const Term& whole, DType dtype) {
    const double count = std::ldexp(1.0, DTypeBits(dtype));
    const auto lo = static_cast<double>(MinInteger(dtype));
    const Term rounds = ((whole + -lo) * (1 / count)).Function("floor");
    return whole + rounds * -count;
  }

  // Integers of which those that the type of the result lacks wrap. To which number a wider type
  // wraps, float32 does not represent.
  Result<bool> KeepWrapped(Terms& terms, Value* result, Term y, const Whole& bounds) {
    constexpr int kMaxBits = 16;
    const DType dtype = result->dtype();
    if (Contains(dtype, bounds)) return Keep(terms, result, y, bounds.lo, bounds.hi);
    if (DTypeBits(dtype) > kMaxBits) return false;
    return Keep(terms, result, Wrapped(y, dtype), static_cast<double>(MinInteger(dtype)),
                static_cast<double>(MaxInteger(dtype)));
  }

  // Toward 0, and modulo 2^bits to a type of fewer than 8 bits. All multiples of 2^27 are 0, as
  // infinities are, and all larger numbers of float32 are such multiples.
  Result<bool> TruncateModulo(Terms& terms, Value* y, const Compared& x) {
    constexpr float kMultiple = 0x1p27f;
    const Term v = x.term.Function("clip", ClipAttrs{-kMultiple, kMultiple});
    const Term whole = Relu(v).Function("floor") + -Relu(-v).Function("floor");
    return Keep(terms, y, Wrapped(whole, y->dtype()), static_cast<double>(MinInteger(y->dtype())),
                static_cast<double>(MaxInteger(y->dtype())));
  }

  // Toward 0, and to the bounds of the type.
  Result<bool> Truncate(Terms& terms, Value* y, const Compared& x) {
    const auto lo = static_cast<double>(MinInteger(y->dtype()));
    const auto hi = static_cast<double>(MaxInteger(y->dtype()));
    Term v = x.term;
    const bool exceeds = x.range.min <= lo - 1 || x.range.max >= hi + 1;
    if (exceeds && DTypeBits(y->dtype()) < 8) return TruncateModulo(terms, y, x);
    if (exceeds) v = v.Function("clip", ClipAttrs{static_cast<float>(lo), static_cast<float>(hi)});
    const double least = std::max(x.range.min, lo), most = std::min(x.range.max, hi);
    Term whole = Relu(v).Function("floor");
    if (least < 0) whole = whole + -Relu(-v).Function("floor");
    return Keep(terms, y, whole, std::trunc(least), std::trunc(most));
  }

  Result<bool> Compare(Node& node) {
    Terms terms(graph_, node);
    const auto a = OperandOf(terms, node.input(0));
    const auto b = OperandOf(terms, node.input(1));
    if (!a || !b) return false;
    const bool swapped = IsOneOf(node, {"less", "greater_equal"});
    const Term order = swapped ? Order(*b, *a) : Order(*a, *b);
    const bool equality = IsOneOf(node, {"equal", "not_equal"});
    Term y = equality ? IsNonzero(order) : IsPositive(order);
    if (IsOneOf(node, {"equal", "less_equal", "greater_equal"})) y = Not(y);
    return Keep(terms, node.output(), y, 0, 1);
  }

  Result<bool> Logic(Node& node) {
    Terms terms(graph_, node);
    const auto a = Of(node.input(0));
    if (!a || node.output()->dtype() != DType::kBool) return false;
    const Term x = terms.Of(a->value);
    Value* const result = node.output();
    if (node.Is("not")) return Keep(terms, result, Not(x), 0, 1);
    if (IsOneOf(node, {"reduce_all", "reduce_any"})) {
      if (node.inputs().size() != 1) return false;
      const Term y = x.Function(node.Is("reduce_all") ? "reduce_min" : "reduce_max", node.attrs());
      return Keep(terms, result, y, 0, 1);
    }
    const auto b = Of(node.input(1));
    if (!b) return false;
    const Term z = terms.Of(b->value);
    if (node.Is("and")) return Keep(terms, result, x * z, 0, 1);
    if (node.Is("or")) return Keep(terms, result, AtMostOne(x + z), 0, 1);
    return Keep(terms, result, IsNonzero(x + -z), 0, 1);
  }

  Result<bool> Select(Node& node) {
    Value *const condition = node.input(0), *const result = node.output();
    const bool is_real = result->dtype() == DType::kF32 && !result->type().quantized();
    if (is_real && condition->is_constant()) return false;
    if (!is_real && !IsWholeType(result->type())) return false;
    Terms terms(graph_, node);
    const auto mask = Of(condition);
    if (MayBeNan(node.input(1)) || MayBeNan(node.input(2))) return false;
    const auto a = OperandOf(terms, node.input(1));
    const auto b = OperandOf(terms, node.input(2));
    if (!mask || !a || !b) return false;
    const Term y = Selected(terms.Of(mask->value), *a, *b);
    if (!is_real)
      return Keep(terms, result, y, std::min(a->range.min, b->range.min),
                  std::max(a->range.max, b->range.max));
    NN_ASSIGN(Value* const v, terms.ValueOf(y));
    graph_.ReplaceUses(result, v);
    return true;
  }

  // The first operand of an order along an axis, dequantized: the scale is positive.
  Result<std::optional<Compared>> Ordered(Terms& terms, Node& node) {
    Value* const x = node.input(0);
    if (x->dtype() != DType::kU8 || !x->type().quantized() || x->type().quant->per_axis())
      return OperandOf(terms, x);
    const Term v = terms.Apply("dequantize", {x}, DequantizeAttrs{.to = DType::kF32});
    NN_RETURN_IF_ERROR(terms.ValueOf(v));
    constexpr double kLarge = 0x1p120;
    return Compared{v, {-kLarge, kLarge}, false};
  }

  Result<bool> IndexOf(Node& node) {
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
    if (!IsExact(0, static_cast<double>(what.n))) return false;
    Terms terms(graph_, node);
    NN_ASSIGN(auto x, Ordered(terms, node));
    if (!x) return false;
    if (node.Is("arg_min")) *x = {-x->term, {-x->range.max, -x->range.min}, x->whole};
    return Keep(terms, node.output(), Index(*x, what), 0, static_cast<double>(what.n - 1));
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
    Terms terms(graph_, node);
    auto operand = OperandOf(terms, x);
    if (!operand) return false;
    std::vector<int64_t> perm(dims->size());
    for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
    std::swap(perm[static_cast<size_t>(axis)], perm.back());
    const auto last = [&](Term t) {
      return axis + 1 == static_cast<int>(dims->size())
                 ? t
                 : t.Function("transpose", TransposeAttrs{perm});
    };
    operand->term = last(operand->term);
    if (!a.largest)
      *operand = {-operand->term, {-operand->range.max, -operand->range.min}, operand->whole};
    const LargestTerms found = Largest(*operand, outer, n, k);
    std::vector<int64_t> shape = *dims;
    std::swap(shape[static_cast<size_t>(axis)], shape.back());
    shape.back() = k;
    Term values = last(terms.Shaped(found.values.value(), shape));
    const Term indices = last(terms.Shaped(found.indices.value(), shape));
    if (!a.largest) values = -values;
    if (node.outputs().size() > 1)
      NN_RETURN_IF_ERROR(Keep(terms, node.output(1), indices, 0, static_cast<double>(n - 1)));
    if (operand->whole) {
      const auto w = Of(x);
      return Keep(terms, node.output(), values, w->lo, w->hi);
    }
    NN_ASSIGN(Value* const v, terms.ValueOf(values));
    graph_.ReplaceUses(node.output(), v);
    return true;
  }

  Result<bool> DivideWhole(Node& node) {
    auto a = Of(node.input(0)), b = Of(node.input(1));
    if (!a || !b || (b->lo < 1 && b->hi > -1)) return false;
    Terms terms(graph_, node);
    Term x = terms.Of(a->value), y = terms.Of(b->value);
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
    const Term inverse = terms.Apply("reciprocal", {y.value()});
    if (splits) {
      // A smaller number with the same rest.
      const Term high = (x * (1 / kHigh)).Function("floor");
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
    if (negative && !is_rest) return KeepWrapped(terms, node.output(), result, bounds);
    return Keep(terms, node.output(), result, bounds.lo, bounds.hi);
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
    const bool looks_up = node.Is("gather") && IsVectorOfInputs(node.input(1));
    if (looks_up && IsPlainF32(node)) return false;
    Terms terms(graph_, node);
    const auto x = OperandOf(terms, data);
    if (!x) return false;
    if (looks_up) {
      if (!IsWholeType(node.output()->type())) return false;
      return Keep(terms, node.output(),
                  terms.Apply("gather", {x->term.value(), node.input(1)}, node.attrs()),
                  x->range.min, x->range.max);
    }
    const auto index = Of(node.input(1));
    if (!index) return false;
    return AtComputed(node, terms, *x, *index, *dims, *at, *result);
  }

  // Negative indices count from the end of an axis.
  static Term FromStart(Term index, Value* size) {
    return index + Relu(Unit(-index)) * index.terms().Of(size);
  }

  Result<bool> AtComputed(Node& node, Terms& terms, const Compared& x, const Whole& index,
                          const std::vector<int64_t>& dims, const std::vector<int64_t>& at,
                          const std::vector<int64_t>& result) {
    Term position = terms.Of(index.value);
    int64_t rows = 1, count = CheckedElements(at).value_or(0);
    if (node.Is("gather")) {
      const auto& a = node.attrs<GatherAttrs>();
      if (a.axis != 0 || a.batch_dims != 0 || dims.empty()) return false;
      rows = dims[0];
      if (index.lo < 0) position = FromStart(position, terms.Number(static_cast<double>(rows)));
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
      Term indices = terms.Shaped(position.value(), {count, at.back()});
      const Term factors = terms.Of(terms.Constant(Tensor::Of({at.back()}, steps)));
      if (index.lo < 0) indices = FromStart(indices, terms.Constant(Tensor::Of({at.back()}, ends)));
      position = (indices * factors).Function("reduce_sum", ReduceAttrs{{1}, false});
    }
    const auto elements = CheckedElements(dims).value_or(0);
    if (elements == 0 || count == 0) return false;
    const auto compared = CheckedMul(count, elements);
    if (!compared || *compared > kMaxCompared) return false;
    const Term y = RowsAt(x, rows, elements / rows, position, count);
    const Term shaped = terms.Shaped(y.value(), result);
    if (IsWholeType(node.output()->type()))
      return Keep(terms, node.output(), shaped, x.range.min, x.range.max);
    NN_ASSIGN(Value* const v, terms.ValueOf(shaped));
    graph_.ReplaceUses(node.output(), v);
    return true;
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
    if (!cast->Is("cast") || cast->output()->dtype() != DType::kF32) continue;
    Type type = input->type();
    type.dtype = DType::kF32;
    input->set_type(std::move(type));
    graph.ReplaceUses(cast->output(), input);
    graph.Erase(cast);
  }
  return {};
}

}  // namespace nn::nnapi
