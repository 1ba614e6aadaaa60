// Constants of few different numbers, as indices into a table of them, and constants with many
// zeros, as the other numbers and a bit for each element.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/coreml/program/export/export.h"
#include "ir/graph.h"

namespace nn::coreml::program {

// The first operation set with such constants.
inline constexpr Opset kHasPacked = Opset::kIos16;

struct Packing {
  std::vector<uint32_t> table;  // the bits of the numbers, ascending; empty: zeros are left out
  uint64_t bytes = 0;           // that it takes
};

// The smallest form of a constant, if it is large enough for one, and if one is smaller than all of
// its numbers. Zeros are left out if there are many among the first elements. Reads a constant that
// has a form as a whole.
std::optional<Packing> PackingOf(const Value& value);

// Whether packing makes the constants of a graph smaller by more than a third.
bool IsSmallerPacked(const Graph& graph);

// Writes a constant with its PackingOf(). Its name.
Result<std::string> AddPacked(ExportContext& ctx, const Value& value, const Packing& packing);

}  // namespace nn::coreml::program
