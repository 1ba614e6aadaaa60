#include "convert/inputs/port_arrays.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file/file.h"
#include "base/text/table.h"
#include "base/text/text.h"
#include "formats/given_inputs.h"
#include "formats/tensor_file.h"
#include "passes/core/ports.h"
#include "tensorio/npy.h"
#include "tensorio/tensor_archive.h"

namespace nn {
namespace {

namespace fs = std::filesystem;

// A table of more inputs would hide the error.
constexpr size_t kMaxRows = 40;

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
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

// Replaces each array by what `fit` makes of it and of its input.
template <typename Fit>
Status FitEach(const std::vector<PortType>& inputs, PortArrays& arrays, const Fit& fit) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays[i]) continue;
    auto fitted = fit(*arrays[i], inputs[i]);
    if (!fitted) return tl::unexpected(fitted.error().In("input " + Quote(inputs[i].name)));
    arrays[i] = *std::move(fitted);
  }
  return {};
}

// Reads the sets of inputs of a model.
class InputSets {
 public:
  InputSets(const Graph& graph, const Format& format, const ArrayOptions& options,
            const ReadLimits& limits, const std::function<Status(VerifyInputs)>& take)
      : take_(take),
        ports_(InputTypes(graph, format)),
        names_(graph.inputs(), {"in"}),
        files_(graph.inputs(), {"in", "input"}),
        casting_(CastingFor(options, format)),
        reshape_(options.reshape),
        limits_(limits) {}

  // One set, even if it gives no inputs.
  Status AddArchive(const std::string& path) {
    const auto read = [&](PortArrays& arrays) {
      return ReadPortArrays(path, ports_, names_, limits_, arrays);
    };
    NN_ASSIGN(PortArrays arrays, ReadSet(path, read));
    return Take({path, std::move(arrays)});
  }

  Status AddFolder(const fs::path& folder) {
    NN_ASSIGN(const std::vector<fs::path> entries, EntriesOf(folder));
    const auto read = [&](PortArrays& arrays) -> Status {
      for (const fs::path& path : entries)
        if (IsTensorPath(path.string())) NN_RETURN_IF_ERROR(ReadNamed(path, arrays));
      return {};
    };
    NN_ASSIGN(PortArrays arrays, ReadSet(folder, read));
    if (std::ranges::any_of(arrays, [](const auto& t) { return t.has_value(); }))
      NN_RETURN_IF_ERROR(Take({folder, std::move(arrays)}));
    std::error_code error;
    for (const fs::path& path : entries) {
      if (fs::is_directory(path, error)) {
        NN_RETURN_IF_ERROR(AddFolder(path));
      } else if (IsTensorArchivePath(path.string())) {
        NN_RETURN_IF_ERROR(AddArchive(path));
      }
    }
    return {};
  }

  // One set of the single inputs at the beginning of `texts`, up to one that is given again.
  // Returns their number.
  Result<size_t> AddFiles(std::span<const std::string> texts) {
    size_t count = 0;
    std::string label;
    const auto read = [&](PortArrays& arrays) -> Status {
      for (; count < texts.size() && !IsFolder(texts[count]) && !IsTensorArchivePath(texts[count]);
           ++count) {
        NN_ASSIGN(const Assignment a, AssignmentOf(texts[count]));
        if (arrays[a.port]) return {};
        NN_RETURN_IF_ERROR(Read(a.value, a.port, arrays));
        label += (label.empty() ? "" : ", ") + texts[count];
      }
      return {};
    };
    NN_ASSIGN(PortArrays arrays, ReadSet("", read));
    NN_RETURN_IF_ERROR(Take({std::move(label), std::move(arrays)}));
    return count;
  }

  size_t count() const { return count_; }

 private:
  Status Take(VerifyInputs set) {
    ++count_;
    return take_(std::move(set));
  }

  // The arrays that `read` stores, as they fit the inputs. Errors name the file, unless it is "".
  template <typename ReadAll>
  Result<PortArrays> ReadSet(const std::string& file, const ReadAll& read) const {
    PortArrays arrays(ports_.size());
    Status done = read(arrays);
    PortArrays fitted = arrays;
    if (done) {
      done = FitTypes(ports_, casting_, fitted);
      if (done) done = FitShapes(ports_, reshape_, fitted);
      if (!done && !file.empty()) done = tl::unexpected(done.error().In(file));
    }
    if (!done) return tl::unexpected(WithPorts(done.error(), "input", ports_, arrays));
    return fitted;
  }

  // Reads the input that the name of the file names.
  Status ReadNamed(const fs::path& path, PortArrays& arrays) const {
    const std::string stem = path.stem();
    const auto port = files_.Find(stem);
    if (!port) return tl::unexpected(port.error().In(path.string()));
    if (*port) return Read(path, **port, arrays);
    if (stem.starts_with("output_")) return {};
    return UsageError("{}: {}", path.string(), files_.NoMatch());
  }

  Status Read(const std::string& path, size_t port, PortArrays& arrays) const {
    const std::string& name = ports_[port].name;
    if (arrays[port]) return UsageError("{}: input {} is given more than once", path, Quote(name));
    auto tensor = ReadTensorFile(path, ports_[port].type);
    if (!tensor) return tl::unexpected(tensor.error().In("input " + Quote(name)));
    arrays[port] = *std::move(tensor);
    return {};
  }

  Result<Assignment> AssignmentOf(const std::string& text) const {
    std::error_code error;
    if (fs::exists(text, error) && ports_.size() == 1) return Assignment{0, text};
    auto assignment = names_.Split(text);
    if (assignment) return assignment;
    return tl::unexpected(assignment.error().In(
        "a single tensor needs the name of its input, or a model with one input"));
  }

  const std::function<Status(VerifyInputs)>& take_;
  std::vector<PortType> ports_;
  PortFinder names_;
  PortFinder files_;
  Casting casting_;
  bool reshape_;
  ReadLimits limits_;
  size_t count_ = 0;
};

}  // namespace

Casting CastingFor(const ArrayOptions& options, const Format& format) {
  if (options.cast) return Casting::kNearest;
  return format.importer.RoundsInputs() ? Casting::kReals : Casting::kExact;
}

std::vector<PortType> TypesOf(const std::vector<Port>& ports) {
  std::vector<PortType> types;
  types.reserve(ports.size());
  for (const Port& p : ports) types.push_back({p.name, p.value->type(), std::nullopt});
  return types;
}

std::vector<PortType> InputTypes(const Graph& graph, const Format& format) {
  std::vector<PortType> types = TypesOf(graph.inputs());
  for (PortType& t : types) t.colors = format.importer.ImageColorsOf(graph, t.name);
  return types;
}

Status ReadPortArrays(const std::string& path, const std::vector<PortType>& ports,
                      const PortFinder& finder, const ReadLimits& limits, PortArrays& arrays,
                      bool skip_strings) {
  NN_ASSIGN(const Blob file, ReadFile(path, limits.max_file_bytes, limits.max_piped_bytes));
  auto read = ReadTensorArchive(file, {limits.max_unpacked_bytes, limits.max_items});
  if (!read) return tl::unexpected(read.error().In(path));
  const Status added = AddPortArrays(*read, ports, finder, arrays, skip_strings);
  return added ? added : tl::unexpected(added.error().In(path));
}

Status AddPortArrays(std::span<const NamedTensor> named, const std::vector<PortType>& ports,
                     const PortFinder& finder, PortArrays& arrays, bool skip_strings) {
  const auto add = [&](const NamedTensor& array) -> Status {
    const auto port = finder.Find(array.name);
    if (!port) return tl::unexpected(port.error().In("array"));
    if (!*port && skip_strings && array.tensor.dtype() == DType::kString) return {};
    if (!*port) return UsageError("array {} {}", Quote(array.name), finder.NoMatch());
    std::optional<Tensor>& out = arrays[**port];
    if (out) return UsageError("two arrays match {}", Quote(ports[**port].name));
    out = DecodeStored(array.tensor, ports[**port].type.dtype);
    return {};
  };
  Status first_error;
  for (const NamedTensor& array : named)
    if (Status added = add(array); !added && first_error) first_error = std::move(added);
  return first_error;
}

Status FitTypes(const std::vector<PortType>& inputs, Casting casting, PortArrays& arrays) {
  return FitEach(inputs, arrays,
                 [casting](const Tensor& array, const PortType& input) -> Result<Tensor> {
                   NN_ASSIGN(Tensor fitted, FitType(array, input.type, casting));
                   if (!input.colors) return fitted;
                   return FitImage(fitted, input.type, *input.colors);
                 });
}

Status FitShapes(const std::vector<PortType>& inputs, bool reshape, PortArrays& arrays) {
  return FitEach(inputs, arrays, [reshape](const Tensor& array, const PortType& input) {
    return FitAxes(array, input.type, reshape);
  });
}

Error WithPorts(const Error& error, std::string_view kind, const std::vector<PortType>& ports,
                const PortArrays& given) {
  if (error.code() != ErrorCode::kUsage || ports.empty()) return error;
  Table table({{std::string(kind)}, {"type"}, {"shape"}, {"given"}});
  for (size_t i = 0; i < std::min(ports.size(), kMaxRows); ++i) {
    const Type& type = ports[i].type;
    const Type element(type.dtype, {}, type.quant);
    std::string text = element.ToString();  // "i8[]{scale=0.5}"
    text.erase(text.find("[]"), 2);
    table.Add(
        {Escape(ports[i].name), text, type.ranked() ? ToString(*type.dims) : "any",
         given[i] ? Type(given[i]->dtype(), ToDims(given[i]->dims())).ToString() : "not given"});
  }
  std::string text = table.Text(2);
  text.pop_back();
  if (ports.size() > kMaxRows) text += fmt::format("\n  and {} more", ports.size() - kMaxRows);
  return Error(error.code(), error.message() + "\n" + text);
}

Status ForEachInputSet(const std::vector<std::string>& paths, const Graph& graph,
                       const Format& format, const ArrayOptions& options, const ReadLimits& limits,
                       const std::function<Status(VerifyInputs)>& take) {
  InputSets sets(graph, format, options, limits, take);
  for (size_t i = 0; i < paths.size();) {
    const std::string& path = paths[i];
    const size_t before = sets.count();
    size_t used = 1;
    if (IsFolder(path)) {
      NN_RETURN_IF_ERROR(sets.AddFolder(path));
    } else if (IsTensorArchivePath(path)) {
      NN_RETURN_IF_ERROR(sets.AddArchive(path));
    } else {
      NN_ASSIGN(used, sets.AddFiles(std::span(paths).subspan(i)));
    }
    if (sets.count() == before)
      return UsageError(
          "{}: the folder contains no inputs (.npz, .safetensors, .npy, .pb, .bin or .raw files)",
          path);
    i += used;
  }
  return {};
}

Result<std::vector<VerifyInputs>> ReadInputSets(const std::vector<std::string>& paths,
                                                const Graph& graph, const Format& format,
                                                const ArrayOptions& options,
                                                const ReadLimits& limits) {
  std::vector<VerifyInputs> sets;
  const auto take = [&](VerifyInputs set) -> Status {
    sets.push_back(std::move(set));
    return {};
  };
  NN_RETURN_IF_ERROR(ForEachInputSet(paths, graph, format, options, limits, take));
  return sets;
}

}  // namespace nn
