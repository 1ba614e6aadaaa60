#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.h"
#include "formats/tflite/export/export.h"
#include "formats/tflite/file.h"
#include "ops/nn/conv.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

// TensorFlow Lite models made from the text form: written, read, imported and run again.
namespace nn::test::tflite_format_test {
namespace {

namespace fb = tflite::fb;

// Change a file in place.
void Put(const flatbuffers::Vector<int32_t>* list, unsigned i, int32_t value) {
  const_cast<flatbuffers::Vector<int32_t>*>(list)->Mutate(i, value);
}
template <typename Owner, typename T>
void Set(const Owner* owner, flatbuffers::voffset_t field, T value) {
  auto* table = const_cast<flatbuffers::Table*>(reinterpret_cast<const flatbuffers::Table*>(owner));
  REQUIRE(table->SetField<T>(field, value, T()));
}
int32_t LastOutput(const fb::SubGraph& g) {
  return g.operators()->Get(g.operators()->size() - 1)->outputs()->Get(0);
}

struct Row {
  std::string name;
  const char* graph;
  std::vector<std::string> operators;  // of the file
};

TEST_CASE("tflite: a graph survives a file") {
  for (const Row& r : std::vector<Row>{
           {"conv with activation",
            R"(graph { in %x "image": f32[1, 8, 9, 3]
               const %w: f32[4, 3, 3, 3] = seeded(1)
               const %b: f32[4] = seeded(2)
               %y = conv(%x, %w, %b) {layout = nxc, filter_layout = oxi, padding = same_upper,
                                      strides = [2, 1]}
               %z = relu(%y)
               out "prob" = %z })",
            {"CONV_2D v1"}},
           {"depthwise, dilated",
            R"(graph { in %x: f32[1, 8, 9, 3]
               const %w: f32[1, 3, 3, 6] = seeded(1)
               %y = conv(%x, %w) {layout = nxc, filter_layout = ixo, padding = valid,
                                  dilations = [2, 2], groups = 3}
               %z = clip(%y) {min = 0.0, max = 6.0}
               out "z" = %z })",
            {"DEPTHWISE_CONV_2D v2"}},
           {"grouped, channels last, pads without a name",
            R"(graph { in %x: f32[1, 8, 8, 4]
               const %w: f32[6, 3, 3, 2] = seeded(1)
               %y = conv(%x, %w) {layout = nxc, filter_layout = oxi, pads = [1, 1, 1, 1],
                                  strides = [2, 2], groups = 2}
               out "y" = %y })",
            {"PAD v1", "CONV_2D v6"}},
           {"an activation that others need too",
            R"(graph { in %x: f32[2, 3]
               const %c: f32[3] = [1, 2, 3]
               %y = add(%x, %c)
               %z = relu(%y)
               %u = mul(%y, %z)
               out "u" = %u })",
            {"ADD v1", "RELU v1", "MUL v1"}},
           {"bounds without an operator",
            R"(graph { in %x: f32[2, 3]
               %y = clip(%x) {min = -2.0, max = 3.5}
               out "y" = %y })",
            {"MAXIMUM v1", "MINIMUM v1"}},
           {"fully connected",
            R"(graph { in %x: f32[2, 5]
               const %w: f32[5, 4] = seeded(1)
               const %b: f32[4] = seeded(2)
               %y = matmul(%x, %w, %b)
               %z = softmax(%y) {axis = 1}
               out "z" = %z })",
            {"FULLY_CONNECTED v1", "SOFTMAX v1"}},
           {"batch matmul",
            R"(graph { in %x: f32[2, 3, 5]
               in %w: f32[2, 4, 5]
               %y = matmul(%x, %w) {transpose_b = true}
               out "y" = %y })",
            {"BATCH_MATMUL v1"}},
           {"max pool, padded and rounded up",
            R"(graph { in %x: f32[1, 8, 8, 2]
               %y = max_pool(%x) {layout = nxc, kernel = [3, 3], strides = [2, 2],
                                  pads = [1, 1, 1, 1], ceil_mode = true}
               out "y" = %y })",
            {"PADV2 v1", "MAX_POOL_2D v1"}},
           {"average pool, padding not counted",
            R"(graph { in %x: f32[1, 8, 8, 2]
               %y = average_pool(%x) {layout = nxc, kernel = [3, 3], strides = [2, 2],
                                      pads = [1, 1, 1, 1]}
               out "y" = %y })",
            {"PAD v1", "AVERAGE_POOL_2D v1", "MUL v1"}},
           {"average pool, SAME",
            R"(graph { in %x: f32[1, 8, 8, 2]
               %y = average_pool(%x) {layout = nxc, kernel = [3, 3], padding = same_upper}
               out "y" = %y })",
            {"AVERAGE_POOL_2D v1"}},
           {"slices",
            R"(graph { in %x: f32[4, 6]
               %y = slice(%x) {axes = [1], starts = [1], ends = [4]}
               %z = slice(%x) {axes = [1], starts = [-1], ends = [-100],
                               steps = [-2]}
               %u = concat(%y, %z) {axis = 0}
               out "u" = %u })",
            {"SLICE v1", "STRIDED_SLICE v1", "CONCATENATION v1"}},
           {"i8 convolution",
            R"(graph { in %x: i8[1, 4, 4, 3]{scale=0.5, zp=3}
               const %w: i8[2, 1, 1, 3]{axis=0, scale=[0.25, 0.5]} = seeded(1)
               const %b: i32[2] = [5, -7]
               %y = conv(%x, %w, %b) {layout = nxc, filter_layout = oxi, padding = valid} @tflite
                   : i8[1, 4, 4, 2]{scale=2, zp=-1}
               %z = relu(%y) @tflite : i8[1, 4, 4, 2]{scale=2, zp=-1}
               out "z" = %z })",
            {"CONV_2D v3"}},
       }) {
    CAPTURE(r.name);
    const Graph graph = Parse(r.graph);
    const std::string file = FileOf(graph);
    CHECK(fmt::format("{}", fmt::join(OperatorsOf(file), ", ")) ==
          fmt::format("{}", fmt::join(r.operators, ", ")));
    const auto again = ImportFile(file);
    REQUIRE_MESSAGE(again.has_value(), again.error().message());
    REQUIRE(again->inputs().size() == graph.inputs().size());
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      CHECK(again->inputs()[i].name == graph.inputs()[i].name);
      CHECK(again->inputs()[i].value->type() == graph.inputs()[i].value->type());
    }
    CHECK(again->outputs()[0].name == graph.outputs()[0].name);
    CHECK(again->outputs()[0].value->type() == graph.outputs()[0].value->type());
    const auto inputs = InputsOf(graph, {});
    const auto want = RunEverywhere(graph, inputs);
    const auto got = RunEverywhere(*again, inputs);
    REQUIRE(got[0].elements() == want[0].elements());
    for (int64_t i = 0; i < want[0].elements(); ++i)
      CHECK(got[0].GetDouble(i) == doctest::Approx(want[0].GetDouble(i)).epsilon(1e-5));
    // A second file has the same contents as the first.
    CHECK(OperatorsOf(FileOf(*again)) == r.operators);
  }
}

TEST_CASE("tflite: common contents of files") {
  const Graph graph = Parse(R"(graph { in %x "in": f32[batch, 4]
      const %w: f32[3, 4] = seeded(1)
      %y = matmul(%x, %w) {transpose_b = true}
      out "out" = %y })");
  const std::string file = FileOf(graph);
  const fb::Model& m = Root(file);
  CHECK(fb::ModelBufferHasIdentifier(file.data()));
  CHECK(m.version() == 3);
  REQUIRE(m.buffers()->size() > 1);
  CHECK(m.buffers()->Get(0)->data() == nullptr);
  for (const fb::Buffer* b : *m.buffers())
    if (b->data() != nullptr)
      CHECK((reinterpret_cast<const char*>(b->data()->data()) - file.data()) % 16 == 0);
  const fb::SubGraph& g = *m.subgraphs()->Get(0);
  const fb::Tensor& x = *g.tensors()->Get(static_cast<unsigned>(g.inputs()->Get(0)));
  CHECK(x.name()->str() == "in");
  CHECK(x.shape()->Get(0) == 1);
  CHECK(x.shape_signature()->Get(0) == -1);
  REQUIRE(m.signature_defs()->size() == 1);
  CHECK(m.signature_defs()->Get(0)->inputs()->Get(0)->name()->str() == "in");
  CHECK(m.signature_defs()->Get(0)->outputs()->Get(0)->name()->str() == "out");
}

TEST_CASE("tflite: data after the flatbuffer") {
  const Graph graph = Parse(R"(graph { in %x: f32[2, 4]
      const %w: f32[3, 4] = seeded(1)
      %y = matmul(%x, %w) {transpose_b = true}
      out "y" = %y })");
  Graph fitted = graph.Clone();
  REQUIRE(Legalize(fitted, *Tflite().target).has_value());
  const auto image =
      tflite::WriteWith({fitted, {}, fitted.inputs(), fitted.outputs(), {}, nullptr}, 0);
  REQUIRE(image.has_value());
  const std::string file = Joined(*image);
  CHECK(Root(file).buffers()->Get(1)->offset() > 1);
  const auto again = ImportFile(file);
  REQUIRE_MESSAGE(again.has_value(), again.error().message());
  const auto inputs = InputsOf(graph, {});
  CHECK(RunEverywhere(*again, inputs)[0].Identical(RunEverywhere(graph, inputs)[0]));
  // The data cut off.
  const auto cut = ImportFile(file.substr(0, Root(file).buffers()->Get(1)->offset() + 8));
  REQUIRE(!cut.has_value());
  CHECK(cut.error().message().find("are outside the file") != std::string::npos);
}

TEST_CASE("tflite: the data of large buffers is after the tables, inside the flatbuffer") {
  // Two large buffers of odd sizes, and small ones.
  const Graph graph = Parse(R"(graph { in %x: f32[2, 129]
      const %w: f32[161, 129] = seeded(1)
      const %v: f32[163, 161] = seeded(2)
      const %b: f32[163] = seeded(3)
      %h = matmul(%x, %w) {transpose_b = true}
      %m = matmul(%h, %v) {transpose_b = true}
      %y = add(%m, %b)
      out "y" = %y })");
  const std::string file = FileOf(graph);
  const fb::Model& m = Root(file);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  CHECK(fb::VerifyModelBuffer(verifier));
  uint64_t tables = 0;
  size_t large = 0;
  for (const fb::Buffer* b : *m.buffers()) {
    const auto place = static_cast<uint64_t>(reinterpret_cast<const char*>(b) - file.data());
    tables = std::max(tables, place);
    if (b->data() == nullptr) continue;
    CHECK((reinterpret_cast<const char*>(b->data()->data()) - file.data()) % 16 == 0);
  }
  for (const fb::Buffer* b : *m.buffers()) {
    if (b->data() == nullptr || b->data()->size() < 65536) continue;
    ++large;
    CHECK(reinterpret_cast<const char*>(b->data()) - file.data() > static_cast<int64_t>(tables));
  }
  CHECK(large == 2);
  const auto again = ImportFile(file);
  REQUIRE_MESSAGE(again.has_value(), again.error().message());
  const auto inputs = InputsOf(graph, {});
  CHECK(RunEverywhere(*again, inputs)[0].Identical(RunEverywhere(graph, inputs)[0]));
}

TEST_CASE("tflite: quantization parameters survive a file") {
  const Graph graph = Parse(R"(graph { in %x: u8[1, 2, 2, 2]{scale=0.5, zp=7, min=-3.5, max=124}
      const %w: u8[2, 1, 1, 2]{scale=0.25, zp=9} = seeded(1)
      const %b: i32[2]{scale=0.125, zp=0} = [5, -7]
      %y = conv(%x, %w, %b) {layout = nxc, filter_layout = oxi, padding = same_upper} @tflite
          : u8[1, 2, 2, 2]{scale=1.5, zp=3}
      out "y" = %y })");
  const auto again = ImportFile(FileOf(graph));
  REQUIRE(again.has_value());
  const Node& conv = again->nodes().front();
  for (size_t i = 0; i < 3; ++i)
    CHECK(conv.input(i)->type() == graph.nodes().front().input(i)->type());
  CHECK(conv.output()->type() == graph.nodes().front().output()->type());
  CHECK(conv.arithmetic() == Arithmetic::kTflite);
}

TEST_CASE("tflite: a depthwise filter for channels that the file leaves open") {
  const auto again = ImportFile(FileOf(Parse(R"(graph { in %x: f32[1, 8, 9, c]
      const %w: f32[1, 3, 3, 6] = seeded(1)
      %y = conv(%x, %w) {layout = nxc, filter_layout = ixo, padding = valid, groups = 3}
      out "y" = %y })")));
  REQUIRE_MESSAGE(again.has_value(), again.error().message());
  CHECK(again->nodes().front().attrs<ConvAttrs>().groups == 3);
}

TEST_CASE("tflite: unsupported constructs are named") {
  struct Refused {
    const char* graph;
    const char* reason;
  };
  for (const Refused& r : {
           Refused{"graph { in %x: i32[2, 3]\n %y = cum_prod(%x)\n out \"y\" = %y }",
                   "TensorFlow Lite has no cum_prod operator"},
           Refused{"graph { in %x: f64[2, 3]\n %y = asin(%x)\n out \"y\" = %y }",
                   "TensorFlow Lite has no asin for f64"},
           Refused{"graph { in %x: f32[n, 3]\n %y = trilu(%x)\n out \"y\" = %y }",
                   "TensorFlow Lite has no trilu operator, and other operators need constant "
                   "shapes; set input shapes with --input-shape"},
           Refused{"graph { in %x: f64[2, 3]\n %y = exp(%x)\n out \"y\" = %y }",
                   "TensorFlow Lite has no exp for f64"},
           Refused{R"(graph { in %x: f32[1, h, 4, 2]
               %y = resize(%x) {layout = nxc, mode = cubic, sizes = [8, 8]}
               out "y" = %y })",
                   "its input size must be constant; set input shapes with --input-shape"},
       }) {
    Graph graph = Parse(r.graph);
    const auto unsupported = Legalize(graph, *Tflite().target);
    REQUIRE(unsupported.has_value());
    REQUIRE(unsupported->size() == 1);
    CHECK((*unsupported)[0].reason == r.reason);
  }
}

TEST_CASE("tflite: a custom operator is reported, not what follows from it") {
  // Compilers for accelerators leave memory without contents among the inputs, and types without
  // quantization in front of DEQUANTIZE.
  flatbuffers::FlatBufferBuilder b;
  const auto tensor = [&](fb::TensorType type, const char* name) {
    return fb::CreateTensor(b, b.CreateVector(std::vector<int32_t>{1, 4}), type, 0,
                            b.CreateString(name));
  };
  const std::vector<flatbuffers::Offset<fb::Tensor>> tensors = {
      tensor(fb::TensorType::UINT8, "x"), tensor(fb::TensorType::UINT8, "scratch"),
      tensor(fb::TensorType::UINT8, "y"), tensor(fb::TensorType::FLOAT32, "z")};
  const auto list = [&](std::vector<int32_t> indices) { return b.CreateVector(indices); };
  const std::vector<flatbuffers::Offset<fb::Operator>> operators = {
      fb::CreateOperator(b, 0, list({0, 1}), list({2})),
      fb::CreateOperator(b, 1, list({2}), list({3}))};
  const std::vector<flatbuffers::Offset<fb::OperatorCode>> codes = {
      fb::CreateOperatorCode(b, 32, b.CreateString("accelerator"), 1, fb::BuiltinOperator::CUSTOM),
      fb::CreateOperatorCode(b, 6, 0, 2, fb::BuiltinOperator::DEQUANTIZE)};
  const auto graph = fb::CreateSubGraph(b, b.CreateVector(tensors), list({0}), list({3}),
                                        b.CreateVector(operators));
  const auto empty = fb::CreateBuffer(b);
  b.Finish(fb::CreateModel(b, 3, b.CreateVector(codes), b.CreateVector(&graph, 1), 0,
                           b.CreateVector(&empty, 1)),
           fb::ModelIdentifier());
  const Blob file = Blob::Copy(std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize())));
  const auto model = Tflite().reader.Read(file, "m.tflite", {});
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  const auto imported = Tflite().importer.Import(**model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  REQUIRE(imported->unsupported.size() == 1);
  CHECK(imported->unsupported[0].reason == "CUSTOM accelerator (version 1) is unsupported");
}

TEST_CASE("tflite: summaries shorten lists, and in full do not") {
  flatbuffers::FlatBufferBuilder b;
  std::vector<int32_t> shape(20, 1);
  shape.back() = 7;
  const auto options = fb::CreateReshapeOptions(b, b.CreateVector(shape));
  const auto custom = b.CreateVector(std::vector<uint8_t>{'a', 'b', 'c'});
  std::vector<flatbuffers::Offset<fb::Operator>> operators = {
      fb::CreateOperator(b, 0, 0, 0, fb::BuiltinOptions::ReshapeOptions, options.Union()),
      fb::CreateOperator(b, 1, 0, 0, fb::BuiltinOptions::NONE, 0, custom)};
  std::vector<flatbuffers::Offset<fb::OperatorCode>> codes = {
      fb::CreateOperatorCode(b, 22, 0, 1, fb::BuiltinOperator::RESHAPE),
      fb::CreateOperatorCode(b, 32, b.CreateString("Own"), 1, fb::BuiltinOperator::CUSTOM)};
  const auto graph = fb::CreateSubGraph(b, 0, 0, 0, b.CreateVector(operators));
  b.Finish(fb::CreateModel(b, 3, b.CreateVector(codes), b.CreateVector(&graph, 1)),
           fb::ModelIdentifier());
  const Blob file = Blob::Copy(std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize())));
  const auto model = Tflite().reader.Read(file, "m.tflite", {});
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  const auto attributes = [](const Result<ModelSummary>& summary) {
    std::string out;
    for (const OperatorSummary& op : summary->operators)
      for (const auto& [name, value] : op.attributes) out += fmt::format("{} = {}\n", name, value);
    return out;
  };
  std::string ones;
  for (int i = 0; i < 16; ++i) ones += "1, ";
  CHECK(attributes(Tflite().describer.Summarize(**model)) ==
        "new_shape = [" + ones + "... 20 in all]\ncustom_options = 3 bytes\n");
  CHECK(attributes(Tflite().describer.SummarizeInFull(**model)) ==
        "new_shape = [" + ones +
            "1, 1, 1, 7]\ncustom_options = 3 bytes, "
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n");
}

TEST_CASE("tflite: broken files") {
  const std::string good = FileOf(Parse(R"(graph { in %x: f32[2, 4]
      const %w: f32[3, 4] = seeded(1)
      %y = matmul(%x, %w) {transpose_b = true}
      %z = relu(%y)
      %u = add(%y, %z)
      out "u" = %u })"));
  REQUIRE(ImportFile(good).has_value());
  SUBCASE("truncated anywhere") {
    for (size_t n = 0; n < good.size(); n += 7) CHECK(!ImportFile(good.substr(0, n)).has_value());
  }
  SUBCASE("any byte changed: an error or a model, no crash") {
    for (size_t n = 8; n < good.size(); n += 3)
      for (const int flip : {0x01, 0x80, 0xFF}) {
        std::string bad = good;
        bad[n] = static_cast<char>(bad[n] ^ flip);
        (void)ImportFile(bad);
      }
  }
  SUBCASE("indices") {
    struct Change {
      const char* what;
      void (*change)(const fb::SubGraph&);
      const char* message;
    };
    for (const Change& c : {
             Change{"an input that is not there",
                    [](const fb::SubGraph& g) { Put(g.operators()->Get(0)->inputs(), 0, 99); },
                    "tensor 99 does not exist"},
             Change{"an input that is left out",
                    [](const fb::SubGraph& g) { Put(g.operators()->Get(2)->inputs(), 1, -1); },
                    "input 1 (b) is missing"},
             Change{"an operator code that is not there",
                    [](const fb::SubGraph& g) {
                      Set(g.operators()->Get(1), fb::Operator::VT_OPCODE_INDEX, uint32_t{77});
                    },
                    "operator code 77 does not exist"},
             Change{"a buffer that is not there",
                    [](const fb::SubGraph& g) {
                      for (const fb::Tensor* t : *g.tensors())
                        if (t->buffer() != 0) Set(t, fb::Tensor::VT_BUFFER, uint32_t{55});
                    },
                    "buffer 55 does not exist"},
             Change{"a cycle",
                    [](const fb::SubGraph& g) {
                      Put(g.operators()->Get(0)->inputs(), 0, LastOutput(g));
                    },
                    "the graph has a cycle"},
             Change{"a tensor written twice",
                    [](const fb::SubGraph& g) {
                      Put(g.operators()->Get(0)->outputs(), 0, LastOutput(g));
                    },
                    "is written by operators 0 and"},
             Change{"contents of another size",
                    [](const fb::SubGraph& g) {
                      for (const fb::Tensor* t : *g.tensors())
                        if (t->buffer() != 0) Put(t->shape(), 0, t->shape()->Get(0) + 1);
                    },
                    "bytes"},
             Change{"a negative size",
                    [](const fb::SubGraph& g) { Put(g.tensors()->Get(0)->shape(), 0, -5); },
                    "axis 0 has negative size -5"},
         }) {
      CAPTURE(c.what);
      // Changed in place, bypassing the types of the flatbuffer.
      std::string bad(good.data(), good.size());
      c.change(*Root(bad).subgraphs()->Get(0));
      const auto graph = ImportFile(bad);
      REQUIRE(!graph.has_value());
      CHECK_MESSAGE(graph.error().message().find(c.message) != std::string::npos,
                    graph.error().message());
    }
  }
}

// The kernel of CONV_2D refuses to run without a bias, and that of DEPTHWISE_CONV_2D reads one that
// is not there.
TEST_CASE("tflite: convolutions are written with a bias, and zeros are read as none") {
  for (const std::string_view text : {
           R"(graph { in %x: f32[1, 4, 4, 2]  const %w: f32[3, 2, 2, 2] = seeded(1)
                      %y = conv(%x, %w) {layout = nxc, filter_layout = oxi}  out "y" = %y })",
           R"(graph { in %x: f32[1, 4, 4, 3]  const %w: f32[1, 2, 2, 6] = seeded(1)
                      %y = conv(%x, %w) {layout = nxc, filter_layout = ixo, groups = 3}
                      out "y" = %y })",
           R"(graph { in %x: f32[1, 3, 4, 4]  const %w: f32[3, 1, 2, 2] = seeded(1)
                      %y = conv(%x, %w) {groups = 3}  out "y" = %y })",
           R"(graph { in %x: i8[1, 4, 4, 3]{scale=0.1}
                      const %w: i8[1, 2, 2, 3]{axis=3, scale=[0.1, 0.2, 0.3]} = seeded(1)
                      %y = conv(%x, %w) {layout = nxc, filter_layout = ixo, groups = 3} @tflite
                           : i8[1, 3, 3, 3]{scale=0.5}
                      out "y" = %y })",
       }) {
    CAPTURE(text);
    const std::string file = FileOf(Parse(text));
    const fb::SubGraph& main = *Root(file).subgraphs()->Get(0);
    size_t convolutions = 0;
    for (const fb::Operator* op : *main.operators()) {
      if (op->inputs()->size() != 3) continue;
      ++convolutions;
      const int32_t bias = op->inputs()->Get(2);
      REQUIRE(bias >= 0);
      const auto channels = main.tensors()->Get(static_cast<unsigned>(bias))->shape()->Get(0);
      const auto* y = main.tensors()->Get(static_cast<unsigned>(op->outputs()->Get(0)))->shape();
      CHECK(channels == y->Get(y->size() - 1));
    }
    CHECK(convolutions == 1);
    const auto read = ImportFile(file);
    REQUIRE(read.has_value());
    for (const Node& node : read->nodes())
      if (node.Is("conv") && !node.output()->type().quantized()) CHECK(node.input(2) == nullptr);
  }
}

TEST_CASE("tflite: indices of the largest of 16-bit integers") {
  for (const std::string_view type : {"i16[2, 3]{scale=0.5}", "i16[2, 3]", "u16[2, 3]"}) {
    CAPTURE(type);
    const Graph graph = Parse(fmt::format(
        "graph {{ in %x: {}\n%y = arg_max(%x) {{axis = 1}}\n%z = arg_min(%x) {{axis = 0}}\n"
        "out \"y\" = %y\nout \"z\" = %z }}",
        type));
    const auto read = ImportFile(FileOf(graph));
    REQUIRE_MESSAGE(read.has_value(), read.error().message());
    const auto inputs = InputsOf(graph, {{1, 32000, 32001, 7, 7, 3}});
    const auto want = RunEverywhere(graph, inputs), got = RunEverywhere(*read, inputs);
    REQUIRE(got.size() == 2);
    for (size_t i = 0; i < 2; ++i) CHECK(got[i].ToDoubles() == want[i].ToDoubles());
  }
}

// The kernels of 16-bit layers read biases of 64 bits, unless an option says 32.
TEST_CASE("tflite: the type of the biases of 16-bit layers") {
  struct Layer {
    std::string_view shape, weights, text, wide, narrow;
  };
  const auto bias_type = [](const fb::Operator& op) {
    if (const auto* o = op.builtin_options_as_Conv2DOptions()) return o->quantized_bias_type();
    if (const auto* o = op.builtin_options_as_FullyConnectedOptions())
      return o->quantized_bias_type();
    if (const auto* o = op.builtin_options_as_TransposeConvOptions())
      return o->quantized_bias_type();
    return fb::TensorType::FLOAT32;
  };
  for (const Layer& l : {
           Layer{"1, 4, 4, 2", "3, 2, 2, 2", "conv(%x, %w, %b) {layout = nxc, filter_layout = oxi}",
                 "CONV_2D v4", "CONV_2D v8"},
           Layer{"2, 4", "3, 4", "matmul(%x, %w, %b) {transpose_b = true}", "FULLY_CONNECTED v7",
                 "FULLY_CONNECTED v11"},
           Layer{"4", "3, 4", "matmul(%x, %w, %b) {transpose_b = true}", "FULLY_CONNECTED v7",
                 "FULLY_CONNECTED v11"},
           // Without the option.
           Layer{"1, 4, 4, 3", "1, 2, 2, 3",
                 "conv(%x, %w, %b) {layout = nxc, filter_layout = ixo, groups = 3}",
                 "DEPTHWISE_CONV_2D v5", "DEPTHWISE_CONV_2D v5"},
       })
    for (const std::string_view type : {"i64", "i32"}) {
      CAPTURE(l.text);
      CAPTURE(type);
      const std::string file = FileOf(Parse(fmt::format(
          R"(graph {{ in %x: i16[{}]{{scale=0.001}}  const %w: i8[{}]{{scale=0.01}} = seeded(1)
             const %b: {}[3] = [1, 2, 3]  %y = {} @tflite : i16[*]{{scale=0.02}}
             out "y" = %y }})",
          l.shape, l.weights, type, l.text)));
      const auto names = OperatorsOf(file);
      const auto at = std::ranges::find(names, type == "i64" ? l.wide : l.narrow);
      REQUIRE_MESSAGE(at != names.end(), fmt::format("{}", fmt::join(names, ", ")));
      const fb::SubGraph& main = *Root(file).subgraphs()->Get(0);
      const fb::Operator& op = *main.operators()->Get(static_cast<unsigned>(at - names.begin()));
      const auto bias = main.tensors()->Get(static_cast<unsigned>(op.inputs()->Get(2)))->type();
      const bool narrow = type == "i32" && l.wide != l.narrow;
      CHECK(bias == (narrow ? fb::TensorType::INT32 : fb::TensorType::INT64));
      CHECK(bias_type(op) == (narrow ? fb::TensorType::INT32 : fb::TensorType::FLOAT32));
      CHECK(ImportFile(file).has_value());
    }
}

}  // namespace
}  // namespace nn::test::tflite_format_test
