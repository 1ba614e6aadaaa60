#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "formats/common/dump.h"
#include "formats/common/dump_writer.h"

namespace nn {
namespace {

using nlohmann::json;

// The message without the library's prefix, "[json.exception.out_of_range.403] ".
std::string MessageOf(const json::exception& e) {
  const std::string_view text = e.what();
  const size_t end = text.find("] ");
  return std::string(end == std::string_view::npos ? text : text.substr(end + 2));
}

}  // namespace

Result<ReadModel> PatchModel(const ReadModel& model, std::string_view patch,
                             const std::string& path, const ReadLimits& limits) {
  std::string text;
  DumpWriter writer([&](std::string_view part) { text += part; }, {DumpWeights::kFile, ""});
  NN_RETURN_IF_ERROR(WriteDump(model, writer));
  std::string patched;
  try {
    const json document = json::parse(text);
    text = {};
    patched = document.patch(json::parse(patch)).dump();
  } catch (const json::exception& e) {
    return UsageError("the patch does not apply: {}", MessageOf(e));
  }
  NN_ASSIGN(DumpDocument document, DumpDocument::Parse(patched, limits));
  document.set_stored({writer.stored().begin(), writer.stored().end()});
  auto read = RestoreDump(document, path, limits);
  if (!read) return tl::unexpected(read.error().In("the patched dump"));
  read->from_dump = model.from_dump;
  return read;
}

}  // namespace nn
