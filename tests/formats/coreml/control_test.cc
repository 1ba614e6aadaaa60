// Core ML branch and loop layers, which the import resolves.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "formats/format.h"
#include "support/run_graph.h"

namespace nn::test::coreml_control_test {
namespace {

std::string Quoted(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "\"" : ", \"") + name + "\"";
  return "[" + out + "]";
}

// A layer of a kind with the members of its parameters.
std::string Layer(std::string_view kind, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs, std::string_view parameters = "") {
  return fmt::format("{{\"name\": \"{}_{}\", \"input\": {}, \"output\": {}, \"{}\": {{{}}}}}", kind,
                     outputs.empty() ? "" : outputs[0], Quoted(inputs), Quoted(outputs), kind,
                     parameters);
}

std::string Linear(const std::string& x, const std::string& y, double alpha, double beta) {
  return Layer("activation", {x}, {y},
               fmt::format("\"linear\": {{\"alpha\": {}, \"beta\": {}}}", alpha, beta));
}
// blob = alpha * blob + beta
std::string Assign(const std::string& blob, double alpha, double beta) {
  return Linear(blob, blob + "_next", alpha, beta) + ", " + Layer("copy", {blob + "_next"}, {blob});
}
std::string Number(const std::string& blob, double v) {
  return Layer("loadConstantND", {}, {blob},
               fmt::format("\"shape\": [1], \"data\": {{\"floatValue\": [{}]}}", v));
}

// Of several layers, or of none.
std::string Network(std::string_view name, const std::vector<std::string>& layers) {
  return fmt::format("\"{}\": {{\"layers\": [{}]}}", name, fmt::join(layers, ", "));
}

// x, c: one number each -> y.
Result<ImportedModel> Import(const std::vector<std::string>& layers) {
  const auto feature = [](std::string_view name) {
    return fmt::format(
        "{{\"name\": \"{}\", \"type\": {{\"multiArrayType\": {{\"shape\": [1], \"dataType\": "
        "\"FLOAT32\"}}}}}}",
        name);
  };
  const std::string text = fmt::format(
      "{{\"nn_dump\": 1, \"format\": \"coreml\", \"model\": {{\"specificationVersion\": 4, "
      "\"description\": {{\"input\": [{}, {}], \"output\": [{}]}}, \"neuralNetwork\": "
      "{{\"layers\": [{}], \"arrayInputShapeMapping\": \"EXACT_ARRAY_MAPPING\"}}}}}}",
      feature("x"), feature("c"), feature("y"), fmt::join(layers, ", "));
  const auto read = ReadModelBytes(Blob::Copy(std::as_bytes(std::span(text))), "m.json");
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  return read->format->importer.Import(*read->model);
}

// y for x and c.
double Run(const std::vector<std::string>& layers, double x, double c = 0) {
  CAPTURE(fmt::format("{}", fmt::join(layers, "\n")));
  const auto model = Import(layers);
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  for (const auto& u : model->unsupported) FAIL(u.reason);
  return RunEverywhere(model->graph, InputsOf(model->graph, {{x}, {c}}))[0].GetDouble(0);
}

std::string WhyNot(const std::vector<std::string>& layers) {
  const auto model = Import(layers);
  if (!model) return model.error().message();
  std::string out;
  for (const auto& u : model->unsupported) out += fmt::format("{}: {}\n", u.source, u.reason);
  out += WhyOpen(model->graph);
  return out;
}

std::string Loop(const std::vector<std::string>& body, const std::string& more) {
  return Layer("loop", {}, {}, Network("bodyNetwork", body) + more);
}
// While `i` is below a limit.
std::string Below(double limit) {
  return ", \"conditionVar\": \"go\", " +
         Network("conditionNetwork",
                 {Layer("lessThan", {"i"}, {"go"}, fmt::format("\"alpha\": {}", limit))});
}
const std::string kThreeTimes = ", \"maxLoopIterations\": 3";

TEST_CASE("coreml loop: counted, or with a condition that no run changes") {
  CHECK(Run({Layer("copy", {"x"}, {"y"}), Loop({Assign("y", 2, 1)}, kThreeTimes)}, 1) == 15);
  CHECK(Run({Layer("copy", {"x"}, {"y"}), Number("i", 0),
             Loop({Assign("y", 2, 0), Assign("i", 1, 1)}, Below(4))},
            1) == 16);
  CHECK(Run({Layer("copy", {"x"}, {"y"}), Number("i", 5),
             Loop({Assign("y", 2, 0), Assign("i", 1, 1)}, Below(4))},
            1) == 1);
  // The trip count is an input.
  CHECK(Run({Layer("copy", {"x"}, {"y"}), Number("n", 2),
             Layer("loop", {"n"}, {}, Network("bodyNetwork", {Assign("y", 3, 0)}))},
            1) == 9);
}

TEST_CASE("coreml loop: ended by layers of branches, and nested") {
  const auto branch = [](const std::string& condition, const std::string& kind) {
    return Layer("greaterThan", {"i"}, {"stop"}, condition) + ", " +
           Layer("branch", {"stop"}, {},
                 Network("ifBranch", {Layer(kind, {}, {})}) + ", " +
                     Network("elseBranch", {Assign("y", 2, 0)}));
  };
  const std::string one_more = Assign("i", 1, 1);
  CHECK(Run({Layer("copy", {"x"}, {"y"}), Number("i", 0),
             Loop({branch("\"alpha\": 1", "loopBreak"), one_more}, ", \"maxLoopIterations\": 9")},
            1) == 4);
  CHECK(Run({Layer("copy", {"x"}, {"y"}), Number("i", 0),
             Loop({one_more, branch("\"alpha\": 2", "loopContinue"), Assign("y", 1, 1)},
                  ", \"maxLoopIterations\": 9")},
            1) == 7);
  CHECK(Run({Layer("copy", {"x"}, {"y"}),
             Loop({Loop({Assign("y", 1, 1)}, kThreeTimes)}, kThreeTimes)},
            1) == 10);
}

TEST_CASE("coreml branch: of a known condition, or both") {
  const auto branch = [](const std::string& condition, const std::vector<std::string>& yes,
                         const std::vector<std::string>& no) {
    return Layer("branch", {condition}, {},
                 Network("ifBranch", yes) + ", " + Network("elseBranch", no));
  };
  const std::string neg = Linear("x", "y", -1, 0), twice = Linear("x", "y", 2, 0);
  CHECK(Run({Number("k", 1), branch("k", {neg}, {twice})}, 3) == -3);
  CHECK(Run({Number("k", 0), branch("k", {neg}, {twice})}, 3) == 6);
  CHECK(Run({branch("c", {neg}, {twice})}, 3, 1) == -3);
  CHECK(Run({branch("c", {neg}, {twice})}, 3, 0) == 6);
  // A blob of before, which one branch assigns.
  const std::string before = Layer("copy", {"x"}, {"y"});
  for (const double c : {0, 1})
    CHECK(Run({before, branch("c", {Assign("y", 5, 0)}, {})}, 3, c) == (c != 0 ? 15 : 3));
  CHECK(WhyNot({branch("c", {neg}, {})}) == "output \"y\" is not defined");
}

TEST_CASE("coreml loop: a run decides about its end") {
  const std::string before = Layer("copy", {"x"}, {"y"});
  const std::string counted =
      Layer("loop", {"c"}, {}, Network("bodyNetwork", {Assign("y", 3, 0), Assign("z", 0, 7)}));
  CHECK(Run({before, Number("z", 1), counted}, 2, 3) == 54);
  CHECK(Run({before, Number("z", 1), counted}, 2, 0) == 2);
  // Both networks assign blobs.
  const std::vector<std::string> below = {before, Layer("copy", {"c"}, {"i"}),
                                          Loop({Assign("y", 2, 1), Assign("i", 1, 1)}, Below(4))};
  CHECK(Run(below, 1, 0) == 31);
  CHECK(Run(below, 1, 3) == 3);
  CHECK(Run(below, 1, 4) == 1);
  // At most as often as the loop says.
  const std::vector<std::string> twice = {
      before, Layer("copy", {"c"}, {"i"}),
      Loop({Assign("y", 2, 1), Assign("i", 1, 1)}, Below(4) + ", \"maxLoopIterations\": 2")};
  CHECK(Run(twice, 1, 0) == 7);
  CHECK(Run(twice, 1, 3) == 3);
}

// A branch that is taken if the blob is greater than a limit.
std::string IfAbove(const std::string& blob, double limit, const std::vector<std::string>& yes,
                    const std::vector<std::string>& no) {
  return Layer("greaterThan", {blob}, {"stop"}, fmt::format("\"alpha\": {}", limit)) + ", " +
         Layer("branch", {"stop"}, {}, Network("ifBranch", yes) + ", " + Network("elseBranch", no));
}

TEST_CASE("coreml loop: a run decides whether a layer ends an iteration") {
  const std::string before = Layer("copy", {"x"}, {"y"});
  const std::string stop = Layer("loopBreak", {}, {}), skip = Layer("loopContinue", {}, {});
  // y is doubled until it is above the limit; what follows in the iteration is left out then.
  const std::vector<std::string> doubled = {
      before, Loop({Assign("y", 2, 0), IfAbove("y", 9, {stop}, {}), Assign("y", 1, 1)},
                   ", \"maxLoopIterations\": 50")};
  CHECK(Run(doubled, 1) == 14);  // 3, 7, 14
  CHECK(Run(doubled, 5) == 10);
  CHECK(Run(doubled, -1) == -1);  // -1, ..., -1: 50 times
  // The branch changes a blob before it ends the loop.
  CHECK(Run({before, Loop({IfAbove("y", 9, {Assign("y", -1, 0), stop}, {Assign("y", 3, 0)}),
                           Assign("y", 1, 1)},
                          ", \"maxLoopIterations\": 50")},
            1) == -13);  // 4, 13
  // Only the iteration ends: all of the others run.
  const std::vector<std::string> skipped = {
      before, Loop({Assign("y", 2, 0), IfAbove("y", 9, {skip}, {}), Assign("y", 1, 1)},
                   ", \"maxLoopIterations\": 4")};
  CHECK(Run(skipped, 1) == 28);  // 3, 7, 14, 28
  CHECK(Run(skipped, -3) == -33);
  // Both, one in the other, in a loop with a condition whose network counts.
  const std::string nested =
      IfAbove("y", 9, {IfAbove("y", 99, {stop}, {Assign("y", 1, 5), skip})}, {Assign("y", 1, 1)});
  const std::string counts =
      ", \"conditionVar\": \"go\", " +
      Network("conditionNetwork",
              {Assign("i", 1, 1), Layer("lessThan", {"i"}, {"go"}, "\"alpha\": 20")});
  const std::vector<std::string> both = {
      before, Number("i", 0), Loop({Assign("y", 2, 0), nested, Assign("y", 1, 0.5)}, counts),
      Layer("add", {"y", "i"}, {"y"})};
  // 3.5, 8.5, then 17 and 22, 44 and 49, 98 and 103, 206; the condition ran 6 times.
  CHECK(Run(both, 1) == 212);
  CHECK(Run(both, -1.5) == -1.5 + 20);
}

TEST_CASE("coreml branch: results of different shapes") {
  const std::string pair =
      Layer("loadConstantND", {}, {"z"}, "\"shape\": [2], \"data\": {\"floatValue\": [5, 2]}");
  const std::vector<std::string> layers = {
      Layer("branch", {"c"}, {},
            Network("ifBranch", {Layer("concatND", {"x", "x"}, {"w"}, "\"axis\": 0"), pair,
                                 Layer("multiply", {"w", "z"}, {"z"})}) +
                ", " + Network("elseBranch", {Layer("copy", {"x"}, {"z"})})),
      Layer("reduceSum", {"z"}, {"y"}, "\"axes\": [0], \"keepDims\": true")};
  CHECK(Run(layers, 3, 1) == 21);
  CHECK(Run(layers, 3, 0) == 3);
}

TEST_CASE("coreml control flow: reasons") {
  const std::string before = Layer("copy", {"x"}, {"y"});
  CHECK(
      WhyNot({before, Layer("copy", {"x"}, {"i"}), Loop({Assign("i", 1, 1)}, Below(4))}) ==
      "loop: the condition before iteration 0 depends on input \"x\", which nnconvert --fix-input "
      "makes a constant\n");
  CHECK(WhyNot({before, Layer("loop", {"c"}, {}, Network("bodyNetwork", {Assign("y", 3, 0)}))}) ==
        "loop: the trip count depends on input \"c\", which nnconvert --fix-input makes a "
        "constant\n");
  CHECK(WhyNot({before,
                Loop({Assign("y", 2, 0), Layer("branch", {"c"}, {},
                                               Network("ifBranch", {Layer("loopBreak", {}, {})}))},
                     kThreeTimes)}) ==
        "loop: the end of iteration 0 depends on input \"c\", which nnconvert --fix-input makes a "
        "constant\n");
  CHECK(WhyNot({before, Number("i", 0), Loop({Assign("y", 2, 0)}, Below(4))}) ==
        "loop: the subgraphs of the model have more than 65536 operators when inlined, and loops "
        "unrolled\n");
  // Reported once; later layers follow.
  CHECK(WhyNot({before, Loop({Assign("y", 2, 0), Layer("custom", {"y"}, {"z"})}, kThreeTimes),
                Linear("y", "w", 1, 0)}) == "custom: layer custom is unsupported\n");
  CHECK(WhyNot({before,
                Layer("branch", {"c"}, {},
                      Network("ifBranch", {Number("z", 1)}) + ", " +
                          Network("elseBranch", {Layer("loadConstantND", {}, {"z"},
                                                       "\"shape\": [2], \"data\": {\"floatValue\": "
                                                       "[1, 2]}")}))}) ==
        "branch: the condition depends on input \"c\", which nnconvert --fix-input makes a "
        "constant: blob \"z\": branches with results "
        "of different types, f32[1] and f32[2], are unsupported\n");
  CHECK(WhyNot({before, Layer("loopBreak", {}, {})}) == "loopBreak: the layer is not in a loop\n");
}

}  // namespace
}  // namespace nn::test::coreml_control_test
