#include "formats/common/blocked_tensor.h"

#include <cmath>
#include <vector>

#include "base/checked_math.h"
#include "ops/quant/block_weights.h"

namespace nn {
namespace {

DType IntegerType(int bits, bool is_signed) {
  if (bits == 2) return is_signed ? DType::kI2 : DType::kU2;
  if (bits == 4) return is_signed ? DType::kI4 : DType::kU4;
  return is_signed ? DType::kI8 : DType::kU8;
}

// A tensor in blocks of `block` elements along an axis.
class TensorBlocks {
 public:
  TensorBlocks(const BlockWeights& weights, const std::vector<int64_t>& dims, size_t axis)
      : w_(weights), dims_(dims), axis_(axis), in_columns_(axis + 1 == dims.size()) {
    for (size_t k = axis + 1; k + 1 < dims.size(); ++k) stride_ *= dims[k];
  }

  // Whether all elements of each block have one scale.
  bool AreUniform() const {
    if (in_columns_) {
      for (size_t c = 0; c < w_.column_block.size(); ++c)
        if (w_.column_block[c] != w_.column_block[FirstOf(c)]) return false;
      return true;
    }
    for (size_t r = 0; r < w_.row_block.size(); ++r)
      if (w_.row_block[r] != w_.row_block[r - Inside(r)]) return false;
    return true;
  }

  std::vector<int64_t> dims() const {
    std::vector<int64_t> out = dims_;
    out[axis_] = CeilDiv(out[axis_], w_.block);
    return out;
  }

  // The places of the blocks in the lists of the weights.
  std::vector<size_t> Places() const {
    const size_t step = in_columns_ ? static_cast<size_t>(w_.block) : 1;
    std::vector<size_t> out;
    for (size_t r = 0; r < w_.row_block.size(); ++r) {
      if (!in_columns_ && Inside(r) != 0) continue;
      for (size_t c = 0; c < w_.column_block.size(); c += step)
        out.push_back(size_t{w_.row_block[r]} + w_.column_block[c]);
    }
    return out;
  }

 private:
  size_t FirstOf(size_t column) const { return column - column % static_cast<size_t>(w_.block); }
  // The rows from the first one of the block to row r.
  size_t Inside(size_t r) const {
    const auto row = static_cast<int64_t>(r);
    return static_cast<size_t>(row / stride_ % dims_[axis_] % w_.block * stride_);
  }

  const BlockWeights& w_;
  const std::vector<int64_t>& dims_;
  size_t axis_;
  bool in_columns_;
  int64_t stride_ = 1;  // rows from one index of the axis to the next
};

std::optional<Tensor> IntegersOf(const BlockWeights& w, const std::vector<int64_t>& dims) {
  const DType type = IntegerType(w.bits, w.flip != 0);
  const int64_t elements = w.rows * w.columns;
  if (w.row_step == w.columns && w.column_step == 1 &&
      w.integers.size() == ByteSize(type, static_cast<size_t>(elements))) {
    auto same = Tensor::Make(type, dims, w.integers);
    return same ? std::optional(*std::move(same)) : std::nullopt;
  }
  auto out = TensorBuilder::Create(type, dims);
  if (!out) return std::nullopt;
  for (int64_t r = 0, i = 0; r < w.rows; ++r)
    for (int64_t c = 0; c < w.columns; ++c, ++i) out->SetInt(i, w.Integer(r, c) - w.flip);
  return out->Finish();
}

// The zero points of the blocks at `places`, none if all are 0; false if the type lacks one.
bool SetZeros(const BlockWeights& w, const std::vector<size_t>& places,
              const std::vector<int64_t>& dims, BlockedTensor& out) {
  const DType type = IntegerType(w.bits, w.flip != 0);
  const auto flip = static_cast<float>(w.flip);
  if (w.zeros.size() == 1 && w.zeros[0] == flip) return true;
  auto zeros = TensorBuilder::Create(type, dims);
  if (!zeros) return false;
  for (size_t i = 0; i < places.size(); ++i) {
    const float zero = w.zero(places[i]) - flip;
    if (zero != std::floor(zero) || zero < static_cast<float>(MinInteger(type)) ||
        zero > static_cast<float>(MaxInteger(type)))
      return false;
    zeros->SetInt(static_cast<int64_t>(i), static_cast<int64_t>(zero));
  }
  out.zeros = zeros->Finish();
  return true;
}

}  // namespace

std::optional<BlockedTensor> ScalesAlongAxis(const Tensor& tensor) {
  const BlockWeights* const w = StoredBlocks(tensor);
  const std::vector<int64_t>& dims = tensor.dims();
  if (w == nullptr || dims.empty() || dims.back() != w->columns || w->block <= 0)
    return std::nullopt;
  for (size_t axis = dims.size(); axis-- > 0;) {
    const TensorBlocks blocks(*w, dims, axis);
    if (!blocks.AreUniform()) continue;
    const std::vector<size_t> places = blocks.Places();
    auto scales = TensorBuilder::Create(w->type, blocks.dims());
    if (!scales) return std::nullopt;
    for (size_t i = 0; i < places.size(); ++i)
      scales->SetDouble(static_cast<int64_t>(i), static_cast<double>(w->scales[places[i]]));
    BlockedTensor out{{}, scales->Finish(), std::nullopt, static_cast<int64_t>(axis), w->block};
    if (!SetZeros(*w, places, blocks.dims(), out)) return std::nullopt;
    return out;
  }
  return std::nullopt;
}

std::optional<BlockedTensor> BlocksAlongAxis(const Tensor& tensor) {
  auto blocks = ScalesAlongAxis(tensor);
  if (!blocks) return std::nullopt;
  auto integers = IntegersOf(*StoredBlocks(tensor), tensor.dims());
  if (!integers) return std::nullopt;
  blocks->integers = *std::move(integers);
  return blocks;
}

}  // namespace nn
