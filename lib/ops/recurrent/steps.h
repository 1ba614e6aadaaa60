// The walk over the steps of a recurrent layer that is written as elementary operators.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/term.h"
#include "ops/recurrent/recurrent.h"
#include "ops/support/insert_before.h"

namespace nn {

// Adds nodes before an rnn, gru or lstm node whose steps can be written (WhyNotSteps()).
class RecurrentSteps : public InsertBefore {
 public:
  RecurrentSteps(Graph& graph, Node& node);

  const RecurrentAttrs& attrs() const { return attrs_; }
  int64_t inputs() const { return inputs_; }
  int64_t units() const { return units_; }
  int64_t batch_axis() const { return attrs_.batch_first ? 0 : 1; }
  int64_t step_axis() const { return attrs_.batch_first ? 1 : 0; }
  // The shape of h and c during the walk, [B, H].
  Dims state_dims() const { return {batch_, Dim(units_)}; }

  // The elements from `begin` to `end` along an axis.
  Result<Value*> Part(Value* v, int64_t axis, int64_t begin, int64_t end);

  // Direction d of an initial state, [B, H].
  Result<Value*> Initial(Value* state, int64_t d);
  // Step t of a value [T, B, H] or [B, T, H], as [B, H].
  Term AtStep(Term v, int64_t t) const;
  Result<Value*> StepOf(Value* v, int64_t t) { return Build(AtStep(v, t)); }

  // The results of one direction, each with an axis of size 1 for it. c is null unless the layer
  // has a cell.
  struct Direction {
    Value* y = nullptr;
    Value* h = nullptr;
    Value* c = nullptr;
  };
  // Replaces h and c [B, H] by those after step t.
  using Cell = std::function<Status(int64_t t, Value*& h, Value*& c)>;
  // Walks the steps of direction d from the initial states. y is the scalar `absent` beyond the
  // length of a sequence, whose states stay as they are.
  Result<Direction> Walk(int64_t d, Value* h, Value* c, Value* absent, const Cell& cell);
  // The layer's outputs.
  Result<std::vector<Value*>> Join(const std::vector<Direction>& directions);

 private:
  // Whether each sequence has a step t, [B, 1].
  Term HasStep(int64_t t) const;

  const RecurrentAttrs& attrs_;
  int64_t steps_ = 0, units_ = 0, inputs_ = 0;
  Dim batch_;
};

}  // namespace nn
