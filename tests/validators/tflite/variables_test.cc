// Resource variables of TensorFlow Lite.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/given_inputs.h"
#include "support/ports.h"
#include "support/run_graph.h"
#include "validators/rule_cases.h"
#include "validators/runner.h"

namespace nn::test::tflite_variables_test {
namespace {

using Values = std::vector<std::vector<double>>;

// The operators of a subgraph, by their codes in kCodes.
constexpr const char* kCodes =
    R"({"deprecated_builtin_code": 127, "builtin_code": "VAR_HANDLE"},
       {"deprecated_builtin_code": 127, "builtin_code": "READ_VARIABLE"},
       {"deprecated_builtin_code": 127, "builtin_code": "ASSIGN_VARIABLE"},
       {"deprecated_builtin_code": 127, "builtin_code": "CALL_ONCE"},
       {"deprecated_builtin_code": 0, "builtin_code": "ADD"},
       {"deprecated_builtin_code": 118, "builtin_code": "IF"},
       {"deprecated_builtin_code": 119, "builtin_code": "WHILE"})";

std::string Op(int code, const std::vector<int>& inputs, const std::vector<int>& outputs,
               const std::string& kind, const std::string& options = "") {
  return fmt::format(
      R"({{"opcode_index": {}, "inputs": [{}], "outputs": [{}], "builtin_options_type": "{}",
           "builtin_options": {{{}}}}})",
      code, fmt::join(inputs, ", "), fmt::join(outputs, ", "), kind, options);
}
std::string Handle(int tensor, const std::string& name) {
  return Op(0, {}, {tensor}, "VarHandleOptions", fmt::format(R"("shared_name": "{}")", name));
}
std::string ReadOp(int handle, int to) {
  return Op(1, {handle}, {to}, "ReadVariableOptions");
}
std::string Assign(int handle, int from) {
  return Op(2, {handle, from}, {}, "AssignVariableOptions");
}
std::string Once(int subgraph) {
  return Op(3, {}, {}, "CallOnceOptions", fmt::format(R"("init_subgraph_index": {})", subgraph));
}
std::string Add(int a, int b, int y) {
  return Op(4, {a, b}, {y}, "AddOptions");
}
std::string If(const std::vector<int>& inputs, const std::vector<int>& outputs, int yes, int no) {
  return Op(5, inputs, outputs, "IfOptions",
            fmt::format(R"("then_subgraph_index": {}, "else_subgraph_index": {})", yes, no));
}

// Tensors: "x" f32[2], "r" a resource, "b" bool[], "c" f32[2] with the contents [10, 20].
std::string Subgraph(std::string_view tensors, const std::vector<int>& inputs,
                     const std::vector<int>& outputs, const std::vector<std::string>& operators) {
  std::vector<std::string> list;
  for (const char t : tensors) {
    const char* type = t == 'r'   ? R"("shape": [], "type": "RESOURCE")"
                       : t == 'b' ? R"("shape": [], "type": "BOOL", "has_rank": true)"
                       : t == 'c' ? R"("shape": [2], "buffer": 1)"
                                  : R"("shape": [2])";
    list.push_back(fmt::format(R"({{"name": "t{}", {}}})", list.size(), type));
  }
  return fmt::format(R"({{"tensors": [{}], "inputs": [{}], "outputs": [{}], "operators": [{}]}})",
                     fmt::join(list, ", "), fmt::join(inputs, ", "), fmt::join(outputs, ", "),
                     fmt::join(operators, ", "));
}

Result<ImportedModel> Import(const std::string& file, StatePorts ports) {
  NN_ASSIGN(const ReadModel read,
            ReadModelBytes(Blob::Copy(std::as_bytes(std::span(file))), "m.tflite"));
  return ImportModel(read, "m.tflite", {.states = ports});
}

std::string FileOf(const std::vector<std::string>& subgraphs) {
  // 10 and 20 as float32.
  const std::string json = fmt::format(
      R"({{"version": 3, "operator_codes": [{}], "subgraphs": [{}],
           "buffers": [{{}}, {{"data": [0, 0, 32, 65, 0, 0, 160, 65]}}]}})",
      kCodes, fmt::join(subgraphs, ", "));
  return EncodeFlatbuffer("tflite.fbs", json);
}

Result<ImportedModel> Import(const std::vector<std::string>& subgraphs, StatePorts ports) {
  return Import(FileOf(subgraphs), ports);
}

// The places of the findings of TFLITE-CALL-005.
std::string ReadTooEarly(const std::vector<std::string>& subgraphs) {
  const std::string file = FileOf(subgraphs);
  const auto read = ReadModelBytes(Blob::Copy(std::as_bytes(std::span(file))), "m.tflite");
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  std::string places;
  for (const Finding& f : Validate(*read->model, *read->format, {}))
    if (f.rule == "TFLITE-CALL-005") places += (places.empty() ? "" : ", ") + f.location.element;
  return places;
}

ImportedModel Imported(const std::vector<std::string>& subgraphs, StatePorts ports) {
  auto imported = Import(subgraphs, ports);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  return *std::move(imported);
}

Values Run(const Graph& graph, const Values& inputs) {
  Values out;
  for (const Tensor& t : RunEverywhere(graph, InputsOf(graph, inputs)))
    out.push_back(t.ToDoubles());
  return out;
}

const std::string kInit = Subgraph("rc", {}, {}, {Handle(0, "total"), Assign(0, 1)});

TEST_CASE("tflite: a resource variable has its initial value, or is an input and an output") {
  // y = total + x; total = y; z = total + x
  const std::vector<std::string> subgraphs = {
      Subgraph("xrxxxx", {0}, {3, 5},
               {Once(1), Handle(1, "total"), ReadOp(1, 2), Add(0, 2, 3), Assign(1, 3), ReadOp(1, 4),
                Add(4, 0, 5)}),
      kInit};
  const ImportedModel first = Imported(subgraphs, StatePorts::kNone);
  CHECK(first.states.empty());
  CHECK(PortsOf(first.graph) == "t0 -> t3 t5");
  CHECK(Run(first.graph, {{1, 2}}) == Values{{11, 22}, {12, 24}});
  const ImportedModel open = Imported(subgraphs, StatePorts::kResources);
  CHECK(PortsOf(open.graph) == "t0 total_in -> t3 t5 total_out");
  CHECK(Run(open.graph, {{1, 2}, {5, 6}}) == Values{{6, 8}, {7, 10}, {6, 8}});
  REQUIRE(open.states.size() == 1);
  CHECK(open.states[0].name == "total");
  REQUIRE(open.states[0].initial.has_value());
  CHECK(open.states[0].initial->ToDoubles() == std::vector<double>{10, 20});
}

TEST_CASE("tflite: variables that no run leaves for another are no ports") {
  // Only read: a constant. Assigned before it is read: not a state.
  const ImportedModel read = Imported(
      {Subgraph("xrxx", {0}, {3}, {Once(1), Handle(1, "total"), ReadOp(1, 2), Add(0, 2, 3)}),
       kInit},
      StatePorts::kAll);
  CHECK(PortsOf(read.graph) == "t0 -> t3");
  CHECK(Run(read.graph, {{1, 2}}) == Values{{11, 22}});
  const ImportedModel written = Imported(
      {Subgraph("xrxx", {0}, {3}, {Handle(1, "v"), Assign(1, 0), ReadOp(1, 2), Add(0, 2, 3)})},
      StatePorts::kAll);
  CHECK(PortsOf(written.graph) == "t0 -> t3");
  CHECK(Run(written.graph, {{1, 2}}) == Values{{2, 4}});
  // Without an initialization, zeros.
  const ImportedModel zeros = Imported(
      {Subgraph("xrxx", {0}, {3}, {Handle(1, "v"), ReadOp(1, 2), Add(0, 2, 3), Assign(1, 3)})},
      StatePorts::kAll);
  REQUIRE(zeros.states.size() == 1);
  CHECK(!zeros.states[0].initial.has_value());
}

TEST_CASE("tflite: a variable of any declared size takes no memory") {
  const std::string huge = R"({"tensors": [
      {"name": "r", "shape": [], "type": "RESOURCE"}, {"name": "v", "shape": [1000000, 1000000]}],
    "inputs": [], "outputs": [1], "operators": [)" +
                           Handle(0, "v") + ", " + ReadOp(0, 1) + "]}";
  const auto imported = Import(std::vector<std::string>{huge}, StatePorts::kNone);
  REQUIRE(!imported.has_value());
  CHECK(imported.error().message().find("is larger than 67108864 elements") != std::string::npos);
}

TEST_CASE("tflite: variables in branches") {
  // The branch of a true condition adds x to the variable; the other one leaves it.
  const std::vector<std::string> subgraphs = {
      Subgraph("xbxrx", {0, 1}, {4}, {If({1, 0}, {2}, 1, 2), Handle(3, "v"), ReadOp(3, 4)}),
      Subgraph("xrxx", {0}, {3}, {Handle(1, "v"), ReadOp(1, 2), Add(0, 2, 3), Assign(1, 3)}),
      Subgraph("x", {0}, {0}, {})};
  const ImportedModel m = Imported(subgraphs, StatePorts::kResources);
  CHECK(PortsOf(m.graph) == "t0 t1 v_in -> t4 v_out");
  CHECK(Run(m.graph, {{1, 2}, {1}, {5, 6}}) == Values{{6, 8}, {6, 8}});
  CHECK(Run(m.graph, {{1, 2}, {0}, {5, 6}}) == Values{{5, 6}, {5, 6}});
}

TEST_CASE("tflite: variables that are read before they are assigned") {
  const std::string reads =
      Subgraph("xrxx", {0}, {3}, {Handle(1, "total"), ReadOp(1, 2), Add(0, 2, 3), Assign(1, 3)});
  CHECK(ReadTooEarly({reads}) == "subgraphs[0].operators[1].inputs[0]");
  // Once for each variable.
  CHECK(ReadTooEarly({Subgraph("xrxx", {0}, {3}, {Handle(1, "v"), ReadOp(1, 2), ReadOp(1, 3)})}) ==
        "subgraphs[0].operators[1].inputs[0]");
  CHECK(ReadTooEarly(
            {Subgraph("xrxx", {0}, {3}, {Once(1), Handle(1, "total"), ReadOp(1, 2), Add(0, 2, 3)}),
             kInit}) == "");
  // An initialization of another variable, or one that comes too late.
  CHECK(ReadTooEarly(
            {Subgraph("xrxx", {0}, {3}, {Once(1), Handle(1, "other"), ReadOp(1, 2), Add(0, 2, 3)}),
             kInit}) == "subgraphs[0].operators[2].inputs[0]");
  CHECK(ReadTooEarly(
            {Subgraph("xrxx", {0}, {3}, {Handle(1, "total"), ReadOp(1, 2), Once(1), Add(0, 2, 3)}),
             kInit}) == "subgraphs[0].operators[1].inputs[0]");
  // Another subgraph that the application can run first, or the caller of this one.
  CHECK(ReadTooEarly({reads, kInit}) == "");
  const std::string branch =
      Subgraph("xrxx", {0}, {3}, {Handle(1, "v"), ReadOp(1, 2), Add(0, 2, 3), Assign(1, 3)});
  const std::string same = Subgraph("x", {0}, {0}, {});
  CHECK(ReadTooEarly(
            {Subgraph("xbxr", {0, 1}, {2}, {Handle(3, "v"), Assign(3, 0), If({1, 0}, {2}, 1, 2)}),
             branch, same}) == "");
  // A branch may assign.
  CHECK(ReadTooEarly(
            {Subgraph("xbxrx", {0, 1}, {4}, {If({1, 0}, {2}, 1, 2), Handle(3, "v"), ReadOp(3, 4)}),
             branch, same}) == "");
  // A handle that comes from outside.
  CHECK(ReadTooEarly({Subgraph("rx", {0}, {1}, {ReadOp(0, 1)})}) == "");
}

TEST_CASE("tflite: an initialization is a constant") {
  const std::string main = Subgraph(
      "xrxx", {0}, {3}, {Once(1), Handle(1, "total"), ReadOp(1, 2), Add(0, 2, 3), Assign(1, 3)});
  // total = c + c
  const ImportedModel m =
      Imported({main, Subgraph("rcx", {}, {}, {Handle(0, "total"), Add(1, 1, 2), Assign(0, 2)})},
               StatePorts::kNone);
  CHECK(Run(m.graph, {{1, 2}}) == Values{{21, 42}});
  const auto missing = Import(std::vector<std::string>{main}, StatePorts::kNone);
  REQUIRE(!missing.has_value());
  CAPTURE(missing.error().message());
  CHECK(missing.error().message().find("subgraph 1 does not exist") != std::string::npos);
}

}  // namespace
}  // namespace nn::test::tflite_variables_test
