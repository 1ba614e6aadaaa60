#include "convert/inputs/run_inputs.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text/text.h"
#include "convert/edits/port_finder.h"
#include "convert/edits/shape_choice.h"
#include "formats/format_options.h"
#include "formats/tensor_file.h"
#include "ops/control/region.h"
#include "passes/core/ports.h"
#include "passes/facts/input_domains.h"

namespace nn {
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

// Reads the arrays that the options give.
Status ReadArrays(const RunInputs& inputs, const std::vector<PortType>& ports,
                  const PortFinder& finder, PortArrays& given) {
  const std::string& file = inputs.inputs_file;
  if (IsTypedTensorPath(file))
    NN_RETURN_IF_ERROR(ReadOnlyInput(file, ports, given));
  else if (!file.empty())
    NN_RETURN_IF_ERROR(ReadPortArrays(file, ports, finder, inputs.limits, given));
  for (const std::string& text : inputs.inputs)
    NN_RETURN_IF_ERROR(ReadPortValue(text, ports, finder, given, inputs.images));
  NN_RETURN_IF_ERROR(AddPortArrays(inputs.in_memory, ports, finder, given));
  return file.empty() || inputs.seed || inputs.may_lack ? Status() : RequireAll(ports, given);
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
Status BindArrays(Graph& graph, const ReadModel& read, const RunInputs& inputs, PortArrays& arrays,
                  std::vector<std::string>* batch) {
  NN_RETURN_IF_ERROR(
      FitTypes(InputTypes(graph, *read.format), CastingFor(inputs.arrays, *read.format), arrays));
  InputShapes shapes = inputs.shapes.shapes;
  const auto set_shapes = [&] {
    for (size_t i = 0; i < arrays.size(); ++i)
      if (arrays[i]) shapes[graph.inputs()[i].name] = arrays[i]->dims();
  };
  set_shapes();
  NN_RETURN_IF_ERROR(FitRanks(graph, read, inputs.model, shapes));
  NN_RETURN_IF_ERROR(FitShapes(TypesOf(graph.inputs()), inputs.arrays.reshape, arrays));
  set_shapes();
  NN_RETURN_IF_ERROR(BindInputs(graph, shapes));
  if (std::ranges::any_of(arrays, [](const auto& t) { return !t.has_value(); })) {
    if (batch != nullptr) *batch = BatchSymbols(graph);
    NN_RETURN_IF_ERROR(BindOpenBatch(graph));
  }
  return RequireShapes(graph);
}

// What the given arrays say about a model before it is imported as a whole.
struct GivenFacts {
  InputShapes shapes;
  std::map<size_t, Tensor> deciding;  // DecidingArrays() of constant inputs
  std::map<size_t, PortType> fixed;   // the inputs of `deciding`
};

Result<GivenFacts> FactsOf(const Graph& graph, const ReadModel& read, const RunInputs& inputs,
                           const GivenShapeOf& shape_of) {
  std::vector<PortType> ports = InputTypes(graph, *read.format);
  std::vector<std::string> names = NamesOf(graph.inputs());
  NameUnnamed(names, "in");
  for (size_t i = 0; i < ports.size(); ++i) ports[i].name = names[i];
  PortArrays arrays(ports.size());
  const auto reading = [&]() -> Status {
    NN_RETURN_IF_ERROR(
        ReadArrays(inputs, ports, PortFinder(graph.inputs(), InputPrefixes()), arrays));
    return FitTypes(ports, CastingFor(inputs.arrays, *read.format), arrays);
  };
  if (auto done = reading(); !done)
    return tl::unexpected(WithPorts(done.error(), "input", ports, arrays));
  GivenFacts facts;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays[i]) continue;
    GivenShape given =
        shape_of ? shape_of(graph, i, ports[i].type, *arrays[i]) : GivenShape{arrays[i]->dims()};
    facts.shapes[names[i]] = std::move(given.shape);
    if (!given.is_constant) arrays[i].reset();
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

Status FitRanks(Graph& graph, const ReadModel& read, const std::string& path,
                const InputShapes& shapes) {
  if (!read.format->importer.TakesOtherRanks()) return {};
  const bool differs = std::ranges::any_of(graph.inputs(), [&](const Port& p) {
    const auto given = shapes.find(p.name);
    return given != shapes.end() && p.value->type().ranked() &&
           given->second.size() != p.value->type().dims->size();
  });
  if (!differs) return {};
  NN_ASSIGN(graph, ImportGraph(read, path, shapes));
  NamePorts(graph);
  return {};
}

InputSettings KnownWith(const InputSettings& known, const nnsuite::InputShapes& shapes) {
  InputSettings settings = SettingsOf(shapes);
  settings.constants = known.constants;
  for (const auto& [name, length] : known.lengths) settings.lengths.insert_or_assign(name, length);
  settings.shapes.insert(known.shapes.begin(), known.shapes.end());
  settings.states = known.states;
  return settings;
}

Status BindSetShapes(Graph& graph, const ReadModel& read, const RunInputs& inputs) {
  NamePorts(graph);
  NN_RETURN_IF_ERROR(FitRanks(graph, read, inputs.model, inputs.shapes.shapes));
  return BindShapes(graph, inputs.shapes.shapes, inputs.shapes.batch);
}

Result<ImportedModel> ImportForInputs(const ReadModel& read, const InputImporter& import,
                                      RunInputs& inputs, const GivenShapeOf& shape_of) {
  Result<ImportedModel> imported = import({});
  // A branch that the given sizes do not take may not fit them.
  const bool is_open = imported && IsDecidedByRuns(imported->graph);
  const bool is_refused = !imported && imported.error().code() == ErrorCode::kUnsupported;
  std::error_code error;
  if ((!is_open && !is_refused) || std::filesystem::is_directory(inputs.inputs_file, error) ||
      (inputs.inputs_file.empty() && inputs.inputs.empty() && inputs.in_memory.empty()))
    return imported;
  GivenFacts facts;
  InputSettings settings;
  settings.constants = [&](const Graph& graph) -> Result<std::map<size_t, Tensor>> {
    NN_ASSIGN(facts, FactsOf(graph, read, inputs, shape_of));
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
  if (decided) inputs.fixed = std::move(facts.fixed);
  return decided || decided.error().code() == ErrorCode::kUsage ? std::move(decided)
                                                                : std::move(imported);
}

Result<PortArrays> ReadGiven(const Graph& graph, const RunInputs& inputs) {
  std::vector<PortType> ports = TypesOf(graph.inputs());
  for (const auto& [i, port] : inputs.fixed)
    ports.insert(ports.begin() + static_cast<ptrdiff_t>(i), port);
  const PortFinder finder =
      inputs.fixed.empty() ? PortFinder(graph.inputs(), InputPrefixes()) : FinderOf(ports);
  PortArrays given(ports.size());
  const Status done = ReadArrays(inputs, ports, finder, given);
  if (!done) return tl::unexpected(WithPorts(done.error(), "input", ports, given));
  for (auto it = inputs.fixed.rbegin(); it != inputs.fixed.rend(); ++it)
    given.erase(given.begin() + static_cast<ptrdiff_t>(it->first));
  return given;
}

Result<PortArrays> BindGiven(Graph& graph, const ReadModel& read, const RunInputs& inputs,
                             const PortArrays& given, std::vector<std::string>* batch) {
  const std::vector<PortType> ports = TypesOf(graph.inputs());
  PortArrays arrays = given;
  const Status done = BindArrays(graph, read, inputs, arrays, batch);
  if (!done) return tl::unexpected(WithPorts(done.error(), "input", ports, given));
  return arrays;
}

Result<PortArrays> GivenInputs(Graph& graph, const ReadModel& read, const RunInputs& inputs,
                               std::vector<std::string>* batch) {
  NN_ASSIGN(const PortArrays given, ReadGiven(graph, inputs));
  return BindGiven(graph, read, inputs, given, batch);
}

Result<std::vector<Tensor>> CompleteInputs(const Graph& graph, std::span<const Domain> domains,
                                           PortArrays given, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) {
      const Port& port = graph.inputs()[i];
      NN_ASSIGN(given[i], SeededInput(port.name, port.value->type(), i, seed, domains[i]));
    }
    inputs.push_back(*std::move(given[i]));
  }
  return inputs;
}

}  // namespace nn
