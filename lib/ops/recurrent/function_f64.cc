#include "ops/recurrent/function_f64.h"

#include <cmath>

#include "base/arith.h"
#include "numeric/double_functions.h"

namespace nn {
namespace {

double ClippedTo(double x, double low, double high) {
  const double y = low > x ? low : x;
  return high < y ? high : y;
}

}  // namespace

double ApplyInDouble(const RecurrentFunction& f, double clip, double x) {
  const double alpha = f.params()[0];
  const double beta = f.params()[1];
  x = ClippedTo(x, -clip, clip);
  switch (f.activation()) {
    case RecurrentActivation::kAffine:
      return Fma(alpha, x, beta);
    case RecurrentActivation::kElu:
      return x < 0 ? alpha * float64::Expm1(x) : x;
    case RecurrentActivation::kHardSigmoid:
      return ClippedTo(alpha * x + beta, 0, 1);
    case RecurrentActivation::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case RecurrentActivation::kRelu:
      return 0.0 > x ? 0.0 : x;
    case RecurrentActivation::kScaledTanh:
      return alpha * float64::Tanh(beta * x);
    case RecurrentActivation::kSigmoid:
      return float64::Sigmoid(x);
    case RecurrentActivation::kSoftplus:
      return float64::Softplus(x);
    case RecurrentActivation::kSoftsign:
      return std::isinf(x) ? std::copysign(1.0, x) : x / (1 + std::fabs(x));
    case RecurrentActivation::kTanh:
      return float64::Tanh(x);
    case RecurrentActivation::kThresholdedRelu:
      break;
  }
  return x > alpha ? x : 0.0;
}

}  // namespace nn
