#include "ops/nn/attention/linear_attention.h"
#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/text/text.h"
#include "formats/onnx/family.h"

namespace nn::onnx {
namespace {

struct LinearRule {
  std::string_view name;
  bool decay, beta;
};
constexpr LinearRule kLinearRules[] = {{"linear", false, false},
                                       {"gated", true, false},
                                       {"delta", false, true},
                                       {"gated_delta", true, true}};

// The rule agrees with the operands. chunk_size, which does not affect the result, is ignored.
Status ImportLinearAttention(ImportContext& ctx) {
  std::vector<Value*> inputs;
  for (size_t i = 0; i < 6; ++i) inputs.push_back(ctx.input(i));
  const std::string name = ctx.String("update_rule", "gated_delta");
  const auto rule = std::ranges::find(kLinearRules, name, &LinearRule::name);
  if (rule == std::end(kLinearRules)) return ModelError("unknown update_rule {}", Quote(name));
  for (const auto& [operand, wanted, i] :
       {std::tuple("decay", rule->decay, size_t{4}), std::tuple("beta", rule->beta, size_t{5})})
    if (wanted != (inputs[i] != nullptr))
      return ModelError("update_rule {} {} {}", name, wanted ? "needs" : "has no", operand);
  LinearAttentionAttrs a;
  NN_ASSIGN(a.q_heads, ctx.RequiredInt("q_num_heads"));
  NN_ASSIGN(a.kv_heads, ctx.RequiredInt("kv_num_heads"));
  a.scale = ctx.Float("scale", 0);
  return ctx.Emit("linear_attention", std::move(inputs), a);
}

constexpr ImportRow kLinearAttentionImports[] = {
    {.op = "LinearAttention", .since = 27, .import = ImportLinearAttention, .inputs = 3}};

}  // namespace

Family LinearAttentionFamily() {
  return {.imports = kLinearAttentionImports};
}

}  // namespace nn::onnx
