// Rules of TensorFlow Lite models, each broken and nearly broken.
#include <doctest/doctest.h>

#include "validators/rule_cases.h"
#include "validators/runner.h"

namespace nn::test {
namespace {

std::string Encode(const std::string& text) {
  return EncodeFlatbuffer("tflite.fbs", text);
}

TEST_CASE("TensorFlow Lite rules") {
  CheckRuleCases({"TFLITE-", "m.tflite", Encode, ExamplesOf("tflite")});
}

}  // namespace
}  // namespace nn::test
