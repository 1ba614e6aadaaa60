// Rules about versions: which version of an operator introduced an option.
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

using Op = fb::BuiltinOperator;
using Type = fb::TensorType;

// An option, the version of the operator that introduced it, and whether an operator uses it.
struct Option {
  Op op;
  int32_t version;
  std::string_view name;
  bool (*used)(const fb::Operator& op);
};

template <typename Options>
bool IsDilated(const Options* o) {
  return o != nullptr && (o->dilation_w_factor() != 1 || o->dilation_h_factor() != 1);
}

template <typename Options>
bool HasBiasType(const Options* o) {
  return o != nullptr && o->quantized_bias_type() != Type::FLOAT32;
}

template <typename Options>
bool IsAsymmetric(const Options* o) {
  return o != nullptr && o->asymmetric_quantize_inputs();
}

constexpr Option kOptions[] = {
    {Op::CONV_2D, 8, "quantized_bias_type",
     [](const fb::Operator& o) { return HasBiasType(o.builtin_options_as_Conv2DOptions()); }},
    {Op::DEPTHWISE_CONV_2D, 2, "a dilation other than 1",
     [](const fb::Operator& o) {
       return IsDilated(o.builtin_options_as_DepthwiseConv2DOptions());
     }},
    {Op::TRANSPOSE_CONV, 4, "fused_activation_function",
     [](const fb::Operator& o) {
       const auto* p = o.builtin_options_as_TransposeConvOptions();
       return p != nullptr && p->fused_activation_function() != fb::ActivationFunctionType::NONE;
     }},
    {Op::TRANSPOSE_CONV, 5, "quantized_bias_type",
     [](const fb::Operator& o) {
       return HasBiasType(o.builtin_options_as_TransposeConvOptions());
     }},
    {Op::FULLY_CONNECTED, 2, "weights_format",
     [](const fb::Operator& o) {
       const auto* p = o.builtin_options_as_FullyConnectedOptions();
       return p != nullptr &&
              p->weights_format() != fb::FullyConnectedOptionsWeightsFormat::DEFAULT;
     }},
    {Op::FULLY_CONNECTED, 5, "keep_num_dims",
     [](const fb::Operator& o) {
       const auto* p = o.builtin_options_as_FullyConnectedOptions();
       return p != nullptr && p->keep_num_dims();
     }},
    {Op::FULLY_CONNECTED, 7, "asymmetric_quantize_inputs",
     [](const fb::Operator& o) {
       return IsAsymmetric(o.builtin_options_as_FullyConnectedOptions());
     }},
    {Op::FULLY_CONNECTED, 11, "quantized_bias_type",
     [](const fb::Operator& o) {
       return HasBiasType(o.builtin_options_as_FullyConnectedOptions());
     }},
    {Op::BATCH_MATMUL, 4, "asymmetric_quantize_inputs",
     [](const fb::Operator& o) { return IsAsymmetric(o.builtin_options_as_BatchMatMulOptions()); }},
    {Op::GATHER, 5, "batch_dims",
     [](const fb::Operator& o) {
       const auto* p = o.builtin_options_as_GatherOptions();
       return p != nullptr && p->batch_dims() != 0;
     }},
    {Op::LSTM, 2, "kernel_type BASIC",
     [](const fb::Operator& o) {
       const auto* p = o.builtin_options_as_LSTMOptions();
       return p != nullptr && p->kernel_type() == fb::LSTMKernelType::BASIC;
     }},
    {Op::LSTM, 4, "asymmetric_quantize_inputs",
     [](const fb::Operator& o) { return IsAsymmetric(o.builtin_options_as_LSTMOptions()); }},
    {Op::UNIDIRECTIONAL_SEQUENCE_LSTM, 3, "asymmetric_quantize_inputs",
     [](const fb::Operator& o) {
       return IsAsymmetric(o.builtin_options_as_UnidirectionalSequenceLSTMOptions());
     }},
    {Op::BIDIRECTIONAL_SEQUENCE_LSTM, 2, "a time_major of false",
     [](const fb::Operator& o) {
       const auto* p = o.builtin_options_as_BidirectionalSequenceLSTMOptions();
       return p != nullptr && !p->time_major();
     }},
    {Op::BIDIRECTIONAL_SEQUENCE_LSTM, 3, "asymmetric_quantize_inputs",
     [](const fb::Operator& o) {
       return IsAsymmetric(o.builtin_options_as_BidirectionalSequenceLSTMOptions());
     }},
    {Op::FAKE_QUANT, 2, "narrow_range",
     [](const fb::Operator& o) {
       const auto* p = o.builtin_options_as_FakeQuantOptions();
       return p != nullptr && p->narrow_range();
     }},
};

void OptionsOfVersion(const RuleContext& s, Findings& f) {
  for (const OperatorAt& at : s.operators()) {
    if (at.code == nullptr) continue;
    const Op op = OperatorOf(*at.code);
    for (const Option& option : kOptions)
      if (option.op == op && at.code->version() < option.version && option.used(*at.op))
        f.Add(Where(at, "builtin_options"),
              "{} has version {} but uses {}, which requires version {}", Title(at),
              at.code->version(), option.name, option.version);
  }
}

constexpr Rule kVersionRules[] = {
    {.info = {.id = "TFLITE-OP-020",
              .severity = Severity::kWarning,
              .statement =
                  "Every option that an operator uses exists in the version of its operator code.",
              .clause = "schema.fbs, comments of Conv2DOptions, FullyConnectedOptions and others",
              .hint = "Raise OperatorCode.version to the version that the message names."},
     .check = OptionsOfVersion},
};

}  // namespace

std::span<const Rule> VersionRules() {
  return kVersionRules;
}

}  // namespace nn::tflite
