#include "passes/idioms/recurrent_cell.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "ir/op_def.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/movement.h"

namespace nn {
namespace {

using Pair = std::pair<Value*, Value*>;

bool IsNear(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::abs(b);
}

// The node of this operator that computes all rows of a value; null if there is none.
const Node* NodeOf(Value* v, std::string_view op, NodeSet& nodes) {
  const RowView view = ViewOf(v, nodes);
  const Node* const node = view.value->def();
  if (view.axis != RowView::kAllRows || node == nullptr || !node->Is(op)) return nullptr;
  nodes.insert(node);
  return node;
}

// An operand of an elementwise node that is as large as the result, or a zero state.
bool IsWhole(const Node& node, const Value* operand) {
  return SameElements(operand, node.output()) || IsZeroState(operand);
}

// The operands of a node of this operator, in both orders; none if it is another one.
std::vector<Pair> OperandsOf(Value* v, std::string_view op, NodeSet& nodes) {
  const Node* const node = NodeOf(v, op, nodes);
  if (node == nullptr) return {};
  Value *const a = node->input(0), *const b = node->input(1);
  if (!IsWhole(*node, a) || !IsWhole(*node, b)) return {};
  return {{a, b}, {b, a}};
}

bool SameValue(Value* a, Value* b, NodeSet& nodes) {
  return a == b || ViewOf(a, nodes).SameRows(ViewOf(b, nodes));
}

// v in 1 - v; null if the value is not such a difference.
Value* OperandOfComplement(Value* v, NodeSet& nodes) {
  const Node* const node = NodeOf(v, "sub", nodes);
  if (node == nullptr || NumberIn(node->input(0)) != 1.0) return nullptr;
  return node->input(1);
}

// ---- Functions ----------------------------------------------------------------------------------

struct Clipped {
  ColumnView x;
  double min, max;
};

// A clip, or a minimum and a maximum with numbers.
std::optional<Clipped> ClippedIn(const ColumnView& view, NodeSet& nodes) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Clipped out{view, -kInfinity, kInfinity};
  bool any = false;
  for (int level = 0; level < 2; ++level) {
    out.x.rows = ViewOf(out.x.rows.value, nodes);
    const Node* const node = out.x.rows.value->def();
    if (node == nullptr || out.x.rows.axis != RowView::kAllRows) break;
    if (node->Is<ClipAttrs>() && !any) {
      const auto& a = node->attrs<ClipAttrs>();
      nodes.insert(node);
      return Clipped{Through(out.x, node->input(0)), a.min, a.max};
    }
    const bool is_upper = node->Is("minimum");
    double& bound = is_upper ? out.max : out.min;
    if ((!is_upper && !node->Is("maximum")) || std::isfinite(bound)) break;
    const size_t number_at = NumberIn(node->input(1)) ? 1 : 0;
    const auto number = NumberIn(node->input(number_at));
    if (!number) break;
    bound = *number;
    nodes.insert(node);
    out.x = Through(out.x, node->input(1 - number_at));
    any = true;
  }
  if (!any || !(out.min <= out.max)) return std::nullopt;
  return out;
}

// Takes a x + b apart into the numbers and x.
struct Line {
  double a = 1, b = 0;
  ColumnView x;
};
Line LineIn(ColumnView view, NodeSet& nodes) {
  Line out{1, 0, std::move(view)};
  const auto step = [&](std::string_view op) -> std::optional<double> {
    const RowView rows = ViewOf(out.x.rows.value, nodes);
    const Node* const node = rows.value->def();
    if (node == nullptr || rows.axis != RowView::kAllRows || !node->Is(op)) return std::nullopt;
    const bool ordered = op == "sub" || op == "div";
    const size_t number_at = ordered || NumberIn(node->input(1)) ? 1 : 0;
    const auto number = NumberIn(node->input(number_at));
    if (!number) return std::nullopt;
    nodes.insert(node);
    out.x = Through(out.x, node->input(1 - number_at));
    return number;
  };
  if (const auto b = step("add"))
    out.b = *b;
  else if (const auto subtracted = step("sub"))
    out.b = -*subtracted;
  if (const auto a = step("mul"))
    out.a = *a;
  else if (const auto divisor = step("div"))
    out.a = 1 / *divisor;
  return out;
}

// max(0, min(1, alpha x + beta)), or a multiple of such a clip, as relu6(x + 3) / 6.
std::optional<CellFunction> HardSigmoidIn(const ColumnView& view, NodeSet& nodes) {
  const Line outer = LineIn(view, nodes);
  if (outer.b != 0) return std::nullopt;
  const auto clipped = ClippedIn(outer.x, nodes);
  if (!clipped || clipped->min != 0 || !IsNear(outer.a * clipped->max, 1)) return std::nullopt;
  const Line inner = LineIn(clipped->x, nodes);
  return CellFunction{.activation = RecurrentActivation::kHardSigmoid,
                      .alpha = static_cast<float>(outer.a * inner.a),
                      .beta = static_cast<float>(outer.a * inner.b),
                      .argument = inner.x};
}

// alpha tanh(beta x)
std::optional<CellFunction> ScaledTanhIn(const ColumnView& view, NodeSet& nodes) {
  const Line outer = LineIn(view, nodes);
  const RowView rows = ViewOf(outer.x.rows.value, nodes);
  const Node* const node = rows.value->def();
  if (outer.b != 0 || outer.a == 1 || node == nullptr || rows.axis != RowView::kAllRows ||
      !node->Is("tanh"))
    return std::nullopt;
  nodes.insert(node);
  const Line inner = LineIn(Through(outer.x, node->input(0)), nodes);
  if (inner.b != 0) return std::nullopt;
  return CellFunction{.activation = RecurrentActivation::kScaledTanh,
                      .alpha = static_cast<float>(outer.a),
                      .beta = static_cast<float>(inner.a),
                      .argument = inner.x};
}

// The activation function that computes a value; nullopt if none is recognized. A clip before it is
// a part of it if it `may_clip`.
std::optional<CellFunction> ActivationIn(Value* v, NodeSet& nodes, bool may_clip = true) {
  ColumnView view = ColumnsOf(v, nodes);
  const Node* const node = view.rows.value->def();
  if (node == nullptr || view.rows.axis != RowView::kAllRows) return std::nullopt;
  std::optional<CellFunction> out;
  // The operators have the names of the functions.
  if (const auto activation = ParseEnum<RecurrentActivation>(node->op_name())) {
    const FunctionParams params = ParamsOf(*node);
    out = CellFunction{*activation, params[0], params[1]};
    out->argument = Through(view, node->input(0));
    nodes.insert(node);
  } else {
    out = HardSigmoidIn(view, nodes);
    if (!out) out = ScaledTanhIn(view, nodes);
  }
  if (!out || !may_clip) return out;
  if (const auto clipped = ClippedIn(out->argument, nodes);
      clipped && clipped->max == -clipped->min && std::isfinite(clipped->max)) {
    out->clip = static_cast<float>(clipped->max);
    out->argument = clipped->x;
  }
  return out;
}

// The same; a value without an activation is the identity.
CellFunction FunctionIn(Value* v, NodeSet& nodes, bool may_clip = true) {
  if (auto out = ActivationIn(v, nodes, may_clip)) return *out;
  return {.alpha = 1, .argument = ColumnsOf(v, nodes)};
}

// A gate: the function of a form that has products.
struct Gate {
  CellFunction function;
  LinearForm form;
};

std::optional<Gate> GateOf(CellFunction function, NodeSet& nodes) {
  auto form = LinearFormOf(function.argument, nodes);
  if (!form || form->products.empty()) return std::nullopt;
  return Gate{std::move(function), *std::move(form)};
}

// A gate with values between 0 and 1.
std::optional<Gate> GateIn(Value* v, NodeSet& nodes) {
  auto function = ActivationIn(v, nodes);
  return function ? GateOf(*std::move(function), nodes) : std::nullopt;
}

std::optional<Gate> CandidateIn(Value* v, NodeSet& nodes) {
  return GateOf(FunctionIn(v, nodes), nodes);
}

bool IsSum(const LinearForm& form) {
  return form.others.empty() && form.scaled.empty();
}

// ---- LSTM ---------------------------------------------------------------------------------------

// The cell state after an output function: its value and that of the sum.
struct CellState {
  CellFunction output;
  Value* c = nullptr;
  Value* sum = nullptr;
  float clip = std::numeric_limits<float>::infinity();
};

// A first clip after the sum is that of all functions, if they have one.
CellState CellStateIn(Value* shown, bool functions_clip, NodeSet& nodes) {
  CellState out;
  out.output = FunctionIn(shown, nodes, functions_clip);
  Value* c = ViewOf(out.output.argument.rows.value, nodes).value;
  out.c = c;
  out.sum = c;
  const auto clipped = ClippedIn(ColumnsOf(c, nodes), nodes);
  if (clipped && clipped->max == -clipped->min && std::isfinite(clipped->max)) {
    out.clip = static_cast<float>(clipped->max);
    out.sum = ViewOf(clipped->x.rows.value, nodes).value;
  }
  return out;
}

// The parts of f c + i n; f and c are null in the first step from zero.
struct CellSum {
  Value *f = nullptr, *c = nullptr, *i = nullptr, *n = nullptr;
};

std::vector<CellSum> CellSumsOf(Value* sum, NodeSet& nodes) {
  std::vector<CellSum> out;
  for (const auto& [kept, added] : OperandsOf(sum, "add", nodes))
    for (const auto& [f, c] : OperandsOf(kept, "mul", nodes))
      for (const auto& [i, n] : OperandsOf(added, "mul", nodes)) out.push_back({f, c, i, n});
  for (const auto& [i, n] : OperandsOf(sum, "mul", nodes)) out.push_back({.i = i, .n = n});
  return out;
}

// Whether the products with single elements are those of the state, as peepholes are.
bool HasOnlyPeepholes(const LinearForm& form, Value* state, NodeSet& nodes) {
  if (!form.others.empty()) return false;
  return std::ranges::all_of(form.scaled, [&](const LinearForm::Scaled& s) {
    return state != nullptr && s.x.SameRows(ViewOf(state, nodes));
  });
}

std::optional<RecurrentCell> LstmOf(const Gate& o, const CellState& state, const CellSum& sum) {
  RecurrentCell cell;
  cell.kind = CellKind::kLstm;
  NodeSet& nodes = cell.nodes;
  const auto i = GateIn(sum.i, nodes);
  if (!i || !i->function.SameFunction(o.function)) return std::nullopt;
  const auto n = CandidateIn(sum.n, nodes);
  if (!n || !IsSum(n->form) || n->function.clip != o.function.clip) return std::nullopt;
  std::optional<Gate> f;
  if (sum.f != nullptr) {
    Value* const kept = OperandOfComplement(sum.f, nodes);
    cell.input_forget = kept != nullptr && SameValue(kept, sum.i, nodes);
    f = cell.input_forget ? Gate() : GateIn(sum.f, nodes);
    if (!f || (!cell.input_forget && !f->function.SameFunction(o.function))) return std::nullopt;
  }
  if (!HasOnlyPeepholes(i->form, sum.c, nodes) || !HasOnlyPeepholes(o.form, state.c, nodes) ||
      (f && !HasOnlyPeepholes(f->form, sum.c, nodes)))
    return std::nullopt;
  CellFunction output = state.output;
  output.argument = {};
  cell.functions = {o.function, n->function, output};
  cell.gates = {i->form, o.form, f ? f->form : LinearForm(), n->form};
  cell.c = state.c;
  cell.cell_clip = state.clip;
  cell.old_c = sum.c;
  return cell;
}

void AddLstms(Value* h, std::vector<RecurrentCell>& out) {
  NodeSet nodes;
  for (const auto& [gate, shown] : OperandsOf(h, "mul", nodes)) {
    const auto o = GateIn(gate, nodes);
    if (!o) continue;
    const CellState state = CellStateIn(shown, std::isfinite(o->function.clip), nodes);
    if (state.output.clip != o->function.clip || !SameElements(state.c, h)) continue;
    for (const CellSum& sum : CellSumsOf(state.sum, nodes)) {
      auto cell = LstmOf(*o, state, sum);
      if (!cell) continue;
      cell->h = h;
      cell->nodes.insert(nodes.begin(), nodes.end());
      out.push_back(*std::move(cell));
    }
  }
}

// ---- GRU ----------------------------------------------------------------------------------------

// The parts of z kept + (1 - z) fresh; kept is null in the first step from zero.
struct Blend {
  Value *z = nullptr, *kept = nullptr, *fresh = nullptr;
};

// x and 1 - z, or z, in their product.
std::vector<Blend> BlendsOfProduct(Value* v, NodeSet& nodes) {
  std::vector<Blend> out;
  for (const auto& [gate, fresh] : OperandsOf(v, "mul", nodes))
    if (Value* const z = OperandOfComplement(gate, nodes)) out.push_back({z, nullptr, fresh});
  return out;
}

// Forms of z kept + (1 - z) fresh.
std::vector<Blend> BlendsOf(Value* h, NodeSet& nodes) {
  std::vector<Blend> out = BlendsOfProduct(h, nodes);
  for (const auto& [p, q] : OperandsOf(h, "add", nodes)) {
    for (const auto& [z, kept] : OperandsOf(p, "mul", nodes)) {
      for (const Blend& rest : BlendsOfProduct(q, nodes))
        if (SameValue(rest.z, z, nodes)) out.push_back({z, kept, rest.fresh});
      // z kept + (fresh - z fresh)
      const Node* const rest = NodeOf(q, "sub", nodes);
      if (rest == nullptr) continue;
      for (const auto& [factor, fresh] : OperandsOf(rest->input(1), "mul", nodes))
        if (SameValue(factor, z, nodes) && SameValue(fresh, rest->input(0), nodes))
          out.push_back({z, kept, fresh});
    }
    // fresh + z (kept - fresh)
    for (const auto& [z, difference] : OperandsOf(q, "mul", nodes)) {
      const Node* const node = NodeOf(difference, "sub", nodes);
      if (node != nullptr && SameValue(node->input(1), p, nodes))
        out.push_back({z, node->input(0), p});
    }
  }
  // kept - z (kept - fresh), where z is the rest
  if (const Node* const sub = NodeOf(h, "sub", nodes))
    for (const auto& [z, difference] : OperandsOf(sub->input(1), "mul", nodes)) {
      const Node* const node = NodeOf(difference, "sub", nodes);
      if (node != nullptr && SameValue(node->input(0), sub->input(0), nodes))
        out.push_back({z, node->input(1), sub->input(0)});
    }
  return out;
}

// Whether f(-x) = 1 - f(x).
bool IsSymmetric(const CellFunction& f) {
  return f.activation == RecurrentActivation::kSigmoid ||
         (f.activation == RecurrentActivation::kHardSigmoid && f.beta == 0.5F);
}

// Takes the reset gate out of the argument of the candidate. False if that is not the sum of a
// gru's step from old_h, which is null if it is zero.
class ResetGate {
 public:
  ResetGate(RecurrentCell& cell, const CellFunction& z) : cell_(cell), z_(z) {}

  bool TakeOut(LinearForm& form) {
    if (form.others.size() + form.scaled.size() > 1) return false;
    for (LinearForm::Product& product : form.products)
      if (!TakeOutOf(product)) return false;
    if (!form.others.empty()) {
      const LinearForm::Other other = form.others[0];
      form.others.clear();
      return TakeOutOf(other);
    }
    if (!form.scaled.empty()) {
      // The product with a zero state has been folded, and its bias remains.
      const LinearForm::Scaled scaled = form.scaled[0];
      form.scaled.clear();
      if (!SetReset(scaled.x.value, true)) return false;
      cell_.gated.columns = form.columns;
      cell_.gated.bias = {scaled.vector};
    }
    return true;
  }

 private:
  bool SetReset(Value* v, bool linear) {
    if (cell_.linear_before_reset) return cell_.linear_before_reset == linear && !linear;
    auto gate = GateIn(v, cell_.nodes);
    if (!gate || !IsSum(gate->form) || !gate->function.SameFunction(z_)) return false;
    cell_.gates[1] = gate->form;
    cell_.linear_before_reset = linear;
    return true;
  }

  // (r h) R
  bool TakeOutOf(LinearForm::Product& product) {
    if (product.x.axis != RowView::kAllRows || cell_.old_h == nullptr) return true;
    for (const auto& [r, h] : OperandsOf(product.x.value, "mul", cell_.nodes)) {
      const RowView old = ViewOf(cell_.old_h, cell_.nodes);
      if (!ViewOf(h, cell_.nodes).SameRows(old) || !SetReset(r, false)) continue;
      product.x = old;
      return true;
    }
    return true;
  }

  // r (h R + b)
  bool TakeOutOf(const LinearForm::Other& other) {
    if (other.factor != 1 || other.x.first != 0) return false;
    for (const auto& [r, v] : OperandsOf(other.x.rows.value, "mul", cell_.nodes)) {
      auto form = LinearFormOf(ColumnsOf(v, cell_.nodes), cell_.nodes);
      if (!form || form->products.empty() || !IsSum(*form) || !SetReset(r, true)) continue;
      cell_.gated = *std::move(form);
      return true;
    }
    return false;
  }

  RecurrentCell& cell_;
  const CellFunction& z_;
};

std::optional<RecurrentCell> GruOf(const Blend& blend, bool is_inverted) {
  RecurrentCell cell;
  cell.kind = CellKind::kGru;
  NodeSet& nodes = cell.nodes;
  auto z = GateIn(blend.z, nodes);
  Value* const fresh = is_inverted ? blend.kept : blend.fresh;
  if (!z || !IsSum(z->form) || fresh == nullptr) return std::nullopt;
  if (is_inverted) {
    if (!IsSymmetric(z->function)) return std::nullopt;
    z->form.Scale(-1);
  }
  auto n = CandidateIn(fresh, nodes);
  if (!n || n->function.clip != z->function.clip) return std::nullopt;
  cell.old_h = is_inverted ? blend.fresh : blend.kept;
  cell.gates = {z->form, LinearForm(), LinearForm()};
  if (!ResetGate(cell, z->function).TakeOut(n->form)) return std::nullopt;
  cell.gates[2] = n->form;
  cell.functions = {z->function, n->function};
  return cell;
}

void AddGrus(Value* h, std::vector<RecurrentCell>& out) {
  NodeSet nodes;
  for (const Blend& blend : BlendsOf(h, nodes))
    for (const bool is_inverted : {false, true}) {
      auto cell = GruOf(blend, is_inverted);
      if (!cell) continue;
      cell->h = h;
      cell->nodes.insert(nodes.begin(), nodes.end());
      out.push_back(*std::move(cell));
    }
}

// ---- RNN ----------------------------------------------------------------------------------------

void AddRnn(Value* h, std::vector<RecurrentCell>& out) {
  RecurrentCell cell;
  cell.h = h;
  const auto gate = CandidateIn(h, cell.nodes);
  if (!gate || !IsSum(gate->form)) return;
  cell.functions = {gate->function};
  cell.gates = {gate->form};
  out.push_back(std::move(cell));
}

}  // namespace

std::vector<RecurrentCell> CellsAt(const Node& node) {
  std::vector<RecurrentCell> out;
  if (node.outputs().size() != 1) return out;
  Value* const h = node.output();
  if (h->dtype() != DType::kF32 || h->type().quantized() || !h->type().ranked() ||
      h->type().rank() == 0 || !h->type().dims->back().is_const())
    return out;
  // Moved elements are those of another node.
  if (node.op().movement != Movement::kNone) return out;
  const bool is_product = node.Is("mul");
  if (is_product) AddLstms(h, out);
  if (is_product || node.Is("add") || node.Is("sub")) AddGrus(h, out);
  if (node.op().category == Category::kActivation || node.op().category == Category::kArithmetic)
    AddRnn(h, out);
  return out;
}

bool IsZeroState(const Value* v) {
  while (v != nullptr && !v->is_constant()) {
    const Node* const node = v->def();
    if (node == nullptr || node->inputs().empty()) return false;
    if (node->op().movement == Movement::kNone && !node->Is<ExpandAttrs>() &&
        !node->Is<TileAttrs>() && !node->Is<SliceAttrs>())
      return false;
    v = node->input(0);
  }
  return v != nullptr && IsZeros(*v);
}

}  // namespace nn
