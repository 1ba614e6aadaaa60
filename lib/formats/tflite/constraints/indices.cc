// Preparation of operators that read or write elements by index.
#include <algorithm>

#include "formats/tflite/constraints/operation.h"

namespace nn::tflite::constraints {
namespace {

using Op = fb::BuiltinOperator;

void Gather(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  const Value& positions = *o.in(1);
  if (x.type == fb::TensorType::STRING && Differ(x.rank(), 1))
    return o.Fail(Check::kGather, "x is a STRING tensor of rank {}; expected rank 1", x.rank());
  if (!x.dims || !positions.dims) return;
  const auto* options = o.at().op->builtin_options_as_GatherOptions();
  const int64_t named = options != nullptr ? options->axis() : 0;
  const int64_t axis = AxisOf(named, x.rank());
  if (axis < 0)
    return o.Fail(Check::kGather, "axis {} is out of range for x of rank {}", named, x.rank());
  int64_t batch = options != nullptr ? options->batch_dims() : 0;
  if (batch < 0) batch += positions.rank();
  if (batch < 0 || batch > axis || batch > positions.rank())
    return o.Fail(Check::kGather,
                  "batch_dims {} is out of range for axis {} and indices of rank {}",
                  options->batch_dims(), axis, positions.rank());
  for (int64_t i = 0; i < batch; ++i)
    if (Differ(x.dim(i), positions.dim(i)))
      return o.Fail(Check::kGather, "batch axis {} has {} elements in x but {} in the indices", i,
                    x.dim(i), positions.dim(i));
  Dims dims(x.dims->begin(), x.dims->begin() + axis);
  dims.insert(dims.end(), positions.dims->begin() + batch, positions.dims->end());
  dims.insert(dims.end(), x.dims->begin() + axis + 1, x.dims->end());
  o.Give(0, dims);
}

void GatherNd(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  const Value& indices = *o.in(1);
  const int64_t depth = indices.dim(-1);
  if (x.rank() >= 0 && depth > x.rank())
    return o.Fail(Check::kGather, "the last axis of the indices has {} elements; x has rank {}",
                  depth, x.rank());
  if (!x.dims || !indices.dims || depth < 0) return;
  Dims dims(indices.dims->begin(), indices.dims->end() - 1);
  dims.insert(dims.end(), x.dims->begin() + depth, x.dims->end());
  o.Give(0, dims);
}

void ScatterNd(Operation& o) {
  if (!o.AllPresent(3)) return;
  const Value& indices = *o.in(0);
  const Value& updates = *o.in(1);
  const auto shape = o.Ints(2);
  if (!shape) return;
  if (indices.rank() == 0 || updates.rank() == 0 || Differ(o.in(2)->rank(), 1))
    return o.Fail(Check::kScatter,
                  "the indices have rank {}, the updates {} and the shape operand {}; expected at "
                  "least 1, at least 1 and 1",
                  indices.rank(), updates.rank(), o.in(2)->rank());
  if (indices.type != fb::TensorType::INT32)
    return o.Fail(Check::kScatter, "the indices are {}; expected INT32",
                  fb::EnumNameTensorType(indices.type));
  if (std::any_of(shape->begin(), shape->end(), [](int64_t d) { return d < 0; }))
    return o.Fail(Check::kScatter, "the output shape {} has a negative dimension",
                  ShapeText(shape));
  const int64_t depth = indices.dim(-1);
  if (!indices.dims || !updates.dims || depth < 0) return o.Give(0, *shape);
  const int64_t outer = indices.rank() - 1;
  bool fits = updates.rank() - outer == static_cast<int64_t>(shape->size()) - depth;
  for (int64_t i = 0; fits && i < outer; ++i) fits = !Differ(indices.dim(i), updates.dim(i));
  for (int64_t i = 0; fits && i + outer < updates.rank(); ++i)
    fits = !Differ(updates.dim(i + outer), (*shape)[static_cast<size_t>(depth + i)]);
  if (!fits)
    return o.Fail(Check::kScatter,
                  "indices of shape {} and updates of shape {} do not match output shape {}",
                  ShapeText(indices.dims), ShapeText(updates.dims), ShapeText(*shape));
  o.Give(0, *shape);
}

void SparseToDense(Operation& o) {
  if (!o.AllPresent(4)) return;
  const Value& indices = *o.in(0);
  const Value& values = *o.in(2);
  const int64_t out_rank = o.in(1)->elements();
  const bool scalar = values.rank() == 0;
  const int64_t n = indices.rank() == 2 ? indices.dim(0) : indices.elements();
  if (!scalar && Differ(n, values.elements()))
    return o.Fail(Check::kScatter, "there are {} indices but {} values", n, values.elements());
  if (indices.rank() >= 0 && Differ(indices.rank() == 2 ? indices.dim(1) : 1, out_rank))
    return o.Fail(Check::kScatter, "indices of shape {} do not match an output of rank {}",
                  ShapeText(indices.dims), out_rank);
  if (auto shape = o.Ints(1)) o.Give(0, std::move(*shape));
}

void OneHot(Operation& o) {
  if (!o.AllPresent(4)) return;
  const Value& indices = *o.in(0);
  if (!indices.dims) return;
  const auto* options = o.at().op->builtin_options_as_OneHotOptions();
  const int64_t named = options != nullptr ? options->axis() : 0;
  const int64_t axis = named == -1 ? indices.rank() : named;
  if (axis < 0 || axis > indices.rank())
    return o.Fail(Check::kOneHot, "axis {} is out of range for an output of rank {}", named,
                  indices.rank() + 1);
  const auto depth = o.Ints(1);
  if (depth && !depth->empty() && (*depth)[0] < 0)
    return o.Fail(Check::kOneHot, "the depth is {}; expected at least 0", (*depth)[0]);
  Dims dims = *indices.dims;
  dims.insert(dims.begin() + axis, depth && !depth->empty() ? (*depth)[0] : -1);
  o.Give(0, dims);
}

void TopK(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  const auto k = o.Ints(1);
  if (!k || k->empty() || !x.dims) return;
  const int64_t last = x.dim(-1);
  if (last >= 0 && (*k)[0] > last)
    return o.Fail(Check::kTopK, "k is {}; the last axis of x has {} elements", (*k)[0], last);
  Dims dims = *x.dims;
  dims.back() = std::max<int64_t>(0, (*k)[0]);
  o.Give(0, dims);
  o.Give(1, dims);
}

void SegmentSum(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  const auto ids = o.Ints(1);
  if (!x.constant || !ids || !x.dims) return;
  if (Differ(static_cast<int64_t>(ids->size()), x.dim(0)))
    return o.Fail(Check::kSegments, "there are {} segment ids for {} rows", ids->size(), x.dim(0));
  for (size_t i = 0; i < ids->size(); ++i) {
    const int64_t least = i == 0 ? 0 : (*ids)[i - 1];
    const int64_t most = i == 0 ? 0 : least + 1;
    if ((*ids)[i] < least || (*ids)[i] > most)
      return o.Fail(Check::kSegments, "segment id {} is {}; expected {}{}", i, (*ids)[i], least,
                    i == 0 ? "" : fmt::format(" or {}", most));
  }
}

void UnsortedSegment(Operation& o) {
  if (!o.AllPresent(3)) return;
  const Value& x = *o.in(0);
  const Value& ids = *o.in(1);
  const auto numbers = o.Ints(1);
  const auto count = o.Ints(2);
  if (!numbers || !count || !x.dims || !ids.dims) return;
  bool fits = ids.rank() <= x.rank();
  for (int64_t i = 0; fits && i < ids.rank(); ++i) fits = !Differ(x.dim(i), ids.dim(i));
  if (!fits)
    return o.Fail(Check::kSegments,
                  "segment ids of shape {} do not match the leading axes of x of shape {}",
                  ShapeText(ids.dims), ShapeText(x.dims));
  if ((*count)[0] < 0)
    return o.Fail(Check::kSegments, "the number of segments is {}; expected at least 0",
                  (*count)[0]);
  const auto largest = std::max_element(numbers->begin(), numbers->end());
  if (largest != numbers->end() && *largest >= (*count)[0])
    return o.Fail(Check::kSegments, "segment id {} is not below the number of segments, {}",
                  *largest, (*count)[0]);
  Dims dims{(*count)[0]};
  dims.insert(dims.end(), x.dims->begin() + ids.rank(), x.dims->end());
  o.Give(0, dims);
}

void Boxes(Operation& o) {
  if (!o.AllPresent(5)) return;
  const Value& boxes = *o.in(0);
  const Value& scores = *o.in(1);
  if (Differ(boxes.dim(1), 4))
    return o.Fail(Check::kBoxes, "boxes have {} coordinates; expected 4", boxes.dim(1));
  if (Differ(boxes.dim(0), scores.dim(0)))
    return o.Fail(Check::kBoxes, "there are {} boxes but {} scores", boxes.dim(0), scores.dim(0));
  const auto most = o.Ints(2);
  if (!most || most->empty()) return;
  if ((*most)[0] < 0)
    return o.Fail(Check::kBoxes, "max_output_size is {}; expected at least 0", (*most)[0]);
  const bool soft = o.op() == Op::NON_MAX_SUPPRESSION_V5;
  o.Give(0, Dims{(*most)[0]});
  if (soft) o.Give(1, Dims{(*most)[0]});
  o.Give(soft ? 2 : 1, Dims{});
}

void Fourier(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  const auto length = o.Ints(1);
  if (!length || length->size() != 2 || !x.dims) return;
  for (const int64_t n : *length)
    if (n < 1 || (n & (n - 1)) != 0)
      return o.Fail(Check::kFourier, "the lengths are {} and {}; expected powers of two",
                    (*length)[0], (*length)[1]);
  Dims dims = *x.dims;
  dims[dims.size() - 2] = (*length)[0];
  dims[dims.size() - 1] = (*length)[1] / 2 + 1;
  o.Give(0, dims);
}

void ReverseSequence(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_ReverseSequenceOptions();
  if (options == nullptr || !o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  for (const int64_t axis : {options->seq_dim(), options->batch_dim()})
    if (x.rank() >= 0 && AxisOf(axis, x.rank()) < 0)
      return o.Note(Check::kAtRun, "axis {} is out of range for x of rank {}", axis, x.rank());
  if (Differ(o.in(1)->dim(0), x.dim(options->batch_dim())))
    o.Note(Check::kAtRun, "there are {} lengths for a batch of {}", o.in(1)->dim(0),
           x.dim(options->batch_dim()));
}

void MatrixDiag(Operation& o) {
  const Value* x = o.in(0);
  if (x == nullptr || !x->dims) return;
  Dims dims = *x->dims;
  dims.push_back(dims.back());
  o.Give(0, dims);
}

constexpr Preparation kIndexPreparations[] = {
    {Op::GATHER, Gather},
    {Op::GATHER_ND, GatherNd},
    {Op::SCATTER_ND, ScatterNd},
    {Op::SPARSE_TO_DENSE, SparseToDense},
    {Op::ONE_HOT, OneHot},
    {Op::TOPK_V2, TopK},
    {Op::SEGMENT_SUM, SegmentSum},
    {Op::UNSORTED_SEGMENT_MAX, UnsortedSegment},
    {Op::UNSORTED_SEGMENT_MIN, UnsortedSegment},
    {Op::UNSORTED_SEGMENT_PROD, UnsortedSegment},
    {Op::UNSORTED_SEGMENT_SUM, UnsortedSegment},
    {Op::NON_MAX_SUPPRESSION_V4, Boxes},
    {Op::NON_MAX_SUPPRESSION_V5, Boxes},
    {Op::RFFT2D, Fourier},
    {Op::REVERSE_SEQUENCE, ReverseSequence},
    {Op::MATRIX_DIAG, MatrixDiag},
    {Op::MATRIX_SET_DIAG, KeepShape},
};

}  // namespace

std::span<const Preparation> IndexPreparations() {
  return kIndexPreparations;
}

}  // namespace nn::tflite::constraints
