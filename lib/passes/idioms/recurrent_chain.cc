#include "passes/idioms/recurrent_chain.h"

#include <algorithm>
#include <map>
#include <utility>

namespace nn {
namespace {

constexpr size_t kNoStep = static_cast<size_t>(-1);

// What the products of a cell are with: inputs of the chain, and the old h.
struct Roles {
  std::vector<RowView> x;
  RowView h;

  static constexpr int kState = -1, kUnknown = -2;
  int RoleOf(const RowView& view) const {
    if (view.SameRows(h)) return kState;
    for (size_t i = 0; i < x.size(); ++i)
      if (view.SameRows(x[i])) return static_cast<int>(i);
    return kUnknown;
  }
};

// A cell, with what its predecessors in a chain tell about it.
struct Link {
  RecurrentCell cell;
  size_t previous = kNoStep;
  bool has_next = false;
  std::optional<Roles> roles = {};  // once it is in a chain
  int64_t direction = 0;            // of the indices of x
};

// The views that the products of a cell are with, in order of appearance.
std::vector<RowView> OperandsIn(const RecurrentCell& cell) {
  std::vector<RowView> out;
  const auto add = [&](const LinearForm& form) {
    for (const LinearForm::Product& p : form.products)
      if (std::ranges::none_of(out, [&](const RowView& v) { return v.SameRows(p.x); }))
        out.push_back(p.x);
  };
  for (const LinearForm& form : cell.gates) add(form);
  add(cell.gated);
  return out;
}

CellWeights WeightsIn(const LinearForm& form, const Roles& roles, const Value* h) {
  const auto units = static_cast<size_t>(form.columns);
  CellWeights out;
  const auto resize = [&](std::vector<double>& m, int64_t rows) {
    m.resize(units * static_cast<size_t>(rows));
  };
  std::vector<std::vector<double>> w(roles.x.size());
  std::vector<double> r, bias(units), peephole;
  resize(r, h->type().dims->back().value());
  for (const LinearForm::Product& p : form.products) {
    const int role = roles.RoleOf(p.x);
    std::vector<double>& m = role == Roles::kState ? r : w[static_cast<size_t>(role)];
    resize(m, p.rows);
    for (size_t u = 0; u < units; ++u)
      for (int64_t k = 0; k < p.rows; ++k)
        m[u * static_cast<size_t>(p.rows) + static_cast<size_t>(k)] +=
            p.at(k, static_cast<int64_t>(u));
  }
  if (!form.scaled.empty()) peephole.resize(units);
  for (size_t u = 0; u < units; ++u) {
    for (const VectorPart& b : form.bias) bias[u] += b.at(static_cast<int64_t>(u));
    for (const LinearForm::Scaled& s : form.scaled)
      peephole[u] += s.vector.at(static_cast<int64_t>(u));
  }
  const auto floats = [](const std::vector<double>& v) {
    return std::vector<float>(v.begin(), v.end());
  };
  for (const auto& m : w) out.w.push_back(floats(m));
  out.r = floats(r);
  out.bias = floats(bias);
  out.peephole = floats(peephole);
  return out;
}

// Compares the weights of two steps, of which the first may be the first of the layer.
class Comparison {
 public:
  Comparison(const RecurrentCell& a, const Roles& of_a, const RecurrentCell& b, const Roles& of_b)
      : a_(a), b_(b), of_a_(of_a), of_b_(of_b) {}

  bool Equal() const {
    if (a_.functions.size() != b_.functions.size() || a_.cell_clip != b_.cell_clip) return false;
    for (size_t i = 0; i < a_.functions.size(); ++i)
      if (!a_.functions[i].SameFunction(b_.functions[i])) return false;
    if (a_.old_c != nullptr && a_.input_forget != b_.input_forget) return false;
    for (size_t g = 0; g < a_.gates.size(); ++g)
      if (!SameForm(a_.gates[g], b_.gates[g])) return false;
    return a_.kind != CellKind::kGru || SameReset();
  }

 private:
  // Products with a zero state may lack.
  bool FromZero() const { return of_a_.h.value == nullptr || IsZeroState(of_a_.h.value); }

  bool SameReset() const {
    if (!b_.linear_before_reset) return false;
    if (a_.linear_before_reset)
      return a_.linear_before_reset == b_.linear_before_reset && SameForm(a_.gated, b_.gated);
    // Without a reset gate, what it multiplies is zero.
    if (!FromZero()) return false;
    const auto bias = WeightsIn(b_.gated, of_b_, b_.h).bias;
    return std::ranges::all_of(bias, [](float v) { return v == 0; });
  }

  // The same terms in the same order.
  bool SameTerms(const LinearForm& a, const LinearForm& b) const {
    if (a.products.size() != b.products.size() || a.scaled.size() != b.scaled.size() ||
        a.bias != b.bias)
      return false;
    for (size_t i = 0; i < a.products.size(); ++i)
      if (!a.products[i].SameWeights(b.products[i]) ||
          of_a_.RoleOf(a.products[i].x) != of_b_.RoleOf(b.products[i].x))
        return false;
    for (size_t i = 0; i < a.scaled.size(); ++i)
      if (!(a.scaled[i].vector == b.scaled[i].vector)) return false;
    return true;
  }

  bool SameForm(const LinearForm& a, const LinearForm& b) const {
    // Parts that a first step from zero lacks.
    if (a.columns == 0 && FromZero()) return true;
    if (a.columns != b.columns) return false;
    if (SameTerms(a, b)) return true;
    const CellWeights x = WeightsIn(a, of_a_, a_.h), y = WeightsIn(b, of_b_, b_.h);
    const bool no_peephole = a.scaled.empty() && (a_.old_c == nullptr || IsZeroState(a_.old_c));
    return x.w == y.w && x.bias == y.bias && (FromZero() || x.r == y.r) &&
           (no_peephole || x.peephole == y.peephole);
  }

  const RecurrentCell &a_, &b_;
  const Roles &of_a_, &of_b_;
};

bool IsRowsOf(const RowView& view, const Value* v) {
  return view.value == v && view.axis == RowView::kAllRows;
}

// The view at another index of the same axis.
RowView Moved(RowView view, int64_t by) {
  view.index += by;
  return view;
}

// The roles in a cell after a cell with this h; nullopt if it has no input.
std::optional<Roles> RolesBehind(const RecurrentCell& cell, const Value* h) {
  Roles out;
  for (const RowView& view : OperandsIn(cell)) {
    if (IsRowsOf(view, h))
      out.h = view;
    else if (view.axis != RowView::kAllRows)
      out.x.push_back(view);
    else
      return std::nullopt;
  }
  for (const LinearForm::Product& p : cell.gated.products)
    if (!p.x.SameRows(out.h)) return std::nullopt;
  if (out.h.value == nullptr || out.x.empty()) return std::nullopt;
  return out;
}

// The roles in the first cell of a chain, whose inputs are at these views.
std::optional<Roles> RolesOfFirst(const RecurrentCell& cell, std::vector<RowView> x) {
  Roles out{std::move(x), {}};
  for (const RowView& view : OperandsIn(cell)) {
    if (out.RoleOf(view) != Roles::kUnknown) continue;
    if (out.h.value != nullptr) return std::nullopt;
    out.h = view;
  }
  for (const LinearForm::Product& p : cell.gated.products)
    if (!p.x.SameRows(out.h)) return std::nullopt;
  if (cell.kind == CellKind::kGru && cell.old_h != nullptr) {
    NodeSet nodes;
    if (out.h.value == nullptr) return IsZeroState(cell.old_h) ? std::optional(out) : std::nullopt;
    if (!out.h.SameRows(ViewOf(cell.old_h, nodes))) return std::nullopt;
  }
  if (cell.kind == CellKind::kGru && cell.old_h == nullptr && out.h.value != nullptr)
    return std::nullopt;
  return out;
}

class ChainFinder {
 public:
  explicit ChainFinder(const Graph& graph) {
    for (const Node& node : graph.nodes())
      for (RecurrentCell& cell : CellsAt(node)) {
        by_h_[cell.h].push_back(links_.size());
        if (cell.c != nullptr) by_c_[cell.c].push_back(links_.size());
        links_.push_back({.cell = std::move(cell)});
      }
  }

  std::vector<RecurrentChain> Find() {
    for (size_t b = 0; b < links_.size(); ++b) {
      if (IsDecided(b)) continue;
      for (const size_t a : Predecessors(links_[b].cell))
        if (Join(a, b)) break;
    }
    std::vector<RecurrentChain> out;
    for (size_t last = 0; last < links_.size(); ++last)
      if (links_[last].previous != kNoStep && !links_[last].has_next) out.push_back(ChainTo(last));
    return out;
  }

 private:
  // Whether another reading of the same node is in a chain.
  bool IsDecided(size_t b) const {
    return std::ranges::any_of(by_h_.at(links_[b].cell.h),
                               [&](size_t i) { return i != b && links_[i].roles.has_value(); });
  }

  std::vector<size_t> Predecessors(const RecurrentCell& cell) const {
    NodeSet nodes;
    std::vector<size_t> out;
    const auto add = [&](const std::map<const Value*, std::vector<size_t>>& cells, const Value* v) {
      const auto it = cells.find(v);
      if (it == cells.end()) return;
      for (const size_t i : it->second)
        if (links_[i].cell.kind == cell.kind) out.push_back(i);
    };
    if (cell.kind == CellKind::kRnn) {
      for (const RowView& view : OperandsIn(cell))
        if (view.axis == RowView::kAllRows) add(by_h_, view.value);
      return out;
    }
    Value* const state = cell.kind == CellKind::kLstm ? cell.old_c : cell.old_h;
    if (state == nullptr) return out;
    const RowView view = ViewOf(state, nodes);
    if (view.axis == RowView::kAllRows)
      add(cell.kind == CellKind::kLstm ? by_c_ : by_h_, view.value);
    return out;
  }

  bool Join(size_t a, size_t b) {
    Link &from = links_[a], &to = links_[b];
    if (a == b || from.has_next) return false;
    const auto roles = RolesBehind(to.cell, from.cell.h);
    if (!roles) return false;
    if (!from.roles && !IsDecided(a)) {
      for (const int64_t direction : {1, -1})
        if (Start(from, to, *roles, direction)) return true;
      return false;
    }
    if (!from.roles || from.roles->x.size() != roles->x.size()) return false;
    for (size_t i = 0; i < roles->x.size(); ++i)
      if (!roles->x[i].SameRows(Moved(from.roles->x[i], from.direction))) return false;
    if (!Comparison(from.cell, *from.roles, to.cell, *roles).Equal()) return false;
    Connect(from, to, *roles, from.direction);
    return true;
  }

  // Joins the first two cells of a chain.
  bool Start(Link& from, Link& to, const Roles& roles, int64_t direction) {
    std::vector<RowView> x;
    for (const RowView& view : roles.x) x.push_back(Moved(view, -direction));
    const auto first = RolesOfFirst(from.cell, std::move(x));
    if (!first || !Comparison(from.cell, *first, to.cell, roles).Equal()) return false;
    from.roles = first;
    Connect(from, to, roles, direction);
    return true;
  }

  void Connect(Link& from, Link& to, const Roles& roles, int64_t direction) {
    to.roles = roles;
    from.direction = to.direction = direction;
    from.has_next = true;
    to.previous = static_cast<size_t>(&from - links_.data());
  }

  RecurrentChain ChainTo(size_t last) {
    RecurrentChain out;
    std::vector<size_t> steps;
    for (size_t i = last; i != kNoStep; i = links_[i].previous) steps.push_back(i);
    std::ranges::reverse(steps);
    const Link& first = links_[steps[0]];
    out.x = first.roles->x;
    out.old_h = first.roles->h;
    out.is_reverse = first.direction < 0;
    if (out.old_h.value != nullptr && IsZeroState(out.old_h.value)) out.old_h = {};
    for (const size_t i : steps) out.cells.push_back(std::move(links_[i].cell));
    return out;
  }

  std::vector<Link> links_;
  std::map<const Value*, std::vector<size_t>> by_h_, by_c_;
};

}  // namespace

std::vector<RowView> RecurrentChain::InputsAt(size_t step) const {
  std::vector<RowView> out;
  for (const RowView& view : x)
    out.push_back(Moved(view, static_cast<int64_t>(step) * (is_reverse ? -1 : 1)));
  return out;
}

std::vector<RecurrentChain> RecurrentChains(const Graph& graph) {
  return ChainFinder(graph).Find();
}

CellWeights WeightsOf(const RecurrentChain& chain, size_t step, const LinearForm& form) {
  Roles roles{chain.InputsAt(step), chain.old_h};
  if (step > 0) {
    roles.h = {};
    roles.h.value = chain.cells[step - 1].h;
  }
  return WeightsIn(form, roles, chain.cells[step].h);
}

}  // namespace nn
