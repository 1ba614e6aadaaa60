// What one core can do at most: fused multiply-adds that touch registers only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nn::bench {

// Floating-point operations (two a lane) that one call of RunFmas(rounds) makes on the SIMD target
// in use (UseSimdTarget); 0 on targets without a fused multiply-add of their own.
uint64_t FmaOperations(size_t rounds);
// Returns a number that depends on all of them.
float RunFmas(size_t rounds);

}  // namespace nn::bench
