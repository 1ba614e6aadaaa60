// pad by numbers that only a run knows, as a gather along each axis.
#include "ir/op_def.h"
#include "ops/array/arrange/pad.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

// An axis that is padded: vectors of i64.
struct PaddedAxis {
  int64_t at;
  Term index;   // in the axis of x, from 0 on
  Term inside;  // whether it is one of the elements of x
};

// As PaddedIndex() of the operator, for all elements of the axis at once.
PaddedAxis PadAxis(const Term& x, int64_t at, const Term& begin, const Term& end, PadMode mode) {
  const Term size = SizeOfAxis(x, at);
  const Term first = Maximum(-begin, 0);
  const Term kept = size - first - Maximum(-end, 0);
  const Term numbers = Apply("range", {0, Squeeze(size + begin + end, {0}), 1});
  const Term i = numbers - Maximum(begin, 0);
  const Term inside = And(GreaterEqual(i, 0), Less(i, kept));
  const auto modulo = [&](const Term& n) { return Apply("mod", {i, n}); };
  Term from;
  switch (mode) {
    case PadMode::kConstant:
    case PadMode::kEdge:
      from = Maximum(Minimum(i, kept - 1), 0);
      break;
    case PadMode::kWrap:
      from = modulo(kept);
      break;
    case PadMode::kReflect: {
      const Term there = (kept - 1) * 2;
      const Term m = modulo(Maximum(there, 1));
      from = Minimum(m, there - m);
      break;
    }
    case PadMode::kSymmetric: {
      const Term there = kept * 2;
      const Term m = modulo(there);
      from = Minimum(m, there - 1 - m);
      break;
    }
  }
  return {at, first + from, inside};
}

}  // namespace

Result<bool> ExpandComputedPad(Graph& graph, Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  const auto operand = [&](size_t i) { return i < node.inputs().size() ? node.input(i) : nullptr; };
  Value *const x = node.input(0), *const value = operand(1), *const pads = operand(2);
  const int64_t rank = x->type().rank();
  const bool is_computed = pads != nullptr || (value != nullptr && !value->is_constant());
  if (!is_computed || operand(3) != nullptr || x->type().quantized() ||
      (value != nullptr && (!value->type().ranked() || value->type().rank() > 1)))
    return false;
  for (const Dim& d : *x->type().dims)
    if (d == 0) return false;
  const Term numbers = pads != nullptr ? Cast(pads, DType::kI64) : Vector(a.pads);
  const auto is_padded = [&](int64_t axis) {
    return pads != nullptr || a.pads[static_cast<size_t>(axis)] != 0 ||
           a.pads[static_cast<size_t>(axis + rank)] != 0;
  };
  Term y = x;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (!is_padded(axis)) continue;
    const auto number = [&](int64_t i) { return Slice(numbers, 0, i, i + 1); };
    const PaddedAxis padded = PadAxis(x, axis, number(axis), number(axis + rank), a.mode);
    y = Gather(y, padded.index, axis);
    if (a.mode != PadMode::kConstant) continue;
    std::vector<int64_t> others;
    for (int64_t d = 0; d < rank; ++d)
      if (d != axis) others.push_back(d);
    const Term inside = others.empty() ? padded.inside : ExpandDims(padded.inside, others);
    y = Select(inside, y, value != nullptr ? Term(value) : Term(0));
  }
  return Expansion(graph, node).Replace(y);
}

}  // namespace nn
