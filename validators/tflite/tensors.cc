// Rules of tensors: type, shape, data, quantisation, sparsity.
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checked_math.h"
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

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
    if (bits == 0 || at.tensor->sparsity() != nullptr) continue;
    const uint32_t external = at.tensor->external_buffer();
    const auto bytes = external != 0 ? ExternalBytes(s.native(), external)
                                     : BufferBytes(s.native(), at.tensor->buffer());
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
    if (zeros != scales)
      f.Add(Where(at, "quantization.zero_point"), "{} has {} scales and {} zero points", Title(at),
            scales, zeros);
    const auto shape = ListOf<int32_t>(at.tensor->shape());
    // Writers leave the axis of the weights in the bias, which has one axis only.
    const bool bias = shape.size() == 1 && at.tensor->type() == fb::TensorType::INT32;
    const int64_t axis = bias ? 0 : q->quantized_dimension();
    const auto rank = static_cast<int64_t>(shape.size());
    if (axis < 0 || (rank > 0 && axis >= rank))
      f.Add(Where(at, "quantization.quantized_dimension"),
            "{} of rank {} is quantised along axis {}", Title(at), rank, axis);
    else if (rank > 0 && scales != 1 && shape[static_cast<size_t>(axis)] != scales)
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

// The product of the sizes that are more than 1 is a number of 32 bits.
void ElementsCounted(const Subject& s, Findings& f) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  for (const TensorAt& at : s.tensors()) {
    int64_t elements = 1;
    for (const int32_t d : ListOf<int32_t>(at.tensor->shape())) {
      if (d > 1) elements *= d;
      if (elements <= kMost) continue;
      f.Add(Where(at, "shape"), "{} has more than {} elements", Title(at), kMost);
      break;
    }
  }
}

bool HasData(const Subject& s, const fb::Tensor& tensor) {
  const fb::Buffer* buffer = At(s.root().buffers(), tensor.buffer());
  return tensor.buffer() != 0 && buffer != nullptr &&
         (buffer->data() != nullptr || buffer->offset() > 1);
}

void VariablesWithoutData(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    if (at.tensor->is_variable() && HasData(s, *at.tensor))
      f.Add(Where(at, "is_variable"), "{} is a variable and has contents in buffer {}", Title(at),
            at.tensor->buffer());
    else if (at.tensor->external_buffer() != 0 && HasData(s, *at.tensor))
      f.Add(Where(at, "external_buffer"), "{} has contents in buffer {} and external buffer {}",
            Title(at), at.tensor->buffer(), at.tensor->external_buffer());
    else if (at.tensor->is_variable() && (at.tensor->type() == fb::TensorType::STRING ||
                                          at.tensor->type() == fb::TensorType::RESOURCE ||
                                          at.tensor->type() == fb::TensorType::VARIANT))
      f.Add(Where(at, "is_variable"), "{} is a variable of {}", Title(at),
            fb::EnumNameTensorType(at.tensor->type()));
  }
}

uint32_t WordAt(const Blob& bytes, size_t i) {
  uint32_t word;
  std::memcpy(&word, bytes.data() + i * sizeof(word), sizeof(word));
  return word;
}

// What is wrong with the bytes of strings: their number, where each begins and the last one ends.
std::string StringsProblem(const Blob& bytes) {
  if (bytes.size() < sizeof(uint32_t)) return fmt::format("{} bytes", bytes.size());
  const uint64_t count = WordAt(bytes, 0);
  const uint64_t header = (count + 2) * sizeof(uint32_t);
  if (header > bytes.size())
    return fmt::format("{} bytes for {} strings, which take {} and more", bytes.size(), count,
                       header);
  if (WordAt(bytes, 1) != header)
    return fmt::format("the first string begins at {}, not {}", WordAt(bytes, 1), header);
  for (size_t i = 1; i <= count; ++i)
    if (WordAt(bytes, i + 1) < WordAt(bytes, i) || WordAt(bytes, i + 1) > bytes.size())
      return fmt::format("string {} ends at {} of {} bytes", i - 1, WordAt(bytes, i + 1),
                         bytes.size());
  if (WordAt(bytes, static_cast<size_t>(count) + 1) != bytes.size())
    return fmt::format("the strings end at {} of {} bytes",
                       WordAt(bytes, static_cast<size_t>(count) + 1), bytes.size());
  return {};
}

void StringsLaidOut(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    if (at.tensor->type() != fb::TensorType::STRING || !HasData(s, *at.tensor)) continue;
    const auto bytes = BufferBytes(s.native(), at.tensor->buffer());
    if (!bytes) continue;
    if (const std::string problem = StringsProblem(*bytes); !problem.empty())
      f.Add(Where(at, "buffer"), "{}: {}", Title(at), problem);
  }
}

void CheckScaleTensor(Findings& f, const TensorAt& at, int64_t tensors, std::string_view field,
                      int64_t index, bool optional) {
  if (index >= tensors || index < (optional ? -1 : 0))
    f.Add(Where(at, "quantization.details"), "{}: {} is tensor {} of {}", Title(at), field, index,
          tensors);
}

void DetailsResolve(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const auto* q = at.tensor->quantization();
    if (q == nullptr) continue;
    const int64_t tensors = SizeOf(At(s.root().subgraphs(), at.graph)->tensors());
    const Location where = Where(at, "quantization.details");
    if (const auto* b = q->details_as_BlockwiseQuantization()) {
      CheckScaleTensor(f, at, tensors, "scales", b->scales(), false);
      CheckScaleTensor(f, at, tensors, "zero_points", b->zero_points(), true);
      if (b->block_size() < 1) f.Add(where, "{} has blocks of {}", Title(at), b->block_size());
    }
    const auto* m = q->details_as_MultiAxisQuantization();
    if (m == nullptr) continue;
    CheckScaleTensor(f, at, tensors, "scales", m->scales(), false);
    CheckScaleTensor(f, at, tensors, "zero_points", m->zero_points(), true);
    if (m->block_size() < 0) f.Add(where, "{} has blocks of {}", Title(at), m->block_size());
    if (SizeOf(m->quantized_dimensions()) == 0)
      f.Add(where, "{} is quantised along no axes", Title(at));
    const int64_t rank = SizeOf(at.tensor->shape());
    for (const int32_t axis : ListOf<int32_t>(m->quantized_dimensions()))
      if (axis < 0 || (rank > 0 && axis >= rank))
        f.Add(where, "{} of rank {} is quantised along axis {}", Title(at), rank, axis);
  }
}

void VariantsDescribed(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const int64_t n = SizeOf(at.tensor->variant_tensors());
    if (n > 1 || (n == 1 && at.tensor->type() != fb::TensorType::VARIANT))
      f.Add(Where(at, "variant_tensors"), "{} of type {} has {} descriptions of variants",
            Title(at), static_cast<int>(at.tensor->type()), n);
    const fb::VariantSubType* sub = At(at.tensor->variant_tensors(), 0);
    if (sub != nullptr && !sub->has_rank() && SizeOf(sub->shape()) > 0)
      f.Add(Where(at, "variant_tensors"), "{} has a variant of unknown rank with {} sizes",
            Title(at), SizeOf(sub->shape()));
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
    {{"TFLITE-TENSOR-010", Severity::kError, "The elements of a tensor can be counted in 31 bits.",
      "schema.fbs, Tensor.shape; the verifier", true, ""},
     ElementsCounted},
    {{"TFLITE-TENSOR-011", Severity::kError,
      "Variables have no contents in the file and are of plain types; external contents are the "
      "only ones.",
      "schema.fbs, Tensor.is_variable, Tensor.external_buffer; InterpreterBuilder", true, ""},
     VariablesWithoutData},
    {{"TFLITE-TENSOR-012", Severity::kError,
      "Strings are their number, where each begins, where the last one ends, and their text.",
      "schema.fbs, TensorType; the verifier", true, ""},
     StringsLaidOut},
    {{"TFLITE-TENSOR-013", Severity::kError,
      "Quantisation by blocks or several axes names tensors and axes that there are.",
      "schema.fbs, BlockwiseQuantization, MultiAxisQuantization; InterpreterBuilder", true, ""},
     DetailsResolve},
    {{"TFLITE-TENSOR-014", Severity::kError, "A VARIANT has one description, other tensors none.",
      "schema.fbs, Tensor.variant_tensors", false, ""},
     VariantsDescribed},
};

}  // namespace

std::span<const Rule> TensorRules() {
  return kRules;
}

}  // namespace nn::tflite
