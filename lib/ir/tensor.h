// A tensor with known contents: a constant of a graph, or an input or output of a run.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "ir/types/dtype.h"

namespace nn {

// Elements are dense, row-major and little-endian; types under 8 bits are packed from the lowest
// bits up, without padding between rows. Copies share the data.
class Tensor {
 public:
  Tensor() = default;
  // Requires blob.size() == ByteSize(dtype, elements of dims); use Make() for untrusted data.
  Tensor(DType dtype, std::vector<int64_t> dims, Blob blob)
      : dtype_(dtype), dims_(std::move(dims)), blob_(std::move(blob)) {}
  Tensor(std::vector<int64_t> dims, std::vector<std::string> strings);

  // kModel if the shape is invalid or does not match the number of bytes; kLimit if there are too
  // many elements.
  static Result<Tensor> Make(DType dtype, std::vector<int64_t> dims, Blob blob);
  template <typename T>
  static Tensor Of(std::vector<int64_t> dims, const std::vector<T>& values) {
    return Tensor(kDTypeOf<T>, std::move(dims), Blob::CopyOf(values));
  }
  template <typename T>
  static Tensor Scalar(T value) {
    return Tensor(kDTypeOf<T>, {}, Blob::CopyOf(std::span<const T>(&value, 1)));
  }
  // A one-dimensional i64 tensor, the usual form of shapes and axes.
  static Tensor Ints(const std::vector<int64_t>& values) {
    return Of<int64_t>({static_cast<int64_t>(values.size())}, values);
  }

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t dim(int i) const { return dims_[static_cast<size_t>(i)]; }
  int64_t elements() const;
  const Blob& blob() const { return blob_; }
  size_t byte_size() const { return blob_.size(); }
  // The memory of the elements: byte_size(), or that of the strings.
  uint64_t memory_size() const;
  const std::vector<std::string>& strings() const { return *strings_; }

  // The elements as T, which must be the C++ type of dtype() (bool: uint8_t; f16, bf16: uint16_t).
  // The data must be aligned for T; views of a file may not be, see Aligned().
  template <typename T>
  std::span<const T> As() const {
    assert(sizeof(T) * 8 == static_cast<size_t>(DTypeBits(dtype_)) && blob_.IsAligned(alignof(T)));
    return {reinterpret_cast<const T*>(blob_.data()), blob_.size() / sizeof(T)};
  }
  // The same tensor with data aligned to `alignment` bytes, at most kBufferAlignment; copies only
  // if necessary.
  Tensor Aligned(size_t alignment = 16) const;

  // Element i as a double or integer, of any numeric type; NaN or 0 for strings and complex
  // numbers. Slow: for small tensors and printing.
  double GetDouble(int64_t i) const;
  int64_t GetInt(int64_t i) const;
  std::vector<int64_t> ToInts() const;
  std::vector<double> ToDoubles() const;

  // The same elements with another shape; kModel if the element counts differ.
  Result<Tensor> Reshaped(std::vector<int64_t> dims) const;

  // Whether type, shape and bytes are equal.
  bool Identical(const Tensor& other) const;

 private:
  DType dtype_ = DType::kUnknown;
  std::vector<int64_t> dims_;
  Blob blob_;
  std::shared_ptr<const std::vector<std::string>> strings_;  // kString only
};

// The size in bytes of `elements` elements.
size_t ByteSize(DType dtype, int64_t elements);

// Allocates and fills a new tensor.
class TensorBuilder {
 public:
  // kLimit if the size overflows or memory is exhausted; kUnsupported for kUnknown. Contents are
  // uninitialized except for types under 8 bits and strings.
  static Result<TensorBuilder> Create(DType dtype, std::vector<int64_t> dims);

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  int64_t elements() const { return elements_; }
  std::byte* data() { return buffer_.data(); }
  template <typename T>
  std::span<T> As() {
    assert(sizeof(T) * 8 == static_cast<size_t>(DTypeBits(dtype_)));
    return {reinterpret_cast<T*>(buffer_.data()), static_cast<size_t>(elements_)};
  }
  // The elements of a kString tensor.
  std::vector<std::string>& strings() { return strings_; }
  // Stores a number in element i of a numeric type; does nothing for other types. Integers are
  // stored modulo 2^bits; reals are rounded to nearest even.
  void SetDouble(int64_t i, double value);
  void SetInt(int64_t i, int64_t value);
  // Copies `count` elements of `source`, from index `from`, to index `to`. Both tensors must have
  // the same type; bits are preserved.
  void Copy(int64_t to, const Tensor& source, int64_t from, int64_t count = 1);
  // Sets elements [to, to + count) to element `from` of `source`.
  void Fill(int64_t to, int64_t count, const Tensor& source, int64_t from = 0);
  Tensor Finish();

 private:
  DType dtype_ = DType::kUnknown;
  std::vector<int64_t> dims_;
  int64_t elements_ = 0;
  Buffer buffer_;
  std::vector<std::string> strings_;  // kString only
};

// Row-major strides in elements.
std::vector<int64_t> Strides(std::span<const int64_t> dims);

}  // namespace nn
