// CAST to integers of less than 8 bits, which saturates in TensorFlow Lite and wraps in ONNX.
#include <doctest/doctest.h>
#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "formats/tflite/file.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::tflite_narrow_cast_test {
namespace {

namespace fb = tflite::fb;

// x of float32 -> CAST -> integers -> CAST -> y of float32.
std::string CastFile(fb::TensorType integers, int32_t n) {
  flatbuffers::FlatBufferBuilder b;
  const fb::TensorType types[] = {fb::TensorType::FLOAT32, integers, fb::TensorType::FLOAT32};
  std::vector<flatbuffers::Offset<fb::Tensor>> tensors;
  for (size_t i = 0; i < 3; ++i)
    tensors.push_back(fb::CreateTensor(b, b.CreateVector(std::vector<int32_t>{n}), types[i], 0,
                                       b.CreateString(fmt::format("t{}", i))));
  std::vector<flatbuffers::Offset<fb::Operator>> operators;
  for (int32_t i = 0; i < 2; ++i) {
    const auto from = b.CreateVector(std::vector<int32_t>{i});
    const auto to = b.CreateVector(std::vector<int32_t>{i + 1});
    operators.push_back(
        fb::CreateOperator(b, 0, from, to, fb::BuiltinOptions::CastOptions,
                           fb::CreateCastOptions(b, types[i], types[i + 1]).Union()));
  }
  const auto graph = fb::CreateSubGraph(
      b, b.CreateVector(tensors), b.CreateVector(std::vector<int32_t>{0}),
      b.CreateVector(std::vector<int32_t>{2}), b.CreateVector(operators), b.CreateString("main"));
  const auto code = fb::CreateOperatorCode(b, static_cast<int8_t>(fb::BuiltinOperator::CAST), 0, 6,
                                           fb::BuiltinOperator::CAST);
  const auto buffer = fb::CreateBuffer(b);
  fb::FinishModelBuffer(b, fb::CreateModel(b, 3, b.CreateVector(std::vector{code}),
                                           b.CreateVector(std::vector{graph}), 0,
                                           b.CreateVector(std::vector{buffer})));
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

TEST_CASE("tflite narrow casts: CAST saturates, also written again") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<double> x = {-300, -9,  -8.7, -2.6, -1,  0.5,  1.9,
                                 3,    7.9, 8,    16,   300, kInf, -kInf};
  struct Row {
    fb::TensorType type;
    std::vector<double> y;
  };
  for (const Row& r :
       std::vector<Row>{{fb::TensorType::INT4, {-8, -8, -8, -2, -1, 0, 1, 3, 7, 7, 7, 7, 7, -8}},
                        {fb::TensorType::INT2, {-2, -2, -2, -2, -1, 0, 1, 1, 1, 1, 1, 1, 1, -2}},
                        {fb::TensorType::UINT4, {0, 0, 0, 0, 0, 0, 1, 3, 7, 8, 15, 15, 15, 0}}}) {
    const auto graph = ImportFile(CastFile(r.type, static_cast<int32_t>(x.size())));
    REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
    CHECK(RunEverywhere(*graph, InputsOf(*graph, {x}))[0].ToDoubles() == r.y);
    const auto again = ImportFile(FileOf(*graph));
    REQUIRE(again.has_value());
    CHECK(RunEverywhere(*again, InputsOf(*again, {x}))[0].ToDoubles() == r.y);
  }
}

TEST_CASE("tflite narrow casts: what wraps is written as arithmetic") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<double> x = {-300, -17, -9, -8.7, -0.5, 2.6, 7.9, 8, 15, 16, 1e10, kInf, -kInf};
  for (const char* type : {"i4", "i2", "u4"}) {
    CAPTURE(type);
    const Graph graph = Parse(
        fmt::format("graph {{ in %x: f32[{}] %i = cast(%x) {{to = {}}} %y = cast(%i) {{to = f32}} "
                    "out \"y\" = %y }}",
                    x.size(), type));
    const auto written = ImportFile(FileOf(graph));
    REQUIRE(written.has_value());
    CHECK(RunEverywhere(*written, InputsOf(*written, {x}))[0].ToDoubles() ==
          RunEverywhere(graph, InputsOf(graph, {x}))[0].ToDoubles());
  }
  // Integers of up to 16 bits, by way of float32.
  const std::vector<double> bytes = {-128, -9, -8, -1, 0, 7, 8, 127};
  const Graph graph = Parse(
      "graph { in %x: i8[8] %i = cast(%x) {to = i4} %y = cast(%i) {to = i8} out \"y\" = %y }");
  const std::string file = FileOf(graph);
  const auto written = ImportFile(file);
  REQUIRE(written.has_value());
  CHECK(RunEverywhere(*written, InputsOf(*written, {bytes}))[0].ToDoubles() ==
        std::vector<double>{0, 7, -8, -1, 0, 7, -8, -1});
}

TEST_CASE("tflite narrow casts: types whose values float32 does not have are refused") {
  Graph graph = Parse("graph { in %x: i64[2] %y = cast(%x) {to = i4} out \"y\" = %y }");
  const auto refused = Legalize(graph, *Tflite().target);
  REQUIRE(refused.has_value());
  REQUIRE(refused->size() == 1);
  CHECK((*refused)[0].reason ==
        "CAST converts i4 to and from f32 only; cast to f32 in between in the model, if its values "
        "are exact in f32");
}

TEST_CASE("tflite casts: types that the kernel does not convert are refused") {
  for (const auto& row : std::vector<std::pair<std::string, std::string>>{
           {"f8e4m3fn", "; cast to f32 in the model, which has all of its values"},
           {"f8e5m2", "; cast to f32 in the model, which has all of its values"},
           {"u64", ""}}) {
    const std::string &type = row.first, &remedy = row.second;
    CAPTURE(type);
    Graph to = Parse("graph { in %x: f32[2] %y = cast(%x) {to = " + type + "} out \"y\" = %y }");
    Graph from = Parse("graph { in %x: " + type + "[2] %y = cast(%x) {to = f32} out \"y\" = %y }");
    for (Graph* const graph : {&to, &from}) {
      const auto refused = Legalize(*graph, *Tflite().target);
      REQUIRE(refused.has_value());
      REQUIRE(refused->size() == 1);
      const std::string types = graph == &to ? "f32 to " + type : type + " to f32";
      CHECK((*refused)[0].reason == "TensorFlow Lite has no CAST from " + types + remedy);
    }
  }
}

}  // namespace
}  // namespace nn::test::tflite_narrow_cast_test
