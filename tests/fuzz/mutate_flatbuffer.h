// Seeded damage to the wire form of flatbuffers, guided by the binary schema.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nn::test {

// Changes one to three of: scalar fields, elements of vectors, lengths of vectors and strings,
// offsets, entries and sizes of vtables, the distance of a table from its vtable. `path` is of the
// form ".tflite" or ".nnapi". Returns the bytes unchanged if nothing is found in them.
// Deterministic for a seed.
std::string MutateFlatbuffer(std::string_view bytes, std::string_view path, uint64_t seed);

}  // namespace nn::test
