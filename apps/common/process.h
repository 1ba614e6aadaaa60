// Process-wide setup: standard streams, signals, memory errors.
#pragma once

#include <cstdint>

namespace nn::app {

// Prepares the process. Made once, first in main().
// - Standard input, output and error that are closed become /dev/null, opened so that reading and
//   writing data fail.
// - Closed pipes and file size limits become write errors.
// - Signals that end the program remove its staging files first.
// - A mapped file that is truncated ends the program with exit code 2 and the file's name.
// - Out of memory where no exception can be caught ends the program with exit code 4.
class Process {
 public:
  explicit Process(const char* program);
};

// Reports that memory has run out, without allocating; `limit` is that of --max-memory, 0 if none.
void ReportOutOfMemory(uint64_t limit) noexcept;

}  // namespace nn::app
