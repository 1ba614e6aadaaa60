#include "edit/needed.h"

#include <algorithm>

namespace nn::edit {
namespace {

Needed NeededWith(const NativeFlow& flow, const std::vector<size_t>& ends,
                  const std::vector<size_t>& starts, const std::vector<bool>& effects) {
  Needed out;
  out.operators.resize(flow.operators.size());
  out.values.resize(flow.values.size());
  std::vector<bool> is_start(flow.values.size());
  for (const size_t v : starts) is_start[v] = true;
  for (const size_t v : ends) out.values[v] = true;
  for (size_t i = flow.operators.size(); i-- > 0;) {
    const NativeFlow::Operator& op = flow.operators[i];
    out.operators[i] = effects[i] || std::ranges::any_of(op.outputs, [&](size_t v) {
                         return out.values[v] && !is_start[v];
                       });
    if (out.operators[i])
      for (const size_t v : op.inputs) out.values[v] = true;
  }
  return out;
}

bool UsesStates(const NativeFlow& flow, const Needed& needed) {
  for (size_t v = 0; v < flow.values.size(); ++v)
    if (needed.values[v] && flow.values[v].is_state) return true;
  for (size_t i = 0; i < flow.operators.size(); ++i)
    if (needed.operators[i] && flow.operators[i].has_effect) return true;
  return false;
}

// Adds the effects on the states that the part uses; false if there are no others.
bool AddEffects(const NativeFlow& flow, const Needed& needed, std::vector<bool>& effects) {
  if (!UsesStates(flow, needed)) return false;
  bool adds = false;
  for (size_t i = 0; i < effects.size(); ++i) {
    const NativeFlow::Operator& op = flow.operators[i];
    if (!op.has_effect || effects[i]) continue;
    const auto is_state = [&](size_t v) { return flow.values[v].is_state; };
    const auto is_used = [&](size_t v) { return is_state(v) && needed.values[v]; };
    effects[i] =
        std::ranges::any_of(op.inputs, is_used) || std::ranges::none_of(op.inputs, is_state);
    adds |= effects[i];
  }
  return adds;
}

}  // namespace

Needed NeededFor(const NativeFlow& flow, const std::vector<size_t>& ends,
                 const std::vector<size_t>& starts, Effects effects) {
  std::vector<bool> added(flow.operators.size());
  for (size_t i = 0; i < added.size(); ++i)
    added[i] = effects == Effects::kAll && flow.operators[i].has_effect;
  Needed needed = NeededWith(flow, ends, starts, added);
  while (effects == Effects::kOnUsedStates && AddEffects(flow, needed, added))
    needed = NeededWith(flow, ends, starts, added);
  return needed;
}

}  // namespace nn::edit
