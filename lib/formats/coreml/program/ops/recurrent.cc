// Recurrent layers.
#include "ops/recurrent/recurrent.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/text/refusal.h"
#include "base/text/text.h"
#include "formats/coreml/program/family.h"
#include "formats/coreml/program/import/operands.h"
#include "ir/text/number.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/recurrent/gates.h"
#include "ops/recurrent/unroll.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

// The activations, with the parameters that the format gives them. Those of scaled_tanh are 1.
struct NamedActivation {
  std::string_view name;
  RecurrentActivation activation;
  float alpha = 0, beta = 0;
};
constexpr NamedActivation kNamedActivations[] = {
    {"hard_sigmoid", RecurrentActivation::kHardSigmoid, 0.2F, 0.5F},
    {"linear", RecurrentActivation::kAffine, 1, 0},
    {"relu", RecurrentActivation::kRelu},
    {"scaled_tanh", RecurrentActivation::kTanh},
    {"sigmoid", RecurrentActivation::kSigmoid},
    {"sigmoid_hard", RecurrentActivation::kHardSigmoid, 0.2F, 0.5F},
    {"tanh", RecurrentActivation::kTanh},
};

// The gates of an operator of the graph, by their places in the file.
using GateOrder = std::vector<int64_t>;

// What the layers have in common.
class LayerImport {
 public:
  LayerImport(ImportContext& ctx, GateOrder gates) : ctx_(ctx), gates_(std::move(gates)) {}

  // Reads the direction, and the activations from their inputs.
  Status Read(RecurrentAttrs& a, std::initializer_list<std::string_view> activations) {
    NN_ASSIGN(const std::string direction, ctx_.String("direction"));
    const auto known = ParseEnum<RecurrentDirection>(direction);
    if (!known) return ModelError("direction {} is unknown", Quote(direction));
    a.direction = direction_ = *known;
    for (size_t d = 0; d < Suffixes().size(); ++d)
      for (const std::string_view input : activations) NN_RETURN_IF_ERROR(AddActivation(input, a));
    NN_ASSIGN(const Value* const w, ctx_.Ranked("weight_hh"));
    if (w->type().rank() != 2 || !w->type().dim(1).is_const())
      return UnsupportedError("input weight_hh is {}; must be a matrix of known size",
                              w->type().ToString());
    units_ = w->type().dim(1).value();
    dtype_ = w->dtype();
    return {};
  }

  // The weights of the directions, [D, ...], with their rows in the order of the graph.
  Result<Term> Weights(const std::string& name) {
    return Stacked([&](const std::string& suffix) -> Result<Term> {
      NN_ASSIGN(Value* const v, ctx_.In(name + suffix));
      NN_ASSIGN(const std::optional<Tensor> numbers, DequantizedConstant(v));
      return Reordered(numbers ? Term(*numbers) : Term(v), gates_);
    });
  }

  // The biases of both products; absent if there are none.
  Result<Term> Biases(const std::string& of_w, const std::string& of_r) {
    if (!HasAny(of_w) && !HasAny(of_r)) return Term();
    return Stacked([&](const std::string& suffix) -> Result<Term> {
      NN_ASSIGN(Term w, VectorOrZeros(of_w + suffix, gates_));
      NN_ASSIGN(Term r, VectorOrZeros(of_r + suffix, gates_));
      return Concat({std::move(w), std::move(r)}, 0);
    });
  }

  // The same for vectors of each gate in this order.
  Result<Term> Vectors(const std::string& name, const GateOrder& order) {
    if (!HasAny(name)) return Term();
    return Stacked([&](const std::string& suffix) { return VectorOrZeros(name + suffix, order); });
  }

  // An initial state, [B, D H] in the file, as [D, B, H].
  Result<Term> State(std::string_view name) {
    NN_ASSIGN(Value* const v, ctx_.In(name));
    int64_t first = 0;
    return Stacked([&](const std::string&) -> Result<Term> {
      if (directions() == 1) return Term(v);
      first += units_;
      return Slice(v, 1, first - units_, first);
    });
  }

  // Output 0 is the sequence, or the last of its elements; the others are the states.
  Status Emit(std::string_view op, const Terms& operands, Attrs attrs, size_t states) {
    NN_ASSIGN(const bool sequence, ctx_.Bool("output_sequence"));
    const std::vector<Term> results = ApplyAll(op, operands, std::move(attrs), 1 + states);
    Term y = sequence ? SideBySide(results[0], 1) : ExpandDims(SideBySide(results[1], 0), {0});
    // The sequence is in the order in which the layer processes it.
    if (sequence && direction_ == RecurrentDirection::kReverse)
      y = Apply("reverse", {std::move(y)}, ReverseAttrs{{0}});
    NN_RETURN_IF_ERROR(ctx_.EmitTerm(y, 0));
    for (size_t i = 1; i < results.size(); ++i)
      NN_RETURN_IF_ERROR(ctx_.EmitTerm(SideBySide(results[i], 0), i));
    return {};
  }

 private:
  int64_t directions() const { return direction_ == RecurrentDirection::kBidirectional ? 2 : 1; }
  // Of the names of the inputs of the directions.
  std::vector<std::string> Suffixes() const {
    if (directions() == 1) return {""};
    return {"", "_back"};
  }
  bool HasAny(const std::string& name) const {
    return std::ranges::any_of(Suffixes(),
                               [&](const std::string& s) { return ctx_.Has(name + s); });
  }

  Status AddActivation(std::string_view input, RecurrentAttrs& a) const {
    NN_ASSIGN(const std::string name, ctx_.AnyCase(input));
    const auto* const row = std::ranges::find(kNamedActivations, name, &NamedActivation::name);
    if (row == std::end(kNamedActivations))
      return ModelError("{} {} is unknown", input, Quote(name));
    a.activations.emplace_back(EnumName(row->activation));
    a.alpha.push_back(row->alpha);
    a.beta.push_back(row->beta);
    return {};
  }

  template <typename Part>
  Result<Term> Stacked(Part part) const {
    std::vector<Term> parts;
    for (const std::string& suffix : Suffixes()) {
      NN_ASSIGN(Term t, part(suffix));
      parts.push_back(ExpandDims(std::move(t), {0}));
    }
    return Concat(std::move(parts), 0);
  }

  Term Reordered(const Term& v, const GateOrder& order) const {
    if (order.size() == 1) return v;
    std::vector<Term> parts;
    for (const int64_t gate : order)
      parts.push_back(Slice(v, 0, gate * units_, (gate + 1) * units_));
    return Concat(std::move(parts), 0);
  }

  Result<Term> VectorOrZeros(const std::string& name, const GateOrder& order) {
    NN_ASSIGN(Value* const v, ctx_.Optional(name));
    if (v != nullptr) return Reordered(v, order);
    NN_ASSIGN(Tensor zero, nn::Number(dtype_, 0));
    const Dim size = Dim(static_cast<int64_t>(order.size())) * Dim(units_);
    return Apply("expand", {std::move(zero)}, ExpandAttrs{{size}});
  }

  // The directions, along an axis of the value, side by side along its last axis.
  Term SideBySide(const Term& v, int64_t axis) const {
    if (directions() == 1) return Squeeze(v, {axis});
    return Concat({Squeeze(Slice(v, axis, 0, 1), {axis}), Squeeze(Slice(v, axis, 1, 2), {axis})},
                  -1);
  }

  ImportContext& ctx_;
  GateOrder gates_;
  RecurrentDirection direction_ = RecurrentDirection::kForward;
  int64_t units_ = 0;
  DType dtype_ = DType::kF32;
};

Status ImportRnnLayer(ImportContext& ctx) {
  RecurrentAttrs a;
  LayerImport layer(ctx, {0});
  NN_RETURN_IF_ERROR(layer.Read(a, {"activation"}));
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(const Term w, layer.Weights("weight_ih"));
  NN_ASSIGN(const Term r, layer.Weights("weight_hh"));
  NN_ASSIGN(const Term bias, layer.Biases("bias", ""));
  NN_ASSIGN(const Term h, layer.State("initial_h"));
  return layer.Emit("rnn", {x, w, r, bias, Term(), h}, std::move(a), 1);
}

// In the file: r, n, z.
Status ImportGruLayer(ImportContext& ctx) {
  GruAttrs a;
  LayerImport layer(ctx, {2, 0, 1});
  NN_RETURN_IF_ERROR(layer.Read(a, {"recurrent_activation", "activation"}));
  if (ctx.Has("reset_after")) {
    NN_ASSIGN(a.linear_before_reset, ctx.Bool("reset_after"));
  }
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(const Term w, layer.Weights("weight_ih"));
  NN_ASSIGN(const Term r, layer.Weights("weight_hh"));
  // With reset_after, it matters that `bias` is the one of the recurrent product.
  const bool of_r = a.linear_before_reset || ctx.Has("input_bias");
  NN_ASSIGN(const Term bias,
            of_r ? layer.Biases("input_bias", "bias") : layer.Biases("bias", "input_bias"));
  NN_ASSIGN(const Term h, layer.State("initial_h"));
  return layer.Emit("gru", {x, w, r, bias, Term(), h}, std::move(a), 1);
}

// In the file: i, f, o, c.
Status ImportLstmLayer(ImportContext& ctx) {
  LstmAttrs a;
  LayerImport layer(ctx, {0, 2, 1, 3});
  NN_RETURN_IF_ERROR(layer.Read(a, {"recurrent_activation", "cell_activation", "activation"}));
  if (ctx.Has("clip")) {
    NN_ASSIGN(a.cell_clip, ctx.Float("clip"));
  }
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(const Term w, layer.Weights("weight_ih"));
  NN_ASSIGN(const Term r, layer.Weights("weight_hh"));
  NN_ASSIGN(const Term bias, layer.Biases("bias", ""));
  NN_ASSIGN(const Term h, layer.State("initial_h"));
  NN_ASSIGN(const Term c, layer.State("initial_c"));
  NN_ASSIGN(const Term peepholes, layer.Vectors("peephole", {0, 2, 1}));
  return layer.Emit("lstm", {x, w, r, bias, Term(), h, c, peepholes}, std::move(a), 2);
}

// ---- Export -------------------------------------------------------------------------------------

using enum RecurrentInputs::Index;

// The name of a function in an operation; "" if it has none.
std::string_view NameOfFunction(const RecurrentFunction& f, bool is_rnn) {
  const float alpha = f.params()[0], beta = f.params()[1];
  if (f.activation() == RecurrentActivation::kScaledTanh)
    return alpha == 1 && beta == 1 ? "tanh" : "";
  for (const NamedActivation& row : kNamedActivations) {
    const bool has_parameters = row.alpha != 0;
    if (row.activation != f.activation() || row.name == "scaled_tanh" ||
        row.name == (is_rnn ? "hard_sigmoid" : "sigmoid_hard"))
      continue;
    if (!has_parameters || (std::fabs(alpha - row.alpha) < 1e-6F && beta == row.beta))
      return row.name;
  }
  return {};
}

std::optional<std::string> WhyNotFunctions(const Node& node) {
  for (int64_t d = 0; d < RecurrentAttrsOf(node).directions(); ++d) {
    const auto functions = RecurrentFunctionsOf(node, d);
    if (!functions) return functions.error().message();
    for (const RecurrentFunction& f : *functions)
      if (NameOfFunction(f, false).empty())
        return fmt::format("recurrent layers of ML Programs have no {} with these parameters",
                           EnumName(f.activation()));
  }
  return std::nullopt;
}

// Why no operation computes what the node does; nullopt if one does.
std::optional<std::string> WhyNotOperation(const Node& node) {
  const RecurrentAttrs& a = RecurrentAttrsOf(node);
  const LstmAttrs* const lstm = LstmAttrsOf(node);
  if (node.input(kLengths) != nullptr)
    return "recurrent layers of ML Programs have no sequence lengths";
  if (!HasConstantWeights(node)) return "recurrent layers of ML Programs need constant weights";
  if (a.batch_first)
    return "recurrent layers of ML Programs need the time axis first (batch_first is 0)";
  if (std::isfinite(a.clip))
    return "recurrent layers of ML Programs do not clip the arguments of their activations (clip)";
  if (lstm != nullptr && lstm->input_forget)
    return "the lstm of ML Programs does not couple its input and forget gates (input_forget is 0)";
  if (lstm != nullptr && !(lstm->cell_clip > 0))
    return "ML Programs need a positive limit on cell states (cell_clip)";
  if (!node.input(kR)->type().dim(2).is_const()) return "the number of units must be constant";
  return WhyNotFunctions(node);
}

// A node that is no operation is written step by step.
std::optional<std::string> WhyNotRecurrent(const Node& node) {
  const auto operation = WhyNotOperation(node);
  if (!operation) return std::nullopt;
  const auto steps = WhyNotUnrolled(node);
  return steps ? BothReasons(*operation, *steps) : *operation;
}

// The gates of the operations, by their places in the graph.
std::span<const int64_t> GatesInFile(const Node& node) {
  static constexpr int64_t kLstm[] = {0, 2, 1, 3}, kGru[] = {1, 2, 0}, kRnn[] = {0};
  if (LstmAttrsOf(node) != nullptr) return kLstm;
  if (GruAttrsOf(node) != nullptr) return kGru;
  return kRnn;
}

// Writes one node: an operation for each direction, or for both of an lstm.
class LayerExport {
 public:
  LayerExport(ExportContext& ctx, const Node& node)
      : ctx_(ctx),
        node_(node),
        attrs_(RecurrentAttrsOf(node)),
        is_lstm_(LstmAttrsOf(node) != nullptr),
        units_(node.input(kR)->type().dim(2).value()),
        dtype_(node.output()->dtype()),
        steps_(node.input(kX)->type().dim(0)),
        batch_(node.input(kX)->type().dim(1)) {}

  Status Write() {
    NN_ASSIGN(const bool both, HasBothDirections());
    for (int64_t d = 0; d < attrs_.directions(); d += both ? 2 : 1)
      NN_RETURN_IF_ERROR(both ? WriteBoth() : WriteDirection(d));
    for (size_t i = 0; i < node_.outputs().size(); ++i)
      if (IsWanted(i)) NN_RETURN_IF_ERROR(WriteResult(i));
    return {};
  }

 private:
  Dims StateDims(int64_t directions = 1) const { return {batch_, Dim(directions * units_)}; }
  Type StateType(int64_t directions = 1) const { return {dtype_, StateDims(directions)}; }
  Type SequenceType(int64_t directions = 1) const {
    return {dtype_, {IsWanted(0) ? steps_ : Dim(1), batch_, Dim(directions * units_)}};
  }
  // A result that nothing uses is not written.
  bool IsWanted(size_t i) const {
    return i < node_.outputs().size() &&
           (!node_.output(i)->uses().empty() || ctx_.HasName(node_.output(i)));
  }
  std::vector<size_t> States() const {
    return is_lstm_ ? std::vector<size_t>{kInitialH, kInitialC} : std::vector<size_t>{kInitialH};
  }
  static std::string_view StateName(size_t input) {
    return input == kInitialH ? "initial_h" : "initial_c";
  }

  // The functions of both directions of such an operation are the same.
  Result<bool> HasBothDirections() const {
    if (!is_lstm_ || attrs_.directions() == 1) return false;
    NN_ASSIGN(const auto first, RecurrentFunctionsOf(node_, 0));
    NN_ASSIGN(const auto second, RecurrentFunctionsOf(node_, 1));
    return first == second;
  }

  // The rows of a constant for a direction, with the gates in the order of the file.
  Result<Tensor> InFileOrder(size_t input, int64_t d, std::span<const int64_t> gates,
                             int64_t first = 0) const {
    const Tensor& all = node_.input(input)->constant();
    const int64_t columns = all.rank() == 3 ? all.dim(2) : 1;
    const auto rows = static_cast<int64_t>(gates.size()) * units_;
    NN_ASSIGN(TensorBuilder out,
              TensorBuilder::Create(
                  all.dtype(), all.rank() == 3 ? std::vector{rows, columns} : std::vector{rows}));
    int64_t to = 0;
    for (const int64_t gate : gates) {
      const int64_t from = (d * all.dim(1) + first + gate * units_) * columns;
      out.Copy(to, all, from, units_ * columns);
      to += units_ * columns;
    }
    return out.Finish();
  }

  // One bias, or with `input_bias` two.
  Status AddBias(OperationWriter& op, const std::string& suffix, int64_t d, bool has_two) {
    if (node_.input(kBias) == nullptr) return {};
    const auto gates = GatesInFile(node_);
    NN_ASSIGN(const Tensor of_w, InFileOrder(kBias, d, gates));
    NN_ASSIGN(const Tensor of_r, InFileOrder(kBias, d, gates, RecurrentGates(node_) * units_));
    if (has_two) {
      op.Const("input_bias", of_w).Const("bias", of_r);
      return {};
    }
    NN_ASSIGN(TensorBuilder sum, TensorBuilder::Create(of_w.dtype(), of_w.dims()));
    for (int64_t i = 0; i < sum.elements(); ++i)
      sum.SetDouble(i, of_w.GetDouble(i) + of_r.GetDouble(i));
    op.Const("bias" + suffix, sum.Finish());
    return {};
  }

  Status AddWeights(OperationWriter& op, const std::string& suffix, int64_t d,
                    bool has_two_biases) {
    const auto gates = GatesInFile(node_);
    NN_ASSIGN(const Tensor w, InFileOrder(kW, d, gates));
    NN_ASSIGN(const Tensor r, InFileOrder(kR, d, gates));
    op.Const("weight_ih" + suffix, w).Const("weight_hh" + suffix, r);
    NN_RETURN_IF_ERROR(AddBias(op, suffix, d, has_two_biases));
    if (!is_lstm_ || node_.input(kPeepholes) == nullptr) return {};
    NN_ASSIGN(const Tensor peepholes, InFileOrder(kPeepholes, d, gates.first(3)));
    op.Const("peephole" + suffix, peepholes);
    return {};
  }

  // What an operation needs of direction d, which is the first one of `directions`.
  Result<OperationWriter> Begin(int64_t d, int64_t directions, std::string_view direction) {
    std::vector<std::string> states;
    for (const size_t input : States()) {
      NN_ASSIGN(states.emplace_back(), Initial(input, d, directions));
    }
    const GruAttrs* const gru = GruAttrsOf(node_);
    const bool resets_after = gru != nullptr && gru->linear_before_reset;
    OperationWriter op = ctx_.Add(node_.op_name());
    op.In("x", node_.input(kX));
    for (size_t i = 0; i < states.size(); ++i) op.In(StateName(States()[i]), states[i]);
    NN_RETURN_IF_ERROR(AddWeights(op, "", d, resets_after));
    if (directions == 2) NN_RETURN_IF_ERROR(AddWeights(op, "_back", 1, false));
    op.Text("direction", direction).Bool("output_sequence", IsWanted(0));
    if (gru != nullptr && (resets_after || op.Takes("reset_after")))
      op.Bool("reset_after", resets_after);
    if (is_lstm_ && std::isfinite(node_.attrs<LstmAttrs>().cell_clip))
      op.Number("clip", static_cast<double>(node_.attrs<LstmAttrs>().cell_clip));
    NN_RETURN_IF_ERROR(AddFunctions(op, d));
    return op;
  }

  Status AddFunctions(OperationWriter& op, int64_t d) const {
    constexpr std::string_view kInputs[] = {"recurrent_activation", "cell_activation",
                                            "activation"};
    NN_ASSIGN(const auto functions, RecurrentFunctionsOf(node_, d));
    const bool is_rnn = functions.size() == 1;
    for (size_t i = 0; i < functions.size(); ++i) {
      const size_t input = i + 1 == functions.size() ? 2 : i;
      op.Text(kInputs[input], NameOfFunction(functions[i], is_rnn));
    }
    return {};
  }

  // An initial state from direction d on, [B, directions * H].
  Result<std::string> Initial(size_t input, int64_t d, int64_t directions) {
    const Value* const v = node_.input(input);
    if (v == nullptr) return Zeros(directions);
    if (attrs_.directions() == 1)
      return ctx_.Add("squeeze").In("x", v).Ints("axes", {0}).Helper(StateType(), node_);
    if (split_[input].empty()) {
      NN_ASSIGN(const std::string name, ctx_.NameFor(v));
      NN_ASSIGN(split_[input], Halves(name, 0, {dtype_, {Dim(1), batch_, Dim(units_)}}));
    }
    std::vector<std::string>& parts = split_[input];
    std::string state = parts[static_cast<size_t>(d)];
    if (directions == 2) {
      OperationWriter concat = ctx_.Add("concat");
      concat.In("values", parts[0]).In("values", parts[1]).Int("axis", 2);
      NN_ASSIGN(state, concat.Helper({dtype_, {Dim(1), batch_, Dim(2 * units_)}}, node_));
    }
    return ctx_.Add("squeeze")
        .In("x", state)
        .Ints("axes", {0})
        .Helper(StateType(directions), node_);
  }

  // Zeros for each sequence, of which a run may decide how many there are.
  Result<std::string> Zeros(int64_t directions) {
    NN_ASSIGN(const Tensor zero, nn::Number(dtype_, 0));
    if (batch_.is_const()) {
      NN_ASSIGN(TensorBuilder zeros,
                TensorBuilder::Create(dtype_, {batch_.value(), directions * units_}));
      zeros.Fill(0, zeros.elements(), zero);
      return ctx_.AddConstant(zeros.Finish(), "initial");
    }
    NN_ASSIGN(const std::string sizes, ctx_.AddSizes(StateDims(directions)));
    return ctx_.Add("fill")
        .In("shape", sizes)
        .Const("value", zero)
        .Helper(StateType(directions), node_);
  }

  // The halves of a value along an axis, of this type.
  Result<std::vector<std::string>> Halves(const std::string& name, int64_t axis, const Type& type) {
    std::vector<std::string> parts = {ctx_.NewIdentifier("forward"),
                                      ctx_.NewIdentifier("backward")};
    const std::vector<Type> types(2, type);
    NN_RETURN_IF_ERROR(ctx_.Add("split")
                           .In("x", name)
                           .Int("num_splits", 2)
                           .Int("axis", axis)
                           .To(parts, types, node_));
    return parts;
  }

  // Ends an operation, whose results are the sequence and the states.
  Result<std::vector<std::string>> End(OperationWriter& op, int64_t directions) {
    std::vector<std::string> names;
    std::vector<Type> types = {SequenceType(directions)};
    types.resize(1 + States().size(), StateType(directions));
    for (const std::string_view hint : {"sequence", "last", "cell"})
      if (names.size() < types.size()) names.push_back(ctx_.NewIdentifier(hint));
    NN_RETURN_IF_ERROR(op.To(names, types, node_));
    return names;
  }

  Status WriteBoth() {
    NN_ASSIGN(OperationWriter op, Begin(0, 2, "bidirectional"));
    NN_ASSIGN(const auto names, End(op, 2));
    for (size_t i = 0; i < names.size(); ++i) {
      if (!IsWanted(i)) continue;
      NN_ASSIGN(parts_[i], Halves(names[i], i == 0 ? 2 : 1, i == 0 ? SequenceType() : StateType()));
    }
    return {};
  }

  // The sequence of a reversed direction is in the order in which the layer processes it.
  Status WriteDirection(int64_t d) {
    const bool reverses = d == 1 || attrs_.direction == RecurrentDirection::kReverse;
    NN_ASSIGN(OperationWriter op, Begin(d, 1, reverses ? "reverse" : "forward"));
    NN_ASSIGN(auto names, End(op, 1));
    if (reverses && IsWanted(0)) {
      NN_ASSIGN(
          names[0],
          ctx_.Add("reverse").In("x", names[0]).Ints("axes", {0}).Helper(SequenceType(), node_));
    }
    for (size_t i = 0; i < names.size(); ++i) parts_[i].push_back(names[i]);
    return {};
  }

  // The directions along axis 1 of the sequence, or axis 0 of a state.
  Status WriteResult(size_t i) {
    const int64_t axis = i == 0 ? 1 : 0;
    const std::vector<std::string>& parts = parts_[i];
    if (parts.size() == 1)
      return WriteOutput(ctx_.Add("expand_dims").In("x", parts[0]).Ints("axes", {axis}), i);
    return WriteOutput(
        ctx_.Add("stack").In("values", parts[0]).In("values", parts[1]).Int("axis", axis), i);
  }

  Status WriteOutput(OperationWriter& op, size_t i) {
    NN_ASSIGN(const std::string name, ctx_.NameFor(node_.output(i)));
    return op.To(std::span(&name, 1), std::span(&node_.output(i)->type(), 1), node_);
  }

  ExportContext& ctx_;
  const Node& node_;
  const RecurrentAttrs& attrs_;
  bool is_lstm_;
  int64_t units_;
  DType dtype_;
  Dim steps_, batch_;
  std::map<size_t, std::vector<std::string>> split_;  // the initial states, by input
  std::array<std::vector<std::string>, 3> parts_;     // the results, by direction
};

Status WriteRecurrent(ExportContext& ctx, const Node& node) {
  return LayerExport(ctx, node).Write();
}

}  // namespace

Family RecurrentFamily() {
  static constexpr ImportRow kImports[] = {
      {"gru", ImportGruLayer},
      {"lstm", ImportLstmLayer},
      {"rnn", ImportRnnLayer},
  };
  static constexpr ExportRow kExports[] = {
      {"gru", WriteRecurrent, WhyNotRecurrent},
      {"lstm", WriteRecurrent, WhyNotRecurrent},
      {"rnn", WriteRecurrent, WhyNotRecurrent},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program
