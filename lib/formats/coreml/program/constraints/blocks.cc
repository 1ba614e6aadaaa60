// Constraints on operations that move blocks between axes.
#include <algorithm>

#include "formats/coreml/program/spec/constraint.h"

namespace nn::coreml::program {
namespace {

// The batch, the channels, the height and the width of a result.
using FourSizes = std::optional<Sizes>;

// a / b; not known unless b divides a.
int64_t Quotient(int64_t a, int64_t b) {
  return a == kAnySize || b <= 0 || a % b != 0 ? kAnySize : a / b;
}

FourSizes FourSizesOf(const ConstraintAt& c) {
  auto sizes = c.SizesOf(0);
  return sizes && sizes->size() == 4 ? sizes : std::nullopt;
}

void CheckDepthToBlocks(const ConstraintAt& c) {
  const auto x = FourSizesOf(c);
  const auto b = c.Int(1);
  if (!x || !b || *b <= 0) return;
  const Sizes& s = *x;
  c.NeedResult(0, Sizes{s[0], DivideSizes(s[1], MultiplySizes(*b, *b)), MultiplySizes(s[2], *b),
                        MultiplySizes(s[3], *b)});
}

void CheckBlocksToDepth(const ConstraintAt& c) {
  const auto x = FourSizesOf(c);
  const auto b = c.Int(1);
  if (!x || !b || *b <= 0) return;
  const Sizes& s = *x;
  c.NeedResult(0, Sizes{s[0], MultiplySizes(s[1], MultiplySizes(*b, *b)), DivideSizes(s[2], *b),
                        DivideSizes(s[3], *b)});
}

void NeedDivisor(const ConstraintAt& c, int64_t axis, int64_t divisor) {
  const int64_t size = c.SizeOf(0, axis);
  if (divisor <= 0)
    c.Add("input {} is {}, which is not above 0", c.Name(1), c.Int(1).value_or(0));
  else if (size != kAnySize && size % divisor != 0)
    c.Add("input {} has size {} along axis {}, which is no multiple of {}", c.Name(0), size, axis,
          divisor);
}

void CheckDividesChannels(const ConstraintAt& c) {
  if (const auto b = c.Int(1)) NeedDivisor(c, 1, MultiplySizes(std::max(*b, kAnySize), *b));
}

void CheckDividesSpace(const ConstraintAt& c) {
  const auto b = c.Int(1);
  if (!b) return;
  NeedDivisor(c, 2, *b);
  NeedDivisor(c, 3, *b);
}

void CheckPairsForBlocks(const ConstraintAt& c) {
  const auto is = c.SizesOf(0);
  const Sizes want{c.SizeOf(1, 0), 2};
  if (is && !MayEqual(*is, want))
    c.Add("input {} has shape {} instead of {}", c.Name(0), TextOf(*is), TextOf(want));
}

// A block, and the numbers before and after each of its axes.
struct BlockAndPairs {
  std::vector<int64_t> block, pairs;
};

std::optional<BlockAndPairs> BlockOf(const ConstraintAt& c) {
  auto block = c.Ints(1), pairs = c.Ints(2);
  if (!block || !pairs || block->size() != 2 || pairs->size() != 4 ||
      std::ranges::any_of(*block, [](int64_t b) { return b <= 0; }))
    return std::nullopt;
  return BlockAndPairs{*std::move(block), *std::move(pairs)};
}

void CheckSpaceToBatches(const ConstraintAt& c) {
  auto x = FourSizesOf(c);
  const auto b = BlockOf(c);
  if (!x || !b) return;
  for (size_t i = 0; i < 2; ++i) {
    int64_t& size = (*x)[2 + i];
    const int64_t padded = OffsetSize(size, b->pairs[2 * i] + b->pairs[2 * i + 1]);
    if (padded != kAnySize && padded % b->block[i] != 0)
      return c.Add("input {} has size {} with padding along axis {}, which is no multiple of {}",
                   c.Name(0), padded, 2 + i, b->block[i]);
    size = Quotient(padded, b->block[i]);
  }
  (*x)[0] = MultiplySizes((*x)[0], MultiplySizes(b->block[0], b->block[1]));
  c.NeedResult(0, x);
}

void CheckBatchesToSpace(const ConstraintAt& c) {
  auto x = FourSizesOf(c);
  const auto b = BlockOf(c);
  if (!x || !b) return;
  const int64_t divisor = MultiplySizes(b->block[0], b->block[1]);
  int64_t& batch = (*x)[0];
  if (batch != kAnySize && divisor != kAnySize && batch % divisor != 0)
    return c.Add("input {} has batch {}, which is no multiple of {}", c.Name(0), batch, divisor);
  batch = Quotient(batch, divisor);
  for (size_t i = 0; i < 2; ++i) {
    int64_t& size = (*x)[2 + i];
    size = OffsetSize(MultiplySizes(size, b->block[i]), -b->pairs[2 * i] - b->pairs[2 * i + 1]);
  }
  c.NeedResult(0, x);
}

constexpr ConstraintRow kBlockConstraints[] = {
    {Label::kDepthToBlocks, CheckDepthToBlocks},     {Label::kBlocksToDepth, CheckBlocksToDepth},
    {Label::kDividesChannels, CheckDividesChannels}, {Label::kDividesSpace, CheckDividesSpace},
    {Label::kPairsForBlocks, CheckPairsForBlocks},   {Label::kSpaceToBatches, CheckSpaceToBatches},
    {Label::kBatchesToSpace, CheckBatchesToSpace},
};

}  // namespace

std::span<const ConstraintRow> BlockConstraintRows() {
  return kBlockConstraints;
}

}  // namespace nn::coreml::program
