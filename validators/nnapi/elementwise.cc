// Rules for elementwise operations, and for operations that keep the quantization.
#include <algorithm>
#include <array>

#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

using enum OperationType;

template <size_t N>
bool IsOneOf(const OperationAt& op, const std::array<OperationType, N>& types) {
  return std::find(types.begin(), types.end(), op.operation->type) != types.end();
}

constexpr std::array kSameShape = {
    kDequantize, kFloor, kL2Normalization, kLocalResponseNormalization,
    kLogistic,   kRelu,  kRelu1,           kRelu6,
    kSoftmax,    kTanh};

// Output 0 has the quantization of the inputs that Sources() names.
constexpr std::array kSameQuantization = {
    kAveragePool2d, kDepthToSpace,  kMaxPool2d,       kRelu,           kRelu1, kRelu6, kReshape,
    kSpaceToDepth,  kConcatenation, kEmbeddingLookup, kHashtableLookup};

void ShapesKept(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const Dims* in = op.InputDims(0);
    const Dims* out = op.OutputDims(0);
    if (IsOneOf(op, kSameShape) && in != nullptr && out != nullptr && !Agree(*in, *out))
      f.Add(op.AtOutput(0), "{} has shape {} instead of {}", op.OutputTitle(0), DimsText(*out),
            DimsText(*in));
  }
}

// The shape of a op b; nullopt if the shapes cannot be broadcast together.
std::optional<Dims> Broadcast(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    // From the last axis on.
    const uint32_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const uint32_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x > 1 && y > 1) return std::nullopt;
    out[out.size() - 1 - i] =
        x == 0 || y == 0 ? (std::max(x, y) > 1 ? std::max(x, y) : 0) : std::max(x, y);
  }
  return out;
}

void Broadcasts(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const Dims* a = op.InputDims(0);
    const Dims* b = op.InputDims(1);
    if (!IsOneOf(op, std::array{kAdd, kMul}) || a == nullptr || b == nullptr) continue;
    const auto want = Broadcast(*a, *b);
    const Dims* out = op.OutputDims(0);
    if (!want)
      f.Add(op.Where("inputs"), "{} cannot broadcast {} and {}", op.Title(), DimsText(*a),
            DimsText(*b));
    else if (out != nullptr && !Agree(*want, *out))
      f.Add(op.AtOutput(0), "{} has shape {} instead of {}", op.OutputTitle(0), DimsText(*out),
            DimsText(*want));
  }
}

// The inputs whose quantization the output keeps.
std::vector<size_t> Sources(const OperationAt& op) {
  if (op.operation->type == kEmbeddingLookup) return {1};
  if (op.operation->type == kHashtableLookup) return {2};
  std::vector<size_t> all;
  if (op.operation->type == kConcatenation)
    for (size_t i = 0; i + 1 < op.input_count(); ++i) all.push_back(i);
  else
    all.push_back(0);
  return all;
}

void QuantizationKept(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const Operand* out = op.Output(0);
    if (!IsOneOf(op, kSameQuantization) || out == nullptr || !HasQuantization(*out)) continue;
    for (const size_t i : Sources(op)) {
      const Operand* in = op.Input(i);
      if (in != nullptr && HasQuantization(*in) &&
          (in->scale != out->scale || in->zero_point != out->zero_point))
        f.Add(op.AtOutput(0),
              "input {} of {} has scale {} and zeroPoint {}; the output has {} and {}", i,
              op.Title(), in->scale, in->zero_point, out->scale, out->zero_point);
    }
  }
}

void ProbabilityScale(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const Operand* out = op.Output(0);
    if (IsOneOf(op, std::array{kLogistic, kSoftmax}) && out != nullptr && HasQuantization(*out) &&
        (out->scale != 1.0f / 256 || out->zero_point != 0))
      f.Add(op.AtOutput(0), "the output of {} has scale {} and zeroPoint {} instead of 1/256 and 0",
            op.Title(), out->scale, out->zero_point);
  }
}

void BiasNotZero(const Subject& s, Findings& f) {
  EachOperation(s, kLocalResponseNormalization, [&](const OperationAt& op) {
    if (op.Float(2) == 0.0f)
      f.Add(op.AtInput(2), "the bias of {} is 0; it must be nonzero", op.Title());
  });
}

void BetaPositive(const Subject& s, Findings& f) {
  EachOperation(s, kSoftmax, [&](const OperationAt& op) {
    if (const auto beta = op.Float(1); beta && !(*beta > 0))
      f.Add(op.AtInput(1), "the beta of {} is {}; it must be positive", op.Title(), *beta);
  });
}

constexpr Rule kElementwiseRules[] = {
    {.info = {.id = "NNAPI-ELEM-001",
              .statement = "The output of DEQUANTIZE, FLOOR, an activation or a normalization has "
                           "the shape of the input.",
              .clause = "types.hal, OperationType.RELU",
              .vendor = true,
              .hint = "Declare the input's shape for the output."},
     .check = ShapesKept},
    {.info = {.id = "NNAPI-ELEM-002",
              .statement = "The input shapes of ADD and MUL can be broadcast together from the "
                           "last axis on, and the output has the broadcast shape.",
              .clause = "types.hal, OperationType.ADD",
              .vendor = true,
              .hint = "Reshape an input so that sizes are equal or 1 on each axis, and declare the "
                      "broadcast shape for the output."},
     .check = Broadcasts},
    {.info = {.id = "NNAPI-ELEM-003",
              .statement = "The quantized output of pooling, RELU, RELU1, RELU6, RESHAPE, "
                           "CONCATENATION, DEPTH_TO_SPACE, SPACE_TO_DEPTH and lookups has the "
                           "scale and zeroPoint of the data inputs.",
              .clause = "types.hal, OperationType.RELU",
              .vendor = true,
              .hint = "Declare the input's scale and zeroPoint for the output; all inputs of "
                      "CONCATENATION must share them."},
     .check = QuantizationKept},
    {.info = {.id = "NNAPI-ELEM-004",
              .statement =
                  "The quantized output of LOGISTIC and SOFTMAX has scale 1/256 and zeroPoint 0.",
              .clause = "types.hal, OperationType.LOGISTIC",
              .vendor = true,
              .hint = "Set the output's scale to 0.00390625 and its zeroPoint to 0."},
     .check = ProbabilityScale},
    {.info = {.id = "NNAPI-ELEM-005",
              .statement = "The bias of LOCAL_RESPONSE_NORMALIZATION is not 0.",
              .clause = "types.hal, OperationType.LOCAL_RESPONSE_NORMALIZATION",
              .hint = "Set the bias to a value other than 0; 1 is usual."},
     .check = BiasNotZero},
    {.info = {.id = "NNAPI-ELEM-006",
              .statement = "The beta of SOFTMAX is positive.",
              .clause = "types.hal, OperationType.SOFTMAX",
              .vendor = true,
              .hint = "Set beta to a positive value; 1 is usual."},
     .check = BetaPositive},
};

}  // namespace

std::span<const Rule> ElementwiseRules() {
  return kElementwiseRules;
}

}  // namespace nn::nnapi
