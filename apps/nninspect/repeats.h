// Equal successions in a list of operators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nn::app {

// An operator as the search sees it.
struct Repeatable {
  static constexpr int64_t kOutside = -1;  // of the graph: an input, or no operator
  uint64_t token = 0;             // equal for operators that are equal but for their inputs
  std::vector<int64_t> inputs;    // operators that they come from, or kOutside
  std::vector<uint64_t> outside;  // what stands there, for inputs from outside
};

// Operators [start, start + period * times), `times` successions of `period` each. In every one but
// the first an operator takes the same as its counterpart in the one before: from the counterparts
// of the same operators, or from the same operator before all of them. What those before the last
// one give is used within them only.
struct Repeat {
  size_t start;
  size_t period;
  size_t times;
};

// Repeats that save most, without overlaps, by start. `results` are the operators whose outputs the
// graph gives to its caller. Near linear; periods beyond a limit that falls with the number of
// operators are not looked for.
std::vector<Repeat> FindRepeats(const std::vector<Repeatable>& operators,
                                const std::vector<bool>& results);

}  // namespace nn::app
