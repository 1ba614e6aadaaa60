#include "apps/nnrun/against/record.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>
#include <unordered_map>

#include "base/file/file.h"
#include "base/json/json_parse.h"
#include "base/text/text.h"
#include "convert/runs/step_values.h"
#include "formats/tensor_file.h"
#include "ir/text/text.h"
#include "tensorio/npy.h"
#include "tensorio/tensor_archive.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndex = "index.json";

bool Has(const std::string& folder, const std::string& name) {
  std::error_code error;
  return fs::exists(fs::path(folder) / name, error);
}

// Sorts arrays by what they belong to.
class Recording {
 public:
  Recording(const Graph& graph, Record& out)
      : inputs_(graph.inputs(), {"in", "input"}),
        outputs_(graph.outputs(), {"out", "output"}),
        out_(out) {
    out_.inputs.resize(graph.inputs().size());
  }

  Status AddInput(size_t i, const RecordedValue& value) {
    if (out_.inputs[i])
      return UsageError("{} is recorded more than once", Quote(inputs_.names()[i]));
    NN_ASSIGN(out_.inputs[i], value.read());
    return {};
  }

  // Of a record without kinds: by the name.
  Status Add(RecordedValue value) {
    if (const auto i = inputs_.Find(value.name).value_or(std::nullopt)) return AddInput(*i, value);
    AddValue(std::move(value));
    return {};
  }

  void AddValue(RecordedValue value) {
    if (!value.output) value.output = outputs_.Find(value.name).value_or(std::nullopt);
    out_.values.push_back(std::move(value));
  }

  std::optional<size_t> InputOf(const std::string& name) const {
    return inputs_.Find(name).value_or(std::nullopt);
  }

 private:
  PortFinder inputs_, outputs_;
  Record& out_;
};

// A folder of --save-steps.
Status ReadSteps(const std::string& folder, const ReadLimits& limits, Recording& out) {
  NN_ASSIGN(const Blob text, ReadFile((fs::path(folder) / kIndex).string(), limits.max_file_bytes));
  NN_ASSIGN(const nlohmann::json index,
            ParseJson({reinterpret_cast<const char*>(text.data()), text.size()}, {}));
  const auto text_of = [](const nlohmann::json& entry, const char* key) {
    const auto it = entry.is_object() ? entry.find(key) : entry.end();
    return it != entry.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  const auto values = index.is_object() ? index.find("values") : index.end();
  if (values == index.end() || !values->is_array())
    return ParseError("{}: not the index of saved steps: it has no \"values\"", kIndex);
  for (const nlohmann::json& entry : *values) {
    RecordedValue value;
    value.name = text_of(entry, "name");
    const std::string file = text_of(entry, "file"), type = text_of(entry, "quantized_type");
    if (value.name.empty() || file.empty())
      return ParseError("{}: a value has no \"name\" or no \"file\"", kIndex);
    if (!IsPlainRelativePath(file))
      return ParseError("{}: value {}: {} is not a file in the folder", kIndex, Quote(value.name),
                        Quote(file));
    value.op = text_of(entry, "source");
    if (value.op.empty()) value.op = text_of(entry, "operator");
    if (!type.empty()) {
      NN_ASSIGN(value.type, ParseType(type));
    }
    value.read = [folder, file, limits]() -> Result<Tensor> {
      NN_ASSIGN(const Blob bytes, ReadFileBeneath(folder, file, limits.max_file_bytes));
      return ReadNpy(bytes);
    };
    const bool is_input = text_of(entry, "kind") == "input";
    const auto input = is_input ? out.InputOf(value.name) : std::nullopt;
    if (input)
      NN_RETURN_IF_ERROR(out.AddInput(*input, value));
    else if (!is_input)
      out.AddValue(std::move(value));
  }
  return {};
}

// A test set of ONNX.
Status ReadSet(const std::string& folder, const Graph& graph, Recording& out) {
  const auto add = [&](const char* kind, const std::vector<Port>& ports, bool is_input) -> Status {
    for (size_t i = 0; i < ports.size(); ++i) {
      const std::string file = fmt::format("{}_{}.pb", kind, i);
      if (!Has(folder, file)) return {};
      RecordedValue value;
      value.name = file;
      value.output = i;
      value.read = [path = (fs::path(folder) / file).string(), type = ports[i].value->type()] {
        return ReadTensorFile(path, type);
      };
      if (is_input)
        NN_RETURN_IF_ERROR(out.AddInput(i, value));
      else
        out.AddValue(std::move(value));
    }
    return {};
  };
  NN_RETURN_IF_ERROR(add("input", graph.inputs(), true));
  return add("output", graph.outputs(), false);
}

Status ReadArchive(const std::string& path, const ReadLimits& limits, Recording& out) {
  NN_ASSIGN(const Blob file, ReadFile(path, limits.max_file_bytes, limits.max_piped_bytes));
  NN_ASSIGN(auto arrays, ReadTensorArchive(file, {limits.max_unpacked_bytes, limits.max_items}));
  for (NamedTensor& array : arrays) {
    RecordedValue value;
    value.name = array.name;
    value.read = [tensor = std::move(array.tensor)]() -> Result<Tensor> { return tensor; };
    NN_RETURN_IF_ERROR(out.Add(std::move(value)));
  }
  return {};
}

class RecordReference : public against::Reference {
 public:
  explicit RecordReference(const Record& record) : record_(record) {}

  void Expect(std::span<const against::CounterpartId> pairs) {
    for (const auto& [v, id, by] : pairs) {
      const RecordedValue& value = record_.values[id];
      against::Counterpart c = {v, id, value.name, value.op, "", 0, by};
      if (value.type) {
        c.type = value.type->ToString();
        c.step = against::LargestStep(*value.type);
      }
      counterparts_.push_back(std::move(c));
    }
  }

  const std::vector<against::Counterpart>& counterparts() const override { return counterparts_; }

  Result<Tensor> Take(size_t i) override {
    return Read(counterparts_[i].id, counterparts_[i].value->type());
  }

  Status Visit(const std::function<Status(size_t, const Tensor&)>& visit) override {
    for (size_t id = 0; id < record_.values.size(); ++id) {
      // Without the type of a counterpart, the numbers are those of the file.
      NN_ASSIGN(const Tensor real, Read(id, record_.values[id].type.value_or(Type())));
      NN_RETURN_IF_ERROR(visit(id, real));
    }
    return {};
  }

  Result<std::unique_ptr<against::Reference>> With(
      std::span<const against::CounterpartId> pairs) override {
    auto other = std::make_unique<RecordReference>(record_);
    other->Expect(pairs);
    return other;
  }

 private:
  // `own` is the type of the counterpart.
  Result<Tensor> Read(size_t id, const Type& own) const {
    const RecordedValue& value = record_.values[id];
    auto tensor = value.read();
    if (!tensor) return tl::unexpected(tensor.error().In("value " + Quote(value.name)));
    const Type& type = value.type ? *value.type : own;
    const Tensor stored = DecodeStored(*tensor, type.dtype);
    // Real numbers, unless they have the type of the quantized value.
    return stored.dtype() == type.dtype ? against::RealNumbers(stored, type) : stored;
  }

  const Record& record_;
  std::vector<against::Counterpart> counterparts_;
};

// The values of a graph that are recorded, in its order.
std::vector<against::CounterpartId> RecordedIn(const Record& record, const Graph& graph) {
  std::unordered_map<const Value*, size_t> found;
  std::vector<std::string> names;
  for (size_t i = 0; i < record.values.size(); ++i) {
    const RecordedValue& value = record.values[i];
    names.push_back(value.name);
    if (value.output) found.emplace(graph.outputs()[*value.output].value, i);
  }
  const against::FindName find = FindNames(names);
  std::vector<bool> used(record.values.size(), false);
  for (const auto& [v, i] : found) used[i] = true;
  const std::vector<const Value*> values = against::ComparedValues(graph);
  // The last value with a name: those before it are the same in other axes, or rounded.
  for (auto v = values.rbegin(); v != values.rend(); ++v) {
    const auto i = find(SavedName(**v));
    if (!i || used[*i] || found.contains(*v)) continue;
    used[*i] = true;
    found.emplace(*v, *i);
  }
  std::vector<against::CounterpartId> out;
  for (const Value* v : values) {
    const auto it = found.find(v);
    if (it == found.end()) continue;
    const bool is_output = record.values[it->second].output.has_value();
    out.push_back(
        {v, it->second, is_output ? against::PairedBy::kInterface : against::PairedBy::kName});
  }
  return out;
}

}  // namespace

bool IsRecord(const std::string& path) {
  return IsTensorArchivePath(path) || Has(path, kIndex) || Has(path, "input_0.pb") ||
         Has(path, "output_0.pb");
}

Result<Record> ReadRecord(const std::string& path, const Graph& graph, const ReadLimits& limits) {
  Record out;
  Recording recording(graph, out);
  const Status done = IsTensorArchivePath(path) ? ReadArchive(path, limits, recording)
                      : Has(path, kIndex)       ? ReadSteps(path, limits, recording)
                                                : ReadSet(path, graph, recording);
  if (!done) return tl::unexpected(done.error().In(path));
  return out;
}

std::unique_ptr<against::Reference> ReferenceOf(const Record& record, const Graph& graph) {
  auto reference = std::make_unique<RecordReference>(record);
  reference->Expect(RecordedIn(record, graph));
  return reference;
}

}  // namespace nn::app
