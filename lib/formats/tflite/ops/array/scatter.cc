#include "ops/array/arrange/scatter.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "formats/tflite/family.h"
#include "ir/text/number.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/selection.h"
#include "ops/support/movement.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// Of an update, elements of a slice, and the size of an axis.
constexpr int64_t kMaxScattered = int64_t{1} << 20;

Result<Value*> NumberOf(ImportContext& ctx, DType dtype, double v) {
  NN_ASSIGN(Tensor number, Number(dtype, v));
  return ctx.Constant(std::move(number));
}

// ---- Segments -----------------------------------------------------------------------------------

// Makes one axis of the axes of x that have an id each, and of the ids.
Status FlattenSegments(ImportContext& ctx, Value*& x, Value*& ids) {
  const int rank = ids->type().rank();
  if (rank < 1 || rank > x->type().rank())
    return UnsupportedError("segment ids of type {} for data of type {} are unsupported",
                            ids->type().ToString(), x->type().ToString());
  if (rank == 1) return {};
  Dims dims = *x->type().dims;
  const Dim rows = Product(*ids->type().dims);
  dims.erase(dims.begin() + 1, dims.begin() + rank);
  dims[0] = rows;
  NN_ASSIGN(x, ctx.Add("reshape", {x}, ReshapeAttrs{std::move(dims), false}));
  if (ids->is_constant()) {
    NN_ASSIGN(Tensor list, ids->constant().Reshaped({rows.value()}));
    ids = ctx.Constant(std::move(list));
    return {};
  }
  NN_ASSIGN(ids, ctx.Add("reshape", {ids}, ReshapeAttrs{{rows}, false}));
  return {};
}

// The rows of x, combined by their segment: row i goes to row ids[i] of the result. Rows of
// negative ids are dropped: they go to one more row, which is removed again.
Status EmitSegments(ImportContext& ctx, Value* ids, int64_t count, double initial,
                    Reduction reduction) {
  NN_ASSIGN(Value * x, ctx.Ranked(0));
  NN_RETURN_IF_ERROR(FlattenSegments(ctx, x, ids));
  bool drops = true;
  if (ids->is_constant()) {
    const std::vector<int64_t> list = ids->constant().ToInts();
    drops = std::any_of(list.begin(), list.end(), [](int64_t id) { return id < 0; });
    if (const auto most = std::max_element(list.begin(), list.end());
        most != list.end() && *most >= count)
      return ModelError("segment id {} is out of range; there are {} segments", *most, count);
  }
  if (drops) {
    NN_ASSIGN(Value* const none, NumberOf(ctx, ids->dtype(), 0));
    NN_ASSIGN(Value* const end, NumberOf(ctx, ids->dtype(), static_cast<double>(count)));
    NN_ASSIGN(Value* const dropped, ctx.Add("less", {ids, none}));
    // An id that is too large stays out of range.
    NN_ASSIGN(Value * large, ctx.Add("greater_equal", {ids, end}));
    NN_ASSIGN(large, ctx.Add("cast", {large}, CastAttrs{.to = ids->dtype()}));
    NN_ASSIGN(large, ctx.Add("add", {ids, large}));
    NN_ASSIGN(ids, ctx.Add("select", {dropped, end, large}));
  }
  Dims dims = *x->type().dims;
  dims[0] = count + (drops ? 1 : 0);
  NN_ASSIGN(Value * y, NumberOf(ctx, x->dtype(), initial));
  NN_ASSIGN(y, ctx.Add("expand", {y}, ExpandAttrs{dims}));
  NN_ASSIGN(Value* const rows, ctx.Add("expand_dims", {ids}, AxesAttrs{{1}}));
  if (!drops) return ctx.Emit("scatter_nd", {y, rows, x}, ScatterNdAttrs{reduction});
  NN_ASSIGN(y, ctx.Add("scatter_nd", {y, rows, x}, ScatterNdAttrs{reduction}));
  return ctx.Emit("slice", {y}, SliceAttrs{{0}, {0}, {count}, {1}});
}

// The segments of the ids 0, 0, 1, 1, 1, 2, ...
Status ImportSegmentSum(ImportContext& ctx) {
  NN_ASSIGN(Value* const ids, ctx.Ranked(1));
  NN_ASSIGN(const std::vector<int64_t> list, ctx.KnownInts(1, "the segment ids"));
  int64_t last = -1;
  for (const int64_t id : list) {
    if (id != last && id != last + 1)
      return ModelError("segment id {} follows {}; ids must start at 0 and increase by at most 1",
                        id, last);
    last = id;
  }
  if (!list.empty() && list[0] != 0) return ModelError("the first segment id must be 0");
  return EmitSegments(ctx, ids, last + 1, 0, Reduction::kAdd);
}

template <Reduction reduction>
Status ImportUnsortedSegment(ImportContext& ctx) {
  NN_ASSIGN(const Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const ids, ctx.Ranked(1));
  NN_ASSIGN(const std::vector<int64_t> count, ctx.KnownInts(2, "the number of segments"));
  if (count.size() != 1 || count[0] < 0) return ModelError("the number of segments is invalid");
  if (x->dtype() != DType::kF32 && x->dtype() != DType::kI32)
    return UnsupportedError("segments of {} are unsupported", DTypeName(x->dtype()));
  const bool real = x->dtype() == DType::kF32;
  double least = std::numeric_limits<int32_t>::lowest(), most = std::numeric_limits<int32_t>::max();
  if (real) {
    least = std::numeric_limits<float>::lowest();
    most = std::numeric_limits<float>::max();
  }
  double initial = 0;
  if (reduction == Reduction::kMul) initial = 1;
  if (reduction == Reduction::kMin) initial = most;
  if (reduction == Reduction::kMax) initial = least;
  return EmitSegments(ctx, ids, count[0], initial, reduction);
}

// ---- Elements at positions ----------------------------------------------------------------------

// Each value, or the only one, goes to its position in a tensor of the default value.
Status ImportSparseToDense(ImportContext& ctx) {
  NN_ASSIGN(Value * indices, ctx.Ranked(0));
  NN_ASSIGN(Value* const shape, ctx.Required(1));
  NN_ASSIGN(Value * values, ctx.Ranked(2));
  NN_ASSIGN(Value * rest, ctx.Ranked(3));
  if (rest->type().rank() != 0) {
    NN_ASSIGN(rest, ctx.Add("reshape", {rest}, ReshapeAttrs{{}, false}, rest->type().quant));
  }
  // A list of positions: the coordinates of an element are a row.
  if (indices->type().rank() < 2) {
    const Dim count = indices->type().rank() == 0 ? Dim(1) : indices->type().dim(0);
    NN_ASSIGN(indices, ctx.Add("reshape", {indices}, ReshapeAttrs{{count, Dim(1)}, false}));
  }
  if (values->type().rank() == 0) {
    NN_ASSIGN(values, ctx.Add("expand", {values}, ExpandAttrs{{indices->type().dim(0)}},
                              values->type().quant));
  }
  NN_ASSIGN(Value* const y,
            ctx.Add("expand", {rest, shape}, ExpandAttrs{}, ctx.output_type().quant));
  return ctx.Emit("scatter_nd", {y, indices, values}, ScatterNdAttrs{});
}

// The indices of all elements of a box: a tensor with one more axis, which holds the coordinates.
Result<Tensor> BoxIndices(DType dtype, const std::vector<int64_t>& box) {
  std::vector<int64_t> dims = box;
  dims.push_back(static_cast<int64_t>(box.size()));
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, std::move(dims)));
  const int64_t count =
      std::accumulate(box.begin(), box.end(), int64_t{1}, std::multiplies<int64_t>());
  for (int64_t i = 0, at = 0; i < count; ++i) {
    int64_t rest = i, below = count;
    for (const int64_t size : box) {
      below /= size;
      b.SetInt(at++, rest / below);
      rest %= below;
    }
  }
  return b.Finish();
}

// The start is clamped so that the update is within x.
Status EmitUpdateSlice(ImportContext& ctx, Value* start) {
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  NN_ASSIGN(Value* const update, ctx.Ranked(1));
  const auto size = x->type().const_dims(), part = update->type().const_dims();
  if (!size || !part) return UnsupportedError("the shapes of x and update must be constant");
  if (size->size() != part->size() || size->empty())
    return ModelError("the update {} does not have the rank of {}", update->type().ToString(),
                      x->type().ToString());
  // Only the axes before the last one that is not replaced as a whole need positions.
  size_t axes = 0;
  int64_t positions = 1;
  for (size_t i = 0; i < size->size(); ++i) {
    if ((*part)[i] > (*size)[i])
      return ModelError("the update {} is larger than {}", update->type().ToString(),
                        x->type().ToString());
    if ((*part)[i] != (*size)[i]) axes = i + 1;
  }
  if (axes == 0) {
    ctx.SetOutput(0, update);
    return {};
  }
  if (std::ranges::find(*part, 0) != part->end()) {
    ctx.SetOutput(0, x);
    return {};
  }
  const std::vector<int64_t> box(part->begin(), part->begin() + static_cast<ptrdiff_t>(axes));
  std::vector<int64_t> last;
  for (size_t i = 0; i < axes; ++i) {
    last.push_back((*size)[i] - (*part)[i]);
    positions = box[i] > kMaxScattered ? kMaxScattered + 1 : positions * box[i];
    if (positions > kMaxScattered)
      return UnsupportedError("an update at more than {} positions is unsupported", kMaxScattered);
  }
  const DType dtype = start->dtype();
  NN_ASSIGN(TensorBuilder limits, TensorBuilder::Create(dtype, {static_cast<int64_t>(axes)}));
  for (size_t i = 0; i < axes; ++i) limits.SetInt(static_cast<int64_t>(i), last[i]);
  NN_ASSIGN(Tensor box_indices, BoxIndices(dtype, box));
  if (axes < size->size()) {
    NN_ASSIGN(start,
              ctx.Add("slice", {start}, SliceAttrs{{0}, {0}, {static_cast<int64_t>(axes)}, {1}}));
  }
  NN_ASSIGN(Value* const zero, NumberOf(ctx, dtype, 0));
  NN_ASSIGN(start, ctx.Add("maximum", {start, zero}));
  NN_ASSIGN(start, ctx.Add("minimum", {start, ctx.Constant(limits.Finish())}));
  NN_ASSIGN(Value* const indices, ctx.Add("add", {ctx.Constant(std::move(box_indices)), start}));
  return ctx.Emit("scatter_nd", {x, indices, update}, ScatterNdAttrs{});
}

Status ImportDynamicUpdateSlice(ImportContext& ctx) {
  NN_ASSIGN(Value* const start, ctx.Required(2));
  return EmitUpdateSlice(ctx, start);
}

// Each start is a scalar.
Status ImportStablehloUpdateSlice(ImportContext& ctx) {
  std::vector<Value*> starts;
  for (size_t i = 2; i < ctx.input_count(); ++i) {
    NN_ASSIGN(Value* const start, ctx.Required(i));
    NN_ASSIGN(Value* const one, ctx.Add("reshape", {start}, ReshapeAttrs{{Dim(1)}}));
    starts.push_back(one);
  }
  NN_ASSIGN(const Value* const x, ctx.Ranked(0));
  if (starts.empty() || static_cast<int>(starts.size()) != x->type().rank())
    return ModelError("there are {} starts for {}", starts.size(), x->type().ToString());
  NN_ASSIGN(Value* const start, ctx.Add("concat", std::move(starts), ConcatAttrs{0}));
  return EmitUpdateSlice(ctx, start);
}

// StableHLO's gather: each index vector in `starts` is the corner of a box of x, clamped so that
// the box is within x. offset_dims are the axes of the boxes in the result.
Status ImportStablehloGather(ImportContext& ctx) {
  const auto* const o = ctx.op().builtin_options_2_as_StablehloGatherOptions();
  if (o == nullptr) return ModelError("the options are missing or of a different kind");
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  NN_ASSIGN(Value * starts, ctx.Ranked(1));
  const auto size = x->type().const_dims(), batch = starts->type().const_dims();
  if (!size || !batch) return UnsupportedError("the shapes of its operands must be constant");
  const auto box = ListOf<int64_t>(o->slice_sizes()), map = ListOf<int64_t>(o->start_index_map());
  const auto collapsed = ListOf<int64_t>(o->collapsed_slice_dims());
  const auto offsets = ListOf<int64_t>(o->offset_dims());
  const auto rank = static_cast<int64_t>(size->size());
  const auto vector_axis = o->index_vector_dim();
  const auto starts_rank = static_cast<int64_t>(batch->size());
  if (rank == 0 || box.size() != size->size() || vector_axis < 0 || vector_axis > starts_rank ||
      collapsed.size() + offsets.size() != box.size())
    return ModelError("the options do not fit the operands");
  // The axis of index vectors becomes the last of two.
  std::vector<int64_t> outer = *batch, perm(batch->size());
  int64_t length = 1;
  if (vector_axis < starts_rank) {
    length = outer[static_cast<size_t>(vector_axis)];
    outer.erase(outer.begin() + vector_axis);
    std::iota(perm.begin(), perm.end(), 0);
    perm.erase(perm.begin() + vector_axis);
    perm.push_back(vector_axis);
    NN_ASSIGN(starts, ctx.Add("transpose", {starts}, TransposeAttrs{perm}));
  }
  if (static_cast<int64_t>(map.size()) != length)
    return ModelError("start_index_map has {} entries; expected {}", map.size(), length);
  const Dim count = Product(ToDims(outer));
  NN_ASSIGN(starts, ctx.Add("reshape", {starts}, ReshapeAttrs{{count, Dim(length)}, false}));
  int64_t positions = 1;
  for (size_t i = 0; i < box.size(); ++i) {
    if (box[i] < 1 || box[i] > (*size)[i])
      return UnsupportedError("a slice of {} elements of {} is unsupported", box[i], (*size)[i]);
    positions = box[i] > kMaxScattered ? kMaxScattered + 1 : positions * box[i];
    if (positions > kMaxScattered)
      return UnsupportedError("slices of more than {} elements are unsupported", kMaxScattered);
  }
  // The component of each axis of x; axes without one start at 0.
  const DType dtype = starts->dtype();
  std::vector<int64_t> component(box.size(), length);
  NN_ASSIGN(TensorBuilder last, TensorBuilder::Create(dtype, {length}));
  for (size_t i = 0; i < map.size(); ++i) {
    if (map[i] < 0 || map[i] >= rank) return ModelError("start_index_map has an axis {}", map[i]);
    const auto axis = static_cast<size_t>(map[i]);
    component[axis] = static_cast<int64_t>(i);
    last.SetInt(static_cast<int64_t>(i), (*size)[axis] - box[axis]);
  }
  NN_ASSIGN(Value* const zero, NumberOf(ctx, dtype, 0));
  NN_ASSIGN(starts, ctx.Add("maximum", {starts, zero}));
  NN_ASSIGN(starts, ctx.Add("minimum", {starts, ctx.Constant(last.Finish())}));
  NN_ASSIGN(Value* const column, ctx.Add("expand", {zero}, ExpandAttrs{{count, Dim(1)}}));
  NN_ASSIGN(starts, ctx.Add("concat", {starts, column}, ConcatAttrs{1}));
  Value* const components = ctx.Constant(Tensor::Of<int64_t>({rank}, component));
  NN_ASSIGN(starts, ctx.Add("gather", {starts, components}, GatherAttrs{1}));
  Dims corners(box.size() + 2, Dim(1));
  corners.front() = count;
  corners.back() = rank;
  NN_ASSIGN(starts, ctx.Add("reshape", {starts}, ReshapeAttrs{corners, false}));
  NN_ASSIGN(Tensor elements, BoxIndices(dtype, box));
  NN_ASSIGN(Value* const indices, ctx.Add("add", {ctx.Constant(std::move(elements)), starts}));
  NN_ASSIGN(Value * y, ctx.Add("gather_nd", {x, indices}, GatherNdAttrs{}, x->type().quant));
  // The axes of the boxes are after the others.
  std::vector<int64_t> shape = outer, order;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const int64_t n = box[static_cast<size_t>(axis)];
    if (std::ranges::find(collapsed, axis) == collapsed.end())
      shape.push_back(n);
    else if (n != 1)
      return ModelError("axis {} of the slices is dropped, but has {} elements", axis, n);
  }
  if (shape.size() != outer.size() + offsets.size())
    return ModelError("the options do not fit the operands");
  NN_ASSIGN(y, ctx.Add("reshape", {y}, ReshapeAttrs{ToDims(shape), false}, x->type().quant));
  int64_t of_outer = 0;
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis) {
    const auto at = std::ranges::find(offsets, axis);
    order.push_back(at == offsets.end()
                        ? of_outer++
                        : static_cast<int64_t>(outer.size()) + (at - offsets.begin()));
  }
  if (of_outer != static_cast<int64_t>(outer.size()))
    return ModelError("offset_dims do not fit the result");
  return ctx.Emit("transpose", {y}, TransposeAttrs{order});
}

// ---- Diagonals ----------------------------------------------------------------------------------

// The numbers 0 to size - 1 along the first of two axes, or along the second.
Result<Value*> Positions(ImportContext& ctx, int64_t size, bool first) {
  if (size > kMaxScattered)
    return UnsupportedError("matrices with an axis larger than {} are unsupported", kMaxScattered);
  NN_ASSIGN(TensorBuilder b,
            TensorBuilder::Create(DType::kI32, {first ? size : 1, first ? 1 : size}));
  for (int64_t i = 0; i < size; ++i) b.SetInt(i, i);
  return ctx.Constant(b.Finish());
}

// A matrix of bools that is true on the main diagonal.
Result<Value*> Diagonal(ImportContext& ctx, int64_t rows, int64_t columns) {
  NN_ASSIGN(Value* const row, Positions(ctx, rows, true));
  NN_ASSIGN(Value* const column, Positions(ctx, columns, false));
  return ctx.Add("equal", {row, column});
}

// Kernels write the integer 0, regardless of what it represents.
Status RefuseQuantized(const ImportContext& ctx) {
  if (ctx.output_type().quantized()) return UnsupportedError("quantized operands are unsupported");
  return {};
}

Result<Value*> Zero(ImportContext& ctx, DType dtype) {
  NN_ASSIGN(Tensor zero, ZeroElement(Type(dtype, {})));
  NN_ASSIGN(zero, zero.Reshaped({}));
  return ctx.Constant(std::move(zero));
}

Status ImportMatrixDiag(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RefuseQuantized(ctx));
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  const int rank = x->type().rank();
  if (rank == 0) return ModelError("the diagonal must have rank 1 or more");
  const Dim& size = x->type().dim(rank - 1);
  if (!size.is_const()) return UnsupportedError("the size of the diagonal must be constant");
  NN_ASSIGN(Value* const mask, Diagonal(ctx, size.value(), size.value()));
  NN_ASSIGN(Value* const row, ctx.Add("expand_dims", {x}, AxesAttrs{{rank - 1}}));
  NN_ASSIGN(Value* const zero, Zero(ctx, x->dtype()));
  return ctx.Emit("select", {mask, row, zero});
}

Status ImportMatrixSetDiag(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RefuseQuantized(ctx));
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  NN_ASSIGN(Value* const diagonal, ctx.Ranked(1));
  const int rank = x->type().rank();
  if (rank < 2) return ModelError("the matrices must have rank 2 or more, not {}", rank);
  const Dim &rows = x->type().dim(rank - 2), &columns = x->type().dim(rank - 1);
  if (!rows.is_const() || !columns.is_const())
    return UnsupportedError("the sizes of the matrices must be constant");
  const int64_t size = std::min(rows.value(), columns.value());
  if (diagonal->type().rank() != rank - 1 || !(diagonal->type().dim(rank - 2) == size))
    return ModelError("the diagonal {} does not fit {}", diagonal->type().ToString(),
                      x->type().ToString());
  NN_ASSIGN(Value* const mask, Diagonal(ctx, rows.value(), columns.value()));
  // The diagonal as a row of each matrix, or as a column if that is shorter.
  NN_ASSIGN(Value* const line, ctx.Add("expand_dims", {diagonal},
                                       AxesAttrs{{size == columns.value() ? rank - 2 : rank - 1}}));
  return ctx.Emit("select", {mask, line, x});
}

// ---- Tables -------------------------------------------------------------------------------------

// The values of keys, or zeros for keys that the table does not have, and whether it has them.
Status ImportHashtableLookup(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RefuseQuantized(ctx));
  NN_ASSIGN(Value* const lookup, ctx.Ranked(0));
  NN_ASSIGN(Value* const keys, ctx.Ranked(1));
  NN_ASSIGN(Value* const table, ctx.Ranked(2));
  if (lookup->type().rank() != 1 || keys->type().rank() != 1 || table->type().rank() < 1)
    return ModelError("keys must be lists, and the values must have rank 1 or more");
  if (table->dtype() == DType::kString)
    return UnsupportedError("tables of strings are unsupported");
  if (keys->type().dim(0) == 0) return UnsupportedError("an empty table is unsupported");
  NN_ASSIGN(Value * column, ctx.Add("expand_dims", {lookup}, AxesAttrs{{1}}));
  NN_ASSIGN(Value * found, ctx.Add("equal", {column, keys}));
  NN_ASSIGN(found, ctx.Add("cast", {found}, CastAttrs{.to = DType::kI32}));
  ArgAttrs first;
  first.axis = 1;
  first.keep_dims = false;
  first.output_type = DType::kI32;
  NN_ASSIGN(Value* const row, ctx.Add("arg_max", {found}, first));
  NN_ASSIGN(Value * hit, ctx.Add("reduce_max", {found}, ReduceAttrs{{1}, false}));
  NN_ASSIGN(Value* const hits, ctx.Add("cast", {hit}, CastAttrs{.to = DType::kU8}));
  NN_ASSIGN(hit, ctx.Add("cast", {hit}, CastAttrs{.to = DType::kBool}));
  Dims dims(table->type().dims->size(), Dim(1));
  dims[0] = lookup->type().dim(0);
  NN_ASSIGN(hit, ctx.Add("reshape", {hit}, ReshapeAttrs{dims, false}));
  NN_ASSIGN(Value* const rows, ctx.Add("gather", {table, row}, GatherAttrs{}));
  NN_ASSIGN(Value* const zero, Zero(ctx, table->dtype()));
  NN_ASSIGN(Value* const y, ctx.Add("select", {hit, rows, zero}));
  ctx.SetOutput(0, y);
  if (ctx.output_count() > 1) ctx.SetOutput(1, hits);
  return {};
}

// Sums of weighted rows of a table: row ids[i] is added to the result at the first coordinates in
// row i of the indices. A mean divides each sum by that of its weights, or of their squares.
Status ImportEmbeddingLookupSparse(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::EmbeddingLookupSparseOptions>());
  NN_ASSIGN(Value* const ids, ctx.Ranked(0));
  NN_ASSIGN(Value * indices, ctx.Ranked(1));
  NN_ASSIGN(const std::vector<int64_t> shape, ctx.KnownInts(2, "the shape"));
  NN_ASSIGN(Value * weights, ctx.Ranked(3));
  NN_ASSIGN(Value* const table, ctx.Ranked(4));
  const auto axes = static_cast<int64_t>(shape.size()) - 1;
  if (ids->type().rank() != 1 || weights->type().rank() != 1 || table->type().rank() < 2 ||
      indices->type().rank() != 2 || !(indices->type().dim(1) == axes + 1))
    return ModelError("the operands do not fit together");
  if (axes < 1) return UnsupportedError("a lookup without axes of its own is unsupported");
  NN_ASSIGN(indices, ctx.Add("slice", {indices}, SliceAttrs{{1}, {0}, {axes}, {1}}));
  // The elements at positions, summed from zero; `rest` are the axes of an element.
  const auto sum = [&](Value* elements, const Dims& rest) -> Result<Value*> {
    Dims dims = ToDims(std::vector<int64_t>(shape.begin(), shape.end() - 1));
    dims.insert(dims.end(), rest.begin(), rest.end());
    NN_ASSIGN(Value * zeros, NumberOf(ctx, DType::kF32, 0));
    NN_ASSIGN(zeros, ctx.Add("expand", {zeros}, ExpandAttrs{dims}));
    return ctx.Add("scatter_nd", {zeros, indices, elements}, ScatterNdAttrs{Reduction::kAdd});
  };
  const Dims element(table->type().dims->begin() + 1, table->type().dims->end());
  NN_ASSIGN(Value * rows, ctx.Add("gather", {table, ids}, GatherAttrs{}));
  Dims column(table->type().dims->size(), Dim(1));
  column[0] = weights->type().dim(0);
  NN_ASSIGN(Value* const factors, ctx.Add("reshape", {weights}, ReshapeAttrs{column, false}));
  NN_ASSIGN(rows, ctx.Add("mul", {rows, factors}));
  NN_ASSIGN(Value* const y, sum(rows, element));
  if (o->combiner() == fb::CombinerType::SUM) {
    ctx.SetOutput(0, y);
    return {};
  }
  const bool roots = o->combiner() == fb::CombinerType::SQRTN;
  NN_ASSIGN(Value* const one, NumberOf(ctx, DType::kF32, 1));
  NN_ASSIGN(Value* const none, NumberOf(ctx, DType::kF32, 0));
  NN_ASSIGN(Value * count, ctx.Add("expand", {one}, ExpandAttrs{{weights->type().dim(0)}}));
  NN_ASSIGN(count, sum(count, {}));
  if (roots) {
    NN_ASSIGN(weights, ctx.Add("mul", {weights, weights}));
  }
  NN_ASSIGN(Value * divisor, sum(weights, {}));
  if (roots) {
    NN_ASSIGN(divisor, ctx.Add("sqrt", {divisor}));
  }
  NN_ASSIGN(Value* const empty, ctx.Add("equal", {count, none}));
  NN_ASSIGN(divisor, ctx.Add("select", {empty, one, divisor}));
  AxesAttrs last;
  for (size_t i = 0; i < element.size(); ++i) last.axes.push_back(axes + static_cast<int64_t>(i));
  NN_ASSIGN(divisor, ctx.Add("expand_dims", {divisor}, last));
  return ctx.Emit("div", {y, divisor});
}

// The shape to which tensors of both shapes broadcast.
Status ImportBroadcastArgs(ImportContext& ctx) {
  NN_ASSIGN(Value * a, ctx.Ranked(0));
  NN_ASSIGN(Value * b, ctx.Ranked(1));
  const auto a_size = a->type().const_dims(), b_size = b->type().const_dims();
  if (!a_size || !b_size || a_size->size() != 1 || b_size->size() != 1)
    return UnsupportedError("shapes of unknown rank are unsupported");
  NN_ASSIGN(Value* const one, NumberOf(ctx, a->dtype(), 1));
  const int64_t rank = std::max((*a_size)[0], (*b_size)[0]);
  for (auto& [shape, size] : {std::pair(&a, (*a_size)[0]), std::pair(&b, (*b_size)[0])}) {
    if (size == rank) continue;
    NN_ASSIGN(*shape, ctx.Add("pad", {*shape, one}, PadAttrs{{rank - size, 0}}));
  }
  NN_ASSIGN(Value* const is_one, ctx.Add("equal", {a, one}));
  return ctx.Emit("select", {is_one, b, a});
}

constexpr ImportRow kScatterImports[] = {
    {.op = Op::SEGMENT_SUM, .import = ImportSegmentSum},
    {.op = Op::UNSORTED_SEGMENT_SUM, .import = ImportUnsortedSegment<Reduction::kAdd>},
    {.op = Op::UNSORTED_SEGMENT_PROD, .import = ImportUnsortedSegment<Reduction::kMul>},
    {.op = Op::UNSORTED_SEGMENT_MIN, .import = ImportUnsortedSegment<Reduction::kMin>},
    {.op = Op::UNSORTED_SEGMENT_MAX, .import = ImportUnsortedSegment<Reduction::kMax>},
    {.op = Op::SPARSE_TO_DENSE, .import = ImportSparseToDense},
    {.op = Op::DYNAMIC_UPDATE_SLICE, .import = ImportDynamicUpdateSlice},
    {.op = Op::STABLEHLO_DYNAMIC_UPDATE_SLICE, .import = ImportStablehloUpdateSlice},
    {.op = Op::MATRIX_DIAG, .import = ImportMatrixDiag},
    {.op = Op::MATRIX_SET_DIAG, .import = ImportMatrixSetDiag},
    {.op = Op::HASHTABLE_LOOKUP, .import = ImportHashtableLookup},
    {.op = Op::EMBEDDING_LOOKUP_SPARSE, .import = ImportEmbeddingLookupSparse},
    {.op = Op::BROADCAST_ARGS, .import = ImportBroadcastArgs},
    {.op = Op::STABLEHLO_GATHER, .import = ImportStablehloGather},
};

}  // namespace

Family ScatterFamily() {
  return {.imports = kScatterImports, .exports = {}};
}

}  // namespace nn::tflite
