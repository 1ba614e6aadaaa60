// The idioms of attention and of rotary position embeddings.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/nn/attention/attention.h"
#include "ops/nn/attention/rotary_embedding.h"
#include "ops/nn/softmax.h"
#include "ops/support/types.h"
#include "passes/idioms/table.h"

namespace nn {
namespace {

Value* Named(const Pattern::Match& m, std::string_view name) {
  const auto it = m.values.find(name);
  return it == m.values.end() ? nullptr : it->second;
}

double NumberOr(const Pattern::Match& m, std::string_view name, double otherwise) {
  const auto it = m.numbers.find(name);
  return it == m.numbers.end() ? otherwise : it->second;
}

// ---- Attention ----------------------------------------------------------------------------------

bool IsPlainProduct(const Node& matmul, bool may_transpose_b) {
  const auto& a = matmul.attrs<MatmulAttrs>();
  return !a.transpose_a && (may_transpose_b || !a.transpose_b) && matmul.input(2) == nullptr;
}

bool IsSoftmaxAlongRows(const Node& softmax) {
  const auto& a = softmax.attrs<SoftmaxAttrs>();
  const auto axis = NormalizeAxis(a.axis, softmax.output()->type().rank());
  return axis && *axis == softmax.output()->type().rank() - 1 && a.beta == 1;
}

// The keys or values [B, heads, S, E] that were repeated for several query heads, as LLaMA's
// repeat_kv does: an axis after the heads is added, expanded, and joined with them. The value
// itself if it was not.
Value* Unrepeated(Value* v) {
  const Node* const joined = v->def();
  if (joined == nullptr || !joined->Is<ReshapeAttrs>()) return v;
  const Node* const repeated = joined->input(0)->def();
  if (repeated == nullptr || !repeated->Is<ExpandAttrs>()) return v;
  const Node* const added = repeated->input(0)->def();
  if (added == nullptr || !(added->Is("expand_dims") || added->Is<ReshapeAttrs>())) return v;
  Value* const x = added->input(0);
  const Type &type = x->type(), &five = added->output()->type(), &all = repeated->output()->type();
  const Type& y = v->type();
  if (!type.ranked() || !y.ranked() || type.rank() != 4 || five.rank() != 5 || all.rank() != 5 ||
      y.rank() != 4)
    return v;
  for (const int axis : {0, 1, 2, 3}) {
    const int at = axis < 2 ? axis : axis + 1;
    if (!(type.dim(axis) == five.dim(at)) || !(type.dim(axis) == all.dim(at)) ||
        (axis != 1 && !(type.dim(axis) == y.dim(axis))))
      return v;
  }
  return five.dim(2) == 1 ? x : v;
}

// The keys [..., S, E] of the second operand of the product; `scaled` are keys that were scaled
// before they were transposed, or null.
Derived KeysOf(Value* operand, Value* scaled, bool is_transposed) {
  std::vector<int64_t> perm(static_cast<size_t>(operand->type().rank()));
  std::iota(perm.begin(), perm.end(), 0);
  const Node* const node = operand->def();
  Value* keys = operand;
  if (node != nullptr && node->Is<TransposeAttrs>() && (scaled != nullptr || !is_transposed)) {
    perm = node->attrs<TransposeAttrs>().perm;
    keys = scaled != nullptr ? scaled : node->input(0);
  }
  if (!is_transposed) std::swap(perm[perm.size() - 2], perm.back());
  if (std::ranges::is_sorted(perm)) return {keys, {}};
  return {keys, {{"transpose", TransposeAttrs{std::move(perm)}}}};
}

// Scores that much smaller than others of their row have the weight 0 in float32.
constexpr double kExcluding = -1e4;

// Whether the last two axes of a constant are a matrix that tells queries from the keys after them
// (j > i), and others have size 1. `is_open`: of an element, nullopt if it is neither of the two.
template <typename IsOpen>
bool IsCausalMask(const Tensor& t, IsOpen is_open) {
  const auto rank = static_cast<size_t>(t.rank());
  if (rank < 2 || t.elements() != t.dims()[rank - 2] * t.dims()[rank - 1]) return false;
  const int64_t columns = t.dims()[rank - 1];
  for (int64_t i = 0; i < t.elements(); ++i)
    if (is_open(i) != std::optional(i % columns <= i / columns)) return false;
  return true;
}

bool IsCausalBias(const Tensor& t) {
  return IsCausalMask(t, [&](int64_t i) -> std::optional<bool> {
    const double v = t.GetDouble(i);
    if (v == 0) return true;
    return v <= kExcluding ? std::optional(false) : std::nullopt;
  });
}

template <typename IsOpen>
bool EveryRowIsOpen(const Tensor& condition, IsOpen is_open) {
  const int64_t columns = condition.rank() == 0 ? 1 : condition.dims().back();
  if (columns == 0) return false;
  for (int64_t first = 0; first < condition.elements(); first += columns) {
    bool any = false;
    for (int64_t i = first; i < first + columns && !any; ++i) any = *is_open(i);
    if (!any) return false;
  }
  return true;
}

// The mask of a match; false if the operator has no such mask.
bool SetMask(const Pattern::Match& m, AttentionAttrs& attrs, std::optional<Fused::Input>& mask) {
  Value* const bias = Named(m, "m");
  if (bias != nullptr) {
    attrs.is_causal = bias->is_constant() && IsCausalBias(bias->constant());
    if (!attrs.is_causal) mask = bias;
  }
  // Scores are kept where a condition is true, or false, and otherwise replaced by a number.
  Value* const kept = Named(m, "kept");
  Value* const condition = kept != nullptr ? kept : Named(m, "replaced");
  if (condition == nullptr) return true;
  const double other = NumberOr(m, "other", 0);
  const bool is_infinite = other == -std::numeric_limits<double>::infinity();
  if (!(other <= kExcluding)) return false;
  if (condition->is_constant()) {
    const Tensor& t = condition->constant();
    const auto is_open = [&](int64_t i) {
      return std::optional((t.GetInt(i) != 0) == (kept != nullptr));
    };
    if (IsCausalMask(t, is_open)) {
      attrs.is_causal = true;
      return true;
    }
    // A row without keys has equal weights if the number is finite.
    if (!is_infinite && !EveryRowIsOpen(t, is_open)) return false;
  } else if (!is_infinite) {
    return false;
  }
  if (bias != nullptr) return false;
  if (kept != nullptr)
    mask = kept;
  else
    mask = Derived{condition, {{"not", {}}}};
  return true;
}

std::optional<Fused> Attention(const Pattern::Match& m) {
  const Node& products = *Named(m, "p")->def();
  const Node& result = *Named(m, "y")->def();
  Value *q = Named(m, "q"), *t = Named(m, "t"), *v = Named(m, "v");
  const int rank = q->type().rank();
  if (!IsPlainProduct(products, true) || !IsPlainProduct(result, false) ||
      !IsSoftmaxAlongRows(*Named(m, "w")->def()) || rank < 3 || rank > 4 ||
      t->type().rank() != rank || v->type().rank() != rank)
    return std::nullopt;
  AttentionAttrs attrs;
  const double cap = NumberOr(m, "cap", 0);
  double scale = NumberOr(m, "a", 1) * NumberOr(m, "b", 1) * NumberOr(m, "scale", 1);
  if (cap != 0) scale *= cap;
  if (!(scale > 0) || !std::isfinite(scale) || cap < 0) return std::nullopt;
  attrs.scale = static_cast<float>(scale);
  attrs.softcap = static_cast<float>(cap);
  const Dim& size = q->type().dim(rank - 1);
  if (size.is_const() && std::abs(scale * std::sqrt(static_cast<double>(size.value())) - 1) < 1e-6)
    attrs.scale = 0;
  Derived keys = KeysOf(t, Named(m, "k"), products.attrs<MatmulAttrs>().transpose_b);
  if (keys.steps.empty() && rank == 4) {
    Value* const k = Unrepeated(keys.value);
    Value* const values = Unrepeated(v);
    if (k->type().dim(1) == values->type().dim(1)) {
      keys.value = k;
      v = values;
    }
  }
  std::optional<Fused::Input> mask;
  if (!SetMask(m, attrs, mask)) return std::nullopt;
  Derived query{q, {}};
  if (Value* const factors = Named(m, "g")) {
    // Of the heads, or of the queries.
    if (factors->type().rank() == 0 || !(factors->type().dims->back() == 1)) return std::nullopt;
    query.steps.push_back({"mul", {}, factors});
  }
  Fused out{{std::move(query), std::move(keys), v}, attrs};
  if (mask) out.inputs.push_back(*std::move(mask));
  if (rank == 4) return out;
  // Matrices of several heads in the first axis become batches of one head.
  for (size_t i = 0; i < out.inputs.size(); ++i) {
    Fused::Input& input = out.inputs[i];
    if (Value* const* const value = std::get_if<Value*>(&input)) input = Derived{*value, {}};
    Derived& operand = std::get<Derived>(input);
    if (i < 3 || operand.value->type().rank() == 3)
      operand.steps.push_back({"expand_dims", AxesAttrs{{1}}});
  }
  out.reshaped = true;
  return out;
}

// Scores after the variable w, the weights.
#define NN_SCORES                                                            \
  "w = softmax(s); s = either(add(x, m), x); "                               \
  "x = either(select(kept, z, $other), select(replaced, $other, z), z); "    \
  "z = either(product($cap, tanh(product($scale, p))), product($scale, p), " \
  "product($scale, p, #g), p); "                                             \
  "p = matmul(either(product($a, q), q), "                                   \
  "either(product($b, t), t:transpose(product($b, k)), t))"

// ---- Rotary embeddings --------------------------------------------------------------------------

// Elements of the last axis of a value.
struct Part {
  Value* of = nullptr;  // null: not a part of another value
  int64_t start = 0, step = 1, count = 0;
  bool operator==(const Part&) const = default;
};

Part PartOf(Value* v) {
  const Node* const node = v->def();
  if (node == nullptr || !v->type().ranked() || v->type().rank() == 0) return {};
  const Dim& count = v->type().dims->back();
  Value* const x = node->inputs().empty() ? nullptr : node->input(0);
  if (x == nullptr || !x->type().ranked() || x->type().rank() != v->type().rank() ||
      !count.is_const() || !x->type().dims->back().is_const())
    return {};
  const int64_t last = x->type().rank() - 1;
  if (node->Is<SliceAttrs>()) {
    const auto& a = node->attrs<SliceAttrs>();
    if (node->inputs().size() != 1 || a.axes.size() != 1 || a.starts.size() != 1) return {};
    if (a.axes[0] != last && a.axes[0] != -1) return {};
    const int64_t step = a.steps.empty() ? 1 : a.steps[0];
    const auto range = RangeOf(a.starts[0], a.ends[0], step, x->type().dims->back().value());
    return range ? Part{x, range->start, step, count.value()} : Part();
  }
  if (!node->Is<SplitAttrs>()) return {};
  const int64_t axis = node->attrs<SplitAttrs>().axis;
  if (axis != last && axis != -1) return {};
  Part part{x, 0, 1, count.value()};
  for (size_t i = 0; node->output(i) != v; ++i) {
    const Dim& before = node->output(i)->type().dims->back();
    if (!before.is_const()) return {};
    part.start += before.value();
  }
  return part;
}

// The value whose pairs are a and b: its halves, or, if interleaved, its even and odd elements.
// Null if they are not.
Value* PairedIn(Value* a, Value* b, bool interleaved) {
  const Part first = PartOf(a), second = PartOf(b);
  if (first.of == nullptr || first.of != second.of || first.count != second.count ||
      !(first.of->type().dims->back() == 2 * first.count))
    return nullptr;
  const int64_t step = interleaved ? 2 : 1;
  const Part want_first{first.of, 0, step, first.count};
  const Part want_second{first.of, interleaved ? 1 : first.count, step, first.count};
  return first == want_first && second == want_second ? first.of : nullptr;
}

constexpr int kMaxLevels = 8;

// Whether the last axis has each angle twice: its halves are equal, or, if interleaved, the two
// elements of each pair.
bool HasAnglesTwice(const Value* v, bool interleaved, int levels = kMaxLevels) {
  const Type& type = v->type();
  if (!type.ranked() || type.rank() == 0 || !type.dims->back().is_const() || levels == 0)
    return false;
  const int64_t size = type.dims->back().value();
  const int last = type.rank() - 1;
  if (size % 2 != 0) return false;
  if (v->is_constant()) {
    const Tensor& t = v->constant();
    for (int64_t i = 0; i < t.elements(); ++i) {
      const int64_t at = i % size;
      const int64_t other = i - at + (interleaved ? at / 2 * 2 : at % (size / 2));
      if (t.GetDouble(i) != t.GetDouble(other)) return false;
    }
    return true;
  }
  const Node* const node = v->def();
  if (node == nullptr || node->inputs().empty() || node->input(0) == nullptr) return false;
  const Value* const x = node->input(0);
  const auto keeps = [&] {
    return x->type().ranked() && x->type().rank() > 0 &&
           x->type().dims->back() == type.dims->back() &&
           HasAnglesTwice(x, interleaved, levels - 1);
  };
  if (node->Is<ConcatAttrs>() && !interleaved) {
    const int64_t axis = node->attrs<ConcatAttrs>().axis;
    if (axis == last || axis == -1)
      return node->inputs().size() == 2 && node->input(0) == node->input(1);
    return false;
  }
  if (node->Is("cos") || node->Is("sin") || node->Is<CastAttrs>() || node->Is("neg"))
    return keeps();
  if (node->Is("mul")) {
    const Value* const factor = node->input(1);
    return factor->is_constant() && factor->constant().elements() == 1 && keeps();
  }
  // The last axis stays in place.
  if (node->Is("expand_dims") || node->Is("squeeze") || node->Is<ExpandAttrs>() ||
      node->Is<ReshapeAttrs>())
    return keeps();
  if (node->Is<TransposeAttrs>())
    return node->attrs<TransposeAttrs>().perm.back() == last && keeps();
  if (node->Is<GatherAttrs>())
    return node->attrs<GatherAttrs>().axis == 0 && x->type().rank() > 1 && keeps();
  if (node->Is<SliceAttrs>()) {
    const auto& axes = node->attrs<SliceAttrs>().axes;
    const bool others = !axes.empty() && std::ranges::none_of(axes, [&](int64_t axis) {
      return axis == last || axis == -1;
    });
    return others && keeps();
  }
  return false;
}

// Each angle once.
Derived Angles(Value* v, bool interleaved) {
  const int64_t size = v->type().dims->back().value();
  const int64_t last = v->type().rank() - 1;
  return {
      v,
      {{"slice", SliceAttrs{{last}, {0}, {interleaved ? size : size / 2}, {interleaved ? 2 : 1}}}}};
}

// Whether a node joins two values along the last axis.
bool JoinsLastAxis(const Node& concat) {
  const int rank = concat.output()->type().rank();
  const int64_t axis = concat.attrs<ConcatAttrs>().axis;
  return concat.inputs().size() == 2 && (axis == rank - 1 || axis == -1);
}

// Whether a node adds an axis after the last one.
bool AddsLastAxis(const Value* v) {
  const Node& node = *v->def();
  const auto axes = NormalizeAxes(node.attrs<AxesAttrs>().axes, v->type().rank());
  return node.inputs().size() == 1 && axes && axes->size() == 1 &&
         (*axes)[0] == v->type().rank() - 1;
}

// Whether pairs are joined: two values along the last axis, or, if interleaved, along a new one.
bool JoinsPairs(const Pattern::Match& m, bool interleaved) {
  if (!JoinsLastAxis(*Named(m, "joined")->def())) return false;
  return !interleaved || (AddsLastAxis(Named(m, "first")) && AddsLastAxis(Named(m, "second")));
}

// x cos + (-b, a) sin, with each angle twice
template <bool interleaved>
std::optional<Fused> RotaryOfTurned(const Pattern::Match& m) {
  if (!JoinsPairs(m, interleaved)) return std::nullopt;
  Value* const x = PairedIn(Named(m, "a"), Named(m, "b"), interleaved);
  Value *left = Named(m, "x"), *cos = Named(m, "cos"), *sin = Named(m, "sin");
  if (cos == x) std::swap(left, cos);
  if (x == nullptr || left != x || !HasAnglesTwice(cos, interleaved) ||
      !HasAnglesTwice(sin, interleaved) || cos->type().rank() != sin->type().rank())
    return std::nullopt;
  return Fused{{x, Angles(cos, interleaved), Angles(sin, interleaved)},
               RotaryEmbeddingAttrs{interleaved}};
}

// (a c - b s, b c + a s)
template <bool interleaved>
std::optional<Fused> RotaryOfPairs(const Pattern::Match& m) {
  if (!JoinsPairs(m, interleaved)) return std::nullopt;
  Value *a = Named(m, "a"), *b = Named(m, "b"), *c = Named(m, "c"), *s = Named(m, "s");
  Value* x = PairedIn(a, b, interleaved);
  if (x == nullptr) {
    // The products of the match are the same with both pairs exchanged.
    x = PairedIn(c, s, interleaved);
    c = a;
    s = b;
  }
  if (x == nullptr) return std::nullopt;
  return Fused{{x, c, s}, RotaryEmbeddingAttrs{interleaved}};
}

// ---- The table ----------------------------------------------------------------------------------

// The forms are those of
// - PyTorch's ONNX exporters: scaled_dot_product_attention, which scales q and k each by the root
//   of the scale, and in newer versions replaces weights that are NaN; MultiheadAttention before;
// - Hugging Face's BERT, GPT-2, LLaMA (repeat_kv, rotate_half), GPT-J (rotate_every_two) and
//   Gemma 2 (a softcap);
// - Keras's MultiHeadAttention, which scales q;
// - torchvision's Swin Transformer V2, which scales each head by a constant of its own;
// - the body of ONNX's RotaryEmbedding, and LLaMA's own code, which rotates pairs.
constexpr Idiom kAttentionIdioms[] = {
    {"attention", "softmax", "y:matmul(w, v); " NN_SCORES, Attention},
    {"attention", "is_nan", "y:matmul(select(is_nan(w), 0, w), v); " NN_SCORES, Attention},

    {"rotary_embedding", "neg", "add(product(joined:concat(neg(b), a), sin), product(x, cos))",
     RotaryOfTurned<false>},
    {"rotary_embedding", "neg",
     "add(product(reshape(joined:concat(first:expand_dims(neg(b)), second:expand_dims(a))), sin), "
     "product(x, cos))",
     RotaryOfTurned<true>},
    {"rotary_embedding", "sub",
     "joined:concat(sub(product(a, c), product(b, s)), add(product(b, c), product(a, s)))",
     RotaryOfPairs<false>},
    {"rotary_embedding", "sub",
     "reshape(joined:concat(first:expand_dims(sub(product(a, c), product(b, s))), "
     "second:expand_dims(add(product(b, c), product(a, s)))))",
     RotaryOfPairs<true>},
};

#undef NN_SCORES

}  // namespace

std::span<const Idiom> AttentionIdioms() {
  return kAttentionIdioms;
}

}  // namespace nn
