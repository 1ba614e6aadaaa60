#include "formats/tflite/file/tensor.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checked_math.h"
#include "formats/tflite/file/sparse.h"

namespace nn::tflite {
namespace {

struct TypeRow {
  fb::TensorType tflite;
  DType dtype;
};

constexpr TypeRow kTypeRows[] = {
    {fb::TensorType::FLOAT32, DType::kF32},
    {fb::TensorType::FLOAT16, DType::kF16},
    {fb::TensorType::INT32, DType::kI32},
    {fb::TensorType::UINT8, DType::kU8},
    {fb::TensorType::INT64, DType::kI64},
    {fb::TensorType::STRING, DType::kString},
    {fb::TensorType::BOOL, DType::kBool},
    {fb::TensorType::INT16, DType::kI16},
    {fb::TensorType::COMPLEX64, DType::kC64},
    {fb::TensorType::INT8, DType::kI8},
    {fb::TensorType::FLOAT64, DType::kF64},
    {fb::TensorType::COMPLEX128, DType::kC128},
    {fb::TensorType::UINT64, DType::kU64},
    {fb::TensorType::UINT32, DType::kU32},
    {fb::TensorType::UINT16, DType::kU16},
    {fb::TensorType::INT4, DType::kI4},
    {fb::TensorType::BFLOAT16, DType::kBF16},
    {fb::TensorType::INT2, DType::kI2},
    {fb::TensorType::UINT4, DType::kU4},
    {fb::TensorType::FLOAT8_E4M3FN, DType::kF8E4M3FN},
    {fb::TensorType::FLOAT8_E5M2, DType::kF8E5M2},
};

// Scales of other integer types have no meaning and are ignored.
bool CanBeQuantized(DType t) {
  switch (t) {
    case DType::kI2:
    case DType::kI4:
    case DType::kU4:
    case DType::kI8:
    case DType::kU8:
    case DType::kI16:
    case DType::kU16:
    case DType::kI32:
    case DType::kI64:
      return true;
    default:
      return false;
  }
}

// One scale is for the whole tensor; several are for the indices of quantized_dimension. Early
// converters wrote a scale of 0 for none.
Result<std::shared_ptr<const Quant>> ReadQuant(const fb::Tensor& tensor, DType dtype,
                                               const std::optional<Dims>& dims) {
  const fb::QuantizationParameters* p = tensor.quantization();
  if (p == nullptr || !CanBeQuantized(dtype)) return nullptr;
  if (p->details_type() != fb::QuantizationDetails::NONE)
    return UnsupportedError("{} quantization is unsupported",
                            fb::EnumNameQuantizationDetails(p->details_type()));
  auto q = std::make_shared<Quant>();
  q->scales = ListOf<float>(p->scale());
  const auto wrong = [](float s) { return !(s >= 0) || std::isinf(s); };
  if (const auto s = std::find_if(q->scales.begin(), q->scales.end(), wrong); s != q->scales.end())
    return ModelError("the scale of a quantized tensor is {}; it must be positive and finite", *s);
  const auto zero = [](float s) { return s == 0; };
  if (std::all_of(q->scales.begin(), q->scales.end(), zero)) return nullptr;
  q->zero_points = ListOf<int64_t>(p->zero_point());
  q->min = ListOf<float>(p->min());
  q->max = ListOf<float>(p->max());
  const size_t n = q->scales.size();
  if (q->zero_points.size() == 1) q->zero_points.resize(n, q->zero_points[0]);
  if (!q->zero_points.empty() && q->zero_points.size() != n)
    return ModelError("there are {} scales but {} zero points", n, q->zero_points.size());
  if (n == 1) return q;
  // A vector has only axis 0; converters give biases the axis number of the filter.
  const bool vector = dims && dims->size() == 1;
  q->axis = vector ? 0 : p->quantized_dimension();
  if (q->axis < 0 || (dims && q->axis >= static_cast<int>(dims->size())))
    return ModelError("the quantized axis {} is out of range for rank {}", q->axis,
                      dims ? dims->size() : 0);
  if (dims)
    if (const Dim& d = (*dims)[static_cast<size_t>(q->axis)];
        d.is_const() && d.value() != static_cast<int64_t>(n))
      return ModelError("there are {} scales for axis {} of size {}", n, q->axis, d.value());
  return q;
}

bool HasRank(const fb::Tensor& tensor) {
  return tensor.has_rank() || SizeOf(tensor.shape()) > 0 || SizeOf(tensor.shape_signature()) > 0;
}

Result<std::vector<std::string>> UnpackStrings(const Blob& blob) {
  const auto number = [&](size_t i) {
    int32_t v = 0;
    std::memcpy(&v, blob.data() + 4 * i, 4);
    return static_cast<int64_t>(v);
  };
  if (blob.size() < 4)
    return ModelError("a string buffer has {} bytes; expected 4 or more", blob.size());
  const int64_t count = number(0);
  if (count < 0 || static_cast<uint64_t>(count) + 2 > blob.size() / 4)
    return ModelError("{} strings do not fit in {} bytes", count, blob.size());
  std::vector<std::string> out;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = number(static_cast<size_t>(i) + 1);
    const int64_t end = number(static_cast<size_t>(i) + 2);
    if (begin < 0 || end < begin || static_cast<uint64_t>(end) > blob.size())
      return ModelError("string {} at {} to {} is outside the buffer of {} bytes", i, begin, end,
                        blob.size());
    out.emplace_back(reinterpret_cast<const char*>(blob.data()) + begin,
                     static_cast<size_t>(end - begin));
  }
  return out;
}

Result<Blob> BytesOf(const Model& model, const fb::Tensor& tensor) {
  if (tensor.external_buffer() != 0) return ExternalBytes(model, tensor.external_buffer());
  if (tensor.buffer() == 0) return Blob();
  return BufferBytes(model, tensor.buffer());
}

}  // namespace

DType DTypeOf(fb::TensorType type) {
  for (const TypeRow& row : kTypeRows)
    if (row.tflite == type) return row.dtype;
  return DType::kUnknown;
}

std::optional<fb::TensorType> TensorTypeOf(DType dtype) {
  for (const TypeRow& row : kTypeRows)
    if (row.dtype == dtype) return row.tflite;
  return std::nullopt;
}

std::string TensorTypeName(fb::TensorType type) {
  if (type < fb::TensorType::MIN || type > fb::TensorType::MAX)
    return fmt::format("type {}", static_cast<int>(type));
  return fb::EnumNameTensorType(type);
}

Result<Type> ReadType(const fb::Tensor& tensor, const std::string& prefix) {
  Type type;
  type.dtype = DTypeOf(tensor.type());
  if (HasRank(tensor)) {
    const auto signature = ListOf<int64_t>(tensor.shape_signature());
    const auto shape = ListOf<int64_t>(tensor.shape());
    if (!signature.empty() && !shape.empty() && signature.size() != shape.size())
      return ModelError("shape has {} entries, but shape_signature has {}", shape.size(),
                        signature.size());
    Dims dims;
    for (const int64_t d : signature.empty() ? shape : signature) {
      if (d < -1) return ModelError("axis {} has negative size {}", dims.size(), d);
      dims.push_back(d == -1 ? Dim::Symbol(fmt::format("{}_{}", prefix, dims.size())) : Dim(d));
    }
    type.dims = std::move(dims);
  }
  NN_ASSIGN(type.quant, ReadQuant(tensor, type.dtype, type.dims));
  return type;
}

Result<bool> HasContents(const Model& model, const fb::Tensor& tensor) {
  if (tensor.external_buffer() != 0) return true;
  if (tensor.buffer() == 0) return false;
  NN_ASSIGN(const Blob bytes, BufferBytes(model, tensor.buffer()));
  return !bytes.empty();
}

Result<Tensor> ReadContents(const Model& model, const fb::Tensor& tensor) {
  const DType dtype = DTypeOf(tensor.type());
  if (dtype == DType::kUnknown)
    return UnsupportedError("constants of type {} are unsupported", TensorTypeName(tensor.type()));
  auto dims = ListOf<int64_t>(tensor.shape());
  NN_ASSIGN(const Blob bytes, BytesOf(model, tensor));
  if (tensor.sparsity() != nullptr) return ReadSparse(*tensor.sparsity(), dtype, dims, bytes);
  if (dtype != DType::kString) return Tensor::Make(dtype, std::move(dims), bytes);
  NN_ASSIGN(auto strings, UnpackStrings(bytes));
  const auto elements = CheckedElements(dims);
  if (!elements || static_cast<uint64_t>(*elements) != strings.size())
    return ModelError("there are {} strings for shape {}", strings.size(), ToString(ToDims(dims)));
  return Tensor(std::move(dims), std::move(strings));
}

Result<Blob> PackStrings(const std::vector<std::string>& strings) {
  constexpr size_t kMax = std::numeric_limits<int32_t>::max();
  std::vector<int32_t> head = {static_cast<int32_t>(strings.size())};
  size_t at = 4 * (strings.size() + 2);
  for (const std::string& s : strings) {
    head.push_back(static_cast<int32_t>(at));
    at += s.size();
    if (at > kMax) return LimitError("the strings of a tensor exceed 2 GiB");
  }
  head.push_back(static_cast<int32_t>(at));
  Buffer out(at);
  std::memcpy(out.data(), head.data(), 4 * head.size());
  size_t to = 4 * head.size();
  for (const std::string& s : strings) {
    std::memcpy(out.data() + to, s.data(), s.size());
    to += s.size();
  }
  return Blob(std::move(out));
}

}  // namespace nn::tflite
