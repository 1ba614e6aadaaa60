// What the programs ask of the system before they do anything else.
#pragma once

#include <cstdint>

namespace nn::app {

// Prepares the process. Made once, first in main().
// - Standard input, output and error that are closed become /dev/null, opened so that reading and
//   writing data fail.
// - Closed pipes and limits of file sizes become errors of writing.
// - A signal that ends the program removes its staging files first.
// - A mapped file that becomes shorter ends it with exit code 2 and the file's name.
// - Memory that runs out where no exception can be caught ends it with exit code 4.
class Process {
 public:
  explicit Process(const char* program);
};

// Says that memory has run out, without allocating any; `limit` is that of --max-memory, 0: none.
void ReportOutOfMemory(uint64_t limit) noexcept;

}  // namespace nn::app
