// Tensors with known contents: inputs and outputs of runs, constants of graphs, entries of
// archives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nnsuite/dtype.h"
#include "nnsuite/error.h"

namespace nn::api {
struct Access;
}

namespace nnsuite {

// An immutable tensor. Copies share the contents, which live as long as any of them. Elements are
// dense, row-major and little-endian; types under 8 bits are packed from the lowest bits up,
// without padding between rows. May be used by several threads at the same time.
class Tensor {
 public:
  // A tensor of type kUnknown without elements.
  Tensor();

  // A copy of `bytes`. kModel if the shape is invalid or requires a different number of bytes;
  // kLimit if there are too many elements.
  static Result<Tensor> Copy(DType dtype, std::vector<int64_t> shape,
                             std::span<const std::byte> bytes);
  // The same without a copy, if `bytes` is aligned for the type: they must not change and must stay
  // valid as long as `owner`, which the tensor keeps.
  static Result<Tensor> View(DType dtype, std::vector<int64_t> shape,
                             std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  // A copy of `values`, whose C++ type determines the element type.
  template <typename T>
  static Result<Tensor> Of(std::vector<int64_t> shape, std::span<const T> values) {
    static_assert(kDTypeOf<T> != DType::kUnknown, "no element type has this C++ type");
    return Copy(kDTypeOf<T>, std::move(shape), std::as_bytes(values));
  }
  template <typename T>
  static Result<Tensor> Of(std::vector<int64_t> shape, const std::vector<T>& values) {
    return Of<T>(std::move(shape), std::span<const T>(values));
  }
  // A tensor of type kString. kModel if the shape requires a different number of strings.
  static Result<Tensor> OfStrings(std::vector<int64_t> shape, std::vector<std::string> strings);

  DType dtype() const;
  const std::vector<int64_t>& shape() const;
  int64_t elements() const;
  // The contents, aligned to 16 bytes; empty for kString.
  std::span<const std::byte> bytes() const;
  // The elements as C++ values. kUsage unless T is the C++ type of dtype() (see kDTypeOf).
  template <typename T>
  Result<std::span<const T>> As() const {
    if (kDTypeOf<T> != dtype() || kDTypeOf<T> == DType::kUnknown) return WrongType(kDTypeOf<T>);
    return std::span<const T>(reinterpret_cast<const T*>(bytes().data()),
                              bytes().size() / sizeof(T));
  }
  // The elements of a tensor of type kString; empty for other types.
  const std::vector<std::string>& strings() const;

  // Whether type, shape and bytes are equal.
  bool Identical(const Tensor& other) const;

 private:
  friend struct nn::api::Access;
  struct Impl;
  explicit Tensor(std::shared_ptr<const Impl> impl);
  tl::unexpected<Error> WrongType(DType wanted) const;

  std::shared_ptr<const Impl> impl_;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// Reads the tensors of an archive (.npz or .safetensors, recognized by its contents), or the tensor
// of an .npy file, with the name "". Errors: kIo, kParse, kLimit, kUnsupported for types without a
// DType.
Result<std::vector<NamedTensor>> ReadTensors(const std::string& path);

// Writes .safetensors or .npz, by the extension. The file is replaced as a whole, or not at all.
// Errors: kUsage for other extensions, kIo, and kUnsupported for types that the file format does
// not have.
Status WriteTensors(const std::string& path, std::span<const NamedTensor> tensors);

// "sha256:" and 64 hexadecimal digits. Equal digests mean equal names, types, shapes and bits;
// `nnrun --digest` prints the same for the same outputs.
std::string Digest(std::span<const NamedTensor> tensors);

// Real elements agree if |got - want| <= atol + rtol * |want|; NaN agrees with NaN, and an infinity
// only with itself. Real and imaginary parts are compared separately. Integers agree if they differ
// by at most `steps`; bools and strings must be equal.
struct Tolerance {
  double atol = 0;
  double rtol = 0;
  int64_t steps = 0;
};

struct Comparison {
  bool agrees = false;     // types and shapes are equal, and all elements agree
  bool identical = false;  // bit-identical
  int64_t outside = 0;     // elements that do not agree
  // The largest |got - want|, infinite if one of them is NaN or infinite and the other differs, and
  // the largest |got - want| / |want| where want is not 0. 0 for strings.
  double max_absolute = 0;
  double max_relative = 0;
  std::string text;  // as text: "bit-identical", "3 of 40 elements differ, ..."
};

Comparison Compare(const Tensor& want, const Tensor& got, const Tolerance& tolerance = {});

}  // namespace nnsuite
