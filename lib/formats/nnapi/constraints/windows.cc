// Constraints on convolutions, pooling and matrix products.
#include <algorithm>
#include <cmath>

#include "formats/nnapi/spec/constraint.h"

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

// The window along one axis; nullopt for arguments that are not constant.
struct AxisWindow {
  std::optional<int32_t> scheme;  // implicit padding
  std::optional<int32_t> before, after, stride, size;
};

// Axis 0 is height, 1 is width.
AxisWindow WindowOf(const OperationAt& op, size_t axis) {
  const bool pool = IsPool(op);
  const size_t first = pool ? 1 : 3;
  const bool implicit = op.signature->inputs[first].kind == Argument::Kind::kScheme;
  AxisWindow w;
  // The order is left, right, top, bottom, then strides, then window sizes of pooling; width comes
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
  } else if (const Shape* filter = op.InputDims(1); filter != nullptr && filter->size() == 4 &&
                                                    (*filter)[1 + axis] != 0 &&
                                                    (*filter)[1 + axis] <= INT32_MAX) {
    w.size = static_cast<int32_t>((*filter)[1 + axis]);
  }
  return w;
}

// Output size; nullopt if something is unknown, 0 or less if the window does not fit.
std::optional<int64_t> OutputSize(const AxisWindow& w, uint32_t input) {
  if (input == 0 || !w.stride || *w.stride < 1) return std::nullopt;
  if (w.scheme == 1) return (int64_t{input} + *w.stride - 1) / *w.stride;
  if (!w.size || *w.size < 1) return std::nullopt;
  int64_t padded = input;
  if (w.scheme) {
    if (*w.scheme != 2) return std::nullopt;
  } else {
    if (!w.before || !w.after || *w.before < 0 || *w.after < 0) return std::nullopt;
    padded += int64_t{*w.before} + *w.after;
  }
  return padded < *w.size ? 0 : (padded - *w.size) / *w.stride + 1;
}

// The output shape of a window operation.
struct WindowOutput {
  bool fits = true;  // the window fits its input
  Shape dims;
};

std::optional<WindowOutput> OutputOf(const OperationAt& op) {
  const Shape* in = op.InputDims(0);
  if (in == nullptr) return std::nullopt;
  WindowOutput out = {true, {(*in)[0], 0, 0, IsPool(op) ? (*in)[3] : 0}};
  for (size_t axis = 0; axis < 2; ++axis) {
    const auto size = OutputSize(WindowOf(op, axis), (*in)[1 + axis]);
    out.fits = out.fits && (!size || *size > 0);
    out.dims[1 + axis] = size && *size <= UINT32_MAX ? static_cast<uint32_t>(*size) : 0;
  }
  if (const Shape* filter = op.InputDims(1);
      !IsPool(op) && filter != nullptr && filter->size() == 4)
    out.dims[3] = (*filter)[IsConv(op) ? 0 : 3];
  return out;
}

void WindowFits(const OperationAt& op, Misfits& f) {
  const auto want = OutputOf(op);
  if (want && op.OutputDims(0) != nullptr && !want->fits)
    f.Add(op.AtInput(IsPool(op) ? 0 : 1),
          "the window of {} is larger than its input {} with padding", op.Title(),
          DimsText(*op.InputDims(0)));
}

void WindowShape(const OperationAt& op, Misfits& f) {
  const auto want = OutputOf(op);
  const Shape* out = op.OutputDims(0);
  if (want && want->fits && out != nullptr && !Agree(want->dims, *out))
    f.Add(op.AtOutput(0), "{} has shape {} instead of {}", op.OutputTitle(0), DimsText(*out),
          DimsText(want->dims));
}

// The dimensions of a filter, and of the input that it is applied to.
struct Filtered {
  const Shape* filter = nullptr;
  const Shape* input = nullptr;
};

std::optional<Filtered> FilterOf(const OperationAt& op) {
  const Filtered found = {op.InputDims(1), op.InputDims(0)};
  if (found.input == nullptr || found.filter == nullptr) return std::nullopt;
  return found;
}

void FiltersFit(const OperationAt& op, Misfits& f) {
  const auto found = FilterOf(op);
  if (found && !Agree((*found->filter)[3], (*found->input)[3]))
    f.Add(op.AtInput(1), "the filter {} of {} has depth {}; the input {} has depth {}",
          DimsText(*found->filter), op.Title(), (*found->filter)[3], DimsText(*found->input),
          (*found->input)[3]);
}

void DepthwiseFiltersFit(const OperationAt& op, Misfits& f) {
  const auto found = FilterOf(op);
  if (!found) return;
  const Shape& filter = *found->filter;
  const uint32_t depth = (*found->input)[3];
  if (!Agree(filter[0], 1))
    f.Add(op.AtInput(1), "the first dimension of the filter of {} is {} instead of 1", op.Title(),
          filter[0]);
  const auto multiplier = op.Int(op.input_count() - 2);
  if (multiplier && *multiplier > 0 && depth != 0 && filter[3] != 0 &&
      uint64_t{depth} * static_cast<uint64_t>(*multiplier) != filter[3])
    f.Add(op.AtInput(1),
          "the filter {} of {} has depth {}; {} channels times multiplier {} give {}",
          DimsText(filter), op.Title(), filter[3], depth, *multiplier,
          uint64_t{depth} * static_cast<uint64_t>(*multiplier));
}

// The number of output channels, which each have one bias.
uint32_t BiasLength(const OperationAt& op) {
  const Shape* weights = op.InputDims(1);
  if (weights == nullptr) return 0;
  return IsDepthwise(op) ? weights->back() : weights->front();
}

void BiasFits(const OperationAt& op, Misfits& f) {
  const Shape* bias = op.InputDims(2);
  if (bias != nullptr && !Agree((*bias)[0], BiasLength(op)))
    f.Add(op.AtInput(2), "the bias of {} has {} elements instead of {}", op.Title(), (*bias)[0],
          BiasLength(op));
}

// The relative difference that Android's executor tolerates as rounding.
constexpr double kBiasScaleSlack = 1e-6;

void BiasQuantized(const OperationAt& op, Misfits& f) {
  const Operand* in = op.Input(0);
  const Operand* weights = op.Input(1);
  const Operand* bias = op.Input(2);
  if (in == nullptr || weights == nullptr || bias == nullptr || !HasQuantization(*in) ||
      !HasQuantization(*weights) || bias->type != OperandType::kTensorInt32)
    return;
  const double want = double{in->scale} * weights->scale;
  const double slack = kBiasScaleSlack * std::min(want, double{bias->scale});
  if (bias->zero_point != 0 || !(std::abs(bias->scale - want) <= slack))
    f.Add(op.AtInput(2),
          "the bias of {} has scale {} and zeroPoint {}; the input and weight scales give {} and 0",
          op.Title(), bias->scale, bias->zero_point, want);
}

void OutputScale(const OperationAt& op, Misfits& f) {
  const Operand* a = op.Input(0);
  const Operand* b = op.Input(1);
  const Operand* out = op.Output(0);
  if (a == nullptr || b == nullptr || out == nullptr || !HasQuantization(*a) ||
      !HasQuantization(*b) || !HasQuantization(*out))
    return;
  if (!(out->scale > a->scale * b->scale))
    f.Add(op.AtOutput(0),
          "the output scale of {} is {}; it must be above {}, the product of the input scales",
          op.Title(), out->scale, a->scale * b->scale);
}

void PoolPaddings(const OperationAt& op, Misfits& f) {
  for (size_t axis = 0; axis < 2; ++axis) {
    const AxisWindow w = WindowOf(op, axis);
    const int32_t padding = std::max(w.before.value_or(0), w.after.value_or(0));
    if (w.size && *w.size > 0 && padding >= *w.size)
      f.Add(op.Where("inputs"), "the padding of {} is {}; it must be below the window {} of {}",
            op.Title(), padding, axis == 0 ? "height" : "width", *w.size);
  }
}

constexpr Constraint kWindows[] = {
    {.label = Label::kWindowFits, .check = WindowFits},
    {.label = Label::kWindowShape, .check = WindowShape},
    {.label = Label::kFilterDepth, .check = FiltersFit},
    {.label = Label::kDepthwiseFilter, .check = DepthwiseFiltersFit},
    {.label = Label::kBiasLength, .check = BiasFits},
    {.label = Label::kBiasScale, .check = BiasQuantized},
    {.label = Label::kProductScale, .check = OutputScale},
    {.label = Label::kPoolPadding, .check = PoolPaddings},
};

}  // namespace

std::span<const Constraint> WindowConstraints() {
  return kWindows;
}

}  // namespace nn::nnapi
