// What --against reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "against/drift.h"
#include "apps/nnrun/options.h"

namespace nn::app {

struct AgainstSummary {
  std::string model, other;
  size_t values = 0;  // that the model computes
  std::vector<against::ValueDrift> drifts;
  std::vector<std::string> outputs;  // without a counterpart
  size_t recorded = 0;               // values without a counterpart in the model
  uint64_t peak_bytes = 0;           // of the values that existed at the same time, in both models

  // The first value that differs; null if all agree.
  const against::ValueDrift* first() const;
};

// The differences, as text, JSON or an HTML page.
void DescribeAgainst(const AgainstSummary& summary, const RunOptions& options, RunReport& report);

}  // namespace nn::app
