// Constants in compressed form: quantized, with a palette, or sparse. Those with one scale, or one
// for each index of an axis, stay integers; so do those in blocks, until something reads their
// elements (ops/quant/block_weights.h). Others are decompressed.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "base/checked_math.h"
#include "formats/coreml/program/family.h"
#include "formats/coreml/program/import/operands.h"
#include "formats/coreml/program/import/values.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/block_weights.h"
#include "ops/quant/quantized.h"
#include "ops/support/index.h"

namespace nn::coreml::program {
namespace {

// The contents of an operand, which may be the result of such an operation.
Result<Tensor> DataOf(const ImportContext& ctx, std::string_view name) {
  const Named* const named = ctx.Find(name);
  if (named == nullptr) return ModelError("input {} is missing", name);
  if (named->value != nullptr) {
    NN_ASSIGN(std::optional<Tensor> numbers, DequantizedConstant(named->value));
    if (numbers) return *std::move(numbers);
  }
  NN_ASSIGN(std::optional<Tensor> contents, ctx.Contents(name));
  return *std::move(contents);
}

Result<std::optional<Tensor>> OptionalDataOf(const ImportContext& ctx, std::string_view name) {
  if (!ctx.Has(name)) return std::nullopt;
  return DataOf(ctx, name);
}

// How many elements of each axis have one entry of a table.
Result<std::vector<int64_t>> BlocksOf(const std::vector<int64_t>& dims,
                                      std::span<const int64_t> table) {
  if (table.size() != dims.size())
    return ModelError("a table with {} axes does not match data of rank {}", table.size(),
                      dims.size());
  std::vector<int64_t> blocks;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (table[k] < 1 || dims[k] % table[k] != 0)
      return ModelError("{} entries do not divide the {} elements of axis {}", table[k], dims[k],
                        k);
    blocks.push_back(dims[k] / table[k]);
  }
  return blocks;
}

// Calls fn(i, entry) for each element i of a tensor and its entry in a table.
template <typename Fn>
Status ForEachEntry(const std::vector<int64_t>& dims, std::span<const int64_t> table, Fn fn) {
  NN_ASSIGN(const std::vector<int64_t> blocks, BlocksOf(dims, table));
  const std::vector<int64_t> strides = Strides(table);
  std::vector<int64_t> sizes, steps;
  for (size_t k = 0; k < dims.size(); ++k) {
    sizes.insert(sizes.end(), {table[k], blocks[k]});
    steps.insert(steps.end(), {strides[k], 0});
  }
  ForEachOffset(sizes, steps, fn);
  return {};
}

// ---- Scales -------------------------------------------------------------------------------------

// Numbers scale * (data - offset).
struct ShiftScale {
  Tensor data;
  Tensor scale;                  // as many axes as the data has
  std::optional<Tensor> offset;  // like the scale; absent: 0

  std::vector<float> Scales() const {
    const std::vector<double> numbers = scale.ToDoubles();
    return {numbers.begin(), numbers.end()};
  }
  std::vector<double> Offsets() const {
    return offset ? offset->ToDoubles()
                  : std::vector<double>(static_cast<size_t>(scale.elements()));
  }
};

// The offsets of integers, as integers; nullopt if one is none.
std::optional<std::vector<int64_t>> WholeOffsets(const ShiftScale& s) {
  if (!IsInteger(s.data.dtype())) return std::nullopt;
  std::vector<int64_t> out;
  for (const double v : s.Offsets()) {
    if (!(std::abs(v) < 0x1p20) || v != std::trunc(v)) return std::nullopt;
    out.push_back(static_cast<int64_t>(v));
  }
  return out;
}

// The mapping as part of a type; null if types have no such mapping.
std::shared_ptr<const Quant> MappingOf(const ShiftScale& s, const std::vector<int64_t>& offsets) {
  const DType type = s.data.dtype();
  auto quant = std::make_shared<Quant>();
  for (int k = 0; k < s.scale.rank(); ++k) {
    if (s.scale.dim(k) == 1) continue;
    if (quant->axis >= 0 || s.scale.dim(k) != s.data.dim(k)) return nullptr;
    quant->axis = k;
  }
  for (const int64_t v : offsets)
    if (v < MinInteger(type) || v > MaxInteger(type)) return nullptr;
  quant->scales = s.Scales();
  quant->zero_points = offsets;
  if (!HasZeroPoints(*quant)) quant->zero_points.clear();
  return quant;
}

// Blocks of integers; nullopt if they are none.
Result<std::optional<Tensor>> InBlocks(const ShiftScale& s, std::vector<int64_t> offsets) {
  NN_ASSIGN(std::vector<int64_t> blocks, BlocksOf(s.data.dims(), s.scale.dims()));
  const auto is_one = [](int64_t n) { return n == 1; };
  const bool one_axis = std::ranges::count_if(blocks, is_one) + 1 == s.data.rank();
  const int64_t block = one_axis ? *std::ranges::find_if_not(blocks, is_one) : 0;
  auto weights = WeightsOf(s.data, {std::move(blocks), s.Scales(), std::move(offsets)});
  if (!weights) return std::nullopt;
  weights->type = s.scale.dtype();
  weights->source = BlockSource::kTensor;
  weights->block = block;
  return TensorOf(*std::move(weights), s.data.dims());
}

Result<Tensor> Computed(const ShiftScale& s) {
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(s.scale.dtype(), s.data.dims()));
  const std::vector<float> scales = s.Scales();
  const std::vector<double> offsets = s.Offsets();
  NN_RETURN_IF_ERROR(ForEachEntry(s.data.dims(), s.scale.dims(), [&](int64_t i, int64_t entry) {
    const auto k = static_cast<size_t>(entry);
    const auto shifted = static_cast<float>(s.data.GetDouble(i) - offsets[k]);
    out.SetDouble(i, static_cast<double>(shifted * scales[k]));
  }));
  return out.Finish();
}

Status CheckOffset(const ShiftScale& s) {
  if (!s.offset || s.offset->dims() == s.scale.dims()) return {};
  return ModelError("there are {} scales, but {} offsets", s.scale.elements(),
                    s.offset->elements());
}

Status EmitShiftScale(ImportContext& ctx, const ShiftScale& s) {
  NN_RETURN_IF_ERROR(CheckOffset(s));
  if (const auto offsets = WholeOffsets(s)) {
    NN_RETURN_IF_ERROR(BlocksOf(s.data.dims(), s.scale.dims()));
    if (auto quant = MappingOf(s, *offsets))
      return ctx.Emit("dequantize", {ctx.Constant(s.data, std::move(quant))},
                      DequantizeAttrs{s.scale.dtype()});
    NN_ASSIGN(const std::optional<Tensor> blocks, InBlocks(s, *offsets));
    if (blocks) return ctx.EmitTerm(*blocks);
  }
  NN_ASSIGN(const Tensor numbers, Computed(s));
  return ctx.EmitTerm(numbers);
}

Status ImportBlockwiseShiftScale(ImportContext& ctx) {
  NN_ASSIGN(Tensor data, DataOf(ctx, "data"));
  NN_ASSIGN(Tensor scale, DataOf(ctx, "scale"));
  NN_ASSIGN(std::optional<Tensor> offset, OptionalDataOf(ctx, "offset"));
  return EmitShiftScale(ctx, {std::move(data), std::move(scale), std::move(offset)});
}

// Numbers for the indices of an axis, one or as many as it has, as a table with these axes.
Result<Tensor> AsTable(const Tensor& numbers, const std::vector<int64_t>& dims) {
  if (numbers.elements() != 1) return numbers.Reshaped(dims);
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(numbers.dtype(), dims));
  out.Fill(0, out.elements(), numbers);
  return out.Finish();
}

Status ImportAffineDequantize(ImportContext& ctx) {
  NN_ASSIGN(Tensor data, DataOf(ctx, "quantized_data"));
  NN_ASSIGN(Tensor scale, DataOf(ctx, "scale"));
  NN_ASSIGN(Tensor zero, DataOf(ctx, "zero_point"));
  NN_ASSIGN(const int64_t axis, ctx.Axis("axis", data.rank()));
  std::vector<int64_t> dims(static_cast<size_t>(data.rank()), 1);
  if (scale.elements() != 1 || zero.elements() != 1)
    dims[static_cast<size_t>(axis)] = data.dim(static_cast<int>(axis));
  NN_ASSIGN(scale, AsTable(scale, dims));
  NN_ASSIGN(zero, AsTable(zero, dims));
  return EmitShiftScale(ctx, {std::move(data), std::move(scale), std::move(zero)});
}

// ---- Palettes -----------------------------------------------------------------------------------

// The entries of palettes [..., entries, size] at the indices: vectors along an axis, which gets
// `size` times as many elements.
Result<Tensor> FromPalettes(const Tensor& indices, const Tensor& palettes, int64_t axis) {
  const auto rank = static_cast<size_t>(indices.rank());
  if (palettes.dims().size() != rank + 2 || rank == 0)
    return ModelError("input lut has rank {} for indices of rank {}", palettes.rank(), rank);
  const int64_t entries = palettes.dims()[rank], size = palettes.dims()[rank + 1];
  std::vector<int64_t> dims = indices.dims();
  const auto grown = CheckedMul(dims[static_cast<size_t>(axis)], size);
  if (!grown) return ModelError("input lut has vectors of {} elements", size);
  dims[static_cast<size_t>(axis)] = *grown;
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(palettes.dtype(), std::move(dims)));
  const int64_t inner = Strides(indices.dims())[static_cast<size_t>(axis)];
  std::optional<int64_t> outside;
  NN_RETURN_IF_ERROR(ForEachEntry(
      indices.dims(), std::span(palettes.dims()).first(rank), [&](int64_t i, int64_t palette) {
        const int64_t index = indices.GetInt(i);
        if (index < 0 || index >= entries) {
          outside = index;
          return;
        }
        const int64_t to = i / inner * inner * size + i % inner;
        for (int64_t k = 0; k < size; ++k)
          out.Copy(to + k * inner, palettes, (palette * entries + index) * size + k);
      }));
  if (outside)
    return ModelError("index {} is out of range for {} entries of input lut", *outside, entries);
  return out.Finish();
}

// The axis of the vectors of a palette; the last one if they have one element.
Result<int64_t> VectorAxis(const ImportContext& ctx, const Tensor& indices, const Tensor& lut) {
  if (ctx.Has("vector_axis")) return ctx.Axis("vector_axis", indices.rank());
  if (lut.rank() > 0 && lut.dims().back() != 1) return ModelError("input vector_axis is missing");
  return indices.rank() - 1;
}

// Of iOS16, the indices are packed, and there is one palette.
Result<Tensor> UnpackedFor(const ImportContext& ctx, const Tensor& packed, int bits) {
  NN_ASSIGN(std::vector<int64_t> shape, ctx.Ints("shape"));
  return Unpack(packed.blob(), bits, std::move(shape));
}

Status ImportLutToDense(ImportContext& ctx) {
  NN_ASSIGN(Tensor indices, DataOf(ctx, "indices"));
  NN_ASSIGN(Tensor lut, DataOf(ctx, "lut"));
  if (ctx.definition().Input("shape") != nullptr) {
    const auto entries = static_cast<uint64_t>(lut.elements());
    if (!std::has_single_bit(entries) || entries < 2 || entries > 256)
      return ModelError("input lut has {} elements", entries);
    NN_ASSIGN(indices, UnpackedFor(ctx, indices, std::countr_zero(entries)));
    std::vector<int64_t> dims(static_cast<size_t>(indices.rank()), 1);
    dims.insert(dims.end(), {lut.elements(), 1});
    NN_ASSIGN(lut, lut.Reshaped(std::move(dims)));
  }
  NN_ASSIGN(const int64_t axis, VectorAxis(ctx, indices, lut));
  NN_ASSIGN(const Tensor dense, FromPalettes(indices, lut, axis));
  return ctx.EmitTerm(dense);
}

// ---- Sparse data --------------------------------------------------------------------------------

// Zeros where the mask is 0, and the data elsewhere.
Result<Tensor> Spread(const Tensor& mask, const Tensor& data) {
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(data.dtype(), mask.dims()));
  std::fill_n(out.data(), ByteSize(data.dtype(), out.elements()), std::byte{0});
  int64_t next = 0;
  for (int64_t i = 0; i < mask.elements(); ++i)
    if (mask.GetInt(i) != 0 && next++ < data.elements()) out.Copy(i, data, next - 1);
  if (next != data.elements())
    return ModelError("the mask has {} elements that are not 0, for {} of the data", next,
                      data.elements());
  return out.Finish();
}

// The inverse, for `count` elements.
Result<Tensor> Gathered(const Tensor& mask, const Tensor& dense, int64_t count) {
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(dense.dtype(), {count}));
  int64_t next = 0;
  for (int64_t i = 0; i < mask.elements(); ++i)
    if (mask.GetInt(i) != 0) out.Copy(next++, dense, i);
  return out.Finish();
}

Status ImportSparseToDense(ImportContext& ctx) {
  NN_ASSIGN(const Tensor data, DataOf(ctx, "nonzero_data"));
  NN_ASSIGN(Tensor mask, DataOf(ctx, "mask"));
  if (ctx.definition().Input("shape") != nullptr) {
    NN_ASSIGN(mask, UnpackedFor(ctx, mask, 1));
  }
  NN_ASSIGN(const Tensor dense, Spread(mask, data));
  return ctx.EmitTerm(dense);
}

Status ImportSparseShiftScale(ImportContext& ctx) {
  NN_ASSIGN(const Tensor mask, DataOf(ctx, "data_mask"));
  NN_ASSIGN(const Tensor data, DataOf(ctx, "nonzero_data"));
  ShiftScale s;
  NN_ASSIGN(s.data, Spread(mask, data));
  NN_ASSIGN(s.scale, DataOf(ctx, "scale"));
  NN_ASSIGN(s.offset, OptionalDataOf(ctx, "offset"));
  NN_RETURN_IF_ERROR(CheckOffset(s));
  NN_ASSIGN(const Tensor dense, Computed(s));
  NN_ASSIGN(const Tensor numbers, Gathered(mask, dense, data.elements()));
  NN_RETURN_IF_ERROR(ctx.EmitTerm(mask, 0));
  return ctx.EmitTerm(numbers, 1);
}

// A mask for vectors of `size` elements along an axis.
Result<Tensor> GrownMask(const Tensor& mask, int64_t size, int64_t axis) {
  std::vector<int64_t> dims(static_cast<size_t>(mask.rank()), 1);
  dims.insert(dims.end(), {2, size});
  NN_ASSIGN(TensorBuilder palette, TensorBuilder::Create(DType::kU8, std::move(dims)));
  for (int64_t i = 0; i < palette.elements(); ++i) palette.SetInt(i, i / size);
  return FromPalettes(mask, palette.Finish(), axis);
}

Status ImportLutToSparse(ImportContext& ctx) {
  NN_ASSIGN(Tensor mask, DataOf(ctx, "indices_mask"));
  NN_ASSIGN(const Tensor data, DataOf(ctx, "indices_nonzero_data"));
  NN_ASSIGN(const Tensor lut, DataOf(ctx, "lut"));
  NN_ASSIGN(const Tensor indices, Spread(mask, data));
  NN_ASSIGN(const int64_t axis, VectorAxis(ctx, indices, lut));
  NN_ASSIGN(const Tensor dense, FromPalettes(indices, lut, axis));
  const int64_t size = lut.dims().back();
  NN_ASSIGN(mask, GrownMask(mask, size, axis));
  NN_ASSIGN(const Tensor numbers, Gathered(mask, dense, data.elements() * size));
  NN_RETURN_IF_ERROR(ctx.EmitTerm(mask, 0));
  return ctx.EmitTerm(numbers, 1);
}

// ---- Casts --------------------------------------------------------------------------------------

// Numbers of float16 stay so, as weights do.
Status ImportConstexprCast(ImportContext& ctx) {
  NN_ASSIGN(Tensor source, DataOf(ctx, "source_val"));
  NN_ASSIGN(const DType to, ctx.NamedType("output_dtype"));
  return ctx.Emit("dequantize", {Term(std::move(source))}, DequantizeAttrs{to});
}

}  // namespace

Family CompressedFamily() {
  static constexpr ImportRow kImports[] = {
      {"constexpr_affine_dequantize", ImportAffineDequantize},
      {"constexpr_blockwise_shift_scale", ImportBlockwiseShiftScale},
      {"constexpr_cast", ImportConstexprCast},
      {"constexpr_lut_to_dense", ImportLutToDense},
      {"constexpr_lut_to_sparse", ImportLutToSparse},
      {"constexpr_sparse_blockwise_shift_scale", ImportSparseShiftScale},
      {"constexpr_sparse_to_dense", ImportSparseToDense},
  };
  return {kImports};
}

}  // namespace nn::coreml::program
