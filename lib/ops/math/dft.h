// Spectra. Complex numbers are pairs in the last axis, which has 2 elements, or 1 if the imaginary
// parts are 0. Computed in double (FourierTransform) and rounded to float32 or f64, then to the
// type of the result if that is a 16-bit float.
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"

namespace nn {

// dft(x, length, axis): the transform along an axis (ONNX DFT-20). n is `length`, a number, or the
// size of the axis: elements are dropped at the end of the axis, or zeros added. The axis comes
// from the attribute or, if that is not known, from the input `axis`, a number. It cannot be the
// last one. `onesided`:
//   forward  x is real; y has elements 0 to floor(n / 2), and the others are their conjugates
//   inverse  x has the elements 0 to floor(n / 2), and the others are their conjugates; y is real.
//            Without `length`, n is 2 (size - 1). The imaginary parts of element 0 and, if n is
//            even, n / 2 are ignored
struct DftAttrs {
  int64_t axis = -2;
  bool inverse = false;
  bool onesided = false;
  static std::span<const AttrField> Fields();
};

// stft(signal, step, window, length): the transforms of the frames of each signal [B, L, 1 or 2]
// (ONNX STFT-17): y is [B, frames, elements, 2]. A frame has n adjacent elements, multiplied by the
// window in double; n is `length`, a number, or the size of the window, or L. The window has n
// elements. Frame f starts at f * step; there are max(0, floor((L - n) / step) + 1) of them.
// `onesided`: the signal is real, and y has the elements 0 to floor(n / 2) of each transform.
struct StftAttrs {
  bool onesided = true;
  static std::span<const AttrField> Fields();
};

}  // namespace nn
