#include "formats/tflite/export/narrow_cast.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/op_def.h"
#include "ops/support/term_ops.h"
#include "passes/facts/ranges.h"
#include "rewrite/expand.h"

namespace nn::tflite {
namespace {

// Whether the operators that compute the value, such as a clip, bound its integer part, which CAST
// takes, to the range of the type.
bool IsBoundedTo(const Value* v, DType type) {
  const Interval range = Ranges().Of(v);
  return std::trunc(range.min) >= static_cast<double>(MinInteger(type)) &&
         std::trunc(range.max) <= static_cast<double>(MaxInteger(type));
}

// The integer part of x, of which as many low bits are kept as the type has.
Term Wrapped(const Term& x, DType to) {
  const auto low = static_cast<float>(MinInteger(to)), high = static_cast<float>(MaxInteger(to));
  const Term zero = Tensor::Scalar(0.0f);
  const Term count = Tensor::Scalar(std::ldexp(1.0f, DTypeBits(to)));
  const Term whole = Select(Less(x, zero), Apply("ceil", {x}), Apply("floor", {x}));
  const Term rest = Apply("mod", {whole, count});
  const Term wrapped = Select(Greater(rest, high), rest - count, rest);
  // The remainder of an infinity is NaN, which becomes 0.
  return Clip(Select(Equal(wrapped, wrapped), wrapped, zero), low, high);
}

}  // namespace

std::optional<std::string> WhyNotNarrowCast(const Value* x, DType to) {
  const DType from = x->dtype();
  if (!IsNarrowInteger(from) && !IsNarrowInteger(to)) return std::nullopt;
  if (from == to) return std::nullopt;
  if ((IsNarrowInteger(to) ? from : to) != DType::kF32)
    return fmt::format(
        "CAST converts {} to and from f32 only; cast to f32 in between in the model, if its values "
        "are exact in f32",
        DTypeName(IsNarrowInteger(to) ? to : from));
  if (IsNarrowInteger(to) && !IsBoundedTo(x, to))
    return fmt::format("CAST to {} saturates instead of wrapping", DTypeName(to));
  return std::nullopt;
}

Result<bool> NarrowCast(Graph& graph, Node& node) {
  const DType from = node.input(0)->dtype(), to = node.output()->dtype();
  // A cast that has this form already may be illegal for another reason.
  if (!WhyNotNarrowCast(node.input(0), to)) return false;
  const bool exact = IsFloat(from) ? from != DType::kF64 : DTypeBits(from) <= 16;
  if (!exact || node.input(0)->type().quantized() || node.output()->type().quantized())
    return false;
  Term x = node.input(0);
  if (from != DType::kF32) x = Cast(x, DType::kF32);
  if (IsNarrowInteger(to)) x = Wrapped(x, to);
  if (to != DType::kF32) x = Cast(x, to);
  return Expansion(graph, node).Replace(x);
}

}  // namespace nn::tflite
