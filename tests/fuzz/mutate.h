// Seeded damage to files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nn::test {

// The bytes with one to four of: flipped bits, overwritten, inserted, removed or repeated bytes,
// changed lengths (whole numbers of 1 to 8 bytes that are small, large or around a power of two),
// truncation. Deterministic for a seed.
std::string Mutate(std::string_view bytes, uint64_t seed);

// A text with one to three of: words deleted, doubled, exchanged or copied from elsewhere, also
// very often, and other numbers. Deterministic for a seed.
std::string MutateText(std::string_view text, uint64_t seed);

}  // namespace nn::test
