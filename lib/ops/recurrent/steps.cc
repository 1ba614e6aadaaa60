#include "ops/recurrent/steps.h"

#include <utility>

#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"

namespace nn {

using enum RecurrentInputs::Index;

RecurrentSteps::RecurrentSteps(Graph& graph, Node& node)
    : graph_(graph), node_(node), attrs_(RecurrentAttrsOf(node)) {
  const Type& x = node.input(kX)->type();
  steps_ = x.dim(static_cast<size_t>(step_axis())).value();
  inputs_ = x.dim(2).value();
  units_ = node.input(kR)->type().dim(2).value();
  batch_ = x.dim(static_cast<size_t>(batch_axis()));
}

Result<Value*> RecurrentSteps::Add(std::string_view op, std::vector<Value*> inputs, Attrs attrs) {
  NN_ASSIGN(Node* const n, graph_.Append(op, std::move(inputs), std::move(attrs), 1, &node_));
  n->set_source(node_.source());
  return n->output();
}

Result<Value*> RecurrentSteps::Reshape(Value* v, Dims dims) {
  return Add("reshape", {v}, ReshapeAttrs{std::move(dims), false});
}

Result<Value*> RecurrentSteps::Part(Value* v, int64_t axis, int64_t begin, int64_t end) {
  return Add("slice", {v}, SliceAttrs{{axis}, {begin}, {end}, {}});
}

Result<Value*> RecurrentSteps::Concat(const std::vector<Value*>& parts, int64_t axis) {
  if (parts.size() == 1) return parts[0];
  return Add("concat", parts, ConcatAttrs{axis});
}

Result<Value*> RecurrentSteps::Initial(Value* state, int64_t d) {
  if (attrs_.directions() > 1) {
    NN_ASSIGN(state, Part(state, step_axis(), d, d + 1));
  }
  return Reshape(state, state_dims());
}

Result<Value*> RecurrentSteps::StepOf(Value* v, int64_t t) {
  NN_ASSIGN(v, Part(v, step_axis(), t, t + 1));
  return Reshape(v, state_dims());
}

// Whether each sequence has a step t, [B, 1]; null if all have all steps.
Result<Value*> RecurrentSteps::HasStep(int64_t t) {
  Value* const lengths = node_.input(kLengths);
  if (lengths == nullptr) return nullptr;
  Value* const step = graph_.AddConstant(Tensor::Scalar(static_cast<int32_t>(t)));
  NN_ASSIGN(Value* const has, Add("greater", {lengths, step}));
  return Reshape(has, {batch_, Dim(1)});
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
    Value* shown = h;
    NN_ASSIGN(Value* const has, HasStep(t));
    if (has != nullptr) {
      NN_ASSIGN(shown, Add("select", {has, h, absent}));
      NN_ASSIGN(h, Add("select", {has, h, old_h}));
      if (c != nullptr) {
        NN_ASSIGN(c, Add("select", {has, c, old_c}));
      }
    }
    NN_ASSIGN(y[static_cast<size_t>(t)], Reshape(shown, with_axes));
  }
  const Dims state =
      attrs_.batch_first ? Dims{batch_, Dim(1), Dim(units_)} : Dims{Dim(1), batch_, Dim(units_)};
  Direction out;
  NN_ASSIGN(out.y, Concat(y, step_axis()));
  NN_ASSIGN(out.h, Reshape(h, state));
  if (c != nullptr) {
    NN_ASSIGN(out.c, Reshape(c, state));
  }
  return out;
}

Result<std::vector<Value*>> RecurrentSteps::Join(const std::vector<Direction>& directions) {
  constexpr Value* Direction::*kParts[] = {&Direction::y, &Direction::h, &Direction::c};
  std::vector<Value*> outputs;
  for (size_t i = 0; i < node_.outputs().size(); ++i) {
    std::vector<Value*> parts;
    parts.reserve(directions.size());
    for (const Direction& d : directions) parts.push_back(d.*kParts[i]);
    // The axis of the directions is after the batch, or the steps, and first in the states of
    // layers whose first axis are the steps.
    NN_ASSIGN(Value* const joined, Concat(parts, step_axis() + (i == 0 ? 1 : 0)));
    outputs.push_back(joined);
  }
  return outputs;
}

}  // namespace nn
