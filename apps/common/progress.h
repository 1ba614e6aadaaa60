// A progress line on the terminal.
#pragma once

#include <cstdint>
#include <string>

namespace nn::app {

// Prints only if standard error is a terminal and messages are enabled. The line is removed at the
// end.
class Progress {
 public:
  Progress(std::string what, uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One more of `total` is done.
  void Step();

 private:
  void Show() const;

  std::string what_;
  uint64_t total_;
  uint64_t done_ = 0;
  bool shown_;
};

}  // namespace nn::app
