#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

#include "base/file/file.h"
#include "support/files.h"

// A copy includes every tensor in another file, wherever it is in the model.
namespace nn::test::onnx_external_test {
namespace {

namespace fs = std::filesystem;

std::string External(std::string_view name, int offset, std::string_view file, int elements = 2) {
  return fmt::format(R"(
    dims: {} data_type: 1 name: "{}" data_location: EXTERNAL
    external_data {{ key: "location" value: "{}" }}
    external_data {{ key: "offset" value: "{}" }}
    external_data {{ key: "length" value: "{}" }})",
                     elements, name, file, offset, 4 * elements);
}

// One tensor in each place that a model can have one.
std::string Model(std::string_view file) {
  const auto at = [&](std::string_view name, int offset) { return External(name, offset, file); };
  return fmt::format(
      R"(ir_version: 10
opset_import {{ version: 17 }}
graph {{ name: "g"
  initializer {{ {} }}
  sparse_initializer {{ values {{ {} }} indices {{ dims: 2 data_type: 7 int64_data: 0 int64_data: 1 }} dims: 4 }}
  node {{ op_type: "Constant" output: "c" attribute {{ name: "value" type: TENSOR t {{ {} }} }} }}
  node {{ op_type: "Constant" output: "d" attribute {{ name: "sparse_value" type: SPARSE_TENSOR
    sparse_tensor {{ values {{ {} }} indices {{ dims: 2 data_type: 7 int64_data: 0 int64_data: 1 }} dims: 4 }} }} }}
  node {{ op_type: "Foo" domain: "x" output: "e" attribute {{ name: "list" type: TENSORS tensors {{ {} }} tensors {{ {} }} }} }}
  node {{ op_type: "If" input: "q" output: "f" attribute {{ name: "then_branch" type: GRAPH g {{ name: "t"
    initializer {{ {} }} node {{ op_type: "Constant" output: "h" attribute {{ name: "value" type: TENSOR t {{ {} }} }} }} }} }} }}
}}
functions {{ name: "F" domain: "x" output: "y" opset_import {{ version: 17 }}
  node {{ op_type: "Constant" output: "y" attribute {{ name: "value" type: TENSOR t {{ {} }} }} }} }}
training_info {{ initialization {{ name: "i" initializer {{ {} }} }} }}
)",
      at("initializer", 0), at("sparse", 8), at("constant", 16), at("sparse attribute", 24),
      at("list 0", 32), at("list 1", 40), at("inner", 48), at("inner constant", 56),
      at("function", 64), at("training", 72));
}

std::string Numbers(int from) {
  std::string bytes;
  for (int i = 0; i < 40; ++i) {
    const auto value = static_cast<float>(from + i);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return bytes;
}

// The model with all tensors in it, as text.
std::string Embedded(const std::string& path) {
  const ReadModel read = ReadOrFail(path);
  ExportOptions options{"m.textproto"};
  options.external_data.embed = true;
  const auto image = read.format->writer.Save(*read.model, options);
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  REQUIRE(image->side_files.empty());
  std::string text;
  for (const Blob& part : image->parts)
    text.append(reinterpret_cast<const char*>(part.data()), part.size());
  return text;
}

TEST_CASE("ONNX external data: every tensor that is external moves, wherever it is") {
  const TempDir dir;
  WriteText(dir / "m.textproto", Model("w.bin"));
  WriteText(dir / "w.bin", Numbers(100));
  const std::string want = Embedded(dir / "m.textproto");
  REQUIRE(want.find("EXTERNAL") == std::string::npos);
  fs::create_directory(dir / "out");
  for (const uint64_t threshold : {uint64_t{0}, uint64_t{1024}}) {
    const ReadModel read = ReadOrFail(dir / "m.textproto");
    ExportOptions options{dir / "out/m.onnx"};
    options.external_data.file = "w.bin";
    options.external_data.threshold = threshold;
    const auto image = read.format->writer.Save(*read.model, options);
    REQUIRE_MESSAGE(image.has_value(), image.error().message());
    // Nothing of the old file is needed, even if the new one has its name.
    REQUIRE(image->side_files.size() == 1);
    CHECK(image->side_files[0].name == "w.bin");
    CHECK_FALSE(image->side_files[0].keep_existing);
    REQUIRE(WriteFile(dir / "out/m.onnx", image->parts).has_value());
    REQUIRE(WriteFile(dir / "out/w.bin", image->side_files[0].parts).has_value());
    CHECK(Embedded(dir / "out/m.onnx") == want);
    CHECK(ReadText(dir / "out/w.bin") != ReadText(dir / "w.bin"));
  }
}

TEST_CASE("ONNX external data: a plain copy needs the files of all tensors") {
  const TempDir dir;
  WriteText(dir / "m.textproto", Model("./w.bin"));
  WriteText(dir / "w.bin", Numbers(7));
  const ReadModel read = ReadOrFail(dir / "m.textproto");
  const auto image = read.format->writer.Save(*read.model, ExportOptions{dir / "c.onnx"});
  REQUIRE(image.has_value());
  REQUIRE(image->side_files.size() == 1);
  CHECK(image->side_files[0].keep_existing);
  fs::remove(dir / "w.bin");
  CHECK_FALSE(read.format->writer.Save(*read.model, ExportOptions{dir / "c.onnx"}).has_value());
}

TEST_CASE("ONNX external data: bytes that many tensors share are written once") {
  const TempDir dir;
  std::string text = "ir_version: 10\nopset_import { version: 17 }\ngraph { name: \"g\"\n";
  for (int i = 0; i < 50; ++i)
    text += fmt::format("initializer {{ {} }}\n", External(fmt::format("t{}", i), 0, "w.bin", 32));
  WriteText(dir / "m.textproto", text + "}\n");
  WriteText(dir / "w.bin", Numbers(1));
  const ReadModel read = ReadOrFail(dir / "m.textproto");
  ExportOptions options{dir / "c.onnx"};
  options.external_data.file = "c.bin";
  const auto image = read.format->writer.Save(*read.model, options);
  REQUIRE(image.has_value());
  REQUIRE(image->side_files.size() == 1);
  CHECK(image->side_files[0].size() == 128);
}

}  // namespace
}  // namespace nn::test::onnx_external_test
