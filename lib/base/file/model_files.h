// The files of a model and their digests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace nn {

struct FileDigest {
  std::string name;  // relative to the model's folder, or to the model if that is a folder
  uint64_t bytes = 0;
  std::string digest;  // "sha256:" and the digits that sha256sum prints for the file

  // The digits alone.
  std::string digits() const { return digest.substr(digest.find(':') + 1); }
  bool operator==(const FileDigest&) const = default;
};

// The digest of the model file at `path`; of a folder, the digests of all files in it, sorted. None
// for standard input and output, pipes and devices, which cannot be read again. Memory use does not
// grow with the files. kIo for files that cannot be read. May be called concurrently, like the
// function below.
Result<std::vector<FileDigest>> DigestModel(const std::string& path);
// The same, and the digests of the files `beside` it unless there are none of the model.
Result<std::vector<FileDigest>> DigestModel(const std::string& path,
                                            std::span<const std::string> beside);

// The digests of files in the model's folder, in the order of their names.
Result<std::vector<FileDigest>> DigestBeside(const std::string& path,
                                             std::span<const std::string> names);

}  // namespace nn
