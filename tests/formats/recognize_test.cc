// Files are recognized by their contents, not by their names.
#include "formats/recognize.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "base/file/blob.h"
#include "base/file/file.h"
#include "support/files.h"

namespace nn::test::recognize_test {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr std::string_view kGraph = R"(graph {
  in %x: f32[1, 4]
  %y = relu(%x)
  out "y" = %y
})";

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// The label of the format that a file is read as, or the error.
std::string ReadAs(const std::string& path) {
  const auto read = ReadModelFile(path);
  return read ? std::string(read->format->label) : read.error().message();
}

TEST_CASE("the contents of a file determine its format, not its name") {
  const TempDir dir;
  for (const Format& format : Formats()) {
    const std::string made = dir / "m" + std::string(format.extensions[0]);
    WriteModel(made, std::string(kGraph));
    const std::string bytes = ReadText(made);
    for (const std::string name :
         {"x", "x.bin", "x.tfl", "x.onnx", "x.tflite", "x.mlmodel", "x.nnapi", "x.nnapi.json"}) {
      CAPTURE(format.label);
      CAPTURE(name);
      WriteText(dir / name, bytes);
      CHECK(ReadAs(dir / name) == format.label);
    }
  }
}

TEST_CASE("TensorFlow Lite files without the identifier are read") {
  const TempDir dir;
  WriteModel(dir / "m.tflite", std::string(kGraph));
  std::string bytes = ReadText(dir / "m.tflite");
  REQUIRE(bytes.substr(4, 4) == "TFL3");
  bytes.replace(4, 4, 4, '\0');
  for (const std::string name : {"x.tflite", "x.bin", "x", "x.onnx"}) {
    CAPTURE(name);
    WriteText(dir / name, bytes);
    CHECK(ReadAs(dir / name) == "TensorFlow Lite");
  }
}

TEST_CASE("folders are recognized by their contents") {
  const TempDir dir;
  WriteModel(dir / "m.mlmodel", std::string(kGraph));
  const ReadModel model = ReadOrFail(dir / "m.mlmodel");
  const auto package =
      model.format->writer.Save(*model.model, ExportOptions{dir / "folder.mlpackage"});
  REQUIRE(package.has_value());
  REQUIRE(package->is_folder);
  for (const SideFile& side : package->side_files) {
    const std::filesystem::path path = std::filesystem::path(dir / "folder") / side.name;
    std::filesystem::create_directories(path.parent_path());
    if (!side.name.ends_with('/')) REQUIRE(WriteFile(path.string(), side.parts).has_value());
  }
  CHECK(ReadAs(dir / "folder") == "Core ML");
  std::filesystem::create_directory(dir / "saved");
  CHECK(ReadAs(dir / "saved").find("is a folder, but not an .mlpackage model") !=
        std::string::npos);
  WriteText(dir / "saved/saved_model.pb", "\x08\x01");
  CHECK(ReadAs(dir / "saved").find("a TensorFlow SavedModel") != std::string::npos);
}

TEST_CASE("the extension decides if the contents fit several formats") {
  const TempDir dir;
  const std::string version_alone = "\x08\x07";
  for (const auto& [name, label] :
       {std::pair("x.onnx", "ONNX"), std::pair("x.mlmodel", "Core ML")}) {
    WriteText(dir / name, version_alone);
    const auto format = RecognizeFormat(Bytes(version_alone), dir / name);
    REQUIRE(format.has_value());
    CHECK((*format)->label == label);
  }
  WriteText(dir / "x", version_alone);
  CHECK(ReadAs(dir / "x").ends_with(
      "the contents may be ONNX or Core ML; rename the file with the extension of its format"));
}

TEST_CASE("files that are not models are identified") {
  const std::string tar = std::string(257, 'n') + "ustar";
  const std::string safetensors = "\x02\0\0\0\0\0\0\0{}"s;
  const std::string zip = "PK\x03\x04 and so on ";
  struct Row {
    std::string_view bytes;
    std::string_view what;
  };
  for (const Row& row : {
           Row{"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"},
           Row{"\x1f\x8b\x08", "gzip"},
           Row{"\xfd"
               "7zXZ\0"sv,
               "xz"},
           Row{"BZh91AY", "bzip2"},
           Row{"\x28\xb5\x2f\xfd", "zstd"},
           Row{"7z\xbc\xaf\x27\x1c", "7z"},
           Row{tar, "tar archive"},
           Row{"\x93NUMPY\x01", "NumPy"},
           Row{"\x89HDF\r\n\x1a\n", "HDF5"},
           Row{"GGUF\x03", "GGUF"},
           Row{"\x18\0\0\0ORTM"sv, "ONNX Runtime .ort"},
           Row{"\x18\0\0\0ET12"sv, "ExecuTorch"},
           Row{"<?xml version=\"1.0\"?>", "XML"},
           Row{"\n <!DOCTYPE html>", "HTML"},
           Row{"\x80\x02}q", "pickle"},
           Row{safetensors, "safetensors"},
           Row{"\x08\x01\x12\x10\x0a\x0e\x12\x0c\x0a\x0a", "SavedModel"},
           Row{"\x0a\x14\x0a\x01x\x12\x0bPlaceholder", "GraphDef"},
           Row{zip, "a ZIP archive"},
           Row{"PK\x03\x04 archive/data.pkl", "PyTorch"},
           Row{"PK\x03\x04 metadata.json config.json model.weights.h5", "Keras"},
           Row{"PK\x03\x04 x.mlpackage/Manifest.json", ".mlpackage"},
           Row{"PK\x03\x04 arr_0.npy", ".npz"},
       }) {
    CAPTURE(row.what);
    const std::string_view what = KnownNonModel(Bytes(row.bytes));
    CHECK_MESSAGE(what.find(row.what) != std::string_view::npos, std::string(what));
    for (const std::string path : {"m", "m.onnx", "m.tflite", "m.mlmodel", "m.nnapi"}) {
      const auto format = RecognizeFormat(Bytes(row.bytes), path);
      REQUIRE(!format.has_value());
      CHECK(format.error().code() == ErrorCode::kParse);
      CHECK(format.error().message() == path + ": this is " + std::string(what));
    }
  }
  CHECK(KnownNonModel(Bytes("hello")).empty());
  const auto text = RecognizeFormat(Bytes("hello"), "notes.txt");
  REQUIRE(!text.has_value());
  CHECK(text.error().message() ==
        "notes.txt: this is a text file, not a model; the extensions of model files are .onnx "
        ".tflite .mlmodel .nnapi.json");
}

// Errors of readers have the suite's own messages, not those of the libraries used.
TEST_CASE("errors of damaged files are specific") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", std::string(kGraph));
  const std::string bytes = ReadText(dir / "m.onnx");
  WriteText(dir / "cut.onnx", bytes.substr(0, bytes.size() - 5));
  CHECK(ReadAs(dir / "cut.onnx") ==
        dir / "cut.onnx" +
            ": the file ends in the middle of a ModelProto; it is truncated or damaged");
  WriteText(dir / "noise.onnx", "\x07\x07\x07\x07");
  CHECK(ReadAs(dir / "noise.onnx") ==
        dir / "noise.onnx" + ": not a ModelProto: the bytes are not protobuf's wire format");
  WriteText(dir / "m.nnapi.json", "{\"operands\": [}");
  const std::string json = ReadAs(dir / "m.nnapi.json");
  CHECK(json.find("not JSON: parse error at line 1, column 15") != std::string::npos);
  CHECK(json.find("json.exception") == std::string::npos);
}

TEST_CASE("a model is recognized by its contents, or by its extension") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", std::string(kGraph));
  std::filesystem::create_directory(dir / "m.mlpackage");
  std::filesystem::create_directory(dir / "c.mlmodelc");
  std::filesystem::create_directory(dir / "folder.onnx");
  WriteText(dir / "any", ReadText(dir / "m.onnx"));
  WriteText(dir / "damaged.tflite", "x");
  WriteText(dir / "text", "x");
  WriteText(dir / "data.bin", std::string(100, '\x0a'));
  WriteText(dir / "empty", "");
  WriteText(dir / "other.json", "{}");
  REQUIRE(WriteDump(ReadOrFail(dir / "m.onnx"), dir / "dump.json").has_value());
  for (const char* name : {"m.onnx", "m.mlpackage", "m.mlpackage/", "c.mlmodelc", "any",
                           "damaged.tflite", "dump.json"}) {
    CAPTURE(name);
    CHECK(IsModel(dir / name));
  }
  for (const char* name : {"", "folder.onnx", "text", "data.bin", "empty", "other.json",
                           "nosuch.onnx", "nosuch.mlmodelc"}) {
    CAPTURE(name);
    CHECK_FALSE(IsModel(dir / name));
  }
}

}  // namespace
}  // namespace nn::test::recognize_test
