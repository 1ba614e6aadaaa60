// Import of simpleRecurrent, gru, uniDirectionalLSTM, biDirectionalLSTM. Their blobs have the axes
// [S, B, C, H, W]: a sequence is [S, B, vector, 1, 1], a state [1, B, vector, 1, 1].

#include <algorithm>
#include <array>
#include <limits>

#include "formats/coreml/family.h"
#include "formats/coreml/file/weights.h"
#include "formats/coreml/import/recurrent_fields.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/recurrent/recurrent.h"
#include "ops/support/term_ops.h"

namespace nn::coreml {
namespace {

// An activation function as attributes. Files leave out the parameters of activations.
Status AddActivation(const Fields& params, RecurrentAttrs& a) {
  const std::string_view kind = params.OneOf("NonlinearityType");
  const auto* const row =
      std::ranges::find(kRecurrentActivations, kind, &RecurrentActivationRow::field);
  if (row == std::end(kRecurrentActivations))
    return ModelError("recurrent layers have no activation {}", kind.empty() ? "none" : kind);
  float alpha = row->alpha, beta = row->beta;
  if (alpha != 0) {
    const Fields given = params.Sub(kind);
    if (given.Float("alpha") != 0 || given.Float("beta") != 0) {
      alpha = given.Float("alpha");
      beta = given.Float("beta");
    }
  }
  a.activations.emplace_back(EnumName(row->activation));
  a.alpha.push_back(alpha);
  a.beta.push_back(beta);
  return {};
}

Status AddActivations(const std::vector<Fields>& list, size_t count, RecurrentAttrs& a) {
  if (list.size() != count)
    return ModelError("there are {} activations; expected {}", list.size(), count);
  for (const Fields& params : list) NN_RETURN_IF_ERROR(AddActivation(params, a));
  return {};
}

// The sizes of a layer.
struct RecurrentSizes {
  int64_t inputs, units;
};
Result<RecurrentSizes> ReadSizes(const Fields& p) {
  NN_ASSIGN(const int64_t inputs, p.Size("inputVectorSize"));
  NN_ASSIGN(const int64_t units, p.Size("outputVectorSize"));
  if (inputs < 1 || units < 1)
    return ModelError("inputVectorSize is {} and outputVectorSize {}; both must be 1 or more",
                      inputs, units);
  return RecurrentSizes{inputs, units};
}

// A blob with the axes [S, B, C, H, W] as [S, B, C H W].
Result<Value*> Vectors(ImportContext& ctx, size_t i) {
  Value* const x = ctx.input(i);
  if (x->type().rank() != 5)
    return ModelError("input {} must have rank 5, not {}", i, x->type().rank());
  const Dims& dims = *x->type().dims;
  if (dims[3] == 1 && dims[4] == 1) return Rearrange(ctx.graph(), x, AxisMap(5, {0, 1, 2}));
  return ctx.Build(Reshape(x, {dims[0], dims[1], Product(Dims(dims.begin() + 2, dims.end()))}));
}

// A state of the layer on sequences x, [1, B, H]. Blobs are [1, B, H, 1, 1]; converters also write
// [B, H, 1, 1, 1] for simpleRecurrent.
Result<Value*> State(ImportContext& ctx, size_t i, const Value* x, int64_t units) {
  Value* const v = ctx.input(i);
  if (v->type().rank() == 5 && v->type().dim(0) == 1 && v->type().dim(2) == units)
    return Vectors(ctx, i);
  return ctx.Build(Reshape(v, {Dim(1), x->type().dim(1), Dim(units)}));
}

// The inverse of Vectors().
Result<Value*> Blob5(ImportContext& ctx, Value* vectors) {
  return Rearrange(ctx.graph(), vectors, AxisMap(3, {0, 1, 2, -1, -1}));
}

// Weights from several messages, one after the other.
class Parts {
 public:
  explicit Parts(ImportContext& ctx) : ctx_(ctx) {}

  Status Add(const Fields& message, const std::string& field, std::vector<int64_t> dims,
             float added = 0) {
    auto tensor = ReadWeights(message.Sub(field), std::move(dims));
    if (!tensor) return tl::unexpected(tensor.error().In(field));
    const Tensor aligned = tensor->Aligned();
    for (const float v : aligned.As<float>()) values_.push_back(v + added);
    return {};
  }
  void AddFilled(int64_t count, float v) {
    values_.insert(values_.end(), static_cast<size_t>(count), v);
  }
  Value* Finish(std::vector<int64_t> dims) {
    return ctx_.Constant(Tensor::Of(std::move(dims), values_));
  }

 private:
  ImportContext& ctx_;
  std::vector<float> values_;
};

// Shared by the layers: their weights, one message for each direction.
struct GateWeights {
  std::vector<Fields> directions = {};
  std::vector<std::array<std::string, 3>> gates = {};  // fields of matrices and bias
  bool has_bias = false;
  std::optional<size_t> forget = {};  // the gate whose bias is 1 more
};

// The inputs x, w, r and bias of a recurrent operator.
Result<std::vector<Value*>> RecurrentOperands(ImportContext& ctx, const RecurrentSizes& s,
                                              const GateWeights& weights) {
  NN_ASSIGN(Value* const x, Vectors(ctx, 0));
  const auto directions = static_cast<int64_t>(weights.directions.size());
  const int64_t rows = static_cast<int64_t>(weights.gates.size()) * s.units;
  Parts w(ctx), r(ctx), bias(ctx);
  for (const Fields& fields : weights.directions) {
    for (const auto& gate : weights.gates)
      NN_RETURN_IF_ERROR(w.Add(fields, gate[0], {s.units, s.inputs}));
    for (const auto& gate : weights.gates)
      NN_RETURN_IF_ERROR(r.Add(fields, gate[1], {s.units, s.units}));
    for (size_t g = 0; g < weights.gates.size(); ++g) {
      const float added = weights.forget == g ? 1.0F : 0.0F;
      if (weights.has_bias)
        NN_RETURN_IF_ERROR(bias.Add(fields, weights.gates[g][2], {s.units}, added));
      else
        bias.AddFilled(s.units, added);
    }
    bias.AddFilled(rows, 0);
  }
  std::vector<Value*> inputs = {x, w.Finish({directions, rows, s.inputs}),
                                r.Finish({directions, rows, s.units}), nullptr};
  if (weights.has_bias || weights.forget) inputs[3] = bias.Finish({directions, 2 * rows});
  return inputs;
}

// Sets output 0 to the sequence of results, or to the last of them. A layer returns the results in
// the order in which it processes the sequence.
Status SetResults(ImportContext& ctx, const Node& node, bool sequence) {
  const RecurrentAttrs& a = RecurrentAttrsOf(node);
  const bool both = a.directions() == 2;
  Value* y = node.output(sequence ? 0 : 1);
  if (both) {
    const auto perm = sequence ? std::vector<int64_t>{0, 2, 1, 3} : std::vector<int64_t>{1, 0, 2};
    const Dims& state = *node.output(1)->type().dims;
    const Dim steps = sequence ? node.output()->type().dim(0) : Dim(1);
    NN_ASSIGN(y, ctx.Build(Reshape(Transpose(y, perm),
                                   {steps, state[1], Dim(2) * state[2], Dim(1), Dim(1)})));
  } else {
    if (sequence && a.direction == RecurrentDirection::kReverse) {
      NN_ASSIGN(y, ctx.Add("reverse", {y}, ReverseAttrs{{0}}));
    }
    NN_ASSIGN(y,
              Rearrange(ctx.graph(), y,
                        sequence ? AxisMap(4, {0, 2, 3, -1, -1}) : AxisMap(3, {0, 1, 2, -1, -1})));
  }
  ctx.SetOutput(0, y);
  return {};
}

// The states of direction d are outputs from `first` on.
Status SetStates(ImportContext& ctx, const Node& node, int64_t d, size_t first) {
  for (size_t i = 1; i < node.outputs().size(); ++i) {
    if (first + i - 1 >= ctx.output_count()) break;
    Value* state = node.output(i);
    if (RecurrentAttrsOf(node).directions() == 2) {
      NN_ASSIGN(state, ctx.Build(Slice(state, 0, d, d + 1)));
    }
    NN_ASSIGN(state, Blob5(ctx, state));
    ctx.SetOutput(first + i - 1, state);
  }
  return {};
}

// A layer with one state.
template <typename T>
Status EmitRecurrent(ImportContext& ctx, std::string_view op, T a, const GateWeights& weights) {
  const Fields& p = ctx.params();
  NN_ASSIGN(const RecurrentSizes sizes, ReadSizes(p));
  if (p.Bool("reverseInput")) a.direction = RecurrentDirection::kReverse;
  NN_ASSIGN(std::vector<Value*> inputs, RecurrentOperands(ctx, sizes, weights));
  if (ctx.input_count() == 2) {
    NN_ASSIGN(Value* const state, State(ctx, 1, inputs[0], sizes.units));
    inputs.insert(inputs.end(), {nullptr, state});
  }
  NN_ASSIGN(const Node* const node, ctx.AddNode(op, std::move(inputs), std::move(a), 2));
  NN_RETURN_IF_ERROR(SetResults(ctx, *node, p.Bool("sequenceOutput")));
  return SetStates(ctx, *node, 0, 1);
}

Status ImportSimpleRecurrent(ImportContext& ctx) {
  const Fields& p = ctx.params();
  RecurrentAttrs a;
  NN_RETURN_IF_ERROR(AddActivation(p.Sub("activation"), a));
  GateWeights weights{{p}, {{"weightMatrix", "recursionMatrix", "biasVector"}}, false, {}};
  weights.has_bias = p.Bool("hasBiasVector");
  return EmitRecurrent(ctx, "rnn", std::move(a), weights);
}

Status ImportGru(ImportContext& ctx) {
  const Fields& p = ctx.params();
  GruAttrs a;
  NN_RETURN_IF_ERROR(AddActivations(p.List("activations"), 2, a));
  GateWeights weights{{p}, GateFields(kGruGates), false, {}};
  weights.has_bias = p.Bool("hasBiasVectors");
  return EmitRecurrent(ctx, "gru", std::move(a), weights);
}

Result<float> ReadCellClip(const Fields& params) {
  const float clip = params.FloatOr("cellClipThreshold", kDefaultCellClip);
  if (!(clip > 0)) return ModelError("cellClipThreshold is {}; it must be positive", clip);
  return clip >= kNoCellClip ? std::numeric_limits<float>::infinity() : clip;
}

// The states of the directions, [D, B, H], from the inputs `first`, `first` + 2; null if there are
// none.
Result<Value*> StatesOf(ImportContext& ctx, size_t first, int64_t directions, const Value* x,
                        int64_t units) {
  if (first >= ctx.input_count()) return nullptr;
  std::vector<Value*> parts;
  for (int64_t d = 0; d < directions; ++d) {
    const size_t input = first + 2 * static_cast<size_t>(d);
    NN_ASSIGN(Value* const state, State(ctx, input, x, units));
    parts.push_back(state);
  }
  return parts.size() == 1 ? parts[0] : ctx.Add("concat", std::move(parts), ConcatAttrs{0});
}

Status EmitLstm(ImportContext& ctx, LstmAttrs a, const std::vector<Fields>& directions) {
  const Fields& p = ctx.params();
  const Fields params = p.Sub("params");
  const auto count = static_cast<int64_t>(directions.size());
  NN_ASSIGN(const RecurrentSizes sizes, ReadSizes(p));
  NN_ASSIGN(a.cell_clip, ReadCellClip(params));
  a.input_forget = params.Bool("coupledInputAndForgetGate");
  GateWeights weights{directions, GateFields(kLstmGates), false, {}};
  weights.has_bias = params.Bool("hasBiasVectors");
  if (params.Bool("forgetBias")) weights.forget = kForgetGate;
  NN_ASSIGN(std::vector<Value*> inputs, RecurrentOperands(ctx, sizes, weights));
  NN_ASSIGN(Value* const h, StatesOf(ctx, 1, count, inputs[0], sizes.units));
  NN_ASSIGN(Value* const c, StatesOf(ctx, 2, count, inputs[0], sizes.units));
  inputs.insert(inputs.end(), {nullptr, h, c});
  if (params.Bool("hasPeepholeVectors")) {
    Parts peepholes(ctx);
    for (const Fields& fields : directions)
      for (size_t g = 0; g < kPeepholeGates; ++g)
        NN_RETURN_IF_ERROR(
            peepholes.Add(fields, GateField(kLstmGates[g], "PeepholeVector"), {sizes.units}));
    inputs.push_back(peepholes.Finish({count, static_cast<int64_t>(kPeepholeGates) * sizes.units}));
  }
  NN_ASSIGN(const Node* const node, ctx.AddNode("lstm", std::move(inputs), std::move(a), 3));
  NN_RETURN_IF_ERROR(SetResults(ctx, *node, params.Bool("sequenceOutput")));
  for (int64_t d = 0; d < count; ++d)
    NN_RETURN_IF_ERROR(SetStates(ctx, *node, d, 1 + 2 * static_cast<size_t>(d)));
  return {};
}

Status ImportLstm(ImportContext& ctx) {
  const Fields& p = ctx.params();
  LstmAttrs a;
  if (p.Bool("reverseInput")) a.direction = RecurrentDirection::kReverse;
  NN_RETURN_IF_ERROR(AddActivations(p.List("activations"), 3, a));
  return EmitLstm(ctx, std::move(a), {p.Sub("weightParams")});
}

Status ImportBidirectionalLstm(ImportContext& ctx) {
  if (ctx.input_count() != 1 && ctx.input_count() != 5)
    return ModelError("there are {} inputs; expected 1, or 5 with the states of both directions",
                      ctx.input_count());
  const Fields& p = ctx.params();
  LstmAttrs a;
  a.direction = RecurrentDirection::kBidirectional;
  NN_RETURN_IF_ERROR(AddActivations(p.List("activationsForwardLSTM"), 3, a));
  NN_RETURN_IF_ERROR(AddActivations(p.List("activationsBackwardLSTM"), 3, a));
  const auto directions = p.List("weightParams");
  if (directions.size() != 2)
    return ModelError("there are weights for {} directions; expected 2", directions.size());
  return EmitLstm(ctx, std::move(a), directions);
}

constexpr ImportRow kRecurrentImports[] = {
    {.layer = "simpleRecurrent", .import = ImportSimpleRecurrent, .inputs = "f?f"},
    {.layer = "gru", .import = ImportGru, .inputs = "f?f"},
    {.layer = "uniDirectionalLSTM", .import = ImportLstm, .inputs = "f?ff"},
    {.layer = "biDirectionalLSTM", .import = ImportBidirectionalLstm, .inputs = "f?ffff"},
};

}  // namespace

Family RecurrentFamily() {
  return {.imports = kRecurrentImports};
}

}  // namespace nn::coreml
