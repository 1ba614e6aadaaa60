#include "formats/coreml/export/integer_range.h"

#include <fmt/core.h>

#include "ir/op_def.h"
#include "ir/tensor_bounds.h"
#include "ops/support/domain.h"
#include "passes/facts/ranges.h"

namespace nn::coreml {
namespace {

constexpr auto kExactBound = static_cast<double>(kMaxExact);
constexpr Interval kExact = {-kExactBound, kExactBound};

bool IsCarried(DType t) {
  return t == DType::kI32 || t == DType::kI64 || t == DType::kBool;
}

// Whether an operand that must not be 0 may be.
bool MayDivideByZero(const Node& node, Ranges& ranges) {
  const auto domain = Domains().find(node.op_name());
  if (domain == Domains().end()) return false;
  const Domain any;
  for (size_t i = 0; i < node.inputs().size(); ++i)
    if (domain->second(node, i, {&any, 1}).nonzero && ranges.Of(node.input(i)).Contains(0) &&
        !IsDivisor(node.input(i)))
      return true;
  return false;
}

}  // namespace

bool AllExact(const Tensor& integers) {
  const auto bounds = BoundsOf(integers);
  return !bounds || kExact.Contains(*bounds);
}

std::string WhyNotComputed(DType dtype) {
  if (dtype == DType::kBool) return "Core ML does not compute with bool";
  return fmt::format(
      "Core ML computes with float32, which may not represent all results of {} exactly",
      DTypeName(dtype));
}

bool IsExactArithmetic(const Node& node) {
  if (!node.op().exact_integers || !IsCarried(node.output()->dtype()) ||
      node.output()->dtype() == DType::kBool)
    return false;
  Ranges ranges(kExact);
  for (const Value* v : node.inputs())
    if (v != nullptr && (IsFloat(v->dtype()) || !kExact.Contains(ranges.Of(v)))) return false;
  return kExact.Contains(ranges.Of(node.output())) && !MayDivideByZero(node, ranges);
}

}  // namespace nn::coreml
