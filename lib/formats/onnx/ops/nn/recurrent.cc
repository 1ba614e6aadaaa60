// RNN, GRU, LSTM.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text/refusal.h"
#include "base/text/text.h"
#include "formats/onnx/family.h"
#include "formats/onnx/spec/recurrent_names.h"
#include "ops/recurrent/unroll.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

// activation_alpha and activation_beta hold one number for each activation that takes one.
Status ReadActivations(const ImportContext& ctx, RecurrentAttrs& a) {
  const pb::AttributeProto* names = ctx.FindAttr("activations");
  if (names == nullptr) return {};
  const std::vector<float> alphas = ctx.Floats("activation_alpha");
  const std::vector<float> betas = ctx.Floats("activation_beta");
  size_t alpha = 0;
  size_t beta = 0;
  const auto next = [](const std::vector<float>& list, size_t& at, std::optional<float> fallback) {
    if (!fallback) return 0.0f;
    return at < list.size() ? list[at++] : *fallback;
  };
  for (const std::string& name : names->strings()) {
    const RecurrentActivationName* known = FindRecurrentActivation(name);
    if (known == nullptr) return ModelError("unknown activation {}", Quote(name));
    a.activations.emplace_back(EnumName(known->activation));
    a.alpha.push_back(next(alphas, alpha, known->alpha));
    a.beta.push_back(next(betas, beta, known->beta));
  }
  return {};
}

}  // namespace

Status ReadRecurrentAttrs(const ImportContext& ctx, RecurrentAttrs& a) {
  const std::string direction = ctx.String("direction", "forward");
  const auto known = ParseEnum<RecurrentDirection>(direction);
  if (!known) return ModelError("unknown direction {}", Quote(direction));
  a.direction = *known;
  a.batch_first = ctx.Int("layout", 0) != 0;
  a.clip = ctx.Float("clip", a.clip);
  return ReadActivations(ctx, a);
}

namespace {

template <typename T>
Status ImportRecurrent(ImportContext& ctx, std::string_view op, size_t input_count, T a) {
  NN_RETURN_IF_ERROR(ReadRecurrentAttrs(ctx, a));
  std::vector<Value*> inputs;
  for (size_t i = 0; i < input_count; ++i) {
    Value* input = ctx.input(i);
    if (i < 3) {
      NN_ASSIGN(input, ctx.Required(i));
    }
    inputs.push_back(input);
  }
  const Type& r = inputs[2]->type();
  const int64_t units = ctx.Int("hidden_size", -1);
  if (units >= 0 && r.ranked() && r.rank() == 3 && r.dim(2).is_const() && r.dim(2) != Dim(units))
    return ModelError("hidden_size is {}, but R is {}", units, r.ToString());
  return ctx.Emit(op, std::move(inputs), std::move(a));
}

Status ImportRnn(ImportContext& ctx) {
  return ImportRecurrent(ctx, "rnn", 6, RecurrentAttrs{});
}

Status ImportGru(ImportContext& ctx) {
  GruAttrs a;
  a.linear_before_reset = ctx.Int("linear_before_reset", 0) != 0;
  return ImportRecurrent(ctx, "gru", 6, std::move(a));
}

Status ImportLstm(ImportContext& ctx) {
  LstmAttrs a;
  a.input_forget = ctx.Int("input_forget", 0) != 0;
  return ImportRecurrent(ctx, "lstm", 8, std::move(a));
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

// The inverse of ReadActivations.
void SetActivations(pb::NodeProto* out, const RecurrentAttrs& a) {
  if (a.activations.empty()) return;
  std::vector<std::string> names;
  std::vector<float> alphas, betas;
  for (size_t i = 0; i < a.activations.size(); ++i)
    for (const RecurrentActivationName& row : kRecurrentActivations) {
      if (EnumName(row.activation) != a.activations[i]) continue;
      names.emplace_back(row.onnx);
      if (row.alpha) alphas.push_back(a.alpha[i]);
      if (row.beta) betas.push_back(a.beta[i]);
    }
  SetStrings(out, "activations", names);
  if (!alphas.empty()) SetFloats(out, "activation_alpha", alphas);
  if (!betas.empty()) SetFloats(out, "activation_beta", betas);
}

Status WriteRecurrent(ExportContext& ctx, const Node& node) {
  const RecurrentAttrs& a = RecurrentAttrsOf(node);
  std::string op(node.op_name());
  std::transform(op.begin(), op.end(), op.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  pb::NodeProto* out = ctx.AddNode(node, op);
  SetInt(out, "hidden_size", node.input(2)->type().dim(2).value());
  SetString(out, "direction", EnumName(a.direction));
  SetActivations(out, a);
  if (std::isfinite(a.clip)) SetFloat(out, "clip", a.clip);
  if (a.batch_first) SetInt(out, "layout", 1);
  if (node.attrs().Is<GruAttrs>() && node.attrs<GruAttrs>().linear_before_reset)
    SetInt(out, "linear_before_reset", 1);
  if (node.attrs().Is<LstmAttrs>() && node.attrs<LstmAttrs>().input_forget)
    SetInt(out, "input_forget", 1);
  return {};
}

std::optional<std::string> WhyNotRecurrent(const Node& node) {
  const Dim& units = node.input(2)->type().dim(2);
  if (!units.is_const()) return "the number of units must be constant";
  if (units == 0) return "it must have at least one unit";
  return std::nullopt;
}

std::optional<std::string> WhyNotLstm(const Node& node) {
  if (auto why = WhyNotRecurrent(node); why || !CellClipMatters(node)) return why;
  // It is written step by step.
  const auto steps = WhyNotUnrolled(node);
  constexpr std::string_view kReason = "ONNX's LSTM does not clip its cell state";
  return steps ? BothReasons(kReason, *steps) : std::string(kReason);
}

int64_t RecurrentOpset(const Node& node) {
  if (node.input(0)->dtype() == DType::kBF16) return 22;
  return RecurrentAttrsOf(node).batch_first ? 14 : 7;
}

}  // namespace

namespace {

constexpr ImportRow kRecurrentImports[] = {
    {.op = "RNN", .since = 1, .import = ImportRnn},
    {.op = "GRU", .since = 1, .import = ImportGru},
    {.op = "LSTM", .since = 1, .import = ImportLstm},
};

constexpr ExportRow kRecurrentExports[] = {
    {.op = "rnn", .write = WriteRecurrent, .why_not = WhyNotRecurrent, .min_opset = RecurrentOpset},
    {.op = "gru", .write = WriteRecurrent, .why_not = WhyNotRecurrent, .min_opset = RecurrentOpset},
    {.op = "lstm", .write = WriteRecurrent, .why_not = WhyNotLstm, .min_opset = RecurrentOpset},
};

}  // namespace

Family RecurrentFamily() {
  return {.imports = kRecurrentImports, .exports = kRecurrentExports};
}

}  // namespace nn::onnx
