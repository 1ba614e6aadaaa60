#include "ops/array/arrange/scatter.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "formats/tflite/family.h"
#include "ir/text/number.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/selection.h"
#include "ops/support/movement.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// Limit of TensorFlow Lite: positions of an update, elements of a gathered slice, and size of an
// axis of a diagonal matrix.
constexpr int64_t kMaxScattered = int64_t{1} << 20;

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
  NN_ASSIGN(x, ctx.Build(Reshape(x, std::move(dims))));
  if (ids->is_constant()) {
    NN_ASSIGN(Tensor list, ids->constant().Reshaped({rows.value()}));
    ids = ctx.Constant(std::move(list));
    return {};
  }
  NN_ASSIGN(ids, ctx.Build(Reshape(ids, {rows})));
  return {};
}

// The rows of x, combined by their segment: row i goes to row ids[i] of the result. Rows of
// negative ids are dropped: they go to one more row, which is removed again.
Status EmitSegments(ImportContext& ctx, Value* ids, int64_t count, double initial,
                    Reduction reduction) {
  Value* x = ctx.input(0);
  NN_RETURN_IF_ERROR(FlattenSegments(ctx, x, ids));
  bool drops = true;
  if (ids->is_constant()) {
    const std::vector<int64_t> list = ids->constant().ToInts();
    drops = std::any_of(list.begin(), list.end(), [](int64_t id) { return id < 0; });
    if (const auto most = std::max_element(list.begin(), list.end());
        most != list.end() && *most >= count)
      return ModelError("segment id {} is out of range; there are {} segments", *most, count);
  }
  Term row = ids;
  if (drops) {
    NN_ASSIGN(const Term end, Number(ids->dtype(), static_cast<double>(count)));
    // An id that is too large stays out of range.
    const Term too_large = Apply("greater_equal", {row, end});
    row = Select(Less(row, 0), end, row + Cast(too_large, ids->dtype()));
  }
  Dims dims = *x->type().dims;
  dims[0] = count + (drops ? 1 : 0);
  NN_ASSIGN(const Term first, Number(x->dtype(), initial));
  const Terms operands = {Apply("expand", {first}, ExpandAttrs{dims}), ExpandDims(row, {1}), x};
  if (!drops) return ctx.Emit("scatter_nd", operands, ScatterNdAttrs{reduction});
  const Term y = Apply("scatter_nd", operands, ScatterNdAttrs{reduction});
  return ctx.Emit("slice", {y}, SliceAttrs{{0}, {0}, {count}, {1}});
}

// The segments of the ids 0, 0, 1, 1, 1, 2, ...
Status ImportSegmentSum(ImportContext& ctx) {
  Value* const ids = ctx.input(1);
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
  const Value* const x = ctx.input(0);
  Value* const ids = ctx.input(1);
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
  Value* indices = ctx.input(0);
  Value* const shape = ctx.input(1);
  Value* values = ctx.input(2);
  Value* rest = ctx.input(3);
  if (rest->type().rank() != 0) {
    NN_ASSIGN(rest, ctx.Add("reshape", {rest}, ReshapeAttrs{{}, false}, rest->type().quant));
  }
  // A list of positions: the coordinates of an element are a row.
  if (indices->type().rank() < 2) {
    const Dim count = indices->type().rank() == 0 ? Dim(1) : indices->type().dim(0);
    NN_ASSIGN(indices, ctx.Build(Reshape(indices, {count, Dim(1)})));
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
Status EmitUpdateSlice(ImportContext& ctx, Term start) {
  Value *const x = ctx.input(0), *const update = ctx.input(1);
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
  if (axes == 0) return ctx.EmitTerm(update);
  if (std::ranges::find(*part, 0) != part->end()) return ctx.EmitTerm(x);
  const std::vector<int64_t> box(part->begin(), part->begin() + static_cast<ptrdiff_t>(axes));
  std::vector<int64_t> last;
  for (size_t i = 0; i < axes; ++i) {
    last.push_back((*size)[i] - (*part)[i]);
    positions = box[i] > kMaxScattered ? kMaxScattered + 1 : positions * box[i];
    if (positions > kMaxScattered)
      return UnsupportedError("an update at more than {} positions is unsupported", kMaxScattered);
  }
  NN_ASSIGN(const Value* const built, ctx.Build(start));
  const DType dtype = built->dtype();
  NN_ASSIGN(TensorBuilder limits, TensorBuilder::Create(dtype, {static_cast<int64_t>(axes)}));
  for (size_t i = 0; i < axes; ++i) limits.SetInt(static_cast<int64_t>(i), last[i]);
  NN_ASSIGN(Tensor box_indices, BoxIndices(dtype, box));
  if (axes < size->size()) start = Slice(start, 0, 0, static_cast<int64_t>(axes));
  start = Minimum(Maximum(start, 0), limits.Finish());
  return ctx.Emit("scatter_nd", {x, Term(std::move(box_indices)) + start, update},
                  ScatterNdAttrs{});
}

Status ImportDynamicUpdateSlice(ImportContext& ctx) {
  Value* const start = ctx.input(2);
  return EmitUpdateSlice(ctx, start);
}

// Each start is a scalar.
Status ImportStablehloUpdateSlice(ImportContext& ctx) {
  std::vector<Term> starts;
  for (size_t i = 2; i < ctx.input_count(); ++i) {
    NN_ASSIGN(Value* const start, ctx.Required(i));
    starts.push_back(Reshape(start, {Dim(1)}));
  }
  const Value* const x = ctx.input(0);
  if (starts.empty() || static_cast<int>(starts.size()) != x->type().rank())
    return ModelError("there are {} starts for {}", starts.size(), x->type().ToString());
  return EmitUpdateSlice(ctx, Concat(std::move(starts), 0));
}

// StableHLO's gather: each index vector in `starts` is the corner of a box of x, clamped so that
// the box is within x. offset_dims are the axes of the boxes in the result.
Status ImportStablehloGather(ImportContext& ctx) {
  const auto* const o = ctx.op().builtin_options_2_as_StablehloGatherOptions();
  if (o == nullptr) return ModelError("the options are missing or of a different kind");
  Value* const x = ctx.input(0);
  Value* starts = ctx.input(1);
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
  Term corner = starts;
  std::vector<int64_t> outer = *batch, perm(batch->size());
  int64_t length = 1;
  if (vector_axis < starts_rank) {
    length = outer[static_cast<size_t>(vector_axis)];
    outer.erase(outer.begin() + vector_axis);
    std::iota(perm.begin(), perm.end(), 0);
    perm.erase(perm.begin() + vector_axis);
    perm.push_back(vector_axis);
    corner = Transpose(corner, perm);
  }
  if (static_cast<int64_t>(map.size()) != length)
    return ModelError("start_index_map has {} entries; expected {}", map.size(), length);
  const Dim count = Product(ToDims(outer));
  corner = Reshape(corner, {count, Dim(length)});
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
  NN_ASSIGN(const Term zero, Number(dtype, 0));
  corner = Minimum(Maximum(corner, zero), last.Finish());
  corner = Concat({corner, Apply("expand", {zero}, ExpandAttrs{{count, Dim(1)}})}, 1);
  corner = Gather(corner, Vector(component), 1);
  Dims corners(box.size() + 2, Dim(1));
  corners.front() = count;
  corners.back() = rank;
  NN_ASSIGN(const Term elements, BoxIndices(dtype, box));
  const Term indices = elements + Reshape(corner, corners);
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
Result<Tensor> Positions(int64_t size, bool first) {
  if (size > kMaxScattered)
    return UnsupportedError("matrices with an axis larger than {} are unsupported", kMaxScattered);
  NN_ASSIGN(TensorBuilder b,
            TensorBuilder::Create(DType::kI32, {first ? size : 1, first ? 1 : size}));
  for (int64_t i = 0; i < size; ++i) b.SetInt(i, i);
  return b.Finish();
}

// A matrix of bools that is true on the main diagonal.
Result<Term> Diagonal(int64_t rows, int64_t columns) {
  NN_ASSIGN(const Term row, Positions(rows, true));
  NN_ASSIGN(const Term column, Positions(columns, false));
  return Equal(row, column);
}

// Kernels write the integer 0, regardless of what it represents.
Status RefuseQuantized(const ImportContext& ctx) {
  if (ctx.output_type().quantized()) return UnsupportedError("quantized operands are unsupported");
  return {};
}

Result<Tensor> ZeroOf(DType dtype) {
  NN_ASSIGN(const Tensor zero, ZeroElement(Type(dtype, {})));
  return zero.Reshaped({});
}

Status ImportMatrixDiag(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RefuseQuantized(ctx));
  Value* const x = ctx.input(0);
  const int rank = x->type().rank();
  if (rank == 0) return ModelError("the diagonal must have rank 1 or more");
  const Dim& size = x->type().dim(rank - 1);
  if (!size.is_const()) return UnsupportedError("the size of the diagonal must be constant");
  NN_ASSIGN(const Term mask, Diagonal(size.value(), size.value()));
  NN_ASSIGN(const Term zero, ZeroOf(x->dtype()));
  return ctx.Emit("select", {mask, ExpandDims(x, {rank - 1}), zero});
}

Status ImportMatrixSetDiag(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RefuseQuantized(ctx));
  Value* const x = ctx.input(0);
  Value* const diagonal = ctx.input(1);
  const int rank = x->type().rank();
  if (rank < 2) return ModelError("the matrices must have rank 2 or more, not {}", rank);
  const Dim &rows = x->type().dim(rank - 2), &columns = x->type().dim(rank - 1);
  if (!rows.is_const() || !columns.is_const())
    return UnsupportedError("the sizes of the matrices must be constant");
  const int64_t size = std::min(rows.value(), columns.value());
  if (diagonal->type().rank() != rank - 1 || !(diagonal->type().dim(rank - 2) == size))
    return ModelError("the diagonal {} does not fit {}", diagonal->type().ToString(),
                      x->type().ToString());
  NN_ASSIGN(const Term mask, Diagonal(rows.value(), columns.value()));
  // The diagonal as a row of each matrix, or as a column if that is shorter.
  const Term line = ExpandDims(diagonal, {size == columns.value() ? rank - 2 : rank - 1});
  return ctx.Emit("select", {mask, line, x});
}

// ---- Tables -------------------------------------------------------------------------------------

// The values of keys, or zeros for keys that the table does not have, and whether it has them.
Status ImportHashtableLookup(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(RefuseQuantized(ctx));
  Value* const lookup = ctx.input(0);
  Value* const keys = ctx.input(1);
  Value* const table = ctx.input(2);
  if (lookup->type().rank() != 1 || keys->type().rank() != 1 || table->type().rank() < 1)
    return ModelError("keys must be lists, and the values must have rank 1 or more");
  if (table->dtype() == DType::kString)
    return UnsupportedError("tables of strings are unsupported");
  if (keys->type().dim(0) == 0) return UnsupportedError("an empty table is unsupported");
  const Term found = Cast(Equal(ExpandDims(lookup, {1}), keys), DType::kI32);
  ArgAttrs first;
  first.axis = 1;
  first.keep_dims = false;
  first.output_type = DType::kI32;
  const Term hit = Apply("reduce_max", {found}, ReduceAttrs{{1}, false});
  Dims dims(table->type().dims->size(), Dim(1));
  dims[0] = lookup->type().dim(0);
  NN_ASSIGN(const Term zero, ZeroOf(table->dtype()));
  const Term rows = Gather(table, Apply("arg_max", {found}, first), 0);
  return ctx.EmitTerms(
      {Select(Reshape(Cast(hit, DType::kBool), dims), rows, zero), Cast(hit, DType::kU8)});
}

// Sums of weighted rows of a table: row ids[i] is added to the result at the first coordinates in
// row i of the indices. A mean divides each sum by that of its weights, or of their squares.
Status ImportEmbeddingLookupSparse(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::EmbeddingLookupSparseOptions>());
  Value* const ids = ctx.input(0);
  Value* indices = ctx.input(1);
  NN_ASSIGN(const std::vector<int64_t> shape, ctx.KnownInts(2, "the shape"));
  Value* weights = ctx.input(3);
  Value* const table = ctx.input(4);
  const auto axes = static_cast<int64_t>(shape.size()) - 1;
  if (ids->type().rank() != 1 || weights->type().rank() != 1 || table->type().rank() < 2 ||
      indices->type().rank() != 2 || !(indices->type().dim(1) == axes + 1))
    return ModelError("the operands do not fit together");
  if (axes < 1) return UnsupportedError("a lookup without axes of its own is unsupported");
  const Term positions = Slice(indices, 1, 0, axes);
  // The elements at positions, summed from zero; `rest` are the axes of an element.
  const auto sum = [&](const Term& elements, const Dims& rest) {
    Dims dims = ToDims(std::vector<int64_t>(shape.begin(), shape.end() - 1));
    dims.insert(dims.end(), rest.begin(), rest.end());
    return Apply("scatter_nd", {Apply("expand", {0}, ExpandAttrs{dims}), positions, elements},
                 ScatterNdAttrs{Reduction::kAdd});
  };
  const Dims element(table->type().dims->begin() + 1, table->type().dims->end());
  const Dim length = weights->type().dim(0);
  Dims column(table->type().dims->size(), Dim(1));
  column[0] = length;
  const Term factors = weights;
  const Term y = sum(Gather(table, ids, 0) * Reshape(factors, column), element);
  if (o->combiner() == fb::CombinerType::SUM) return ctx.EmitTerm(y);
  const Term one = Tensor::Scalar(1.0f);
  const Term count = sum(Apply("expand", {one}, ExpandAttrs{{length}}), {});
  const Term total = o->combiner() == fb::CombinerType::SQRTN
                         ? Apply("sqrt", {sum(factors * factors, {})})
                         : sum(factors, {});
  std::vector<int64_t> last;
  for (size_t i = 0; i < element.size(); ++i) last.push_back(axes + static_cast<int64_t>(i));
  return ctx.Emit("div", {y, ExpandDims(Select(Equal(count, 0), one, total), last)});
}

// The shape to which tensors of both shapes broadcast.
Status ImportBroadcastArgs(ImportContext& ctx) {
  Value* a = ctx.input(0);
  Value* b = ctx.input(1);
  const auto a_size = a->type().const_dims(), b_size = b->type().const_dims();
  if (!a_size || !b_size || a_size->size() != 1 || b_size->size() != 1)
    return UnsupportedError("shapes of unknown rank are unsupported");
  const int64_t rank = std::max((*a_size)[0], (*b_size)[0]);
  const auto padded = [&](Value* shape, int64_t size) {
    return size == rank ? Term(shape) : Apply("pad", {shape, 1}, PadAttrs{{rank - size, 0}});
  };
  const Term longer = padded(a, (*a_size)[0]);
  return ctx.Emit("select", {Equal(longer, 1), padded(b, (*b_size)[0]), longer});
}

constexpr ImportRow kScatterImports[] = {
    {.op = Op::SEGMENT_SUM, .import = ImportSegmentSum, .inputs = "rr"},
    {.op = Op::UNSORTED_SEGMENT_SUM,
     .import = ImportUnsortedSegment<Reduction::kAdd>,
     .inputs = "rr"},
    {.op = Op::UNSORTED_SEGMENT_PROD,
     .import = ImportUnsortedSegment<Reduction::kMul>,
     .inputs = "rr"},
    {.op = Op::UNSORTED_SEGMENT_MIN,
     .import = ImportUnsortedSegment<Reduction::kMin>,
     .inputs = "rr"},
    {.op = Op::UNSORTED_SEGMENT_MAX,
     .import = ImportUnsortedSegment<Reduction::kMax>,
     .inputs = "rr"},
    {.op = Op::SPARSE_TO_DENSE, .import = ImportSparseToDense, .inputs = "rarr"},
    {.op = Op::DYNAMIC_UPDATE_SLICE, .import = ImportDynamicUpdateSlice, .inputs = "rra"},
    {.op = Op::STABLEHLO_DYNAMIC_UPDATE_SLICE,
     .import = ImportStablehloUpdateSlice,
     .inputs = "rr"},
    {.op = Op::MATRIX_DIAG, .import = ImportMatrixDiag, .inputs = "r"},
    {.op = Op::MATRIX_SET_DIAG, .import = ImportMatrixSetDiag, .inputs = "rr"},
    {.op = Op::HASHTABLE_LOOKUP, .import = ImportHashtableLookup, .inputs = "rrr"},
    {.op = Op::EMBEDDING_LOOKUP_SPARSE, .import = ImportEmbeddingLookupSparse, .inputs = "rr-rr"},
    {.op = Op::BROADCAST_ARGS, .import = ImportBroadcastArgs, .inputs = "rr"},
    {.op = Op::STABLEHLO_GATHER, .import = ImportStablehloGather, .inputs = "rr"},
};

}  // namespace

Family ScatterFamily() {
  return {.imports = kScatterImports, .exports = {}};
}

}  // namespace nn::tflite
