// What a run of a model takes: nninspect --cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/nninspect/loaded.h"
#include "base/json.h"

namespace nn::app {

// Of one operator of the main graph. Sizes are nullopt where a shape is not known.
struct CostRow {
  int64_t index = -1;  // of the operator among those of the main graph; -1: the importer added it
  std::string op;      // as the file has it
  std::string name;
  std::string output;                     // type and shape of the first output
  std::optional<uint64_t> multiply_adds;  // nullopt: not known
  uint64_t parameters = 0;                // elements of the constants it takes
  // Constants and other inputs, each once; outputs.
  std::optional<uint64_t> bytes_read;
  std::optional<uint64_t> bytes_written;
  std::string unknown;  // why the multiply-adds are not known
};

struct Cost {
  std::vector<CostRow> rows;  // in the file's order
  // Sums over the rows that have them; `unknown` rows have no multiply-adds, `unsized` ones lack
  // bytes.
  uint64_t multiply_adds = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t unknown = 0;
  uint64_t unsized = 0;
  uint64_t parameters = 0;  // elements of all constants that are taken, each counted once
  // The largest sum of tensors that are alive at a time, constants apart, when operators run in the
  // file's order, none in place; what is inside one operator does not count. nullopt where a size
  // is not known.
  std::optional<uint64_t> peak_bytes;
  size_t peak_row = 0;  // the first operator where that is so
};

// kUnsupported and the like for a model that cannot be imported.
Result<Cost> CostOf(const LoadedModel& model);

std::string CostText(const Cost& cost);
std::string CostCsv(const Cost& cost);
Json CostJson(const Cost& cost);

}  // namespace nn::app
