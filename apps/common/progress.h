// A line on the terminal that shows how far long work has come.
#pragma once

#include <cstdint>
#include <string>

namespace nn::app {

// Nothing is printed unless standard error is a terminal and messages are not turned off. The line
// is removed at the end.
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
