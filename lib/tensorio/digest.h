// A digest of the outputs of a run: equal digests mean equal names, types, shapes and bits.
#pragma once

#include <span>
#include <string>

#include "tensorio/npz.h"

namespace nn {

class Sha256;

// "sha256:" and 64 hexadecimal digits: SHA-256 over the bytes below. u64 is 8 bytes, little-endian;
// text is its length as a u64, then its bytes.
//
//   "nn-tensors-1\n"            13 bytes
//   u64                         number of tensors; then, for each in order:
//     text                      name
//     text                      element type, as DTypeName() ("f32")
//     u64, then a u64 each      rank, dimensions
//     u64, then bytes           byte count and contents in the layout of nn::Tensor: dense,
//                               row-major, little-endian, sub-byte elements packed from the lowest
//                               bits up, unused bits zero; for strings the element count, then each
//                               string as text
std::string Digest(std::span<const NamedTensor> tensors);

// Hashes the contents of a tensor: the last entry of the table above.
void AddContents(const Tensor& tensor, Sha256& hasher);

}  // namespace nn
