// Options that set the dynamic dimensions of a model's inputs, with sizes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/types/type.h"

namespace nn {

// The sizes to try for dimensions that are no batch.
inline constexpr int64_t kOpenSizes[] = {32, 64, 224};

struct ChosenShapes {
  std::map<std::string, int64_t> symbols;
  std::string options;  // of nnconvert and nnrun, as a shell reads them
};

// 1 for a batch, `size` for the other symbols of the inputs.
ChosenShapes ChooseShapes(const Graph& graph, int64_t size);

// The options of the first sizes with which the shapes of all values can be inferred; "" if there
// are none, or if an input has no rank.
std::string WorkingShapes(const Graph& graph);

// The sizes of a shape with symbols; nullopt for other types.
std::optional<std::vector<int64_t>> SizesIn(const Type& type,
                                            const std::map<std::string, int64_t>& symbols);

// The word as one argument in a shell.
std::string ShellWord(const std::string& word);

}  // namespace nn
