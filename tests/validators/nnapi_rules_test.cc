// Rules of NNAPI models, each broken and nearly broken.
#include <doctest/doctest.h>

#include "validators/rule_cases.h"
#include "validators/runner.h"

namespace nn::test {
namespace {

std::string Encode(const std::string& text) {
  return text;
}

TEST_CASE("NNAPI rules") {
  CheckRuleCases({"NNAPI-", "m.nnapi.json", Encode, ExamplesOf("nnapi")});
}

}  // namespace
}  // namespace nn::test
