#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "formats/native_edits.h"
#include "formats/tflite/file.h"
#include "formats/tflite/file/archive.h"
#include "passes/interface/edits.h"
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
  const auto model = Tflite().reader.Read(file, "m.tflite", {});
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  const auto summary = Tflite().describer.Summarize(**model);
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

// ---- What rewritten models keep -----------------------------------------------------------------

template <typename T>
std::string Bytes(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

// An archive at `at` with the file "l", whose contents are "labels"; offsets count from `base`.
std::string ArchiveOf(uint32_t at, uint32_t base) {
  const std::string common = Bytes<uint16_t>(20) + std::string(8, '\0') + Bytes<uint32_t>(0) +
                             Bytes<uint32_t>(6) + Bytes<uint32_t>(6) + Bytes<uint16_t>(1) +
                             Bytes<uint16_t>(0);
  const std::string local = "PK\3\4" + common + "llabels";
  const std::string entry = "PK\1\2" + Bytes<uint16_t>(20) + common + std::string(10, '\0') +
                            Bytes<uint32_t>(at - base) + "l";
  return local + entry + "PK\5\6" + std::string(4, '\0') + Bytes<uint16_t>(1) + Bytes<uint16_t>(1) +
         Bytes(static_cast<uint32_t>(entry.size())) +
         Bytes(static_cast<uint32_t>(at + local.size() - base)) + Bytes<uint16_t>(0);
}

// Metadata of the inputs "a" and "b", which have a normalization and a threshold, and of "y".
std::string Described() {
  flatbuffers::FlatBufferBuilder f;
  const auto unit = [&](fb::ProcessUnitOptions type, flatbuffers::Offset<void> options) {
    return fb::CreateProcessUnit(f, type, options);
  };
  const auto tensor = [&](const char* name) {
    const std::vector<float> numbers = {127.5F};
    const auto normalization = fb::CreateNormalizationOptionsDirect(f, &numbers, &numbers);
    const auto threshold = fb::CreateScoreThresholdingOptions(f, 0.5F);
    const std::vector units = {
        unit(fb::ProcessUnitOptions::NormalizationOptions, normalization.Union()),
        unit(fb::ProcessUnitOptions::ScoreThresholdingOptions, threshold.Union())};
    const auto stats = fb::CreateStatsDirect(f, &numbers, &numbers);
    return fb::CreateTensorMetadataDirect(f, name, nullptr, nullptr, 0, &units, stats);
  };
  const std::vector inputs = {tensor("first"), tensor("second")};
  const auto file =
      fb::CreateAssociatedFileDirect(f, "l", nullptr, fb::AssociatedFileType::TENSOR_AXIS_LABELS);
  const std::vector files = {file};
  const std::vector outputs = {
      fb::CreateTensorMetadataDirect(f, "scores", nullptr, nullptr, 0, nullptr, 0, &files)};
  const std::vector graphs = {
      fb::CreateSubGraphMetadataDirect(f, "main", nullptr, &inputs, &outputs)};
  f.Finish(fb::CreateModelMetadataDirect(f, "tagger", "old", "v3", &graphs),
           fb::ModelMetadataIdentifier());
  return {reinterpret_cast<const char*>(f.GetBufferPointer()), f.GetSize()};
}

std::string SourceFile() {
  Graph graph = Parse(R"(graph {
    in %a: f32[2] in %b: f32[2]
    %y = sub(%a, %b)
    out "y" = %y
  })");
  graph.metadata = {{"description", "by hand"},
                    {"tflite.TFLITE_METADATA", Described()},
                    {"tflite.binary", std::string("\xff\0\xfe", 3)},
                    {"tflite.min_runtime_version", std::string("1.5.0").append(11, '\0')},
                    {"tflite.model_control_dependencies", std::string("\x01\x02", 2)},
                    {"tflite.signature_key", "tag"},
                    {"tflite.signature.input.0", "left"},
                    {"tflite.signature.input.1", "right"},
                    {"tflite.signature.output.0", "result"}};
  return FileOf(graph);
}

// A file that was written again after a change of its graph.
struct Rewritten {
  std::string file;
  Json dump;

  explicit Rewritten(const std::string& source, const std::function<void(Graph&)>& change = {}) {
    const auto model =
        Tflite().reader.Read(Blob::CopyOf(std::span<const char>(source)), "m.tflite", {});
    REQUIRE_MESSAGE(model.has_value(), model.error().message());
    auto imported = Tflite().importer.Import(**model);
    REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
    if (change) change(imported->graph);
    ExportOptions options;
    auto frame = Tflite().writer.FrameOf(**model);
    REQUIRE_MESSAGE(frame.has_value(), frame.error().message());
    options.frame = frame->model;
    const auto image = Tflite().writer.Write(imported->graph, options);
    REQUIRE_MESSAGE(image.has_value(), image.error().message());
    file = Joined(*image);
    const auto read = ReadModelBytes(Blob::CopyOf(std::span<const char>(file)), "o.tflite");
    REQUIRE_MESSAGE(read.has_value(), read.error().message());
    dump = DumpOf(*read);
  }

  // The contents of a metadata entry; "-" if there is none.
  std::string Entry(const std::string& name) const {
    const auto& root = Root(file);
    for (const auto* entry : *root.metadata())
      if (entry->name()->str() == name) {
        const auto* data = root.buffers()->Get(entry->buffer())->data();
        return {reinterpret_cast<const char*>(data->data()), data->size()};
      }
    return "-";
  }

  // What describes the inputs: names, with the number of process units and "!" for statistics.
  std::string Inputs() const {
    const std::string bytes = Entry("TFLITE_METADATA");
    std::vector<uint64_t> aligned(bytes.size() / 8 + 1);
    std::memcpy(aligned.data(), bytes.data(), bytes.size());
    const auto& m = *fb::GetModelMetadata(aligned.data());
    CHECK(m.name()->str() == "tagger");
    const auto& graph = *m.subgraph_metadata()->Get(0);
    CHECK(graph.output_tensor_metadata()->Get(0)->associated_files()->Get(0)->name()->str() == "l");
    std::string out;
    for (const auto* t : *graph.input_tensor_metadata())
      out += t->name()->str() +
             std::to_string(t->process_units() == nullptr ? 0 : t->process_units()->size()) +
             (t->stats() == nullptr ? " " : "! ");
    return out;
  }
};

TEST_CASE("tflite frame: entries, signatures and associated files of a rewritten model") {
  const std::string source = SourceFile();
  const auto size = static_cast<uint32_t>(source.size());
  for (const uint32_t base : {uint32_t{0}, size}) {
    CAPTURE(base);
    const Rewritten r(source + ArchiveOf(size, base));
    CHECK(r.Entry("TFLITE_METADATA") == Described());
    CHECK(r.Entry("binary") == std::string("\xff\0\xfe", 3));
    CHECK(r.Entry("min_runtime_version") == std::string("1.5.0").append(11, '\0'));
    CHECK(r.Entry("model_control_dependencies") == "-");
    CHECK(r.dump["description"] == "by hand");
    CHECK(r.dump["signature_defs"].size() == 1);
    CHECK(r.dump["signature_defs"][0]["signature_key"] == "tag");
    CHECK(r.dump["signature_defs"][0]["inputs"][1]["name"] == "right");
    CHECK(r.dump["signature_defs"][0]["outputs"][0]["name"] == "result");
    const auto archive = tflite::FindArchive(std::as_bytes(std::span(r.file)));
    REQUIRE(archive.has_value());
    REQUIRE(archive->has_value());
    const auto at = static_cast<uint32_t>((*archive)->begin());
    CHECK(r.file.substr(at) == ArchiveOf(at, base == 0 ? 0 : at));
  }
}

TEST_CASE("tflite frame: ports that change") {
  const std::string source = SourceFile();
  CHECK(Rewritten(source).Inputs() == "first2! second2! ");
  const auto names = [](const Rewritten& r) {
    std::string out;
    for (const Json& entry : r.dump["signature_defs"][0]["inputs"])
      out += entry["name"].get<std::string>() + " ";
    return out;
  };
  const Rewritten renamed(source, [](Graph& g) { g.RenameInput(0, "c"); });
  CHECK(renamed.Inputs() == "first2! second2! ");
  CHECK(names(renamed) == "c right ");
  const Rewritten normalized(source, [](Graph& g) {
    Preprocessing p;
    p.mean = {0.5};
    REQUIRE(PreprocessInput(g, 1, p).has_value());
  });
  CHECK(normalized.Inputs() == "first2! second1 ");
  CHECK(names(normalized) == "left right ");
  // The second input alone, and a third one.
  const Rewritten removed(
      source, [](Graph& g) { g = Parse(R"(graph { in %b: f32[2] %y = relu(%b) out "y" = %y })"); });
  CHECK(removed.Inputs() == "second2! ");
  const Rewritten added(source, [](Graph& g) {
    g = Parse(R"(graph { in %b: f32[2] in %a: f32[2] in %n: f32[2]
      %s = sub(%a, %b) %y = mul(%s, %n) out "y" = %y })");
  });
  CHECK(added.Inputs() == "second2! first2! n0 ");
  CHECK(names(added) == "left right n ");
}

TEST_CASE("tflite frame: signatures that a rewritten model cannot have") {
  const auto refusal = [](const std::function<void(Json&)>& change) {
    const std::string source = SourceFile();
    const auto read = ReadModelBytes(Blob::CopyOf(std::span<const char>(source)), "m.tflite");
    REQUIRE(read.has_value());
    Json dump = DumpOf(*read);
    change(dump);
    const ReadModel changed =
        FromDump(Json{{"nn_dump", 1}, {"format", "tflite"}, {"model", dump}}.dump());
    const auto frame = Tflite().writer.FrameOf(*changed.model);
    REQUIRE(!frame.has_value());
    CHECK(frame.error().code() == ErrorCode::kUnsupported);
    return frame.error().message();
  };
  CHECK(refusal([](Json& dump) {
          dump["subgraphs"].push_back(dump["subgraphs"][0]);
          Json second = dump["signature_defs"][0];
          second["signature_key"] = "other";
          second["subgraph_index"] = 1;
          dump["signature_defs"].push_back(second);
        }) ==
        "signature \"other\" runs subgraph 1, and a rewritten model has only the first with its "
        "signatures; keep one of those with --set-metadata signature=KEY, or none with "
        "--set-metadata signature=");
  CHECK(refusal([](Json& dump) { dump["signature_defs"][0]["outputs"][0]["tensor_index"] = 0; }) ==
        "signature \"tag\" names tensor 0, which is no input or output of the model and would be "
        "lost; remove the signatures with --set-metadata signature=");
}

TEST_CASE("tflite frame: two signatures of one subgraph") {
  const std::string source = SourceFile();
  const auto read = ReadModelBytes(Blob::CopyOf(std::span<const char>(source)), "m.tflite");
  REQUIRE(read.has_value());
  Json dump = DumpOf(*read);
  Json second = dump["signature_defs"][0];
  second["signature_key"] = "other";
  second["inputs"].erase(0);
  second["inputs"][0]["name"] = "r";
  dump["signature_defs"].push_back(second);
  const ReadModel both =
      FromDump(Json{{"nn_dump", 1}, {"format", "tflite"}, {"model", dump}}.dump());
  const Rewritten r(Joined(*both.format->writer.Save(*both.model, {})));
  const Json& written = r.dump["signature_defs"];
  REQUIRE(written.size() == 2);
  CHECK(written[0]["inputs"].size() == 2);
  CHECK(written[1]["signature_key"] == "other");
  REQUIRE(written[1]["inputs"].size() == 1);
  CHECK(written[1]["inputs"][0]["name"] == "r");
  CHECK(written[1]["inputs"][0]["tensor_index"] == r.dump["subgraphs"][0]["inputs"][1]);
}

TEST_CASE("tflite: --set-metadata changes what the authors say of a model") {
  const std::string source = SourceFile();
  const auto read = ReadModelBytes(Blob::CopyOf(std::span<const char>(source)), "m.tflite");
  REQUIRE(read.has_value());
  NativeEdit edit = IdentityOf(FlowOrFail(*read));
  edit.metadata = {{"description", "new"}, {"name", "Q"}, {"version", ""}, {"signature", ""}};
  const ReadModel edited = EditOrFail(*read, edit);
  const auto summary = edited.format->describer.Summarize(*edited.model);
  REQUIRE(summary.has_value());
  std::multimap<std::string, std::string> listed(summary->metadata.begin(),
                                                 summary->metadata.end());
  CHECK(listed.count("name") == 1);
  CHECK(listed.find("name")->second == "Q");
  CHECK(listed.count("description") == 1);
  CHECK(listed.find("description")->second == "new");
  CHECK(listed.count("version") == 0);
  CHECK(listed.count("signature") == 0);
  CHECK(summary->producer == "by hand");
  CHECK(BrokenRules(edited) == std::vector<std::string>());
  edit.metadata = {{"name", "Q"}, {"TFLITE_METADATA", ""}};
  const auto without = Tflite().describer.Summarize(*EditOrFail(*read, edit).model);
  REQUIRE(without.has_value());
  listed = {without->metadata.begin(), without->metadata.end()};
  CHECK(listed.count("TFLITE_METADATA") == 0);
  CHECK(listed.count("name") == 1);
}

}  // namespace
}  // namespace nn::test::tflite_metadata_test
