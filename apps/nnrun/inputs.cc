#include <spdlog/spdlog.h>

#include <algorithm>

#include "apps/common/port_arrays.h"
#include "apps/nnrun/options.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "formats/tensor_file.h"
#include "passes/input_domains.h"
#include "passes/ports.h"
#include "tensorio/literal.h"

namespace nn::app {
namespace {

// Sets a symbolic batch to 1, and says so.
Status BindBatchToOne(Graph& graph) {
  std::string names;
  for (const std::string& symbol : BatchSymbols(graph))
    names += (names.empty() ? "" : ", ") + Quote(symbol);
  if (!names.empty()) spdlog::info("{} is set to 1; use --batch to change it", names);
  return BindOpenBatch(graph);
}

// The types as which a literal for `type` may be read.
std::vector<DType> LiteralTypes(const Type& type) {
  if (IsFloat(type.dtype)) return {type.dtype, DType::kBool};
  if (IsInteger(type.dtype) && !type.quantized()) return {type.dtype, DType::kBool, DType::kF64};
  if (type.dtype == DType::kBool) return {type.dtype, DType::kF64};
  return {type.dtype};
}

// Values and shapes that the type does not have are read as those of a file are.
Result<Tensor> ReadLiteral(const std::string& text, const Type& type) {
  auto tensor = ParseLiteral(text, type);
  if (tensor) return tensor;
  for (const TypeDims& dims : {type.dims, TypeDims()})
    for (const DType dtype : LiteralTypes(type)) {
      Type other(dtype, {}, dtype == type.dtype ? type.quant : nullptr);
      other.dims = dims;
      if (auto array = ParseLiteral(text, other)) return array;
    }
  return tensor;
}

Result<Tensor> ReadValue(const std::string& value, const Type& type) {
  return LooksLikeLiteral(value) ? ReadLiteral(value, type) : ReadTensorFile(value, type);
}

// Reads the arrays that the arguments give.
Status ReadArrays(const RunOptions& options, const std::vector<PortType>& ports,
                  const PortFinder& finder, PortArrays& given) {
  if (!options.inputs_file.empty())
    NN_RETURN_IF_ERROR(ReadPortArrays(options.inputs_file, ports, finder, options.limits, given));
  for (const std::string& text : options.inputs) {
    NN_ASSIGN(const Assignment a, finder.Split(text));
    const std::string& name = ports[a.port].name;
    if (given[a.port]) return UsageError("input {} is given more than once", Quote(name));
    auto tensor = ReadValue(a.value, ports[a.port].type);
    if (!tensor) return tl::unexpected(tensor.error().In("input " + Quote(name)));
    given[a.port] = *std::move(tensor);
  }
  return {};
}

// Makes the arrays fit the graph, and binds its shapes to theirs.
Status BindArrays(Graph& graph, const ReadModel& read, const RunOptions& options,
                  PortArrays& arrays) {
  NN_RETURN_IF_ERROR(
      FitTypes(TypesOf(graph.inputs()), options.arrays.CastingFor(*read.format), arrays));
  NN_ASSIGN(InputShapes shapes, ShapesOf(options.shapes));
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
  for (const Port& p : graph.inputs()) NN_RETURN_IF_ERROR(RequireShape(p.name, p.value->type()));
  return {};
}

}  // namespace

ProgramOptions RunOptions::program() const {
  ProgramOptions o;
  o.backend = backend == "reference" ? Backend::kReference : Backend::kSimd;
  o.limits = run_limits;
  o.threads = threads == 0 ? AvailableProcessors() : threads;
  return o;
}

Result<PortArrays> GivenInputs(Graph& graph, const ReadModel& read, const RunOptions& options) {
  const std::vector<PortType> ports = TypesOf(graph.inputs());
  PortArrays given(ports.size());
  Status done = ReadArrays(options, ports, PortFinder(graph.inputs(), {"in"}), given);
  PortArrays arrays = given;
  if (done) done = BindArrays(graph, read, options, arrays);
  if (!done) return tl::unexpected(WithPorts(done.error(), "input", ports, given));
  return arrays;
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
                                         options.seed, domains[i]));
    const std::string domain = domains[i].Describe();
    spdlog::debug("input {} is seeded with {}{}{}", Quote(graph.inputs()[i].name), options.seed,
                  domain.empty() ? "" : ", ", domain);
    inputs.push_back(std::move(seeded));
  }
  return inputs;
}

}  // namespace nn::app
