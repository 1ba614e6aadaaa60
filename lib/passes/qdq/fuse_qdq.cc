#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/int8_rules.h"
#include "ops/quant/quantized.h"
#include "ops/quant/tflite_elementwise.h"
#include "passes/core/passes.h"
#include "passes/qdq/qdq.h"
#include "passes/qdq/qdq_fit.h"

namespace nn {
namespace {

// Whether the operator has TensorFlow Lite's arithmetic for some scales.
bool HasArithmetic(const Node& node) {
  const QuantRule rule = node.op().quant_rule;
  return rule != QuantRule::kNone && rule != QuantRule::kStored;
}

// The quantized input of a dequantize to f32; null for other values.
Value* Integers(const Value* v) {
  if (v == nullptr || v->def() == nullptr || !v->def()->Is<DequantizeAttrs>()) return nullptr;
  Value* q = v->def()->input(0);
  return v->dtype() == DType::kF32 && q->type().quantized() ? q : nullptr;
}

// The single user of v; null if there are several or v is a graph output.
Node* OnlyUser(const Graph& graph, const Value* v) {
  return v->uses().size() == 1 && !graph.IsOutput(v) ? v->uses()[0].node : nullptr;
}

// The values around a node in dequantize -> node -> bounds -> quantize.
struct Cluster {
  std::vector<Value*> inputs;              // quantized inputs for the node
  std::vector<std::vector<Node*>> bounds;  // after each output
  std::vector<Node*> quantizes;            // null: the output is not a float
};

// The relative difference that biases may have from multiples of the product of the scales: their
// own scales are rounded differently.
constexpr double kBiasSlack = 1e-6;

// The i32 tensor that these real numbers are the dequantized form of; nullopt if there is none.
std::optional<Tensor> IntegersOf(const Tensor& reals, const Quant& quant) {
  if (quant.per_axis() && reals.dims() != std::vector{std::ssize(quant.scales)})
    return std::nullopt;
  auto out = TensorBuilder::Create(DType::kI32, reals.dims());
  if (!out) return std::nullopt;
  for (int64_t i = 0; i < reals.elements(); ++i) {
    const double steps =
        reals.GetDouble(i) / static_cast<double>(quant.scale(static_cast<size_t>(i)));
    const double integer = std::nearbyint(steps);
    if (!(std::fabs(integer) <= static_cast<double>(MaxInteger(DType::kI32)) &&
          std::fabs(steps - integer) <= kBiasSlack * std::fabs(integer)))
      return std::nullopt;
    out->SetInt(i, static_cast<int64_t>(integer));
  }
  return out->Finish();
}

// A constant float bias of a product as integers; null if it is none, or not multiples of the
// product of the scales.
Value* IntegerBias(Graph& graph, const Node& node) {
  if (node.op().quant_rule != QuantRule::kProduct) return nullptr;
  const Value* const bias = node.input(2);
  const Value* const x = Integers(node.input(0));
  const Value* const w = Integers(node.input(1));
  if (bias == nullptr || !bias->is_constant() || bias->dtype() != DType::kF32 || x == nullptr ||
      w == nullptr || x->type().quant->per_axis())
    return nullptr;
  auto quant = ProductQuant(x->type(), w->type());
  std::optional<Tensor> integers = IntegersOf(bias->constant(), *quant);
  if (!integers) return nullptr;
  return graph.AddConstant(*std::move(integers), bias->name(), std::move(quant));
}

std::optional<Cluster> ClusterOf(Graph& graph, const Node& node) {
  Cluster c;
  bool any = false;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    Value* const v = node.input(i);
    Value* q = Integers(v);
    if (q == nullptr && i == 2) q = IntegerBias(graph, node);
    if (q == nullptr && v != nullptr && IsFloat(v->dtype())) return std::nullopt;
    any |= q != nullptr;
    c.inputs.push_back(q != nullptr ? q : v);
  }
  if (!any) return std::nullopt;
  for (Value* v : node.outputs()) {
    c.bounds.emplace_back();
    c.quantizes.push_back(nullptr);
    if (!IsFloat(v->dtype())) continue;
    Node* user = OnlyUser(graph, v);
    for (; user != nullptr && user->op().clamp != nullptr; user = OnlyUser(graph, user->output()))
      c.bounds.back().push_back(user);
    if (user == nullptr || !user->Is<QuantizeAttrs>() || user->output()->dtype() == DType::kUnknown)
      return std::nullopt;
    c.quantizes.back() = user;
  }
  return c;
}

// Integers of 16 bits are symmetric.
bool IsActivation(const Type& t) {
  if (!t.quantized() || t.quant->per_axis()) return false;
  return t.dtype == DType::kU8 || t.dtype == DType::kI8 ||
         (t.dtype == DType::kI16 && t.quant->zero_point() == 0);
}

// Whether the bias, if present, is i32 with the product of the scales and zero point 0.
bool BiasFits(std::span<const Type* const> inputs) {
  if (inputs.size() < 3 || inputs[2] == nullptr) return true;
  const Type& b = *inputs[2];
  const Quant& x = *inputs[0]->quant;
  const Quant& w = *inputs[1]->quant;
  const size_t n = w.scales.size();
  const bool wide = b.dtype == DType::kI32;
  if (!wide || !b.quantized() || b.quant->scales.size() != n) return false;
  for (size_t i = 0; i < n; ++i) {
    const double product = static_cast<double>(x.scale()) * static_cast<double>(w.scale(i));
    if (b.quant->zero_point(i) != 0 ||
        !(std::fabs(product - static_cast<double>(b.quant->scale(i))) <= kBiasSlack * product))
      return false;
  }
  return true;
}

bool ProductFits(std::span<const Type* const> inputs, const Type& y) {
  const Type& x = *inputs[0];
  const Type& w = *inputs[1];
  if (!IsActivation(x) || !IsActivation(y) || x.dtype != y.dtype || !w.quantized()) return false;
  // Filters are u8 for u8 inputs, else i8 with zero point 0.
  if (x.dtype == DType::kU8)
    return w.dtype == DType::kU8 && !w.quant->per_axis() && BiasFits(inputs);
  const bool symmetric = !HasZeroPoints(*w.quant);
  return w.dtype == DType::kI8 && symmetric && BiasFits(inputs);
}

// Whether no element of the divisor, a float, is 0 as an integer of the type. A division by 0 fails
// in the integer arithmetic, but is an infinity or NaN, and then an integer, in that of real
// numbers.
bool IsNeverZero(const Value* divisor, const Type& type) {
  const Value* const q = Integers(divisor);
  const Value* const v = q != nullptr ? q : divisor;
  if (v == nullptr || !v->is_constant()) return false;
  const int64_t zero = type.quant->zero_point();
  for (int64_t i = 0; i < v->constant().elements(); ++i) {
    double integer = v->constant().GetDouble(i);
    if (q == nullptr)
      integer = std::clamp(std::nearbyint(integer / static_cast<double>(type.quant->scale())) +
                               static_cast<double>(zero),
                           static_cast<double>(MinInteger(type.dtype)),
                           static_cast<double>(MaxInteger(type.dtype)));
    if (!(std::fabs(integer - static_cast<double>(zero)) >= 1)) return false;
  }
  return true;
}

bool ElementwiseFits(const Node& node, std::span<const Type* const> inputs, const Type& y) {
  if (inputs.size() == 1) return TfliteUnary(node, *inputs[0], y).has_value();
  if (!inputs[0]->quantized() || !inputs[1]->quantized()) return false;
  const auto arithmetic = TfliteBinary(node, *inputs[0], *inputs[1], y);
  return arithmetic.has_value() && (!arithmetic->divides || IsNeverZero(node.input(1), *inputs[1]));
}

bool ResultFits(const Node& node, std::span<const Type* const> inputs, const Type& y) {
  if (node.op().has_quantized_form != nullptr && !node.op().has_quantized_form(node, *inputs[0], y))
    return false;
  // The specification fixes results of i8, also where the arithmetic has others.
  if (const auto fixed =
          y.dtype == DType::kI8 && y.quantized() ? FixedResultQuant(node.op()) : nullptr;
      fixed != nullptr && !SameButForRounding(*fixed, *y.quant))
    return false;
  switch (node.op().quant_rule) {
    case QuantRule::kNone:
    case QuantRule::kStored:
      return false;
    case QuantRule::kProduct:
      return ProductFits(inputs, y);
    case QuantRule::kElementwise:
      return ElementwiseFits(node, inputs, y);
    case QuantRule::kSame:
      return std::ranges::all_of(inputs, [&](const Type* x) {
        return x == nullptr || !x->quantized() ||
               (y.quantized() && x->dtype == y.dtype && x->quant->SameMapping(*y.quant));
      });
    case QuantRule::kFree:
      return IsActivation(*inputs[0]) && (!y.quantized() || IsActivation(y));
  }
  return false;
}

bool Fits(const Node& node, const Cluster& c) {
  std::vector<const Type*> inputs, outputs;
  for (const Value* v : c.inputs) inputs.push_back(v == nullptr ? nullptr : &v->type());
  for (size_t i = 0; i < c.quantizes.size(); ++i)
    outputs.push_back(
        &(c.quantizes[i] != nullptr ? c.quantizes[i]->output() : node.output(i))->type());
  return HasIntegerArithmetic(node, inputs, outputs);
}

// The arithmetic of a node on quantized types.
Arithmetic ArithmeticOf(const Node& node) {
  const auto own = node.op().quantized_arithmetic;
  return own == nullptr ? Arithmetic::kTflite : own(node);
}

// Whether inference accepts the fused node: the scales of a filter may be those of an axis that has
// none in integer arithmetic, and inputs and results may have different types.
bool Infers(Graph& graph, const Node& node, const Cluster& c) {
  Node* const added = graph.AddNode(node.op(), c.inputs, node.attrs(), node.outputs().size());
  added->set_arithmetic(node.arithmetic());
  added->set_arithmetic(ArithmeticOf(*added));
  for (size_t i = 0; i < c.quantizes.size(); ++i)
    if (c.quantizes[i] != nullptr) added->output(i)->set_type(c.quantizes[i]->output()->type());
  const auto trial = graph.InferAdded(added);
  if (trial) graph.Erase(*trial);
  return trial.has_value();
}

Status Fuse(Graph& graph, Node& node, const Cluster& c) {
  graph.SetInputs(&node, c.inputs);
  node.set_arithmetic(ArithmeticOf(node));
  for (size_t i = 0; i < c.quantizes.size(); ++i) {
    if (c.quantizes[i] == nullptr) continue;
    Value* result = c.quantizes[i]->output();
    Type type = result->type();
    node.output(i)->set_type(type);
    for (Node* bound : c.bounds[i]) {
      bound->set_arithmetic(Arithmetic::kTflite);
      bound->output()->set_type(type);
    }
    Value* last = c.bounds[i].empty() ? node.output(i) : c.bounds[i].back()->output();
    last->set_name(result->name());
    graph.ReplaceUses(result, last);
    graph.Erase(c.quantizes[i]);
  }
  NN_RETURN_IF_ERROR(InferNode(node));
  for (const auto& bounds : c.bounds)
    for (Node* bound : bounds) NN_RETURN_IF_ERROR(InferNode(*bound));
  return {};
}

// dequantize -> quantize: a no-op, or a requantization, which is a single operator in TensorFlow
// Lite.
Status FuseRequantize(Graph& graph, Node& node) {
  Value* q = Integers(node.input(0));
  const Type& to = node.output()->type();
  if (q != nullptr && to.quantized() && q->dtype() == to.dtype &&
      q->type().quant->SameMapping(*to.quant)) {
    graph.ReplaceUses(node.output(), q);
    return {};
  }
  if (q == nullptr || !IsActivation(q->type()) || !IsActivation(to) ||
      (q->dtype() == DType::kI16 && to.dtype == DType::kU8))
    return {};
  graph.SetInput(&node, 0, q);
  node.set_arithmetic(Arithmetic::kTflite);
  return InferNode(node);
}

// ---- Operators that move elements ---------------------------------------------------------------

// dequantize -> move becomes move -> dequantize, so that the following operators have dequantize as
// inputs.
Status MoveBeforeDequantize(Graph& graph, Node& node) {
  Value* q = Integers(node.input(0));
  if (q == nullptr || (q->type().quant->per_axis() && node.op().movement != Movement::kPermuted))
    return {};
  Value* y = node.output();
  const Attrs attrs = node.input(0)->def()->attrs();
  graph.SetInput(&node, 0, q);
  y->set_type(Type());
  NN_RETURN_IF_ERROR(InferNode(node));
  const std::vector<Use> uses(y->uses().begin(), y->uses().end());
  const bool is_output = graph.IsOutput(y);
  NN_ASSIGN(Node* const d, graph.Append("dequantize", {y}, attrs, 1, graph.After(y)));
  for (const Use& use : uses) graph.SetInput(use.node, static_cast<size_t>(use.index), d->output());
  if (!is_output) return {};
  for (size_t i = 0; i < graph.outputs().size(); ++i)
    if (graph.outputs()[i].value == y) graph.set_output(i, d->output());
  return {};
}

// move -> quantize becomes quantize -> move.
Status MoveBehindQuantize(Graph& graph, Node& node) {
  Value* x = node.input(0);
  Node* quantize = OnlyUser(graph, node.output());
  if (quantize == nullptr || !quantize->Is<QuantizeAttrs>() || x->is_constant() ||
      !IsFloat(x->dtype()) || !IsActivation(quantize->output()->type()))
    return {};
  const Type to = quantize->output()->type();
  Node* before = graph.AddNode(quantize->op(), {x}, quantize->attrs(), 1, &node);
  before->output()->set_type(Type(to.dtype, *x->type().dims, to.quant));
  NN_RETURN_IF_ERROR(InferNode(*before));
  graph.SetInput(&node, 0, before->output());
  node.output()->set_type(to);
  node.output()->set_name(quantize->output()->name());
  graph.ReplaceUses(quantize->output(), node.output());
  graph.Erase(quantize);
  return InferNode(node);
}

Status MoveMoves(Graph& graph) {
  for (Node& node : graph.nodes())
    if (node.op().movement != Movement::kNone)
      NN_RETURN_IF_ERROR(MoveBeforeDequantize(graph, node));
  for (auto it = graph.nodes().end(); it != graph.nodes().begin();) {
    Node& node = *--it;
    if (node.op().movement != Movement::kNone) NN_RETURN_IF_ERROR(MoveBehindQuantize(graph, node));
  }
  return {};
}

}  // namespace

bool HasIntegerArithmetic(const Node& node, std::span<const Type* const> inputs,
                          std::span<const Type* const> outputs) {
  return !inputs.empty() && inputs[0] != nullptr &&
         std::ranges::all_of(outputs, [&](const Type* y) { return ResultFits(node, inputs, *y); });
}

Status FuseQdq(Graph& graph) {
  NN_RETURN_IF_ERROR(MoveMoves(graph));
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node& node = *it;
    if (node.Is<QuantizeAttrs>()) {
      ++it;
      NN_RETURN_IF_ERROR(FuseRequantize(graph, node));
      continue;
    }
    if (HasArithmetic(node))
      if (const auto cluster = ClusterOf(graph, node);
          cluster && Fits(node, *cluster) && Infers(graph, node, *cluster))
        NN_RETURN_IF_ERROR(Fuse(graph, node, *cluster));
    ++it;
  }
  return RemoveDeadCode(graph);
}

}  // namespace nn
