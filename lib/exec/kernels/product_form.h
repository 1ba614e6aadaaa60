// How the kernels multiply bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nn {

// Sums of `taps` adjacent products each: two products of 16-bit integers, with the zero points of
// the right operands subtracted; or four products of bytes, as stored or with the highest bit
// flipped: right operands are signed, left operands signed or unsigned.
struct ProductForm {
  size_t taps = 2;
  bool signed_rows = false;  // left operands are read as -128 to 127, otherwise as 0 to 255

  bool of_bytes() const { return taps == 4; }
  // The mask that flips the highest bit of a left operand if it is not as stored, and the offset
  // that this adds.
  uint8_t Flip(bool is_signed) const { return is_signed == signed_rows ? 0 : 0x80; }
  int32_t Moved(bool is_signed) const {
    return is_signed == signed_rows ? 0 : signed_rows ? -128 : 128;
  }
};

// The form used by the selected SIMD target.
ProductForm ChosenProductForm();

}  // namespace nn
