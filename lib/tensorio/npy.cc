#include "tensorio/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "tensorio/npy_header.h"
#include "tensorio/unicode.h"

namespace nn {
namespace {

constexpr size_t kDataAlignment = 64;
// Limit of runs: bytes of the strings of a written .npy file, each padded to the longest.
constexpr uint64_t kMaxPaddedStrings = uint64_t{16} << 30;
// Limit of runs: strings of width 0 of a .npy file. They take no bytes in it, so their count needs
// a separate limit.
constexpr int64_t kMaxEmptyStrings = int64_t{1} << 20;

std::string_view TextOf(const Blob& blob) {
  return {reinterpret_cast<const char*>(blob.data()), blob.size()};
}

// Allocates a buffer whose size is bounded by the file's size or by kMaxPaddedStrings.
Result<Buffer> Allocate(size_t size) {
  try {
    return Buffer(size);
  } catch (const std::bad_alloc&) {
    return LimitError("out of memory for {}", HumanBytes(size));
  }
}

// Reverses each group of `unit` bytes.
Result<Blob> SwapBytes(const Blob& data, size_t unit) {
  NN_ASSIGN(Buffer out, Allocate(data.size()));
  for (size_t i = 0; i < data.size(); i += unit)
    std::reverse_copy(data.data() + i, data.data() + i + unit, out.data() + i);
  return Blob(std::move(out));
}

// Converts items from Fortran order (first index fastest) to C order.
Result<Blob> ToCOrder(const Blob& data, size_t item, const std::vector<int64_t>& dims) {
  NN_ASSIGN(Buffer out, Allocate(data.size()));
  std::vector<size_t> strides(dims.size());  // of the source, in bytes
  size_t stride = item;
  for (size_t k = 0; k < dims.size(); ++k) {
    strides[k] = stride;
    stride *= static_cast<size_t>(dims[k]);
  }
  std::vector<int64_t> index(dims.size(), 0);
  size_t from = 0;
  for (size_t to = 0; to < data.size(); to += item) {
    std::memcpy(out.data() + to, data.data() + from, item);
    for (size_t k = dims.size(); k-- > 0;) {
      from += strides[k];
      if (++index[k] < dims[k]) break;
      from -= strides[k] * static_cast<size_t>(dims[k]);
      index[k] = 0;
    }
  }
  return Blob(std::move(out));
}

Result<std::vector<std::string>> DecodeStrings(const Blob& data, const NpyType& type,
                                               int64_t elements) {
  if (type.item_size == 0 && elements > kMaxEmptyStrings)
    return LimitError("{} strings of width 0, the limit is {}", elements, kMaxEmptyStrings);
  std::vector<std::string> strings;
  const std::string_view text = TextOf(data);
  for (int64_t i = 0; i < elements; ++i) {
    const std::string_view item =
        text.substr(static_cast<size_t>(i) * type.item_size, type.item_size);
    if (type.kind == 'S') {
      strings.emplace_back(item.substr(0, item.find_last_not_of('\0') + 1));
      continue;
    }
    const auto utf8 = Utf8FromUtf32(item);
    if (!utf8) return ParseError("string {} has an invalid Unicode code point", i);
    strings.push_back(*utf8);
  }
  return strings;
}

// Size in bytes of the units whose byte order is swapped.
size_t SwapUnit(const NpyType& type) {
  if (type.kind == 'U') return 4;
  if (type.kind == 'S' || type.kind == 'V') return 1;
  return type.kind == 'c' ? type.item_size / 2 : type.item_size;
}

std::string HeaderText(std::string_view descr, const std::vector<int64_t>& dims) {
  std::string shape;
  for (const int64_t d : dims) shape += fmt::format("{}, ", d);
  if (dims.size() > 1) shape.resize(shape.size() - 2);
  if (dims.size() == 1) shape.resize(shape.size() - 1);
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  const size_t preamble = kNpyMagic.size() + 4;
  const size_t end = preamble + dict.size() + 1;
  dict.append(RoundUp(end, kDataAlignment) - end, ' ');
  return dict + '\n';
}

std::string_view NumericDescr(DType stored) {
  switch (stored) {
    case DType::kBool:
      return "|b1";
    case DType::kI8:
      return "|i1";
    case DType::kI16:
      return "<i2";
    case DType::kI32:
      return "<i4";
    case DType::kI64:
      return "<i8";
    case DType::kU8:
      return "|u1";
    case DType::kU16:
      return "<u2";
    case DType::kU32:
      return "<u4";
    case DType::kU64:
      return "<u8";
    case DType::kF16:
      return "<f2";
    case DType::kF32:
      return "<f4";
    case DType::kF64:
      return "<f8";
    case DType::kC64:
      return "<c8";
    case DType::kC128:
      return "<c16";
    default:
      return {};
  }
}

Result<std::vector<Blob>> WithHeader(std::string_view descr, const std::vector<int64_t>& dims,
                                     Blob data) {
  const std::string dict = HeaderText(descr, dims);
  if (dict.size() > 0xFFFF)
    return LimitError("the .npy header for rank {} exceeds {} bytes", dims.size(), 0xFFFF);
  std::string header(kNpyMagic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(dict.size() & 0xFF);
  header += static_cast<char>(dict.size() >> 8);
  header += dict;
  return std::vector<Blob>{Blob::Copy(std::as_bytes(std::span(header))), std::move(data)};
}

Result<std::vector<Blob>> StringImage(const Tensor& tensor) {
  std::vector<std::string> items;
  bool unicode = true;
  for (const std::string& s : tensor.strings()) {
    if (!s.empty() && s.back() == '\0')
      return UnsupportedError("string {} ends in NUL, which .npy files cannot represent", Quote(s));
    unicode = unicode && IsUtf8(s);
  }
  size_t width = 1;  // NumPy has no strings of width 0
  for (const std::string& s : tensor.strings()) {
    items.push_back(unicode ? Utf32FromUtf8(s) : s);
    width = std::max(width, items.back().size() / (unicode ? 4 : 1));
  }
  const auto item = static_cast<uint64_t>(width) * (unicode ? 4 : 1);
  const auto size = CheckedMul<uint64_t>(item, items.size());
  if (!size || *size > kMaxPaddedStrings)
    return LimitError("{} strings padded to {} bytes each exceed the limit of {}", items.size(),
                      item, HumanBytes(kMaxPaddedStrings));
  NN_ASSIGN(Buffer out, Allocate(*size));
  out.Clear();
  for (size_t i = 0; i < items.size(); ++i)
    std::memcpy(out.data() + i * item, items[i].data(), items[i].size());
  return WithHeader(fmt::format("{}{}", unicode ? "<U" : "|S", width), tensor.dims(),
                    Blob(std::move(out)));
}

// Converts to one element per byte.
Result<Tensor> Unpack(const Tensor& tensor) {
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(StoredType(tensor.dtype()), tensor.dims()));
  // 4-bit floats are unpacked as the unsigned integers of their bits.
  const Tensor bits(tensor.dtype() == DType::kF4E2M1 ? DType::kU4 : tensor.dtype(), tensor.dims(),
                    tensor.blob());
  for (int64_t i = 0; i < b.elements(); ++i) b.SetInt(i, bits.GetInt(i));
  return b.Finish();
}

}  // namespace

DType StoredType(DType dtype) {
  if (dtype == DType::kString || !NumericDescr(dtype).empty()) return dtype;
  if (dtype == DType::kBF16) return DType::kU16;
  return IsSigned(dtype) ? DType::kI8 : DType::kU8;
}

Result<Tensor> ReadNpy(const Blob& file) {
  NN_ASSIGN(const NpyHeader header, ReadNpyHeader(TextOf(file)));
  const NpyType& type = header.type;
  const auto elements = CheckedElements(header.shape);
  if (!elements) return ParseError("the shape's element count overflows");
  const auto need = CheckedMul<uint64_t>(static_cast<uint64_t>(*elements), type.item_size);
  const size_t have = file.size() - header.size;
  if (!need || *need > have)
    return ParseError("{} elements of {} bytes exceed the {} bytes after the header", *elements,
                      type.item_size, have);
  if (*need < have)
    return ParseError("{} bytes follow the array; use .npz for several arrays", have - *need);
  Blob data = file.Slice(header.size, have);
  if (const size_t unit = SwapUnit(type); type.big_endian && unit > 1) {
    NN_ASSIGN(data, SwapBytes(data, unit));
  }
  if (header.fortran_order && header.shape.size() > 1 && type.item_size > 0) {
    NN_ASSIGN(data, ToCOrder(data, type.item_size, header.shape));
  }
  if (type.dtype == DType::kString) {
    NN_ASSIGN(std::vector<std::string> strings, DecodeStrings(data, type, *elements));
    return Tensor(header.shape, std::move(strings));
  }
  return Tensor::Make(type.dtype, header.shape, std::move(data));
}

Result<std::vector<Blob>> NpyImage(const Tensor& tensor) {
  if (tensor.dtype() == DType::kUnknown) return UsageError("the tensor has no element type");
  if (tensor.dtype() == DType::kString) return StringImage(tensor);
  const std::string_view descr = NumericDescr(StoredType(tensor.dtype()));
  if (DTypeBits(tensor.dtype()) >= 8) return WithHeader(descr, tensor.dims(), tensor.blob());
  NN_ASSIGN(const Tensor unpacked, Unpack(tensor));
  return WithHeader(descr, tensor.dims(), unpacked.blob());
}

Result<Tensor> FromStored(const Tensor& stored, DType wanted) {
  if (stored.dtype() == wanted) return stored;
  if (wanted == DType::kUnknown || stored.dtype() != StoredType(wanted))
    return UsageError("the array has element type {}, expected {}", DTypeName(stored.dtype()),
                      DTypeName(wanted));
  if (DTypeBits(wanted) >= 8) return Tensor(wanted, stored.dims(), stored.blob());
  const DType bits = wanted == DType::kF4E2M1 ? DType::kU4 : wanted;
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(bits, stored.dims()));
  for (int64_t i = 0; i < b.elements(); ++i) {
    const int64_t v = stored.GetInt(i);
    if (v < MinInteger(bits) || v > MaxInteger(bits))
      return UsageError("element {} is {}, outside the range of {}", i, v, DTypeName(wanted));
    b.SetInt(i, v);
  }
  return Tensor(wanted, stored.dims(), b.Finish().blob());
}

Tensor DecodeStored(const Tensor& stored, DType wanted) {
  return FromStored(stored, wanted).value_or(stored);
}

}  // namespace nn
