// Constraints on operands: types, dimensions and quantization.
#include <algorithm>
#include <cmath>

#include "formats/nnapi/spec/constraint.h"

namespace nn::nnapi {
namespace {

void CodesKnown(const OperandAt& at, Misfits& f) {
  const Operand& o = at.operand();
  if (!NameOf(o.type)) f.Add(at.At("type"), "{} has unknown type {}", at.Title(), TextOf(o.type));
  if (!NameOf(o.lifetime))
    f.Add(at.At("lifetime"), "{} has unknown lifetime {}", at.Title(), TextOf(o.lifetime));
}

void ScalarsHaveNoDimensions(const OperandAt& at, Misfits& f) {
  const Operand& o = at.operand();
  if (IsScalar(o.type) && !o.dimensions.empty())
    f.Add(at.At("dimensions"), "{} is a scalar but has dimensions {}", at.Title(),
          DimsText(o.dimensions));
}

void TensorsHaveDimensions(const OperandAt& at, Misfits& f) {
  const Operand& o = at.operand();
  if (IsTensor(o.type) && o.dimensions.empty())
    f.Add(at.At("dimensions"), "{} of type {} has no dimensions", at.Title(), TextOf(o.type));
}

void QuantizationValid(const OperandAt& at, Misfits& f) {
  const Operand& o = at.operand();
  if (!IsQuantized(o)) return;
  if (!(o.scale > 0))
    f.Add(at.At("scale"), "{} is quantized but has scale {}", at.Title(), o.scale);
  if (o.zero_point < 0 || o.zero_point > 255)
    f.Add(at.At("zeroPoint"), "{} has zeroPoint {}, which is outside [0, 255]", at.Title(),
          o.zero_point);
}

void ScalesFinite(const OperandAt& at, Misfits& f) {
  const Operand& o = at.operand();
  if (std::isinf(o.scale) && o.scale > 0 && !IsOem(o))
    f.Add(at.At("scale"), "{} has scale {}, which is not finite", at.Title(), o.scale);
}

void NoStrayQuantization(const OperandAt& at, Misfits& f) {
  const Operand& o = at.operand();
  if (IsQuantized(o) || !NameOf(o.type) || IsOem(o)) return;
  const bool scaled = o.type == OperandType::kTensorInt32;
  if (scaled ? !(o.scale >= 0) : o.scale != 0)
    f.Add(at.At("scale"), "{} of type {} has scale {} instead of {}", at.Title(), TextOf(o.type),
          o.scale, scaled ? "0 or more" : "0");
  if (o.zero_point != 0)
    f.Add(at.At("zeroPoint"), "{} of type {} has zeroPoint {} instead of 0", at.Title(),
          TextOf(o.type), o.zero_point);
}

void SizesIn32Bits(const OperandAt& at, Misfits& f) {
  const Operand& o = at.operand();
  if (IsTensor(o.type) && !o.dimensions.empty() && !BytesNeeded(o))
    f.Add(at.At("dimensions"), "{} with dimensions {} takes 2^32 bytes or more", at.Title(),
          DimsText(o.dimensions));
}

constexpr Constraint kOperands[] = {
    {.label = Label::kOperandType, .check_operand = CodesKnown},
    {.label = Label::kScalarDimensions, .check_operand = ScalarsHaveNoDimensions},
    {.label = Label::kTensorDimensions, .check_operand = TensorsHaveDimensions},
    {.label = Label::kQuantization, .check_operand = QuantizationValid},
    {.label = Label::kStrayQuantization, .check_operand = NoStrayQuantization},
    {.label = Label::kFiniteScale, .check_operand = ScalesFinite},
    {.label = Label::kTensorBytes, .check_operand = SizesIn32Bits},
};

}  // namespace

std::span<const Constraint> OperandConstraints() {
  return kOperands;
}

}  // namespace nn::nnapi
