// NumPy's .npy format (NEP 1).
//
// Reads format versions 1.0, 2.0 and 3.0, C and Fortran order, both byte orders. Writes version
// 1.0, C order, little-endian, with data aligned to 64 bytes; equal tensors give equal bytes.
//
// Element types:
//   bool                   |b1; when reading, any nonzero byte is true
//   i8 i16 i32 i64         |i1 <i2 <i4 <i8
//   u8 u16 u32 u64         |u1 <u2 <u4 <u8
//   f16 f32 f64            <f2 <f4 <f8
//   c64 c128               <c8 <c16
//   str                    <U if all strings are UTF-8, else |S; padded with NULs
// NumPy has no type for the following. They are stored as integers; FromStored() converts them back
// when the element type is known:
//   bf16                   <u2, the bits (also read from |V2, as ml_dtypes writes it)
//   f8*                    |u1, the bits (also |V1)
//   f4e2m1                 |u1, the bits, one element per byte
//   i2 i4, u2 u4           |i1, |u1: the values, one element per byte
// All other types (long double, dates, structured types, pickled objects) are unsupported; the
// error names the type.
#pragma once

#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "ir/tensor.h"

namespace nn {

// Reads an .npy file. The result is a view of `file` if order, type and byte order permit it.
// kParse if the file is malformed, too short or too long; kUnsupported for unsupported types.
Result<Tensor> ReadNpy(const Blob& file);

// Returns the .npy file for `tensor` in parts: header, then data (not copied if stored unchanged).
// kUnsupported for strings that end in NUL; kLimit if the padded strings exceed 16 GiB.
Result<std::vector<Blob>> NpyImage(const Tensor& tensor);

// Converts `stored` to element type `wanted` by the table above; returns it unchanged if it has
// that type. kUsage if the types do not correspond or a value is out of range.
Result<Tensor> FromStored(const Tensor& stored, DType wanted);

// FromStored() if `stored` has the type that NpyImage writes for `wanted` and its values are in
// range; else unchanged.
Tensor DecodeStored(const Tensor& stored, DType wanted);

// The element type that NpyImage writes for `dtype`: itself, or the integer type of the table
// above.
DType StoredType(DType dtype);

}  // namespace nn
