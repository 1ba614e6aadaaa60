#include "formats/common/side_files.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/text.h"

namespace nn {

struct SideFiles::State {
  std::filesystem::path directory;
  uint64_t max_bytes = 0;
  uint64_t left = 0;
  std::mutex mutex;
  std::unordered_map<std::string, uint64_t> counted;  // bytes by name
};

SideFiles::SideFiles(std::filesystem::path directory, uint64_t max_bytes, uint64_t model_bytes)
    : state_(std::make_shared<State>()) {
  state_->directory = std::move(directory);
  state_->max_bytes = max_bytes;
  state_->left = max_bytes - std::min(max_bytes, model_bytes);
}

Result<Blob> SideFiles::Read(std::string_view relative) const {
  const std::lock_guard lock(state_->mutex);
  uint64_t& counted = state_->counted[std::string(relative)];
  auto file = ReadFileBeneath(state_->directory, relative, state_->left + counted);
  if (!file && file.error().code() == ErrorCode::kLimit)
    return LimitError(
        "external file {}: it and the model's other files exceed the limit (max-file-bytes) of {} "
        "bytes",
        Quote(relative), state_->max_bytes);
  if (file) {
    state_->left += counted;
    counted = file->size();
    state_->left -= counted;
  }
  return file;
}

}  // namespace nn
