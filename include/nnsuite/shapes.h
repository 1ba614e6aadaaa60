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
  // The elements of inputs that are sequences; nullopt: an optional input without a value.
  std::map<std::string, std::optional<int64_t>> lengths = {};

  bool empty() const { return shapes.empty() && !batch && lengths.empty(); }
};

}  // namespace nnsuite
