// Preparation of operators that split, slice and stack tensors.
#include <algorithm>

#include "formats/tflite/constraints/operation.h"

namespace nn::tflite::constraints {
namespace {

using Op = fb::BuiltinOperator;

template <typename Options>
void CheckSplitCount(Operation& o, const Options* options) {
  if (options != nullptr && options->num_splits() != o.outputs())
    o.Fail(Check::kSplit, "num_splits is {}; the number of outputs is {}", options->num_splits(),
           o.outputs());
}

void GiveAll(Operation& o, const Dims& dims) {
  for (int i = 0; i < o.outputs(); ++i) o.Give(i, dims);
}

void Split(Operation& o) {
  CheckSplitCount(o, o.at().op->builtin_options_as_SplitOptions());
  if (o.failed() || !o.AllPresent(2)) return;
  const Value& x = *o.in(1);
  const auto axis = o.Ints(0);
  if (!axis || axis->empty() || !x.dims) return;
  const int64_t at = AxisOf((*axis)[0], x.rank());
  if (at < 0)
    return o.Fail(Check::kSplit, "axis {} is out of range for x of rank {}", (*axis)[0], x.rank());
  const int64_t parts = o.outputs();
  if (parts == 0 || (x.dim(at) >= 0 && x.dim(at) % parts != 0))
    return o.Fail(Check::kSplit, "axis {} of {} elements cannot be split into {} equal parts", at,
                  x.dim(at), parts);
  Dims dims = *x.dims;
  if (x.dim(at) >= 0) dims[static_cast<size_t>(at)] = x.dim(at) / parts;
  GiveAll(o, dims);
}

void SplitV(Operation& o) {
  CheckSplitCount(o, o.at().op->builtin_options_as_SplitVOptions());
  if (o.failed() || !o.AllPresent(3)) return;
  const Value& x = *o.in(0);
  if (Differ(o.in(1)->elements(), o.outputs()))
    return o.Fail(Check::kSplit, "there are {} sizes for {} outputs", o.in(1)->elements(),
                  o.outputs());
  const auto sizes = o.Ints(1);
  const auto axis = o.Ints(2);
  if (!sizes || !axis || axis->empty() || !x.dims) return;
  const int64_t at = AxisOf((*axis)[0], x.rank());
  if (at < 0)
    return o.Fail(Check::kSplit, "axis {} is out of range for x of rank {}", (*axis)[0], x.rank());
  int64_t sum = 0;
  int open = 0;
  for (const int64_t size : *sizes) {
    if (size == -1)
      ++open;
    else
      sum += size;
  }
  if (open > 1) return o.Fail(Check::kSplit, "{} sizes are -1; expected at most 1", open);
  const int64_t whole = x.dim(at);
  if (whole >= 0 && (open == 0 ? sum != whole : sum > whole))
    return o.Fail(Check::kSplit, "the sizes add up to {}; axis {} has {} elements", sum, at, whole);
  for (int i = 0; i < o.outputs(); ++i) {
    Dims dims = *x.dims;
    const int64_t size = (*sizes)[static_cast<size_t>(i)];
    dims[static_cast<size_t>(at)] = size != -1 ? size : whole < 0 ? -1 : whole - sum;
    o.Give(i, dims);
  }
}

void Pack(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_PackOptions();
  const Value* first = o.in(0);
  if (options == nullptr || first == nullptr) return;
  if (options->values_count() != o.inputs())
    return o.Fail(Check::kPack, "values_count is {}; the number of inputs is {}",
                  options->values_count(), o.inputs());
  if (!first->dims) return;
  const int64_t axis = AxisOf(options->axis(), first->rank() + 1);
  if (axis < 0)
    return o.Fail(Check::kPack, "axis {} is out of range for an output of rank {}", options->axis(),
                  first->rank() + 1);
  for (int i = 1; i < o.inputs(); ++i) {
    const Value* v = o.in(i);
    if (v == nullptr || !v->dims) continue;
    bool fits = v->rank() == first->rank();
    for (int64_t d = 0; fits && d < v->rank(); ++d) fits = !Differ(v->dim(d), first->dim(d));
    if (!fits)
      return o.Fail(Check::kSameShapes, "input 0 has shape {} but input {} has shape {}",
                    ShapeText(first->dims), i, ShapeText(v->dims));
  }
  Dims dims = *first->dims;
  dims.insert(dims.begin() + axis, o.inputs());
  o.Give(0, dims);
}

void Unpack(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_UnpackOptions();
  const Value* x = o.in(0);
  if (options == nullptr || x == nullptr) return;
  if (options->num() != o.outputs())
    return o.Fail(Check::kPack, "num is {}; the number of outputs is {}", options->num(),
                  o.outputs());
  if (!x->dims) return;
  const int64_t axis = AxisOf(options->axis(), x->rank());
  if (axis < 0)
    return o.Fail(Check::kPack, "axis {} is out of range for x of rank {}", options->axis(),
                  x->rank());
  if (Differ(x->dim(axis), options->num()))
    return o.Fail(Check::kPack, "num is {}; axis {} has {} elements", options->num(), axis,
                  x->dim(axis));
  if (x->elements() == 0)
    return o.Fail(Check::kPack, "x of shape {} has no elements", ShapeText(x->dims));
  Dims dims = *x->dims;
  dims.erase(dims.begin() + axis);
  GiveAll(o, dims);
}

void Slice(Operation& o) {
  if (!o.AllPresent(3)) return;
  const Value& x = *o.in(0);
  if (Differ(o.in(1)->elements(), o.in(2)->elements()))
    return o.Fail(Check::kSlice, "begin has {} entries but size has {}", o.in(1)->elements(),
                  o.in(2)->elements());
  const auto begin = o.Ints(1);
  const auto size = o.Ints(2);
  if (!begin || !size || !x.dims) return;
  if (static_cast<int64_t>(begin->size()) != x.rank()) {
    o.Note(Check::kAtRun, "begin has {} entries; x has rank {}", begin->size(), x.rank());
    return;
  }
  Dims dims = *x.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t from = (*begin)[i];
    const int64_t n = (*size)[i];
    const bool fits =
        n >= -1 && from >= 0 && (dims[i] < 0 || (n == -1 ? from <= dims[i] : from + n <= dims[i]));
    if (!fits) {
      o.Note(Check::kAtRun, "axis {} has {} elements; the slice has size {} and begins at {}", i,
             dims[i], n, from);
      return;
    }
    dims[i] = n >= 0 ? n : dims[i] < 0 ? -1 : dims[i] - from;
  }
  o.Give(0, dims);
}

// One entry of a strided slice.
struct Cut {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t stride = 1;
  bool from_start = false;
  bool to_end = false;
};

// The number of elements that a slice takes from an axis of `size` elements; -1 if `size` is
// unknown.
int64_t Length(const Cut& c, int64_t size, bool offset) {
  if (size < 0) return -1;
  const bool forward = c.stride > 0;
  const auto clamp = [&](int64_t i) {
    if (i < 0) i += size;
    return forward ? std::clamp<int64_t>(i, 0, size) : std::clamp<int64_t>(i, -1, size - 1);
  };
  const int64_t begin = c.from_start ? (forward ? 0 : size - 1) : clamp(c.begin);
  int64_t end = c.to_end ? (forward ? size : -1) : clamp(c.end);
  if (offset) end = begin + c.end;
  const int64_t step = forward ? c.stride : -c.stride;
  const int64_t reach = forward ? end - begin : begin - end;
  return reach <= 0 ? 0 : (reach + step - 1) / step;
}

void CheckSliceOperands(Operation& o) {
  for (int i = 2; i <= 3; ++i)
    if (Differ(o.in(1)->elements(), o.in(i)->elements()))
      return o.Fail(Check::kStridedSlice, "begin has {} entries but {} has {}", o.in(1)->elements(),
                    i == 2 ? "end" : "strides", o.in(i)->elements());
  if (o.in(1)->elements() > 31)
    return o.Fail(Check::kStridedSlice, "begin has {} entries; expected at most 31",
                  o.in(1)->elements());
  const auto strides = o.Ints(3);
  if (!strides) return;
  const auto zero = std::find(strides->begin(), strides->end(), 0);
  if (zero != strides->end())
    o.Fail(Check::kStridedSlice, "strides[{}] is 0", zero - strides->begin());
}

void StridedSlice(Operation& o) {
  if (!o.AllPresent(4)) return;
  CheckSliceOperands(o);
  const auto* options = o.at().op->builtin_options_as_StridedSliceOptions();
  const auto begin = o.Ints(1);
  const auto end = o.Ints(2);
  const auto strides = o.Ints(3);
  const Value& x = *o.in(0);
  if (o.failed() || !begin || !end || !strides || !x.dims) return;
  const auto bit = [&](int32_t mask, size_t i) {
    return (static_cast<uint32_t>(mask) >> i & 1) != 0;
  };
  const auto mask = [&](auto get) { return options != nullptr ? get(*options) : 0; };
  const int32_t ellipsis = mask([](const auto& p) { return p.ellipsis_mask(); });
  const int32_t new_axis = mask([](const auto& p) { return p.new_axis_mask(); });
  const int32_t shrink = mask([](const auto& p) { return p.shrink_axis_mask(); });
  const int32_t from_start = mask([](const auto& p) { return p.begin_mask(); });
  const int32_t to_end = mask([](const auto& p) { return p.end_mask(); });
  const bool offset = options != nullptr && options->offset();
  int64_t entries = 0;  // entries that slice an axis of x
  for (size_t i = 0; i < begin->size(); ++i)
    if (!bit(ellipsis, i) && !bit(new_axis, i)) ++entries;
  if (entries > x.rank())
    return o.Note(Check::kAtRun, "{} entries slice an axis, but x has rank {}", entries, x.rank());
  Dims dims;
  int64_t axis = 0;
  for (size_t i = 0; i < begin->size(); ++i) {
    if (bit(ellipsis, i)) {
      for (int64_t n = x.rank() - entries; n > 0 && axis < x.rank(); --n)
        dims.push_back(x.dim(axis++));
      entries = x.rank();
      continue;
    }
    if (bit(new_axis, i)) {
      dims.push_back(1);
      continue;
    }
    const Cut cut{(*begin)[i], (*end)[i], (*strides)[i], bit(from_start, i), bit(to_end, i)};
    if (!bit(shrink, i)) dims.push_back(Length(cut, x.dim(axis), offset));
    ++axis;
  }
  while (axis < x.rank()) dims.push_back(x.dim(axis++));
  o.Give(0, dims);
}

void DynamicUpdateSlice(Operation& o) {
  if (!o.AllPresent(3)) return;
  const Value& x = *o.in(0);
  const Value& update = *o.in(1);
  if (Differ(o.in(2)->dim(0), x.rank()))
    return o.Fail(Check::kUpdateSlice, "start has {} entries; x has rank {}", o.in(2)->dim(0),
                  x.rank());
  bool fits = !Differ(x.rank(), update.rank());
  for (int64_t i = 0; fits && i < x.rank(); ++i) fits = x.dim(i) < 0 || update.dim(i) <= x.dim(i);
  if (!fits)
    return o.Fail(Check::kUpdateSlice, "the update of shape {} does not fit into x of shape {}",
                  ShapeText(update.dims), ShapeText(x.dims));
  o.Give(0, x.dims);
}

void Reverse(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  const auto axes = o.Ints(1);
  if (x.dims && axes) {
    if (static_cast<int64_t>(axes->size()) > x.rank())
      return o.Fail(Check::kAxes, "there are {} axes for x of rank {}", axes->size(), x.rank());
  }
  KeepShape(o);
}

constexpr Preparation kSlicePreparations[] = {
    {Op::SPLIT, Split},
    {Op::SPLIT_V, SplitV},
    {Op::PACK, Pack},
    {Op::UNPACK, Unpack},
    {Op::SLICE, Slice},
    {Op::STRIDED_SLICE, StridedSlice},
    {Op::DYNAMIC_UPDATE_SLICE, DynamicUpdateSlice},
    {Op::REVERSE_V2, Reverse},
};

}  // namespace

std::span<const Preparation> SlicePreparations() {
  return kSlicePreparations;
}

}  // namespace nn::tflite::constraints
