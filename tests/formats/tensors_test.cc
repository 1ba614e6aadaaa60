// The lists of constant tensors, for all formats.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "formats/format.h"
#include "support/files.h"
#include "support/wire.h"

namespace nn::test::tensors_test {
namespace {

struct Listed {
  std::shared_ptr<const NativeModel> model;
  ModelSummary summary;
  std::vector<TensorEntry> tensors;

  const TensorEntry& Find(const std::string& part) const {
    const auto it = std::find_if(tensors.begin(), tensors.end(), [&](const TensorEntry& t) {
      return t.name.find(part) != std::string::npos;
    });
    REQUIRE_MESSAGE(it != tensors.end(), part);
    return *it;
  }
};

Listed List(ReadModel read) {
  auto summary = read.format->describer.Summarize(*read.model);
  REQUIRE(summary.has_value());
  auto tensors = read.format->describer.TensorsOf(*read.model);
  REQUIRE(tensors.has_value());
  return {std::move(read.model), *std::move(summary), *std::move(tensors)};
}

Listed ListFile(const std::string& path) {
  auto read = ReadModelFile(path);
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  return List(*std::move(read));
}

constexpr std::string_view kModel = R"(graph "small" {
  in %x: f32[1, 8, 8, 3]
  const %w: f32[4, 3, 3, 3] = seeded(1, 0.3)
  const %b: f32[4] = seeded(2)
  %h = conv(%x, %w, %b) {pads = [1, 1, 1, 1], layout = nxc, filter_layout = oxi} "conv1"
  out "y" = %h
})";

constexpr std::string_view kOnnxModel = R"(graph "small" {
  in %x: f32[1, 3, 8, 8]
  const %w: f32[4, 3, 3, 3] = seeded(1, 0.3)
  const %b: f32[4] = seeded(2)
  %h = conv(%x, %w, %b) {pads = [1, 1, 1, 1]} "conv1"
  out "y" = %h
})";

TEST_CASE("tensors: every format lists its weights, their users and their contents") {
  struct Row {
    std::string file;
    std::string type;
    std::string user;
  };
  const TempDir dir;
  for (const Row& r :
       {Row{"m.onnx", "FLOAT", "Conv"}, Row{"m.tflite", "FLOAT32", "CONV_2D"},
        Row{"m.mlmodel", "float32", "convolution"}, Row{"m.nnapi", "TENSOR_FLOAT32", "CONV_2D"}}) {
    CAPTURE(r.file);
    WriteModel(dir / r.file, r.file == "m.onnx" || r.file == "m.mlmodel" ? kOnnxModel : kModel);
    const Listed listed = ListFile(dir / r.file);
    const auto filter =
        std::find_if(listed.tensors.begin(), listed.tensors.end(),
                     [](const TensorEntry& t) { return t.bytes == 4 * 3 * 3 * 3 * 4; });
    REQUIRE(filter != listed.tensors.end());
    CHECK(filter->type == r.type);
    CHECK(!filter->external);
    REQUIRE(filter->users.size() == 1);
    CHECK(listed.summary.operators[filter->users[0]].op == r.user);
    const auto tensor = filter->read();
    REQUIRE_MESSAGE(tensor.has_value(), tensor.error().message());
    CHECK(tensor->dtype() == DType::kF32);
    CHECK(tensor->elements() == 4 * 3 * 3 * 3);
    uint64_t bytes = 0;
    for (const TensorEntry& t : listed.tensors) bytes += t.bytes;
    CHECK(bytes == listed.summary.parameter_bytes);
  }
}

// Field numbers of onnx.proto.
std::string Node(const std::string& op, const std::vector<std::string>& inputs,
                 const std::string& output, const std::string& more = {}) {
  std::string out;
  for (const std::string& i : inputs) out += Bytes(1, i);
  return Bytes(1, out + Bytes(2, output) + Bytes(4, op) + more);
}
std::string TensorF32(const std::string& name, uint64_t dim) {
  return Int(1, dim) + Int(2, 1) + Bytes(8, name) + Bytes(9, std::string(dim * 4, '\0'));
}
std::string Attr(const std::string& name, uint64_t type, const std::string& value) {
  return Bytes(5, Bytes(1, name) + value + Int(20, type));
}

Listed ListOnnx(const std::string& graph, const std::string& path = "m.onnx") {
  const Format* format = FindFormat("onnx");
  const std::string file = Int(1, 8) + Bytes(7, graph) + Bytes(8, Bytes(1, "") + Int(2, 17));
  auto model = format->reader.Read(Blob::Copy(std::as_bytes(std::span(file))), path, {});
  REQUIRE(model.has_value());
  return List(ReadModel{format, *std::move(model)});
}

TEST_CASE("tensors: ONNX constants, attributes, and names that subgraphs see or hide") {
  const std::string inner =
      Node("Add", {"outer", "hidden"}, "s") + Bytes(5, TensorF32("hidden", 2));
  const std::string graph =
      Node("Constant", {}, "c", Attr("value", 4, Bytes(5, TensorF32("", 3)))) +
      Node("If", {"c"}, "r", Attr("then_branch", 5, Bytes(6, inner))) +
      Node("Odd", {"hidden", "outer", "outer"}, "o",
           Attr("table", 4, Bytes(5, TensorF32("t", 5)))) +
      Bytes(5, TensorF32("outer", 4)) + Bytes(5, TensorF32("hidden", 6));
  const Listed l = ListOnnx(graph);
  // Operators: 0 Constant, 1 If, 2 Add, 3 Odd.
  REQUIRE(l.summary.operators.size() == 4);
  using Users = std::vector<size_t>;
  REQUIRE(l.tensors.size() == 5);
  CHECK(l.Find("outer").users == Users{2, 3});
  CHECK(l.tensors[1].name == "hidden");
  CHECK(l.tensors[1].users == Users{3});
  CHECK(l.tensors[2].name == "c");
  CHECK(l.tensors[2].users == Users{1});
  CHECK(l.tensors[2].shape == std::vector<int64_t>{3});
  CHECK(l.tensors[3].scope == "If 1.then_branch");
  CHECK(l.tensors[3].users == Users{2});
  CHECK(l.tensors[4].name == "Odd 2.table");
  CHECK(l.tensors[4].is_attribute);
  CHECK(l.tensors[4].users == Users{3});
}

TEST_CASE("tensors: external data are listed without the file, and read from it") {
  const auto entry = [](const std::string& key, const std::string& value) {
    return Bytes(13, Bytes(1, key) + Bytes(2, value));
  };
  const std::string tensor = Int(1, 2) + Int(2, 1) + Bytes(8, "w") + entry("location", "w.bin") +
                             entry("offset", "4") + entry("length", "8") + Int(14, 1);
  const TempDir dir;
  const Listed l = ListOnnx(Bytes(5, tensor), dir / "m.onnx");
  const TensorEntry& w = l.Find("w");
  CHECK(w.external);
  CHECK(w.location == "w.bin at 4");
  CHECK(w.bytes == 8);
  CHECK(w.users.empty());
  CHECK(!w.read().has_value());
  const float values[] = {1, 2, 3};
  WriteText(dir / "w.bin", {reinterpret_cast<const char*>(values), sizeof values});
  const auto read = w.read();
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  CHECK(read->ToDoubles() == std::vector<double>{2, 3});
}

TEST_CASE("tensors: invalid shapes are listed, and refused when read") {
  const std::string tensor = Int(1, ~uint64_t{0}) + Int(1, uint64_t{1} << 62) + Int(2, 1) +
                             Bytes(8, "w") + Bytes(9, "1234");
  const Listed l = ListOnnx(Bytes(5, tensor));
  CHECK(l.Find("w").shape == std::vector<int64_t>{-1, int64_t{1} << 62});
  CHECK(l.Find("w").bytes == 0);
  CHECK(!l.Find("w").read().has_value());
}

TEST_CASE("summaries in full: lists and texts are not truncated") {
  std::string ints;
  for (uint64_t i = 0; i < 40; ++i) ints += Int(8, i);
  const std::string graph = Node(
      "Odd", {"x"}, "y", Attr("many", 7, ints) + Attr("text", 3, Bytes(4, std::string(2000, 'a'))));
  const Format* format = FindFormat("onnx");
  const Listed l = ListOnnx(graph);
  const auto full = format->describer.SummarizeInFull(*l.model);
  REQUIRE(full.has_value());
  CHECK(l.summary.operators[0].attributes[0].second.ends_with("15, ... 40 in all]"));
  CHECK(full->operators[0].attributes[0].second.ends_with("38, 39]"));
  CHECK(l.summary.operators[0].attributes[1].second == "string of 2000 bytes");
  CHECK(full->operators[0].attributes[1].second.size() == 2002);
}

}  // namespace
}  // namespace nn::test::tensors_test
