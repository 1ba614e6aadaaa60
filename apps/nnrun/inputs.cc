#include <spdlog/spdlog.h>

#include <cmath>

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

// Converts the numbers to another type: floats are rounded, and numbers that become integers must
// be whole.
Result<Tensor> ConvertInput(Tensor tensor, DType dtype, const std::string& name) {
  const DType from = tensor.dtype();
  const auto is_number = [](DType t) { return IsFloat(t) || IsInteger(t) || t == DType::kBool; };
  if (from == dtype || !is_number(from) || !is_number(dtype)) return tensor;
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(dtype, tensor.dims()));
  const Tensor aligned = tensor.Aligned();
  for (int64_t i = 0; i < aligned.elements(); ++i) {
    if (!IsFloat(from)) {
      IsFloat(dtype) ? out.SetDouble(i, static_cast<double>(aligned.GetInt(i)))
                     : out.SetInt(i, aligned.GetInt(i));
      continue;
    }
    const double v = aligned.GetDouble(i);
    if (IsFloat(dtype)) {
      out.SetDouble(i, v);
    } else if (std::floor(v) == v && std::fabs(v) < 0x1p31) {
      out.SetInt(i, static_cast<int64_t>(v));
    } else {
      return UsageError("input {} has the value {}, but the model requires integers ({})",
                        Quote(name), v, DTypeName(dtype));
    }
  }
  return out.Finish();
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

Result<std::vector<std::optional<Tensor>>> GivenInputs(Graph& graph, const ReadModel& read,
                                                       const RunOptions& options) {
  const std::vector<Port> ports = graph.inputs();
  std::vector<std::optional<Tensor>> given(ports.size());
  if (!options.inputs_file.empty()) {
    NN_ASSIGN(given, ReadPortArrays(options.inputs_file, ports, "in", options.limits));
  }
  for (const std::string& text : options.inputs) {
    NN_ASSIGN(const Assignment a, SplitAssignment(text, NamesOf(ports)));
    if (given[a.port])
      return UsageError("input {} is given more than once", Quote(ports[a.port].name));
    auto tensor = ReadValue(a.value, ports[a.port].value->type());
    if (!tensor) return tl::unexpected(tensor.error().In("input " + Quote(ports[a.port].name)));
    given[a.port] = *std::move(tensor);
  }
  NN_ASSIGN(InputShapes shapes, ShapesOf(options.shapes));
  size_t arrays = 0;
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i]) {
      shapes[ports[i].name] = given[i]->dims();
      ++arrays;
    }
  NN_RETURN_IF_ERROR(FitRanks(graph, read, options.model, shapes));
  NN_RETURN_IF_ERROR(BindInputs(graph, shapes));
  if (arrays < ports.size()) NN_RETURN_IF_ERROR(BindBatchToOne(graph));
  for (const Port& p : graph.inputs()) NN_RETURN_IF_ERROR(RequireShape(p.name, p.value->type()));
  for (size_t i = 0; i < given.size() && ConvertsInputs(*read.format); ++i)
    if (given[i]) {
      const Port& p = graph.inputs()[i];
      NN_ASSIGN(given[i], ConvertInput(*std::move(given[i]), p.value->dtype(), p.name));
    }
  return given;
}

Result<std::vector<Tensor>> CompleteInputs(const Graph& graph, std::span<const Domain> domains,
                                           std::vector<std::optional<Tensor>> given,
                                           const RunOptions& options) {
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
