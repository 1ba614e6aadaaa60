// Resource variables of TensorFlow Lite in conversions: variables in their own format, inputs and
// outputs in others.
#include "convert/edits/kept_states.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "convert/convert.h"
#include "formats/given_inputs.h"
#include "ir/tensor.h"
#include "support/files.h"
#include "support/ports.h"

namespace nn::test::kept_states_test {
namespace {

// y = box/a + x; z = b * x; box/a = y; b = box/a before the run.

std::string Source() {
  return R"({"nn_dump": 1, "format": "tflite", "model": {
 "version": 3,
 "operator_codes": [
  {"deprecated_builtin_code": 127, "builtin_code": "CALL_ONCE"},
  {"deprecated_builtin_code": 127, "builtin_code": "VAR_HANDLE"},
  {"deprecated_builtin_code": 127, "builtin_code": "READ_VARIABLE"},
  {"deprecated_builtin_code": 127, "builtin_code": "ASSIGN_VARIABLE"},
  {"builtin_code": "ADD"}, {"deprecated_builtin_code": 18, "builtin_code": "MUL"}],
 "subgraphs": [
  {"tensors": [
    {"shape": [2], "name": "x"}, {"shape": [], "type": "RESOURCE", "name": "h"},
    {"shape": [], "type": "RESOURCE", "name": "g"}, {"shape": [2], "name": "a"},
    {"shape": [2], "name": "b"}, {"shape": [2], "name": "y"}, {"shape": [2], "name": "z"}],
   "inputs": [0], "outputs": [5, 6], "name": "main",
   "operators": [
    {"opcode_index": 0, "inputs": [], "outputs": [], "builtin_options_type": "CallOnceOptions",
     "builtin_options": {"init_subgraph_index": 1}},
    {"opcode_index": 1, "inputs": [], "outputs": [1], "builtin_options_type": "VarHandleOptions",
     "builtin_options": {"container": "box", "shared_name": "a"}},
    {"opcode_index": 1, "inputs": [], "outputs": [2], "builtin_options_type": "VarHandleOptions",
     "builtin_options": {"shared_name": "b"}},
    {"opcode_index": 2, "inputs": [2], "outputs": [4],
     "builtin_options_type": "ReadVariableOptions", "builtin_options": {}},
    {"opcode_index": 2, "inputs": [1], "outputs": [3],
     "builtin_options_type": "ReadVariableOptions", "builtin_options": {}},
    {"opcode_index": 4, "inputs": [3, 0], "outputs": [5],
     "builtin_options_type": "AddOptions", "builtin_options": {}},
    {"opcode_index": 3, "inputs": [1, 5], "outputs": [],
     "builtin_options_type": "AssignVariableOptions", "builtin_options": {}},
    {"opcode_index": 3, "inputs": [2, 3], "outputs": [],
     "builtin_options_type": "AssignVariableOptions", "builtin_options": {}},
    {"opcode_index": 5, "inputs": [4, 0], "outputs": [6],
     "builtin_options_type": "MulOptions", "builtin_options": {}}]},
  {"tensors": [
    {"shape": [], "type": "RESOURCE", "name": "h"}, {"shape": [2], "buffer": 1, "name": "i"},
    {"shape": [], "type": "RESOURCE", "name": "g"}],
   "inputs": [], "outputs": [],
   "operators": [
    {"opcode_index": 1, "inputs": [], "outputs": [0], "builtin_options_type": "VarHandleOptions",
     "builtin_options": {"container": "box", "shared_name": "a"}},
    {"opcode_index": 1, "inputs": [], "outputs": [2], "builtin_options_type": "VarHandleOptions",
     "builtin_options": {"shared_name": "b"}},
    {"opcode_index": 3, "inputs": [2, 1], "outputs": [],
     "builtin_options_type": "AssignVariableOptions", "builtin_options": {}},
    {"opcode_index": 3, "inputs": [0, 1], "outputs": [],
     "builtin_options_type": "AssignVariableOptions", "builtin_options": {}}]}],
 "buffers": [{}, {"data": [0, 0, 32, 65, 0, 0, 160, 65]}],
 "signature_defs": [{"inputs": [{"name": "in", "tensor_index": 0}],
   "outputs": [{"name": "sum", "tensor_index": 5}, {"name": "product", "tensor_index": 6}],
   "signature_key": "step"}]}})";
}

struct Written {
  Conversion conversion;
  ImportedModel ports;  // with states as ports
  Json model;           // the dump
};

Written Write(const std::string& to, const std::function<void(ConvertJob&)>& change) {
  const TempDir dir;
  WriteText(dir / "in.json", Source());
  const Format* const format = FormatOfPath(to);
  REQUIRE(format != nullptr);
  ConvertJob o;
  o.input = dir / "in.json";
  o.output = dir / to;
  change(o);
  auto done = ConvertFile(*format, o);
  REQUIRE_MESSAGE(done.has_value(), done.error().message());
  REQUIRE(done->written.has_value());
  const auto read = ReadModelFile(dir / to);
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  auto ports = ImportModel(*read, to, InputSettings{.states = StatePorts::kResources});
  REQUIRE_MESSAGE(ports.has_value(), ports.error().message());
  REQUIRE(WriteDump(*read, dir / "out.json").has_value());
  Json dump = Json::parse(ReadText(dir / "out.json"))["model"];
  return {*std::move(done), *std::move(ports), std::move(dump)};
}

TEST_CASE("states: a model of the same format keeps its variables") {
  const std::vector<std::function<void(ConvertJob&)>> forms = {
      [](ConvertJob&) {}, [](ConvertJob& o) { o.simplify = true; },
      [](ConvertJob& o) { o.verify = false; }};
  for (const auto& form : forms) {
    const Written w = Write("out.tflite", form);
    CHECK(w.conversion.states.empty());
    CHECK(w.conversion.source.inputs.size() == 1);
    CHECK(w.conversion.converted.outputs.size() == 2);
    CHECK(PortsOf(w.ports.graph) == "x b_in box/a_in -> y z b_out box/a_out");
    REQUIRE(w.ports.states.size() == 2);
    for (const ModelState& state : w.ports.states) {
      REQUIRE(state.initial.has_value());
      CHECK(state.initial->ToDoubles() == std::vector<double>{10, 20});
    }
    const Json& main = w.model["subgraphs"][0];
    CHECK(main["inputs"].size() == 1);
    CHECK(main["outputs"].size() == 2);
    const Json& handles = main["operators"];
    CHECK(handles[0]["builtin_options"]["init_subgraph_index"] == 1);
    CHECK(handles[1]["builtin_options"]["shared_name"] == "b");
    CHECK(handles[3]["builtin_options"]["container"] == "box");
    CHECK(handles[3]["builtin_options"]["shared_name"] == "a");
    CHECK(w.model["signature_defs"][0]["inputs"].size() == 1);
    CHECK(w.model["signature_defs"][0]["outputs"][1]["name"] == "product");
  }
}

TEST_CASE("states: --states and other formats make them inputs and outputs") {
  for (const std::string to : {"out.tflite", "out.onnx", "out.mlmodel"}) {
    CAPTURE(to);
    const Written w = Write(to, [&](ConvertJob& o) { o.states = to == "out.tflite"; });
    REQUIRE(w.conversion.states.size() == 2);
    CHECK(w.conversion.states[0].name == "b");
    CHECK(w.conversion.states[1].output == "box/a_out");
    for (const PassedState& state : w.conversion.states) {
      REQUIRE(state.initial.has_value());
      CHECK(state.initial->ToDoubles() == std::vector<double>{10, 20});
    }
    CHECK(w.ports.states.empty());
    CHECK(w.ports.graph.inputs().size() == 3);
    CHECK(w.ports.graph.outputs().size() == 4);
  }
}

TEST_CASE("states: what the application passes first, in the written type") {
  const Type bytes(DType::kI8, {Dim(1), Dim(2)}, Quant::PerTensor(0.5F, -128));
  const KeptState zero = {{"s", "s_in", "s_out", std::nullopt}, bytes};
  const KeptState other = {{"s", "s_in", "s_out", Tensor::Of({1, 2}, std::vector<int8_t>{-128, 2})},
                           bytes};
  const Type shifted(DType::kU8, {Dim(1), Dim(2)}, Quant::PerTensor(0.5F, 0));
  const Type real(DType::kF32, {Dim(1), Dim(2)});
  const AxisMap same = AxisMap::Identity(2), swapped = AxisMap::Permutation({1, 0});
  const struct {
    const KeptState& state;
    const Type& written;
    const AxisMap& map;
    int64_t offset;
    std::vector<int64_t> dims;
    std::vector<double> numbers;
  } rows[] = {
      {zero, bytes, same, 0, {}, {-128}},
      {zero, shifted, same, 128, {}, {0}},
      {zero, real, same, 0, {}, {0}},
      {other, bytes, swapped, 0, {2, 1}, {-128, 2}},
      {other, shifted, same, 128, {1, 2}, {0, 130}},
      {other, real, same, 0, {1, 2}, {0, 65}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.written.ToString());
    const auto initial = PassedInitial(row.state, row.written, row.map, row.offset);
    REQUIRE_MESSAGE(initial.has_value(), initial.error().message());
    CHECK(initial->dims() == row.dims);
    CHECK(initial->ToDoubles() == row.numbers);
  }
}

TEST_CASE("states: ports that an edit moved or renamed") {
  // The input of an appended model comes after those of states.
  Graph graph;
  const Type type(DType::kF32, {Dim(2)});
  Value* const state = graph.AddInput("s_in", type);
  Value* const x = graph.AddInput("x", type);
  const auto sum = graph.Append("add", {state, x});
  REQUIRE(sum.has_value());
  graph.AddOutput("s_out", (*sum)->output());
  graph.AddOutput("y", (*sum)->output());
  std::vector<ModelState> states = {{"s", "s_in", "s_out", std::nullopt},
                                    {"t", "t_in", "t_out", std::nullopt}};
  const auto kept = TakeKeptStates(graph, states);
  REQUIRE(kept.has_value());
  REQUIRE(kept->size() == 1);
  CHECK(PortsOf(graph) == "x s_in -> y s_out");
  // The other one has lost its ports.
  REQUIRE(states.size() == 1);
  CHECK(states[0].name == "t");
}

TEST_CASE("states: a type that the variable cannot have is refused with the way out") {
  const KeptState kept = {{"s", "s_in", "s_out", Tensor::Of({2}, std::vector<float>{1, 2})},
                          Type(DType::kF32, {Dim(2)})};
  const struct {
    Type before, after;
    bool fits;
  } rows[] = {
      {Type(DType::kF32, {Dim(2)}), Type(DType::kF32, {Dim(2)}), true},
      {Type(DType::kF16, {Dim(2)}), Type(DType::kF16, {Dim(2)}), true},
      {Type(DType::kF32, {Dim::Symbol("n")}), Type(DType::kF32, {Dim::Symbol("n")}), false},
      {Type(DType::kF32, {Dim(4)}), Type(DType::kF32, {Dim(4)}), false},
      {Type(DType::kF16, {Dim(2)}), Type(DType::kF32, {Dim(2)}), false},
      {Type(DType::kI32, {Dim(2)}), Type(DType::kI32, {Dim(2)}), false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.before.ToString());
    CAPTURE(row.after.ToString());
    Graph graph;
    Value* const next = graph.AddInput("x", row.after);
    graph.AddInput("s_in", row.before);
    graph.AddOutput("s_out", next);
    const InterfaceAxes axes = {
        {AxisMap::Identity(1), AxisMap::Identity(1)}, {AxisMap::Identity(1)}, {0, 0}, {0}};
    std::vector<ModelState> states;
    const auto frame = FrameWithStates(nullptr, {kept}, graph, axes, states);
    CHECK(frame.has_value() == row.fits);
    if (frame) {
      REQUIRE(states.size() == 1);
      CHECK(states[0].initial->dtype() == row.before.dtype);
      CHECK(states[0].initial->ToDoubles() == std::vector<double>{1, 2});
    } else {
      CHECK(frame.error().code() == ErrorCode::kUnsupported);
      CHECK(frame.error().message().find("--states") != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace nn::test::kept_states_test
