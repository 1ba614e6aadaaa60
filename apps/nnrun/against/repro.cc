#include "apps/nnrun/against/repro.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <system_error>
#include <unordered_map>

#include "against/extract.h"
#include "apps/nnrun/against/report.h"
#include "apps/nnrun/options.h"
#include "base/text/text.h"
#include "convert/convert.h"
#include "tensorio/npz.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

// Why the graph cannot be written as ONNX; "" if it was.
Result<std::string> WriteOnnx(Graph graph, const std::string& path) {
  ImportedModel model;
  model.graph = std::move(graph);
  ConvertJob options;
  options.output = path;
  options.verify = false;
  NN_ASSIGN(const Conversion done,
            ConvertGraph(std::move(model), {}, *FindFormat("onnx"), options));
  if (done.written) return std::string();
  return UnsupportedNodesError("ONNX", done.unsupported).message();
}

// The numbers of the counterpart, with the axes and the element type of the value.
Result<Tensor> AsValue(const Tensor& want, const Tensor& got) {
  NN_ASSIGN(const against::Aligned aligned, against::CompareAligned(want, got, 0, 0, 0));
  return FitType(aligned.want, Type(got.dtype(), ToDims(got.dims())), Casting::kNearest);
}

// Makes the real numbers of a quantized output the output: the counterpart may have others.
Status DequantizeOutput(Graph& graph) {
  const Value* const y = graph.outputs()[0].value;
  if (!y->type().quantized()) return {};
  NN_ASSIGN(Node* const node, graph.Append("dequantize", {graph.outputs()[0].value}));
  graph.set_output(0, node->output());
  return {};
}

}  // namespace

Status WriteRepro(Stepper& model, const against::ValueDrift& first, const Tensor& want,
                  const AgainstSummary& summary, const std::string& folder, RunReport& report) {
  std::unordered_map<const Value*, bool> agrees;
  for (const against::ValueDrift& d : summary.drifts)
    agrees[d.value] = d.comparable && d.comparison.agrees;
  const auto starts = against::StartsOf(first.value, [&](const Value* v) {
    const auto it = agrees.find(v);
    return it != agrees.end() && it->second;
  });
  for (const Value* v : starts) model.Keep(v);
  model.Keep(first.value);
  std::vector<Tensor> tensors;
  for (const Value* v : starts) {
    NN_RETURN_IF_ERROR(model.Compute(v));
    tensors.push_back(model.At(v));
  }
  NN_RETURN_IF_ERROR(model.Compute(first.value));
  NN_ASSIGN(const Tensor got, against::RealNumbers(model.At(first.value), first.value->type()));
  NN_ASSIGN(Graph graph, against::Extract(model.graph(), starts, tensors, first.value));
  const size_t operators = graph.nodes().size();
  NN_RETURN_IF_ERROR(DequantizeOutput(graph));
  NN_ASSIGN(const Tensor wanted, AsValue(want, got));

  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return IoError("{}: {}", folder, error.message());
  const auto path = [&](const char* name) { return (fs::path(folder) / name).string(); };
  std::vector<NamedTensor> inputs;
  for (size_t i = 0; i < tensors.size(); ++i)
    inputs.push_back({graph.inputs()[i].name, tensors[i]});
  const std::string output = graph.outputs()[0].name;
  NN_RETURN_IF_ERROR(WriteNpz(path("inputs.npz"), inputs));
  NN_RETURN_IF_ERROR(WriteNpz(path("got.npz"), std::vector<NamedTensor>{{output, got}}));
  NN_RETURN_IF_ERROR(WriteNpz(path("want.npz"), std::vector<NamedTensor>{{output, wanted}}));
  NN_ASSIGN(const std::string refused, WriteOnnx(std::move(graph), path("model.onnx")));
  if (!refused.empty()) spdlog::warn("{}: only the arrays are written: {}", folder, refused);
  report.text += fmt::format("{}: {}inputs.npz, got.npz, want.npz\n", folder,
                             refused.empty() ? fmt::format("model.onnx ({} operator{}), ",
                                                           operators, operators == 1 ? "" : "s")
                                             : "");
  Json& json = report.json["against"]["repro"];
  json = {{"folder", folder}, {"operators", operators}};
  if (!refused.empty()) json["refused"] = refused;
  return {};
}

}  // namespace nn::app
