#include "formats/tflite/spec/operand_fit.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/checked_math.h"
#include "formats/tflite/file/tensor.h"

namespace nn::tflite {
namespace {

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

std::optional<std::string> WhyNotScales(fb::BuiltinOperator op,
                                        const std::vector<const Type*>& inputs,
                                        const std::vector<const Type*>& outputs) {
  const Signature* signature = FindSignature(op);
  if (signature == nullptr) return std::nullopt;
  const auto because = [&](std::string_view text) {
    return fmt::format("the {} operator of TensorFlow Lite: {}", fb::EnumNameBuiltinOperator(op),
                       text);
  };
  for (const bool is_output : {false, true}) {
    const auto& types = is_output ? outputs : inputs;
    for (size_t i = 0; i < types.size(); ++i) {
      const auto* operand = OperandAt(is_output ? signature->outputs : signature->inputs, i);
      if (operand == nullptr || types[i] == nullptr) continue;
      for (const Misfit& m : MisfitsOf(*operand, FactsOf(*types[i]), is_output, nullptr, ""))
        if (m.kind == Misfit::Kind::kZeroPoint) return because(m.text);
      if (const auto misfit = is_output ? WhyNotFixed(op, inputs, *types[i]) : std::nullopt)
        return because(*misfit);
    }
  }
  return std::nullopt;
}

}  // namespace nn::tflite
