// Rules of operations that rearrange elements.
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

using enum OperationType;

template <typename Visit>
void Each(const Subject& s, OperationType type, const Visit& visit) {
  for (const OperationAt& op : s.operations())
    if (op.operation->type == type && op.signature != nullptr) visit(op);
}

void Check(Findings& f, const OperationAt& op, const Dims& want) {
  const Dims* out = op.OutputDims(0);
  if (out != nullptr && !Agree(want, *out))
    f.Add(op.Where("outputs[0]"), "{} gives {}, its output is {}", op.Title(), DimsText(want),
          DimsText(*out));
}

void Concatenations(const Subject& s, Findings& f) {
  Each(s, kConcatenation, [&](const OperationAt& op) {
    const auto axis = op.Int(op.input_count() - 1);
    const Dims* first = op.InputDims(0);
    if (!axis || first == nullptr) return;
    if (*axis < 0 || static_cast<size_t>(*axis) >= first->size()) {
      f.Add(op.Where("inputs"), "the axis of {} is {}; its inputs have rank {}", op.Title(), *axis,
            first->size());
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
        f.Add(op.Where(fmt::format("inputs[{}]", i)), "{} joins {} and {} along axis {}",
              op.Title(), DimsText(*first), DimsText(*in), *axis);
        return;
      }
      want[at] = want[at] == 0 || (*in)[at] == 0 ? 0 : want[at] + (*in)[at];
    }
    Check(f, op, want);
  });
}

void Blocks(const Subject& s, Findings& f) {
  for (const OperationType type : {kDepthToSpace, kSpaceToDepth})
    Each(s, type, [&](const OperationAt& op) {
      const auto block = op.Int(1);
      const Dims* in = op.InputDims(0);
      if (!block || *block < 1 || in == nullptr || in->size() != 4) return;
      const uint64_t b = static_cast<uint64_t>(*block);
      const bool to_space = type == kDepthToSpace;
      const auto divides = [&](uint64_t by, uint32_t d) { return d == 0 || d % by == 0; };
      if (to_space ? b > 0xFFFF || !divides(b * b, (*in)[3])
                   : !divides(b, (*in)[1]) || !divides(b, (*in)[2])) {
        f.Add(op.Where("inputs[1]"), "block size {} of {} does not divide {}", b, op.Title(),
              DimsText(*in));
        return;
      }
      const auto scaled = [&](uint32_t d, bool up, uint64_t by) {
        return static_cast<uint32_t>(up ? d * by : d / by);
      };
      Check(f, op,
            {(*in)[0], scaled((*in)[1], to_space, b), scaled((*in)[2], to_space, b),
             scaled((*in)[3], !to_space, b * b)});
    });
}

uint64_t ElementsOf(const Dims& dims) {
  uint64_t n = 1;
  for (const uint32_t d : dims)
    if (__builtin_mul_overflow(n, d, &n)) return 0;
  return n;
}

void Reshapes(const Subject& s, Findings& f) {
  Each(s, kReshape, [&](const OperationAt& op) {
    const std::vector<int32_t> shape = op.Ints(1);
    const Dims* in = op.InputDims(0);
    if (shape.empty()) return;
    Dims want;
    size_t open = 0;
    for (const int32_t d : shape) {
      if (d < -1) f.Add(op.Where("inputs[1]"), "the shape of {} has {}", op.Title(), d);
      open += d == -1 ? 1 : 0;
      want.push_back(d > 0 ? static_cast<uint32_t>(d) : 0);
    }
    if (open > 1) f.Add(op.Where("inputs[1]"), "the shape of {} has {} times -1", op.Title(), open);
    const uint64_t elements = in != nullptr ? ElementsOf(*in) : 0;
    if (open == 0 && elements != 0 && ElementsOf(want) != elements)
      f.Add(op.Where("inputs[1]"), "{} makes {} of {}", op.Title(), DimsText(want), DimsText(*in));
    Check(f, op, want);
    const Dims* out = op.OutputDims(0);
    if (out != nullptr && elements != 0 && ElementsOf(*out) != 0 && ElementsOf(*out) != elements)
      f.Add(op.Where("outputs[0]"), "{} makes {} of {}", op.Title(), DimsText(*out), DimsText(*in));
  });
}

void Resizes(const Subject& s, Findings& f) {
  Each(s, kResizeBilinear, [&](const OperationAt& op) {
    const Dims* in = op.InputDims(0);
    const auto first = op.Int(1);
    const auto second = op.Int(2);
    if (in == nullptr || in->size() != 4 || !first || !second || *first < 1 || *second < 1) return;
    // The width comes first.
    Check(f, op,
          {(*in)[0], static_cast<uint32_t>(*second), static_cast<uint32_t>(*first), (*in)[3]});
  });
}

constexpr Rule kRules[] = {
    {{"NNAPI-SHAPE-001", Severity::kError,
      "Inputs of CONCATENATION agree but for the axis, along which the output is their sum.",
      "types.hal, OperationType.CONCATENATION", true, ""},
     Concatenations},
    {{"NNAPI-SHAPE-002", Severity::kError,
      "Block sizes of DEPTH_TO_SPACE and SPACE_TO_DEPTH divide what they split.",
      "types.hal, OperationType.DEPTH_TO_SPACE", true, ""},
     Blocks},
    {{"NNAPI-SHAPE-003", Severity::kError,
      "RESHAPE keeps the number of elements and has at most one -1.",
      "types.hal, OperationType.RESHAPE", true, ""},
     Reshapes},
    {{"NNAPI-SHAPE-004", Severity::kError, "The output of RESIZE_BILINEAR has the stated size.",
      "types.hal, OperationType.RESIZE_BILINEAR", true, ""},
     Resizes},
};

}  // namespace

std::span<const Rule> ShapeRules() {
  return kRules;
}

}  // namespace nn::nnapi
