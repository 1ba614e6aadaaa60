#include "formats/onnx/import/activation.h"

#include <algorithm>
#include <utility>

#include "base/text/text.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::onnx {
namespace {

struct ActivationRow {
  std::string_view name;
  std::string_view op;
  size_t params = 0;
  Attrs (*attrs)(std::span<const float> params) = nullptr;
};

constexpr ActivationRow kActivations[] = {
    {"Clip", "clip", 2,
     [](std::span<const float> p) {
       return Attrs(ClipAttrs{p[0], p[1]});
     }},
    {"Elu", "elu", 1, [](std::span<const float> p) { return Attrs(AlphaAttrs{p[0]}); }},
    {"HardSigmoid", "hard_sigmoid", 2,
     [](std::span<const float> p) {
       return Attrs(HardSigmoidAttrs{p[0], p[1]});
     }},
    {"LeakyRelu", "leaky_relu", 1,
     [](std::span<const float> p) { return Attrs(LeakyReluAttrs{p[0]}); }},
    {"Relu", "relu"},
    {"Sigmoid", "sigmoid"},
    {"Softplus", "softplus"},
    {"Softsign", "softsign"},
    {"Tanh", "tanh"},
    {"ThresholdedRelu", "thresholded_relu", 1,
     [](std::span<const float> p) { return Attrs(AlphaAttrs{p[0]}); }},
};

}  // namespace

Result<Term> Activated(const ImportContext& ctx, const Term& v, std::string_view name,
                       std::span<const float> params) {
  if (name.empty()) return v;
  const auto* const row = std::ranges::find(kActivations, name, &ActivationRow::name);
  if (row == std::end(kActivations))
    return UnsupportedError("{} with the activation {}", ctx.node().op_type(), Quote(name));
  if (params.size() < row->params)
    return ModelError("the activation {} has {} parameters; {} are needed", name, params.size(),
                      row->params);
  return Apply(row->op, {v}, row->attrs == nullptr ? Attrs() : row->attrs(params));
}

}  // namespace nn::onnx
