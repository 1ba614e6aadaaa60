// Shapes as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/types/type.h"

namespace nn::inspect {

// A number or an expression; "?" for sizes known only at run time.
std::string SizeText(const Dim& size);

// "[1, 3, batch]"; "[*]" for an unknown rank.
std::string ShapeText(const Type& type);
std::string ShapeText(const std::vector<int64_t>& shape);

// A type as text that is equal for types that differ only in how they are written: whether zero
// points of zero are stated, the ranges that a converter recorded, the names of sizes that only a
// run determines.
std::string ComparableText(const Type& type);

}  // namespace nn::inspect
