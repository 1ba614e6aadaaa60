// Operators of com.microsoft on weights that are quantized in blocks, several to a byte:
// MatMulNBits and GatherBlockQuantized.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "formats/onnx/family.h"
#include "formats/onnx/heads.h"
#include "formats/onnx/linear_quant.h"
#include "ops/array/gather.h"
#include "ops/array/shape.h"
#include "ops/math/matmul.h"
#include "ops/support/types.h"

namespace nn::onnx {
namespace {

// Rows of integers of 2, 4 or 8 bits, the first in the lowest bits; each row fills whole bytes.
struct PackedRows {
  int64_t bits;
  int64_t row_bytes;
  int64_t rows;
  int64_t columns;  // integers of a row that count

  int64_t bytes() const { return rows * row_bytes; }
};

// The integers as u8 of the given shape, which has rows * columns elements.
Result<Tensor> Unpack(const Tensor& packed, const PackedRows& p, std::vector<int64_t> dims) {
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(DType::kU8, std::move(dims)));
  const auto* const bytes = reinterpret_cast<const uint8_t*>(packed.blob().data());
  const int64_t each = 8 / p.bits;
  const int mask = (1 << p.bits) - 1;
  uint8_t* to = out.As<uint8_t>().data();
  for (int64_t r = 0; r < p.rows; ++r)
    for (int64_t c = 0; c < p.columns; ++c)
      *to++ =
          static_cast<uint8_t>((bytes[r * p.row_bytes + c / each] >> (c % each * p.bits)) & mask);
  return out.Finish();
}

// The constant input, whose bytes are integers in rows.
Result<Tensor> UnpackInput(ImportContext& ctx, size_t i, std::string_view name, const PackedRows& p,
                           std::vector<int64_t> dims) {
  NN_ASSIGN(Value* const v, Folded(ctx, ctx.input(i)));
  if (!v->is_constant())
    return UnsupportedError("{} whose {} is not constant", ctx.node().op_type(), name);
  const Tensor& t = v->constant();
  if (static_cast<int64_t>(t.byte_size()) != p.bytes())
    return ModelError("{} has {} bytes; {} rows of {} integers of {} bits have {}", name,
                      t.byte_size(), p.rows, p.columns, p.bits, p.bytes());
  return Unpack(t, p, std::move(dims));
}

// ---- MatMulNBits

struct NBits {
  int64_t k, n, bits, block;
  int64_t blocks() const { return CeilDiv(k, block); }
};

Result<NBits> ReadNBits(const ImportContext& ctx) {
  NBits s{};
  NN_ASSIGN(s.k, ctx.RequiredInt("K"));
  NN_ASSIGN(s.n, ctx.RequiredInt("N"));
  NN_ASSIGN(s.block, ctx.RequiredInt("block_size"));
  s.bits = ctx.Int("bits", 4);
  constexpr int64_t kMost = int64_t{1} << 31;
  if (s.k <= 0 || s.n <= 0 || s.block <= 0 || s.k > kMost || s.n > kMost || s.block > kMost)
    return ModelError("K, N and block_size are {}, {} and {}; they must be positive", s.k, s.n,
                      s.block);
  if (s.bits != 2 && s.bits != 4 && s.bits != 8)
    return UnsupportedError("MatMulNBits of {} bits; 2, 4 and 8 are supported", s.bits);
  if (s.block % (8 / s.bits) != 0)
    return ModelError("blocks of {} integers of {} bits do not fill whole bytes", s.block, s.bits);
  return s;
}

// The scale or zero point [N, blocks] of each weight, [N, K]: that of its block or, with g_idx, of
// the block that its column names.
Result<Value*> ForEachWeight(ImportContext& ctx, Value* v, const NBits& s) {
  if (!v->type().ranked()) return UnsupportedError("MatMulNBits needs scales of known rank");
  if (v->type().rank() != 2) {
    NN_ASSIGN(v, ctx.Add("reshape", {v}, ReshapeAttrs{{Dim(s.n), Dim(s.blocks())}, false}));
  }
  Value* columns = ctx.input(4);
  if (columns == nullptr) {
    std::vector<int64_t> block_of(static_cast<size_t>(s.k));
    for (size_t i = 0; i < block_of.size(); ++i) block_of[i] = static_cast<int64_t>(i) / s.block;
    columns = ctx.Constant(Tensor::Ints(block_of));
  } else {
    NN_RETURN_IF_ERROR(RequireRanks(ctx, columns, "g_idx", 1, 1));
    if (!(columns->type().dim(0) == s.k))
      return ModelError("g_idx is {} for {} columns", columns->type().ToString(), s.k);
  }
  return ctx.Add("gather", {v, columns}, GatherAttrs{1, 0});
}

// The weights less their zero points, f32[N, K]. Without zero points they are the middle of the
// range.
Result<Value*> Centered(ImportContext& ctx, const NBits& s) {
  // Rows of whole blocks: the last may be longer than K.
  const int64_t row_bytes = s.blocks() * s.block / (8 / s.bits);
  NN_ASSIGN(const Tensor q, UnpackInput(ctx, 1, "B", {s.bits, row_bytes, s.n, s.k}, {s.n, s.k}));
  NN_ASSIGN(Value* const w, AddCast(ctx, ctx.Constant(q), DType::kF32));
  Value* zero = ctx.input(3);
  if (zero == nullptr) {
    NN_ASSIGN(Value* const middle,
              ctx.Number(DType::kF32, static_cast<double>(int64_t{1} << (s.bits - 1))));
    return ctx.Add("sub", {w, middle});
  }
  if (!IsFloat(zero->dtype())) {
    const PackedRows rows{s.bits, CeilDiv(s.blocks() * s.bits, 8), s.n, s.blocks()};
    NN_ASSIGN(const Tensor zeros, UnpackInput(ctx, 3, "zero_points", rows, {s.n, s.blocks()}));
    zero = ctx.Constant(zeros);
  }
  NN_ASSIGN(zero, AddCast(ctx, zero, DType::kF32));
  NN_ASSIGN(zero, ForEachWeight(ctx, zero, s));
  return ctx.Add("sub", {w, zero});
}

// Weights and product are in float32; only the result is rounded to 16 bits. accuracy_level names
// the least accuracy of A.
Status ImportMatMulNBits(ImportContext& ctx) {
  NN_ASSIGN(Value * a, ctx.Required(0));
  for (const size_t i : {1, 2}) {
    NN_ASSIGN([[maybe_unused]] Value* const v, ctx.Required(i));
  }
  NN_ASSIGN(const NBits s, ReadNBits(ctx));
  const DType type = a->dtype();
  NN_ASSIGN(Value* const centered, Centered(ctx, s));
  NN_ASSIGN(Value * scale, AddCast(ctx, ctx.input(2), DType::kF32));
  NN_ASSIGN(scale, ForEachWeight(ctx, scale, s));
  NN_ASSIGN(Value* const w, ctx.Add("mul", {centered, scale}));
  NN_ASSIGN(a, AddCast(ctx, a, DType::kF32));
  std::vector<Value*> inputs = {a, w};
  if (Value* bias = ctx.input(5)) {
    NN_RETURN_IF_ERROR(RequireRanks(ctx, bias, "bias", 1, 1));
    NN_ASSIGN(bias, AddCast(ctx, bias, DType::kF32));
    inputs.push_back(bias);
  }
  NN_ASSIGN(Value * y, ctx.Add("matmul", std::move(inputs), MatmulAttrs{false, true}));
  NN_ASSIGN(y, AddCast(ctx, y, type));
  ctx.SetOutput(0, y);
  return {};
}

// ---- GatherBlockQuantized

// u8 data are packed along their last axis; unpacked, they have their own zero point.
Result<Value*> UnpackedData(ImportContext& ctx, size_t i, std::string_view name, int64_t bits,
                            int64_t columns) {
  Value* const v = ctx.input(i);
  if (v->dtype() != DType::kU8 || bits == 8) return v;
  const auto dims = v->type().const_dims();
  if (!dims || dims->empty())
    return UnsupportedError("GatherBlockQuantized with {} of {}", name, v->type().ToString());
  std::vector<int64_t> unpacked = *dims;
  const int64_t row_bytes = unpacked.back();
  unpacked.back() = columns < 0 ? row_bytes * 8 / bits : columns;
  if (CeilDiv(unpacked.back() * bits, 8) != row_bytes)
    return ModelError("{} is {}; it must have {} elements of {} bits in a row", name,
                      v->type().ToString(), unpacked.back(), bits);
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < dims->size(); ++d) rows *= (*dims)[d];
  NN_ASSIGN(Tensor t,
            UnpackInput(ctx, i, name, {bits, row_bytes, rows, unpacked.back()}, unpacked));
  return ctx.Constant(std::move(t));
}

struct BlockGather {
  int gather_axis, quantize_axis;
  int64_t bits, block;
};

Result<BlockGather> ReadBlockGather(const ImportContext& ctx, int rank) {
  BlockGather s{};
  NN_ASSIGN(s.gather_axis, NormalizeAxis(ctx.Int("gather_axis", 0), rank));
  NN_ASSIGN(s.quantize_axis, NormalizeAxis(ctx.Int("quantize_axis", 1), rank));
  s.bits = ctx.Int("bits", 4);
  s.block = ctx.Int("block_size", 128);
  if (s.bits != 4 && s.bits != 8)
    return UnsupportedError("GatherBlockQuantized of {} bits; 4 and 8 are supported", s.bits);
  if (s.block < 16 || (s.block & (s.block - 1)) != 0)
    return ModelError("block_size is {}; it must be a power of two of at least 16", s.block);
  if (s.gather_axis == s.quantize_axis)
    return UnsupportedError("GatherBlockQuantized along the axis of its blocks");
  return s;
}

Status ImportGatherBlockQuantized(ImportContext& ctx) {
  NN_ASSIGN(Value* const given, ctx.Required(0));
  NN_ASSIGN(Value* const indices, ctx.Required(1));
  NN_ASSIGN(Value * scale, ctx.Required(2));
  NN_RETURN_IF_ERROR(RequireRanks(ctx, given, "data", 2, kMaxRank));
  NN_RETURN_IF_ERROR(RequireRanks(ctx, indices, "indices", 0, kMaxRank));
  const int rank = given->type().rank();
  NN_RETURN_IF_ERROR(RequireRanks(ctx, scale, "scales", rank, rank));
  NN_ASSIGN(const BlockGather s, ReadBlockGather(ctx, rank));
  const bool is_u8 = given->dtype() == DType::kU8;
  if (is_u8 && s.bits < 8 && s.quantize_axis != rank - 1)
    return UnsupportedError(
        "GatherBlockQuantized of u8 data whose blocks are not on the last axis");
  NN_ASSIGN(Value * data, UnpackedData(ctx, 0, "data", s.bits, -1));
  Value* zero = ctx.input(3);
  if (zero != nullptr) {
    const Dim& blocks = scale->type().dim(rank - 1);
    NN_ASSIGN(zero,
              UnpackedData(ctx, 3, "zero_points", s.bits, blocks.is_const() ? blocks.value() : -1));
  }
  const auto selected = [&](Value* v) {
    return ctx.Add("gather", {v, indices}, GatherAttrs{s.gather_axis, 0});
  };
  const DType type = scale->dtype();
  NN_ASSIGN(data, selected(data));
  LinearQuant q;
  NN_ASSIGN(q.scale, selected(scale));
  if (zero != nullptr) {
    NN_ASSIGN(q.zero, selected(zero));
  } else if (is_u8) {
    NN_ASSIGN(q.zero, ctx.Number(DType::kU8, static_cast<double>(int64_t{1} << (s.bits - 1))));
  }
  q.block = s.block;
  q.axis = s.quantize_axis + (s.quantize_axis > s.gather_axis ? indices->type().rank() - 1 : 0);
  NN_ASSIGN(Value* const y, AddDequantize(ctx, data, q, type));
  ctx.SetOutput(0, y);
  return {};
}

constexpr ImportRow kContribBlocksImports[] = {
    {.op = "GatherBlockQuantized", .import = ImportGatherBlockQuantized, .domain = kMicrosoft},
    {.op = "MatMulNBits", .import = ImportMatMulNBits, .domain = kMicrosoft},
};

}  // namespace

Family ContribBlocksFamily() {
  return {.imports = kContribBlocksImports};
}

}  // namespace nn::onnx
