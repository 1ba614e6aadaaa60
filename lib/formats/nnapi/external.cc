#include <algorithm>
#include <map>

#include "base/checked_math.h"
#include "formats/nnapi/native.h"

namespace nn::nnapi {
namespace {

// Constants start at multiples of this in pools and in operandValues.
constexpr uint64_t kAlignment = 16;

// Consecutive byte ranges, each aligned.
class Packer {
 public:
  // Appends bytes and returns their offset; kLimit beyond the 32 bits of a location.
  Result<uint32_t> Add(const Blob& bytes) {
    const uint64_t at = (size_ + kAlignment - 1) / kAlignment * kAlignment;
    if (at + bytes.size() > UINT32_MAX)
      return LimitError("a pool has more than 4 GiB of constants");
    places_.emplace_back(at, bytes);
    size_ = at + bytes.size();
    return static_cast<uint32_t>(at);
  }

  bool empty() const { return places_.empty(); }

  Blob Bytes() const {
    Buffer all(size_);
    all.Clear();
    for (const auto& [at, bytes] : places_)
      std::copy(bytes.bytes().begin(), bytes.bytes().end(), all.data() + at);
    return Blob(std::move(all));
  }

 private:
  std::vector<std::pair<uint64_t, Blob>> places_;
  uint64_t size_ = 0;
};

// Moves large constants of operandValues into an external pool. Large pools and pools that already
// have files also get files, so that no file name of the model remains.
Status MoveOut(Model& model, const ExternalData& wanted) {
  size_t files = 0;
  const auto next_file = [&] {
    const size_t n = files++;
    return n == 0 ? wanted.file : wanted.file + "." + std::to_string(n);
  };
  Packer inside, outside;
  for (Operand& o : model.operands) {
    if (o.lifetime != LifeTime::kConstantCopy) continue;
    const auto bytes = BytesOf(model, o);
    if (!bytes) return ModelError("a constant is outside operandValues");
    const bool moves = bytes->size() >= wanted.threshold && !bytes->empty();
    NN_ASSIGN(o.location.offset, (moves ? outside : inside).Add(*bytes));
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
      pool.file = name;
    } else if (pool.bytes.size() >= wanted.threshold) {
      pool.file = next_file();
    }
  }
  model.operand_values = inside.Bytes();
  if (!outside.empty()) model.pools.push_back({outside.Bytes(), next_file()});
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
  NN_ASSIGN(Blob file, options.path.ends_with(".json") ? WriteJson(model) : WriteFlatbuffer(model));
  image.parts = {std::move(file)};
  for (const Pool& pool : model.pools) {
    if (pool.file.empty()) continue;
    const bool there = std::any_of(image.side_files.begin(), image.side_files.end(),
                                   [&](const SideFile& side) { return side.name == pool.file; });
    if (!there) image.side_files.push_back({pool.file, {pool.bytes}, wanted.file.empty()});
  }
  return image;
}

}  // namespace nn::nnapi
