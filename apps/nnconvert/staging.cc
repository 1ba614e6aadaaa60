#include "apps/nnconvert/staging.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

bool IsPlainName(const std::string& name) {
  const fs::path path(name);
  return !name.empty() && name != "." && name != ".." && path == path.filename();
}

}  // namespace

StagedModel::StagedModel(StagedModel&& other) noexcept
    : target_(std::move(other.target_)),
      folder_(std::exchange(other.folder_, {})),
      model_(std::move(other.model_)),
      side_files_(std::move(other.side_files_)),
      direct_(other.direct_) {}

StagedModel::~StagedModel() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Result<StagedModel> StagedModel::Write(const FileImage& image, const std::string& target) {
  StagedModel staged;
  const auto place = ReplaceableFile(target);
  staged.direct_ = !place;
  staged.target_ = place.value_or(target);
  if (staged.direct_ && !image.side_files.empty())
    return UsageError("{}: the model has {} more files beside it; name a file", target,
                      image.side_files.size());
  std::error_code error;
  const std::string base =
      staged.direct_ ? (fs::temp_directory_path(error) / "nnconvert").string() : staged.target_;
  if (error) return IoError("no folder for temporary files: {}", error.message());
  std::string folder = base + ".XXXXXX";
  if (mkdtemp(folder.data()) == nullptr)
    return IoError("{}: {}", target, std::generic_category().message(errno));
  staged.folder_ = folder;
  const std::string name = staged.direct_ ? "model" : fs::path(staged.target_).filename().string();
  staged.model_ = (fs::path(folder) / name).string();
  NN_RETURN_IF_ERROR(WriteFile(staged.model_, image.parts));
  for (const auto& [side, parts] : image.side_files) {
    if (!IsPlainName(side) || side == name)
      return InternalError("side file {} has no plain name of its own", Quote(side));
    NN_RETURN_IF_ERROR(WriteFile((fs::path(folder) / side).string(), parts));
    staged.side_files_.push_back(side);
  }
  return staged;
}

Status StagedModel::Commit() {
  if (direct_) {
    NN_ASSIGN(const Blob bytes, ReadFile(model_));
    return WriteFile(target_, bytes.bytes());
  }
  const auto move = [](const fs::path& from, const fs::path& to) -> Status {
    std::error_code error;
    fs::rename(from, to, error);
    if (error) return IoError("{}: {}", to.string(), error.message());
    return {};
  };
  const fs::path place = fs::path(target_).parent_path();
  for (const std::string& side : side_files_)
    NN_RETURN_IF_ERROR(move(fs::path(folder_) / side, place / side));
  return move(model_, target_);
}

}  // namespace nn::app
