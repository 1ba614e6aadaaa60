// Optional operands of NNAPI that are omitted by their size: inputs and results without elements.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/json/json.h"
#include "formats/format.h"
#include "formats/given_inputs.h"
#include "passes/core/ports.h"
#include "support/files.h"
#include "support/ports.h"
#include "support/run_graph.h"
#include "validators/nnapi/doc/example_text.h"
#include "validators/runner.h"

namespace nn::test::nnapi_omitted_test {
namespace {

// An LSTM whose peepholes and projection are `vector`s and a `matrix`.
Json Lstm(const std::string& vector, const std::string& matrix) {
  return Json::parse(nnapi::OperationModel(
      fmt::format("LSTM f[1,2] f[3,2]=0.5 f[3,2]=0.25 f[3,2]=1 f[3,2]=-0.5 f[3,3]=0.5 f[3,3]=1 "
                  "f[3,3]=-1 f[3,3]=0.25 {0} {0} {0} f[3]=0 f[3]=1 f[3]=0.5 f[3]=0 {1} {0} f[1,3] "
                  "f[1,3] i=4 r=0 r=0 -> f[1,12] f[1,3] f[1,3] f[1,3]",
                  vector, matrix)));
}

// The same with results of additions in place of the inputs of unknown sizes.
Json WithComputed(Json model) {
  Json& operands = model["operands"];
  const auto add = [&](const Json& operand) {
    operands.push_back(operand);
    return operands.size() - 1;
  };
  const size_t none = add({{"type", "INT32"}, {"lifetime", "CONSTANT_COPY"}, {"value", {0}}});
  const size_t zero = add({{"type", "TENSOR_FLOAT32"},
                           {"dimensions", {1}},
                           {"lifetime", "CONSTANT_COPY"},
                           {"value", {0}}});
  Json operations = Json::array();
  for (Json& index : model["inputIndexes"]) {
    const auto i = index.get<size_t>();
    if (operands[i]["dimensions"][0] != 0) continue;
    const size_t given = add(Json(operands[i]));
    operands[i]["lifetime"] = "TEMPORARY_VARIABLE";
    operations.push_back({{"type", "ADD"}, {"inputs", {given, zero, none}}, {"outputs", {i}}});
    index = given;
  }
  for (const size_t i : {none, zero}) operands[i]["numberOfConsumers"] = operations.size();
  operations.push_back(model["operations"][0]);
  model["operations"] = std::move(operations);
  return model;
}

ReadModel Read(const Json& json) {
  const std::string text = json.dump();
  auto read = ReadModelBytes(Blob::Copy(std::as_bytes(std::span(text))), "m.nnapi.json");
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  return *std::move(read);
}

ImportedModel Import(const ReadModel& read, const InputSettings& settings) {
  auto imported = ImportWith(read, settings);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  return *std::move(imported);
}

// The results with an input, states of ones, and nothing in the inputs of unknown sizes.
std::vector<std::vector<double>> Run(const ReadModel& read) {
  const ImportedModel open = Import(read, {});
  InputSettings settings;
  std::vector<std::string> names = NamesOf(open.graph.inputs());
  NameUnnamed(names, "in");
  for (size_t i = 0; i < names.size(); ++i) {
    const Type& type = open.graph.inputs()[i].value->type();
    if (!type.const_dims()) settings.shapes[names[i]].assign(static_cast<size_t>(type.rank()), 0);
  }
  const ImportedModel imported = Import(read, settings);
  REQUIRE_MESSAGE(imported.unsupported.empty(), imported.unsupported[0].reason);
  std::vector<std::vector<double>> inputs;
  for (const Port& p : imported.graph.inputs()) {
    const auto dims = p.value->type().const_dims();
    REQUIRE(dims.has_value());
    int64_t elements = 1;
    for (const int64_t d : *dims) elements *= d;
    inputs.emplace_back(static_cast<size_t>(elements), 1);
  }
  std::vector<std::vector<double>> out;
  for (const Tensor& t : RunEverywhere(imported.graph, InputsOf(imported.graph, inputs)))
    out.push_back(t.ToDoubles());
  return out;
}

TEST_CASE("nnapi: optional inputs and results without elements are omitted") {
  const auto expected = Run(Read(Lstm("-", "-")));
  REQUIRE(expected.size() == 4);
  for (const bool is_computed : {false, true}) {
    CAPTURE(is_computed);
    const Json model = Lstm("f[0]", "f[0,0]");
    const ReadModel read = Read(is_computed ? WithComputed(model) : model);
    for (const Finding& f : Validate(*read.model, *read.format, {}))
      CHECK_MESSAGE(f.severity != Severity::kError, f.rule, " ", f.message);
    // Nobody knows whether they are omitted.
    const ImportedModel open = Import(read, {});
    REQUIRE(open.unsupported.size() == 1);
    CHECK(open.unsupported[0].reason.starts_with("input 9 may be omitted"));
    CHECK(open.unsupported[0].reason.find("--input-shape") != std::string::npos);
    CHECK(Run(read) == expected);
  }
  // Those with elements are not.
  CHECK(Run(Read(Lstm("f[3]", "f[3,3]"))) != expected);
}

TEST_CASE("nnapi: required operands are not omitted") {
  const auto run = [](const std::string& text) {
    const ReadModel read = Read(Json::parse(nnapi::OperationModel(text)));
    return Import(read, {}).unsupported.size();
  };
  CHECK(run("ADD f[0] f[2] i=0 -> f[0]") == 0);
}

}  // namespace
}  // namespace nn::test::nnapi_omitted_test
