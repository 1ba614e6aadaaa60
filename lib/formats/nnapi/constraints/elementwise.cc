// Constraints on elementwise operations, and on operations that keep the quantization.
#include <algorithm>

#include "formats/nnapi/spec/constraint.h"

namespace nn::nnapi {
namespace {

void ShapesKept(const OperationAt& op, Misfits& f) {
  const Shape* in = op.InputDims(0);
  const Shape* out = op.OutputDims(0);
  if (in != nullptr && out != nullptr && !Agree(*in, *out))
    f.Add(op.AtOutput(0), "{} has shape {} instead of {}", op.OutputTitle(0), DimsText(*out),
          DimsText(*in));
}

// The shape of a op b; nullopt if the shapes cannot be broadcast together.
std::optional<Shape> Broadcast(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    // From the last axis on.
    const uint32_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const uint32_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x > 1 && y > 1) return std::nullopt;
    out[out.size() - 1 - i] =
        x == 0 || y == 0 ? (std::max(x, y) > 1 ? std::max(x, y) : 0) : std::max(x, y);
  }
  return out;
}

void Broadcasts(const OperationAt& op, Misfits& f) {
  const Shape* a = op.InputDims(0);
  const Shape* b = op.InputDims(1);
  if (a == nullptr || b == nullptr) return;
  const auto want = Broadcast(*a, *b);
  const Shape* out = op.OutputDims(0);
  if (!want)
    f.Add(op.Where("inputs"), "{} cannot broadcast {} and {}", op.Title(), DimsText(*a),
          DimsText(*b));
  else if (out != nullptr && !Agree(*want, *out))
    f.Add(op.AtOutput(0), "{} has shape {} instead of {}", op.OutputTitle(0), DimsText(*out),
          DimsText(*want));
}

// All data inputs have the quantization of the output.
void QuantizationKept(const OperationAt& op, Misfits& f) {
  const Operand* out = op.Output(0);
  if (out == nullptr || !HasQuantization(*out)) return;
  for (size_t i = 0; i < op.input_count(); ++i) {
    const Operand* in = op.Input(i);
    const bool is_data = op.signature->InputAt(i, op.input_count()).kind == Argument::Kind::kData;
    if (is_data && in != nullptr && HasQuantization(*in) &&
        (in->scale != out->scale || in->zero_point != out->zero_point))
      f.Add(op.AtOutput(0),
            "input {} of {} has scale {} and zeroPoint {}; the output has {} and {}", i, op.Title(),
            in->scale, in->zero_point, out->scale, out->zero_point);
  }
}

void ProbabilityScale(const OperationAt& op, Misfits& f) {
  const Operand* out = op.Output(0);
  if (out != nullptr && HasQuantization(*out) && (out->scale != 1.0f / 256 || out->zero_point != 0))
    f.Add(op.AtOutput(0), "the output of {} has scale {} and zeroPoint {} instead of 1/256 and 0",
          op.Title(), out->scale, out->zero_point);
}

void BiasNotZero(const OperationAt& op, Misfits& f) {
  if (op.Float(2) == 0.0f)
    f.Add(op.AtInput(2), "the bias of {} is 0; it must be nonzero", op.Title());
}

void BetaPositive(const OperationAt& op, Misfits& f) {
  if (const auto beta = op.Float(1); beta && !(*beta > 0))
    f.Add(op.AtInput(1), "the beta of {} is {}; it must be positive", op.Title(), *beta);
}

constexpr Constraint kElementwise[] = {
    {.label = Label::kSameShape, .check = ShapesKept},
    {.label = Label::kBroadcast, .check = Broadcasts},
    {.label = Label::kSameQuantization, .check = QuantizationKept},
    {.label = Label::kProbabilityScale, .check = ProbabilityScale},
    {.label = Label::kNonzeroBias, .check = BiasNotZero},
    {.label = Label::kPositiveBeta, .check = BetaPositive},
};

}  // namespace

std::span<const Constraint> ElementwiseConstraints() {
  return kElementwise;
}

}  // namespace nn::nnapi
