// Rules for any format, each broken and nearly broken, here by ONNX models.
#include <doctest/doctest.h>

#include <string>

#include "formats/format.h"
#include "support/files.h"
#include "validators/rule_cases.h"
#include "validators/runner.h"

namespace nn::test::lint_rules_test {
namespace {

std::string Encode(const std::string& text) {
  return EncodeProto("nn.onnx.pb.ModelProto", text);
}

TEST_CASE("rules for any format") {
  CheckRuleCases({"LINT-", "m.onnx", Encode, ExamplesOf("")});
}

// The findings of LINT-PORT-001 on a node of one input, in a model of opset 17.
std::string PortabilityOf(const std::string& node, const std::string& dims = "dim { dim_value: 2 }",
                          const std::string& element = "1") {
  const TempDir dir;
  const auto value = [&](const std::string& name) {
    return "put { name: \"" + name + "\" type { tensor_type { elem_type: " + element + " shape { " +
           dims + " } } } } ";
  };
  WriteText(dir / "m.onnx",
            Encode("ir_version: 8 opset_import { version: 17 } opset_import { "
                   "domain: \"com.example\" version: 1 } graph { name: \"g\" node { "
                   "input: \"x\" output: \"y\" " +
                   node + " } in" + value("x") + "out" + value("y") + "}"));
  const ReadModel read = ReadOrFail(dir / "m.onnx");
  std::string out;
  for (const Finding& f : Validate(*read.model, *read.format, {.profile = Profile::kStrict}))
    if (f.rule == "LINT-PORT-001") out += f.location.element + ": " + f.message + "\n";
  return out;
}

TEST_CASE("LINT-PORT-001 says that a model cannot be converted as it is") {
  CHECK(PortabilityOf("op_type: \"Abs\"") == "");
  const std::string text = PortabilityOf("op_type: \"Odd\" domain: \"com.example\"");
  CHECK_MESSAGE(
      text.find("Odd cannot be converted to any other format as it is: ") != std::string::npos,
      text);
  CHECK_MESSAGE(text.find("opaque") == std::string::npos, text);
}

TEST_CASE("LINT-PORT-001 leaves out what options of nnconvert convert") {
  const std::string open = "dim { dim_param: \"n\" } dim { dim_param: \"m\" }";
  const std::string fixed = "dim { dim_value: 9 } dim { dim_value: 1 }";
  const std::string eye = "op_type: \"EyeLike\"", erf = "op_type: \"Erf\"";
  const std::string odd = "op_type: \"Odd\" domain: \"com.example\"";
  CHECK(PortabilityOf(eye, open) == "");         // --input-shape
  CHECK(PortabilityOf(erf, fixed, "11") == "");  // --float32
  CHECK(PortabilityOf(eye, open, "11") == "");
  CHECK(PortabilityOf(odd, open, "11") != "");
}

}  // namespace
}  // namespace nn::test::lint_rules_test
