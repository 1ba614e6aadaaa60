// Constraints on quantized and compressed constants.
#include <algorithm>
#include <bit>

#include "base/checked_math.h"
#include "coreml_mil.pb.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/program/spec/constraint.h"

namespace nn::coreml::program {
namespace {

// ---- Scales -------------------------------------------------------------------------------------

// Whether an operand is a scalar, or a vector as long as the axis.
void NeedOneOrMany(const ConstraintAt& c, size_t i, int64_t size) {
  if (c.RankOf(i) == 1) c.NeedSize(i, 0, size, "the size of the axis");
}

// The size of the axis, operand i, of operand 0.
int64_t SizeOfAxis(const ConstraintAt& c, size_t i) {
  const auto rank = c.RankOf(0);
  const auto axis = rank ? c.Axis(i, *rank) : std::nullopt;
  return axis ? c.SizeOf(0, *axis) : kAnySize;
}

// data, scale, axis
void CheckOneOrAxisMany(const ConstraintAt& c) {
  NeedOneOrMany(c, 1, SizeOfAxis(c, 2));
}

// data, scale, zero_point, axis
void CheckScalesOfAxis(const ConstraintAt& c) {
  const auto scale = c.RankOf(1), zero = c.RankOf(2), rank = c.RankOf(0);
  if (!scale) return;
  if (zero && *zero != *scale)
    c.Add("input {} has rank {}, but input {} has rank {}", c.Name(2), *zero, c.Name(1), *scale);
  if (*scale == 0 && c.Has(3))
    c.Add("input {} is given, but input {} is a scalar", c.Name(3), c.Name(1));
  if (*scale != 1) return;
  if (!c.Has(3))
    return c.Add("input {} is missing, but input {} is a vector", c.Name(3), c.Name(1));
  if (!rank || !c.NeedAxis(3, *rank)) return;
  NeedOneOrMany(c, 1, SizeOfAxis(c, 3));
  NeedOneOrMany(c, 2, SizeOfAxis(c, 3));
}

// data, scale. Palettes have two more axes than the data.
void CheckBlocks(const ConstraintAt& c) {
  const auto data = c.SizesOf(0), blocks = c.SizesOf(1);
  if (!data || !blocks || blocks->size() < data->size()) return;
  for (size_t i = 0; i < data->size(); ++i) {
    const int64_t size = (*data)[i], count = (*blocks)[i];
    if (size != kAnySize && count != kAnySize && (count == 0 || size % count != 0))
      c.Add("input {} has size {} along axis {}, which does not divide {}", c.Name(1), count, i,
            size);
  }
}

// ---- Palettes -----------------------------------------------------------------------------------

// The bits of an index into a palette of this size; 0 if there is no such palette.
int BitsForPalette(int64_t entries) {
  for (const int bits : {1, 2, 4, 6, 8})
    if (entries == int64_t{1} << bits) return bits;
  return 0;
}

void CheckPaletteSize(const ConstraintAt& c) {
  const int64_t entries = c.SizeOf(0, 0);
  if (entries != kAnySize && BitsForPalette(entries) == 0)
    c.Add("input {} has {} entries instead of 2, 4, 16, 64 or 256", c.Name(0), entries);
}

// indices, lut
void CheckPaletteBits(const ConstraintAt& c) {
  const auto type = c.facts().ElementOf(c.Name(0));
  const int64_t entries = c.SizeOf(1, -2);
  const int bits = type ? BitsOf(*type) : 0;
  if (bits >= 1 && bits <= 8 && !MayEqual(entries, int64_t{1} << bits))
    c.Add("input {} has {} entries, but indices of {} bits", c.Name(1), entries, bits);
}

// The elements of the shape that an operand lists; kAnySize if it is not known.
int64_t ElementsOfShape(const ConstraintAt& c, size_t shape) {
  const auto sizes = c.Ints(shape);
  return sizes ? ElementsIn(*sizes) : kAnySize;
}

// indices, lut, shape
void CheckPackedIndices(const ConstraintAt& c) {
  const int64_t entries = c.SizeOf(1, 0), elements = ElementsOfShape(c, 2);
  const int bits = BitsForPalette(entries);
  if (bits == 0 || elements == kAnySize) return;
  c.NeedSize(0, 0, CeilDiv(elements * bits, int64_t{8}),
             fmt::format("the bytes of {} indices of {} bits", elements, bits));
}

// Whether the palette has vectors, along an axis of the indices.
bool HasVectors(const ConstraintAt& c) {
  return c.SizeOf(1, -1) > 1;
}

// indices, lut, vector_axis
void CheckVectorAxis(const ConstraintAt& c) {
  const auto rank = c.RankOf(0);
  if (!c.Has(2)) {
    if (HasVectors(c)) c.Add("input {} is missing, but there are vectors", c.Name(2));
  } else if (rank) {
    c.NeedAxis(2, *rank);
  }
}

// The results are [indices], or a mask and the numbers that are not 0.
void CheckVectorShape(const ConstraintAt& c) {
  auto sizes = c.SizesOf(0);
  const int64_t vector = c.SizeOf(1, -1);
  if (!sizes || vector == kAnySize) return;
  if (vector > 1) {
    const auto axis = c.Axis(2, static_cast<int64_t>(sizes->size()));
    if (!axis) return;
    int64_t& size = (*sizes)[static_cast<size_t>(*axis)];
    size = MultiplySizes(size, vector);
  }
  c.NeedResult(0, sizes);
  if (c.facts().results() > 1)
    c.NeedResult(1, Sizes{MultiplySizes(c.facts().SizeOf("indices_nonzero_data", 0), vector)});
}

// ---- Masks --------------------------------------------------------------------------------------

// Masks that are longer are not read.
constexpr int64_t kMostMaskBytes = int64_t{1} << 20;

// mask, shape
void CheckPackedMask(const ConstraintAt& c) {
  const int64_t elements = ElementsOfShape(c, 1);
  if (elements != kAnySize)
    c.NeedSize(0, 0, CeilDiv(elements, int64_t{8}), fmt::format("the bytes of {} bits", elements));
}

// Masks of bits are a byte for each element; those of bytes have 8 elements in each.
int64_t SetBitsOf(const ConstraintAt& c, const Tensor& mask) {
  const bool is_packed = c.facts().ElementOf(c.Name(0)) == pb::mil::UINT8;
  int64_t bits = 0;
  for (const uint8_t byte : mask.As<uint8_t>())
    bits += is_packed ? std::popcount(byte) : (byte != 0 ? 1 : 0);
  return bits;
}

// mask, nonzero data
void CheckSetBits(const ConstraintAt& c) {
  const Tensor* const mask = c.facts().Constant(c.Name(0), kMostMaskBytes);
  const int64_t elements = c.SizeOf(1, 0);
  if (mask == nullptr || mask->dtype() != DType::kU8 || elements == kAnySize) return;
  if (const int64_t bits = SetBitsOf(c, *mask); bits != elements)
    c.Add("input {} has {} elements, but input {} has {} bits that are set", c.Name(1), elements,
          c.Name(0), bits);
}

// mask, shape
void CheckClearPadding(const ConstraintAt& c) {
  const Tensor* const mask = c.facts().Constant(c.Name(0), kMostMaskBytes);
  const int64_t elements = ElementsOfShape(c, 1);
  if (mask == nullptr || mask->dtype() != DType::kU8 || elements == kAnySize) return;
  const auto bytes = mask->As<uint8_t>();
  if (elements % 8 == 0 || elements > static_cast<int64_t>(bytes.size()) * 8) return;
  if (bytes[static_cast<size_t>(elements / 8)] >> (elements % 8) != 0)
    c.Add("input {} has set bits after the last element", c.Name(0));
}

constexpr ConstraintRow kCompressedConstraints[] = {
    {Label::kOneOrAxisMany, CheckOneOrAxisMany},
    {Label::kScalesOfAxis, CheckScalesOfAxis},
    {Label::kBlocks, CheckBlocks},
    {Label::kPaletteSize, CheckPaletteSize},
    {Label::kPaletteBits, CheckPaletteBits},
    {Label::kPackedIndices, CheckPackedIndices},
    {Label::kVectorAxisInRange, CheckVectorAxis},
    {Label::kVectorShape, CheckVectorShape},
    {Label::kPackedMask, CheckPackedMask},
    {Label::kSetBits, CheckSetBits},
    {Label::kClearPadding, CheckClearPadding},
};

}  // namespace

std::span<const ConstraintRow> CompressedConstraintRows() {
  return kCompressedConstraints;
}

}  // namespace nn::coreml::program
