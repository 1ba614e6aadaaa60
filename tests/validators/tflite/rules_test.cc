// Rules of TensorFlow Lite models, each broken and nearly broken.
#include <doctest/doctest.h>

#include "support/files.h"
#include "validators/rule_cases.h"
#include "validators/runner.h"

namespace nn::test::tflite_rules_test {
namespace {

std::string Encode(const std::string& text) {
  return EncodeFlatbuffer("tflite.fbs", text);
}

TEST_CASE("TensorFlow Lite rules") {
  CheckRuleCases({.prefix = "TFLITE-",
                  .file = "m.tflite",
                  .encode = Encode,
                  .examples = ExamplesOf("tflite"),
                  .prepare = [](const std::string& folder) {
                    WriteText(folder + "/w.bin", std::string(16, '\0'));
                  }});
}

}  // namespace
}  // namespace nn::test::tflite_rules_test
