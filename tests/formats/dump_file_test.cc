#include <doctest/doctest.h>

#include "base/file/file.h"
#include "base/json/json.h"
#include "formats/common/describe/compare.h"
#include "formats/format.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "tensorio/tensor_archive.h"

// Dumps whose tensors are in a file beside them.
namespace nn::test::dump_file_test {
namespace {

std::vector<NamedTensor> Tensors(const std::string& path) {
  auto tensors = ReadTensorArchive(*ReadFile(path));
  REQUIRE_MESSAGE(tensors.has_value(), tensors.error().message());
  return *std::move(tensors);
}

// Two convolutions in ONNX, with weights below and above 1 KiB.
class StoredDump {
 public:
  explicit StoredDump(const std::string& file) : file_(dir_ / file) {
    WriteModel(dir_ / "m.onnx", R"(graph {
      in %x: f32[1, 16, 8, 8]
      const %wide: f32[8, 16, 3, 3] = seeded(1, 0.3)
      const %small: f32[1, 8, 1, 1] = [1, 2, 3, 4, 5, 6, 7, -0.5]
      %y = conv(%x, %wide)
      %z = conv(%y, %small)
      out "z" = %z
    })");
    REQUIRE(WriteDump(ReadOrFail(dir_ / "m.onnx"), dump(), {DumpWeights::kFile, file}).has_value());
  }

  std::string dump() const { return dir_ / "m.json"; }
  const std::string& file() const { return file_; }
  const TempDir& dir() const { return dir_; }

  // The first difference between the model and the dump; "" if there is none.
  std::string Difference() const {
    const auto found = CompareModels(ReadOrFail(dir_ / "m.onnx"), ReadOrFail(dump()));
    REQUIRE_MESSAGE(found.has_value(), found.error().message());
    return found->empty() ? "" : found->front().place;
  }
  std::string Refusal() const {
    const auto read = ReadModelFile(dump());
    return read ? "" : read.error().message();
  }

 private:
  TempDir dir_;
  std::string file_;
};

TEST_CASE("dumps in files: tensors have their names, types and shapes") {
  const Json schema = Json::parse(ReadText(SourcePath("schemas/dump.schema.json")));
  for (const std::string file : {"w.npz", "w.safetensors"}) {
    CAPTURE(file);
    const StoredDump d(file);
    CHECK(d.Difference().empty());
    const Json json = Json::parse(ReadText(d.dump()));
    for (const std::string& error : SchemaErrors(schema, json)) FAIL_CHECK(error);
    CHECK(json["weights"] == file);
    const Json& initializers = json["model"]["graph"]["initializer"];
    const auto tensors = Tensors(d.file());
    REQUIRE(tensors.size() == initializers.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Json& data = initializers[i]["raw_data"];
      CHECK(data["stored"] == tensors[i].name);
      CHECK(initializers[i]["name"] == tensors[i].name);
      CHECK(data["type"] == "f32");
      CHECK(data["shape"] == tensors[i].tensor.dims());
    }
    CHECK(tensors[0].tensor.dims() == std::vector<int64_t>{8, 16, 3, 3});
    CHECK(tensors[1].tensor.GetDouble(7) == -0.5);
    // A dump of the dump, in the same folder.
    REQUIRE(WriteDump(ReadOrFail(d.dump()), d.dir() / "again.json", {DumpWeights::kFile, file}));
    CHECK(ReadText(d.dir() / "again.json") == ReadText(d.dump()));
  }
}

TEST_CASE("dumps in files: elements may be edited, but neither types nor shapes") {
  const StoredDump d("w.npz");
  auto tensors = Tensors(d.file());
  tensors[1].tensor = Tensor::Of<float>({1, 8, 1, 1}, {0, 2, 3, 4, 5, 6, 7, -0.5});
  REQUIRE(WriteTensorArchive(d.file(), tensors).has_value());
  CHECK(d.Difference() == "/model/graph/initializer/1/raw_data");
  // The contents determine the kind of file.
  REQUIRE(WriteTensorArchive(d.dir() / "w.safetensors", tensors).has_value());
  WriteText(d.file(), ReadText(d.dir() / "w.safetensors"));
  CHECK(d.Difference() == "/model/graph/initializer/1/raw_data");

  const auto refusal_of = [&](Tensor tensor) {
    tensors[1].tensor = std::move(tensor);
    REQUIRE(WriteTensorArchive(d.file(), tensors).has_value());
    return d.Refusal();
  };
  const std::string place = d.dump() + ": /model/graph/initializer/1/raw_data: ";
  CHECK(refusal_of(Tensor::Of<float>({8}, std::vector<float>(8))) ==
        place + "\"" + tensors[1].name +
            "\" is f32[8] in the file that \"weights\" names, not "
            "f32[1, 8, 1, 1]");
  CHECK(refusal_of(Tensor::Of<double>({1, 8, 1, 1}, std::vector<double>(8))).find("f64[1, 8") !=
        std::string::npos);
  tensors.pop_back();
  REQUIRE(WriteTensorArchive(d.file(), tensors).has_value());
  CHECK(d.Refusal().find(place + "the file that \"weights\" names has no tensor") == 0);
}

TEST_CASE("dumps in files: what is wrong with the file is said with its name") {
  const StoredDump d("w.safetensors");
  WriteText(d.file(), "?");
  CHECK(d.Refusal().find(d.dump() + ": w.safetensors: ") == 0);
  WriteText(d.file(), ReadText(d.dir() / "m.json"));
  CHECK(d.Refusal().find("w.safetensors: ") != std::string::npos);
  std::remove(d.file().c_str());
  CHECK(d.Refusal().find("/weights: ") != std::string::npos);
  std::string text = ReadText(d.dump());
  text.replace(text.find("w.safetensors"), 13, "../w.npz");
  WriteText(d.dump(), text);
  CHECK(d.Refusal().find("/weights: ") != std::string::npos);
  // Values that only look like one.
  for (const char* value : {R"({"stored": "a"})", R"({"stored": "a", "type": "f33", "shape": []})",
                            R"({"stored": 1, "type": "f32", "shape": []})",
                            R"({"stored": "a", "type": "f32", "shape": ["x"]})",
                            R"({"stored": "a", "type": "f32", "shape": [1]})"}) {
    CAPTURE(value);
    WriteText(d.dump(), std::string(R"({"nn_dump": 1, "format": "onnx", "model": {"graph": )") +
                            R"({"initializer": [{"raw_data": )" + value + "}]}}}");
    CHECK(d.Refusal().find("/model/graph/initializer/0/raw_data") != std::string::npos);
  }
}

TEST_CASE("dumps in files: names that a file cannot have become places") {
  const TempDir dir;
  const std::string data = "raw_data: \"\\001\\002\"";
  const auto tensor = [&](const char* name) {
    return std::string("initializer { dims: 2 data_type: 2 name: \"") + name + "\" " + data + " }";
  };
  WriteText(dir / "m.txtpb", "ir_version: 8 graph { " + tensor("a") + tensor("a") + tensor("") +
                                 tensor("__metadata__") + tensor("x\\ny") + "}");
  const ReadModel read = ReadOrFail(dir / "m.txtpb");
  for (const std::string file : {"w.npz", "w.safetensors"}) {
    REQUIRE(WriteDump(read, dir / "m.json", {DumpWeights::kFile, file}).has_value());
    CHECK(CompareModels(read, ReadOrFail(dir / "m.json"))->empty());
    const auto tensors = Tensors(dir / file);
    REQUIRE(tensors.size() == 4);  // a small one without a name stays in the text
    CHECK(tensors[0].name == "a");
    CHECK(tensors[1].name == "model/graph/initializer/1/raw_data");
    CHECK(tensors[2].name == "model/graph/initializer/3/raw_data");
    CHECK(tensors[3].name == "model/graph/initializer/4/raw_data");
    CHECK(tensors[1].tensor.Identical(Tensor::Of<uint8_t>({2}, {1, 2})));
  }
  for (const std::string file : {"w.json", "", "/tmp/w.npz", "../w.npz"})
    CHECK(WriteDump(read, dir / "n.json", {DumpWeights::kFile, file}).error().code() ==
          ErrorCode::kUsage);
  CHECK_FALSE(Exists(dir / "n.json"));
}

}  // namespace
}  // namespace nn::test::dump_file_test
