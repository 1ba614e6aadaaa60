// The models of golden/ give the outputs of golden/manifest.json to the bit: by the reference
// evaluation, and on every SIMD target with 1, 2 and 7 threads.
#include <doctest/doctest.h>

#include <map>

#include "base/file.h"
#include "base/json.h"
#include "formats/format.h"
#include "ir/seeded.h"
#include "passes/passes.h"
#include "support/files.h"
#include "support/run_graph.h"
#include "tensorio/digest.h"
#include "tensorio/npz.h"

namespace nn::test {
namespace {

const std::string kFolder = NN_SOURCE_DIR "/golden/";

Json Manifest() {
  return Json::parse(ReadText(kFolder + "manifest.json"));
}

Graph Load(const Json& model, const Json& run) {
  auto graph = ReadGraph(kFolder + model["file"].get<std::string>());
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  // Where a format has no names, nnrun's stand in the manifest.
  for (size_t i = 0; i < graph->inputs().size(); ++i)
    if (graph->inputs()[i].name.empty()) graph->RenameInput(i, fmt::format("in_{}", i));
  for (size_t i = 0; i < graph->outputs().size(); ++i)
    if (graph->outputs()[i].name.empty()) graph->RenameOutput(i, fmt::format("out_{}", i));
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const Json& input : run["inputs"])
    shapes[input["name"]] = input["shape"].get<std::vector<int64_t>>();
  const Status bound = BindInputShapes(*graph, shapes);
  REQUIRE_MESSAGE(bound.has_value(), bound.error().message());
  return *std::move(graph);
}

std::vector<Tensor> Inputs(const Graph& graph, const Json& run) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Type& type = graph.inputs()[i].value->type();
    auto t = SeededTensor(type.dtype, type.const_dims().value(), run["seed"].get<uint64_t>(), i);
    REQUIRE_MESSAGE(t.has_value(), t.error().message());
    inputs.push_back(*std::move(t));
  }
  return inputs;
}

TEST_CASE("golden: outputs have the digests of the manifest everywhere") {
  const Json manifest = Manifest();
  REQUIRE(manifest["models"].size() >= 1);
  for (const Json& model : manifest["models"])
    for (const Json& run : model["runs"]) {
      CAPTURE(model["file"].get<std::string>());
      CAPTURE(run["seed"].get<uint64_t>());
      const Graph graph = Load(model, run);
      const auto outputs = RunEverywhere(graph, Inputs(graph, run));
      REQUIRE(run["outputs"].size() == outputs.size());
      for (size_t i = 0; i < outputs.size(); ++i) {
        const NamedTensor output{graph.outputs()[i].name, outputs[i]};
        CHECK(run["outputs"][i]["name"] == output.name);
        CHECK(run["outputs"][i]["digest"] == Digest(std::span(&output, 1)));
      }
    }
}

TEST_CASE("golden: the stored outputs are those of the manifest") {
  const Json manifest = Manifest();
  REQUIRE(!manifest["models"].empty());
  for (const Json& model : manifest["models"])
    for (const Json& run : model["runs"]) {
      const std::string file = run["file"];
      CAPTURE(file);
      const auto arrays = ReadNpz(*ReadFile(kFolder + file));
      REQUIRE_MESSAGE(arrays.has_value(), arrays.error().message());
      REQUIRE(arrays->size() == run["outputs"].size());
      for (size_t i = 0; i < arrays->size(); ++i)
        CHECK(run["outputs"][i]["digest"] == Digest(std::span(&(*arrays)[i], 1)));
    }
}

}  // namespace
}  // namespace nn::test
