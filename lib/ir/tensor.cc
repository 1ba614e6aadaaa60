#include "ir/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "base/checked_math.h"
#include "base/half.h"
#include "ir/types/small_float.h"

namespace nn {
namespace {

// Whether an element fits a 64-bit word: excludes strings and complex numbers.
bool IsNumber(DType dtype) {
  return DTypeBits(dtype) != 0 && !IsComplex(dtype);
}

uint64_t LoadBits(const std::byte* base, int bits, int64_t i) {
  if (bits < 8) {
    const int per_byte = 8 / bits;
    const auto byte = static_cast<uint8_t>(base[i / per_byte]);
    return (byte >> (bits * static_cast<int>(i % per_byte))) & ((1u << bits) - 1);
  }
  uint64_t v = 0;
  const auto n = static_cast<size_t>(bits / 8);
  std::memcpy(&v, base + static_cast<size_t>(i) * n, n);
  return v;
}

void StoreBits(std::byte* base, int bits, int64_t i, uint64_t v) {
  if (bits < 8) {
    const int per_byte = 8 / bits;
    const int shift = bits * static_cast<int>(i % per_byte);
    const unsigned mask = ((1u << bits) - 1) << shift;
    const unsigned old = static_cast<uint8_t>(base[i / per_byte]);
    base[i / per_byte] =
        static_cast<std::byte>((old & ~mask) | ((static_cast<unsigned>(v) << shift) & mask));
    return;
  }
  const auto n = static_cast<size_t>(bits / 8);
  std::memcpy(base + static_cast<size_t>(i) * n, &v, n);
}

// Truncates toward zero, clamps to the range of int64_t; NaN becomes 0.
int64_t ToInteger(double v) {
  if (std::isnan(v)) return 0;
  if (v >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (v < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(v);
}

int64_t SignExtend(uint64_t v, int bits) {
  const int shift = 64 - bits;
  return static_cast<int64_t>(v << shift) >> shift;
}

// The bytes of booleans, with 1 for every other number than 0.
Result<Blob> Booleans(Blob blob) {
  const auto bytes = blob.bytes();
  if (std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b <= std::byte{1}; }))
    return blob;
  try {
    Buffer out(bytes.size());
    std::transform(bytes.begin(), bytes.end(), out.data(),
                   [](std::byte b) { return b == std::byte{0} ? b : std::byte{1}; });
    return Blob(std::move(out));
  } catch (const std::bad_alloc&) {
    return LimitError("out of memory for a tensor of {} booleans", bytes.size());
  }
}

}  // namespace

size_t ByteSize(DType dtype, int64_t elements) {
  return (static_cast<size_t>(elements) * static_cast<size_t>(DTypeBits(dtype)) + 7) / 8;
}

Tensor::Tensor(std::vector<int64_t> dims, std::vector<std::string> strings)
    : dtype_(DType::kString),
      dims_(std::move(dims)),
      strings_(std::make_shared<const std::vector<std::string>>(std::move(strings))) {}

Result<Tensor> Tensor::Make(DType dtype, std::vector<int64_t> dims, Blob blob) {
  const auto n = CheckedElements(dims);
  if (!n) return ModelError("tensor shape has a negative dimension or overflows");
  if (*n > (int64_t{1} << 56)) return LimitError("{} elements exceed the limit of 2^56", *n);
  const size_t need = ByteSize(dtype, *n);
  if (need != blob.size())
    return ModelError("{} elements of {} take {} bytes, but the data has {}", *n, DTypeName(dtype),
                      need, blob.size());
  if (dtype == DType::kBool) {
    NN_ASSIGN(blob, Booleans(std::move(blob)));
  }
  return Tensor(dtype, std::move(dims), std::move(blob));
}

int64_t Tensor::elements() const {
  int64_t n = 1;
  for (const int64_t d : dims_) n *= d;
  return n;
}

uint64_t Tensor::memory_size() const {
  if (dtype_ != DType::kString) return blob_.size();
  uint64_t bytes = strings_->size() * sizeof(std::string);
  for (const std::string& s : *strings_) bytes += s.size();
  return bytes;
}

Tensor Tensor::Aligned(size_t alignment) const {
  if (blob_.IsAligned(alignment) || dtype_ == DType::kString) return *this;
  return Tensor(dtype_, dims_, Blob::Copy(blob_.bytes()));
}

double Tensor::GetDouble(int64_t i) const {
  if (!IsNumber(dtype_)) return std::numeric_limits<double>::quiet_NaN();
  const int bits = DTypeBits(dtype_);
  const uint64_t v = LoadBits(blob_.data(), bits, i);
  switch (dtype_) {
    case DType::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(v));
    case DType::kF64:
      return std::bit_cast<double>(v);
    case DType::kF16:
      return HalfToFloat(static_cast<uint16_t>(v));
    case DType::kBF16:
      return Bfloat16ToFloat(static_cast<uint16_t>(v));
    case DType::kU64:
      return static_cast<double>(v);
    default:
      break;
  }
  if (IsFloat(dtype_)) return SmallFloatToFloat(dtype_, static_cast<uint8_t>(v));
  return static_cast<double>(IsSigned(dtype_) ? SignExtend(v, bits) : static_cast<int64_t>(v));
}

int64_t Tensor::GetInt(int64_t i) const {
  if (IsFloat(dtype_)) return ToInteger(GetDouble(i));
  if (!IsNumber(dtype_)) return 0;
  const int bits = DTypeBits(dtype_);
  const uint64_t v = LoadBits(blob_.data(), bits, i);
  return IsSigned(dtype_) ? SignExtend(v, bits) : static_cast<int64_t>(v);
}

std::vector<int64_t> Tensor::ToInts() const {
  std::vector<int64_t> out(static_cast<size_t>(elements()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = GetInt(static_cast<int64_t>(i));
  return out;
}

std::vector<double> Tensor::ToDoubles() const {
  std::vector<double> out(static_cast<size_t>(elements()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = GetDouble(static_cast<int64_t>(i));
  return out;
}

Result<Tensor> Tensor::Reshaped(std::vector<int64_t> dims) const {
  const auto n = CheckedElements(dims);
  if (!n || *n != elements())
    return ModelError("a tensor of {} elements cannot be reshaped: the element counts differ",
                      elements());
  Tensor t = *this;
  t.dims_ = std::move(dims);
  return t;
}

bool Tensor::Identical(const Tensor& other) const {
  if (dtype_ != other.dtype_ || dims_ != other.dims_) return false;
  if (dtype_ == DType::kString) return *strings_ == *other.strings_;
  return blob_.size() == other.blob_.size() &&
         (blob_.empty() || std::memcmp(blob_.data(), other.blob_.data(), blob_.size()) == 0);
}

Result<TensorBuilder> TensorBuilder::Create(DType dtype, std::vector<int64_t> dims) {
  if (dtype == DType::kUnknown) return UnsupportedError("the element type is not known");
  const auto n = CheckedElements(dims);
  if (!n) return LimitError("the element count of a tensor overflows");
  // Limit of all formats: elements of a tensor that is created.
  constexpr int64_t kMaxElements = int64_t{1} << 40;
  if (*n > kMaxElements)
    return LimitError("a tensor of {} elements exceeds the limit of {}", *n, kMaxElements);
  TensorBuilder b;
  b.dtype_ = dtype;
  b.dims_ = std::move(dims);
  b.elements_ = *n;
  try {
    if (dtype == DType::kString) b.strings_.resize(static_cast<size_t>(*n));
    b.buffer_ = Buffer(ByteSize(dtype, *n));
  } catch (const std::bad_alloc&) {
    return LimitError("out of memory for a tensor of {} elements", *n);
  }
  if (DTypeBits(dtype) < 8) b.buffer_.Clear();
  return b;
}

void TensorBuilder::SetDouble(int64_t i, double value) {
  const int bits = DTypeBits(dtype_);
  uint64_t v = 0;
  switch (dtype_) {
    case DType::kF64:
      v = std::bit_cast<uint64_t>(value);
      break;
    case DType::kF32:
      v = std::bit_cast<uint32_t>(static_cast<float>(value));
      break;
    case DType::kF16:
      v = FloatToHalf(static_cast<float>(value));
      break;
    case DType::kBF16:
      v = FloatToBfloat16(static_cast<float>(value));
      break;
    default:
      if (IsFloat(dtype_)) {
        v = FloatToSmallFloat(dtype_, static_cast<float>(value));
      } else {
        SetInt(i, ToInteger(std::nearbyint(value)));
        return;
      }
  }
  StoreBits(buffer_.data(), bits, i, v);
}

void TensorBuilder::SetInt(int64_t i, int64_t value) {
  if (!IsNumber(dtype_)) return;
  if (IsFloat(dtype_)) {
    SetDouble(i, static_cast<double>(value));
    return;
  }
  StoreBits(buffer_.data(), DTypeBits(dtype_), i, static_cast<uint64_t>(value));
}

void TensorBuilder::Copy(int64_t to, const Tensor& source, int64_t from, int64_t count) {
  if (count <= 0) return;
  if (dtype_ == DType::kString) {
    std::copy_n(source.strings().begin() + from, count, strings_.begin() + to);
    return;
  }
  const std::byte* in = source.blob().data();
  const int bits = DTypeBits(dtype_);
  const auto size = static_cast<size_t>(bits / 8);
  const auto n = static_cast<size_t>(count);
  std::byte* out = buffer_.data() + static_cast<size_t>(to) * size;
  in += static_cast<size_t>(from) * size;
  if (n == 1 && size == 4) {
    std::memcpy(out, in, 4);
  } else if (size != 0) {
    std::memcpy(out, in, n * size);
  } else {
    for (int64_t k = 0; k < count; ++k)
      StoreBits(buffer_.data(), bits, to + k, LoadBits(source.blob().data(), bits, from + k));
  }
}

void TensorBuilder::Fill(int64_t to, int64_t count, const Tensor& source, int64_t from) {
  for (int64_t k = 0; k < count; ++k) Copy(to + k, source, from);
}

Tensor TensorBuilder::Finish() {
  if (dtype_ == DType::kString) return Tensor(std::move(dims_), std::move(strings_));
  return Tensor(dtype_, std::move(dims_), Blob(std::move(buffer_)));
}

std::vector<int64_t> Strides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

}  // namespace nn
