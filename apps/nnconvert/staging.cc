#include "apps/nnconvert/staging.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

// Whether a relative path names a file beneath the folder it starts from.
bool IsBeneath(const std::string& name) {
  const fs::path path(name);
  if (name.empty() || path.has_root_path()) return false;
  return std::none_of(path.begin(), path.end(),
                      [](const fs::path& part) { return part == "." || part == ".."; });
}

bool HasContents(const fs::path& path, const std::vector<Blob>& parts) {
  const auto file = ReadFile(path.string());
  if (!file) return false;
  size_t at = 0;
  for (const Blob& part : parts) {
    if (part.size() > file->size() - at ||
        std::memcmp(file->data() + at, part.data(), part.size()) != 0)
      return false;
    at += part.size();
  }
  return at == file->size();
}

Status Move(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) return IoError("{}: {}", to.string(), error.message());
  return {};
}

// Where a model that is a folder goes: there is nothing, or a folder of which it has all the names.
Result<std::string> PlaceOfFolder(const FileImage& image, const std::string& target) {
  std::string place = target;
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(place, error))) {
    error.clear();
    place = fs::canonical(place, error).string();
    if (error) return IoError("{}: {}", target, error.message());
  }
  error.clear();
  if (place != "-" && !fs::exists(place)) return place;
  if (place == "-" || !fs::is_directory(place))
    return UsageError("{}: the model is a folder, which this is not", target);
  for (const auto& entry : fs::directory_iterator(place, error)) {
    const std::string name = entry.path().filename().string();
    if (std::none_of(image.side_files.begin(), image.side_files.end(), [&](const SideFile& side) {
          return fs::path(side.name).begin()->string() == name;
        }))
      return UsageError("{}: there is a folder with {}, which is no part of a model", target,
                        Quote(name));
  }
  if (error) return IoError("{}: {}", target, error.message());
  return place;
}

Status MakeFolders(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return IoError("{}: {}", path.string(), error.message());
  return {};
}

}  // namespace

StagedModel::StagedModel(StagedModel&& other) noexcept
    : target_(std::move(other.target_)),
      folder_(std::exchange(other.folder_, {})),
      model_(std::move(other.model_)),
      side_files_(std::move(other.side_files_)),
      direct_(other.direct_),
      is_folder_(other.is_folder_) {}

StagedModel::~StagedModel() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Result<StagedModel> StagedModel::Write(const FileImage& image, const std::string& target) {
  StagedModel staged;
  staged.is_folder_ = image.is_folder;
  if (image.is_folder) {
    NN_ASSIGN(staged.target_, PlaceOfFolder(image, target));
  } else {
    const auto place = ReplaceableFile(target);
    staged.direct_ = !place;
    staged.target_ = place.value_or(target);
  }
  if (staged.direct_ && !image.side_files.empty())
    return UsageError("{}: the model has {} more file{} beside it; name a file", target,
                      image.side_files.size(), image.side_files.size() == 1 ? "" : "s");
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
  NN_RETURN_IF_ERROR(image.is_folder ? MakeFolders(staged.model_)
                                     : WriteFile(staged.model_, image.parts));
  for (const SideFile& side : image.side_files) NN_RETURN_IF_ERROR(staged.WriteSideFile(side));
  return staged;
}

Status StagedModel::WriteSideFile(const SideFile& side) {
  const fs::path path = fs::path(is_folder_ ? model_ : folder_) / side.name;
  if (!IsBeneath(side.name) || path == model_)
    return UsageError("the model's file {} has no place beneath that of the model itself",
                      Quote(side.name));
  const fs::path place = fs::path(target_).parent_path() / side.name;
  std::error_code error;
  const bool there =
      !is_folder_ && side.keep_existing && fs::exists(fs::symlink_status(place, error));
  if (there && !HasContents(place, side.parts))
    return UsageError(
        "{}: there is another file of this name, which the model's tensors need; "
        "--external-data names a new one",
        place.string());
  NN_RETURN_IF_ERROR(MakeFolders(path.parent_path()));
  if (is_folder_ && side.name.ends_with('/')) return {};
  NN_RETURN_IF_ERROR(WriteFile(path.string(), side.parts));
  if (!there && !is_folder_) side_files_.push_back(side.name);
  return {};
}

Status StagedModel::Commit() {
  if (direct_) {
    NN_ASSIGN(const Blob bytes, ReadFile(model_));
    return WriteFile(target_, bytes.bytes());
  }
  if (is_folder_) {
    const fs::path old = fs::path(folder_) / "replaced";
    const bool replaces = fs::exists(target_);
    if (replaces) NN_RETURN_IF_ERROR(Move(target_, old));
    Status moved = Move(model_, target_);
    if (!moved && replaces) NN_RETURN_IF_ERROR(Move(old, target_));
    return moved;
  }
  const fs::path folder = fs::path(target_).parent_path();
  for (const std::string& side : side_files_) {
    if (const fs::path inner = fs::path(side).parent_path(); !inner.empty())
      NN_RETURN_IF_ERROR(MakeFolders(folder / inner));
    NN_RETURN_IF_ERROR(Move(fs::path(folder_) / side, folder / side));
  }
  return Move(model_, target_);
}

}  // namespace nn::app
