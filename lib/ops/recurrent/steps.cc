#include "ops/recurrent/steps.h"

#include <utility>

#include "ops/support/term_ops.h"

namespace nn {

using enum RecurrentInputs::Index;

RecurrentSteps::RecurrentSteps(Graph& graph, Node& node)
    : InsertBefore(graph, node), attrs_(RecurrentAttrsOf(node)) {
  const Type& x = node.input(kX)->type();
  steps_ = x.dim(static_cast<size_t>(step_axis())).value();
  inputs_ = x.dim(2).value();
  units_ = node.input(kR)->type().dim(2).value();
  batch_ = x.dim(static_cast<size_t>(batch_axis()));
}

Result<Value*> RecurrentSteps::Part(Value* v, int64_t axis, int64_t begin, int64_t end) {
  return Build(Slice(v, axis, begin, end));
}

Result<Value*> RecurrentSteps::Initial(Value* state, int64_t d) {
  const Term own = attrs_.directions() > 1 ? Slice(state, step_axis(), d, d + 1) : state;
  return Build(Reshape(own, state_dims()));
}

Term RecurrentSteps::AtStep(Term v, int64_t t) const {
  return Reshape(Slice(std::move(v), step_axis(), t, t + 1), state_dims());
}

Term RecurrentSteps::HasStep(int64_t t) const {
  const Term step = Tensor::Scalar(static_cast<int32_t>(t));
  return Reshape(Greater(node_.input(kLengths), step), {batch_, Dim(1)});
}

Result<RecurrentSteps::Direction> RecurrentSteps::Walk(int64_t d, Value* h, Value* c, Value* absent,
                                                       const Cell& cell) {
  const bool reverse = attrs_.direction == RecurrentDirection::kReverse || d == 1;
  const Dims with_axes = attrs_.batch_first ? Dims{batch_, Dim(1), Dim(1), Dim(units_)}
                                            : Dims{Dim(1), Dim(1), batch_, Dim(units_)};
  std::vector<Value*> y(static_cast<size_t>(steps_));
  for (int64_t k = 0; k < steps_; ++k) {
    const int64_t t = reverse ? steps_ - 1 - k : k;
    Value* const old_h = h;
    Value* const old_c = c;
    NN_RETURN_IF_ERROR(cell(t, h, c));
    Term shown = h;
    if (node_.input(kLengths) != nullptr) {
      const Term has = HasStep(t);
      shown = Select(has, h, absent);
      NN_ASSIGN(h, Build(Select(has, h, old_h)));
      if (c != nullptr) {
        NN_ASSIGN(c, Build(Select(has, c, old_c)));
      }
    }
    NN_ASSIGN(y[static_cast<size_t>(t)], Build(Reshape(shown, with_axes)));
  }
  const Dims state =
      attrs_.batch_first ? Dims{batch_, Dim(1), Dim(units_)} : Dims{Dim(1), batch_, Dim(units_)};
  Direction out;
  NN_ASSIGN(out.y, Build(Concat({y.begin(), y.end()}, step_axis())));
  NN_ASSIGN(out.h, Build(Reshape(h, state)));
  if (c != nullptr) {
    NN_ASSIGN(out.c, Build(Reshape(c, state)));
  }
  return out;
}

Result<std::vector<Value*>> RecurrentSteps::Join(const std::vector<Direction>& directions) {
  constexpr Value* Direction::*kParts[] = {&Direction::y, &Direction::h, &Direction::c};
  std::vector<Value*> outputs;
  for (size_t i = 0; i < node_.outputs().size(); ++i) {
    std::vector<Term> parts;
    parts.reserve(directions.size());
    for (const Direction& d : directions) parts.push_back(d.*kParts[i]);
    // The axis of the directions is after the batch, or the steps, and first in the states of
    // layers whose first axis are the steps.
    NN_ASSIGN(outputs.emplace_back(),
              Build(Concat(std::move(parts), step_axis() + (i == 0 ? 1 : 0))));
  }
  return outputs;
}

}  // namespace nn
