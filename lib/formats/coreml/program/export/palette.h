// Constants of few different numbers, as indices into a table of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/coreml/program/export/export.h"
#include "ir/graph.h"

namespace nn::coreml::program {

// The first operation set with such constants.
inline constexpr Opset kHasPalettes = Opset::kIos16;

// The bits of the numbers of a constant, ascending, if it is large enough for a table and has few
// enough of them. Reads a constant that has a table as a whole.
std::optional<std::vector<uint32_t>> PaletteOf(const Value& value);

// Whether tables make the constants of a graph less than half as large.
bool IsSmallerWithPalettes(const Graph& graph);

// Writes a constant with its PaletteOf(). Its name.
Result<std::string> AddPalette(ExportContext& ctx, const Value& value,
                               std::span<const uint32_t> table);

}  // namespace nn::coreml::program
