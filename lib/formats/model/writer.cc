#include "formats/model/writer.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace nn {
namespace {

uint64_t SizeOf(const std::vector<Blob>& parts) {
  uint64_t n = 0;
  for (const Blob& b : parts) n += b.size();
  return n;
}

}  // namespace

uint64_t SideFile::size() const {
  return SizeOf(parts);
}

uint64_t FileImage::size() const {
  uint64_t n = SizeOf(parts);
  if (is_folder)
    for (const SideFile& side : side_files) n += side.size();
  return n;
}

Blob FileImage::Contents() const {
  Buffer all(SizeOf(parts));
  std::byte* at = all.data();
  for (const Blob& b : parts)
    b.Visit([&](std::span<const std::byte> piece) {
      at = std::ranges::copy(piece, at).out;
      return true;
    });
  return Blob(std::move(all));
}

Status ModelWriter::CheckOptions(const ExportOptions& options) const {
  if (!options.core_ml.empty()) return UsageError("--core-ml is for Core ML");
  if (!options.deployment_target.empty()) return UsageError("--deployment-target is for Core ML");
  return {};
}

Status ModelWriter::Lower(Graph& /*graph*/, const ExportOptions& /*options*/,
                          RewriteCounts* /*rewrites*/) const {
  return {};
}

Result<ModelFrame> ModelWriter::FrameOf(const NativeModel& /*model*/) const {
  return ModelFrame();
}

}  // namespace nn
