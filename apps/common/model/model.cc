#include "apps/common/model/model.h"

#include <spdlog/spdlog.h>

#include "base/file/file.h"
#include "base/text/text.h"
#include "formats/common/describe/dump.h"

namespace nn::app {

Status WriteDumpOf(const ReadModel& read, const std::string& path, const DumpOptions& options) {
  NN_ASSIGN(const std::string file, WriteDumpFiles(read, path, options));
  if (!file.empty() && PlainRelativePath(options.file) != file) SayOtherName(options.file, file);
  return {};
}

void SayOtherName(std::string_view wanted, std::string_view name) {
  spdlog::info("{} exists with different contents and is kept; the tensors are in {}",
               Quote(wanted), Quote(name));
}

}  // namespace nn::app
