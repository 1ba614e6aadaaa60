#include <doctest/doctest.h>

#include <map>
#include <string>

#include "formats/tflite_file.h"
#include "support/run_graph.h"
#include "tflite_metadata/tflite_metadata_generated.h"

namespace nn::test::tflite_metadata_test {
namespace {

namespace fb = tflite::fb;

// The metadata in the summary of a model whose entry TFLITE_METADATA has the bytes.
std::map<std::string, std::string> SummaryWith(const std::string& bytes) {
  Graph graph = Parse(R"(graph { in %x: f32[2] %y = relu(%x) out "y" = %y })");
  graph.metadata["tflite.TFLITE_METADATA"] = bytes;
  const Blob file = Blob::CopyOf(std::span<const char>(FileOf(graph)));
  const auto model = Tflite().read(file, "m.tflite", {});
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  const auto summary = Tflite().summarize(**model);
  REQUIRE_MESSAGE(summary.has_value(), summary.error().message());
  return {summary->metadata.begin(), summary->metadata.end()};
}

TEST_CASE("tflite: what the authors say of a model") {
  flatbuffers::FlatBufferBuilder builder;
  const auto name = builder.CreateString("tagger");
  const auto version = builder.CreateString("v3");
  const auto author = builder.CreateString("A. Person");
  const auto license = builder.CreateString("Apache-2.0");
  builder.Finish(fb::CreateModelMetadata(builder, name, 0, version, 0, author, license),
                 fb::ModelMetadataIdentifier());
  const std::string bytes(reinterpret_cast<const char*>(builder.GetBufferPointer()),
                          builder.GetSize());
  auto metadata = SummaryWith(bytes);
  CHECK(metadata["name"] == "tagger");
  CHECK(metadata["version"] == "v3");
  CHECK(metadata["author"] == "A. Person");
  CHECK(metadata["license"] == "Apache-2.0");
  CHECK_FALSE(metadata.contains("description"));

  // What is no such flatbuffer is an entry like others.
  metadata = SummaryWith(bytes.substr(0, bytes.size() / 2));
  CHECK(metadata.contains("TFLITE_METADATA"));
  CHECK_FALSE(metadata.contains("author"));
  metadata = SummaryWith("text");
  CHECK(metadata["TFLITE_METADATA"] == "text");
  CHECK_FALSE(metadata.contains("author"));
}

}  // namespace
}  // namespace nn::test::tflite_metadata_test
