#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "formats/nnapi/file/native.h"

namespace nn::nnapi {
namespace {

// Moves large constants of operandValues into an external pool. Large pools and pools that already
// have files also get files, so that no file name of the model remains.
Status MoveOut(Model& model, const ExternalData& wanted) {
  size_t files = 0;
  const auto next_file = [&] {
    const size_t n = files++;
    return n == 0 ? wanted.file : wanted.file + "." + std::to_string(n);
  };
  MemoryPacker inside, outside;
  bool has_changed = false, has_file = false;
  for (Operand& o : model.operands) {
    if (o.lifetime != LifeTime::kConstantCopy) continue;
    const auto bytes = BytesOf(model, o);
    if (!bytes) return ModelError("a constant is outside operandValues");
    const bool moves = bytes->size() >= wanted.threshold && !bytes->empty();
    const auto offset = (moves ? outside : inside).Append(*bytes);
    if (!offset) return UnsupportedError("the constants of operandValues exceed 4 GiB");
    o.location.offset = *offset;
    if (!moves) continue;
    o.lifetime = LifeTime::kConstantReference;
    o.location.pool_index = static_cast<uint32_t>(model.pools.size());
  }
  std::map<std::string, std::string> names;  // new names by names in the model
  for (Pool& pool : model.pools) {
    if (pool.bytes.empty()) {
      pool.file.clear();
    } else if (!pool.file.empty()) {
      std::string& name = names[pool.file];
      if (name.empty()) name = next_file();
      has_file = true;
      has_changed = has_changed || pool.file != name;
      pool.file = name;
    } else if (pool.bytes.size() >= wanted.threshold) {
      pool.file = next_file();
      has_changed = true;
    }
  }
  if (!has_changed && outside.size() == 0)
    return UsageError("--external-data {} has no effect: {}", wanted.file,
                      has_file ? std::string("the constants are there")
                               : fmt::format("no constant has {} bytes or more "
                                             "(--external-threshold)",
                                             wanted.threshold));
  model.operand_values = inside.Finish();
  if (outside.size() > 0) model.pools.push_back({outside.Finish(), next_file()});
  return {};
}

}  // namespace

Result<FileImage> Assemble(Model model, const ExportOptions& options) {
  const ExternalData& wanted = options.external_data;
  if (wanted.embed)
    for (Pool& pool : model.pools) pool.file.clear();
  else if (!wanted.file.empty())
    NN_RETURN_IF_ERROR(MoveOut(model, wanted));
  FileImage image;
  if (options.path.ends_with(".json")) {
    NN_ASSIGN(Blob text, WriteJson(model));
    image.parts = {std::move(text)};
  } else {
    NN_ASSIGN(image.parts, WriteFlatbuffer(model));
  }
  for (const Pool& pool : model.pools) {
    if (pool.file.empty()) continue;
    const bool there = std::any_of(image.side_files.begin(), image.side_files.end(),
                                   [&](const SideFile& side) { return side.name == pool.file; });
    if (!there) image.side_files.push_back({pool.file, pool.bytes.pieces(), wanted.file.empty()});
  }
  return image;
}

}  // namespace nn::nnapi
