// The side files that a model names.
// Design: docs/design/042-untrusted-models.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/blob.h"
#include "base/file/file.h"
#include "base/status.h"

namespace nn {

// Opens files by ReadFileBeneath. Their bytes count against max-file-bytes together with the
// model's, each file once, across all copies of the reader. Thread-safe.
class SideFiles {
 public:
  SideFiles() : SideFiles({}, kMaxFileBytes, 0) {}
  // `model_bytes` of `max_bytes` are already used.
  SideFiles(std::filesystem::path directory, uint64_t max_bytes, uint64_t model_bytes);

  // kLimit if the total size is too large; else the errors of ReadFileBeneath.
  Result<Blob> Read(std::string_view relative) const;
  // Counts a file that was read in another way.
  void Count(std::string_view relative, uint64_t bytes) const;
  // The files that have been read so far, sorted.
  std::vector<std::string> Names() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace nn
