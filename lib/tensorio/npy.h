// NumPy's .npy files (NEP 1).
//
// Read: format versions 1.0, 2.0 and 3.0, C and Fortran order, either byte order. Written: version
// 1.0, C order, little-endian, data aligned to 64 bytes; the same tensor always gives the same
// bytes.
//
// Element types:
//   bool                   |b1; on reading any byte but 0 is true
//   i8 i16 i32 i64         |i1 <i2 <i4 <i8
//   u8 u16 u32 u64         |u1 <u2 <u4 <u8
//   f16 f32 f64            <f2 <f4 <f8
//   c64 c128               <c8 <c16
//   str                    <U if every string is UTF-8, else |S; both pad with NULs and drop them
// NumPy has no type for the following. They are written as integers, and FromStored() turns those
// back where the element type is known from elsewhere:
//   bf16                   <u2, the bits (read also from |V2, which ml_dtypes writes)
//   f8*                    |u1, the bits (also |V1)
//   f4e2m1                 |u1, the bits, one element a byte
//   i2 i4, u2 u4           |i1, |u1: the values, one element a byte
// Everything else (long double, dates, structures, pickled objects) is refused by name.
#pragma once

#include <vector>

#include "base/blob.h"
#include "base/status.h"
#include "ir/tensor.h"

namespace nn {

// The array in a .npy file. The result is a view of `file` where order, type and byte order allow
// it. kParse if the file is malformed, too short or too long; kUnsupported for types as above.
Result<Tensor> ReadNpy(const Blob& file);

// The file that holds `tensor`: header, then data (not copied where they are stored as they are).
// kUnsupported for strings that end in NUL; kLimit if padded strings would be larger than 16 GiB.
Result<std::vector<Blob>> NpyImage(const Tensor& tensor);

// `stored` as element type `wanted`, by the table above; itself if it has that type already. kUsage
// if the types do not correspond or a value is out of the narrower type's range.
Result<Tensor> FromStored(const Tensor& stored, DType wanted);

// The element type under which NpyImage writes `dtype`: itself, or the integer that stands for it.
DType StoredType(DType dtype);

}  // namespace nn
