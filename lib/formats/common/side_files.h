// The files beside a model that it names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/blob.h"
#include "base/file.h"
#include "base/status.h"

namespace nn {

// Opens files by ReadFileBeneath. Together with the model's own bytes they count against
// max-file-bytes, each once; copies of the reader count together. Threads may share it.
class SideFiles {
 public:
  SideFiles() : SideFiles({}, kMaxFileBytes, 0) {}
  // `model_bytes` of `max_bytes` are taken already.
  SideFiles(std::filesystem::path directory, uint64_t max_bytes, uint64_t model_bytes);

  // kLimit if its bytes are too many; the errors of ReadFileBeneath.
  Result<Blob> Read(std::string_view relative) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace nn
