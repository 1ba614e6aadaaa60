// Hugging Face's .safetensors format: the header size as a u64, the header as JSON, then the
// tensors' elements, dense, row-major and little-endian.
//
// Element types:
//   bool                    BOOL; when reading, any nonzero byte is true
//   i8 i16 i32 i64          I8 I16 I32 I64
//   u8 u16 u32 u64          U8 U16 U32 U64
//   f16 bf16 f32 f64        F16 BF16 F32 F64
//   f8e4m3fn f8e4m3fnuz     F8_E4M3 F8_E4M3FNUZ
//   f8e5m2 f8e5m2fnuz       F8_E5M2 F8_E5M2FNUZ
//   f8e8m0                  F8_E8M0
//   c64                     C64
// All other types are unsupported; the error names the type.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "tensorio/named_tensor.h"

namespace nn {

// Limit of runs: bytes of the header of a .safetensors file, as in the reference implementation.
inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

// Reads the tensors in file order, as views of `file`. kParse for damaged files, for tensors that
// overlap or leave gaps, and for duplicate names; kLimit if the header is too large; kUnsupported
// for unsupported types. Metadata is ignored.
Result<std::vector<NamedTensor>> ReadSafetensors(const Blob& file);

// Writes `path` ("-": standard output) atomically, without copying elements. Types with larger
// elements come first, so that all tensors are aligned; otherwise the given order is kept, so equal
// tensors give equal bytes. kUsage for names that are empty, not UTF-8, "__metadata__" or
// duplicate; kLimit if the header is too large; kUnsupported for unsupported types. Errors use
// `shown` as the file's name, or the path if it is empty.
Status WriteSafetensors(const std::string& path, std::span<const NamedTensor> tensors,
                        std::string shown = {});

}  // namespace nn
