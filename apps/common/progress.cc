#include "apps/common/progress.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>

#include "base/text/text.h"

namespace nn::app {

Progress::Progress(std::string what, uint64_t total, Unit unit)
    : what_(std::move(what)),
      total_(total),
      unit_(unit),
      enabled_(isatty(STDERR_FILENO) == 1 && spdlog::should_log(spdlog::level::info)),
      next_(Clock::now() + std::chrono::seconds(1)) {
  if (unit_ == Unit::kCount) Show();
}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::Update(uint64_t done) {
  done_ = done;
  if (unit_ == Unit::kBytes) {
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
  }
  Show();
}

void Progress::Show() {
  if (!enabled_) return;
  shown_ = true;
  if (unit_ == Unit::kBytes)
    fmt::print(stderr, "\r\x1b[K{} {} of {}", what_, HumanBytes(done_), HumanBytes(total_));
  else
    fmt::print(stderr, "\r\x1b[K{} {}/{}", what_, done_, total_);
  std::fflush(stderr);
}

void ShownProgress::Update(std::string_view what, Progress::Unit unit, uint64_t done,
                           uint64_t total) {
  if (!shown_) return;
  if (done == 0)
    progress_.emplace(std::string(what), total, unit);
  else
    progress_->Update(done);
  if (done == total) progress_.reset();
}

}  // namespace nn::app
