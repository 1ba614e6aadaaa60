// What one core can do at most: multiply-adds that touch registers only, on the SIMD target in use
// (UseSimdTarget).
#pragma once

#include <cstddef>
#include <cstdint>

namespace nn::bench {

// Multiply-adds that one call of RunFmas(rounds) or RunDots(rounds) makes: of float32, of 8-bit
// integers (16-bit ones where there is no instruction for bytes). 0 where the target has no
// instruction of its own for them.
uint64_t FmasOf(size_t rounds);
uint64_t DotsOf(size_t rounds);
// Each returns a number that depends on all of them.
float RunFmas(size_t rounds);
float RunDots(size_t rounds);

}  // namespace nn::bench
