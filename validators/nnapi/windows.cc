// Rules of convolutions and pools.
#include <cmath>

#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

using enum OperationType;

bool IsConv(const OperationAt& op) {
  return op.operation->type == kConv2d;
}

bool IsDepthwise(const OperationAt& op) {
  return op.operation->type == kDepthwiseConv2d;
}

bool IsPool(const OperationAt& op) {
  const OperationType t = op.operation->type;
  return t == kAveragePool2d || t == kL2Pool2d || t == kMaxPool2d;
}

// The window along one axis; nullopt for what is not a constant.
struct Window {
  std::optional<int32_t> scheme;  // implicit padding
  std::optional<int32_t> before, after, stride, size;
};

// Axis 0 is height, 1 is width.
Window WindowOf(const OperationAt& op, size_t axis) {
  const bool pool = IsPool(op);
  const size_t first = pool ? 1 : 3;
  const bool implicit = op.signature->inputs[first].kind == Argument::Kind::kScheme;
  Window w;
  // Scalars stand in the order left, right, top, bottom; then strides, and pools' sizes, of width
  // before height.
  size_t next = first;
  if (implicit) {
    w.scheme = op.Int(next++);
  } else {
    w.before = op.Int(first + (axis == 0 ? 2 : 0));
    w.after = op.Int(first + (axis == 0 ? 3 : 1));
    next += 4;
  }
  w.stride = op.Int(next + (axis == 0 ? 1 : 0));
  if (pool) {
    w.size = op.Int(next + 2 + (axis == 0 ? 1 : 0));
  } else if (const Dims* filter = op.InputDims(1); filter != nullptr && filter->size() == 4 &&
                                                   (*filter)[1 + axis] != 0 &&
                                                   (*filter)[1 + axis] <= INT32_MAX) {
    w.size = static_cast<int32_t>((*filter)[1 + axis]);
  }
  return w;
}

// Output size; nullopt if something is unknown, 0 or less if the window does not fit.
std::optional<int64_t> OutputSize(const Window& w, uint32_t input) {
  if (input == 0 || !w.stride || *w.stride < 1) return std::nullopt;
  if (w.scheme == 1) return (int64_t{input} + *w.stride - 1) / *w.stride;
  if (!w.size || *w.size < 1) return std::nullopt;
  int64_t padded = input;
  if (w.scheme) {
    if (*w.scheme != 2) return std::nullopt;
  } else {
    if (!w.before || !w.after) return std::nullopt;
    padded += int64_t{*w.before} + *w.after;
  }
  return padded < *w.size ? 0 : (padded - *w.size) / *w.stride + 1;
}

void OutputSizes(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (op.signature == nullptr || !(IsConv(op) || IsDepthwise(op) || IsPool(op))) continue;
    const Dims* in = op.InputDims(0);
    const Dims* out = op.OutputDims(0);
    if (in == nullptr || out == nullptr || in->size() != 4 || out->size() != 4) continue;
    Dims want = {(*in)[0], 0, 0, IsPool(op) ? (*in)[3] : 0};
    bool fits = true;
    for (size_t axis = 0; axis < 2; ++axis) {
      const auto size = OutputSize(WindowOf(op, axis), (*in)[1 + axis]);
      fits = fits && (!size || *size > 0);
      want[1 + axis] = size && *size <= UINT32_MAX ? static_cast<uint32_t>(*size) : 0;
    }
    if (const Dims* filter = op.InputDims(1);
        !IsPool(op) && filter != nullptr && filter->size() == 4)
      want[3] = (*filter)[IsConv(op) ? 0 : 3];
    if (!fits)
      f.Add(op.Where("inputs"), "the window of {} does not fit its input {}", op.Title(),
            DimsText(*in));
    else if (!Agree(want, *out))
      f.Add(op.Where("outputs[0]"), "{} gives {}, its output is {}", op.Title(), DimsText(want),
            DimsText(*out));
  }
}

void FiltersFit(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (!IsConv(op) && !IsDepthwise(op)) continue;
    const Dims* in = op.InputDims(0);
    const Dims* filter = op.InputDims(1);
    if (op.signature == nullptr || in == nullptr || filter == nullptr || in->size() != 4 ||
        filter->size() != 4)
      continue;
    if (IsConv(op)) {
      if (!Agree((*filter)[3], (*in)[3]))
        f.Add(op.Where("inputs[1]"), "the filter of {} is {}, its input {}", op.Title(),
              DimsText(*filter), DimsText(*in));
      continue;
    }
    if (!Agree((*filter)[0], 1))
      f.Add(op.Where("inputs[1]"), "the first dimension of the filter of {} is {}, not 1",
            op.Title(), (*filter)[0]);
    const auto multiplier = op.Int(op.input_count() - 2);
    if (multiplier && *multiplier > 0 && (*in)[3] != 0 && (*filter)[3] != 0 &&
        uint64_t{(*in)[3]} * static_cast<uint64_t>(*multiplier) != (*filter)[3])
      f.Add(op.Where("inputs[1]"), "{} has {} channels, multiplier {}, and a filter {}", op.Title(),
            (*in)[3], *multiplier, DimsText(*filter));
  }
}

// The number of results that each have a bias, and so of a matrix with one row each.
uint32_t BiasLength(const OperationAt& op) {
  const Dims* weights = op.InputDims(1);
  if (weights == nullptr || weights->empty()) return 0;
  return IsDepthwise(op) ? weights->back() : weights->front();
}

bool HasBias(const OperationAt& op) {
  return op.signature != nullptr &&
         (IsConv(op) || IsDepthwise(op) || op.operation->type == kFullyConnected);
}

void BiasFits(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const Dims* bias = HasBias(op) ? op.InputDims(2) : nullptr;
    if (bias != nullptr && bias->size() == 1 && !Agree((*bias)[0], BiasLength(op)))
      f.Add(op.Where("inputs[2]"), "the bias of {} has {} elements instead of {}", op.Title(),
            (*bias)[0], BiasLength(op));
  }
}

void BiasQuantised(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (!HasBias(op)) continue;
    const Operand* in = op.Input(0);
    const Operand* weights = op.Input(1);
    const Operand* bias = op.Input(2);
    if (in == nullptr || weights == nullptr || bias == nullptr || !IsQuantised(*in) ||
        bias->type != OperandType::kTensorInt32)
      continue;
    const float want = in->scale * weights->scale;
    if (bias->zero_point != 0 || !(std::abs(bias->scale - want) <= 1e-5f * want))
      f.Add(op.Where("inputs[2]"),
            "the bias of {} has scale {} and zeroPoint {}; input and weights give {} and 0",
            op.Title(), bias->scale, bias->zero_point, want);
  }
}

void OutputScale(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (!HasBias(op) && op.operation->type != kMul) continue;
    const Operand* a = op.Input(0);
    const Operand* b = op.Input(1);
    const Operand* out = op.Output(0);
    if (a == nullptr || b == nullptr || out == nullptr || !IsQuantised(*a) || !IsQuantised(*b) ||
        !IsQuantised(*out))
      continue;
    if (!(out->scale > a->scale * b->scale))
      f.Add(op.Where("outputs[0]"), "{} has output scale {}; that of its inputs is {}", op.Title(),
            out->scale, a->scale * b->scale);
  }
}

constexpr Rule kRules[] = {
    {{"NNAPI-WINDOW-001", Severity::kError,
      "Outputs of convolutions and pools have the size that window, stride and padding give.",
      "types.hal, OperationType.CONV_2D", true, ""},
     OutputSizes},
    {{"NNAPI-WINDOW-002", Severity::kError, "Filters have the depth of the input.",
      "types.hal, OperationType.CONV_2D", true, ""},
     FiltersFit},
    {{"NNAPI-WINDOW-003", Severity::kError, "A bias has one element for each output channel.",
      "types.hal, OperationType.CONV_2D", true, ""},
     BiasFits},
    {{"NNAPI-WINDOW-004", Severity::kError,
      "A quantised bias has zeroPoint 0 and the product of the input's and weights' scales.",
      "types.hal, OperationType.CONV_2D", true, ""},
     BiasQuantised},
    {{"NNAPI-WINDOW-005", Severity::kError,
      "The output scale of a quantised product is above the product of the inputs' scales.",
      "types.hal, OperationType.CONV_2D", true, ""},
     OutputScale},
};

}  // namespace

std::span<const Rule> WindowRules() {
  return kRules;
}

}  // namespace nn::nnapi
