// Seeded damage to the wire form of flatbuffers, whose fields the binary schema tells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nn::test {

// Changes one to three of: scalar fields, elements of vectors, lengths of vectors and strings,
// offsets, entries and sizes of vtables, the distance of a table from its vtable. `path` is of the
// form ".tflite" or ".nnapi". The bytes as they are if nothing can be found in them. The same for
// the same seed.
std::string MutateFlatbuffer(std::string_view bytes, std::string_view path, uint64_t seed);

}  // namespace nn::test
