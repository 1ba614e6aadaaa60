// The table of TensorFlow Lite operators, tested through the rules that use it.
#include <doctest/doctest.h>
#include <flatbuffers/idl.h>

#include <set>
#include <string>

#include "formats/format.h"
#include "support/files.h"
#include "support/paths.h"
#include "validators/rule_cases.h"
#include "validators/runner.h"

namespace nn::test::tflite_signature_test {
namespace {

// The rules of the vendor profile that a model with this only operator code breaks.
std::set<std::string> BrokenBy(const std::string& op, int version) {
  const TempDir dir;
  const std::string path = dir / "m.tflite";
  WriteText(path, EncodeFlatbuffer("tflite.fbs",
                                   "{\"version\": 3, \"operator_codes\": [{\"builtin_code\": \"" +
                                       op + "\", \"version\": " + std::to_string(version) +
                                       "}], \"buffers\": [{}], \"subgraphs\": [{\"tensors\": [], "
                                       "\"operators\": []}]}"));
  const auto read = ReadModelFile(path);
  REQUIRE(read.has_value());
  std::set<std::string> rules;
  for (const Finding& f : Validate(*read->model, *read->format, {Profile::kVendor}))
    rules.insert(f.rule);
  return rules;
}

TEST_CASE("tflite signatures: the table has every builtin operator of the schema") {
  flatbuffers::Parser parser;
  REQUIRE(parser.Parse(ReadText(SourcePath("schemas/tflite.fbs")).c_str()));
  const auto* operators = parser.enums_.Lookup("nn.tflite.fb.BuiltinOperator");
  REQUIRE(operators != nullptr);
  size_t kernels = 0;
  size_t others = 0;
  for (const auto* value : operators->Vals()) {
    if (value->name == "CUSTOM") continue;
    CAPTURE(value->name);
    const auto broken = BrokenBy(value->name, 99);
    const bool has_kernel = broken == std::set<std::string>{"TFLITE-OP-012"};
    CHECK((has_kernel || broken == std::set<std::string>{"TFLITE-OP-011"}));
    (has_kernel ? kernels : others) += 1;
  }
  CHECK(kernels == 172);
  CHECK(others == 37);
}

TEST_CASE("tflite signatures: versions that are registered") {
  struct Case {
    const char* op;
    int oldest;
    int newest;
  };
  for (const Case& c : {Case{"CONV_2D", 1, 8}, Case{"FULLY_CONNECTED", 1, 14},
                        Case{"RESHAPE", 1, 1}, Case{"BROADCAST_TO", 2, 4}, Case{"CAST", 1, 9},
                        Case{"LSTM", 1, 4}, Case{"STABLEHLO_GATHER", 1, 1}}) {
    CAPTURE(c.op);
    CHECK(BrokenBy(c.op, c.oldest).empty());
    CHECK(BrokenBy(c.op, c.newest).empty());
    CHECK(BrokenBy(c.op, c.oldest - 1) == std::set<std::string>{"TFLITE-OP-012"});
    CHECK(BrokenBy(c.op, c.newest + 1) == std::set<std::string>{"TFLITE-OP-012"});
  }
}

}  // namespace
}  // namespace nn::test::tflite_signature_test
