#include "formats/tflite/edit/edit_data.h"

#include <algorithm>
#include <map>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "formats/common/flatbuffers/fb_outside.h"
#include "formats/tflite/export/export.h"
#include "formats/tflite/file/archive.h"

namespace nn::tflite {
namespace {

using Parts = std::vector<StableFlatbuffer::Part>;

// That of the source, which may be for the pages of a system.
uint64_t AlignmentOf(uint64_t offset) {
  const uint64_t power = offset & (~offset + 1);
  return std::clamp<uint64_t>(power, ExportContext::kDataAlignment, kMaxAlignment);
}

void AddGap(uint64_t size, Parts& parts) {
  if (size == 0) return;
  Buffer gap(size);
  gap.Clear();
  parts.push_back({Blob(std::move(gap))});
}

}  // namespace

Result<Parts> EditedData::Place(const StableFlatbuffer& source, flatbuffers::DetachedBuffer file,
                                bool keeps_archive) const {
  const auto table_at = [&](flatbuffers::uoffset_t position) {
    return reinterpret_cast<flatbuffers::Table*>(file.data() + file.size() - position);
  };
  std::vector<OutsideVector> vectors;
  for (const auto& [position, bytes] : inside_)
    vectors.push_back({ReferencePosition(file, table_at(position), fb::Buffer::VT_DATA), {bytes}});
  uint64_t end = EndOfOutside(file.size(), vectors, kInsideAlignment);
  if (end > FLATBUFFERS_MAX_BUFFER_SIZE)
    return LimitError("the weights in the model take {}; a flatbuffer has at most 2 GiB",
                      HumanBytes(end));
  Parts behind;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> placed;  // several tables may share data
  for (const Outside& o : outside_) {
    const auto [it, added] = placed.try_emplace({o.range.begin, o.range.size}, end);
    if (added) {
      it->second = RoundUp(end, AlignmentOf(o.range.begin));
      AddGap(it->second - end, behind);
      behind.push_back({source.Slice(o.range.begin, o.range.size), true});
      end = it->second + o.range.size;
    }
    table_at(o.position)->SetField<uint64_t>(o.field, it->second, 0);
  }
  if (keeps_archive) {
    NN_ASSIGN(auto archive, ArchiveAt(source.structure().bytes(), end));
    if (archive) behind.push_back({*std::move(archive)});
  }
  Parts parts;
  // The part before each vector has its length.
  for (Blob& part : PlaceOutside(std::move(file), vectors, kInsideAlignment))
    parts.push_back({std::move(part), !parts.empty() && parts.size() % 2 == 0});
  std::ranges::move(behind, std::back_inserter(parts));
  return parts;
}

}  // namespace nn::tflite
