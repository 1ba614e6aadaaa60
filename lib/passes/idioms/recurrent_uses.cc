#include "passes/idioms/recurrent_uses.h"

#include <algorithm>
#include <set>

#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/support/types.h"

namespace nn {

ChainUses::ChainUses(const Graph& graph, const RecurrentChain& chain)
    : graph_(graph), chain_(chain) {
  for (const RecurrentCell& cell : chain.cells) {
    nodes_.insert(cell.nodes.begin(), cell.nodes.end());
    nodes_.insert(cell.h->def());
    if (cell.c != nullptr) nodes_.insert(cell.c->def());
  }
  FindStacks();
  for (const RecurrentCell& cell : chain.cells) used_.push_back(IsUsed(cell.h));
  const Value* const c = chain.cells.back().c;
  uses_cell_state_ = c != nullptr && IsUsed(c);
}

bool ChainUses::HasOtherResults() const {
  std::vector<const Value*> open;
  std::set<const Value*> results;
  for (const RecurrentCell& cell : chain_.cells) {
    const bool is_last = &cell == &chain_.cells.back();
    for (const Value* const state : {cell.h, cell.c}) {
      if (state == nullptr) continue;
      results.insert(state);
      if (is_last) continue;
      if (state == cell.c && IsUsed(state)) return true;
      open.push_back(state);
    }
  }
  // What depends on a state inside is used inside.
  NodeSet seen;
  while (!open.empty()) {
    const Value* const v = open.back();
    open.pop_back();
    for (const Use& use : v->uses()) {
      if (!nodes_.contains(use.node) || !seen.insert(use.node).second) continue;
      for (const Value* const y : use.node->outputs()) {
        if (results.contains(y)) continue;
        if (IsUsed(y)) return true;
        open.push_back(y);
      }
    }
  }
  return false;
}

bool ChainUses::uses_only_last() const {
  return stacks_.empty() && used_.back() && std::ranges::count(used_, true) == 1;
}

bool ChainUses::any() const {
  return !stacks_.empty() || uses_cell_state_ || std::ranges::count(used_, true) != 0;
}

// Whether nodes outside, other than stacks, use a value.
bool ChainUses::IsUsed(const Value* v) const {
  if (graph_.IsOutput(v)) return true;
  return std::ranges::any_of(v->uses(), [&](const Use& use) {
    if (nodes_.contains(use.node) || IsStack(use.node)) return false;
    return use.node->op().movement != Movement::kInOrder || IsUsed(use.node->output());
  });
}

bool ChainUses::IsStack(const Node* node) const {
  return std::ranges::any_of(stacks_, [&](const StackedSteps& s) { return s.concat == node; });
}

void ChainUses::FindStacks() {
  std::vector<const Value*> open = {chain_.cells[0].h};
  while (!open.empty()) {
    const Value* const v = open.back();
    open.pop_back();
    for (const Use& use : v->uses()) {
      if (nodes_.contains(use.node)) continue;
      if (use.node->op().movement == Movement::kInOrder) {
        open.push_back(use.node->output());
      } else if (use.node->Is<ConcatAttrs>() && !IsStack(use.node)) {
        if (const auto stack = StackOf(*use.node)) stacks_.push_back(*stack);
      }
    }
  }
}

std::optional<StackedSteps> ChainUses::StackOf(Node& concat) const {
  const auto& cells = chain_.cells;
  Value* const y = concat.output();
  if (concat.inputs().size() != cells.size() || !y->type().ranked() ||
      !concat.input(0)->type().ranked())
    return std::nullopt;
  const Dims& piece = *concat.input(0)->type().dims;
  const auto axis = NormalizeAxis(concat.attrs<ConcatAttrs>().axis, static_cast<int>(piece.size()));
  if (!axis) return std::nullopt;
  for (const bool is_backward : {false, true}) {
    bool fits = true;
    for (size_t i = 0; i < cells.size() && fits; ++i) {
      NodeSet moved;
      const RowView view = ViewOf(concat.input(i), moved);
      fits = view.axis == RowView::kAllRows &&
             view.value == cells[is_backward ? cells.size() - 1 - i : i].h;
    }
    if (!fits) continue;
    StackedSteps out{&concat, &concat, is_backward != chain_.is_reverse, false};
    if (out.is_reversed && y->uses().size() == 1 && !graph_.IsOutput(y) &&
        y->type().dim(*axis) == static_cast<int64_t>(cells.size()) &&
        Reverses(*y->uses()[0].node, *axis)) {
      out.result = y->uses()[0].node;
      out.is_reversed = false;
    }
    if (Product(Dims(piece.begin(), piece.begin() + *axis)) == 1) return out;
    out.is_batch_first = true;
    const Dim& units = cells[0].h->type().dims->back();
    if (Product(Dims(piece.begin() + *axis, piece.end())) == units) return out;
  }
  return std::nullopt;
}

}  // namespace nn
