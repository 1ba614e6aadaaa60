// ONNX ImageDecoder.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "formats/onnx/text.h"
#include "ops/image/image_decode.h"
#include "passes/core/passes.h"

namespace nn::test::onnx_image_test {
namespace {

using namespace onnx_text;

constexpr int kU8 = 2;

std::string Decoder(const std::string& pixel_format, int type = kU8) {
  const std::string attribute =
      pixel_format.empty()
          ? ""
          : fmt::format("attribute {{ name: \"pixel_format\" type: STRING s: \"{}\" }}",
                        pixel_format);
  return Node("ImageDecoder", {"x"}, {"y"}, attribute) + Input("x", TypeOf(type, {"17"})) +
         Outputs({"y"});
}

TEST_CASE("onnx images: ImageDecoder") {
  // "P6 2 1 255", and the pixels.
  const Values x = {{80, 54, 32, 50, 32, 49, 32, 50, 53, 53, 10, 1, 2, 3, 200, 100, 50}};
  CHECK(Check(Decoder(""), x, {{1, 2, 3, 200, 100, 50}}, 20) == 1);
  CHECK(Check(Decoder("RGB"), x, {{1, 2, 3, 200, 100, 50}}, 20) == 1);
  CHECK(Check(Decoder("BGR"), x, {{3, 2, 1, 50, 100, 200}}, 22) == 1);
  CHECK(Check(Decoder("Grayscale"), x, {{2, 124}}, 20) == 1);
  const ReadModel unknown = Read(Decoder("rgb"), 20);
  const auto error = unknown.format->importer.Import(*unknown.model);
  REQUIRE(!error.has_value());
  CHECK(Contains(error.error().message(), "unknown pixel_format \"rgb\""));
}

TEST_CASE("onnx images: what is written") {
  for (const std::string format : {"RGB", "BGR", "Grayscale"}) {
    const ImportedModel model = Import(Decoder(format), 20);
    Graph graph = model.graph.Clone();
    const Format& onnx = *FindFormat("onnx");
    const auto unsupported = Legalize(graph, *onnx.target);
    REQUIRE(unsupported.has_value());
    CHECK(unsupported->empty());
    const auto image = onnx.writer.Write(graph, ExportOptions{});
    REQUIRE_MESSAGE(image.has_value(), image.error().message());
    std::vector<std::byte> bytes;
    for (const Blob& part : image->parts)
      bytes.insert(bytes.end(), part.data(), part.data() + part.size());
    const auto read = onnx.reader.Read(Blob::CopyOf(bytes), "m.onnx", ReadLimits{});
    REQUIRE(read.has_value());
    const auto again = onnx.importer.Import(**read);
    REQUIRE_MESSAGE(again.has_value(), again.error().message());
    const auto pixels = [](const Graph& g) {
      return g.outputs()[0].value->def()->attrs<ImageDecodeAttrs>().pixel_format;
    };
    CHECK(pixels(again->graph) == pixels(model.graph));
  }
}

TEST_CASE("onnx images: other formats have no decoder") {
  for (const std::string name : {"tflite", "coreml", "nnapi"}) {
    CAPTURE(name);
    Graph graph = Import(Decoder("BGR"), 20).graph.Clone();
    const auto unsupported = Legalize(graph, *FindFormat(name)->target);
    REQUIRE(unsupported.has_value());
    REQUIRE(!unsupported->empty());
    CHECK(Contains(unsupported->front().reason, "image_decode"));
  }
}

}  // namespace
}  // namespace nn::test::onnx_image_test
