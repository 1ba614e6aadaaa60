// RNN, GRU, LSTM.
#include <algorithm>
#include <cmath>

#include "formats/onnx/export.h"
#include "formats/onnx/recurrent_names.h"

namespace nn::onnx {
namespace {

// The lists that ReadActivations of import_recurrent.cc takes apart.
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
  if (node.Is("gru") && node.attrs<GruAttrs>().linear_before_reset)
    SetInt(out, "linear_before_reset", 1);
  if (node.Is("lstm") && node.attrs<LstmAttrs>().input_forget) SetInt(out, "input_forget", 1);
  return {};
}

std::optional<std::string> WhyNot(const Node& node) {
  if (!node.input(2)->type().dim(2).is_const()) return "the number of its units is not known";
  return std::nullopt;
}

int64_t Opset(const Node& node) {
  if (node.input(0)->dtype() == DType::kBF16) return 22;
  return RecurrentAttrsOf(node).batch_first ? 14 : 7;
}

}  // namespace

void AddRecurrentExports(std::vector<ExportRow>& rows) {
  for (const char* op : {"rnn", "gru", "lstm"}) rows.push_back({op, WriteRecurrent, WhyNot, Opset});
}

}  // namespace nn::onnx
