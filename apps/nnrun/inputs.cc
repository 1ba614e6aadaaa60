#include <spdlog/spdlog.h>

#include <unordered_map>

#include "apps/nnrun/options.h"
#include "base/file.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "formats/tensor_file.h"
#include "passes/ports.h"
#include "tensorio/literal.h"
#include "tensorio/npy.h"

namespace nn::app {
namespace {

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

// Sets a symbolic batch to 1, and says so.
Status BindBatchToOne(Graph& graph) {
  std::string names;
  for (const std::string& symbol : BatchSymbols(graph))
    names += (names.empty() ? "" : ", ") + Quote(symbol);
  if (!names.empty()) spdlog::info("{} is set to 1; use --batch to change it", names);
  return BindOpenBatch(graph);
}

Result<Tensor> ReadValue(const std::string& value, const Type& type) {
  return LooksLikeLiteral(value) ? ParseLiteral(value, type) : ReadTensorFile(value, type);
}

}  // namespace

ProgramOptions RunOptions::program() const {
  ProgramOptions o;
  o.backend = backend == "reference" ? Backend::kReference : Backend::kSimd;
  o.limits = run_limits;
  o.threads = threads == 0 ? AvailableProcessors() : threads;
  return o;
}

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

Result<std::vector<std::optional<Tensor>>> GivenInputs(Graph& graph, const RunOptions& options) {
  const auto& ports = graph.inputs();
  std::vector<std::optional<Tensor>> given(ports.size());
  if (!options.inputs_file.empty()) {
    NN_ASSIGN(given, ReadPortArrays(options.inputs_file, ports, "in", options.limits));
  }
  for (const std::string& text : options.inputs) {
    NN_ASSIGN(const Assignment a, SplitAssignment(text, ports));
    if (given[a.port])
      return UsageError("input {} is given more than once", Quote(ports[a.port].name));
    auto tensor = ReadValue(a.value, ports[a.port].value->type());
    if (!tensor) return tl::unexpected(tensor.error().In("input " + Quote(ports[a.port].name)));
    given[a.port] = *std::move(tensor);
  }
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i]) shapes[ports[i].name] = given[i]->dims();
  NN_RETURN_IF_ERROR(BindInputs(graph, shapes));
  if (shapes.size() < ports.size()) NN_RETURN_IF_ERROR(BindBatchToOne(graph));
  for (const Port& p : graph.inputs()) NN_RETURN_IF_ERROR(RequireShape(p.name, p.value->type()));
  return given;
}

Result<std::vector<Tensor>> CompleteInputs(const Graph& graph,
                                           std::vector<std::optional<Tensor>> given,
                                           const RunOptions& options) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i]) {
      inputs.push_back(*std::move(given[i]));
      continue;
    }
    NN_ASSIGN(Tensor seeded, SeededInput(graph.inputs()[i].name, graph.inputs()[i].value->type(), i,
                                         options.seed));
    spdlog::debug("input {} is seeded with {}", Quote(graph.inputs()[i].name), options.seed);
    inputs.push_back(std::move(seeded));
  }
  return inputs;
}

}  // namespace nn::app
