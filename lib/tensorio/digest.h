// One number for the outputs of a run: equal digests mean equal names, types, shapes and bits.
#pragma once

#include <span>
#include <string>

#include "tensorio/npz.h"

namespace nn {

class Sha256;

// "sha256:" and 64 hexadecimal digits: SHA-256 over these bytes. u64 is 8 bytes, little-endian;
// text is a u64 with its length and then its bytes.
//
//   "nn-tensors-1\n"            13 bytes
//   u64                         number of tensors; then, for each in order:
//     text                      name
//     text                      element type as the text form has it ("f32", ir/dtype.h)
//     u64, then a u64 each      rank, dimensions
//     u64, then bytes           byte count and contents as nn::Tensor has them: dense, row-major,
//                               little-endian, elements under 8 bits packed from the lowest bits up
//                               with zeros after the last; for strings the element count, and then
//                               each string as text
std::string Digest(std::span<const NamedTensor> tensors);

// What of that stands for the contents of a tensor.
void AddContents(const Tensor& tensor, Sha256& hasher);

}  // namespace nn
