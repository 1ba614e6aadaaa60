// Discrete Fourier transforms.
#pragma once

#include "ops/math/fourier.h"

namespace nn {

// RunFourier() with vectors of adjacent numbers, on the calling thread; the bits are the same.
void RunFourierF64(const FourierTransform& transform, const FourierArrays& arrays);

}  // namespace nn
