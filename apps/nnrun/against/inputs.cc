#include "apps/nnrun/against/inputs.h"

#include <algorithm>
#include <map>
#include <set>

#include "apps/nnrun/options.h"
#include "base/text/text.h"
#include "convert/quantize/quantized_drift.h"
#include "ops/array/shape.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"

namespace nn::app {
namespace {

// Pairs ports by name, and the rest by position if as many are left on both sides.
Result<std::vector<against::PortPair>> PairPorts(const std::vector<Port>& a,
                                                 const std::vector<Port>& b,
                                                 const std::string& prefix) {
  const PortFinder finder(a, {prefix});
  std::vector<against::PortPair> out;
  std::set<size_t> used;
  std::vector<size_t> rest_a, rest_b;
  for (size_t k = 0; k < b.size(); ++k) {
    std::optional<size_t> found;
    for (const std::string_view name : {std::string_view(b[k].name), b[k].value->name()}) {
      const auto i =
          name.empty() ? std::optional<size_t>() : finder.Find(name).value_or(std::nullopt);
      if (!found && i && !used.contains(*i)) found = i;
    }
    if (!found) {
      rest_b.push_back(k);
      continue;
    }
    used.insert(*found);
    out.push_back({*found, k});
  }
  for (size_t i = 0; i < a.size(); ++i)
    if (!used.contains(i)) rest_a.push_back(i);
  if (rest_a.size() == rest_b.size())
    for (size_t i = 0; i < rest_a.size(); ++i) out.push_back({rest_a[i], rest_b[i]});
  std::ranges::sort(out, {}, &against::PortPair::b);
  return out;
}

// How an input of these sizes becomes one of the type: with the axes as they are, in the other
// layout of images, or in the only order that the sizes allow.
std::optional<AxisMap> MapTo(const std::vector<int64_t>& dims, const Type& type) {
  const int rank = static_cast<int>(dims.size());
  const auto fits = [&](const AxisMap& map) {
    return Compatible(type, Type(type.dtype, ToDims(map.Apply(dims))));
  };
  std::vector<AxisMap> maps = {AxisMap::Identity(rank)};
  if (rank > 2) {
    maps.push_back(AxisMap::ChannelsLast(rank));
    maps.push_back(AxisMap::ChannelsFirst(rank));
  }
  if (const auto to = type.const_dims())
    for (AxisMap& map : against::MapsBetween(dims, *to, 1)) maps.push_back(std::move(map));
  for (const AxisMap& map : maps)
    if (fits(map)) return map;
  return std::nullopt;
}

Result<Tensor> StoredAs(const Tensor& real, const Type& type) {
  return type.quantized() ? StoredTensor(real, type) : FitType(real, type, Casting::kNearest);
}

// The contents of the inputs of the other model that are constants of this one (ImportForInputs()).
Result<std::map<size_t, Tensor>> ConstantsOf(const Graph& other, const RunOptions& options) {
  const auto is_fixed = [&](const Port& port) {
    return std::ranges::any_of(options.fixed,
                               [&](const auto& entry) { return entry.second.name == port.name; });
  };
  if (std::ranges::none_of(other.inputs(), is_fixed)) return std::map<size_t, Tensor>();
  RunInputs all = options;
  all.fixed.clear();
  NN_ASSIGN(PortArrays arrays, ReadGiven(other, all));
  for (size_t i = 0; i < arrays.size(); ++i)
    if (!is_fixed(other.inputs()[i])) arrays[i].reset();
  NN_RETURN_IF_ERROR(FitTypes(TypesOf(other.inputs()), Casting::kExact, arrays));
  return DecidingArrays(arrays);
}

}  // namespace

Result<OtherModel> ReadOther(const Graph& graph, const RunOptions& options) {
  NN_ASSIGN(const ReadModel read, ReadModelFile(options.against, options.limits));
  InputSettings settings;
  if (!options.fixed.empty())
    settings.constants = [&options](const Graph& other) { return ConstantsOf(other, options); };
  NN_ASSIGN(ImportedModel ports, ImportWith(read, settings));
  NamePorts(ports.graph);
  OtherModel out;
  NN_ASSIGN(out.inputs, PairPorts(graph.inputs(), ports.graph.inputs(), "in"));
  if (out.inputs.size() != ports.graph.inputs().size())
    return UsageError(
        "{} has the inputs {}, but {} has {}; the inputs of both must have equal names",
        options.against, NameList(ports.graph.inputs()), options.model, NameList(graph.inputs()));
  for (const auto& [a, b] : out.inputs) {
    const Port &from = graph.inputs()[a], &to = ports.graph.inputs()[b];
    const auto dims = *from.value->type().const_dims();
    const auto map = MapTo(dims, to.value->type());
    if (!map)
      return UsageError("input {} is {} in {}, but {} in {}", Quote(to.name),
                        from.value->type().ToString(), options.model, to.value->type().ToString(),
                        options.against);
    out.input_axes.push_back(*map);
    settings.shapes[to.name] = map->Apply(dims);
  }
  NN_ASSIGN(ImportedModel imported, ImportModel(read, options.against, settings));
  out.graph = std::move(imported.graph);
  NamePorts(out.graph);
  NN_RETURN_IF_ERROR(FitRanks(out.graph, read, options.against, settings.shapes));
  if (auto bound = BindInputs(out.graph, settings.shapes); !bound)
    return tl::unexpected(bound.error().In(options.against));
  NN_ASSIGN(out.outputs, PairPorts(graph.outputs(), out.graph.outputs(), "out"));
  return out;
}

Result<std::vector<Tensor>> InputsOfOther(const Graph& graph, const OtherModel& other,
                                          const PortArrays& given, std::vector<Tensor>& inputs) {
  std::vector<Tensor> out;
  for (size_t k = 0; k < other.inputs.size(); ++k) {
    const size_t i = other.inputs[k].a;
    const Type& here = graph.inputs()[i].value->type();
    const Type& there = other.graph.inputs()[k].value->type();
    const AxisMap& axes = other.input_axes[k];
    const bool same = here.dtype == there.dtype &&
                      (here.quantized() ? there.quantized() && here.quant->SameMapping(*there.quant)
                                        : !there.quantized());
    NN_ASSIGN(const Tensor moved, RearrangeTensor(inputs[i], axes));
    if (same) {
      out.push_back(moved);
      continue;
    }
    NN_ASSIGN(const Tensor real, against::RealNumbers(moved, here));
    NN_ASSIGN(Tensor stored, StoredAs(real, there));
    if (!given[i]) {
      NN_ASSIGN(const Tensor rounded, against::RealNumbers(stored, there));
      NN_ASSIGN(const Tensor back, RearrangeTensor(rounded, axes.Inverse()));
      NN_ASSIGN(inputs[i], StoredAs(back, here));
    }
    out.push_back(std::move(stored));
  }
  return out;
}

}  // namespace nn::app
