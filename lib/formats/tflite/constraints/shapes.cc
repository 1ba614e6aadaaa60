// Preparation of operators that move elements from one shape to another.
#include <algorithm>

#include "formats/tflite/constraints/operation.h"

namespace nn::tflite::constraints {
namespace {

using Op = fb::BuiltinOperator;

void Concatenation(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_ConcatenationOptions();
  if (options != nullptr &&
      options->fused_activation_function() != fb::ActivationFunctionType::NONE)
    o.Fail(Check::kActivation, "fused_activation_function is {}; expected NONE",
           fb::EnumNameActivationFunctionType(options->fused_activation_function()));
  const Value* first = o.in(0);
  if (first == nullptr || !first->dims) return;
  const int64_t rank = first->rank();
  const int64_t named = options != nullptr ? options->axis() : 0;
  const int64_t axis = AxisOf(named, rank);
  if (rank == 0 && named == 0) return;  // constants of one element each
  if (axis < 0)
    return o.Fail(Check::kConcatenation, "axis {} is out of range for inputs of rank {}", named,
                  rank);
  Dims dims = *first->dims;
  int64_t& sum = dims[static_cast<size_t>(axis)];
  for (int i = 1; i < o.inputs(); ++i) {
    const Value* v = o.in(i);
    if (v == nullptr || !v->dims) {
      sum = -1;
      continue;
    }
    bool fits = v->rank() == rank;
    for (int64_t d = 0; fits && d < rank; ++d)
      fits = d == axis || !Differ(v->dim(d), first->dim(d));
    if (!fits)
      return o.Fail(Check::kConcatenation,
                    "input 0 has shape {} but input {} has shape {}; only axis {} may differ",
                    ShapeText(first->dims), i, ShapeText(v->dims), axis);
    sum = v->dim(axis) < 0 ? -1 : Plus(sum, v->dim(axis));
  }
  o.Give(0, dims);
}

// The new shape of RESHAPE, including -1; nullopt if it is unknown before a run.
std::optional<Dims> ReshapeTarget(const Operation& o) {
  const Value* shape = o.in(1);
  if (shape != nullptr && shape->rank() < 0) return std::nullopt;
  if (shape != nullptr && shape->rank() == 1 && shape->type == fb::TensorType::INT32)
    return o.Ints(1);
  if (shape != nullptr && !shape->constant) return std::nullopt;
  const auto* options = o.at().op->builtin_options_as_ReshapeOptions();
  Dims dims = options != nullptr ? ListOf<int64_t>(options->new_shape()) : Dims{};
  if (dims.size() == 1 && dims[0] == 0) dims.clear();  // a scalar in old files
  return dims;
}

void Reshape(Operation& o) {
  const Value* x = o.in(0);
  auto target = ReshapeTarget(o);
  if (x == nullptr || !target || (o.out(0) != nullptr && o.out(0)->type == fb::TensorType::STRING))
    return;
  int64_t known = 1;
  int64_t open = -1;
  for (size_t i = 0; i < target->size(); ++i) {
    const int64_t d = (*target)[i];
    if (d == -1 && open >= 0)
      return o.Fail(Check::kReshape, "the new shape {} has more than one unknown dimension",
                    ShapeText(target));
    if (d < -1)
      return o.Fail(Check::kReshape, "dimension {} of the new shape is {}; expected at least -1", i,
                    d);
    if (d == -1)
      open = static_cast<int64_t>(i);
    else
      known = Times(known, d);
  }
  if (known < 0)
    return o.Fail(Check::kReshape, "the new shape {} has too many elements", ShapeText(target));
  const int64_t elements = x->elements();
  if (elements < 0) return o.Give(0, target);
  const bool fits = open < 0     ? known == elements
                    : known == 0 ? elements == 0
                                 : elements % known == 0;
  if (!fits)
    return o.Fail(Check::kReshape,
                  "x of shape {} has {} elements, which do not fit the new shape {}",
                  ShapeText(x->dims), elements, ShapeText(target));
  if (open >= 0) (*target)[static_cast<size_t>(open)] = known == 0 ? 0 : elements / known;
  o.Give(0, target);
}

// Adds the amounts before and after each axis of `x`, which `pads` has as pairs.
void PadWith(Operation& o, const Value& x, const Value& pads, int64_t extra_limit) {
  if (Differ(pads.dim(1), 2) || Differ(pads.dim(0), x.rank()))
    return o.Fail(Check::kPads, "the paddings have shape {}; x of rank {} needs [{}, 2]",
                  ShapeText(pads.dims), x.rank(), x.rank());
  const auto amounts = o.Ints(1);
  if (!amounts || !x.dims) {
    if (x.dims) o.Give(0, Dims(x.dims->size(), -1));
    return;
  }
  Dims dims = *x.dims;
  for (size_t i = 0; i < dims.size() && 2 * i + 1 < amounts->size(); ++i) {
    const int64_t before = (*amounts)[2 * i];
    const int64_t after = (*amounts)[2 * i + 1];
    if (before < 0 || after < 0)
      return o.Fail(Check::kPads, "axis {} is padded by {} and {}; expected at least 0", i, before,
                    after);
    if (extra_limit >= 0 && dims[i] >= 0 && std::max(before, after) > dims[i] - extra_limit)
      return o.Fail(Check::kPads,
                    "axis {} of {} elements is padded by {} and {}; expected at most {}", i,
                    dims[i], before, after, dims[i] - extra_limit);
    dims[i] = Plus(dims[i], before + after);
  }
  o.Give(0, dims);
}

void Pad(Operation& o) {
  if (o.AllPresent(2)) PadWith(o, *o.in(0), *o.in(1), -1);
}

void MirrorPad(Operation& o) {
  if (!o.AllPresent(2)) return;
  const auto* options = o.at().op->builtin_options_as_MirrorPadOptions();
  const auto mode = options != nullptr ? options->mode() : fb::MirrorPadMode::REFLECT;
  if (mode > fb::MirrorPadMode::MAX || mode < fb::MirrorPadMode::MIN)
    return o.Fail(Check::kOptionValues, "mode has the unknown value {}", static_cast<int>(mode));
  PadWith(o, *o.in(0), *o.in(1), mode == fb::MirrorPadMode::REFLECT ? 1 : 0);
}

void SpaceToBatch(Operation& o) {
  if (!o.AllPresent(3)) return;
  const Value& x = *o.in(0);
  const bool back = o.op() == Op::BATCH_TO_SPACE_ND;
  const int64_t axes = x.rank() < 0 ? -1 : x.rank() - 2;
  const auto block = o.Ints(1);
  const auto amounts = o.Ints(2);
  if (!block || !amounts) return;
  if (Differ(o.in(1)->rank(), 1) || Differ(o.in(1)->dim(0), axes) || Differ(o.in(2)->rank(), 2) ||
      Differ(o.in(2)->dim(0), axes) || Differ(o.in(2)->dim(1), 2))
    return o.Fail(
        Check::kBlocks, "block_shape has shape {} and {} has shape {}; x has {} spatial axes",
        ShapeText(o.in(1)->dims), back ? "crops" : "paddings", ShapeText(o.in(2)->dims), axes);
  if (!x.dims) return;
  Dims dims = *x.dims;
  for (size_t i = 0; i < block->size(); ++i) {
    const int64_t b = (*block)[i];
    const int64_t amount = (*amounts)[2 * i] + (*amounts)[2 * i + 1];
    if (b < 1) return o.Fail(Check::kBlocks, "block_shape[{}] is {}; expected at least 1", i, b);
    if (back && std::min((*amounts)[2 * i], (*amounts)[2 * i + 1]) < 0)
      return o.Fail(Check::kBlocks, "axis {} is cropped by {} and {}; expected at least 0", i + 1,
                    (*amounts)[2 * i], (*amounts)[2 * i + 1]);
    int64_t& size = dims[i + 1];
    int64_t& batch = dims[0];
    int64_t& whole = back ? batch : size;
    if (!back && size >= 0 && size + amount < 0)
      return o.Fail(Check::kBlocks,
                    "axis {} of {} elements is padded by {} in total, which is too little", i + 1,
                    size, amount);
    if (!back) size = Plus(size, amount);
    if (whole >= 0 && whole % b != 0)
      return o.Fail(Check::kBlocks, "{} has {} elements, which is not a multiple of block size {}",
                    back ? "the batch" : fmt::format("padded axis {}", i + 1), whole, b);
    if (whole >= 0) whole /= b;
    int64_t& other = back ? size : batch;
    other = Times(other, b);
    if (back) size = Plus(size, -amount);
  }
  o.Give(0, dims);
}

void SpaceToDepth(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_SpaceToDepthOptions();
  const Value* x = o.in(0);
  if (options == nullptr || x == nullptr) return;
  const int64_t b = options->block_size();
  if (b < 1) return o.Fail(Check::kBlockSize, "block_size is {}; expected at least 1", b);
  if ((x->dim(1) >= 0 && x->dim(1) % b != 0) || (x->dim(2) >= 0 && x->dim(2) % b != 0))
    return o.Fail(Check::kBlockSize,
                  "height and width of x, of shape {}, are not multiples of block_size {}",
                  ShapeText(x->dims), b);
  const auto part = [&](int64_t axis) { return x->dim(axis) < 0 ? -1 : x->dim(axis) / b; };
  o.Give(0, Dims{x->dim(0), part(1), part(2), Times(x->dim(3), b * b)});
}

void DepthToSpace(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_DepthToSpaceOptions();
  const Value* x = o.in(0);
  if (options == nullptr || x == nullptr) return;
  const int64_t b = options->block_size();
  if (b < 1) return o.Fail(Check::kBlockSize, "block_size is {}; expected at least 1", b);
  if (x->dim(3) >= 0 && x->dim(3) % (b * b) != 0)
    return o.Fail(Check::kBlockSize,
                  "x has {} channels, which is not a multiple of {}, the square of block_size",
                  x->dim(3), b * b);
  o.Give(0, Dims{x->dim(0), Times(x->dim(1), b), Times(x->dim(2), b),
                 x->dim(3) < 0 ? -1 : x->dim(3) / (b * b)});
}

void Transpose(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  const auto order = o.Ints(1);
  if (!order || !x.dims) return;
  if (Differ(o.in(1)->rank(), 1) || static_cast<int64_t>(order->size()) != x.rank())
    return o.Fail(Check::kTranspose, "the permutation has shape {}; x has rank {}",
                  ShapeText(o.in(1)->dims), x.rank());
  Dims dims;
  std::vector<bool> seen(order->size());
  bool repeated = false;
  for (const int64_t axis : *order) {
    const int64_t at = AxisOf(axis, x.rank());
    if (at < 0)
      return o.Fail(Check::kTranspose,
                    "the permutation has axis {}, which is out of range for x of rank {}", axis,
                    x.rank());
    repeated = repeated || seen[static_cast<size_t>(at)];
    seen[static_cast<size_t>(at)] = true;
    dims.push_back(x.dim(at));
  }
  if (repeated) o.Note(Check::kAtRun, "the permutation {} repeats an axis", ShapeText(*order));
  o.Give(0, dims);
}

void Squeeze(Operation& o) {
  const Value* x = o.in(0);
  if (x == nullptr || !x->dims) return;
  const auto* options = o.at().op->builtin_options_as_SqueezeOptions();
  const auto axes = options != nullptr ? ListOf<int64_t>(options->squeeze_dims()) : Dims{};
  std::vector<bool> drop(x->dims->size());
  for (const int64_t axis : axes) {
    const int64_t at = AxisOf(axis, x->rank());
    if (at < 0)
      return o.Fail(Check::kSqueeze,
                    "squeeze_dims has axis {}, which is out of range for x of rank {}", axis,
                    x->rank());
    if (Differ(x->dim(at), 1))
      return o.Fail(Check::kSqueeze, "axis {} in squeeze_dims has {} elements; expected 1", axis,
                    x->dim(at));
    drop[static_cast<size_t>(at)] = true;
  }
  Dims dims;
  for (size_t i = 0; i < drop.size(); ++i) {
    const int64_t d = (*x->dims)[i];
    if (axes.empty() && d < 0) return;
    if (!drop[i] && !(axes.empty() && d == 1)) dims.push_back(d);
  }
  o.Give(0, dims);
}

void ExpandDims(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  const auto axis = o.Ints(1);
  if (!axis || axis->empty() || !x.dims) return;
  const int64_t at = AxisOf((*axis)[0], x.rank() + 1);
  if (at < 0)
    return o.Fail(Check::kAxes, "axis {} is out of range for an output of rank {}", (*axis)[0],
                  x.rank() + 1);
  Dims dims = *x.dims;
  dims.insert(dims.begin() + at, 1);
  o.Give(0, dims);
}

void Tile(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  const auto multiples = o.Ints(1);
  if (!multiples || !x.dims) return;
  if (static_cast<int64_t>(multiples->size()) != x.rank())
    return o.Fail(Check::kTile, "there are {} multiples for x of rank {}", multiples->size(),
                  x.rank());
  Dims dims = *x.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    if ((*multiples)[i] < 0)
      return o.Fail(Check::kTile, "multiples[{}] is {}; expected at least 0", i, (*multiples)[i]);
    dims[i] = Times(dims[i], (*multiples)[i]);
  }
  o.Give(0, dims);
}

void BroadcastTo(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  const auto shape = o.Ints(1);
  if (!shape || !x.dims) return;
  const auto extra = static_cast<int64_t>(shape->size()) - x.rank();
  bool fits =
      extra >= 0 && std::all_of(shape->begin(), shape->end(), [](int64_t d) { return d >= 0; });
  for (int64_t i = 0; fits && i < x.rank(); ++i)
    fits = x.dim(i) == 1 || x.dim(i) < 0 || x.dim(i) == (*shape)[static_cast<size_t>(extra + i)];
  if (!fits)
    return o.Fail(Check::kTargetShape, "x of shape {} cannot be broadcast to {}", ShapeText(x.dims),
                  ShapeText(*shape));
  o.Give(0, *shape);
}

void Fill(Operation& o) {
  const auto shape = o.Ints(0);
  if (!shape) return;
  for (size_t i = 0; i < shape->size(); ++i)
    if ((*shape)[i] < 0)
      return o.Fail(Check::kTargetShape, "dimension {} of the shape is {}; expected at least 0", i,
                    (*shape)[i]);
  o.Give(0, *shape);
}

void Resize(Operation& o) {
  if (!o.AllPresent(2)) return;
  const auto size = o.Ints(1);
  if (!size || size->size() != 2) return;
  const auto* bilinear = o.at().op->builtin_options_as_ResizeBilinearOptions();
  if (bilinear != nullptr && bilinear->half_pixel_centers() && bilinear->align_corners())
    return o.Fail(Check::kResize, "both half_pixel_centers and align_corners are set");
  const int64_t least = o.op() == Op::RESIZE_BILINEAR ? 1 : 0;
  if (std::min((*size)[0], (*size)[1]) < least)
    return o.Fail(Check::kResize, "the size is {} x {}; expected at least {} x {}", (*size)[0],
                  (*size)[1], least, least);
  o.Give(0, Dims{o.in(0)->dim(0), (*size)[0], (*size)[1], o.in(0)->dim(3)});
}

void Dilate(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  if (Differ(o.in(1)->dim(0), x.rank()))
    return o.Fail(Check::kOptionValues, "there are {} dilations for x of rank {}", o.in(1)->dim(0),
                  x.rank());
  const auto dilations = o.Ints(1);
  if (!dilations || !x.dims) return;
  Dims dims = *x.dims;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] > 0) dims[i] = Plus(Times(dims[i] - 1, (*dilations)[i]), 1);
  o.Give(0, dims);
}

constexpr Preparation kShapePreparations[] = {
    {Op::CONCATENATION, Concatenation},
    {Op::RESHAPE, Reshape},
    {Op::PAD, Pad},
    {Op::PADV2, Pad},
    {Op::MIRROR_PAD, MirrorPad},
    {Op::SPACE_TO_BATCH_ND, SpaceToBatch},
    {Op::BATCH_TO_SPACE_ND, SpaceToBatch},
    {Op::SPACE_TO_DEPTH, SpaceToDepth},
    {Op::DEPTH_TO_SPACE, DepthToSpace},
    {Op::TRANSPOSE, Transpose},
    {Op::SQUEEZE, Squeeze},
    {Op::EXPAND_DIMS, ExpandDims},
    {Op::TILE, Tile},
    {Op::BROADCAST_TO, BroadcastTo},
    {Op::FILL, Fill},
    {Op::RESIZE_BILINEAR, Resize},
    {Op::RESIZE_NEAREST_NEIGHBOR, Resize},
    {Op::DILATE, Dilate},
};

}  // namespace

std::span<const Preparation> ShapePreparations() {
  return kShapePreparations;
}

}  // namespace nn::tflite::constraints
