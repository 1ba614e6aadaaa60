// Constants of few different numbers, as indices into a table of them.
#pragma once

#include <string>

#include "base/status.h"
#include "formats/coreml/program/export/export.h"
#include "ir/graph.h"

namespace nn::coreml::program {

// The first operation set with such constants.
inline constexpr Opset kHasPalettes = Opset::kIos16;

// Whether a constant is large enough for a table, and of few enough numbers. Reads those that have
// a table as a whole.
bool HasPalette(const Value& value);

// Whether tables make the constants of a graph less than half as large.
bool IsSmallerWithPalettes(const Graph& graph);

// Writes a constant that HasPalette(). Its name.
Result<std::string> AddPalette(ExportContext& ctx, const Value& value);

}  // namespace nn::coreml::program
