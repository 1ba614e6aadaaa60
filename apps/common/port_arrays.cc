#include "apps/common/port_arrays.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "apps/common/model.h"
#include "base/file.h"
#include "base/text.h"
#include "formats/tensor_file.h"
#include "passes/ports.h"
#include "tensorio/npy.h"
#include "tensorio/tensor_archive.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

// Finds the port of an array: by name (as it is or as in an .npz file), or by position.
class PortTable {
 public:
  PortTable(const std::vector<Port>& ports, std::string_view prefix) {
    for (size_t i = 0; i < ports.size(); ++i) {
      table_.emplace(ports[i].name, i);
      table_.emplace(Escape(ports[i].name), i);
    }
    for (size_t i = 0; i < ports.size(); ++i) table_.emplace(fmt::format("{}_{}", prefix, i), i);
  }

  std::optional<size_t> Find(const std::string& key) const {
    const auto it = table_.find(key);
    return it == table_.end() ? std::nullopt : std::optional(it->second);
  }

 private:
  std::unordered_map<std::string, size_t> table_;
};

bool IsArchive(const fs::path& path) {
  return path.extension() == ".npz" || path.extension() == ".safetensors";
}

bool IsTensorFile(const fs::path& path) {
  for (const char* extension : {".npy", ".pb", ".bin", ".raw"})
    if (path.extension() == extension) return true;
  return false;
}

Status ReadInput(const std::string& path, size_t port, const std::vector<Port>& ports,
                 VerifyInputs& set) {
  if (set.tensors[port])
    return UsageError("{}: input {} is given more than once", path, Quote(ports[port].name));
  auto tensor = ReadTensorFile(path, ports[port].value->type());
  if (!tensor) return tl::unexpected(tensor.error().In("input " + Quote(ports[port].name)));
  set.tensors[port] = *std::move(tensor);
  return {};
}

Result<std::vector<fs::path>> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    entries.push_back(it->path());
  if (error) return IoError("{}: {}", folder.string(), error.message());
  // Set 10 follows set 9.
  std::ranges::sort(entries, {}, [](const fs::path& p) {
    const std::string name = p.filename();
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    return std::tuple(name.substr(0, digits), name.size(), name);
  });
  return entries;
}

Status ReadFolder(const fs::path& folder, const std::vector<Port>& ports, const ReadLimits& limits,
                  std::vector<VerifyInputs>& sets) {
  const PortTable by_name(ports, "in"), by_position(ports, "input");
  VerifyInputs own{folder.string(), std::vector<std::optional<Tensor>>(ports.size())};
  bool any = false;
  NN_ASSIGN(const std::vector<fs::path> entries, EntriesOf(folder));
  for (const fs::path& path : entries) {
    if (!IsTensorFile(path)) continue;
    const std::string stem = path.stem();
    auto port = by_name.Find(stem);
    if (!port) port = by_position.Find(stem);
    if (!port && stem.starts_with("output_")) continue;
    if (!port)
      return UsageError("{}: matches no input of {}, nor in_K or input_K by position",
                        path.string(), NameList(ports));
    NN_RETURN_IF_ERROR(ReadInput(path, *port, ports, own));
    any = true;
  }
  if (any) sets.push_back(std::move(own));
  std::error_code error;
  for (const fs::path& path : entries) {
    if (fs::is_directory(path, error)) {
      NN_RETURN_IF_ERROR(ReadFolder(path, ports, limits, sets));
    } else if (IsArchive(path)) {
      NN_ASSIGN(auto tensors, ReadPortArrays(path, ports, "in", limits));
      sets.push_back({path.string(), std::move(tensors)});
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::optional<Tensor>>> ReadPortArrays(const std::string& path,
                                                          const std::vector<Port>& ports,
                                                          std::string_view prefix,
                                                          const ReadLimits& limits) {
  NN_ASSIGN(const Blob file, ReadFile(path, limits.max_file_bytes, limits.max_piped_bytes));
  auto arrays = ReadTensorArchive(file, {limits.max_unpacked_bytes, limits.max_items});
  if (!arrays) return tl::unexpected(arrays.error().In(path));
  const PortTable table(ports, prefix);
  std::vector<std::optional<Tensor>> out(ports.size());
  for (const NamedTensor& array : *arrays) {
    const auto port = table.Find(array.name);
    if (!port)
      return UsageError("{}: array {} matches no name of {}, nor {}_K by position", path,
                        Quote(array.name), NameList(ports), prefix);
    if (out[*port]) return UsageError("{}: two arrays match {}", path, Quote(ports[*port].name));
    const DType wanted = ports[*port].value->dtype();
    out[*port] = array.tensor;
    if (array.tensor.dtype() == wanted || array.tensor.dtype() != StoredType(wanted)) continue;
    auto converted = FromStored(array.tensor, wanted);
    if (!converted)
      return tl::unexpected(converted.error().In(fmt::format("{}: {}", path, Quote(array.name))));
    out[*port] = *std::move(converted);
  }
  return out;
}

Result<std::vector<VerifyInputs>> ReadInputSets(const std::vector<std::string>& paths,
                                                const std::vector<Port>& ports,
                                                const ReadLimits& limits) {
  std::vector<VerifyInputs> sets;
  bool joins = false;  // whether the last set consists of single inputs
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      const size_t before = sets.size();
      NN_RETURN_IF_ERROR(ReadFolder(path, ports, limits, sets));
      if (sets.size() == before)
        return UsageError(
            "{}: the folder contains no inputs (.npz, .safetensors, .npy, .pb, .bin "
            "or .raw files)",
            path);
      joins = false;
      continue;
    }
    if (IsArchive(path)) {
      NN_ASSIGN(auto tensors, ReadPortArrays(path, ports, "in", limits));
      sets.push_back({path, std::move(tensors)});
      joins = false;
      continue;
    }
    Assignment a{0, path};
    if (!fs::exists(path, error) || ports.size() != 1) {
      auto assignment = SplitAssignment(path, NamesOf(ports));
      if (!assignment)
        return tl::unexpected(assignment.error().In(
            "a single tensor needs the name of its input, or a model with one input"));
      a = *std::move(assignment);
    }
    if (!joins || sets.back().tensors[a.port])
      sets.push_back({path, std::vector<std::optional<Tensor>>(ports.size())});
    else
      sets.back().label += ", " + path;
    joins = true;
    NN_RETURN_IF_ERROR(ReadInput(a.value, a.port, ports, sets.back()));
  }
  return sets;
}

}  // namespace nn::app
