#include "formats/common/edit/side_files.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "base/text/text.h"

namespace nn {

struct SideFiles::State {
  std::filesystem::path directory;
  uint64_t max_bytes = 0;
  uint64_t left = 0;
  std::mutex mutex;
  std::map<std::string, uint64_t, std::less<>> counted;  // bytes by name

  uint64_t Counted(std::string_view name) const {
    const auto it = counted.find(name);
    return it == counted.end() ? 0 : it->second;
  }
  void Count(std::string_view name, uint64_t bytes) {
    left += Counted(name);
    left -= std::min(left, bytes);
    counted.insert_or_assign(std::string(name), bytes);
  }
};

SideFiles::SideFiles(std::filesystem::path directory, uint64_t max_bytes, uint64_t model_bytes)
    : state_(std::make_shared<State>()) {
  state_->directory = std::move(directory);
  state_->max_bytes = max_bytes;
  state_->left = max_bytes - std::min(max_bytes, model_bytes);
}

Result<Blob> SideFiles::Read(std::string_view relative) const {
  const std::lock_guard lock(state_->mutex);
  auto file =
      ReadFileBeneath(state_->directory, relative, state_->left + state_->Counted(relative));
  if (!file && file.error().code() == ErrorCode::kLimit)
    return LimitError(
        "external file {}: it and the model's other files exceed the limit (max-file-bytes) of {} "
        "bytes",
        Quote(relative), state_->max_bytes);
  if (file) state_->Count(relative, file->size());
  return file;
}

void SideFiles::Count(std::string_view relative, uint64_t bytes) const {
  const std::lock_guard lock(state_->mutex);
  state_->Count(relative, bytes);
}

std::vector<std::string> SideFiles::Names() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> names;
  names.reserve(state_->counted.size());
  for (const auto& [name, bytes] : state_->counted) names.push_back(name);
  return names;
}

}  // namespace nn
