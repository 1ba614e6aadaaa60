// Recurrent layers.
#include "ops/recurrent/recurrent.h"

#include <algorithm>

#include "base/text/text.h"
#include "formats/coreml/program/family.h"
#include "formats/coreml/program/import/operands.h"
#include "ir/text/number.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
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

}  // namespace

Family RecurrentFamily() {
  static constexpr ImportRow kImports[] = {
      {"gru", ImportGruLayer},
      {"lstm", ImportLstmLayer},
      {"rnn", ImportRnnLayer},
  };
  return {kImports};
}

}  // namespace nn::coreml::program
