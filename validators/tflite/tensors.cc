// Rules about tensors: type, shape, data, quantization.
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checked_math.h"
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

void TypesKnown(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors())
    if (at.tensor->type() < fb::TensorType::MIN || at.tensor->type() > fb::TensorType::MAX)
      f.Add(Where(at, "type"), "{} has the unknown type {}", Title(at),
            static_cast<int>(at.tensor->type()));
}

void BuffersInRange(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors())
    if (At(s.root().buffers(), at.tensor->buffer()) == nullptr)
      f.Add(Where(at, "buffer"), "{} refers to buffer {}, out of range [0, {})", Title(at),
            at.tensor->buffer(), SizeOf(s.root().buffers()));
}

void ShapesNatural(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors())
    for (const int32_t d : ListOf<int32_t>(at.tensor->shape()))
      if (d < 0) f.Add(Where(at, "shape"), "{} has the negative dimension {}", Title(at), d);
}

void SignatureFitsShape(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const auto shape = ListOf<int32_t>(at.tensor->shape());
    const auto open = ListOf<int32_t>(at.tensor->shape_signature());
    if (open.empty()) continue;
    if (shape.size() != open.size()) {
      f.Add(Where(at, "shape_signature"), "{} has {} dimensions in shape but {} in shape_signature",
            Title(at), shape.size(), open.size());
      continue;
    }
    for (size_t i = 0; i < open.size(); ++i)
      if (open[i] != -1 && open[i] != shape[i]) {
        f.Add(Where(at, "shape_signature"), "{} has shape_signature[{}] = {}; expected -1 or {}",
              Title(at), i, open[i], shape[i]);
        break;
      }
  }
}

void DataFitsShape(const RuleContext& s, Findings& f) {
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
      f.Add(Where(at, "buffer"),
            "{} has {} bytes of data; its shape and type require {} elements of {} bits", Title(at),
            bytes->size(), *elements, bits);
  }
}

// The scales and zero points of a quantized tensor; nullptr for others.
const fb::QuantizationParameters* QuantizationOf(const TensorAt& at) {
  const auto* q = at.tensor->quantization();
  return q != nullptr && SizeOf(q->scale()) > 0 ? q : nullptr;
}

void QuantizationLengths(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const auto* q = QuantizationOf(at);
    if (q == nullptr) continue;
    const int64_t scales = SizeOf(q->scale());
    const int64_t zeros = SizeOf(q->zero_point());
    if (zeros != scales)
      f.Add(Where(at, "quantization.zero_point"), "{} has {} scales but {} zero points", Title(at),
            scales, zeros);
    const auto shape = ListOf<int32_t>(at.tensor->shape());
    // Some writers leave the axis of the weights in the bias, which has only one axis.
    const bool bias = shape.size() == 1 && at.tensor->type() == fb::TensorType::INT32;
    const int64_t axis = bias ? 0 : q->quantized_dimension();
    const auto rank = static_cast<int64_t>(shape.size());
    if (axis < 0 || (rank > 0 && axis >= rank))
      f.Add(Where(at, "quantization.quantized_dimension"),
            "{} has rank {} but is quantized along axis {}", Title(at), rank, axis);
    else if (rank > 0 && scales != 1 && shape[static_cast<size_t>(axis)] != scales)
      f.Add(Where(at, "quantization.scale"), "{} has {} scales, but axis {} has {} elements",
            Title(at), scales, axis, shape[static_cast<size_t>(axis)]);
  }
}

void ScalesValid(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors())
    if (const auto* q = QuantizationOf(at))
      for (const float scale : *q->scale())
        if (!(scale >= 0) || std::isinf(scale)) {
          f.Add(Where(at, "quantization.scale"),
                "{} has scale {}; expected a finite number of at least 0", Title(at), scale);
          break;
        }
}

void ZeroPointsInRange(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const auto* q = QuantizationOf(at);
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
        f.Add(Where(at, "quantization.zero_point"), "{} has zero point {}, out of range [{}, {}]",
              Title(at), zero, low, high);
        break;
      }
  }
}

// The product of the dimensions above 1 fits in 32 bits.
void ElementsCounted(const RuleContext& s, Findings& f) {
  // Limit of validation: elements of a tensor of TensorFlow Lite.
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  for (const TensorAt& at : s.tensors()) {
    int64_t elements = 1;
    for (const int32_t d : ListOf<int32_t>(at.tensor->shape())) {
      if (d > 1) elements *= d;
      if (elements <= kMax) continue;
      f.Add(Where(at, "shape"), "{} has more than {} elements", Title(at), kMax);
      break;
    }
  }
}

bool HasData(const RuleContext& s, const fb::Tensor& tensor) {
  const fb::Buffer* buffer = At(s.root().buffers(), tensor.buffer());
  return tensor.buffer() != 0 && buffer != nullptr &&
         (buffer->data() != nullptr || buffer->offset() > 1);
}

void VariablesWithoutData(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    if (at.tensor->is_variable() && HasData(s, *at.tensor))
      f.Add(Where(at, "is_variable"), "{} is a variable but has data in buffer {}", Title(at),
            at.tensor->buffer());
    else if (at.tensor->external_buffer() != 0 && HasData(s, *at.tensor))
      f.Add(Where(at, "external_buffer"), "{} has data both in buffer {} and in external buffer {}",
            Title(at), at.tensor->buffer(), at.tensor->external_buffer());
    else if (at.tensor->is_variable() && (at.tensor->type() == fb::TensorType::STRING ||
                                          at.tensor->type() == fb::TensorType::RESOURCE ||
                                          at.tensor->type() == fb::TensorType::VARIANT))
      f.Add(Where(at, "is_variable"), "{} is a variable of type {}, which variables cannot have",
            Title(at), fb::EnumNameTensorType(at.tensor->type()));
  }
}

uint32_t WordAt(const Blob& bytes, size_t i) {
  uint32_t word;
  std::memcpy(&word, bytes.data() + i * sizeof(word), sizeof(word));
  return word;
}

// What is wrong with the data of a STRING tensor: the number of strings, the offset of each, the
// end of the last one, the text. Empty if nothing is.
std::string StringsProblem(const Blob& bytes) {
  if (bytes.size() < sizeof(uint32_t))
    return fmt::format("the data has {} bytes; expected at least {}", bytes.size(),
                       sizeof(uint32_t));
  const uint64_t count = WordAt(bytes, 0);
  const uint64_t header = (count + 2) * sizeof(uint32_t);
  if (header > bytes.size())
    return fmt::format("the data has {} bytes; {} strings need at least {}", bytes.size(), count,
                       header);
  if (WordAt(bytes, 1) != header)
    return fmt::format("the first string begins at offset {}; expected {}", WordAt(bytes, 1),
                       header);
  for (size_t i = 1; i <= count; ++i)
    if (WordAt(bytes, i + 1) < WordAt(bytes, i) || WordAt(bytes, i + 1) > bytes.size())
      return fmt::format("string {} begins at offset {} and ends at {} of {} bytes", i - 1,
                         WordAt(bytes, i), WordAt(bytes, i + 1), bytes.size());
  if (WordAt(bytes, static_cast<size_t>(count) + 1) != bytes.size())
    return fmt::format("the last string ends at offset {}; the data has {} bytes",
                       WordAt(bytes, static_cast<size_t>(count) + 1), bytes.size());
  return {};
}

void StringsLaidOut(const RuleContext& s, Findings& f) {
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
    f.Add(Where(at, "quantization.details"), "{}: {} refers to tensor {}, out of range [0, {})",
          Title(at), field, index, tensors);
}

void DetailsResolve(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const auto* q = at.tensor->quantization();
    if (q == nullptr) continue;
    const int64_t tensors = SizeOf(At(s.root().subgraphs(), at.graph)->tensors());
    const Location where = Where(at, "quantization.details");
    if (const auto* b = q->details_as_BlockwiseQuantization()) {
      CheckScaleTensor(f, at, tensors, "scales", b->scales(), false);
      CheckScaleTensor(f, at, tensors, "zero_points", b->zero_points(), true);
      if (b->block_size() < 1)
        f.Add(where, "{} has block_size {}; expected at least 1", Title(at), b->block_size());
    }
    const auto* m = q->details_as_MultiAxisQuantization();
    if (m == nullptr) continue;
    CheckScaleTensor(f, at, tensors, "scales", m->scales(), false);
    CheckScaleTensor(f, at, tensors, "zero_points", m->zero_points(), true);
    if (m->block_size() < 0)
      f.Add(where, "{} has block_size {}; expected at least 0", Title(at), m->block_size());
    if (SizeOf(m->quantized_dimensions()) == 0)
      f.Add(where, "{} has no quantized_dimensions", Title(at));
    const int64_t rank = SizeOf(at.tensor->shape());
    for (const int32_t axis : ListOf<int32_t>(m->quantized_dimensions()))
      if (axis < 0 || (rank > 0 && axis >= rank))
        f.Add(where, "{} has rank {} but is quantized along axis {}", Title(at), rank, axis);
  }
}

void VariantsDescribed(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const int64_t n = SizeOf(at.tensor->variant_tensors());
    if (n > 1 || (n == 1 && at.tensor->type() != fb::TensorType::VARIANT))
      f.Add(Where(at, "variant_tensors"), "{} has {} variant_tensors; expected at most {}",
            Title(at), n, at.tensor->type() == fb::TensorType::VARIANT ? 1 : 0);
    const fb::VariantSubType* sub = At(at.tensor->variant_tensors(), 0);
    if (sub != nullptr && !sub->has_rank() && SizeOf(sub->shape()) > 0)
      f.Add(Where(at, "variant_tensors"), "{} has a variant without a rank but with {} dimensions",
            Title(at), SizeOf(sub->shape()));
  }
}

constexpr Rule kTensorRules[] = {
    {.info = {.id = "TFLITE-TENSOR-001",
              .statement =
                  "The element type of every tensor is a member of the TensorType enumeration.",
              .clause = "schema.fbs, TensorType",
              .vendor = true,
              .hint = "Set Tensor.type to a value of TensorType."},
     .check = TypesKnown},
    {.info = {.id = "TFLITE-TENSOR-002",
              .statement = "The buffer of every tensor is a buffer of the model.",
              .clause = "schema.fbs, Tensor.buffer",
              .vendor = true,
              .hint = "Set Tensor.buffer to the index of an existing buffer, or to 0 for a tensor "
                      "without data."},
     .check = BuffersInRange},
    {.info = {.id = "TFLITE-TENSOR-003",
              .statement = "No dimension in the shape of a tensor is negative.",
              .clause = "schema.fbs, Tensor.shape",
              .vendor = true,
              .hint = "Write an unknown dimension as 1 in shape and as -1 in shape_signature."},
     .check = ShapesNatural},
    {.info = {.id = "TFLITE-TENSOR-004",
              .statement = "The shape_signature of a tensor, if present, equals its shape except "
                           "for dimensions that are -1.",
              .clause = "schema.fbs, Tensor.shape_signature",
              .hint =
                  "Copy shape to shape_signature, and replace only unknown dimensions with -1."},
     .check = SignatureFitsShape},
    {.info = {.id = "TFLITE-TENSOR-005",
              .statement = "The data of a constant tensor has the number of bytes that its type "
                           "and shape require.",
              .clause = "schema.fbs, Tensor.buffer",
              .vendor = true,
              .hint = "Store exactly the elements that the shape describes, or correct the shape "
                      "or type of the tensor."},
     .check = DataFitsShape},
    {.info = {.id = "TFLITE-TENSOR-006",
              .statement = "A quantized tensor has one scale, or one for each index of its "
                           "quantized_dimension, and as many zero points as scales.",
              .clause = "schema.fbs, QuantizationParameters",
              .vendor = true,
              .hint = "Store one scale and one zero point, or one of each for every index of "
                      "quantized_dimension."},
     .check = QuantizationLengths},
    {.info = {.id = "TFLITE-TENSOR-007",
              .statement = "Every quantization scale is finite and not negative.",
              .clause = "schema.fbs, QuantizationParameters.scale",
              .hint = "Quantize the tensor again with a positive, finite scale."},
     .check = ScalesValid},
    {.info = {.id = "TFLITE-TENSOR-008",
              .statement =
                  "Every zero point of an INT8, UINT8 or INT16 tensor is in the range of its type.",
              .clause = "schema.fbs, QuantizationParameters.zero_point",
              .hint = "Quantize the tensor again with a zero point that its type can represent."},
     .check = ZeroPointsInRange},
    {.info = {.id = "TFLITE-TENSOR-010",
              .statement =
                  "The product of the nonzero dimensions of a tensor is at most 2147483647.",
              .clause = "schema.fbs, Tensor.shape; the verifier",
              .vendor = true,
              .hint = "Split the tensor, or reduce its dimensions; the interpreter counts elements "
                      "in 32 bits."},
     .check = ElementsCounted},
    {.info = {.id = "TFLITE-TENSOR-011",
              .statement =
                  "A variable tensor has no data in the file and is not of type STRING, RESOURCE "
                  "or VARIANT, and a tensor with an external buffer has no data in the model file.",
              .clause =
                  "schema.fbs, Tensor.is_variable, Tensor.external_buffer; InterpreterBuilder",
              .vendor = true,
              .hint = "Set Tensor.buffer to 0 for variables and for tensors with an external "
                      "buffer, and give variables a numeric type or BOOL."},
     .check = VariablesWithoutData},
    {.info =
         {.id = "TFLITE-TENSOR-012",
          .statement = "The data of a STRING tensor consists of the number of strings, the offset "
                       "of each string, the end offset of the last one, and the text.",
          .clause = "schema.fbs, TensorType; the verifier",
          .vendor = true,
          .hint =
              "Pack the strings as DynamicBuffer of TensorFlow Lite does, and check the offsets."},
     .check = StringsLaidOut},
    {.info = {.id = "TFLITE-TENSOR-013",
              .statement = "Blockwise and multi-axis quantization refer to existing scale tensors, "
                           "zero point tensors and axes, and have a valid block_size.",
              .clause =
                  "schema.fbs, BlockwiseQuantization, MultiAxisQuantization; InterpreterBuilder",
              .vendor = true,
              .hint = "Refer to tensors of the same subgraph and axes of this tensor, and correct "
                      "block_size."},
     .check = DetailsResolve},
    {.info = {.id = "TFLITE-TENSOR-014",
              .statement = "Only a VARIANT tensor has variant_tensors, at most one, and a variant "
                           "without a rank has no shape.",
              .clause = "schema.fbs, Tensor.variant_tensors",
              .hint = "Describe a VARIANT tensor with a single entry, and remove variant_tensors "
                      "from all other tensors."},
     .check = VariantsDescribed},
};

}  // namespace

std::span<const Rule> TensorRules() {
  return kTensorRules;
}

}  // namespace nn::tflite
