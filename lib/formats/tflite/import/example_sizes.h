// The sizes that a file has in place of open ones. An interpreter plans the model with them until
// it is given others, and some operators refuse to be planned with empty values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ir/graph.h"
#include "ir/types/dim.h"

namespace nn::tflite {

using ExampleSizes = std::map<std::string, int64_t, std::less<>>;

// The sizes of the symbols of the inputs, as small as possible, with which no value is empty and
// every reshape has enough elements. None if that is so with all sizes 1, or if no sizes are found.
ExampleSizes ExampleSizesOf(const Graph& graph);

// The size of an open dimension; 1 if the sizes do not tell it.
int64_t ExampleSize(const Dim& dim, const ExampleSizes& sizes);

}  // namespace nn::tflite
