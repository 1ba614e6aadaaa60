// Rules of elementwise operations, and of quantisation that passes through unchanged.
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

// Output 0 has the quantisation of input 0, or of another one.
constexpr std::array kSameQuantisation = {
    kAveragePool2d, kDepthToSpace,  kMaxPool2d,       kRelu,           kRelu1, kRelu6, kReshape,
    kSpaceToDepth,  kConcatenation, kEmbeddingLookup, kHashtableLookup};

void ShapesKept(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const Dims* in = op.InputDims(0);
    const Dims* out = op.OutputDims(0);
    if (IsOneOf(op, kSameShape) && in != nullptr && out != nullptr && !Agree(*in, *out))
      f.Add(op.AtOutput(0), "{} takes {} and gives {}", op.Title(), DimsText(*in), DimsText(*out));
  }
}

// The shape of a op b; nullopt if they do not go together.
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
      f.Add(op.Where("inputs"), "{} cannot join {} and {}", op.Title(), DimsText(*a), DimsText(*b));
    else if (out != nullptr && !Agree(*want, *out))
      f.Add(op.AtOutput(0), "{} gives {}, its output is {}", op.Title(), DimsText(*want),
            DimsText(*out));
  }
}

// The inputs whose quantisation the output keeps.
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

void QuantisationKept(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const Operand* out = op.Output(0);
    if (!IsOneOf(op, kSameQuantisation) || out == nullptr || !HasQuantisation(*out)) continue;
    for (const size_t i : Sources(op)) {
      const Operand* in = op.Input(i);
      if (in != nullptr && HasQuantisation(*in) &&
          (in->scale != out->scale || in->zero_point != out->zero_point))
        f.Add(op.AtOutput(0), "input {} of {} has scale {} and zeroPoint {}, its output {} and {}",
              i, op.Title(), in->scale, in->zero_point, out->scale, out->zero_point);
    }
  }
}

void ProbabilityScale(const Subject& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const Operand* out = op.Output(0);
    if (IsOneOf(op, std::array{kLogistic, kSoftmax}) && out != nullptr && HasQuantisation(*out) &&
        (out->scale != 1.0f / 256 || out->zero_point != 0))
      f.Add(op.AtOutput(0), "the output of {} has scale {} and zeroPoint {}", op.Title(),
            out->scale, out->zero_point);
  }
}

void BiasNotZero(const Subject& s, Findings& f) {
  EachOperation(s, kLocalResponseNormalization, [&](const OperationAt& op) {
    if (op.Float(2) == 0.0f) f.Add(op.AtInput(2), "the bias of {} is 0", op.Title());
  });
}

void BetaPositive(const Subject& s, Findings& f) {
  EachOperation(s, kSoftmax, [&](const OperationAt& op) {
    if (const auto beta = op.Float(1); beta && !(*beta > 0))
      f.Add(op.AtInput(1), "beta of {} is {}", op.Title(), *beta);
  });
}

constexpr Rule kRules[] = {
    {{"NNAPI-ELEM-001", Severity::kError,
      "Activations, normalisations and DEQUANTIZE keep the shape of their input.",
      "types.hal, OperationType.RELU", true, "Declare the shape of the input."},
     ShapesKept},
    {{"NNAPI-ELEM-002", Severity::kError,
      "Shapes of ADD and MUL go together axis by axis from the last one; the output is the larger.",
      "types.hal, OperationType.ADD", true, "Reshape one of them, or declare the larger shape."},
     Broadcasts},
    {{"NNAPI-ELEM-003", Severity::kError,
      "Operations that only select or move elements keep scale and zeroPoint.",
      "types.hal, OperationType.RELU", true, "Declare scale and zeroPoint of the input."},
     QuantisationKept},
    {{"NNAPI-ELEM-004", Severity::kError,
      "Quantised outputs of LOGISTIC and SOFTMAX have scale 1/256 and zeroPoint 0.",
      "types.hal, OperationType.LOGISTIC", true,
      "Declare 0.00390625 and 0; what follows may have another scale."},
     ProbabilityScale},
    {{"NNAPI-ELEM-005", Severity::kError, "The bias of LOCAL_RESPONSE_NORMALIZATION is not 0.",
      "types.hal, OperationType.LOCAL_RESPONSE_NORMALIZATION", false, "Add a small bias."},
     BiasNotZero},
    {{"NNAPI-ELEM-006", Severity::kError, "Beta of SOFTMAX is positive.",
      "types.hal, OperationType.SOFTMAX", true, "1 is the usual value."},
     BetaPositive},
};

}  // namespace

std::span<const Rule> ElementwiseRules() {
  return kRules;
}

}  // namespace nn::nnapi
