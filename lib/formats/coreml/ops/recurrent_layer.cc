// Export of rnn, gru and lstm as layers; those that no layer represents are written step by step
// (ops/recurrent/unroll.h).
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text/refusal.h"
#include "formats/coreml/family.h"
#include "formats/coreml/file/weights.h"
#include "formats/coreml/import/recurrent_fields.h"
#include "ops/recurrent/gates.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/unroll.h"

namespace nn::coreml {
namespace {

using enum RecurrentInputs::Index;

const RecurrentActivationRow* RowOf(const RecurrentFunction& f) {
  const auto* const row =
      std::ranges::find(kRecurrentActivations, f.activation(), &RecurrentActivationRow::activation);
  if (row == std::end(kRecurrentActivations)) return nullptr;
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
  const auto* const lstm = LstmAttrsOf(node);
  const auto* const gru = GruAttrsOf(node);
  if (node.input(kLengths) != nullptr) return "Core ML's recurrent layers have no sequence lengths";
  if (!HasConstantWeights(node)) return "Core ML's recurrent layers need constant weights";
  if (a.batch_first)
    return "Core ML's recurrent layers need the time axis first (batch_first is 0)";
  if (a.directions() == 2 && lstm == nullptr) return "only Core ML's LSTM has two directions";
  if (std::isfinite(a.clip)) return "Core ML's recurrent layers do not clip their activations";
  if (gru != nullptr && gru->linear_before_reset)
    return "Core ML's GRU applies its reset gate before the product (linear_before_reset is 0)";
  if (lstm != nullptr && !(lstm->cell_clip > 0))
    return "Core ML needs a positive limit on cell states (cell_clip)";
  const Dims& x = *node.input(kX)->type().dims;
  if (!std::ranges::all_of(x, IsPositive) || !node.input(kR)->type().dim(2).is_const())
    return "Core ML has no empty sequences";
  const bool all_states =
      node.input(kInitialH) != nullptr && (lstm == nullptr || node.input(kInitialC) != nullptr);
  const bool no_states = node.input(kInitialH) == nullptr && node.input(kInitialC) == nullptr;
  const bool needs_state = lstm == nullptr && gru == nullptr;
  if (!all_states && (!no_states || needs_state) && !x[1].is_const())
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
  return steps ? BothReasons(*layer, *steps) : *layer;
}

// Writes one node.
class RecurrentWriter {
 public:
  RecurrentWriter(ExportContext& ctx, const Node& node)
      : ctx_(ctx),
        node_(node),
        attrs_(RecurrentAttrsOf(node)),
        is_lstm_(LstmAttrsOf(node) != nullptr),
        is_gru_(GruAttrsOf(node) != nullptr),
        units_(node.input(kR)->type().dim(2).value()) {}

  Status Write() {
    const bool both = attrs_.directions() == 2;
    const std::string_view kind = is_gru_     ? "gru"
                                  : !is_lstm_ ? "simpleRecurrent"
                                  : both      ? "biDirectionalLSTM"
                                              : "uniDirectionalLSTM";
    std::vector<std::string> inputs = {Unit(ctx_.NameOf(node_.input(kX)), "x", {3, 4})};
    AddStates(inputs);
    const bool sequence = IsWanted(0);
    std::vector<std::string> outputs = {Name("y")};
    for (int64_t d = 0; d < attrs_.directions(); ++d) {
      outputs.push_back(Name("h"));
      if (is_lstm_) outputs.push_back(Name("c"));
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
    const bool any = node_.input(kInitialH) != nullptr || node_.input(kInitialC) != nullptr;
    if (!any && (is_lstm_ || is_gru_)) return;
    std::vector<std::vector<std::string>> states = {StatesOf(kInitialH)};
    if (is_lstm_) states.push_back(StatesOf(kInitialC));
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
      ctx_.AddConstant(zeros, out[0]);
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
    WriteLayerWeights(w.Sub(fields[0]), Rows(kW, d, g * units_, units_), ctx_.trial());
    WriteLayerWeights(w.Sub(fields[1]), Rows(kR, d, g * units_, units_), ctx_.trial());
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
    const RecurrentActivationRow& row = *RowOf(f);
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
        WriteWeights(w.Sub(GateField(kLstmGates[g], "PeepholeVector")),
                     Rows(kPeepholes, d, static_cast<int64_t>(g) * units_, units_));
    }
    if (!both) p.Bool("reverseInput", attrs_.direction == RecurrentDirection::kReverse);
  }

  void WriteParams(Writer p, bool sequence) {
    p.Int("inputVectorSize", node_.input(kW)->constant().dim(2));
    p.Int("outputVectorSize", units_);
    if (is_lstm_) return WriteLstm(p, sequence);
    const bool has_bias = node_.input(kBias) != nullptr;
    p.Bool("sequenceOutput", sequence);
    p.Bool("reverseInput", attrs_.direction == RecurrentDirection::kReverse);
    if (is_gru_) {
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
  bool is_lstm_, is_gru_;
  int64_t units_;
};

Status WriteRecurrent(ExportContext& ctx, const Node& node) {
  return RecurrentWriter(ctx, node).Write();
}

constexpr ExportRow kRecurrentLayerExports[] = {
    {.op = "rnn", .write = WriteRecurrent, .why_not = WhyNotRecurrent, .types = Types::kAny},
    {.op = "gru", .write = WriteRecurrent, .why_not = WhyNotRecurrent, .types = Types::kAny},
    {.op = "lstm", .write = WriteRecurrent, .why_not = WhyNotRecurrent, .types = Types::kAny},
};

}  // namespace

Family RecurrentLayerFamily() {
  return {.exports = kRecurrentLayerExports};
}

}  // namespace nn::coreml
