#include "formats/tflite/spec/operand_fit.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/checked_math.h"
#include "formats/tflite/file/tensor.h"

namespace nn::tflite {
namespace {

// The misfit of one operand, as text.
std::optional<std::string> WhyNotOperand(const SignatureOperand& operand, const Type& type,
                                         const Signature& signature,
                                         const std::vector<const Type*>& inputs, bool is_output) {
  const auto same = static_cast<size_t>(std::max(operand.same_as, 0));
  const bool has_other = operand.same_as >= 0 && same < inputs.size() && inputs[same] != nullptr;
  const OperandFacts other = has_other ? FactsOf(*inputs[same]) : OperandFacts();
  const auto misfits = MisfitsOf(operand, FactsOf(type), is_output, has_other ? &other : nullptr,
                                 has_other ? std::string_view(signature.inputs[same].name) : "");
  return misfits.empty() ? std::nullopt : std::optional(misfits[0].text);
}

// The misfit of a result with a fixed scale, as text.
std::optional<std::string> WhyNotFixed(fb::BuiltinOperator op,
                                       const std::vector<const Type*>& inputs, const Type& type) {
  const auto& quant = type.quant;
  if (inputs.empty() || inputs[0] == nullptr || (quant != nullptr && quant->per_axis()))
    return std::nullopt;
  const auto misfit = FixedQuantMisfit(op, FactsOf(*inputs[0]).type, FactsOf(type).type,
                                       quant == nullptr ? 0 : quant->scale(),
                                       quant == nullptr ? 0 : quant->zero_point());
  return misfit ? std::optional("the result has " + *misfit) : std::nullopt;
}

// The first reason, for each operand with its signature.
template <typename F>
std::optional<std::string> FirstReason(const Signature& signature,
                                       const std::vector<const Type*>& inputs,
                                       const std::vector<const Type*>& outputs, const F& reason) {
  for (const bool is_output : {false, true}) {
    const auto& types = is_output ? outputs : inputs;
    for (size_t i = 0; i < types.size(); ++i) {
      const auto* operand = OperandAt(is_output ? signature.outputs : signature.inputs, i);
      if (operand == nullptr || types[i] == nullptr) continue;
      if (const auto text = reason(*operand, *types[i], is_output))
        return fmt::format("the {} operator of TensorFlow Lite: {}",
                           fb::EnumNameBuiltinOperator(signature.op), *text);
    }
  }
  return std::nullopt;
}

}  // namespace

OperandFacts FactsOf(const Type& type) {
  const auto dims = type.const_dims();
  OperandFacts facts{TensorTypeOf(type.dtype).value_or(fb::TensorType::FLOAT32),
                     type.ranked() ? type.rank() : -1,
                     dims ? CheckedElements(*dims).value_or(-1) : -1,
                     type.quantized(),
                     {}};
  if (type.quantized() && !type.quant->per_axis()) facts.zero_point = type.quant->zero_point();
  return facts;
}

std::optional<std::string> WhyNotOperands(fb::BuiltinOperator op,
                                          const std::vector<const Type*>& inputs,
                                          const std::vector<const Type*>& outputs) {
  const Signature* signature = FindSignature(op);
  if (signature == nullptr) return std::nullopt;
  return FirstReason(*signature, inputs, outputs,
                     [&](const SignatureOperand& operand, const Type& type, bool is_output) {
                       auto reason = WhyNotOperand(operand, type, *signature, inputs, is_output);
                       return reason || !is_output ? reason : WhyNotFixed(op, inputs, type);
                     });
}

std::optional<std::string> WhyNotScales(fb::BuiltinOperator op,
                                        const std::vector<const Type*>& inputs,
                                        const std::vector<const Type*>& outputs) {
  const Signature* signature = FindSignature(op);
  if (signature == nullptr) return std::nullopt;
  return FirstReason(*signature, inputs, outputs,
                     [&](const SignatureOperand& operand, const Type& type,
                         bool is_output) -> std::optional<std::string> {
                       for (Misfit& m : MisfitsOf(operand, FactsOf(type), is_output, nullptr, ""))
                         if (m.kind == Misfit::Kind::kZeroPoint) return std::move(m.text);
                       return is_output ? WhyNotFixed(op, inputs, type) : std::nullopt;
                     });
}

}  // namespace nn::tflite
