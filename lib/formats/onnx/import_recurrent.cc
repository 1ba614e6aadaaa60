// RNN, GRU, LSTM.
#include "base/text.h"
#include "formats/onnx/import.h"
#include "formats/onnx/recurrent_names.h"

namespace nn::onnx {
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
    if (known == nullptr) return ModelError("there is no activation {}", Quote(name));
    a.activations.emplace_back(EnumName(known->activation));
    a.alpha.push_back(next(alphas, alpha, known->alpha));
    a.beta.push_back(next(betas, beta, known->beta));
  }
  return {};
}

Status ReadAttrs(const ImportContext& ctx, RecurrentAttrs& a) {
  const std::string direction = ctx.String("direction", "forward");
  const auto known = ParseEnum<RecurrentDirection>(direction);
  if (!known) return ModelError("direction is {}", Quote(direction));
  a.direction = *known;
  a.batch_first = ctx.Int("layout", 0) != 0;
  a.clip = ctx.Float("clip", a.clip);
  return ReadActivations(ctx, a);
}

template <typename T>
Status ImportRecurrent(ImportContext& ctx, std::string_view op, size_t input_count, T a) {
  NN_RETURN_IF_ERROR(ReadAttrs(ctx, a));
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

void AddRecurrentImports(ImportTable& t) {
  t.Add("", "RNN", 1, ImportRnn);
  t.Add("", "GRU", 1, ImportGru);
  t.Add("", "LSTM", 1, ImportLstm);
}

}  // namespace nn::onnx
