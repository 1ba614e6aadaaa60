// Shapes of a model's inputs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nnsuite {

// Shapes of inputs, by name, and the batch, as Graph::SetInputShapes and SetBatch take them.
struct InputShapes {
  std::map<std::string, std::vector<int64_t>> shapes = {};
  std::optional<int64_t> batch = std::nullopt;
};

}  // namespace nnsuite
