#include "ops/quant/block_weights.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/checked_math.h"
#include "base/half.h"

namespace nn {

void BlockWeights::Compute(size_t offset, std::span<std::byte> to) const {
  const size_t size = ByteSize(type, 1);
  const auto first = static_cast<int64_t>(offset / size);
  const auto end = first + static_cast<int64_t>(to.size() / size);
  std::byte* out = to.data();
  for (int64_t at = first; at < end;) {
    const int64_t row = at / columns;
    const int64_t last = std::min(columns, at % columns + end - at);
    const size_t of_row = row_block[static_cast<size_t>(row)];
    for (int64_t c = at % columns; c < last; ++c, ++at, out += size) {
      const size_t scale = of_row + column_block[static_cast<size_t>(c)];
      const float v = (static_cast<float>(Integer(row, c)) - zero(scale)) * scales[scale];
      const uint16_t half = type == DType::kF32   ? uint16_t{0}
                            : type == DType::kF16 ? FloatToHalf(v)
                                                  : FloatToBfloat16(v);
      if (type == DType::kF32)
        std::memcpy(out, &v, sizeof(v));
      else
        std::memcpy(out, &half, sizeof(half));
    }
  }
}

BlockWeights Transposed(const BlockWeights& weights) {
  BlockWeights out = weights;
  std::swap(out.rows, out.columns);
  std::swap(out.row_step, out.column_step);
  std::swap(out.row_block, out.column_block);
  return out;
}

Result<Tensor> TensorOf(BlockWeights weights, std::vector<int64_t> dims) {
  const DType type = weights.type;
  const size_t bytes = ByteSize(type, static_cast<size_t>(weights.rows * weights.columns));
  if (bytes >= kDeferredWeightsBytes || (bytes > 0 && weights.source != BlockSource::kNone))
    return Tensor::Make(
        type, std::move(dims),
        Blob::Deferred(bytes, std::make_unique<const BlockWeights>(std::move(weights))));
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(type, std::move(dims)));
  weights.Compute(0, {out.data(), bytes});
  return out.Finish();
}

std::optional<BlockWeights> WeightsOf(const Tensor& integers, BlockMapping mapping) {
  constexpr int64_t kLargestZero = 1 << 20;
  const DType type = integers.dtype();
  const int bits = DTypeBits(type);
  if (!IsInteger(type) || bits > 8 || integers.rank() == 0 || integers.elements() == 0 ||
      std::ranges::any_of(mapping.zeros,
                          [](int64_t z) { return z > kLargestZero || z < -kLargestZero; }))
    return std::nullopt;
  BlockWeights w;
  w.integers = integers.blob();
  w.bits = bits;
  w.flip = IsSigned(type) ? 1 << (bits - 1) : 0;
  w.columns = integers.dims().back();
  w.rows = integers.elements() / w.columns;
  w.row_step = w.columns;
  w.scales = std::move(mapping.scales);
  for (const int64_t z : mapping.zeros) w.zeros.push_back(static_cast<float>(z + w.flip));
  w.row_block = {0};
  int64_t step = 1;
  for (size_t k = integers.dims().size(); k-- > 0;) {
    const int64_t size = integers.dims()[k];
    const int64_t block = mapping.block[k];
    std::vector<uint32_t> parts;
    for (int64_t i = 0; i < size; ++i) {
      const auto of_axis = static_cast<uint32_t>(i / block * step);
      if (k + 1 == integers.dims().size())
        w.column_block.push_back(of_axis);
      else
        for (const uint32_t inner : w.row_block) parts.push_back(of_axis + inner);
    }
    if (!parts.empty()) w.row_block = std::move(parts);
    step *= CeilDiv(size, block);
  }
  return w;
}

std::optional<BlockWeights> WeightsOf(const Tensor& integers, const Quant& quant) {
  if (static_cast<size_t>(integers.elements()) * sizeof(float) < kDeferredWeightsBytes)
    return std::nullopt;
  BlockMapping mapping;
  mapping.block = integers.dims();
  if (quant.per_axis() && quant.scales.size() > 1)
    mapping.block[static_cast<size_t>(quant.axis)] = 1;
  mapping.scales = quant.scales;
  mapping.zeros = quant.zero_points;
  if (mapping.zeros.empty()) mapping.zeros = {0};
  return WeightsOf(integers, std::move(mapping));
}

const BlockWeights* StoredBlocks(const Tensor& tensor) {
  size_t begin = 0;
  const auto* weights = tensor.blob().SourceAs<BlockWeights>(begin);
  const bool is_whole = weights != nullptr && weights->source != BlockSource::kNone && begin == 0 &&
                        tensor.elements() == weights->rows * weights->columns;
  return is_whole ? weights : nullptr;
}

}  // namespace nn
