#include "rewrite/forms/recurrent_layout.h"

#include <utility>
#include <vector>

#include "ops/array/shape.h"
#include "ops/recurrent/extended_lstm.h"
#include "ops/recurrent/recurrent.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

// The first two axes of a value, or of its copy, exchanged.
Result<Value*> Exchanged(Expansion& e, Value* v) {
  if (v == nullptr) return v;
  return e.Add("transpose", {v}, TransposeAttrs{{1, 0, 2}});
}

}  // namespace

Result<bool> PutTimeFirst(Graph& graph, Node& node) {
  const auto first = node.attrs().Get("batch_first");
  // The states of an extended layer have other axes.
  if (!first || !std::get<bool>(*first) || node.Is<ExtendedLstmAttrs>()) return false;
  Expansion e(graph, node);
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  using In = RecurrentInputs;
  for (const size_t i : {In::kX, In::kInitialH, In::kInitialC}) {
    if (i >= inputs.size()) continue;
    NN_ASSIGN(inputs[i], Exchanged(e, inputs[i]));
  }
  NN_ASSIGN(Attrs attrs, node.attrs().With("batch_first", false));
  NN_ASSIGN(Node* const layer,
            e.AddNode(node.op_name(), std::move(inputs), std::move(attrs), node.outputs().size()));
  for (size_t i = 1; i < node.outputs().size(); ++i) {
    NN_ASSIGN(Value* const state, Exchanged(e, layer->output(i)));
    e.ReplaceOutput(i, state);
  }
  NN_ASSIGN(Value* const y, e.Add("transpose", {layer->output()}, TransposeAttrs{{2, 0, 1, 3}}));
  return e.Replace(y);
}

}  // namespace nn
