#include "tensorio/digest.h"

#include "base/sha256.h"

namespace nn {

void AddContents(const Tensor& tensor, Sha256& hasher) {
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

std::string Digest(std::span<const NamedTensor> tensors) {
  Sha256 hasher;
  hasher.Bytes("nn-tensors-1\n");
  hasher.Number(tensors.size());
  for (const NamedTensor& t : tensors) {
    hasher.Text(t.name);
    hasher.Text(DTypeName(t.tensor.dtype()));
    hasher.Number(static_cast<uint64_t>(t.tensor.rank()));
    for (const int64_t d : t.tensor.dims()) hasher.Number(static_cast<uint64_t>(d));
    AddContents(t.tensor, hasher);
  }
  return hasher.Finish();
}

}  // namespace nn
