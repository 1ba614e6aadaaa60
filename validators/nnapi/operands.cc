// Rules for operands: types, quantization, and locations of constants.
#include <algorithm>

#include "base/checked_math.h"
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

template <typename Visit>
void EachOperand(const RuleContext& s, const Visit& visit) {
  for (size_t i = 0; i < s.native().operands.size(); ++i) visit(i, s.native().operands[i]);
}

void ConstantsSized(const RuleContext& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (!IsConstant(o) || !IsTensor(o.type)) return;
    if (std::find(o.dimensions.begin(), o.dimensions.end(), 0u) != o.dimensions.end())
      f.Add(At(OperandPath(i, "dimensions")),
            "operand {} is a constant with unknown dimensions: {}", i, DimsText(o.dimensions));
  });
}

void ConstantsInPool(const RuleContext& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (!IsConstant(o)) return;
    const DataLocation& l = o.location;
    const bool copy = o.lifetime == LifeTime::kConstantCopy;
    const Model& m = s.native();
    if (copy && l.pool_index != 0) {
      f.Add(At(OperandPath(i, "location.poolIndex")),
            "operand {} of lifetime CONSTANT_COPY has poolIndex {} instead of 0", i, l.pool_index);
      return;
    }
    if (!copy && l.pool_index >= m.pools.size()) {
      f.Add(At(OperandPath(i, "location.poolIndex")),
            "operand {} is in pool {}; the model has {} pools", i, l.pool_index, m.pools.size());
      return;
    }
    const uint64_t size = copy ? m.operand_values.size() : m.pools[l.pool_index].bytes.size();
    if (!InRange(l.offset, l.length, size))
      f.Add(At(OperandPath(i, "location")),
            "operand {} takes {} bytes at offset {}; {} has {} bytes", i, l.length, l.offset,
            copy ? "operandValues" : fmt::format("pool {}", l.pool_index), size);
  });
}

void ConstantsFitLength(const RuleContext& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (!IsConstant(o) || IsOem(o)) return;
    const auto need = BytesNeeded(o);
    if (need && *need > 0 && *need != o.location.length)
      f.Add(At(OperandPath(i, "location.length")),
            "operand {} has {} bytes; its type and dimensions require {}", i, o.location.length,
            *need);
  });
}

void OthersHaveNoLocation(const RuleContext& s, Findings& f) {
  EachOperand(s, [&](size_t i, const Operand& o) {
    if (NameOf(o.lifetime) && !IsConstant(o) && o.location != DataLocation())
      f.Add(At(OperandPath(i, "location")),
            "operand {} of lifetime {} has a location; only constants have one", i,
            TextOf(o.lifetime));
  });
}

constexpr Rule kOperandRules[] = {
    {.info =
         {.id = "NNAPI-OPERAND-001",
          .statement = "The type and the lifetime of every operand are defined by NNAPI 1.0.",
          .clause = "types.hal, OperandType",
          .vendor = true,
          .hint =
              "Use a type and a lifetime of NNAPI 1.0; those of later versions are unsupported."},
     .check = Report<Label::kOperandType>},
    {.info = {.id = "NNAPI-OPERAND-002",
              .statement = "Operands of scalar types have no dimensions.",
              .clause = "types.hal, Operand.dimensions",
              .vendor = true,
              .hint = "Remove the dimensions, or use a TENSOR_ type."},
     .check = Report<Label::kScalarDimensions>},
    {.info =
         {.id = "NNAPI-OPERAND-003",
          .statement =
              "A TENSOR_QUANT8_ASYMM operand has a scale above 0 and a zeroPoint from 0 to 255.",
          .clause = "types.hal, OperandType.TENSOR_QUANT8_ASYMM",
          .vendor = true,
          .hint = "Compute scale and zeroPoint from the range of the values."},
     .check = Report<Label::kQuantization>},
    {.info = {.id = "NNAPI-OPERAND-004",
              .statement = "TENSOR_INT32 operands have zeroPoint 0 and a scale of at least 0; "
                           "operands of all other types except TENSOR_QUANT8_ASYMM and the OEM "
                           "types have scale 0 and zeroPoint 0.",
              .clause = "types.hal, Operand.scale",
              .vendor = true,
              .hint =
                  "Set scale and zeroPoint to 0, or use TENSOR_QUANT8_ASYMM for quantized data."},
     .check = Report<Label::kStrayQuantization>},
    {.info = {.id = "NNAPI-OPERAND-005",
              .statement = "Constant tensors have no unknown dimensions.",
              .clause = "types.hal, Operand.dimensions",
              .vendor = true,
              .hint = "Replace each dimension of 0 with the size of the data."},
     .check = ConstantsSized},
    {.info = {.id = "NNAPI-OPERAND-006",
              .statement = "A CONSTANT_COPY operand has poolIndex 0 and lies inside operandValues; "
                           "a CONSTANT_REFERENCE operand lies inside an existing pool.",
              .clause = "types.hal, DataLocation",
              .vendor = true,
              .hint = "Correct poolIndex, offset and length. If they are right, the data is "
                      "truncated; export the model again."},
     .check = ConstantsInPool},
    {.info = {.id = "NNAPI-OPERAND-007",
              .statement = "The length of a constant is the number of bytes that its type and "
                           "dimensions require.",
              .clause = "types.hal, DataLocation",
              .vendor = true,
              .hint = "Set length to the product of the dimensions and the element size in bytes."},
     .check = ConstantsFitLength},
    {.info = {.id = "NNAPI-OPERAND-008",
              .statement = "Only constants have a location: poolIndex, offset and length of other "
                           "operands are 0.",
              .clause = "types.hal, Operand.location",
              .vendor = true,
              .hint = "Set poolIndex, offset and length to 0, or make the operand a constant."},
     .check = OthersHaveNoLocation},
    {.info = {.id = "NNAPI-OPERAND-009",
              .statement = "A tensor takes fewer than 2^32 bytes.",
              .clause = "types.hal, DataLocation",
              .hint = "Split the tensor into smaller ones."},
     .check = Report<Label::kTensorBytes>},
    {.info = {.id = "NNAPI-OPERAND-010",
              .statement = "Operands of tensor types have at least one dimension.",
              .clause = "types.hal, Operand.dimensions",
              .vendor = true,
              .hint = "List the dimensions, with 0 for a size that is unknown."},
     .check = Report<Label::kTensorDimensions>},
    {.info = {.id = "NNAPI-OPERAND-011",
              .statement = "Except for OEM types, the scale of an operand is finite.",
              .clause = "types.hal, OperandType.TENSOR_QUANT8_ASYMM",
              .hint = "Compute the scale from the range of the values."},
     .check = Report<Label::kFiniteScale>},
};

}  // namespace

std::span<const Rule> OperandRules() {
  return kOperandRules;
}

}  // namespace nn::nnapi
