// Repeated sequences in a list of operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nn::inspect {

// An operator, for the search.
struct Repeatable {
  static constexpr int64_t kOutside = -1;  // a graph input, or no operator
  uint64_t token = 0;                      // equal for operators that differ only in inputs
  std::vector<int64_t> inputs;             // producing operators, or kOutside
  std::vector<uint64_t> outside;           // identifies the value, for inputs from outside
  size_t shared = 0;                       // scopes that it shares with the operator before it
};

// Operators [start, start + period * times): `times` repetitions of `period` operators. In each
// repetition but the first, an operator reads from the counterparts of the operators that its
// counterpart in the previous repetition reads from, or from the same operator before all
// repetitions. Results of all repetitions but the last are used only within the repetitions. A
// repetition begins where the outermost scope begins, if it can.
struct Repeat {
  size_t start;
  size_t period;
  size_t times;
};

// The non-overlapping repeats that save most, by start. `results` tells for each operator whether
// it makes a graph output. Near linear; the search limits the period, more so for many operators.
std::vector<Repeat> FindRepeats(const std::vector<Repeatable>& operators,
                                const std::vector<bool>& results);

}  // namespace nn::inspect
