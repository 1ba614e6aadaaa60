// Whole models through formats: those of tests/golden/graphs that detect objects, and those with
// keys and values of earlier tokens.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "convert/convert.h"
#include "passes/core/passes.h"
#include "support/files.h"
#include "support/paths.h"

namespace nn::test::models_test {
namespace {

struct Row {
  const char* name;
  std::map<std::string, int64_t> sizes = {};
};

TEST_CASE("convert: models that detect objects or cache keys and values") {
  const TempDir dir;
  for (const Row& row :
       {Row{"ssd"}, Row{"yolo"}, Row{"cache"}, Row{"decoder", {{"tokens", 2}, {"past", 3}}}}) {
    CAPTURE(row.name);
    const std::string source = dir / (std::string(row.name) + ".onnx");
    WriteModel(source, ReadText(SourcePath(fmt::format("tests/golden/graphs/{}.graph", row.name))));
    for (const char* extension : {"tflite", "mlmodel"}) {
      CAPTURE(extension);
      ConvertJob options;
      options.input = source;
      options.output = dir / (std::string(row.name) + "." + extension);
      options.hooks.prepare = [&](Graph& graph) { return BindSymbols(graph, row.sizes); };
      const auto done = ConvertFile(*FormatOfPath(options.output), options);
      REQUIRE_MESSAGE(done.has_value(), done.error().message());
      for (const UnsupportedNode& node : done->unsupported) FAIL_CHECK(node.reason);
      REQUIRE(done->written.has_value());
      REQUIRE(done->verification.has_value());
      CHECK(done->verification->passed);
    }
  }
}

}  // namespace
}  // namespace nn::test::models_test
