// Rules of operands: types, quantisation, and where constants lie.
#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

template <typename Visit>
void EachOperand(const Subject& s, const Visit& visit) {
  for (size_t i = 0; i < s.native().operands.size(); ++i) visit(i, s.native().operands[i]);
}

void CodesKnown(const Subject& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (!NameOf(o.type))
      f.Add(At(OperandPath(i, "type")), "operand {} has type {}", i, TextOf(o.type));
    if (!NameOf(o.lifetime))
      f.Add(At(OperandPath(i, "lifetime")), "operand {} has lifetime {}", i, TextOf(o.lifetime));
  });
}

void ScalarsHaveNoDimensions(const Subject& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (IsScalar(o.type) && !o.dimensions.empty())
      f.Add(At(OperandPath(i, "dimensions")), "operand {} is a scalar with dimensions {}", i,
            DimsText(o.dimensions));
  });
}

bool IsOem(const Operand& o) {
  return o.type == OperandType::kOem || o.type == OperandType::kTensorOemByte;
}

void TensorsHaveDimensions(const Subject& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (IsTensor(o.type) && o.dimensions.empty())
      f.Add(At(OperandPath(i, "dimensions")), "operand {} is a {} without dimensions", i,
            TextOf(o.type));
  });
}

void QuantisationValid(const Subject& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (!IsQuantised(o)) return;
    if (!(o.scale > 0))
      f.Add(At(OperandPath(i, "scale")), "operand {} is quantised with scale {}", i, o.scale);
    if (o.zero_point < 0 || o.zero_point > 255)
      f.Add(At(OperandPath(i, "zeroPoint")), "operand {} has zeroPoint {}, outside of [0, 255]", i,
            o.zero_point);
  });
}

void ScalesFinite(const Subject& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (std::isinf(o.scale) && o.scale > 0 && !IsOem(o))
      f.Add(At(OperandPath(i, "scale")), "operand {} has scale {}", i, o.scale);
  });
}

void NoStrayQuantisation(const Subject& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (IsQuantised(o) || !NameOf(o.type) || IsOem(o)) return;
    const bool scaled = o.type == OperandType::kTensorInt32;
    if (scaled ? !(o.scale >= 0) : o.scale != 0)
      f.Add(At(OperandPath(i, "scale")), "operand {} of type {} has scale {}", i, TextOf(o.type),
            o.scale);
    if (o.zero_point != 0)
      f.Add(At(OperandPath(i, "zeroPoint")), "operand {} of type {} has zeroPoint {}", i,
            TextOf(o.type), o.zero_point);
  });
}

// Bytes that type and dimensions give; nullopt if they are not known or beyond 32 bits.
std::optional<uint32_t> BytesNeeded(const Operand& o) {
  uint64_t bytes = ElementSize(o.type);
  if (IsScalar(o.type) && bytes != 0) return static_cast<uint32_t>(bytes);
  if (bytes == 0 || o.dimensions.empty()) return std::nullopt;
  for (const uint32_t d : o.dimensions)
    if (__builtin_mul_overflow(bytes, d, &bytes) || bytes > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(bytes);
}

void ConstantsSized(const Subject& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (!IsConstant(o) || !IsTensor(o.type)) return;
    if (std::find(o.dimensions.begin(), o.dimensions.end(), 0u) != o.dimensions.end())
      f.Add(At(OperandPath(i, "dimensions")), "operand {} is a constant with dimensions {}", i,
            DimsText(o.dimensions));
  });
}

void ConstantsInPool(const Subject& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (!IsConstant(o)) return;
    const DataLocation& l = o.location;
    const bool copy = o.lifetime == LifeTime::kConstantCopy;
    const Model& m = s.native();
    if (copy && l.pool_index != 0) {
      f.Add(At(OperandPath(i, "location.poolIndex")),
            "operand {} lies in operandValues and names pool {} instead of 0", i, l.pool_index);
      return;
    }
    if (!copy && l.pool_index >= m.pools.size()) {
      f.Add(At(OperandPath(i, "location.poolIndex")), "operand {} lies in pool {} of {}", i,
            l.pool_index, m.pools.size());
      return;
    }
    const uint64_t size = copy ? m.operand_values.size() : m.pools[l.pool_index].bytes.size();
    if (!InRange(l.offset, l.length, size))
      f.Add(At(OperandPath(i, "location")), "operand {} lies at {} with {} bytes, outside of {}", i,
            l.offset, l.length, size);
  });
}

void ConstantsFitLength(const Subject& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (!IsConstant(o) || IsOem(o)) return;
    const auto need = BytesNeeded(o);
    if (need && *need > 0 && *need != o.location.length)
      f.Add(At(OperandPath(i, "location.length")),
            "operand {} has {} bytes; its type and dimensions need {}", i, o.location.length,
            *need);
  });
}

void OthersHaveNoLocation(const Subject& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (NameOf(o.lifetime) && !IsConstant(o) && o.location != DataLocation())
      f.Add(At(OperandPath(i, "location")), "operand {} of lifetime {} has a location", i,
            TextOf(o.lifetime));
  });
}

void SizesIn32Bits(const Subject& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (IsTensor(o.type) && !o.dimensions.empty() && !BytesNeeded(o))
      f.Add(At(OperandPath(i, "dimensions")), "operand {} of dimensions {} has 2^32 bytes or more",
            i, DimsText(o.dimensions));
  });
}

constexpr Rule kRules[] = {
    {{"NNAPI-OPERAND-001", Severity::kError, "Types and lifetimes are ones of version 1.0.",
      "types.hal, OperandType", true, "Types and lifetimes of later versions are not in 1.0."},
     CodesKnown},
    {{"NNAPI-OPERAND-002", Severity::kError, "Scalars have no dimensions.",
      "types.hal, Operand.dimensions", true, "Remove the dimensions, or take a TENSOR_ type."},
     ScalarsHaveNoDimensions},
    {{"NNAPI-OPERAND-003", Severity::kError,
      "Quantised tensors have a scale above zero and a zeroPoint of 0 to 255.",
      "types.hal, OperandType.TENSOR_QUANT8_ASYMM", true,
      "Take scale and zeroPoint from the range of the values."},
     QuantisationValid},
    {{"NNAPI-OPERAND-004", Severity::kError,
      "Other operands have scale and zeroPoint 0, but for the scale of TENSOR_INT32.",
      "types.hal, Operand.scale", true, "Set them to 0."},
     NoStrayQuantisation},
    {{"NNAPI-OPERAND-005", Severity::kError, "Dimensions of constants are fully known.",
      "types.hal, Operand.dimensions", true, "Write the sizes that the data have."},
     ConstantsSized},
    {{"NNAPI-OPERAND-006", Severity::kError, "Constants lie inside their pool.",
      "types.hal, DataLocation", true,
      "Check poolIndex and offset, and that the file is complete."},
     ConstantsInPool},
    {{"NNAPI-OPERAND-007", Severity::kError,
      "The length of a constant is that of its type and dimensions.", "types.hal, DataLocation",
      true, "It is the product of the dimensions and the bytes of an element."},
     ConstantsFitLength},
    {{"NNAPI-OPERAND-008", Severity::kError, "Only constants have a location.",
      "types.hal, Operand.location", true, "Set its fields to 0."},
     OthersHaveNoLocation},
    {{"NNAPI-OPERAND-009", Severity::kError, "Tensors have fewer than 2^32 bytes.",
      "types.hal, DataLocation", false, "Split the tensor."},
     SizesIn32Bits},
    {{"NNAPI-OPERAND-010", Severity::kError, "Tensors have at least one dimension.",
      "types.hal, Operand.dimensions", true, "A size that is not known is 0."},
     TensorsHaveDimensions},
    {{"NNAPI-OPERAND-011", Severity::kError, "Scales are finite.",
      "types.hal, OperandType.TENSOR_QUANT8_ASYMM", false,
      "Take the scale from the range of the values."},
     ScalesFinite},
};

}  // namespace

std::span<const Rule> OperandRules() {
  return kRules;
}

}  // namespace nn::nnapi
