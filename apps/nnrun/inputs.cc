#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "apps/nnrun/options.h"
#include "base/text/text.h"
#include "base/thread_pool.h"
#include "convert/edits/shape_choice.h"
#include "convert/inputs/port_arrays.h"
#include "formats/tensor_file.h"
#include "ops/control/region.h"
#include "passes/core/ports.h"
#include "passes/facts/input_domains.h"

namespace nn::app {
namespace {

// Of positions.
std::vector<std::string> InputPrefixes() {
  return {"in", "arr"};
}

PortFinder FinderOf(const std::vector<PortType>& ports) {
  std::vector<std::string> names;
  names.reserve(ports.size());
  for (const PortType& port : ports) names.push_back(port.name);
  return PortFinder(names, InputPrefixes());
}

// Sets a symbolic batch to 1, and says so.
Status BindBatchToOne(Graph& graph) {
  std::string names;
  for (const std::string& symbol : BatchSymbols(graph))
    names += (names.empty() ? "" : ", ") + Quote(symbol);
  if (!names.empty()) spdlog::info("{} is set to 1; use --batch to change it", names);
  return BindOpenBatch(graph);
}

// The array of a file without names.
Status ReadOnlyInput(const std::string& path, const std::vector<PortType>& ports,
                     PortArrays& given) {
  if (ports.size() != 1)
    return UsageError("{}: one array for {} inputs; use --input NAME={}", path, ports.size(), path);
  NN_ASSIGN(given[0], ReadTensorFile(path, ports[0].type));
  return {};
}

// A file that lacks an input is more often a mistake than a wish for random numbers.
Status RequireAll(const std::vector<PortType>& ports, const PortArrays& given) {
  std::string names;
  for (size_t i = 0; i < ports.size(); ++i)
    if (!given[i]) names += (names.empty() ? "" : ", ") + Quote(ports[i].name);
  if (names.empty()) return {};
  return UsageError("--inputs does not have {}; give it with --input, or seed it with --seed",
                    names);
}

// Reads the arrays that the arguments give.
Status ReadArrays(const RunOptions& options, const std::vector<PortType>& ports,
                  const PortFinder& finder, PortArrays& given) {
  if (!options.inputs_file.empty()) {
    if (IsTypedTensorPath(options.inputs_file))
      NN_RETURN_IF_ERROR(ReadOnlyInput(options.inputs_file, ports, given));
    else
      NN_RETURN_IF_ERROR(ReadPortArrays(options.inputs_file, ports, finder, options.limits, given));
  }
  for (const std::string& text : options.inputs)
    NN_RETURN_IF_ERROR(ReadPortValue(text, ports, finder, given, options.images));
  // States begin with zeros.
  const bool seeds = options.inputs_file.empty() || options.seed || options.keeps_states();
  return seeds ? Status() : RequireAll(ports, given);
}

// kUsage, with options that help, if the shape of an input is unknown.
Status RequireShapes(const Graph& graph) {
  for (const Port& p : graph.inputs()) {
    if (p.value->type().const_dims()) continue;
    if (const std::string options = WorkingShapes(graph); !options.empty())
      return UsageError("input {} is {}: give an array, or set its shape, such as with {}",
                        Quote(p.name), p.value->type().ToString(), options);
    return RequireShape(p.name, p.value->type());
  }
  return {};
}

// Makes the arrays fit the graph, and binds its shapes to theirs.
Status BindArrays(Graph& graph, const ReadModel& read, const RunOptions& options,
                  PortArrays& arrays) {
  NN_RETURN_IF_ERROR(
      FitTypes(InputTypes(graph, *read.format), options.arrays.CastingFor(*read.format), arrays));
  InputShapes shapes = options.shapes.shapes;
  const auto set_shapes = [&] {
    for (size_t i = 0; i < arrays.size(); ++i)
      if (arrays[i]) shapes[graph.inputs()[i].name] = arrays[i]->dims();
  };
  set_shapes();
  NN_RETURN_IF_ERROR(FitRanks(graph, read, options.model, shapes));
  NN_RETURN_IF_ERROR(FitShapes(TypesOf(graph.inputs()), options.arrays.reshape, arrays));
  set_shapes();
  NN_RETURN_IF_ERROR(BindInputs(graph, shapes));
  if (std::ranges::any_of(arrays, [](const auto& t) { return !t.has_value(); }))
    NN_RETURN_IF_ERROR(BindBatchToOne(graph));
  return RequireShapes(graph);
}

// What the given arrays say about a model before it is imported as a whole.
struct GivenFacts {
  InputShapes shapes;                 // of one step
  std::map<size_t, Tensor> deciding;  // DecidingArrays() of inputs that are the same in all steps
  std::map<size_t, PortType> fixed;   // the inputs of `deciding`
};

Result<GivenFacts> FactsOf(const Graph& graph, const ReadModel& read, const RunOptions& options) {
  std::vector<PortType> ports = InputTypes(graph, *read.format);
  std::vector<std::string> names = NamesOf(graph.inputs());
  NameUnnamed(names, "in");
  for (size_t i = 0; i < ports.size(); ++i) ports[i].name = names[i];
  PortArrays arrays(ports.size());
  const auto reading = [&]() -> Status {
    NN_RETURN_IF_ERROR(
        ReadArrays(options, ports, PortFinder(graph.inputs(), InputPrefixes()), arrays));
    return FitTypes(ports, options.arrays.CastingFor(*read.format), arrays);
  };
  if (auto done = reading(); !done)
    return tl::unexpected(WithPorts(done.error(), "input", ports, arrays));
  GivenFacts facts;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays[i]) continue;
    std::vector<int64_t> shape = arrays[i]->dims();
    const bool in_parts = HasParts(*arrays[i], ports[i].type, options);
    const bool carried = IsCarried(graph, i, options);
    if (in_parts && !carried) shape.erase(shape.begin());
    facts.shapes[names[i]] = std::move(shape);
    if (in_parts || carried) arrays[i].reset();
  }
  facts.deciding = DecidingArrays(arrays);
  for (const auto& entry : facts.deciding) facts.fixed.emplace(entry.first, ports[entry.first]);
  return facts;
}

// Whether each input has these shapes for some sizes of its dimensions.
bool Fits(const Graph& graph, const InputShapes& shapes) {
  return std::ranges::all_of(graph.inputs(), [&](const Port& p) {
    const auto given = shapes.find(p.name);
    const auto& dims = p.value->type().dims;
    return given == shapes.end() || !dims ||
           std::ranges::equal(*dims, given->second, [](const Dim& d, int64_t size) {
             return !d.is_const() || d.value() == size;
           });
  });
}

}  // namespace

ProgramOptions RunOptions::program() const {
  ProgramOptions o = execution;
  if (o.threads == 0) o.threads = AvailableProcessors();
  return o;
}

bool RunOptions::runs_folder() const {
  std::error_code error;
  return std::filesystem::is_directory(inputs_file, error);
}

Result<ImportedModel> ImportForInputs(const ReadModel& read, const InputImporter& import,
                                      RunOptions& options) {
  Result<ImportedModel> imported = import({});
  // A branch that the given sizes do not take may not fit them.
  const bool is_open = imported && IsDecidedByRuns(imported->graph);
  const bool is_refused = !imported && imported.error().code() == ErrorCode::kUnsupported;
  if ((!is_open && !is_refused) || options.runs_folder() ||
      (options.inputs_file.empty() && options.inputs.empty()))
    return imported;
  GivenFacts facts;
  InputSettings settings;
  settings.constants = [&](const Graph& graph) -> Result<std::map<size_t, Tensor>> {
    NN_ASSIGN(facts, FactsOf(graph, read, options));
    return std::map<size_t, Tensor>();
  };
  // Mistakes in the inputs hide what they would decide.
  if (auto asked = import(settings); !asked && asked.error().code() == ErrorCode::kUsage)
    return is_open ? std::move(imported) : std::move(asked);
  if (is_open && !Fits(imported->graph, facts.shapes)) return imported;
  settings = {.shapes = std::move(facts.shapes)};
  Result<ImportedModel> decided = import(settings);
  if (decided || is_open || facts.deciding.empty())
    return decided ? std::move(decided) : std::move(imported);
  settings.constants = [&](const Graph& /*graph*/) { return facts.deciding; };
  decided = import(settings);
  if (decided) options.fixed = std::move(facts.fixed);
  return decided || decided.error().code() == ErrorCode::kUsage ? std::move(decided)
                                                                : std::move(imported);
}

Result<PortArrays> ReadGiven(const Graph& graph, const RunOptions& options) {
  std::vector<PortType> ports = TypesOf(graph.inputs());
  for (const auto& [i, port] : options.fixed)
    ports.insert(ports.begin() + static_cast<ptrdiff_t>(i), port);
  const PortFinder finder =
      options.fixed.empty() ? PortFinder(graph.inputs(), InputPrefixes()) : FinderOf(ports);
  PortArrays given(ports.size());
  const Status done = ReadArrays(options, ports, finder, given);
  if (!done) return tl::unexpected(WithPorts(done.error(), "input", ports, given));
  for (auto it = options.fixed.rbegin(); it != options.fixed.rend(); ++it)
    given.erase(given.begin() + static_cast<ptrdiff_t>(it->first));
  return given;
}

Result<PortArrays> BindGiven(Graph& graph, const ReadModel& read, const RunOptions& options,
                             const PortArrays& given) {
  const std::vector<PortType> ports = TypesOf(graph.inputs());
  PortArrays arrays = given;
  const Status done = BindArrays(graph, read, options, arrays);
  if (!done) return tl::unexpected(WithPorts(done.error(), "input", ports, given));
  return arrays;
}

Result<PortArrays> GivenInputs(Graph& graph, const ReadModel& read, const RunOptions& options) {
  NN_ASSIGN(const PortArrays given, ReadGiven(graph, options));
  return BindGiven(graph, read, options, given);
}

Result<std::vector<Tensor>> CompleteInputs(const Graph& graph, std::span<const Domain> domains,
                                           PortArrays given, const RunOptions& options) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i]) {
      inputs.push_back(*std::move(given[i]));
      continue;
    }
    NN_ASSIGN(Tensor seeded, SeededInput(graph.inputs()[i].name, graph.inputs()[i].value->type(), i,
                                         options.seed.value_or(0), domains[i]));
    const std::string domain = domains[i].Describe();
    spdlog::debug("input {} is seeded with {}{}{}", Quote(graph.inputs()[i].name),
                  options.seed.value_or(0), domain.empty() ? "" : ", ", domain);
    inputs.push_back(std::move(seeded));
  }
  return inputs;
}

}  // namespace nn::app
