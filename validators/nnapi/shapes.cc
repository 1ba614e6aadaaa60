// Rules of operations that rearrange elements.
#include <algorithm>

#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

using enum OperationType;

void Check(Findings& f, const OperationAt& op, const Dims& want) {
  const Dims* out = op.OutputDims(0);
  if (out != nullptr && !Agree(want, *out))
    f.Add(op.AtOutput(0), "{} gives {}, its output is {}", op.Title(), DimsText(want),
          DimsText(*out));
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
        f.Add(op.AtInput(i), "{} joins {} and {} along axis {}", op.Title(), DimsText(*first),
              DimsText(*in), *axis);
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

// The shape that a block of a constant size makes of the input; nullopt if it does not divide it.
std::optional<Dims> Blocked(const Dims& in, bool to_space, uint64_t b) {
  if (to_space ? b > 0xFFFF || !Divides(b * b, in[3]) : !Divides(b, in[1]) || !Divides(b, in[2]))
    return std::nullopt;
  const auto scaled = [](uint32_t d, bool up, uint64_t by) {
    return static_cast<uint32_t>(up ? d * by : d / by);
  };
  return Dims{in[0], scaled(in[1], to_space, b), scaled(in[2], to_space, b),
              scaled(in[3], !to_space, b * b)};
}

// Calls visit(operation, dimensions of its input, size of the block, whether to space).
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
      f.Add(op.AtInput(1), "block size {} of {} does not divide {} of {}", block, op.Title(),
            to_space ? "the depth" : "height and width", DimsText(in));
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

// The elements of a constant shape. It may have one -1, which stands for what is left over.
struct TargetShape {
  std::vector<int32_t> sizes;
  size_t open = 0;       // how often it has -1
  uint64_t product = 1;  // of the other sizes; 0 if it is beyond 64 bits
};

std::optional<TargetShape> TargetOf(const OperationAt& op) {
  // Longer ones give ranks that are too large, and could be shared by many operations.
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
      if (d < -1 || d == 0) f.Add(op.AtInput(1), "the shape of {} has {}", op.Title(), d);
    if (target->open > 1)
      f.Add(op.AtInput(1), "the shape of {} has {} times -1", op.Title(), target->open);
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
      f.Add(op.AtInput(1), "{} makes a shape of {}{} elements of {}", op.Title(), target->product,
            target->open == 1 ? " times -1" : "", DimsText(*in));
    else if (out != nullptr && ElementsOf(*out) != 0 && ElementsOf(*out) != elements)
      f.Add(op.AtOutput(0), "{} makes {} of {}", op.Title(), DimsText(*out), DimsText(*in));
  });
}

void ReshapedAsTold(const Subject& s, Findings& f) {
  EachOperation(s, kReshape, [&](const OperationAt& op) {
    const Dims* shape = op.InputDims(1);
    if (shape == nullptr || (*shape)[0] == 0 || (*shape)[0] > 4) return;
    Dims want((*shape)[0]);  // not known, if the shape is no constant
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

constexpr Rule kRules[] = {
    {{"NNAPI-SHAPE-001", Severity::kError,
      "Inputs of CONCATENATION agree but for the axis, along which the output is their sum.",
      "types.hal, OperationType.CONCATENATION", true, "Check the axis, which counts from 0."},
     Concatenations},
    {{"NNAPI-SHAPE-002", Severity::kError,
      "Block sizes of DEPTH_TO_SPACE and SPACE_TO_DEPTH divide what they split.",
      "types.hal, OperationType.DEPTH_TO_SPACE", true, "Pad the tensor first."},
     BlocksDivide},
    {{"NNAPI-SHAPE-003", Severity::kError,
      "The shape of RESHAPE has sizes of at least 1, and at most one -1.",
      "types.hal, OperationType.RESHAPE", true, "Write 1 for dimensions to be added."},
     ShapesValid},
    {{"NNAPI-SHAPE-004", Severity::kError, "The output of RESIZE_BILINEAR has the stated size.",
      "types.hal, OperationType.RESIZE_BILINEAR", true,
      "The width is input 1, the height input 2; outputs are [batches, height, width, depth]."},
     Resizes},
    {{"NNAPI-SHAPE-005", Severity::kError,
      "Outputs of DEPTH_TO_SPACE and SPACE_TO_DEPTH have the size that the block gives.",
      "types.hal, OperationType.DEPTH_TO_SPACE", true, "Declare the shape that the block gives."},
     BlocksMakeOutput},
    {{"NNAPI-SHAPE-006", Severity::kError, "RESHAPE keeps the number of elements.",
      "types.hal, OperationType.RESHAPE", true, "Write -1 for the size that is to be computed."},
     ElementsKept},
    {{"NNAPI-SHAPE-007", Severity::kError, "The output of RESHAPE has the shape that it names.",
      "types.hal, OperationType.RESHAPE", true, "Declare the shape that input 1 names."},
     ReshapedAsTold},
};

}  // namespace

std::span<const Rule> ShapeRules() {
  return kRules;
}

}  // namespace nn::nnapi
