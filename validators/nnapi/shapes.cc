// Rules for operations that move elements.
#include <algorithm>

#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

using enum OperationType;

void Check(Findings& f, const OperationAt& op, const Dims& want) {
  const Dims* out = op.OutputDims(0);
  if (out != nullptr && !Agree(want, *out))
    f.Add(op.AtOutput(0), "{} has shape {} instead of {}", op.OutputTitle(0), DimsText(*out),
          DimsText(want));
}

void Concatenations(const Subject& s, Findings& f) {
  EachOperation(s, kConcatenation, [&](const OperationAt& op) {
    const auto axis = op.Int(op.input_count() - 1);
    const Dims* first = op.InputDims(0);
    if (!axis || first == nullptr) return;
    if (*axis < 0 || static_cast<size_t>(*axis) >= first->size()) {
      f.Add(op.AtInput(op.input_count() - 1), "the axis of {} is {}; its inputs have rank {}",
            op.Title(), *axis, first->size());
      return;
    }
    const size_t at = static_cast<size_t>(*axis);
    Dims want = *first;
    for (size_t i = 1; i + 1 < op.input_count(); ++i) {
      const Dims* in = op.InputDims(i);
      if (in == nullptr) return;
      Dims same = *in;
      if (same.size() == want.size()) same[at] = want[at];
      if (!Agree(same, want)) {
        f.Add(op.AtInput(i), "{} cannot concatenate {} and {} along axis {}", op.Title(),
              DimsText(*first), DimsText(*in), *axis);
        return;
      }
      want[at] = want[at] == 0 || (*in)[at] == 0 ? 0 : want[at] + (*in)[at];
    }
    Check(f, op, want);
  });
}

bool Divides(uint64_t by, uint32_t d) {
  return d == 0 || d % by == 0;
}

// The shape that a constant block size gives; nullopt if the block size does not divide the input.
std::optional<Dims> Blocked(const Dims& in, bool to_space, uint64_t b) {
  if (to_space ? b > 0xFFFF || !Divides(b * b, in[3]) : !Divides(b, in[1]) || !Divides(b, in[2]))
    return std::nullopt;
  const auto scaled = [](uint32_t d, bool up, uint64_t by) {
    return static_cast<uint32_t>(up ? d * by : d / by);
  };
  return Dims{in[0], scaled(in[1], to_space, b), scaled(in[2], to_space, b),
              scaled(in[3], !to_space, b * b)};
}

// Calls visit(operation, dimensions of its input, block size, true for DEPTH_TO_SPACE).
template <typename Visit>
void EachBlock(const Subject& s, const Visit& visit) {
  for (const OperationType type : {kDepthToSpace, kSpaceToDepth})
    EachOperation(s, type, [&](const OperationAt& op) {
      const auto block = op.Int(1);
      const Dims* in = op.InputDims(0);
      if (block && *block >= 1 && in != nullptr)
        visit(op, *in, static_cast<uint64_t>(*block), type == kDepthToSpace);
    });
}

void BlocksDivide(const Subject& s, Findings& f) {
  EachBlock(s, [&](const OperationAt& op, const Dims& in, uint64_t block, bool to_space) {
    if (!Blocked(in, to_space, block))
      f.Add(op.AtInput(1), "{} {} of {} does not divide the {} of {}",
            to_space ? "the square of block size" : "block size", block, op.Title(),
            to_space ? "depth" : "height and width", DimsText(in));
  });
}

void BlocksMakeOutput(const Subject& s, Findings& f) {
  EachBlock(s, [&](const OperationAt& op, const Dims& in, uint64_t block, bool to_space) {
    if (const auto want = Blocked(in, to_space, block)) Check(f, op, *want);
  });
}

uint64_t ElementsOf(const Dims& dims) {
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
  const Dims* shape = op.InputDims(1);
  if (shape == nullptr || (*shape)[0] > kLongestShape) return std::nullopt;
  TargetShape t = {op.Ints(1)};
  if (t.sizes.empty()) return std::nullopt;
  Dims sizes;
  for (const int32_t d : t.sizes) {
    if (d == -1)
      ++t.open;
    else
      sizes.push_back(d > 0 ? static_cast<uint32_t>(d) : 0);
  }
  t.product = ElementsOf(sizes);
  return t;
}

void ShapesValid(const Subject& s, Findings& f) {
  EachOperation(s, kReshape, [&](const OperationAt& op) {
    const auto target = TargetOf(op);
    if (!target) return;
    for (const int32_t d : target->sizes)
      if (d < -1 || d == 0) f.Add(op.AtInput(1), "the shape of {} has size {}", op.Title(), d);
    if (target->open > 1)
      f.Add(op.AtInput(1), "the shape of {} has {} sizes of -1; at most one is allowed", op.Title(),
            target->open);
  });
}

void ElementsKept(const Subject& s, Findings& f) {
  EachOperation(s, kReshape, [&](const OperationAt& op) {
    const Dims* in = op.InputDims(0);
    const Dims* out = op.OutputDims(0);
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
  });
}

void ReshapedAsTold(const Subject& s, Findings& f) {
  EachOperation(s, kReshape, [&](const OperationAt& op) {
    const Dims* shape = op.InputDims(1);
    if (shape == nullptr || (*shape)[0] == 0 || (*shape)[0] > 4) return;
    Dims want((*shape)[0]);  // unknown if the shape is not constant
    if (const auto target = TargetOf(op); target && target->sizes.size() == want.size())
      for (size_t i = 0; i < want.size(); ++i)
        want[i] = static_cast<uint32_t>(std::max(target->sizes[i], 0));
    Check(f, op, want);
  });
}

void Resizes(const Subject& s, Findings& f) {
  EachOperation(s, kResizeBilinear, [&](const OperationAt& op) {
    const Dims* in = op.InputDims(0);
    const auto first = op.Int(1);
    const auto second = op.Int(2);
    if (in == nullptr || !first || !second || *first < 1 || *second < 1) return;
    // The width comes first.
    Check(f, op,
          {(*in)[0], static_cast<uint32_t>(*second), static_cast<uint32_t>(*first), (*in)[3]});
  });
}

constexpr Rule kShapeRules[] = {
    {.info =
         {.id = "NNAPI-SHAPE-001",
          .statement =
              "The axis of CONCATENATION is within the rank of the inputs, the inputs have equal "
              "sizes on all other axes, and the output has the sum of their sizes on this axis.",
          .clause = "types.hal, OperationType.CONCATENATION",
          .vendor = true,
          .hint = "Check the axis, which counts from 0 and cannot be negative, and declare the sum "
                  "of the sizes for the output."},
     .check = Concatenations},
    {.info = {.id = "NNAPI-SHAPE-002",
              .statement = "The block size of SPACE_TO_DEPTH divides the height and the width of "
                           "the input; its square in DEPTH_TO_SPACE divides the depth.",
              .clause = "types.hal, OperationType.DEPTH_TO_SPACE",
              .vendor = true,
              .hint = "Use a block size that divides the input, or change the size of the input."},
     .check = BlocksDivide},
    {.info =
         {.id = "NNAPI-SHAPE-003",
          .statement =
              "The shape given to RESHAPE consists of sizes of at least 1 and at most one -1.",
          .clause = "types.hal, OperationType.RESHAPE",
          .vendor = true,
          .hint =
              "Write 1 for a dimension to be added, and -1 for at most one size to be computed."},
     .check = ShapesValid},
    {.info =
         {.id = "NNAPI-SHAPE-004",
          .statement =
              "The output of RESIZE_BILINEAR has the height and the width that its inputs state.",
          .clause = "types.hal, OperationType.RESIZE_BILINEAR",
          .vendor = true,
          .hint = "Pass the width as input 1 and the height as input 2, and declare the output as "
                  "[batches, height, width, depth]."},
     .check = Resizes},
    {.info = {.id = "NNAPI-SHAPE-005",
              .statement = "The output of DEPTH_TO_SPACE and SPACE_TO_DEPTH has the shape that the "
                           "input and the block size give.",
              .clause = "types.hal, OperationType.DEPTH_TO_SPACE",
              .vendor = true,
              .hint = "Declare [batches, height * block, width * block, depth / (block * block)] "
                      "for DEPTH_TO_SPACE; SPACE_TO_DEPTH is its inverse."},
     .check = BlocksMakeOutput},
    {.info = {.id = "NNAPI-SHAPE-006",
              .statement = "The output of RESHAPE has as many elements as the input.",
              .clause = "types.hal, OperationType.RESHAPE",
              .vendor = true,
              .hint = "Correct the sizes, or write -1 for the one that is to be computed."},
     .check = ElementsKept},
    {.info = {.id = "NNAPI-SHAPE-007",
              .statement = "The output of RESHAPE has the shape that input 1 gives.",
              .clause = "types.hal, OperationType.RESHAPE",
              .vendor = true,
              .hint = "Declare for the output the shape that input 1 gives."},
     .check = ReshapedAsTold},
};

}  // namespace

std::span<const Rule> ShapeRules() {
  return kShapeRules;
}

}  // namespace nn::nnapi
