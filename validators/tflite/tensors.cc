// Rules of tensors: type, shape, data, quantisation, sparsity.
#include <cmath>

#include "base/checked_math.h"
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

// Bits of one element; 0 for types whose size is not fixed.
int BitsOf(fb::TensorType type) {
  using enum fb::TensorType;
  switch (type) {
    case FLOAT32:
    case INT32:
    case UINT32:
      return 32;
    case FLOAT16:
    case BFLOAT16:
    case INT16:
    case UINT16:
      return 16;
    case UINT8:
    case INT8:
    case BOOL:
      return 8;
    case INT64:
    case UINT64:
    case FLOAT64:
    case COMPLEX64:
      return 64;
    case COMPLEX128:
      return 128;
    case INT4:
      return 4;
    default:
      return 0;
  }
}

void TypesKnown(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors())
    if (at.tensor->type() < fb::TensorType::MIN || at.tensor->type() > fb::TensorType::MAX)
      f.Add(Where(at, "type"), "{} has type {}", Title(at), static_cast<int>(at.tensor->type()));
}

void BuffersInRange(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors())
    if (At(s.root().buffers(), at.tensor->buffer()) == nullptr)
      f.Add(Where(at, "buffer"), "{} is in buffer {} of {}", Title(at), at.tensor->buffer(),
            SizeOf(s.root().buffers()));
}

void ShapesNatural(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors())
    for (const int32_t d : ListOf<int32_t>(at.tensor->shape()))
      if (d < 0) f.Add(Where(at, "shape"), "{} has dimension {}", Title(at), d);
}

void SignatureFitsShape(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const auto shape = ListOf<int32_t>(at.tensor->shape());
    const auto open = ListOf<int32_t>(at.tensor->shape_signature());
    if (open.empty()) continue;
    bool fits = shape.size() == open.size();
    for (size_t i = 0; fits && i < open.size(); ++i) fits = open[i] == -1 || open[i] == shape[i];
    if (!fits)
      f.Add(Where(at, "shape_signature"), "shape_signature and shape of {} differ", Title(at));
  }
}

void DataFitsShape(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const int bits = BitsOf(at.tensor->type());
    if (bits == 0 || at.tensor->sparsity() != nullptr || at.tensor->external_buffer() != 0)
      continue;
    const auto bytes = BufferBytes(s.native(), at.tensor->buffer());
    const auto elements = CheckedElements(ListOf<int64_t>(at.tensor->shape()));
    if (!bytes || bytes->empty() || !elements) continue;
    const auto total = CheckedMul<int64_t>(*elements, bits);
    if (!total || static_cast<uint64_t>(CeilDiv(*total, int64_t{8})) != bytes->size())
      f.Add(Where(at, "buffer"), "{} has {} bytes; {} elements of {} bits are needed", Title(at),
            bytes->size(), *elements, bits);
  }
}

// The scales and zero points of a tensor that is quantised; nullptr otherwise.
const fb::QuantizationParameters* QuantisationOf(const TensorAt& at) {
  const auto* q = at.tensor->quantization();
  return q != nullptr && SizeOf(q->scale()) > 0 ? q : nullptr;
}

void QuantisationLengths(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const auto* q = QuantisationOf(at);
    if (q == nullptr) continue;
    const int64_t scales = SizeOf(q->scale());
    const int64_t zeros = SizeOf(q->zero_point());
    if (zeros != scales && zeros != 0)
      f.Add(Where(at, "quantization"), "{} has {} scales and {} zero points", Title(at), scales,
            zeros);
    if (scales == 1) continue;
    const auto shape = ListOf<int32_t>(at.tensor->shape());
    // Writers leave the axis of the weights in the bias, which has one axis only.
    const int64_t axis = shape.size() == 1 ? 0 : q->quantized_dimension();
    if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
      f.Add(Where(at, "quantization.quantized_dimension"),
            "{} of rank {} is quantised along axis {}", Title(at), shape.size(), axis);
    else if (shape[static_cast<size_t>(axis)] != scales)
      f.Add(Where(at, "quantization.scale"), "{} has {} scales for axis {} of {} elements",
            Title(at), scales, axis, shape[static_cast<size_t>(axis)]);
  }
}

void ScalesValid(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors())
    if (const auto* q = QuantisationOf(at))
      for (const float scale : *q->scale())
        if (!(scale >= 0) || std::isinf(scale)) {
          f.Add(Where(at, "quantization.scale"), "{} has scale {}", Title(at), scale);
          break;
        }
}

void ZeroPointsInRange(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const auto* q = QuantisationOf(at);
    const bool is_wide = at.tensor->type() == fb::TensorType::INT16;
    const bool narrow = at.tensor->type() == fb::TensorType::INT8 ||
                        at.tensor->type() == fb::TensorType::UINT8 || is_wide;
    if (q == nullptr || !narrow) continue;
    const int bits = is_wide ? 16 : 8;
    const bool is_signed = at.tensor->type() != fb::TensorType::UINT8;
    const int64_t low = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
    const int64_t high = low + (int64_t{1} << bits) - 1;
    for (const int64_t zero : ListOf<int64_t>(q->zero_point()))
      if (zero < low || zero > high) {
        f.Add(Where(at, "quantization.zero_point"), "{} has zero point {}, outside of [{}, {}]",
              Title(at), zero, low, high);
        break;
      }
  }
}

void SparsityFits(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const auto* sparsity = at.tensor->sparsity();
    if (sparsity == nullptr) continue;
    const int64_t rank = SizeOf(at.tensor->shape());
    const int64_t blocks = SizeOf(sparsity->block_map());
    const auto order = ListOf<int32_t>(sparsity->traversal_order());
    std::vector<bool> seen(order.size());
    bool permutation = static_cast<int64_t>(order.size()) == rank + blocks;
    for (const int32_t axis : order) {
      const bool good = axis >= 0 && axis < static_cast<int64_t>(order.size()) &&
                        !seen[static_cast<size_t>(axis)];
      permutation = permutation && good;
      if (good) seen[static_cast<size_t>(axis)] = true;
    }
    if (!permutation || SizeOf(sparsity->dim_metadata()) != static_cast<int64_t>(order.size()))
      f.Add(Where(at, "sparsity"), "the order of {} of rank {} with {} blocks is no permutation",
            Title(at), rank, blocks);
    for (const int32_t axis : ListOf<int32_t>(sparsity->block_map()))
      if (axis < 0 || axis >= rank)
        f.Add(Where(at, "sparsity.block_map"), "{} has blocks along axis {} of {}", Title(at), axis,
              rank);
  }
}

constexpr Rule kRules[] = {
    {{"TFLITE-TENSOR-001", Severity::kError, "Types are known.", "schema.fbs, TensorType", true,
      ""},
     TypesKnown},
    {{"TFLITE-TENSOR-002", Severity::kError, "Tensors are in buffers of the model.",
      "schema.fbs, Tensor.buffer", true, ""},
     BuffersInRange},
    {{"TFLITE-TENSOR-003", Severity::kError, "Dimensions are not negative.",
      "schema.fbs, Tensor.shape", true, "An unknown size is 1 in shape and -1 in shape_signature."},
     ShapesNatural},
    {{"TFLITE-TENSOR-004", Severity::kError, "shape_signature is shape with -1 for unknown sizes.",
      "schema.fbs, Tensor.shape_signature", false, ""},
     SignatureFitsShape},
    {{"TFLITE-TENSOR-005", Severity::kError, "Constants have the bytes that type and shape need.",
      "schema.fbs, Tensor.buffer", true, ""},
     DataFitsShape},
    {{"TFLITE-TENSOR-006", Severity::kError,
      "There is one scale, or one for each element of the quantised axis, and as many zero points.",
      "schema.fbs, QuantizationParameters", true, ""},
     QuantisationLengths},
    {{"TFLITE-TENSOR-007", Severity::kError, "Scales are finite and not negative.",
      "schema.fbs, QuantizationParameters.scale", false, ""},
     ScalesValid},
    {{"TFLITE-TENSOR-008", Severity::kError, "Zero points are in the range of the type.",
      "schema.fbs, QuantizationParameters.zero_point", false, ""},
     ZeroPointsInRange},
    {{"TFLITE-TENSOR-009", Severity::kError, "Sparse tensors order their axes and blocks.",
      "schema.fbs, SparsityParameters", true, ""},
     SparsityFits},
};

}  // namespace

std::span<const Rule> TensorRules() {
  return kRules;
}

}  // namespace nn::tflite
