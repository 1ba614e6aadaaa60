#include "convert/place/staged_model.h"

#include <fcntl.h>
#include <sys/stat.h>
#ifdef __linux__
#include <linux/fs.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>

#include "base/file/file_descriptor.h"
#include "base/file/side_file_placer.h"
#include "base/text/text.h"

namespace nn {
namespace {

namespace fs = std::filesystem;

std::string InFolder(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / name).string();
}

// Checks the target of a folder model: it must not exist, or be a folder whose files the model all
// has.
Result<std::string> PlaceOfFolder(const FileImage& image, const std::string& target) {
  std::string place = target;
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  std::error_code error;
  if (fs::is_symlink(place, error)) {
    place = fs::canonical(place, error).string();
    if (error) return IoError("{}: {}", target, error.message());
  }
  const fs::file_type type =
      place == "-" ? fs::file_type::character : fs::status(place, error).type();
  if (type == fs::file_type::not_found) return place;
  if (type == fs::file_type::none) return IoError("{}: {}", target, error.message());
  if (type != fs::file_type::directory)
    return UsageError("{} must be a folder, because the model is one", target);
  error.clear();
  for (fs::directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (std::none_of(image.side_files.begin(), image.side_files.end(), [&](const SideFile& side) {
          return fs::path(side.name).begin()->string() == name;
        }))
      return UsageError("{}: the folder contains {}, which is not part of a model", target,
                        Quote(name));
  }
  if (error) return IoError("{}: {}", target, error.message());
  return place;
}

// Side files are read from the folder of the model path, so the path must not be a link to another
// folder.
Status CheckLink(const std::string& target, const std::string& place) {
  std::error_code error;
  if (!fs::is_symlink(target, error)) return {};
  const std::string folder = ParentFolder(target);
  const auto own = fs::canonical(folder.empty() ? "." : folder, error);
  if (own == fs::path(place).parent_path()) return {};
  return UsageError(
      "{}: is a symbolic link to {}, but the model has side files; use the target path instead",
      target, place);
}

// Writes beneath a staging folder; errors use `shown`, the name that the user knows.
Status MakeFolders(const fs::path& path, const std::string& shown) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return IoError("{}: {}", shown, error.message());
  return {};
}

bool IsHidden(std::string_view name) {
  return name.starts_with('.') || name.find("/.") != std::string_view::npos;
}

// The path of a side file that the model names. Models are untrusted, so they cannot choose files
// to replace or hidden files that other programs read.
Status CheckNamedByModel(const std::string& folder, const std::string& name,
                         const std::vector<Blob>& contents) {
  NN_ASSIGN(const SidePathState place, CheckSidePath(folder, name, contents));
  if (place == SidePathState::kTaken)
    return UsageError(
        "{}: a different file of this name exists, and the model's tensors need the name; choose "
        "another with --external-data",
        InFolder(folder, name));
  if (place == SidePathState::kFree && IsHidden(name))
    return UsageError(
        "the model's file {} is hidden; hidden files named by a model are not written. Use "
        "--external-data or --embed-data to move its tensors",
        Quote(name));
  return {};
}

// Copies mode and owner to all files that the old folder also has.
int KeepModesAndOwners(const fs::path& from, const fs::path& to) {
  const auto keep = [](const fs::path& old, const fs::path& path) {
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(old, ignored))) return 0;
    const FileDescriptor fd(
        Retry([&] { return open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC); }));
    return fd ? KeepModeAndOwner(fd.get(), old.string()) : errno;
  };
  std::error_code error;
  int failed = keep(from, to);
  for (fs::recursive_directory_iterator it(to, error), end; failed == 0 && !error && it != end;
       it.increment(error))
    failed = keep(from / it->path().lexically_relative(to), it->path());
  return failed != 0 ? failed : error.value();
}

}  // namespace

// Writes parts of files and reports the progress of all, which may end the writing.
class StagedModel::Writer {
 public:
  Writer(const FileImage& image, const WriteProgress& progress) : progress_(progress) {
    for (const Blob& part : image.parts) total_ += part.size();
    for (const SideFile& side : image.side_files) total_ += side.size();
  }

  // Before the first part.
  Status Start() const { return Report(); }

  Status Write(AtomicFile& file, std::span<const Blob> parts) {
    constexpr size_t kStep = size_t{64} << 20;
    for (const Blob& part : parts)
      for (size_t at = 0; at < part.size(); at += kStep) {
        const Blob step = part.Slice(at, std::min(kStep, part.size() - at));
        file.Write(std::span(&step, 1));
        done_ += step.size();
        NN_RETURN_IF_ERROR(Report());
      }
    return {};
  }

  // The errors name the file `shown`.
  Status WriteFile(const std::string& path, std::span<const Blob> parts, const std::string& shown) {
    NN_ASSIGN(AtomicFile file, AtomicFile::Create(path, shown));
    NN_RETURN_IF_ERROR(Write(file, parts));
    return file.Commit();
  }

 private:
  Status Report() const { return progress_ ? progress_(done_, total_) : Status(); }

  const WriteProgress& progress_;
  uint64_t total_ = 0;
  uint64_t done_ = 0;
};

Result<StagedModel> StagedModel::Write(const FileImage& image, const std::string& target,
                                       const WriteProgress& progress) {
  StagedModel staged;
  if (image.is_folder) {
    staged.kind_ = Kind::kFolder;
    NN_ASSIGN(staged.target_, PlaceOfFolder(image, target));
  } else {
    const auto place = ReplaceableFile(target);
    staged.target_ = place.value_or(target);
    staged.kind_ = !place                     ? Kind::kDirect
                   : image.side_files.empty() ? Kind::kFile
                                              : Kind::kWithSideFiles;
  }
  if (staged.kind_ == Kind::kDirect && !image.side_files.empty())
    return UsageError("{}: the model has {} side file{}; write to a named file", target,
                      image.side_files.size(), image.side_files.size() == 1 ? "" : "s");
  if (staged.kind_ == Kind::kFile || staged.kind_ == Kind::kDirect) {
    NN_ASSIGN(staged.file_, staged.kind_ == Kind::kFile ? AtomicFile::Create(staged.target_)
                                                        : AtomicFile::CreateTemporary());
    Writer writer(image, progress);
    NN_RETURN_IF_ERROR(writer.Start());
    NN_RETURN_IF_ERROR(writer.Write(staged.file_, image.parts));
    NN_RETURN_IF_ERROR(staged.file_.status());
    staged.model_ = staged.file_.temporary_path();
    return staged;
  }
  if (staged.kind_ == Kind::kWithSideFiles) NN_RETURN_IF_ERROR(CheckLink(target, staged.target_));
  auto folder = StagingFolder::Create(ParentFolder(staged.target_));
  if (!folder) return IoError("{}: {}", target, ErrnoText(folder.error()));
  staged.folder_ = *std::move(folder);
  staged.model_ = InFolder(staged.folder_.path(), fs::path(staged.target_).filename().string());
  Writer writer(image, progress);
  NN_RETURN_IF_ERROR(writer.Start());
  NN_RETURN_IF_ERROR(image.is_folder ? MakeFolders(staged.model_, target)
                                     : writer.WriteFile(staged.model_, image.parts, target));
  for (const SideFile& side : image.side_files)
    NN_RETURN_IF_ERROR(staged.WriteSideFile(side, writer));
  return staged;
}

Status StagedModel::WriteSideFile(const SideFile& side, Writer& writer) {
  const bool in_package = kind_ == Kind::kFolder;
  const bool is_empty_folder = in_package && side.name.ends_with('/');
  const auto name = PlainRelativePath(
      std::string_view(side.name).substr(0, side.name.size() - (is_empty_folder ? 1 : 0)));
  const std::string path = InFolder(in_package ? model_ : folder_.path(), name.value_or(""));
  if (!name || path == model_)
    return UsageError("the model's file {} is outside the model's folder", Quote(side.name));
  const std::string shown = InFolder(in_package ? target_ : ParentFolder(target_), *name);
  if (is_empty_folder) return MakeFolders(path, shown);
  if (!in_package && side.keep_existing)
    NN_RETURN_IF_ERROR(CheckNamedByModel(ParentFolder(target_), *name, side.parts));
  NN_RETURN_IF_ERROR(MakeFolders(ParentFolder(path), shown));
  // Two names may be the same path ("w" and "./w").
  NN_ASSIGN(const SidePathState place,
            CheckSidePath(ParentFolder(path), fs::path(path).filename().string(), side.parts));
  if (place == SidePathState::kTaken)
    return UsageError("two of the model's files are named {}", Quote(*name));
  NN_RETURN_IF_ERROR(writer.WriteFile(path, side.parts, shown));
  if (!in_package && std::find(side_files_.begin(), side_files_.end(), *name) == side_files_.end())
    side_files_.push_back(*name);
  return {};
}

Result<ReadModel> StagedModel::Read(const ReadLimits& limits) const {
  if (kind_ == Kind::kFolder || kind_ == Kind::kWithSideFiles) return ReadModelFile(model_, limits);
  NN_ASSIGN(const Blob file, ReadFile(model_));
  return ReadModelBytes(file, kind_ == Kind::kFile ? target_ : "model", limits);
}

Status StagedModel::CommitFolder() {
  const FileDescriptor lock = LockFolder(ParentFolder(target_));
  std::error_code error;
  if (!fs::exists(fs::symlink_status(target_, error))) {
    fs::rename(model_, target_, error);  // replaces nothing, or an empty folder
    if (error) return IoError("{}: {}", target_, error.message());
    return {};
  }
  if (const int failed = KeepModesAndOwners(target_, model_); failed != 0)
    return IoError("{}: {}", target_, ErrnoText(failed));
#ifdef RENAME_EXCHANGE
  // The old folder moves to the staging folder and is deleted with it.
  if (renameat2(AT_FDCWD, model_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0)
    return {};
#else
  errno = ENOSYS;
#endif
  if (errno == EINVAL || errno == ENOSYS)
    return IoError("{}: the file system cannot exchange folders; remove this one first", target_);
  return IoError("{}: {}", target_, ErrnoText(errno));
}

Status StagedModel::Commit() {
  if (kind_ == Kind::kFolder) return CommitFolder();
  if (kind_ == Kind::kFile) return file_.Commit();
  if (kind_ == Kind::kDirect) {
    NN_ASSIGN(const Blob bytes, ReadFile(model_));
    return WriteFile(target_, std::span(&bytes, 1));
  }
  SideFilePlacer placer(ParentFolder(target_));
  for (const std::string& side : side_files_) {
    NN_ASSIGN(const bool added, placer.Add(InFolder(folder_.path(), side), side));
    lost_name_ = !added;
    if (lost_name_)
      return UsageError("{}: another program has just created a different file of this name",
                        InFolder(ParentFolder(target_), side));
  }
  const FileDescriptor model(Retry([&] { return open(model_.c_str(), O_RDONLY | O_CLOEXEC); }));
  const int failed = !model ? errno : KeepModeAndOwner(model.get(), target_);
  if (failed != 0) return IoError("{}: {}", target_, ErrnoText(failed));
  if (std::rename(model_.c_str(), target_.c_str()) != 0)
    return IoError("{}: {}", target_, ErrnoText(errno));
  placer.Keep();
  return {};
}

Result<const SideFile*> FindTakenName(const FileImage& image, const std::string& target) {
  const auto file = image.is_folder ? std::nullopt : ReplaceableFile(target);
  for (const SideFile& side : image.side_files) {
    const auto name = PlainRelativePath(side.name);
    if (!file || !name || side.keep_existing) continue;
    NN_ASSIGN(const SidePathState place, CheckSidePath(ParentFolder(*file), *name, side.parts));
    if (place == SidePathState::kTaken) return &side;
  }
  return nullptr;
}

std::string FreeName(const FileImage& image, std::string_view name) {
  std::vector<std::span<const Blob>> files;
  for (const SideFile& side : image.side_files)
    if (!side.keep_existing) files.emplace_back(side.parts);
  return NameByContents(name, files);
}

}  // namespace nn
