// The cost of running a model, estimated from its graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "inspect/loaded.h"

namespace nn::inspect {

// The cost of one operator of the main graph. Sizes are nullopt where a shape is unknown.
struct CostRow {
  int64_t index = -1;  // of the operator among those of the main graph; -1: the importer added it
  std::string op;      // as in the file
  std::string name;
  std::string output;                     // type and shape of the first output
  std::optional<uint64_t> multiply_adds;  // nullopt: unknown
  uint64_t parameters = 0;                // elements of its constants
  // Constants and other inputs, each once; outputs.
  std::optional<uint64_t> bytes_read;
  std::optional<uint64_t> bytes_written;
  std::string unknown;  // why the multiply-adds are unknown
};

struct Cost {
  std::vector<CostRow> rows;  // in the file's order
  // Sums over the rows that have them; `unknown` rows lack multiply-adds, `unsized` rows lack
  // bytes.
  uint64_t multiply_adds = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t unknown = 0;
  uint64_t unsized = 0;
  uint64_t parameters = 0;  // elements of all used constants, each counted once
  // The largest sum of live tensors, without constants, when operators run in file order and none
  // in place; temporaries inside an operator are not counted. nullopt if a size is unknown.
  std::optional<uint64_t> peak_bytes;
  size_t peak_row = 0;  // the first operator with this peak
};

// Requires the graph; the errors are those of GraphOf.
Result<Cost> CostOf(const LoadedModel& model);

}  // namespace nn::inspect
