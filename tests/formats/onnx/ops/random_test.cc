#include <doctest/doctest.h>
#include <fmt/format.h>

#include "formats/format.h"
#include "ops/math/random.h"
#include "rewrite/legalize.h"
#include "support/files.h"
#include "support/run_graph.h"

// Random numbers of ONNX models.
namespace nn::test::onnx_random_test {
namespace {

Graph Imported(std::string_view nodes) {
  const TempDir dir;
  WriteText(dir / "m.textproto", fmt::format(R"(ir_version: 8
opset_import {{ version: 17 }}
graph {{ name: "g" {} }}
)",
                                             nodes));
  const auto read = ReadModelFile(dir / "m.textproto");
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  auto imported = read->format->importer.Import(*read->model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  REQUIRE(imported->unsupported.empty());
  return std::move(imported->graph);
}

TEST_CASE("ONNX: Dropout in training keeps and scales the elements of its mask") {
  const Graph g = Imported(R"(
    node { input: "x" input: "r" input: "t" output: "y" output: "m" op_type: "Dropout"
           attribute { name: "seed" type: INT i: 3 } }
    initializer { name: "r" data_type: 1 float_data: 0.25 }
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 8000 } } } } }
    input { name: "t" type { tensor_type { elem_type: 9 shape { } } } }
    output { name: "y" type { tensor_type { elem_type: 1 } } }
    output { name: "m" type { tensor_type { elem_type: 9 } } })");
  std::vector<double> x(8000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i + 1);
  for (const double training : {0, 1}) {
    CAPTURE(training);
    const auto outputs = RunEverywhere(g, InputsOf(g, {x, {training}}));
    int64_t kept = 0;
    for (int64_t i = 0; i < 8000; ++i) {
      const bool keeps = outputs[1].GetInt(i) != 0;
      kept += keeps ? 1 : 0;
      const float scale = training != 0 ? 1 / 0.75f : 1.0f;
      CHECK(outputs[0].GetDouble(i) == (keeps ? static_cast<float>(i + 1) * scale : 0));
    }
    // Five deviations around three quarters.
    if (training != 0) CHECK(std::abs(kept - 6000) < 194);
    if (training == 0) CHECK(kept == 8000);
  }
}

TEST_CASE("ONNX: seeds are whole numbers; nodes without one get their position") {
  const Graph g = Imported(R"(
    node { output: "a" op_type: "RandomUniform"
           attribute { name: "shape" type: INTS ints: 4 }
           attribute { name: "seed" type: FLOAT f: 6.5 } }
    node { output: "b" op_type: "RandomNormal" attribute { name: "shape" type: INTS ints: 4 } }
    node { output: "c" op_type: "RandomNormal" attribute { name: "shape" type: INTS ints: 4 } }
    node { output: "d" op_type: "RandomNormal"
           attribute { name: "shape" type: INTS ints: 4 }
           attribute { name: "seed" type: FLOAT f: 0 } }
    output { name: "a" type { tensor_type { elem_type: 1 } } }
    output { name: "b" type { tensor_type { elem_type: 1 } } }
    output { name: "c" type { tensor_type { elem_type: 1 } } }
    output { name: "d" type { tensor_type { elem_type: 1 } } })");
  std::vector<Seeds> seeds;
  for (const Node& node : g.nodes()) {
    REQUIRE(IsRandom(node));
    if (node.Is("random_uniform"))
      seeds.push_back(node.attrs<RandomUniformAttrs>());
    else
      seeds.push_back(node.attrs<RandomNormalAttrs>());
  }
  CHECK(seeds == std::vector<Seeds>{{6, 0}, {2, 0}, {3, 0}, SeedsOf(0)});
}

TEST_CASE("ONNX: two seeds are refused, also before the graph is legal") {
  Graph g = Parse(R"(graph {
    %u = random_uniform() {dims = [3], seed = 1, seed2 = 5}
    out "u" = %u })");
  const Format& onnx = *FindFormat("onnx");
  REQUIRE(onnx.writer.Lower(g, ExportOptions{}, nullptr).has_value());
  const auto refused = Legalize(g, *onnx.target);
  REQUIRE(refused.has_value());
  REQUIRE(refused->size() == 1);
  CHECK(refused->at(0).reason == "its seeds are 1 and 5; ONNX has a single one");
}

}  // namespace
}  // namespace nn::test::onnx_random_test
