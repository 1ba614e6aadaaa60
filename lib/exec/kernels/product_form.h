// How the kernels multiply bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nn {

// Sums of `taps` neighbouring products each: two of 16-bit integers, with the zero points of right
// operands taken out; or four of bytes, which are as they are stored, or with their highest bit
// changed: signed ones on the right, left ones signed or not.
struct ProductForm {
  size_t taps = 2;
  bool signed_rows = false;  // left operands are read as -128 to 127, else as 0 to 255

  bool of_bytes() const { return taps == 4; }
  // What turns the highest bit of a left operand where it is not as stored, and what that adds.
  uint8_t Flip(bool is_signed) const { return is_signed == signed_rows ? 0 : 0x80; }
  int32_t Moved(bool is_signed) const {
    return is_signed == signed_rows ? 0 : signed_rows ? -128 : 128;
  }
};

// The form that the chosen SIMD target takes.
ProductForm ChosenProductForm();

}  // namespace nn
