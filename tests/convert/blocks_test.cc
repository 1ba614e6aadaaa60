// Weights that an ONNX model has in blocks, through conversions and edits.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "convert/convert.h"
#include "ops/quant/block_weights.h"
#include "support/files.h"

namespace nn::test::blocks_test {
namespace {

// A product with a weight for each of the 4-bit integers, in blocks of `block`, and Relu.
std::string Model(int block) {
  const int blocks = (32 + block - 1) / block;
  std::string scales, integers;
  for (int i = 0; i < blocks * 8; ++i) scales += fmt::format(" float_data: {}", 0.125 * (i + 1));
  for (int i = 0; i < 32 * 4; ++i) integers += fmt::format(" int32_data: {}", i * 37 % 256);
  return fmt::format(R"(ir_version: 10 opset_import {{ version: 21 }} graph {{ name: "g"
      node {{ op_type: "DequantizeLinear" input: "w" input: "s" output: "d"
             attribute {{ name: "axis" type: INT i: 0 }}
             attribute {{ name: "block_size" type: INT i: {} }} }}
      node {{ op_type: "MatMul" input: "x" input: "d" output: "p" }}
      node {{ op_type: "Relu" input: "p" output: "y" }}
      initializer {{ name: "w" data_type: 22 dims: 32 dims: 8 {} }}
      initializer {{ name: "s" data_type: 1 dims: {} dims: 8 {} }}
      input {{ name: "x" type {{ tensor_type {{ elem_type: 1
               shape {{ dim {{ dim_value: 2 }} dim {{ dim_value: 32 }} }} }} }} }}
      output {{ name: "y" type {{ tensor_type {{ elem_type: 1 }} }} }} }})",
                     block, integers, blocks, scales);
}

struct Case {
  std::string name;
  std::string output;
  void (*set)(ConvertJob&);
  int block = 16;
  bool stays = true;
};

const Case kCases[] = {
    {"rewritten", "o.onnx", [](ConvertJob&) {}},
    {"the same set", "o.onnx", [](ConvertJob& o) { o.opset = 21; }},
    {"an older set", "o.onnx", [](ConvertJob& o) { o.opset = 17; }},
    {"fp16", "o.onnx", [](ConvertJob& o) { o.half = HalfOptions(); }},
    {"an older set, no product has the blocks", "o.onnx", [](ConvertJob& o) { o.opset = 17; }, 20,
     false},
    {"dequantize", "o.onnx", [](ConvertJob& o) { o.dequantize = true; }, 16, false},
    {"another format", "o.tflite", [](ConvertJob&) {}, 16, false},
};

TEST_CASE("blocks: weights in blocks stay so, or the report says that they are numbers") {
  for (const Case& c : kCases) {
    CAPTURE(c.name);
    const TempDir dir;
    WriteText(dir / "in.textproto", Model(c.block));
    ConvertJob o;
    o.input = dir / "in.textproto";
    o.output = dir / c.output;
    c.set(o);
    const auto done = ConvertFile(*FindFormat(c.output == "o.onnx" ? "onnx" : "tflite"), o);
    REQUIRE_MESSAGE(done.has_value(), done.error().message());
    const ReadModel written = ReadOrFail(dir / c.output);
    const auto imported = written.format->importer.Import(*written.model);
    REQUIRE(imported.has_value());
    CHECK(c.stays == std::ranges::any_of(imported->graph.values(), [](const Value& v) {
            return v.is_constant() && StoredBlocks(v.constant()) != nullptr;
          }));
    std::string texts;
    for (const std::string& text : DroppedTexts(done->holdings)) texts += text + "\n";
    CAPTURE(texts);
    CHECK(c.stays == (texts.find("dropped: weights in blocks (they become") == std::string::npos));
  }
}

}  // namespace
}  // namespace nn::test::blocks_test
