// The overview of a model: operators by type, dynamic dimensions, multiply-adds, and operators that
// cannot be imported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inspect/loaded.h"

namespace nn::inspect {

// A type of operator that cannot be imported.
struct Unsupported {
  std::string op;
  std::string reason;
  uint64_t count = 0;
};

// An axis of an input or output with dynamic size.
struct DynamicAxis {
  bool is_output;
  std::string tensor;
  size_t axis;
};

struct Overview {
  std::vector<std::pair<std::string, uint64_t>> histogram;  // most frequent first, then by name
  // By symbol; unnamed axes have the empty symbol.
  std::map<std::string, std::vector<DynamicAxis>> dynamic;
  // Of the imported operators, with subgraphs counted once. nullopt without a graph, and if they
  // depend on unknown shapes.
  std::optional<uint64_t> multiply_adds;
  // The operators of the main graph without multiply-adds: unsupported ones, and those that depend
  // on them.
  uint64_t uncounted = 0;
  std::vector<Unsupported> unsupported;
};

// Parts about the graph are empty if the model has none.
Overview OverviewOf(const LoadedModel& model);

// The value of an entry of TensorSummary::shape; nullopt for symbols.
std::optional<int64_t> FixedSize(const std::string& size);

}  // namespace nn::inspect
