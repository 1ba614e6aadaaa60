#include "formats/onnx/export/quant/block_form.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/control/region.h"
#include "ops/math/matmul.h"
#include "ops/quant/block_weights.h"

namespace nn::onnx {
namespace {

// ---- MatMulNBits

// The weights of a product, with a row for each column of the result.
struct ProductRows {
  const BlockWeights* w = nullptr;
  bool swapped = false;  // a row of the product is a column of the weights

  int64_t n() const { return swapped ? w->columns : w->rows; }
  int64_t k() const { return swapped ? w->rows : w->columns; }
  int64_t blocks() const { return CeilDiv(k(), w->block); }
  const std::vector<uint32_t>& of_n() const { return swapped ? w->column_block : w->row_block; }
  const std::vector<uint32_t>& of_k() const { return swapped ? w->row_block : w->column_block; }
  int Integer(int64_t n, int64_t k) const { return swapped ? w->Integer(k, n) : w->Integer(n, k); }

  // Whether each block is the next `block` elements of the row.
  bool AreInOrder() const {
    const auto block = static_cast<size_t>(w->block);
    for (size_t i = 0; i < of_k().size(); ++i)
      if (of_k()[i] != of_k()[i - i % block]) return false;
    return true;
  }
  // The place of block b of row n in the lists of the weights; `in_order` is AreInOrder(). If they
  // are not, the elements name blocks of their row.
  size_t PlaceOf(int64_t row, int64_t b, bool in_order) const {
    const size_t of_row = of_n()[static_cast<size_t>(row)];
    return of_row + (in_order ? of_k()[static_cast<size_t>(b * w->block)] : static_cast<size_t>(b));
  }
};

// Nullopt if the node is no such product.
std::optional<ProductRows> RowsOf(const Node& node) {
  if (!node.Is<MatmulAttrs>() || node.attrs<MatmulAttrs>().transpose_a) return std::nullopt;
  const Value *a = node.input(0), *b = node.input(1);
  const bool is_float = a->dtype() == DType::kF32 || a->dtype() == DType::kF16;
  if (!is_float || a->type().quantized() || !b->is_constant() || b->constant().rank() != 2)
    return std::nullopt;
  const ProductRows rows{StoredBlocks(b->constant()), !node.attrs<MatmulAttrs>().transpose_b};
  if (rows.w == nullptr || rows.w->type != DType::kF32 || rows.w->block <= 0 ||
      b->constant().dims() != std::vector{rows.w->rows, rows.w->columns})
    return std::nullopt;
  return rows;
}

// What ONNX Runtime takes: blocks of at least 16 elements, a power of 2, and 4 or 8 bits.
bool IsCommon(const BlockWeights& w) {
  constexpr int64_t kMinBlock = 16;
  return w.bits >= 4 && w.block >= kMinBlock && std::has_single_bit(static_cast<uint64_t>(w.block));
}

class PackedProduct {
 public:
  // `type` is that of the product: NarrowProducts() makes float16 of float32.
  PackedProduct(const ProductRows& rows, DType type)
      : rows_(rows), w_(*rows.w), type_(type), in_order_(rows.AreInOrder()) {}

  Result<Tensor> Integers() const {
    const int64_t step = rows_.blocks() * w_.block;
    const std::vector<int64_t> dims = {rows_.n(), rows_.blocks(), w_.block * w_.bits / 8};
    const auto bytes = static_cast<size_t>(rows_.n() * step * w_.bits / 8);
    if (!rows_.swapped && w_.row_step == step && w_.column_step == 1 && w_.flip == 0 &&
        w_.integers.size() == bytes)
      return Tensor::Make(DType::kU8, dims, w_.integers);
    NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(DType::kU8, dims));
    Pack(out, rows_.k(), step, [&](int64_t n, int64_t k) { return rows_.Integer(n, k); });
    return out.Finish();
  }

  Result<Tensor> Scales() const {
    return OfBlocks([&](size_t place) { return w_.scales[place]; });
  }

  // None if they are the default; floats if they are no integers of `bits` bits.
  Result<std::optional<Tensor>> Zeros() const {
    const int most = (1 << w_.bits) - 1;
    if (w_.zeros.size() == 1 && w_.zeros[0] == static_cast<float>(1 << (w_.bits - 1)))
      return std::nullopt;
    const bool are_integers = std::ranges::all_of(w_.zeros, [&](float z) {
      return z == std::floor(z) && z >= 0 && z <= static_cast<float>(most);
    });
    if (!are_integers) return OfBlocks([&](size_t place) { return w_.zero(place); });
    const int64_t each = 8 / w_.bits;
    const int64_t bytes = CeilDiv(rows_.blocks(), each);
    NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(DType::kU8, {rows_.n(), bytes}));
    Pack(out, rows_.blocks(), bytes * each, [&](int64_t n, int64_t b) {
      return static_cast<int>(w_.zero(rows_.PlaceOf(n, b, in_order_)));
    });
    return out.Finish();
  }

  // The block of each element of a row; none if they are in order.
  std::optional<Tensor> Indices() const {
    if (in_order_) return std::nullopt;
    const std::vector<int32_t> blocks(rows_.of_k().begin(), rows_.of_k().end());
    return Tensor::Of<int32_t>({rows_.k()}, blocks);
  }

 private:
  // Rows of `count` integers, each with places for `step`.
  template <typename Fn>
  void Pack(TensorBuilder& out, int64_t count, int64_t step, Fn integer) const {
    const auto bytes = out.As<uint8_t>();
    std::ranges::fill(bytes, uint8_t{0});
    for (int64_t n = 0; n < rows_.n(); ++n)
      for (int64_t i = 0; i < count; ++i) {
        const int64_t bit = (n * step + i) * w_.bits;
        bytes[static_cast<size_t>(bit / 8)] |= static_cast<uint8_t>(integer(n, i) << (bit % 8));
      }
  }

  template <typename Fn>
  Result<Tensor> OfBlocks(Fn number) const {
    NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(type_, {rows_.n(), rows_.blocks()}));
    int64_t i = 0;
    for (int64_t n = 0; n < rows_.n(); ++n)
      for (int64_t b = 0; b < rows_.blocks(); ++b)
        out.SetDouble(i++, static_cast<double>(number(rows_.PlaceOf(n, b, in_order_))));
    return out.Finish();
  }

  const ProductRows& rows_;
  const BlockWeights& w_;
  const DType type_;
  const bool in_order_;
};

}  // namespace

std::optional<BlockedTensor> BlockedTensorOf(const Tensor& tensor) {
  auto blocks = BlocksAlongAxis(tensor);
  if (!blocks) return std::nullopt;
  return BlockedTensor{*std::move(blocks)};
}

bool HasPackedForm(const Node& node) {
  const auto rows = RowsOf(node);
  if (!rows) return false;
  if (rows->w->source == BlockSource::kProduct && !rows->swapped) return true;
  return IsCommon(*rows->w) && rows->AreInOrder();
}

bool PrefersPackedForm(const Node& node, int64_t opset) {
  if (!HasPackedForm(node)) return false;
  const auto& a = node.attrs<MatmulAttrs>();
  const bool is_plain = !a.transpose_b && node.input(2) == nullptr;
  const Type& type = node.input(0)->type();
  const bool is_gemm = type.ranked() && type.rank() == 2;
  return RowsOf(node)->w->source == BlockSource::kProduct || opset < kBlocksOpset ||
         !(is_plain || is_gemm);
}

Status WritePackedProduct(ExportContext& ctx, const Node& node) {
  const ProductRows rows = *RowsOf(node);
  const PackedProduct product(rows, node.input(0)->dtype());
  const Value* const b = node.input(1);
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0))};
  if (ctx.trial()) {
    inputs.push_back(ctx.NameOf(b));
  } else {
    NN_ASSIGN(const Tensor integers, product.Integers());
    inputs.push_back(ctx.SharedTensor(integers, b->name()));
    NN_ASSIGN(const Tensor scales, product.Scales());
    inputs.push_back(ctx.AddTensor(scales, inputs[1] + "_scales"));
    NN_ASSIGN(const std::optional<Tensor> zeros, product.Zeros());
    inputs.push_back(zeros ? ctx.AddTensor(*zeros, inputs[1] + "_zero_points") : "");
    const std::optional<Tensor> indices = product.Indices();
    inputs.push_back(indices ? ctx.AddTensor(*indices, inputs[1] + "_blocks") : "");
    inputs.push_back(ctx.NameOf(node.input(2)));
  }
  pb::NodeProto* const out =
      ctx.AddContrib(node, "MatMulNBits", {{ctx.NameOf(node.output())}, std::move(inputs)});
  SetInt(out, "K", rows.k());
  SetInt(out, "N", rows.n());
  SetInt(out, "bits", rows.w->bits);
  SetInt(out, "block_size", rows.w->block);
  if (rows.w->accuracy != 0) SetInt(out, "accuracy_level", rows.w->accuracy);
  return {};
}

int64_t OpsetOfBlocks(const Graph& graph) {
  int64_t opset = 0;
  for (const Value& v : graph.values()) {
    const BlockWeights* const w = v.is_constant() ? StoredBlocks(v.constant()) : nullptr;
    const bool is_packed = w == nullptr || std::ranges::all_of(v.uses(), [](const Use& use) {
                             return PrefersPackedForm(*use.node, kBlocksOpset);
                           });
    if (is_packed) continue;
    if (const auto blocks = BlockedTensorOf(v.constant()))
      opset = std::max(opset, blocks->least_opset());
  }
  for (const Node& node : graph.nodes())
    for (const auto& region : node.regions()) opset = std::max(opset, OpsetOfBlocks(*region));
  return opset;
}

}  // namespace nn::onnx
