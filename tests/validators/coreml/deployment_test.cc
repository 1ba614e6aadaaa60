// What deployment targets read of Core ML models.
#include "validators/deployment.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/files.h"
#include "validators/rule_cases.h"
#include "validators/runner.h"
#include "validators/validate_options.h"

namespace nn::test::coreml_deployment_test {
namespace {

// A program of one operation on x.
std::string ProgramOf(int version, int opset, const std::string& operation) {
  return fmt::format(
      R"(specificationVersion: {0}
description {{ input {{ name: "x" type {{ multiArrayType {{ shape: 2 dataType: FLOAT32 }} }} }}
  output {{ name: "y" type {{ multiArrayType {{ dataType: FLOAT32 }} }} }} }}
mlProgram {{ version: 1 functions {{ key: "main" value {{ opset: "CoreML{1}"
  inputs {{ name: "x" type {{ tensorType {{ dataType: FLOAT32 rank: 1
    dimensions {{ constant {{ size: 2 }} }} }} }} }}
  block_specializations {{ key: "CoreML{1}" value {{ outputs: "y" operations {{
    inputs {{ key: "x" value {{ arguments {{ name: "x" }} }} }}
    outputs {{ name: "y" type {{ tensorType {{ dataType: FLOAT32 rank: 1
      dimensions {{ constant {{ size: 2 }} }} }} }} }} {2} }} }} }} }} }} }})",
      version, opset, operation);
}

std::string Input(const std::string& name, const std::string& type, const std::string& value) {
  return fmt::format(R"(inputs {{ key: "{}" value {{ arguments {{ value {{
    type {{ tensorType {{ dataType: {} }} }} immediateValue {{ tensor {{ {} }} }} }} }} }} }})",
                     name, type, value);
}

std::vector<std::string> FindingsFor(const std::string& text, const std::string& target) {
  const TempDir dir;
  const std::string path = dir / "m.mlmodel";
  WriteText(path, EncodeProto("nn.coreml.pb.Model", text));
  const ReadModel read = ReadOrFail(path);
  std::vector<std::string> out;
  for (const Finding& f : Validate(*read.model, *read.format, {.deployment_target = target})) {
    CHECK(f.rule == "COREML-TARGET-001");
    out.push_back(f.message);
  }
  return out;
}

TEST_CASE("deployment targets: the specification versions that they read") {
  CHECK(SpecificationVersionFor("iOS13") == 4);
  CHECK(SpecificationVersionFor("iOS15") == 6);
  CHECK(SpecificationVersionFor("macOS12") == 6);
  CHECK(SpecificationVersionFor("iOS26") == 10);
  CHECK(SpecificationVersionFor("macOS26") == 10);
  CHECK(SpecificationVersionFor("iOS27") == 0);
  ValidateOptions options;
  CHECK(SetOptions(ValidateOptionTable(), {{"deployment-target", std::string("iOS16")}},
                   kOnCommandLine, &options));
  CHECK(options.deployment_target == "iOS16");
  CHECK_FALSE(SetOptions(ValidateOptionTable(), {{"deployment-target", std::string("iOS1")}},
                         kOnCommandLine, &options));
}

TEST_CASE("deployment targets: operation sets, operations and their inputs") {
  const std::vector<std::string> iOS17 = {
      "specification version 8 needs iOS17 or macOS14; the deployment target reads version 7",
      "function \"main\" has the operation set iOS17"};
  const auto with = [&](const std::string& more) {
    std::vector<std::string> list = iOS17;
    list.push_back(more);
    return list;
  };
  using Findings = std::vector<std::string>;
  const std::string relu = ProgramOf(8, 7, "type: \"relu\"");
  CHECK(FindingsFor(relu, "") == Findings());
  CHECK(FindingsFor(relu, "iOS17") == Findings());
  CHECK(FindingsFor(relu, "macOS14") == Findings());
  CHECK(FindingsFor(relu, "iOS16") == iOS17);
  const std::string resize =
      ProgramOf(8, 7,
                "type: \"resize\"" + Input("shape", "INT32", "ints { values: 2 }") +
                    Input("resized_dims", "UINT32", R"(bytes { values: "\001\000\000\000" })"));
  // The shape of resize is a vector.
  std::string vector = resize;
  vector.replace(vector.find("dataType: INT32 "), 16,
                 "dataType: INT32 rank: 1 dimensions { constant { size: 1 } } ");
  CHECK(FindingsFor(vector, "iOS17") == Findings());
  CHECK(FindingsFor(vector, "iOS16") ==
        with("operation \"y\" (resize): it is of the operation set iOS17 or later"));
  const std::string elu = ProgramOf(
      8, 7, "type: \"elu\"" + Input("alpha", "FLOAT16", R"(bytes { values: "\000\074" })"));
  CHECK(FindingsFor(elu, "iOS17") == Findings());
  CHECK(FindingsFor(elu, "iOS16") ==
        with("operation \"y\" (elu): by the definition of iOS16, input alpha is fp16, but input x "
             "is fp32; the operation set iOS17 has it"));
}

TEST_CASE("deployment targets: networks have the specification version alone") {
  const std::string network = R"(specificationVersion: 5
description { input { name: "x" type { multiArrayType { shape: 2 dataType: FLOAT32 } } }
  output { name: "y" type { multiArrayType { shape: 2 dataType: FLOAT32 } } } }
neuralNetwork { arrayInputShapeMapping: EXACT_ARRAY_MAPPING
  layers { name: "l" input: "x" output: "y" activation { ReLU {} } } })";
  CHECK(FindingsFor(network, "iOS14").empty());
  CHECK(FindingsFor(network, "macOS10.15") ==
        std::vector<std::string>{"specification version 5 needs iOS14 or macOS11; the deployment "
                                 "target reads version 4"});
}

}  // namespace
}  // namespace nn::test::coreml_deployment_test
