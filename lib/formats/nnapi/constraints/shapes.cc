// Constraints on operations that move elements.
#include <algorithm>

#include "formats/nnapi/spec/constraint.h"

namespace nn::nnapi {
namespace {

using enum OperationType;

void Check(Misfits& f, const OperationAt& op, const Shape& want) {
  const Shape* out = op.OutputDims(0);
  if (out != nullptr && !Agree(want, *out))
    f.Add(op.AtOutput(0), "{} has shape {} instead of {}", op.OutputTitle(0), DimsText(*out),
          DimsText(want));
}

// The axis of a concatenation, if it is one of the first input.
std::optional<size_t> AxisOf(const OperationAt& op) {
  const auto axis = op.Int(op.input_count() - 1);
  const Shape* first = op.InputDims(0);
  if (!axis || first == nullptr || *axis < 0 || static_cast<size_t>(*axis) >= first->size())
    return std::nullopt;
  return static_cast<size_t>(*axis);
}

void ConcatAxis(const OperationAt& op, Misfits& f) {
  const auto axis = op.Int(op.input_count() - 1);
  const Shape* first = op.InputDims(0);
  if (axis && first != nullptr && !AxisOf(op))
    f.Add(op.AtInput(op.input_count() - 1), "the axis of {} is {}; its inputs have rank {}",
          op.Title(), *axis, first->size());
}

// The shape of a concatenation, or the input that does not fit the ones before it; neither if the
// axis or the rank of an input is unknown.
struct Joined {
  std::optional<Shape> dims;
  size_t misfit = 0;
};

Joined Join(const OperationAt& op) {
  const auto axis = AxisOf(op);
  if (!axis) return {};
  Shape sum = *op.InputDims(0);
  for (size_t i = 1; i + 1 < op.input_count(); ++i) {
    const Shape* in = op.InputDims(i);
    if (in == nullptr) return {};
    Shape same = *in;
    if (same.size() == sum.size()) same[*axis] = sum[*axis];
    if (!Agree(same, sum)) return {std::nullopt, i};
    sum[*axis] = sum[*axis] == 0 || (*in)[*axis] == 0 ? 0 : sum[*axis] + (*in)[*axis];
  }
  return {std::move(sum)};
}

void ConcatSizes(const OperationAt& op, Misfits& f) {
  if (const size_t i = Join(op).misfit; i != 0)
    f.Add(op.AtInput(i), "{} cannot concatenate {} and {} along axis {}", op.Title(),
          DimsText(*op.InputDims(0)), DimsText(*op.InputDims(i)), *AxisOf(op));
}

void ConcatShape(const OperationAt& op, Misfits& f) {
  if (const auto want = Join(op).dims) Check(f, op, *want);
}

bool Divides(uint64_t by, uint32_t d) {
  return d == 0 || d % by == 0;
}

// The shape that a constant block size gives; nullopt if the block size does not divide the input.
std::optional<Shape> Blocked(const Shape& in, bool to_space, uint64_t b) {
  if (to_space ? b > 0xFFFF || !Divides(b * b, in[3]) : !Divides(b, in[1]) || !Divides(b, in[2]))
    return std::nullopt;
  const auto scaled = [](uint32_t d, bool up, uint64_t by) {
    return static_cast<uint32_t>(up ? d * by : d / by);
  };
  return Shape{in[0], scaled(in[1], to_space, b), scaled(in[2], to_space, b),
               scaled(in[3], !to_space, b * b)};
}

struct Block {
  const Shape& input;
  uint64_t size;
  bool to_space;  // DEPTH_TO_SPACE
};

std::optional<Block> BlockOf(const OperationAt& op) {
  const auto size = op.Int(1);
  const Shape* in = op.InputDims(0);
  if (!size || *size < 1 || in == nullptr) return std::nullopt;
  return Block{*in, static_cast<uint64_t>(*size), op.operation->type == kDepthToSpace};
}

void BlocksDivide(const OperationAt& op, Misfits& f) {
  const auto b = BlockOf(op);
  if (b && !Blocked(b->input, b->to_space, b->size))
    f.Add(op.AtInput(1), "{} {} of {} does not divide the {} of {}",
          b->to_space ? "the square of block size" : "block size", b->size, op.Title(),
          b->to_space ? "depth" : "height and width", DimsText(b->input));
}

void BlocksMakeOutput(const OperationAt& op, Misfits& f) {
  const auto b = BlockOf(op);
  const auto want = b ? Blocked(b->input, b->to_space, b->size) : std::nullopt;
  if (want) Check(f, op, *want);
}

uint64_t ElementsOf(const Shape& dims) {
  uint64_t n = 1;
  for (const uint32_t d : dims)
    if (__builtin_mul_overflow(n, d, &n)) return 0;
  return n;
}

constexpr uint32_t kLongestShape = 8;

// The elements of a constant shape. One of them may be -1, which stands for the remaining elements.
struct TargetShape {
  std::vector<int32_t> sizes;
  size_t open = 0;       // number of sizes that are -1
  uint64_t product = 1;  // of the other sizes; 0 if it exceeds 64 bits
};

std::optional<TargetShape> TargetOf(const OperationAt& op) {
  // Longer shapes have an unsupported rank, and reading one for many operations takes long.
  const Shape* shape = op.InputDims(1);
  if (shape == nullptr || (*shape)[0] > kLongestShape) return std::nullopt;
  TargetShape t = {op.Ints(1)};
  if (t.sizes.empty()) return std::nullopt;
  Shape sizes;
  for (const int32_t d : t.sizes) {
    if (d == -1)
      ++t.open;
    else
      sizes.push_back(d > 0 ? static_cast<uint32_t>(d) : 0);
  }
  t.product = ElementsOf(sizes);
  return t;
}

void ShapesValid(const OperationAt& op, Misfits& f) {
  const auto target = TargetOf(op);
  if (!target) return;
  for (const int32_t d : target->sizes)
    if (d < -1 || d == 0) f.Add(op.AtInput(1), "the shape of {} has size {}", op.Title(), d);
  if (target->open > 1)
    f.Add(op.AtInput(1), "the shape of {} has {} sizes of -1; at most one is allowed", op.Title(),
          target->open);
}

void ElementsKept(const OperationAt& op, Misfits& f) {
  const Shape* in = op.InputDims(0);
  const Shape* out = op.OutputDims(0);
  const uint64_t elements = in != nullptr ? ElementsOf(*in) : 0;
  if (elements == 0) return;
  const auto target = TargetOf(op);
  if (target && target->product != 0 && target->open <= 1 &&
      (target->open == 0 ? target->product != elements : elements % target->product != 0))
    f.Add(op.AtInput(1), "the shape of {} has {}{} elements; the input {} has {}", op.Title(),
          target->open == 1 ? "a multiple of " : "", target->product, DimsText(*in), elements);
  else if (out != nullptr && ElementsOf(*out) != 0 && ElementsOf(*out) != elements)
    f.Add(op.AtOutput(0), "the output {} of {} has {} elements; the input {} has {}",
          DimsText(*out), op.Title(), ElementsOf(*out), DimsText(*in), elements);
}

void ReshapedAsTold(const OperationAt& op, Misfits& f) {
  const Shape* shape = op.InputDims(1);
  if (shape == nullptr || (*shape)[0] == 0 || (*shape)[0] > 4) return;
  Shape want((*shape)[0]);  // unknown if the shape is not constant
  if (const auto target = TargetOf(op); target && target->sizes.size() == want.size())
    for (size_t i = 0; i < want.size(); ++i)
      want[i] = static_cast<uint32_t>(std::max(target->sizes[i], 0));
  Check(f, op, want);
}

void Resizes(const OperationAt& op, Misfits& f) {
  const Shape* in = op.InputDims(0);
  const auto first = op.Int(1);
  const auto second = op.Int(2);
  if (in == nullptr || !first || !second || *first < 1 || *second < 1) return;
  // The width comes first.
  Check(f, op, {(*in)[0], static_cast<uint32_t>(*second), static_cast<uint32_t>(*first), (*in)[3]});
}

constexpr Constraint kShapes[] = {
    {.label = Label::kConcatAxis, .check = ConcatAxis},
    {.label = Label::kConcatSizes, .check = ConcatSizes},
    {.label = Label::kConcatShape, .check = ConcatShape},
    {.label = Label::kBlockDivides, .check = BlocksDivide},
    {.label = Label::kBlockShape, .check = BlocksMakeOutput},
    {.label = Label::kReshapeSizes, .check = ShapesValid},
    {.label = Label::kReshapeElements, .check = ElementsKept},
    {.label = Label::kReshapeShape, .check = ReshapedAsTold},
    {.label = Label::kResizeShape, .check = Resizes},
};

}  // namespace

std::span<const Constraint> ShapeConstraints() {
  return kShapes;
}

}  // namespace nn::nnapi
