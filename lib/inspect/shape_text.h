// Shapes as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/type.h"

namespace nn::inspect {

// A number or an expression; "?" for sizes known only at run time.
std::string SizeText(const Dim& size);

// "[1, 3, batch]"; "[*]" for an unknown rank.
std::string ShapeText(const Type& type);
std::string ShapeText(const std::vector<int64_t>& shape);

}  // namespace nn::inspect
