// The peak rate of one core: multiply-adds on registers only, on the SIMD target in use
// (UseSimdTarget).
#pragma once

#include <cstddef>
#include <cstdint>

namespace nn::bench {

// Multiply-adds in one call of RunFmas(rounds) or RunDots(rounds): of float32, or of 8-bit integers
// (16-bit ones if there is no instruction for bytes). 0 if the target has no instruction for them.
uint64_t FmasOf(size_t rounds);
uint64_t DotsOf(size_t rounds);
// Each returns a number that depends on all multiply-adds.
float RunFmas(size_t rounds);
float RunDots(size_t rounds);

}  // namespace nn::bench
