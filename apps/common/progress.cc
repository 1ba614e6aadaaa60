#include "apps/common/progress.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>

namespace nn::app {

Progress::Progress(std::string what, uint64_t total)
    : what_(std::move(what)),
      total_(total),
      shown_(isatty(STDERR_FILENO) == 1 && spdlog::should_log(spdlog::level::info)) {
  Show();
}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::Step() {
  ++done_;
  Show();
}

void Progress::Show() const {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K{} {}/{}", what_, done_, total_);
  std::fflush(stderr);
}

}  // namespace nn::app
