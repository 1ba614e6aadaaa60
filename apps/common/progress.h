// A progress line on the terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nn::app {

// Prints only if standard error is a terminal and messages are enabled. The line is removed at the
// end.
class Progress {
 public:
  enum class Unit : uint8_t { kCount, kBytes };

  // Bytes are shown once they take more than a second, and then ten times a second.
  Progress(std::string what, uint64_t total, Unit unit = Unit::kCount);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One more of `total` is done.
  void Step() { Update(done_ + 1); }
  void Update(uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  void Show();

  std::string what_;
  uint64_t total_;
  Unit unit_;
  uint64_t done_ = 0;
  bool enabled_;
  bool shown_ = false;
  Clock::time_point next_;  // of kBytes: when to show the next state
};

// The progress of one activity after another.
class ShownProgress {
 public:
  explicit ShownProgress(bool shown) : shown_(shown) {}

  // An activity begins when none of `total` is done, and ends when all are.
  void Update(std::string_view what, Progress::Unit unit, uint64_t done, uint64_t total);

 private:
  bool shown_;
  std::optional<Progress> progress_;
};

}  // namespace nn::app
