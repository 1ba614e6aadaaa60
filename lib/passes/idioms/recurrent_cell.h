// Steps of recurrent layers (ops/recurrent/recurrent.h) in elementary operators.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "ops/recurrent/recurrent.h"
#include "passes/idioms/linear_form.h"

namespace nn {

// An activation function and its argument.
struct CellFunction {
  RecurrentActivation activation = RecurrentActivation::kAffine;
  float alpha = 0, beta = 0;
  float clip = std::numeric_limits<float>::infinity();
  ColumnView argument = {};

  bool SameFunction(const CellFunction& other) const {
    return activation == other.activation && alpha == other.alpha && beta == other.beta &&
           clip == other.clip;
  }
};

enum class CellKind : uint8_t { kRnn, kGru, kLstm };

struct RecurrentCell {
  CellKind kind = CellKind::kRnn;
  Value* h = nullptr;  // the new states
  Value* c = nullptr;  // of an lstm
  // The old states where the cell uses them as they are; null in a first step from zero, whose
  // products exporters and folding may drop. An rnn has none.
  Value* old_h = nullptr;
  Value* old_c = nullptr;
  std::vector<CellFunction> functions;  // as those of the operator
  // The arguments of the gates, in the order of the operator. Those of a gru have the product with
  // the gated h as one with h; it has no reset gate, of no columns, in a first step without it.
  std::vector<LinearForm> gates;
  // Of a gru: what the reset gate multiplies if it follows the product, and whether it does;
  // unknown in a first step.
  LinearForm gated;
  std::optional<bool> linear_before_reset;
  // Of an lstm.
  bool input_forget = false;
  float cell_clip = std::numeric_limits<float>::infinity();
  NodeSet nodes;
};

// The cells whose h is the result of the node. There may be several, because it depends on the
// other steps which operands of a sum or product are the states.
std::vector<RecurrentCell> CellsAt(const Node& node);

// Whether the value is known to be zero.
bool IsZeroState(const Value* v);

}  // namespace nn
