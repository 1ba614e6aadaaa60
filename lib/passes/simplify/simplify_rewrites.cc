#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/nn/conv.h"
#include "ops/nn/conv_transpose.h"
#include "ops/support/broadcast.h"
#include "ops/support/types.h"
#include "ops/support/window.h"
#include "passes/simplify/simplify.h"

namespace nn {
namespace {

// ---- Identities

// Whether all elements of a constant that is not quantized are `number`, zeros with its sign.
bool HoldsOnly(const Value* v, double number) {
  if (v == nullptr || !v->is_constant() || v->type().quantized() ||
      v->constant().blob().is_deferred())
    return false;
  const Tensor& t = v->constant();
  if (!IsFloat(t.dtype()) && !IsInteger(t.dtype()) && t.dtype() != DType::kBool) return false;
  for (int64_t i = 0; i < t.elements(); ++i) {
    const double x = t.GetDouble(i);
    if (x != number || (IsFloat(t.dtype()) && std::signbit(x) != std::signbit(number)))
      return false;
  }
  return true;
}

Value* First(const Node& node) {
  return node.input(0);
}

Value* SortedTranspose(const Node& node) {
  const auto& perm = node.attrs<TransposeAttrs>().perm;
  return std::is_sorted(perm.begin(), perm.end()) ? node.input(0) : nullptr;
}

Value* WholeSlice(const Node& node) {
  const auto& steps = node.attrs<SliceAttrs>().steps;
  const bool forward = std::ranges::all_of(steps, [](int64_t step) { return step > 0; });
  return node.input(1) == nullptr && forward ? node.input(0) : nullptr;
}

Value* EmptyPad(const Node& node) {
  const auto& pads = node.attrs<PadAttrs>().pads;
  const bool empty = std::ranges::all_of(pads, [](int64_t pad) { return pad == 0; });
  return node.input(2) == nullptr && empty ? node.input(0) : nullptr;
}

// The part that fills the result: the others have no elements.
Value* OnlyPart(const Node& node) {
  const auto part = std::ranges::find_if(
      node.inputs(), [&](const Value* v) { return v->type() == node.output()->type(); });
  return part == node.inputs().end() ? nullptr : *part;
}

// The operand beside a constant that changes nothing.
template <int number>
Value* BesideEither(const Node& node) {
  for (const size_t i : {size_t{0}, size_t{1}})
    if (HoldsOnly(node.input(1 - i), number)) return node.input(i);
  return nullptr;
}
template <int number>
Value* BesideSecond(const Node& node) {
  return HoldsOnly(node.input(1), number) ? node.input(0) : nullptr;
}

// -0 + +0 is +0, so only the sum with -0 is exact.
Value* BesideZero(const Node& node) {
  const double zero = IsFloat(node.output()->dtype()) ? -0.0 : 0.0;
  for (const size_t i : {size_t{0}, size_t{1}})
    if (HoldsOnly(node.input(1 - i), zero)) return node.input(i);
  return nullptr;
}

Value* Selected(const Node& node) {
  if (node.input(1) == node.input(2) || HoldsOnly(node.input(0), 1)) return node.input(1);
  return HoldsOnly(node.input(0), 0) ? node.input(2) : nullptr;
}

struct IdentityRow {
  std::string_view op;
  Value* (*candidate)(const Node&);  // which is the result if their types are equal
};
constexpr IdentityRow kIdentities[] = {
    {"cast", First},
    {"tile", First},
    {"expand", First},
    {"split", First},
    {"transpose", SortedTranspose},
    {"slice", WholeSlice},
    {"pad", EmptyPad},
    {"concat", OnlyPart},
    {"select", Selected},
    {"mul", BesideEither<1>},
    {"div", BesideSecond<1>},
    {"add", BesideZero},
    {"sub", BesideSecond<0>},
    {"and", BesideEither<1>},
    {"or", BesideEither<0>},
    {"xor", BesideEither<0>},
};

Interval BoundsOf(const Node& node) {
  return node.op().clamp(node);
}

bool IsFloatClamp(const Node* node) {
  return node != nullptr && node->op().clamp != nullptr && !node->output()->type().quantized() &&
         IsFloat(node->output()->dtype());
}

Result<bool> DropIdentity(Graph& graph, Node& node) {
  Value* const x = IdentityOf(node);
  if (x == nullptr) return false;
  // The output would be a copy, which is an operator as well.
  if (graph.IsOutput(node.output()) && (x->def() == nullptr || graph.IsOutput(x))) return false;
  graph.Replace(&node, x);
  return true;
}

// ---- Chains of two operators

// The node that computes the operand, if nothing else uses its result.
Node* OnlyFor(const Graph& graph, const Value* v) {
  Node* const def = v == nullptr ? nullptr : v->def();
  if (def == nullptr || def->outputs().size() != 1 || v->uses().size() != 1 || graph.IsOutput(v))
    return nullptr;
  return def;
}

// Whether `to` holds all numbers of `from`.
bool HoldsAll(DType from, DType to) {
  if (from == to) return true;
  const auto digits = [](DType t) {
    return t == DType::kF64 ? 53 : t == DType::kF32 ? 24 : t == DType::kF16 ? 11 : 8;
  };
  const auto is_plain = [](DType t) {
    return t == DType::kF64 || t == DType::kF32 || t == DType::kF16 || t == DType::kBF16;
  };
  if (from == DType::kBool) return IsInteger(to) || is_plain(to);
  if (IsInteger(from)) {
    const int bits = DTypeBits(from) - (nn::IsSigned(from) ? 1 : 0);
    if (is_plain(to)) return bits <= digits(to);
    if (!IsInteger(to) || (nn::IsSigned(from) && !nn::IsSigned(to))) return false;
    return bits <= DTypeBits(to) - (nn::IsSigned(to) ? 1 : 0);
  }
  if (from == DType::kF16 || from == DType::kBF16) return to == DType::kF32 || to == DType::kF64;
  return from == DType::kF32 && to == DType::kF64;
}

// A cast to a type that holds all numbers does not matter for a cast after it.
Result<bool> JoinCasts(Graph& graph, Node& node) {
  Node* const first = node.input(0)->def();
  if (first == nullptr || !first->Is<CastAttrs>()) return false;
  Value* const x = first->input(0);
  if (x->type().quantized() || node.input(0)->type().quantized() ||
      !HoldsAll(x->dtype(), node.input(0)->dtype()) || node.attrs<CastAttrs>().to == DType::kString)
    return false;
  graph.SetInput(&node, 0, x);
  return true;
}

bool KeepsOrder(const Node* node) {
  return node != nullptr && node->op().movement == Movement::kInOrder && !node->op().is_check;
}

// The dims as those of a reshape of a value of type `x`; nullopt if a file might have to compute
// them.
std::optional<Dims> WrittenDims(const Dims& dims, const Type& x) {
  size_t open = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool copied = static_cast<int>(i) < x.rank() && x.dim(static_cast<int>(i)) == dims[i];
    if (!dims[i].is_const() && !copied) ++open;
  }
  return open <= 1 ? std::optional(dims) : std::nullopt;
}

// Only the shape after both matters.
Result<bool> JoinReshapes(Graph& graph, Node& node) {
  if (!KeepsOrder(&node)) return false;
  const Node* const first = node.input(0)->def();
  if (!KeepsOrder(first)) return false;
  Value* const x = first->input(0);
  const Type& y = node.output()->type();
  if (!x->type().ranked() || !y.ranked() || x->type().quantized() || y.quantized()) return false;
  if (x->type() == y) {
    if (graph.IsOutput(node.output()) && (x->def() == nullptr || graph.IsOutput(x))) return false;
    graph.Replace(&node, x);
    return true;
  }
  if (OnlyFor(graph, node.input(0)) == nullptr || !KnownBeforeRun(*y.dims)) return false;
  const auto dims = WrittenDims(*y.dims, x->type());
  if (!dims) return false;
  NN_ASSIGN(Node* const joined, graph.Append("reshape", {x}, ReshapeAttrs{*dims, false}, 1, &node));
  joined->set_name(node.name());
  joined->set_source(node.source());
  graph.Replace(&node, joined->output());
  return true;
}

Result<bool> JoinTransposes(Graph& graph, Node& node) {
  const Node* const first = node.input(0)->def();
  if (first == nullptr || !first->Is<TransposeAttrs>()) return false;
  TransposeAttrs a = node.attrs<TransposeAttrs>();
  const auto& before = first->attrs<TransposeAttrs>().perm;
  if (a.perm.size() != before.size()) return false;
  for (int64_t& axis : a.perm) axis = before[static_cast<size_t>(axis)];
  if (!std::is_sorted(a.perm.begin(), a.perm.end()) && OnlyFor(graph, node.input(0)) == nullptr)
    return false;
  graph.SetInput(&node, 0, first->input(0));
  node.set_attrs(std::move(a));
  return true;
}

// A reduction keeps or drops the reduced axes itself.
Result<bool> KeepReducedAxes(Graph& graph, Node& node) {
  if (!KeepsOrder(&node)) return false;
  Node* const reduction = OnlyFor(graph, node.input(0));
  if (reduction == nullptr || node.output()->type().quantized()) return false;
  const auto keeps = reduction->attrs().Get("keep_dims");
  const bool* const kept = keeps ? std::get_if<bool>(&*keeps) : nullptr;
  if (kept == nullptr) return false;
  Value* const y = reduction->output();
  const Type type = y->type();
  const Attrs attrs = reduction->attrs();
  NN_ASSIGN(Attrs other, attrs.With("keep_dims", !*kept));
  reduction->set_attrs(std::move(other));
  Type open;
  open.dtype = type.dtype;
  y->set_type(open);
  NN_RETURN_IF_ERROR(InferNode(*reduction));
  if (y->type() == node.output()->type()) {
    y->set_name({});
    graph.Replace(&node, y);
    return true;
  }
  reduction->set_attrs(attrs);
  y->set_type(type);
  return false;
}

// The parts of a concatenation that is a part itself.
Result<bool> JoinConcats(Graph& graph, Node& node) {
  const Type& y = node.output()->type();
  if (!y.ranked() || y.quantized()) return false;
  NN_ASSIGN(const int axis, NormalizeAxis(node.attrs<ConcatAttrs>().axis, y.rank()));
  std::vector<Value*> parts;
  bool joined = false;
  for (Value* v : node.inputs()) {
    const Node* const part = v->type().quantized() ? nullptr : OnlyFor(graph, v);
    if (part != nullptr && part->Is<ConcatAttrs>()) {
      NN_ASSIGN(const int inner, NormalizeAxis(part->attrs<ConcatAttrs>().axis, y.rank()));
      if (inner == axis) {
        parts.insert(parts.end(), part->inputs().begin(), part->inputs().end());
        joined = true;
        continue;
      }
    }
    parts.push_back(v);
  }
  if (joined) graph.SetInputs(&node, std::move(parts));
  return joined;
}

struct SlicedAxis {
  int64_t start, end, step;
};

// The ranges by axis; nullopt if they are inputs, or step back.
Result<std::optional<std::map<int, SlicedAxis>>> RangesOf(const Node& node) {
  const auto& a = node.attrs<SliceAttrs>();
  const Type& x = node.input(0)->type();
  if (node.input(1) != nullptr || !x.ranked()) return std::nullopt;
  std::map<int, SlicedAxis> out;
  for (size_t i = 0; i < a.starts.size(); ++i) {
    const int64_t step = a.steps.empty() ? 1 : a.steps[i];
    if (step < 1) return std::nullopt;
    NN_ASSIGN(const int axis,
              NormalizeAxis(a.axes.empty() ? static_cast<int64_t>(i) : a.axes[i], x.rank()));
    if (!out.emplace(axis, SlicedAxis{a.starts[i], a.ends[i], step}).second) return std::nullopt;
  }
  return out;
}

Result<bool> JoinSlices(Graph& graph, Node& node) {
  const Node* const first = OnlyFor(graph, node.input(0));
  if (first == nullptr || !first->Is<SliceAttrs>()) return false;
  NN_ASSIGN(auto ranges, RangesOf(*first));
  NN_ASSIGN(const auto then, RangesOf(node));
  if (!ranges || !then) return false;
  Value* const x = first->input(0);
  for (const auto& [axis, range] : *then) {
    const auto before = ranges->find(axis);
    if (before == ranges->end()) {
      ranges->emplace(axis, range);
      continue;
    }
    SlicedAxis& r = before->second;
    if (!x->type().dim(axis).is_const() || r.step > INT32_MAX || range.step > INT32_MAX)
      return false;
    NN_ASSIGN(const SliceRange a, RangeOf(r.start, r.end, r.step, x->type().dim(axis).value()));
    NN_ASSIGN(const SliceRange b, RangeOf(range.start, range.end, range.step, a.count));
    if (b.count == 0) return false;
    const int64_t start = a.start + b.start * a.step, step = a.step * b.step;
    r = {start, start + (b.count - 1) * step + 1, step};
  }
  SliceAttrs attrs;
  for (const auto& [axis, r] : *ranges) {
    attrs.axes.push_back(axis);
    attrs.starts.push_back(r.start);
    attrs.ends.push_back(r.end);
    attrs.steps.push_back(r.step);
  }
  graph.SetInput(&node, 0, x);
  node.set_attrs(std::move(attrs));
  return true;
}

Result<bool> JoinClamps(Graph& graph, Node& node) {
  if (!IsFloatClamp(&node)) return false;
  Node* const first = node.input(0)->def();
  if (!IsFloatClamp(first)) return false;
  if (BoundsOf(node).Contains(BoundsOf(*first)) && !graph.IsOutput(node.output())) {
    graph.Replace(&node, node.input(0));
    return true;
  }
  if (!BoundsOf(*first).Contains(BoundsOf(node)) || OnlyFor(graph, node.input(0)) == nullptr)
    return false;
  graph.SetInput(&node, 0, first->input(0));
  return true;
}

// Functions f with f(f(x)) = f(x), and with f(f(x)) = x.
constexpr std::string_view kIdempotent[] = {"abs", "ceil", "floor", "round", "sign"};
constexpr std::string_view kInvolutions[] = {"neg", "not"};

Result<bool> DropRepeated(Graph& graph, Node& node) {
  const bool idempotent = std::ranges::count(kIdempotent, node.op_name()) != 0;
  if (!idempotent && std::ranges::count(kInvolutions, node.op_name()) == 0) return false;
  const Node* const first = node.input(0)->def();
  if (first == nullptr || !first->Is(node.op_name()) || !(first->attrs() == node.attrs()) ||
      node.output()->type().quantized() || node.input(0)->type().quantized() ||
      first->input(0)->type().quantized() || graph.IsOutput(node.output()))
    return false;
  graph.Replace(&node, idempotent ? node.input(0) : first->input(0));
  return true;
}

// A broadcast of an operand that the operator broadcasts itself.
Result<bool> DropExpand(Graph& graph, Node& node) {
  if (node.op().change_axes != ChangeBroadcastAxes || node.outputs().size() != 1) return false;
  const Type y = node.output()->type();
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    Value* const whole = node.input(i);
    if (whole == nullptr || whole->def() == nullptr || !whole->def()->Is<ExpandAttrs>() ||
        whole->type().quantized() || y.quantized())
      continue;
    graph.SetInput(&node, i, whole->def()->input(0));
    Type open;
    open.dtype = y.dtype;
    node.output()->set_type(open);
    const Status inferred = InferNode(node);
    if (inferred && node.output()->type() == y) return true;
    graph.SetInput(&node, i, whole);
    node.output()->set_type(y);
  }
  return false;
}

// ---- Bias and padding

// The constant as one float32 number for each of the channels on `axis` of the type; nullopt if it
// is something else. Sums of products with -0 and +0 as the bias differ, and so do sums without.
std::optional<Tensor> BiasOf(const Value* v, const Type& y, int axis) {
  if (!v->is_constant() || v->dtype() != DType::kF32 || v->type().quantized()) return std::nullopt;
  const Tensor& t = v->constant();
  if (t.rank() > y.rank() || !y.dim(axis).is_const()) return std::nullopt;
  const int64_t channels = y.dim(axis).value();
  for (int i = 0; i < t.rank(); ++i)
    if (t.dim(i) != (i + y.rank() - t.rank() == axis ? channels : 1)) return std::nullopt;
  if (t.elements() != channels || channels == 0) return std::nullopt;
  for (int64_t i = 0; i < channels; ++i)
    if (t.GetDouble(i) == 0 && std::signbit(t.GetDouble(i))) return std::nullopt;
  auto vector = t.Reshaped({channels});
  return vector ? std::optional(*std::move(vector)) : std::nullopt;
}

// The axis of y along which a product without a bias may have one; nullopt for other nodes.
std::optional<int> BiasAxis(const Node& node) {
  const Type& y = node.output()->type();
  if (node.input(2) != nullptr || !y.ranked() || y.dtype != DType::kF32 || y.quantized())
    return std::nullopt;
  if (node.Is<ConvAttrs>()) return ChannelAxis(node.attrs<ConvAttrs>().layout, y.rank());
  if (node.Is<ConvTransposeAttrs>())
    return ChannelAxis(node.attrs<ConvTransposeAttrs>().layout, y.rank());
  const auto is_matrix = [](const Value* v) { return v->type().ranked() && v->type().rank() == 2; };
  if (node.Is<MatmulAttrs>() && is_matrix(node.input(0)) && is_matrix(node.input(1))) return 1;
  return std::nullopt;
}

// The addition of a constant after a product is its bias: rule 1 of the arithmetic contract.
Result<bool> AddAsBias(Graph& graph, Node& node) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    Node* const product = OnlyFor(graph, node.input(i));
    const auto axis = product == nullptr ? std::nullopt : BiasAxis(*product);
    if (!axis) continue;
    const Value* const added = node.input(1 - i);
    auto bias = BiasOf(added, product->output()->type(), *axis);
    if (!bias) continue;
    Value* const y = product->output();
    graph.SetInputs(product, {product->input(0), product->input(1),
                              graph.AddConstant(*std::move(bias), SharedString(added->name()))});
    y->set_name({});
    graph.Replace(&node, y);
    return true;
  }
  return false;
}

// A convolution pads its input itself.
Result<bool> PadInConv(Graph& graph, Node& node) {
  const Node* const pad = OnlyFor(graph, node.input(0));
  ConvAttrs a = node.attrs<ConvAttrs>();
  if (pad == nullptr || !pad->Is<PadAttrs>() || a.padding != Padding::kExplicit ||
      node.output()->dtype() != DType::kF32 || node.output()->type().quantized())
    return false;
  const auto& p = pad->attrs<PadAttrs>();
  const Type& x = pad->input(0)->type();
  if (p.mode != PadMode::kConstant || pad->input(2) != nullptr || !x.ranked() ||
      (pad->input(1) != nullptr && !HoldsOnly(pad->input(1), 0)))
    return false;
  const auto rank = static_cast<size_t>(x.rank());
  const auto spatial = static_cast<size_t>(FirstSpatialAxis(a.layout));
  if (p.pads.size() != 2 * rank || rank < 3) return false;
  if (a.pads.empty()) a.pads.assign(2 * (rank - 2), 0);
  for (size_t i = 0; i < p.pads.size(); ++i) {
    const size_t axis = i % rank;
    const bool is_spatial = axis >= spatial && axis < spatial + rank - 2;
    if (p.pads[i] < 0 || (!is_spatial && p.pads[i] != 0)) return false;
    if (is_spatial) a.pads[axis - spatial + (i < rank ? 0 : rank - 2)] += p.pads[i];
  }
  graph.SetInput(&node, 0, pad->input(0));
  node.set_attrs(std::move(a));
  return true;
}

}  // namespace

Value* IdentityOf(const Node& node) {
  if (node.outputs().size() != 1) return nullptr;
  Value* x = KeepsOrder(&node) ? node.input(0) : nullptr;
  for (const IdentityRow& row : kIdentities)
    if (node.Is(row.op)) x = row.candidate(node);
  if (IsFloatClamp(&node) && std::isinf(BoundsOf(node).min) && std::isinf(BoundsOf(node).max) &&
      BoundsOf(node).min < BoundsOf(node).max)
    x = node.input(0);
  const Type& y = node.output()->type();
  return x != nullptr && y.ranked() && x->type() == y ? x : nullptr;
}

std::span<const Rewrite> SimplifyRewrites() {
  static constexpr Rewrite kRewrites[] = {
      {"", "identity", DropIdentity},
      {"cast", "joined casts", JoinCasts},
      {"", "joined reshapes", JoinReshapes},
      {"transpose", "joined transposes", JoinTransposes},
      {"", "kept axes", KeepReducedAxes},
      {"concat", "joined parts", JoinConcats},
      {"slice", "joined slices", JoinSlices},
      {"", "joined bounds", JoinClamps},
      {"", "repeated function", DropRepeated},
      {"", "implied broadcast", DropExpand},
      {"add", "bias", AddAsBias},
      {"conv", "padding", PadInConv},
  };
  return kRewrites;
}

}  // namespace nn
