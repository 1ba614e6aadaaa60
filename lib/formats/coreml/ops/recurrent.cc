// simpleRecurrent, gru, uniDirectionalLSTM, biDirectionalLSTM. Their blobs have the axes
// [S, B, C, H, W]: a sequence is [S, B, vector, 1, 1], a state [1, B, vector, 1, 1].
#include "ops/recurrent/recurrent.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "formats/coreml/family.h"
#include "formats/coreml/weights.h"
#include "ops/array/concat.h"
#include "ops/array/shape.h"
#include "ops/array/slice.h"
#include "ops/recurrent/unroll.h"

namespace nn::coreml {
namespace {

// The limit on cell states that the format reads from 0.
constexpr float kDefaultCellClip = 50;
constexpr float kNoCellClip = std::numeric_limits<float>::max();

// The activations of recurrent layers. Their parameters are fixed, except for those of linear.
struct ActivationRow {
  std::string_view field;  // of ActivationParams
  RecurrentActivation activation;
  float alpha, beta;
};
constexpr ActivationRow kActivations[] = {
    {"linear", RecurrentActivation::kAffine, 1, 0},
    {"sigmoid", RecurrentActivation::kSigmoid, 0, 0},
    {"tanh", RecurrentActivation::kTanh, 0, 0},
    {"scaledTanh", RecurrentActivation::kScaledTanh, 1.7159F, 2.0F / 3},
    {"sigmoidHard", RecurrentActivation::kHardSigmoid, 0.2F, 0.5F},
    {"ReLU", RecurrentActivation::kRelu, 0, 0},
};

// The fields of the gates of the graph's operators, in their order.
constexpr std::string_view kGruGates[] = {"updateGate", "resetGate", "outputGate"};
constexpr std::string_view kLstmGates[] = {"inputGate", "outputGate", "forgetGate", "blockInput"};
constexpr size_t kForgetGate = 2;
constexpr size_t kPeepholeGates = 3;

std::string FieldOf(std::string_view gate, std::string_view what) {
  return fmt::format("{}{}", gate, what);
}

}  // namespace

// ==== From Core ML ===============================================================================

namespace {

// An activation function as attributes. Files leave out the parameters of activations.
Status AddActivation(const Fields& params, RecurrentAttrs& a) {
  const std::string_view kind = params.OneOf("NonlinearityType");
  const auto* const row = std::ranges::find(kActivations, kind, &ActivationRow::field);
  if (row == std::end(kActivations))
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
  NN_ASSIGN(Value* const x, ctx.Float(i));
  if (x->type().rank() != 5)
    return ModelError("input {} must have rank 5, not {}", i, x->type().rank());
  const Dims& dims = *x->type().dims;
  if (dims[3] == 1 && dims[4] == 1) return Rearrange(ctx.graph(), x, AxisMap(5, {0, 1, 2}));
  return ctx.Reshape(x, {dims[0], dims[1], Product(Dims(dims.begin() + 2, dims.end()))});
}

// A state of the layer on sequences x, [1, B, H]. Blobs are [1, B, H, 1, 1]; converters also write
// [B, H, 1, 1, 1] for simpleRecurrent.
Result<Value*> State(ImportContext& ctx, size_t i, const Value* x, int64_t units) {
  NN_ASSIGN(Value* const v, ctx.Float(i));
  if (v->type().rank() == 5 && v->type().dim(0) == 1 && v->type().dim(2) == units)
    return Vectors(ctx, i);
  return ctx.Reshape(v, {Dim(1), x->type().dim(1), Dim(units)});
}

// The inverse of Vectors().
Result<Value*> Blob5(ImportContext& ctx, Value* vectors) {
  return Rearrange(ctx.graph(), vectors, AxisMap(3, {0, 1, 2, -1, -1}));
}

// Weights from several messages, one behind the other.
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

std::vector<std::array<std::string, 3>> GateFields(std::span<const std::string_view> gates) {
  std::vector<std::array<std::string, 3>> out;
  for (const std::string_view gate : gates)
    out.push_back({FieldOf(gate, "WeightMatrix"), FieldOf(gate, "RecursionMatrix"),
                   FieldOf(gate, "BiasVector")});
  return out;
}

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
    NN_ASSIGN(y, ctx.Add("transpose", {y}, TransposeAttrs{perm}));
    NN_ASSIGN(y, ctx.Reshape(y, {steps, state[1], Dim(2) * state[2], Dim(1), Dim(1)}));
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
      NN_ASSIGN(state, ctx.Add("slice", {state}, SliceAttrs{{0}, {d}, {d + 1}, {}}));
    }
    NN_ASSIGN(state, Blob5(ctx, state));
    ctx.SetOutput(first + i - 1, state);
  }
  return {};
}

// A layer with one state.
template <typename T>
Status EmitRecurrent(ImportContext& ctx, std::string_view op, T a, const GateWeights& weights) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 2));
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
            peepholes.Add(fields, FieldOf(kLstmGates[g], "PeepholeVector"), {sizes.units}));
    inputs.push_back(peepholes.Finish({count, static_cast<int64_t>(kPeepholeGates) * sizes.units}));
  }
  NN_ASSIGN(const Node* const node, ctx.AddNode("lstm", std::move(inputs), std::move(a), 3));
  NN_RETURN_IF_ERROR(SetResults(ctx, *node, params.Bool("sequenceOutput")));
  for (int64_t d = 0; d < count; ++d)
    NN_RETURN_IF_ERROR(SetStates(ctx, *node, d, 1 + 2 * static_cast<size_t>(d)));
  return {};
}

Status ImportLstm(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 3));
  const Fields& p = ctx.params();
  LstmAttrs a;
  if (p.Bool("reverseInput")) a.direction = RecurrentDirection::kReverse;
  NN_RETURN_IF_ERROR(AddActivations(p.List("activations"), 3, a));
  return EmitLstm(ctx, std::move(a), {p.Sub("weightParams")});
}

Status ImportBidirectionalLstm(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 5));
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

}  // namespace

// ==== To Core ML =================================================================================

namespace {

using enum RecurrentInputs::Index;

const ActivationRow* RowOf(const RecurrentFunction& f) {
  const auto* const row =
      std::ranges::find(kActivations, f.activation(), &ActivationRow::activation);
  if (row == std::end(kActivations)) return nullptr;
  const bool linear = row->activation == RecurrentActivation::kAffine;
  const float alpha = f.params()[0], beta = f.params()[1];
  // A linear function of 0 is read as the identity.
  if (linear) return alpha == 0 && beta == 0 ? nullptr : row;
  const bool fixed = row->alpha == 0 ||
                     (std::fabs(alpha - row->alpha) < 1e-6F && std::fabs(beta - row->beta) < 1e-6F);
  return fixed ? row : nullptr;
}

std::optional<std::string> WhyNotActivations(const Node& node) {
  std::vector<RecurrentFunction> all;
  for (int64_t d = 0; d < RecurrentAttrsOf(node).directions(); ++d) {
    const auto functions = RecurrentFunctionsOf(node, d);
    if (!functions) return functions.error().message();
    for (const RecurrentFunction& f : *functions)
      if (RowOf(f) == nullptr)
        return fmt::format("Core ML's recurrent layers have no {} with these parameters",
                           EnumName(f.activation()));
    for (size_t i = 0; d > 0 && i < functions->size(); ++i)
      if (all[i].activation() != (*functions)[i].activation() ||
          all[i].params() != (*functions)[i].params())
        return "the activations of both directions must be the same";
    all = *functions;
  }
  return std::nullopt;
}

bool IsPositive(const Dim& d) {
  return !d.is_const() || d.value() > 0;
}

// Why no layer computes what the node does; nullopt if one does.
std::optional<std::string> WhyNotLayer(const Node& node) {
  const RecurrentAttrs& a = RecurrentAttrsOf(node);
  if (node.input(kLengths) != nullptr) return "Core ML's recurrent layers have no sequence lengths";
  for (const size_t i : {size_t{kW}, size_t{kR}, size_t{kBias}, size_t{kPeepholes}})
    if (node.input(i) != nullptr && !node.input(i)->is_constant())
      return "Core ML's recurrent layers need constant weights";
  if (a.batch_first)
    return "Core ML's recurrent layers need the time axis first (batch_first is 0)";
  if (a.directions() == 2 && !node.Is("lstm")) return "only Core ML's LSTM has two directions";
  if (std::isfinite(a.clip)) return "Core ML's recurrent layers do not clip their activations";
  if (node.Is("gru") && node.attrs<GruAttrs>().linear_before_reset)
    return "Core ML's GRU applies its reset gate before the product (linear_before_reset is 0)";
  if (node.Is("lstm") && !(node.attrs<LstmAttrs>().cell_clip > 0))
    return "Core ML needs a positive limit on cell states (cell_clip)";
  const Dims& x = *node.input(kX)->type().dims;
  if (!std::ranges::all_of(x, IsPositive) || !node.input(kR)->type().dim(2).is_const())
    return "Core ML has no empty sequences";
  const bool all_states =
      node.input(kInitialH) != nullptr && (!node.Is("lstm") || node.input(kInitialC) != nullptr);
  const bool no_states = node.input(kInitialH) == nullptr && node.input(kInitialC) == nullptr;
  if (!all_states && (!no_states || node.Is("rnn")) && !x[1].is_const())
    return "it lacks an initial state, which needs a constant batch in Core ML";
  return WhyNotActivations(node);
}

std::optional<std::string> WhyNotRecurrent(const Node& node) {
  // Integers, other than lengths, are not computed with.
  if (node.input(kLengths) == nullptr)
    if (auto reason = WhyNotValues(node, Types::kFloat)) return reason;
  const auto layer = WhyNotLayer(node);
  if (!layer) return std::nullopt;
  // A node without a layer is written step by step.
  const auto steps = WhyNotUnrolled(node);
  return steps ? fmt::format("{}; {}", *layer, *steps) : *layer;
}

// Writes one node.
class RecurrentWriter {
 public:
  RecurrentWriter(ExportContext& ctx, const Node& node)
      : ctx_(ctx),
        node_(node),
        attrs_(RecurrentAttrsOf(node)),
        units_(node.input(kR)->type().dim(2).value()) {}

  Status Write() {
    const bool both = attrs_.directions() == 2;
    const bool lstm = node_.Is("lstm");
    const std::string_view kind = node_.Is("rnn")   ? "simpleRecurrent"
                                  : node_.Is("gru") ? "gru"
                                  : both            ? "biDirectionalLSTM"
                                                    : "uniDirectionalLSTM";
    std::vector<std::string> inputs = {Unit(ctx_.NameOf(node_.input(kX)), "x", {3, 4})};
    AddStates(inputs);
    const bool sequence = IsWanted(0);
    std::vector<std::string> outputs = {Name("y")};
    for (int64_t d = 0; d < attrs_.directions(); ++d) {
      outputs.push_back(Name("h"));
      if (lstm) outputs.push_back(Name("c"));
    }
    WriteParams(ctx_.AddLayer(node_, kind, inputs, outputs), sequence);
    if (sequence) WriteSequence(outputs[0]);
    for (size_t i = 1; i < node_.outputs().size(); ++i)
      if (IsWanted(i)) WriteState(i, outputs);
    return {};
  }

 private:
  std::string Name(std::string_view hint) {
    return ctx_.NewName(fmt::format("{}_{}", ctx_.NameOf(node_.output()), hint));
  }
  // A result that nothing uses is not written.
  bool IsWanted(size_t i) const {
    return i < node_.outputs().size() &&
           (!node_.output(i)->uses().empty() || ctx_.HasName(node_.output(i)));
  }
  std::string Unit(const std::string& from, std::string_view hint,
                   const std::vector<int64_t>& axes) {
    std::string to = Name(hint);
    ctx_.AddHelper("expandDims", {from}, {to}).Ints("axes", axes);
    return to;
  }

  // The states, of one direction after the other. simpleRecurrent has one in any case.
  void AddStates(std::vector<std::string>& inputs) {
    const bool lstm = node_.Is("lstm");
    const bool any = node_.input(kInitialH) != nullptr || node_.input(kInitialC) != nullptr;
    if (!any && !node_.Is("rnn")) return;
    std::vector<std::vector<std::string>> states = {StatesOf(kInitialH)};
    if (lstm) states.push_back(StatesOf(kInitialC));
    for (size_t d = 0; d < static_cast<size_t>(attrs_.directions()); ++d)
      for (const auto& state : states) inputs.push_back(state[d]);
  }

  std::vector<std::string> StatesOf(size_t input) {
    const auto directions = static_cast<size_t>(attrs_.directions());
    std::vector<std::string> out;
    const Value* const v = node_.input(input);
    if (v == nullptr) {
      const Dim batch = node_.input(kX)->type().dim(1);
      const Tensor zeros = Zeros({1, batch.value(), units_, 1, 1});
      out.assign(directions, Name("zeros"));
      Writer layer = ctx_.AddHelper("loadConstantND", {}, {out[0]});
      layer.Ints("shape", zeros.dims());
      WriteWeights(layer.Sub("data"), zeros);
      return out;
    }
    std::vector<std::string> parts = {ctx_.NameOf(v)};
    if (directions == 2) parts = Halves(parts[0], 0);
    for (const std::string& part : parts) out.push_back(Unit(part, "state", {3, 4}));
    return out;
  }

  static Tensor Zeros(const std::vector<int64_t>& dims) {
    int64_t n = 1;
    for (const int64_t d : dims) n *= d;
    return Tensor::Of(dims, std::vector<float>(static_cast<size_t>(n), 0.0F));
  }

  // The halves of a blob along an axis.
  std::vector<std::string> Halves(const std::string& from, int64_t axis) {
    std::vector<std::string> parts = {Name("forward"), Name("backward")};
    Writer split = ctx_.AddHelper("splitND", {from}, parts);
    split.Int("axis", axis);
    split.Int("numSplits", 2);
    return parts;
  }

  // [T, B, D H, 1, 1] -> [T, D, B, H]
  void WriteSequence(const std::string& from) {
    const std::string y = ctx_.NameOf(node_.output());
    std::vector<std::string> parts = {from};
    if (attrs_.directions() == 2) parts = Halves(from, 2);
    for (std::string& part : parts) {
      if (attrs_.direction == RecurrentDirection::kReverse) {
        const std::string reversed = Name("y");
        ctx_.AddHelper("reverse", {part}, {reversed})
            .Bools("reverseDim", {true, false, false, false, false});
        part = reversed;
      }
      const std::string vectors = Name("y");
      ctx_.AddHelper("squeeze", {part}, {vectors}).Ints("axes", {3, 4});
      part = vectors;
    }
    if (parts.size() == 1)
      ctx_.AddHelper("expandDims", parts, {y}).Ints("axes", {1});
    else
      ctx_.AddHelper("stack", parts, {y}).Int("axis", 1);
  }

  // [1, B, H, 1, 1] of each direction -> [D, B, H]
  void WriteState(size_t i, const std::vector<std::string>& outputs) {
    const std::string to = ctx_.NameOf(node_.output(i));
    if (attrs_.directions() == 1) {
      ctx_.AddHelper("squeeze", {outputs[i]}, {to}).Ints("axes", {3, 4});
      return;
    }
    std::vector<std::string> parts;
    for (const size_t d : {0, 1}) {
      parts.push_back(Name("state"));
      ctx_.AddHelper("squeeze", {outputs[i + 2 * d]}, {parts.back()}).Ints("axes", {3, 4});
    }
    ctx_.AddHelper("concatND", parts, {to}).Int("axis", 0);
  }

  // `rows` rows of a constant [D, all, columns] from row `first` on.
  Tensor Rows(size_t input, int64_t d, int64_t first, int64_t rows) const {
    const Tensor& t = node_.input(input)->constant();
    const int64_t all = t.dim(1);
    const int64_t columns = t.rank() == 3 ? t.dim(2) : 1;
    const auto offset = static_cast<size_t>((d * all + first) * columns) * sizeof(float);
    const auto size = static_cast<size_t>(rows * columns) * sizeof(float);
    return Tensor(DType::kF32, {rows, columns}, t.blob().Slice(offset, size));
  }

  void WriteGate(Writer w, int64_t d, int64_t g, int64_t gates,
                 const std::array<std::string, 3>& fields) {
    WriteLayerWeights(w.Sub(fields[0]), Rows(kW, d, g * units_, units_));
    WriteLayerWeights(w.Sub(fields[1]), Rows(kR, d, g * units_, units_));
    if (node_.input(kBias) == nullptr) return;
    const Tensor of_w = Rows(kBias, d, g * units_, units_).Aligned();
    const Tensor of_r = Rows(kBias, d, (gates + g) * units_, units_).Aligned();
    std::vector<float> sum;
    for (size_t u = 0; u < of_w.As<float>().size(); ++u)
      sum.push_back(of_w.As<float>()[u] + of_r.As<float>()[u]);
    WriteWeights(w.Sub(fields[2]), Tensor::Of({units_}, sum));
  }

  void WriteGates(Writer w, int64_t d, std::span<const std::string_view> names) {
    const auto fields = GateFields(names);
    for (size_t g = 0; g < fields.size(); ++g)
      WriteGate(w, d, static_cast<int64_t>(g), static_cast<int64_t>(fields.size()), fields[g]);
  }

  static void WriteActivation(Writer to, const RecurrentFunction& f) {
    const ActivationRow& row = *RowOf(f);
    Writer params = to.Sub(row.field);
    if (row.alpha == 0) return;
    params.Float("alpha", f.params()[0]);
    params.Float("beta", f.params()[1]);
  }
  void WriteActivations(Writer p, std::string_view list, int64_t d) {
    const auto functions = RecurrentFunctionsOf(node_, d);
    for (const RecurrentFunction& f : *functions) WriteActivation(p.Add(list), f);
  }

  void WriteLstm(Writer p, bool sequence) {
    const auto& a = node_.attrs<LstmAttrs>();
    Writer params = p.Sub("params");
    params.Bool("sequenceOutput", sequence);
    params.Bool("hasBiasVectors", node_.input(kBias) != nullptr);
    params.Bool("hasPeepholeVectors", node_.input(kPeepholes) != nullptr);
    params.Bool("coupledInputAndForgetGate", a.input_forget);
    params.Float("cellClipThreshold", std::min(a.cell_clip, kNoCellClip));
    const bool both = attrs_.directions() == 2;
    for (int64_t d = 0; d < attrs_.directions(); ++d) {
      WriteActivations(p,
                       !both    ? "activations"
                       : d == 0 ? "activationsForwardLSTM"
                                : "activationsBackwardLSTM",
                       d);
      Writer w = both ? p.Add("weightParams") : p.Sub("weightParams");
      WriteGates(w, d, kLstmGates);
      for (size_t g = 0; node_.input(kPeepholes) != nullptr && g < kPeepholeGates; ++g)
        WriteWeights(w.Sub(FieldOf(kLstmGates[g], "PeepholeVector")),
                     Rows(kPeepholes, d, static_cast<int64_t>(g) * units_, units_));
    }
    if (!both) p.Bool("reverseInput", attrs_.direction == RecurrentDirection::kReverse);
  }

  void WriteParams(Writer p, bool sequence) {
    p.Int("inputVectorSize", node_.input(kW)->constant().dim(2));
    p.Int("outputVectorSize", units_);
    if (node_.Is("lstm")) return WriteLstm(p, sequence);
    const bool has_bias = node_.input(kBias) != nullptr;
    p.Bool("sequenceOutput", sequence);
    p.Bool("reverseInput", attrs_.direction == RecurrentDirection::kReverse);
    if (node_.Is("gru")) {
      p.Bool("hasBiasVectors", has_bias);
      WriteActivations(p, "activations", 0);
      WriteGates(p, 0, kGruGates);
      return;
    }
    p.Bool("hasBiasVector", has_bias);
    WriteActivation(p.Sub("activation"), RecurrentFunctionsOf(node_, 0)->front());
    WriteGate(p, 0, 0, 1, {"weightMatrix", "recursionMatrix", "biasVector"});
  }

  ExportContext& ctx_;
  const Node& node_;
  const RecurrentAttrs& attrs_;
  int64_t units_;
};

Status WriteRecurrent(ExportContext& ctx, const Node& node) {
  return RecurrentWriter(ctx, node).Write();
}

constexpr ImportRow kRecurrentImports[] = {
    {.layer = "simpleRecurrent", .import = ImportSimpleRecurrent},
    {.layer = "gru", .import = ImportGru},
    {.layer = "uniDirectionalLSTM", .import = ImportLstm},
    {.layer = "biDirectionalLSTM", .import = ImportBidirectionalLstm},
};

constexpr ExportRow kRecurrentExports[] = {
    {.op = "rnn", .write = WriteRecurrent, .why_not = WhyNotRecurrent, .types = Types::kAny},
    {.op = "gru", .write = WriteRecurrent, .why_not = WhyNotRecurrent, .types = Types::kAny},
    {.op = "lstm", .write = WriteRecurrent, .why_not = WhyNotRecurrent, .types = Types::kAny},
};

}  // namespace

Family RecurrentFamily() {
  return {.imports = kRecurrentImports, .exports = kRecurrentExports};
}

}  // namespace nn::coreml
