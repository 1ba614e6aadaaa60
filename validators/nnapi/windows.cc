// Rules for convolution and pooling.
#include <algorithm>
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

// The window along one axis; nullopt for arguments that are not constant.
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
    if (!w.before || !w.after || *w.before < 0 || *w.after < 0) return std::nullopt;
    padded += int64_t{*w.before} + *w.after;
  }
  return padded < *w.size ? 0 : (padded - *w.size) / *w.stride + 1;
}

void OutputSizes(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (op.signature == nullptr || !(IsConv(op) || IsDepthwise(op) || IsPool(op))) continue;
    const Dims* in = op.InputDims(0);
    const Dims* out = op.OutputDims(0);
    if (in == nullptr || out == nullptr) continue;
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
      f.Add(op.AtInput(IsPool(op) ? 0 : 1),
            "the window of {} is larger than its input {} with padding", op.Title(), DimsText(*in));
    else if (!Agree(want, *out))
      f.Add(op.AtOutput(0), "{} has shape {} instead of {}", op.OutputTitle(0), DimsText(*out),
            DimsText(want));
  }
}

// The dimensions of a filter, and of the input that it is applied to.
struct Filtered {
  const Dims* filter = nullptr;
  const Dims* input = nullptr;
};

std::optional<Filtered> FilterOf(const OperationAt& op) {
  const Filtered found = {op.InputDims(1), op.InputDims(0)};
  if (found.input == nullptr || found.filter == nullptr) return std::nullopt;
  return found;
}

void FiltersFit(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const auto found = IsConv(op) ? FilterOf(op) : std::nullopt;
    if (found && !Agree((*found->filter)[3], (*found->input)[3]))
      f.Add(op.AtInput(1), "the filter {} of {} has depth {}; the input {} has depth {}",
            DimsText(*found->filter), op.Title(), (*found->filter)[3], DimsText(*found->input),
            (*found->input)[3]);
  }
}

void DepthwiseFiltersFit(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const auto found = IsDepthwise(op) ? FilterOf(op) : std::nullopt;
    if (!found) continue;
    const Dims& filter = *found->filter;
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
}

// The number of output channels, which each have one bias.
uint32_t BiasLength(const OperationAt& op) {
  const Dims* weights = op.InputDims(1);
  if (weights == nullptr) return 0;
  return IsDepthwise(op) ? weights->back() : weights->front();
}

bool HasBias(const OperationAt& op) {
  return op.signature != nullptr &&
         (IsConv(op) || IsDepthwise(op) || op.operation->type == kFullyConnected);
}

void BiasFits(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const Dims* bias = HasBias(op) ? op.InputDims(2) : nullptr;
    if (bias != nullptr && !Agree((*bias)[0], BiasLength(op)))
      f.Add(op.AtInput(2), "the bias of {} has {} elements instead of {}", op.Title(), (*bias)[0],
            BiasLength(op));
  }
}

// The relative difference that Android's executor tolerates as rounding.
constexpr double kBiasScaleSlack = 1e-6;

void BiasQuantized(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (!HasBias(op)) continue;
    const Operand* in = op.Input(0);
    const Operand* weights = op.Input(1);
    const Operand* bias = op.Input(2);
    if (in == nullptr || weights == nullptr || bias == nullptr || !HasQuantization(*in) ||
        !HasQuantization(*weights) || bias->type != OperandType::kTensorInt32)
      continue;
    const double want = double{in->scale} * weights->scale;
    const double slack = kBiasScaleSlack * std::min(want, double{bias->scale});
    if (bias->zero_point != 0 || !(std::abs(bias->scale - want) <= slack))
      f.Add(
          op.AtInput(2),
          "the bias of {} has scale {} and zeroPoint {}; the input and weight scales give {} and 0",
          op.Title(), bias->scale, bias->zero_point, want);
  }
}

void OutputScale(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (!HasBias(op) && op.operation->type != kMul) continue;
    const Operand* a = op.Input(0);
    const Operand* b = op.Input(1);
    const Operand* out = op.Output(0);
    if (a == nullptr || b == nullptr || out == nullptr || !HasQuantization(*a) ||
        !HasQuantization(*b) || !HasQuantization(*out))
      continue;
    if (!(out->scale > a->scale * b->scale))
      f.Add(op.AtOutput(0),
            "the output scale of {} is {}; it must be above {}, the product of the input scales",
            op.Title(), out->scale, a->scale * b->scale);
  }
}

void PoolPaddings(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (op.signature == nullptr || !IsPool(op)) continue;
    for (size_t axis = 0; axis < 2; ++axis) {
      const Window w = WindowOf(op, axis);
      const int32_t padding = std::max(w.before.value_or(0), w.after.value_or(0));
      if (w.size && *w.size > 0 && padding >= *w.size)
        f.Add(op.Where("inputs"), "the padding of {} is {}; it must be below the window {} of {}",
              op.Title(), padding, axis == 0 ? "height" : "width", *w.size);
    }
  }
}

constexpr Rule kWindowRules[] = {
    {.info = {.id = "NNAPI-WINDOW-001",
              .statement =
                  "The window of a convolution or pooling operation fits its padded input, and the "
                  "output has the shape that input, window, strides and padding give.",
              .clause = "types.hal, OperationType.CONV_2D",
              .vendor = true,
              .hint = "Declare the computed shape: SAME gives size / stride rounded up; VALID "
                      "gives (size - window) / stride + 1 rounded down."},
     .check = OutputSizes},
    {.info = {.id = "NNAPI-WINDOW-002",
              .statement = "The last dimension of a CONV_2D filter is the depth of the input.",
              .clause = "types.hal, OperationType.CONV_2D",
              .vendor = true,
              .hint = "Arrange the filter as [depth_out, height, width, depth_in]."},
     .check = FiltersFit},
    {.info = {.id = "NNAPI-WINDOW-003",
              .statement = "The bias of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED has one "
                           "element for each output channel or unit.",
              .clause = "types.hal, OperationType.CONV_2D",
              .vendor = true,
              .hint = "Give the bias as many elements as there are outputs; fill it with zeros if "
                      "the layer has no bias."},
     .check = BiasFits},
    {.info =
         {.id = "NNAPI-WINDOW-004",
          .statement =
              "The bias of a quantized CONV_2D, DEPTHWISE_CONV_2D or FULLY_CONNECTED has zeroPoint "
              "0 and, as its scale, the product of the input scale and the weight scale.",
          .clause = "types.hal, OperationType.CONV_2D",
          .vendor = true,
          .hint = "Quantize the bias again with the product of the input scale and the weight "
                  "scale, and with zeroPoint 0."},
     .check = BiasQuantized},
    {.info = {.id = "NNAPI-WINDOW-005",
              .statement =
                  "The output scale of a quantized CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED or "
                  "MUL is above the product of the scales of its first two inputs.",
              .clause = "types.hal, OperationType.CONV_2D",
              .vendor = true,
              .hint = "Choose a larger scale for the output."},
     .check = OutputScale},
    {.info = {.id = "NNAPI-WINDOW-006",
              .statement = "The filter of DEPTHWISE_CONV_2D has first dimension 1, and its last "
                           "dimension is the depth of the input times the depth multiplier.",
              .clause = "types.hal, OperationType.DEPTHWISE_CONV_2D",
              .vendor = true,
              .hint = "Arrange the filter as [1, height, width, depth_in * depth_multiplier]."},
     .check = DepthwiseFiltersFit},
    {.info = {.id = "NNAPI-WINDOW-007",
              .statement = "Explicit padding of a pooling operation is smaller than the window on "
                           "the same axis.",
              .clause = "NNAPI reference executor, pooling",
              .vendor = true,
              .hint = "Reduce the padding or enlarge the window, so that no window lies in the "
                      "padding alone."},
     .check = PoolPaddings},
};

}  // namespace

std::span<const Rule> WindowRules() {
  return kWindowRules;
}

}  // namespace nn::nnapi
