#include "tensorio/digest.h"

#include <array>

#include "base/sha256.h"

namespace nn {
namespace {

class Hasher {
 public:
  void Bytes(std::span<const std::byte> bytes) { sha_.Update(bytes); }
  void Bytes(std::string_view text) { Bytes(std::as_bytes(std::span(text))); }
  void Number(uint64_t v) {
    std::array<std::byte, 8> bytes;
    for (std::byte& b : bytes) {
      b = static_cast<std::byte>(v);
      v >>= 8;
    }
    Bytes(bytes);
  }
  void Text(std::string_view text) {
    Number(text.size());
    Bytes(text);
  }
  std::string Hex() { return sha_.Hex(); }

 private:
  Sha256 sha_;
};

void AddContents(Hasher& hasher, const Tensor& tensor) {
  if (tensor.dtype() == DType::kString) {
    hasher.Number(tensor.strings().size());
    for (const std::string& s : tensor.strings()) hasher.Text(s);
    return;
  }
  hasher.Number(tensor.byte_size());
  const auto bytes = tensor.blob().bytes();
  const auto used_bits =
      static_cast<uint64_t>(tensor.elements()) * static_cast<uint64_t>(DTypeBits(tensor.dtype()));
  const auto rest = static_cast<unsigned>(used_bits % 8);
  if (rest == 0) {
    hasher.Bytes(bytes);
    return;
  }
  hasher.Bytes(bytes.first(bytes.size() - 1));
  const std::byte last = bytes.back() & static_cast<std::byte>((1u << rest) - 1);
  hasher.Bytes(std::span(&last, 1));
}

}  // namespace

std::string Digest(std::span<const NamedTensor> tensors) {
  Hasher hasher;
  hasher.Bytes("nn-tensors-1\n");
  hasher.Number(tensors.size());
  for (const NamedTensor& t : tensors) {
    hasher.Text(t.name);
    hasher.Text(DTypeName(t.tensor.dtype()));
    hasher.Number(static_cast<uint64_t>(t.tensor.rank()));
    for (const int64_t d : t.tensor.dims()) hasher.Number(static_cast<uint64_t>(d));
    AddContents(hasher, t.tensor);
  }
  return "sha256:" + hasher.Hex();
}

}  // namespace nn
