// Native edits of Core ML models.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "formats/native_edits.h"
#include "support/files.h"
#include "support/paths.h"

namespace nn::test::coreml_edit_test {
namespace {

TEST_CASE("edit: Core ML, every model, cut in two") {
  // The rank of a blob is known where an input declares it.
  CHECK(CheckCutsOfAll("coreml", {{"coreml_nonzero.json", {"COREML-LAYER-009"}}}) > 200);
}

ReadModel FromModel(const std::string& model) {
  return FromDump(R"({"nn_dump": 1, "format": "coreml", "model": )" + model + "}");
}

ReadModel CorpusModel(const std::string& name) {
  return ReadOrFail(SourcePath("tests/fuzz/corpus/") + name + ".json");
}

std::vector<std::string> NamesIn(const Json& list) {
  std::vector<std::string> names;
  for (const Json& entry : list) names.push_back(entry.value("name", ""));
  return names;
}

using Names = std::vector<std::string>;

// ---- Branches and loops
// -----------------------------------------------------------------------------

TEST_CASE("edit: Core ML, branches and loops use and change blobs around them") {
  const ReadModel read = CorpusModel("coreml_control");
  const NativeFlow flow = FlowOrFail(read);
  const auto names = [&](const std::vector<size_t>& values) {
    std::set<std::string> out;
    for (const size_t v : values) out.insert(flow.values[v].name);
    return out;
  };
  using Set = std::set<std::string>;
  CHECK(flow.operators[2].type == "branch");
  CHECK(flow.operators[2].name == "l3");
  CHECK(names(flow.operators[2].inputs) == Set{"flag", "x"});
  CHECK(names(flow.operators[2].outputs) == Set{"y", "z"});
  // A branch that is not taken leaves the earlier value.
  CHECK(names(flow.operators[3].inputs) == Set{"flag", "x", "state"});
  CHECK(names(flow.operators[3].outputs) == Set{"state"});
  CHECK(names(flow.operators[4].inputs) == Set{"count", "state", "x"});
  CHECK(names(flow.operators[4].outputs) == Set{"count", "more", "state", "state_2"});

  const ReadModel piece = EditOrFail(read, PieceOf(flow, {"x", "flag"}, {"state"}));
  const Json layers = DumpOf(piece)["neuralNetwork"]["layers"];
  CHECK(NamesIn(layers)[0] == "l1");
  CHECK(BrokenRules(piece, &read) == Names());
  // Its value is that of the whole model.
  NativeEdit more = IdentityOf(flow);
  more.outputs.push_back({ValueAt(flow, "state")});
  const auto whole = RunModel(EditOrFail(read, more));
  REQUIRE_MESSAGE(whole.has_value(), whole.error().message());
  const auto part = RunModel(piece, whole->inputs);
  REQUIRE_MESSAGE(part.has_value(), part.error().message());
  CHECK(part->outputs.at("state").ToDoubles() == whole->outputs.at("state").ToDoubles());

  NativeEdit cut = IdentityOf(flow);
  cut.inputs.push_back(
      {ValueAt(flow, "state"), ValueType::Tensor(Type(DType::kF32, {Dim(2), Dim(2)}))});
  CHECK(EditError(read, cut) ==
        "\"state\" cannot be an input: 4 layers write it, so it has several values");
}

// ---- Layers
// -----------------------------------------------------------------------------------------

// a = -x; b, c = split(a); d = Odd(b); y = c + d
constexpr const char* kModel = R"({
 "specificationVersion": 4,
 "description": {
  "input": [{"name": "x", "shortDescription": "what", "type":
    {"multiArrayType": {"shape": [2, 4], "dataType": "FLOAT32"}}}],
  "output": [{"name": "y", "type": {"multiArrayType": {"shape": [2, 2], "dataType": "FLOAT32"}}}],
  "metadata": {"shortDescription": "text", "author": "nobody",
               "userDefined": [{"key": "k", "value": "v"}]}},
 "neuralNetwork": {
  "layers": [
   {"name": "l1", "input": ["x"], "output": ["a"], "multiply": {"alpha": -1}},
   {"name": "l2", "input": ["a"], "output": ["b", "c"], "splitND": {"axis": 1, "numSplits": 2}},
   {"name": "l3", "input": ["b"], "output": ["d"], "custom": {"className": "Odd"}},
   {"name": "l4", "input": ["c", "d"], "output": ["y"], "addBroadcastable": {}}],
  "arrayInputShapeMapping": "EXACT_ARRAY_MAPPING"}})";

ValueType Array(std::vector<Dim> dims) {
  return ValueType::Tensor(Type(DType::kF32, Dims(dims.begin(), dims.end())));
}

TEST_CASE("edit: Core ML, a piece with new ports and names, and an unknown layer") {
  const ReadModel read = FromModel(kModel);
  const NativeFlow flow = FlowOrFail(read);
  CHECK(flow.operators[2].type == "custom");
  CHECK(EditError(read, PieceOf(flow, {"c", "d"}, {"y"})) ==
        "the type of the new input \"d\" is unknown");
  // The import knows the types of blobs before the layer.
  NativeEdit edit = PieceOf(flow, {"b"}, {"d"});
  CHECK(DumpOf(
            EditOrFail(read, edit))["description"]["input"][0]["type"]["multiArrayType"]["shape"] ==
        Json::parse("[2, 2]"));
  edit.inputs[0].type = Array({Dim(2), Dim::Symbol("n")});
  edit.names = {{ValueAt(flow, "b"), "left"}, {ValueAt(flow, "d"), "odd"}};
  const Json dump = DumpOf(EditOrFail(read, edit));
  CHECK(dump["neuralNetwork"]["layers"] == Json::parse(R"([
    {"name": "l3", "input": ["left"], "output": ["odd"], "custom": {"className": "Odd"}}])"));
  CHECK(dump["description"]["input"] == Json::parse(R"([{"name": "left", "type": {
    "multiArrayType": {"shape": [2, 1], "dataType": "FLOAT32", "shapeRange": {"sizeRanges": [
      {"lowerBound": 2, "upperBound": 2}, {"lowerBound": 1, "upperBound": -1}]}}}}])"));
  CHECK(dump["description"]["metadata"]["userDefined"][1] ==
        Json::parse(R"({"key": "nn.dims.left", "value": "[2, n]"})"));
  CHECK(dump["description"]["output"] == Json::parse(R"([{"name": "odd", "type": {
    "multiArrayType": {"dataType": "FLOAT32"}}}])"));
}

TEST_CASE("edit: Core ML, an input that a remaining layer writes") {
  const ReadModel read = FromModel(kModel);
  const NativeFlow flow = FlowOrFail(read);
  NativeEdit edit = PieceOf(flow, {"x"}, {"c"});
  edit.inputs.push_back({ValueAt(flow, "b"), Array({Dim(2), Dim(2)})});
  const ReadModel piece = EditOrFail(read, edit);
  CHECK(DumpOf(piece)["neuralNetwork"]["layers"][1]["output"] ==
        Json::parse(R"(["b_unused", "c"])"));
  CHECK(BrokenRules(piece) == Names());
  edit = IdentityOf(flow);
  edit.outputs.push_back({ValueAt(flow, "x")});
  CHECK(EditError(read, edit) ==
        "\"x\" would be an input and an output; a layer must write an output");
  edit = IdentityOf(flow);
  edit.keeps.assign(edit.keeps.size(), false);
  CHECK(EditError(read, edit) == "no layer would remain; a Core ML network has at least one");
  edit = IdentityOf(flow);
  edit.inputs.clear();
  CHECK(EditError(read, edit) == "networks without inputs need specification version 9");
}

TEST_CASE("edit: Core ML, metadata and strip") {
  const ReadModel read = FromModel(kModel);
  const NativeFlow flow = FlowOrFail(read);
  NativeEdit edit = IdentityOf(flow);
  edit.metadata = {{"author", "us"}, {"license", "free"}, {"k", ""}, {"new", "entry"}};
  const Json metadata = DumpOf(EditOrFail(read, edit))["description"]["metadata"];
  CHECK(metadata == Json::parse(R"({"shortDescription": "text", "author": "us", "license": "free",
                                    "userDefined": [{"key": "new", "value": "entry"}]})"));
  edit.metadata = {{"kind", "other"}};
  CHECK(EditError(read, edit) ==
        "\"kind\" is a fact about the model, not an entry of its metadata");

  edit = IdentityOf(flow);
  edit.strip.docs = true;
  Json dump = DumpOf(EditOrFail(read, edit));
  CHECK(!dump["description"]["input"][0].contains("shortDescription"));
  CHECK(!dump["description"]["metadata"].contains("shortDescription"));
  CHECK(dump["description"]["metadata"]["author"] == "nobody");
  edit.strip = {.docs = false, .names = true, .metadata = true};
  dump = DumpOf(EditOrFail(read, edit));
  CHECK(dump["description"]["metadata"] == Json::parse(R"({"shortDescription": "text"})"));
  CHECK(dump["neuralNetwork"]["layers"][1] == Json::parse(R"({
    "input": ["0"], "output": ["1", "2"], "splitND": {"axis": 1, "numSplits": 2}})"));
  CHECK(dump["neuralNetwork"]["layers"][3]["output"] == Json::parse(R"(["y"])"));
}

// ---- Images, classifiers, regressors
// ----------------------------------------------------------------

TEST_CASE("edit: Core ML, a classifier stays with its outputs, or becomes a plain network") {
  const ReadModel read = CorpusModel("coreml_images");
  const NativeFlow flow = FlowOrFail(read);
  CHECK(flow.operators.back().type == "neuralNetworkClassifier");
  CHECK(flow.operators.back().inputs == std::vector<size_t>{ValueAt(flow, "result")});
  CHECK(flow.operators.back().outputs ==
        std::vector<size_t>{ValueAt(flow, "number"), ValueAt(flow, "p")});
  Json dump = DumpOf(EditOrFail(read, PieceOf(flow, {"bgr"}, {"number", "p"})));
  CHECK(dump["description"]["predictedFeatureName"] == "number");
  CHECK(NamesIn(dump["neuralNetworkClassifier"]["layers"]) == Names{"l4", "l5", "l6"});
  CHECK(dump["neuralNetworkClassifier"]["preprocessing"].size() == 1);
  CHECK(dump["neuralNetworkClassifier"].contains("int64ClassLabels"));
  const ReadModel plain =
      EditOrFail(read, PieceOf(flow, {"gray", "half"}, {"gray_max", "picture"}));
  dump = DumpOf(plain);
  CHECK(!dump["description"].contains("predictedFeatureName"));
  CHECK(!dump["description"].contains("predictedProbabilitiesName"));
  CHECK(NamesIn(dump["neuralNetwork"]["layers"]) == Names{"l1", "l3"});
  CHECK(dump["neuralNetwork"]["preprocessing"].size() == 2);
  CHECK(dump["neuralNetwork"]["arrayInputShapeMapping"] == "EXACT_ARRAY_MAPPING");
  CHECK(BrokenRules(plain, &read) == Names());
  CHECK(EditError(read, PieceOf(flow, {"bgr"}, {"p"})) ==
        "output \"p\" is no blob: it remains only with all outputs of the classifier");
  // The scores are a blob.
  const auto scores = RunModel(EditOrFail(read, PieceOf(flow, {"bgr"}, {"result"})));
  REQUIRE_MESSAGE(scores.has_value(), scores.error().message());
  const auto whole = RunModel(read, scores->inputs);
  REQUIRE_MESSAGE(whole.has_value(), whole.error().message());
  CHECK(scores->outputs.at("result").ToDoubles() == whole->outputs.at("p").ToDoubles());
}

TEST_CASE("edit: Core ML, a regressor without its number is a plain network") {
  ReadModel read = CorpusModel("coreml_regressor");
  const NativeFlow flow = FlowOrFail(read);
  Json dump = DumpOf(EditOrFail(read, PieceOf(flow, {"image"}, {"conv"})));
  CHECK(dump["description"]["predictedFeatureName"] == "conv");
  CHECK(dump.contains("neuralNetworkRegressor"));
  dump = DumpOf(EditOrFail(read, PieceOf(flow, {"image"}, {"smooth"})));
  CHECK(!dump["description"].contains("predictedFeatureName"));
  CHECK(NamesIn(dump["neuralNetwork"]["layers"]) == Names{"l2"});
  CHECK(dump["neuralNetwork"]["preprocessing"].size() == 1);
}

// ---- Rank 5
// -----------------------------------------------------------------------------------------

TEST_CASE("edit: Core ML, ports of networks whose blobs have rank 5") {
  const ReadModel read = FromModel(R"({
   "specificationVersion": 1,
   "description": {
    "input": [{"name": "x", "type": {"multiArrayType": {"shape": [2, 4, 3], "dataType": "FLOAT32"}}}],
    "output": [{"name": "y", "type": {"multiArrayType": {"shape": [2, 4, 3], "dataType": "FLOAT32"}}}]},
   "neuralNetwork": {"layers": [
    {"name": "l1", "input": ["x"], "output": ["a"], "activation": {"tanh": {}}},
    {"name": "l2", "input": ["a"], "output": ["b"], "softmax": {}},
    {"name": "l3", "input": ["b"], "output": ["y"], "activation": {"sigmoid": {}}}]}})");
  const NativeFlow flow = FlowOrFail(read);
  const std::map<std::string, Type> types = {
      {"a", Type(DType::kF32, {Dim(1), Dim(1), Dim(2), Dim(4), Dim(3)})}};
  NativeEdit tail = PieceOf(flow, {"a"}, {"y"}, types);
  NativeEdit head = PieceOf(flow, {"x"}, {"a"});
  head.outputs[0].type = tail.inputs[0].type;
  const ReadModel second = EditOrFail(read, tail);
  CHECK(DumpOf(second)["description"]["input"][0]["type"]["multiArrayType"]["shape"] ==
        Json::parse("[2, 4, 3]"));
  CHECK(BrokenRules(second) == Names());
  const auto whole = RunModel(read);
  REQUIRE_MESSAGE(whole.has_value(), whole.error().message());
  const auto between = RunModel(EditOrFail(read, head), whole->inputs);
  REQUIRE_MESSAGE(between.has_value(), between.error().message());
  const auto result = RunModel(second, between->outputs);
  REQUIRE_MESSAGE(result.has_value(), result.error().message());
  CHECK(result->outputs.at("y").ToDoubles() == whole->outputs.at("y").ToDoubles());
  tail.inputs[0].type = Array({Dim(3), Dim(1), Dim(2), Dim(4), Dim(3)});
  CHECK(EditError(read, tail) ==
        "\"a\" is f32[3, 1, 2, 4, 3]: an array of a network with RANK5_ARRAY_MAPPING has the axes "
        "[C, H, W], with sequence and batch of size 1");
}

// ---- Other models
// -----------------------------------------------------------------------------------

TEST_CASE("edit: Core ML, other models change only in names and metadata") {
  for (const char* name : {"coreml_stages", "coreml_program", "coreml_classifier"}) {
    CAPTURE(name);
    const ReadModel read = CorpusModel(name);
    const NativeFlow flow = FlowOrFail(read);
    NativeEdit edit = IdentityOf(flow);
    edit.metadata = {{"author", "us"}};
    const Json dump = DumpOf(EditOrFail(read, edit));
    const Json& model = dump.contains("$model") ? dump["$model"] : dump;
    CHECK(model["description"]["metadata"]["author"] == "us");
    edit = IdentityOf(flow);
    edit.names = {{flow.inputs[0], "renamed"}};
    CHECK(PortsOf(EditOrFail(read, edit)).inputs[0] == "renamed");
    edit = IdentityOf(flow);
    edit.outputs.pop_back();
    CHECK(EditError(read, edit)
              .find(name == std::string("coreml_classifier")
                        ? "the model is updatable"
                        : "only the names and the metadata of") != std::string::npos);
  }
}

}  // namespace
}  // namespace nn::test::coreml_edit_test
