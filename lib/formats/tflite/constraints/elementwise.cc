// Preparation of operators that compute element by element.
#include <algorithm>

#include "formats/tflite/constraints/operation.h"

namespace nn::tflite::constraints {
namespace {

using Op = fb::BuiltinOperator;

// The dimension that two dimensions broadcast to; -2 if they cannot be broadcast, -1 if it is
// unknown.
int64_t BroadcastSize(int64_t a, int64_t b) {
  if (a == 1) return b;
  if (b == 1 || a == b) return a;
  if (a < 0 || b < 0) return std::max(a, b) > 1 ? std::max(a, b) : -1;
  return -2;
}

// The shape that two shapes broadcast to; nullopt if a rank is unknown or `fits` is set to false.
std::optional<Dims> Broadcast(const std::optional<Dims>& a, const std::optional<Dims>& b,
                              bool& fits) {
  fits = true;
  if (!a || !b) return std::nullopt;
  Dims out(std::max(a->size(), b->size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const auto size = [&](const Dims& d) { return i < d.size() ? d[d.size() - 1 - i] : 1; };
    const int64_t both = BroadcastSize(size(*a), size(*b));
    if (both == -2) {
      fits = false;
      return std::nullopt;
    }
    out[out.size() - 1 - i] = both;
  }
  return out;
}

// Gives output 0 the shape that the first `count` inputs broadcast to.
void BroadcastInputs(Operation& o, int count) {
  if (!o.AllPresent(count)) return;
  std::optional<Dims> shape = o.in(0)->dims;
  for (int i = 1; i < count; ++i) {
    bool fits = true;
    auto both = Broadcast(shape, o.in(i)->dims, fits);
    if (!fits)
      return o.Fail(Check::kBroadcast, "shapes {} and {} cannot be broadcast to a common shape",
                    ShapeText(shape), ShapeText(o.in(i)->dims));
    shape = std::move(both);
  }
  o.Give(0, shape);
}

void Binary(Operation& o) {
  BroadcastInputs(o, 2);
}

void Prelu(Operation& o) {
  BroadcastInputs(o, 2);
  if (o.failed() || !o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  const Value* y = o.out(0);
  if (y == nullptr || !y->dims || !x.dims) return;
  bool same = x.rank() == y->rank();
  for (int64_t i = 0; same && i < x.rank(); ++i) same = !Differ(x.dim(i), y->dim(i));
  if (!same)
    o.Fail(Check::kBroadcast, "alpha of shape {} broadcasts x of shape {} to {}",
           ShapeText(o.in(1)->dims), ShapeText(x.dims), ShapeText(y->dims));
}

bool MayBeSame(const std::optional<Dims>& a, const std::optional<Dims>& b) {
  if (!a || !b) return true;
  if (a->size() != b->size()) return false;
  for (size_t i = 0; i < a->size(); ++i)
    if (Differ((*a)[i], (*b)[i])) return false;
  return true;
}

// All inputs have the same shape, which is also that of the output.
void AllAlike(Operation& o) {
  for (int i = 1; i < o.inputs(); ++i)
    if (o.in(0) != nullptr && o.in(i) != nullptr && !MayBeSame(o.in(0)->dims, o.in(i)->dims))
      return o.Fail(Check::kSameShapes, "input 0 has shape {} but input {} has shape {}",
                    ShapeText(o.in(0)->dims), i, ShapeText(o.in(i)->dims));
  KeepShape(o);
}

void Atan2(Operation& o) {
  if (o.AllPresent(2) && Differ(o.in(0)->rank(), o.in(1)->rank()))
    return o.Fail(Check::kSameShapes, "y has rank {} but x has rank {}", o.in(0)->rank(),
                  o.in(1)->rank());
  KeepShape(o);
}

void SelectV1(Operation& o) {
  if (!o.AllPresent(3)) return;
  const Value& condition = *o.in(0);
  const Value& a = *o.in(1);
  if (condition.elements() == 1 && a.elements() == 1 && o.in(2)->elements() == 1) return;
  if (!MayBeSame(a.dims, o.in(2)->dims))
    return o.Fail(Check::kSelect, "a has shape {} but b has shape {}", ShapeText(a.dims),
                  ShapeText(o.in(2)->dims));
  const bool by_row = condition.rank() == 1 && !Differ(condition.dim(0), a.dim(0));
  if (condition.rank() > 0 && !by_row && !MayBeSame(condition.dims, a.dims))
    return o.Fail(
        Check::kSelect,
        "the condition has shape {}; expected the shape of a, {}, one element for each of "
        "its rows, or a scalar",
        ShapeText(condition.dims), ShapeText(a.dims));
  o.Give(0, a.dims);
}

void SelectV2(Operation& o) {
  BroadcastInputs(o, 3);
}

void Mul(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_MulOptions();
  if (o.out(0) != nullptr && o.out(0)->type == fb::TensorType::COMPLEX64 && options != nullptr &&
      options->fused_activation_function() != fb::ActivationFunctionType::NONE)
    o.Fail(Check::kActivation,
           "fused_activation_function is {}; expected NONE for a complex product",
           fb::EnumNameActivationFunctionType(options->fused_activation_function()));
  BroadcastInputs(o, 2);
}

void Bucketize(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_BucketizeOptions();
  if (options == nullptr) return;
  if (options->boundaries() == nullptr)
    return o.Fail(Check::kOptionValues, "the boundaries option is missing");
  const auto b = ListOf<float>(options->boundaries());
  const auto at = std::is_sorted_until(b.begin(), b.end());
  if (at != b.end())
    return o.Fail(Check::kOptionValues, "boundaries[{}] is {}, less than the previous {}",
                  at - b.begin(), *at, *(at - 1));
  KeepShape(o);
}

void FakeQuant(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_FakeQuantOptions();
  if (options != nullptr && options->narrow_range())
    return o.Fail(Check::kOptionValues,
                  "narrow_range is set, which the interpreter does not support");
  KeepShape(o);
}

// The size of an element in bytes; 0 if it is not a whole number.
int64_t BytesOf(fb::TensorType type) {
  switch (type) {
    case fb::TensorType::INT8:
    case fb::TensorType::UINT8:
    case fb::TensorType::BOOL:
      return 1;
    case fb::TensorType::INT16:
    case fb::TensorType::UINT16:
    case fb::TensorType::FLOAT16:
    case fb::TensorType::BFLOAT16:
      return 2;
    case fb::TensorType::FLOAT32:
    case fb::TensorType::INT32:
    case fb::TensorType::UINT32:
      return 4;
    case fb::TensorType::FLOAT64:
    case fb::TensorType::INT64:
    case fb::TensorType::UINT64:
    case fb::TensorType::COMPLEX64:
      return 8;
    default:
      return 0;
  }
}

void Bitcast(Operation& o) {
  const Value* x = o.in(0);
  const Value* y = o.out(0);
  if (x == nullptr || y == nullptr || !x->dims) return;
  const int64_t from = BytesOf(x->type);
  const int64_t to = BytesOf(y->type);
  if (from == 0 || to == 0) return;
  Dims dims = *x->dims;
  if (from > to) {
    dims.push_back(from / to);
  } else if (from < to) {
    if (dims.empty() || Differ(dims.back(), to / from))
      return o.Fail(Check::kBitcast,
                    "x is {} of shape {}; the last axis needs {} elements to form one {}",
                    fb::EnumNameTensorType(x->type), ShapeText(x->dims), to / from,
                    fb::EnumNameTensorType(y->type));
    dims.pop_back();
  }
  o.Give(0, dims);
}

constexpr Preparation kElementwisePreparations[] = {
    {Op::ADD, Binary},
    {Op::SUB, Binary},
    {Op::MUL, Mul},
    {Op::DIV, Binary},
    {Op::FLOOR_DIV, Binary},
    {Op::FLOOR_MOD, Binary},
    {Op::POW, Binary},
    {Op::MAXIMUM, Binary},
    {Op::MINIMUM, Binary},
    {Op::SQUARED_DIFFERENCE, Binary},
    {Op::EQUAL, Binary},
    {Op::NOT_EQUAL, Binary},
    {Op::LESS, Binary},
    {Op::LESS_EQUAL, Binary},
    {Op::GREATER, Binary},
    {Op::GREATER_EQUAL, Binary},
    {Op::LOGICAL_AND, Binary},
    {Op::LOGICAL_OR, Binary},
    {Op::BITWISE_XOR, Binary},
    {Op::RIGHT_SHIFT, Binary},
    {Op::PRELU, Prelu},
    {Op::ADD_N, AllAlike},
    {Op::ATAN2, Atan2},
    {Op::SELECT, SelectV1},
    {Op::SELECT_V2, SelectV2},
    {Op::BUCKETIZE, Bucketize},
    {Op::FAKE_QUANT, FakeQuant},
    {Op::BITCAST, Bitcast},
    {Op::STABLEHLO_ADD, AllAlike},
    {Op::STABLEHLO_AND, AllAlike},
    {Op::STABLEHLO_MAXIMUM, AllAlike},
    {Op::STABLEHLO_MINIMUM, AllAlike},
    {Op::STABLEHLO_MULTIPLY, AllAlike},
    {Op::STABLEHLO_SHIFT_LEFT, KeepShape},
    {Op::ABS, KeepShape},
    {Op::CAST, KeepShape},
    {Op::CEIL, KeepShape},
    {Op::COMPLEX_ABS, KeepShape},
    {Op::COS, KeepShape},
    {Op::DENSIFY, KeepShape},
    {Op::DEQUANTIZE, KeepShape},
    {Op::ELU, KeepShape},
    {Op::EXP, KeepShape},
    {Op::FLOOR, KeepShape},
    {Op::GELU, KeepShape},
    {Op::HARD_SWISH, KeepShape},
    {Op::IMAG, KeepShape},
    {Op::L2_NORMALIZATION, KeepShape},
    {Op::LEAKY_RELU, KeepShape},
    {Op::LOCAL_RESPONSE_NORMALIZATION, KeepShape},
    {Op::LOG, KeepShape},
    {Op::LOGICAL_NOT, KeepShape},
    {Op::LOGISTIC, KeepShape},
    {Op::LOG_SOFTMAX, KeepShape},
    {Op::NEG, KeepShape},
    {Op::QUANTIZE, KeepShape},
    {Op::REAL, KeepShape},
    {Op::RELU, KeepShape},
    {Op::RELU6, KeepShape},
    {Op::RELU_0_TO_1, KeepShape},
    {Op::RELU_N1_TO_1, KeepShape},
    {Op::ROUND, KeepShape},
    {Op::RSQRT, KeepShape},
    {Op::SIGN, KeepShape},
    {Op::SIN, KeepShape},
    {Op::SOFTMAX, KeepShape},
    {Op::SQRT, KeepShape},
    {Op::SQUARE, KeepShape},
    {Op::TANH, KeepShape},
    {Op::ZEROS_LIKE, KeepShape},
    {Op::REVERSE_SEQUENCE, KeepShape},
    {Op::STABLEHLO_SCATTER, KeepShape},
};

}  // namespace

std::span<const Preparation> ElementwisePreparations() {
  return kElementwisePreparations;
}

}  // namespace nn::tflite::constraints
