#include <doctest/doctest.h>

#include <set>
#include <string>

#include "support/files.h"

namespace nn::test::onnx_initializers_test {
namespace {

// The initializers of a written model; `unused` counts those that no node takes.
std::set<std::string> Written(const std::string& graph, size_t& unused) {
  const TempDir dir;
  WriteModel(dir / "m.onnx", graph);
  const ReadModel read = ReadOrFail(dir / "m.onnx");
  const auto summary = read.format->describer.SummarizeInFull(*read.model);
  REQUIRE_MESSAGE(summary.has_value(), summary.error().message());
  const auto tensors = read.format->describer.TensorsOf(*read.model);
  REQUIRE_MESSAGE(tensors.has_value(), tensors.error().message());
  std::set<std::string> taken, names;
  for (const auto& op : summary->operators) taken.insert(op.inputs.begin(), op.inputs.end());
  for (const TensorEntry& t : *tensors) names.insert(t.name);
  unused = 0;
  for (const std::string& name : names) unused += taken.contains(name) ? 0 : 1;
  return names;
}

TEST_CASE("onnx: a bias of 32 bits has a scale and no zero point") {
  size_t unused = 0;
  const auto names = Written(R"(graph {
    in %x: i8[1, 6, 6, 4]{scale=0.05, zp=3}
    const %w: i8[3, 3, 3, 4]{scale=0.01} = seeded(1)
    const %b: i32[3]{scale=0.0005} = [120, -340, 56]
    %y = conv(%x, %w, %b) {layout = nxc, filter_layout = oxi} @tflite : i8[1, 4, 4, 3]{scale=0.2, zp=7}
    out "y" = %y
  })",
                             unused);
  CHECK(names.contains("b"));
  CHECK(names.contains("b_scale"));
  CHECK_FALSE(names.contains("b_zero_point"));
  CHECK(names.contains("w_zero_point"));
  CHECK(unused == 0);
}

}  // namespace
}  // namespace nn::test::onnx_initializers_test
