// Rules for any format, each broken and nearly broken, here by ONNX models.
#include <doctest/doctest.h>

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

}  // namespace
}  // namespace nn::test::lint_rules_test
