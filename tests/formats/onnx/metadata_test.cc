// Keys that metadata_props has more than once: ONNX Runtime takes the last value.
#include <doctest/doctest.h>

#include <string>

#include "formats/format.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/text.h"

namespace nn::test::onnx_metadata_test {
namespace {

using namespace onnx_text;

std::string Entry(const std::string& key, const std::string& value) {
  return "metadata_props { key: \"" + key + "\" value: \"" + value + "\" } ";
}

std::string Twice(const std::string& key) {
  return Entry(key, "1") + Entry("other", "x") + Entry(key, "2");
}

template <typename Entries>
std::string Text(const Entries& entries) {
  std::string text;
  for (const auto& entry : entries) text += entry.key() + "=" + entry.value() + " ";
  return text;
}

TEST_CASE("onnx metadata: the last value of a repeated key") {
  const std::string type = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } ";
  const std::string graph =
      Twice("g") + Node("Relu", {"x"}, {"a"}, Twice("n")) + Node("Add", {"a", "w"}, {"y"}) +
      "input { name: \"x\" " + type + Twice("i") + "} output { name: \"y\" " + type + Twice("o") +
      "} initializer { name: \"w\" data_type: 1 dims: 2 float_data: [1, 2] " + Twice("w") + "} ";
  const ReadModel read = Read(graph, 17, Twice("m"));
  const Format& format = *read.format;
  auto imported = format.importer.Import(*read.model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  REQUIRE(imported->notes.size() == 1);
  CHECK(imported->notes[0] ==
        "metadata_props has the keys \"g\", \"i\", \"m\", \"n\", \"o\", \"w\" more than once; the "
        "last value counts");
  CHECK(imported->graph.metadata["onnx.m"] == "2");
  const auto frame = format.writer.FrameOf(*read.model);
  REQUIRE(frame.has_value());
  const auto image = format.writer.Write(
      imported->graph, ExportOptions{.path = "m.onnx", .opset = 17, .frame = frame->model});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  const auto written = ReadModelBytes(image->Contents(), "m.onnx");
  REQUIRE_MESSAGE(written.has_value(), written.error().message());
  const auto& proto = static_cast<const onnx::Model&>(*written->model).proto;
  const auto& g = proto.graph();
  CHECK(Text(proto.metadata_props()) == "other=x m=2 ");
  CHECK(Text(g.metadata_props()) == "other=x g=2 ");
  CHECK(Text(g.node(0).metadata_props()) == "other=x n=2 ");
  CHECK(Text(g.input(0).metadata_props()) == "other=x i=2 ");
  CHECK(Text(g.output(0).metadata_props()) == "other=x o=2 ");
  CHECK(Text(g.initializer(0).metadata_props()) == "other=x w=2 ");
  const auto again = written->format->importer.Import(*written->model);
  REQUIRE(again.has_value());
  CHECK(again->notes.empty());
}

TEST_CASE("onnx metadata: distinct keys of different parts are not repeated") {
  const std::string graph = Entry("k", "1") + Node("Relu", {"x"}, {"y"}, Entry("k", "2")) +
                            Input("x", TypeOf(kF32, {"2"})) + Outputs({"y"});
  CHECK(Import(graph, 17, Entry("k", "3")).notes.empty());
}

}  // namespace
}  // namespace nn::test::onnx_metadata_test
