#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "formats/nnapi/export/integer_bounds.h"
#include "formats/nnapi/export/integers.h"
#include "ir/op_def.h"
#include "ops/reduce/selection.h"

namespace nn::nnapi {

std::optional<std::string> WhyNotAsFloats(const Node& node) {
  constexpr std::string_view kNeedsShape[] = {"arg_max", "arg_min", "top_k", "gather_nd"};
  constexpr std::string_view kOthers[] = {
      "cast",          "equal",  "not_equal", "less", "less_equal", "greater",
      "greater_equal", "and",    "or",        "xor",  "not",        "reduce_all",
      "reduce_any",    "select", "floor_div", "mod",  "fmod",       "div"};
  const auto is_plain = [](const Value* v) {
    return v == nullptr || IsWholeType(v->type()) ||
           (v->dtype() == DType::kF32 && !v->type().quantized());
  };
  const bool orders = std::ranges::find(kNeedsShape, node.op_name()) != std::end(kNeedsShape);
  if (!orders && std::ranges::find(kOthers, node.op_name()) == std::end(kOthers))
    return std::nullopt;
  if (!std::ranges::all_of(node.inputs(), is_plain) ||
      !std::ranges::all_of(node.outputs(), is_plain))
    return std::nullopt;
  if (!HasWhole(node)) return std::nullopt;
  const std::string lacks = fmt::format("NNAPI 1.0 has no {} operation", node.op_name());
  if (orders && !node.input(0)->type().const_dims())
    return lacks + ", and its decomposition needs a fixed shape; use --batch or --input-shape";
  if (std::ranges::any_of(node.inputs(), [](const Value* v) { return HasNan(v); }))
    return lacks + ", and its decomposition does not handle NaN constants";
  if (node.Is<TopKAttrs>() && !node.input(1)->is_constant())
    return lacks + ", and its decomposition needs a constant k";
  if (orders) return lacks + ", and its input is empty, or too large for its decomposition";
  if (node.op().selects) {
    if (!MayBeNan(node.input(1)) && !MayBeNan(node.input(2))) return std::nullopt;
    return lacks + ", and its decomposition propagates NaN of both operands";
  }
  return lacks + ", and float32 may not represent its integers exactly";
}

}  // namespace nn::nnapi
