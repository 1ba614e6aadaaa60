#include "formats/coreml/export/integer_range.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "ir/op_def.h"
#include "passes/facts/integer_range.h"

namespace nn::coreml {
namespace {

bool IsExact(const IntegerBounds& r) {
  return r.min >= -static_cast<double>(kMostExact) && r.max <= static_cast<double>(kMostExact);
}

bool IsCarried(DType t) {
  return t == DType::kI32 || t == DType::kI64 || t == DType::kBool;
}

bool IsOneOf(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, op) != names.end();
}

}  // namespace

bool AllExact(const Tensor& integers) {
  for (int64_t i = 0; i < integers.elements(); ++i) {
    const double v = integers.GetDouble(i);
    if (v < -static_cast<double>(kMostExact) || v > static_cast<double>(kMostExact)) return false;
  }
  return true;
}

std::string WhyNotComputed(DType dtype) {
  if (dtype == DType::kBool) return "Core ML does not compute with bool";
  return fmt::format(
      "Core ML computes with float32, which may not represent all results of {} exactly",
      DTypeName(dtype));
}

bool IsExactArithmetic(const Node& node) {
  if (!node.op().keeps_integers &&
      !IsOneOf(node.op_name(), {"abs", "neg", "sign", "reduce_sum", "reduce_max", "reduce_min",
                                "cum_sum", "arg_max", "arg_min", "max_pool", "range", "top_k",
                                "pad", "scatter_nd", "scatter_elements"}))
    return false;
  if (!IsCarried(node.output()->dtype()) || node.output()->dtype() == DType::kBool) return false;
  constexpr auto kBound = static_cast<double>(kMostExact);
  IntegerRanges ranges(IntegerBounds{-kBound, kBound});
  for (const Value* v : node.inputs()) {
    if (v == nullptr) continue;
    const auto r = ranges.Of(v);
    if (!r || !IsExact(*r)) return false;
  }
  const auto r = ranges.Of(node.output());
  return r && IsExact(*r);
}

}  // namespace nn::coreml
