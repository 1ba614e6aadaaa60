#include "base/file/model_files.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>

#include "base/file/blob.h"
#include "base/file/file.h"
#include "base/sha256.h"

namespace nn {
namespace {

namespace fs = std::filesystem;

Result<FileDigest> DigestFile(const fs::path& folder, const std::string& name) {
  constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
  constexpr size_t kPiece = size_t{16} << 20;
  NN_ASSIGN(const Blob file, ReadFile((folder / name).string(), kAny));
  Sha256 sha;
  for (size_t at = 0; at < file.size(); at += kPiece) {
    const Blob piece = file.Slice(at, std::min(kPiece, file.size() - at));
    sha.Bytes(piece.bytes());
    DropResidentPages(piece);
  }
  return FileDigest{name, file.size(), sha.Finish()};
}

// Sorted, relative to the folder.
Result<std::vector<std::string>> FilesBelow(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error))
    if (std::error_code ignored; it->is_regular_file(ignored))
      names.push_back(it->path().lexically_relative(folder).string());
  if (error) return IoError("{}: {}", folder.string(), error.message());
  std::ranges::sort(names);
  return names;
}

Result<std::vector<FileDigest>> DigestFiles(const fs::path& folder,
                                            std::span<const std::string> names) {
  std::vector<FileDigest> out;
  for (const std::string& name : names) {
    NN_ASSIGN(FileDigest file, DigestFile(folder, name));
    out.push_back(std::move(file));
  }
  return out;
}

}  // namespace

Result<std::vector<FileDigest>> DigestModel(const std::string& path) {
  std::error_code error;
  if (path == "-") return std::vector<FileDigest>();
  if (fs::is_directory(path, error)) {
    NN_ASSIGN(const std::vector<std::string> names, FilesBelow(path));
    return DigestFiles(path, names);
  }
  if (!fs::is_regular_file(path, error)) return std::vector<FileDigest>();
  return DigestBeside(path, std::vector{fs::path(path).filename().string()});
}

Result<std::vector<FileDigest>> DigestModel(const std::string& path,
                                            std::span<const std::string> beside) {
  NN_ASSIGN(std::vector<FileDigest> files, DigestModel(path));
  if (files.empty()) return files;
  NN_ASSIGN(const std::vector<FileDigest> more, DigestBeside(path, beside));
  files.insert(files.end(), more.begin(), more.end());
  return files;
}

Result<std::vector<FileDigest>> DigestBeside(const std::string& path,
                                             std::span<const std::string> names) {
  return DigestFiles(fs::path(path).parent_path(), names);
}

}  // namespace nn
