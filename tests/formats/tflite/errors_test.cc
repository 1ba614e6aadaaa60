// Errors of operators that cannot be imported.
#include <doctest/doctest.h>

#include <string>

#include "formats/format.h"
#include "formats/native_edits.h"

namespace nn::test::tflite_errors_test {
namespace {

constexpr const char* kSum = R"({"nn_dump": 1, "format": "tflite", "model": {"version": 3,
  "operator_codes": [{"builtin_code": "ADD"}], "buffers": [{}],
  "subgraphs": [{"inputs": [0, 1], "outputs": [2], "tensors": [
    {"name": "a", "shape": [2]}, {"name": "b", "shape": [3]}, {"name": "y", "shape": [3]}],
   "operators": [{"opcode_index": 0, "inputs": [0, 1], "outputs": [2],
                  "builtin_options_type": "AddOptions", "builtin_options": {}}]}]}})";

TEST_CASE("tflite errors: the place of an operator is named once") {
  const ReadModel model = FromDump(kSum);
  const auto imported = model.format->importer.Import(*model.model);
  REQUIRE(!imported.has_value());
  const std::string& text = imported.error().message();
  CHECK(text.starts_with("operator 0 (ADD): add: "));
  CHECK(text.find("operator 0", 1) == std::string::npos);
}

}  // namespace
}  // namespace nn::test::tflite_errors_test
