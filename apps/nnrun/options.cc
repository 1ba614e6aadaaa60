#include "apps/nnrun/options.h"

#include <filesystem>
#include <system_error>

#include "base/thread_pool.h"

namespace nn::app {

ProgramOptions RunOptions::program() const {
  ProgramOptions o = execution;
  if (o.threads == 0) o.threads = AvailableProcessors();
  return o;
}

bool RunOptions::runs_folder() const {
  std::error_code error;
  return std::filesystem::is_directory(inputs_file, error);
}

}  // namespace nn::app
