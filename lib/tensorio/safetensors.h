// Hugging Face's .safetensors files: the size of a header as eight bytes, the header as JSON, and
// the tensors' elements, dense, row-major and little-endian.
//
// Element types:
//   bool                    BOOL; on reading any byte but 0 is true
//   i8 i16 i32 i64          I8 I16 I32 I64
//   u8 u16 u32 u64          U8 U16 U32 U64
//   f16 bf16 f32 f64        F16 BF16 F32 F64
//   f8e4m3fn f8e4m3fnuz     F8_E4M3 F8_E4M3FNUZ
//   f8e5m2 f8e5m2fnuz       F8_E5M2 F8_E5M2FNUZ
//   f8e8m0                  F8_E8M0
//   c64                     C64
// The others are refused by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/blob.h"
#include "base/status.h"
#include "tensorio/named_tensor.h"

namespace nn {

// What the reference implementation takes, too.
inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

// The tensors by their places in the file, as views of it. kParse for damaged files, for data that
// overlap or that no tensor has, and for names that occur twice; kLimit beyond the header's limit;
// kUnsupported for types as above. Metadata are passed over.
Result<std::vector<NamedTensor>> ReadSafetensors(const Blob& file);

// Writes `path` ("-": standard output) so that it is complete or not there; elements are not
// copied. Types with larger elements come first, so that all are aligned, others in the order
// given: the same tensors give the same bytes. kUsage for names that are empty, not UTF-8,
// "__metadata__" or there twice; kUnsupported for types as above.
Status WriteSafetensors(const std::string& path, std::span<const NamedTensor> tensors);

}  // namespace nn
