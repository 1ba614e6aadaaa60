// Operators of com.microsoft on weights that are quantized in blocks, several to a byte:
// MatMulNBits and GatherBlockQuantized.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/heads.h"
#include "ops/math/matmul.h"
#include "ops/quant/block_weights.h"
#include "ops/support/term_ops.h"
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

// Calls fn(row, column, integer) for all integers.
template <typename Fn>
void ForEachInteger(const Tensor& packed, const PackedRows& p, Fn fn) {
  const auto* row = reinterpret_cast<const uint8_t*>(packed.blob().data());
  const int64_t each = 8 / p.bits;
  const int mask = (1 << p.bits) - 1;
  for (int64_t r = 0; r < p.rows; ++r, row += p.row_bytes)
    for (int64_t start = 0; start < p.columns; start += each) {
      int byte = row[start / each];
      const int64_t end = std::min(start + each, p.columns);
      for (int64_t c = start; c < end; ++c, byte >>= p.bits) fn(r, c, byte & mask);
    }
}

// The input as a constant.
Result<const Tensor*> ConstantInput(ImportContext& ctx, size_t i, std::string_view name) {
  NN_ASSIGN(Value* const given, ctx.Required(i));
  NN_ASSIGN(Value* const v, Folded(ctx, given));
  if (!v->is_constant())
    return UnsupportedError("{} whose {} is not constant", ctx.node().op_type(), name);
  return &v->constant();
}

// The constant input, whose bytes are integers in rows.
Result<const Tensor*> PackedInput(ImportContext& ctx, size_t i, std::string_view name,
                                  const PackedRows& p) {
  NN_ASSIGN(const Tensor* const t, ConstantInput(ctx, i, name));
  if (static_cast<int64_t>(t->byte_size()) != p.bytes())
    return ModelError("{} has {} bytes; {} rows of {} integers of {} bits have {}", name,
                      t->byte_size(), p.rows, p.columns, p.bits, p.bytes());
  return t;
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
  constexpr int64_t kMax = int64_t{1} << 31;
  if (s.k <= 0 || s.n <= 0 || s.block <= 0 || s.k > kMax || s.n > kMax || s.block > kMax)
    return ModelError("K, N and block_size are {}, {} and {}; they must be positive", s.k, s.n,
                      s.block);
  if (s.bits != 2 && s.bits != 4 && s.bits != 8)
    return UnsupportedError("MatMulNBits of {} bits; 2, 4 and 8 are supported", s.bits);
  if (s.block % (8 / s.bits) != 0)
    return ModelError("blocks of {} integers of {} bits do not fill whole bytes", s.block, s.bits);
  return s;
}

// kModel if a present input has another shape than these.
Status CheckShape(const ImportContext& ctx, size_t i, std::string_view name,
                  std::initializer_list<Dims> shapes) {
  if (ctx.input(i) == nullptr || !ctx.input(i)->type().ranked()) return {};
  const Type& type = ctx.input(i)->type();
  std::string wanted;
  for (const Dims& shape : shapes) {
    if (std::ranges::equal(*type.dims, shape, [](const Dim& given, const Dim& d) {
          return !given.is_const() || given == d;
        }))
      return {};
    if (!wanted.empty()) wanted += " or ";
    wanted += ToString(shape);
  }
  return ModelError("{} is {}; must have shape {}", name, type.ToString(), wanted);
}

// The inputs with an entry for each block of a row may also be flat.
Status CheckNBitsShapes(const ImportContext& ctx, const NBits& s) {
  const int64_t blocks = s.blocks();
  NN_RETURN_IF_ERROR(CheckShape(ctx, 1, "B", {{s.n, blocks, s.block * s.bits / 8}}));
  NN_RETURN_IF_ERROR(CheckShape(ctx, 2, "scales", {{s.n, blocks}, {s.n * blocks}}));
  if (const Value* zeros = ctx.input(3); zeros != nullptr) {
    const int64_t width = IsFloat(zeros->dtype()) ? blocks : CeilDiv(blocks * s.bits, int64_t{8});
    NN_RETURN_IF_ERROR(CheckShape(ctx, 3, "zero_points", {{s.n, width}, {s.n * width}}));
  }
  NN_RETURN_IF_ERROR(CheckShape(ctx, 4, "g_idx", {{s.k}, {blocks * s.block}}));
  return CheckShape(ctx, 5, "bias", {{s.n}});
}

// The scale or zero point of each block, [N, blocks].
Result<std::vector<float>> OfBlocks(ImportContext& ctx, size_t i, std::string_view name,
                                    const NBits& s) {
  NN_ASSIGN(const Tensor* const t, ConstantInput(ctx, i, name));
  if (!IsFloat(t->dtype()) || t->elements() != s.n * s.blocks())
    return ModelError("{} has {} elements of {}; {} rows of {} blocks have as many floats", name,
                      t->elements(), DTypeName(t->dtype()), s.n, s.blocks());
  std::vector<float> out;
  out.reserve(static_cast<size_t>(t->elements()));
  for (const double v : t->ToDoubles()) out.push_back(static_cast<float>(v));
  return out;
}

// One for each block. Without zero points there is one for all, the middle of the range.
Result<std::vector<float>> ZerosOfBlocks(ImportContext& ctx, const NBits& s) {
  constexpr size_t kZeros = 3;
  if (ctx.input(kZeros) == nullptr)
    return std::vector<float>{static_cast<float>(1 << (s.bits - 1))};
  if (IsFloat(ctx.input(kZeros)->dtype())) return OfBlocks(ctx, kZeros, "zero_points", s);
  const PackedRows rows{s.bits, CeilDiv(s.blocks() * s.bits, int64_t{8}), s.n, s.blocks()};
  NN_ASSIGN(const Tensor* const t, PackedInput(ctx, kZeros, "zero_points", rows));
  std::vector<float> out;
  out.reserve(static_cast<size_t>(s.n * s.blocks()));
  ForEachInteger(*t, rows, [&](int64_t, int64_t, int q) { out.push_back(static_cast<float>(q)); });
  return out;
}

// The block of each column of the weights: the next ones, or those that g_idx names.
Result<std::vector<int64_t>> BlockOfColumn(ImportContext& ctx, const NBits& s) {
  constexpr size_t kIndices = 4;
  std::vector<int64_t> block_of(static_cast<size_t>(s.k));
  if (ctx.input(kIndices) == nullptr) {
    for (size_t i = 0; i < block_of.size(); ++i) block_of[i] = static_cast<int64_t>(i) / s.block;
    return block_of;
  }
  NN_ASSIGN(const Tensor* const t, ConstantInput(ctx, kIndices, "g_idx"));
  if (t->elements() < s.k)
    return ModelError("g_idx has {} elements for {} columns", t->elements(), s.k);
  block_of = t->ToInts();
  block_of.resize(static_cast<size_t>(s.k));  // The last block may reach beyond K.
  for (const int64_t b : block_of)
    if (b < 0 || b >= s.blocks())
      return ModelError("g_idx has the entry {}; there are {} blocks", b, s.blocks());
  return block_of;
}

// (q - zero) * scale, f32[N, K].
Result<Tensor> WeightsOf(ImportContext& ctx, const NBits& s) {
  // Rows consist of whole blocks, so the last one may be longer than the rest of K.
  const int64_t row_step = s.blocks() * s.block;
  const PackedRows rows{s.bits, row_step / (8 / s.bits), s.n, s.k};
  NN_ASSIGN(const Tensor* const packed, PackedInput(ctx, 1, "B", rows));
  BlockWeights w;
  w.source = BlockSource::kProduct;
  w.block = s.block;
  w.accuracy = ctx.Int("accuracy_level", 0);
  w.integers = packed->blob();
  w.bits = static_cast<int>(s.bits);
  w.rows = s.n;
  w.columns = s.k;
  w.row_step = row_step;
  NN_ASSIGN(w.scales, OfBlocks(ctx, 2, "scales", s));
  NN_ASSIGN(w.zeros, ZerosOfBlocks(ctx, s));
  NN_ASSIGN(const auto block_of, BlockOfColumn(ctx, s));
  for (const int64_t b : block_of) w.column_block.push_back(static_cast<uint32_t>(b));
  for (int64_t r = 0; r < s.n; ++r) w.row_block.push_back(static_cast<uint32_t>(r * s.blocks()));
  return TensorOf(std::move(w), {s.n, s.k});
}

// Weights and product are in float32; only the result is rounded to 16 bits. accuracy_level names
// the least accuracy of A.
Status ImportMatMulNBits(ImportContext& ctx) {
  Value* const a = ctx.input(0);
  NN_ASSIGN(const NBits s, ReadNBits(ctx));
  NN_RETURN_IF_ERROR(CheckNBitsShapes(ctx, s));
  NN_ASSIGN(Tensor weights, WeightsOf(ctx, s));
  Value* const b = ctx.graph().AddConstant(std::move(weights), ctx.input(1)->name());
  std::vector<Term> operands = {As(a, DType::kF32), b};
  if (Value* const bias = ctx.input(5)) {
    NN_RETURN_IF_ERROR(RequireRanks(ctx, bias, "bias", 1, 1));
    operands.push_back(As(bias, DType::kF32));
  }
  const Term y = Apply("matmul", std::move(operands), MatmulAttrs{false, true});
  return ctx.EmitTerm(As(y, DType::kF32, a->dtype()));
}

// ---- GatherBlockQuantized

// u8 data are packed along their last axis; unpacked, they have their own zero point.
Result<Value*> UnpackedData(ImportContext& ctx, size_t i, std::string_view name, int64_t bits,
                            int64_t columns) {
  Value* const v = ctx.input(i);
  if (v->dtype() != DType::kU8 || bits == 8) return v;
  NN_ASSIGN(const Tensor* const t, ConstantInput(ctx, i, name));
  if (t->rank() == 0 || t->elements() == 0)
    return ModelError("{} is {}; it must have elements", name, v->type().ToString());
  std::vector<int64_t> unpacked = t->dims();
  const int64_t row_bytes = unpacked.back();
  const int64_t most = row_bytes * 8 / bits;
  unpacked.back() = columns < 0 ? most : columns;
  if (columns > most || CeilDiv(unpacked.back() * bits, 8) != row_bytes)
    return ModelError("{} is {}; it must have {} elements of {} bits in a row", name,
                      v->type().ToString(), unpacked.back(), bits);
  const PackedRows p{bits, row_bytes, t->elements() / row_bytes, unpacked.back()};
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(DType::kU8, std::move(unpacked)));
  uint8_t* to = out.As<uint8_t>().data();
  ForEachInteger(*t, p, [&](int64_t, int64_t, int q) { *to++ = static_cast<uint8_t>(q); });
  return ctx.Constant(out.Finish());
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
  Value* const given = ctx.input(0);
  Value* const indices = ctx.input(1);
  Value* scale = ctx.input(2);
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
  const auto selected = [&](Value* v) { return ctx.Build(Gather(v, indices, s.gather_axis)); };
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

constexpr std::string_view kNoExperts =
    "each run chooses the experts of a row, and the suite has no operator for it; export them as "
    "MatMul or MatMulNBits after TopK and Gather";

constexpr ImportRow kContribBlocksImports[] = {
    {.op = "GatherBlockQuantized",
     .import = ImportGatherBlockQuantized,
     .inputs = 3,
     .domain = kMicrosoft},
    {.op = "MatMulNBits", .import = ImportMatMulNBits, .inputs = 1, .domain = kMicrosoft},
    {.op = "MoE", .domain = kMicrosoft, .why_not = kNoExperts},
    {.op = "QMoE", .domain = kMicrosoft, .why_not = kNoExperts},
};

}  // namespace

Family ContribBlocksFamily() {
  return {.imports = kContribBlocksImports};
}

}  // namespace nn::onnx
