#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/nnapi/file/native.h"
#include "ir/text/text.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::nnapi_export_test {
namespace {

struct Written {
  std::unique_ptr<NativeModel> native;
  InterfaceAxes axes;

  const nnapi::Model& model() const { return static_cast<const nnapi::Model&>(*native); }
  std::vector<nnapi::OperationType> operations() const {
    std::vector<nnapi::OperationType> types;
    for (const nnapi::Operation& o : model().operations) types.push_back(o.type);
    return types;
  }
};

std::vector<UnsupportedNode> UnsupportedNodesOf(const std::string& text) {
  Graph graph = Parse("graph \"g\" {\n" + text + "\n}");
  InterfaceAxes axes;
  const auto unsupported = Legalize(graph, *FindFormat("nnapi")->target, &axes);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  return *unsupported;
}

Written Convert(const Graph& source, const std::string& path) {
  const Format* format = FindFormat("nnapi");
  Graph graph = source.Clone();
  Written out;
  const auto unsupported = Legalize(graph, *format->target, &out.axes);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  if (!unsupported->empty()) FAIL(unsupported->at(0).node, ": ", unsupported->at(0).reason);
  ExportOptions options;
  options.path = path;
  const auto image = format->writer.Write(graph, options);
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  REQUIRE(image->parts.size() == 1);
  auto native = format->reader.Read(image->parts[0], path, {});
  REQUIRE_MESSAGE(native.has_value(), native.error().message());
  out.native = *std::move(native);
  return out;
}

Graph Imported(const NativeModel& native) {
  auto imported = FindFormat("nnapi")->importer.Import(native);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  REQUIRE(imported->unsupported.empty());
  return std::move(imported->graph);
}

using T = nnapi::OperationType;

struct Row {
  std::string name, graph;
  std::vector<T> operations;
};

// Inputs and outputs keep their axes, and results are bit-identical.
const Row kRows[] = {
    {"conv, explicit padding, fused relu6",
     "in %x \"x\": f32[1, 5, 6, 2]\n const %w: f32[3, 3, 2, 2] = seeded(1, 0.5)\n"
     "const %b: f32[3] = [1, 2, 3]\n"
     "%y = conv(%x, %w, %b) {layout = nxc, filter_layout = oxi, strides = [2, 1], "
     "pads = [1, 0, 2, 1]}\n %z = clip(%y) {min = 0, max = 6}\n out \"y\" = %z",
     {T::kConv2d}},
    {"conv without bias, same padding",
     "in %x \"x\": f32[2, 5, 5, 2]\n const %w: f32[3, 2, 2, 2] = seeded(1, 0.5)\n"
     "%y = conv(%x, %w) {layout = nxc, filter_layout = oxi, padding = same_upper}\n out \"y\" = %y",
     {T::kConv2d}},
    {"conv, lower same padding is resolved",
     "in %x \"x\": f32[1, 5, 5, 2]\n const %w: f32[3, 2, 2, 2] = seeded(1, 0.5)\n"
     "%y = conv(%x, %w) {layout = nxc, filter_layout = oxi, padding = same_lower}\n out \"y\" = %y",
     {T::kConv2d}},
    {"depthwise with a multiplier",
     "in %x \"x\": f32[1, 4, 4, 3]\n const %w: f32[1, 3, 3, 6] = seeded(1, 0.5)\n"
     "%y = conv(%x, %w) {layout = nxc, filter_layout = ixo, groups = 3, padding = valid}\n"
     "%z = relu(%y)\n out \"y\" = %z",
     {T::kDepthwiseConv2d}},
    {"8-bit conv",
     "in %x \"x\": u8[1, 3, 3, 2]{scale=0.5, zp=100}\n"
     "const %w: u8[2, 2, 2, 2]{scale=0.25, zp=120} = seeded(3)\n"
     "const %b: i32[2]{scale=0.125} = [10, -20]\n"
     "%y = conv(%x, %w, %b) {layout = nxc, filter_layout = oxi} @tflite"
     " : u8[1, 2, 2, 2]{scale=40, zp=3}\n out \"y\" = %y",
     {T::kConv2d}},
    {"pad goes into the convolution",
     "in %x \"x\": f32[1, 4, 4, 2]\n const %w: f32[3, 2, 2, 2] = seeded(1, 0.5)\n"
     "%p = pad(%x) {pads = [0, 1, 0, 0, 0, 2, 1, 0]}\n"
     "%y = conv(%p, %w) {layout = nxc, filter_layout = oxi}\n out \"y\" = %y",
     {T::kConv2d}},
    {"moves, as one lookup",
     "in %x \"x\": f32[1, 4, 3, 2]\n %s = slice(%x) {axes = [1, 3], starts = [1, 1], ends = [4, "
     "2], "
     "steps = [2, 1]}\n"
     "%t = transpose(%s) {perm = [0, 3, 1, 2]}\n"
     "%p = pad(%t) {pads = [0, 0, 1, 0, 0, 0, 0, 2]}\n out \"y\" = %p",
     {T::kReshape, T::kConcatenation, T::kEmbeddingLookup, T::kReshape}},
    {"dilations, as phases",
     "in %x \"x\": f32[1, 9, 8, 2]\n in %w \"w\": f32[3, 3, 2, 2]\n"
     "%y = conv(%x, %w) {layout = nxc, filter_layout = oxi, dilations = [3, 2], strides = [1, 2], "
     "pads = [2, 1, 3, 0]}\n out \"y\" = %y",
     {T::kReshape, T::kConcatenation, T::kEmbeddingLookup, T::kReshape, T::kConv2d, T::kReshape,
      T::kEmbeddingLookup, T::kReshape}},
    {"maximum, as a pool",
     "in %x \"x\": f32[2, 3]\n const %c: f32[3] = [-1, 0, 1]\n %y = maximum(%x, %c)\n"
     "out \"y\" = %y",
     {T::kReshape, T::kConcatenation, T::kMaxPool2d, T::kReshape}},
    {"five axes between four",
     "in %x \"x\": f32[1, 2, 6, 4]\n %a = reshape(%x) {dims = [1, 2, 3, 2, 4]}\n"
     "%b = tanh(%a)\n %y = reshape(%b) {dims = [2, 24]}\n out \"y\" = %y",
     {T::kReshape, T::kTanh, T::kReshape}},
    {"a mean before a convolution, in the order of the contract",
     "in %x \"x\": f32[1, 5, 7, 3]\n const %w: f32[2, 1, 1, 3] = seeded(1, 0.5)\n"
     "%m = reduce_mean(%x) {axes = [1, 2], keep_dims = true}\n"
     "%y = conv(%m, %w) {layout = nxc, filter_layout = oxi}\n out \"y\" = %y",
     {T::kReshape, T::kConcatenation, T::kReshape, T::kDepthwiseConv2d, T::kReshape,
      T::kDepthwiseConv2d, T::kReshape, T::kDepthwiseConv2d, T::kReshape, T::kDepthwiseConv2d,
      T::kReshape, T::kDepthwiseConv2d, T::kConcatenation, T::kAveragePool2d, T::kConv2d}},
    {"pools",
     "in %x \"x\": f32[1, 7, 6, 3]\n"
     "%a = average_pool(%x) {layout = nxc, kernel = [3, 2], strides = [2, 2], pads = [1, 0, 1, "
     "1]}\n"
     "%b = max_pool(%x) {layout = nxc, kernel = [3, 2], strides = [2, 2], pads = [1, 0, 1, 1]}\n"
     "%c = lp_pool(%x) {layout = nxc, kernel = [3, 2], average = true}\n"
     "out \"a\" = %a\n out \"b\" = %b\n out \"c\" = %c",
     {T::kAveragePool2d, T::kMaxPool2d, T::kL2Pool2d}},
    {"a mean that counts padding",
     "in %x \"x\": f32[1, 5, 4, 2]\n"
     "%y = average_pool(%x) {layout = nxc, kernel = [2, 3], pads = [1, 0, 0, 1], "
     "count_include_pad = true}\n out \"y\" = %y",
     {T::kReshape, T::kConcatenation, T::kEmbeddingLookup, T::kReshape, T::kAveragePool2d}},
    {"a mean that counts padding, whose size is rounded up",
     "in %x \"x\": f32[1, 5, 6, 2]\n"
     "%y = average_pool(%x) {layout = nxc, kernel = [3, 3], strides = [2, 2], pads = [1, 1, 1, 2], "
     "ceil_mode = true, count_include_pad = true}\n out \"y\" = %y",
     {T::kReshape, T::kConcatenation, T::kEmbeddingLookup, T::kReshape, T::kAveragePool2d}},
    {"pool whose size is rounded up",
     "in %x \"x\": f32[1, 6, 6, 2]\n"
     "%y = max_pool(%x) {layout = nxc, kernel = [3, 3], strides = [2, 2], ceil_mode = true}\n"
     "out \"y\" = %y",
     {T::kMaxPool2d}},
    {"fully connected",
     "in %x \"x\": f32[2, 5]\n const %w: f32[3, 5] = seeded(1)\n const %b: f32[3] = [1, 2, 3]\n"
     "%y = matmul(%x, %w, %b) {transpose_b = true}\n %z = relu(%y)\n out \"y\" = %z",
     {T::kFullyConnected}},
    {"weights are transposed, rows flattened",
     "in %x \"x\": f32[2, 3, 5]\n const %w: f32[5, 4] = seeded(1)\n %y = matmul(%x, %w)\n"
     "out \"y\" = %y",
     {T::kReshape, T::kFullyConnected, T::kReshape}},
    {"arithmetic",
     "in %x \"x\": f32[2, 3]\n in %y \"y\": f32[3]\n const %two: f32[] = [2]\n"
     "%a = add(%x, %y)\n %b = mul(%a, %x)\n %c = sub(%b, %y)\n %d = div(%c, %two)\n %e = neg(%d)\n"
     "%f = relu(%e)\n out \"f\" = %f",
     {T::kAdd, T::kMul, T::kMul, T::kAdd, T::kMul, T::kMul}},
    {"functions",
     "in %x \"x\": f32[2, 3]\n %a = floor(%x)\n %b = tanh(%x)\n %c = sigmoid(%x)\n %d = relu(%x)\n"
     "%e = clip(%x) {min = -1, max = 1}\n %f = clip(%x) {min = 0, max = 6}\n out \"a\" = %a\n"
     "out \"b\" = %b\n out \"c\" = %c\n out \"d\" = %d\n out \"e\" = %e\n out \"f\" = %f",
     {T::kFloor, T::kTanh, T::kLogistic, T::kRelu, T::kRelu1, T::kRelu6}},
    {"normalization",
     "in %x \"x\": f32[1, 2, 2, 6]\n"
     "%a = l2_normalization(%x) {epsilon = 0}\n %c = softmax(%x) {beta = 0.5}\n"
     "out \"a\" = %a\n out \"c\" = %c",
     {T::kL2Normalization, T::kSoftmax}},
    {"softmax of three axes",
     "in %x \"x\": f32[2, 3, 4]\n %y = softmax(%x)\n out \"y\" = %y",
     {T::kReshape, T::kSoftmax, T::kReshape}},
    {"local response normalization",
     "in %x \"x\": f32[1, 2, 2, 6]\n %y = lrn(%x) {size = 5, alpha = 10, beta = 0.5, layout = "
     "nxc}\n"
     "out \"y\" = %y",
     {T::kLocalResponseNormalization}},
    {"shapes",
     "in %x \"x\": f32[1, 4, 6, 4]\n"
     "%a = reshape(%x) {dims = [24, 4]}\n %b = expand_dims(%a) {axes = [0]}\n"
     "%c = squeeze(%b) {axes = [0]}\n %d = concat(%c, %c) {axis = -1}\n"
     "%e = depth_to_space(%x) {block = 2, layout = nxc}\n"
     "%f = space_to_depth(%x) {block = 2, layout = nxc}\n"
     "out \"d\" = %d\n out \"e\" = %e\n out \"f\" = %f",
     {T::kReshape, T::kConcatenation, T::kDepthToSpace, T::kSpaceToDepth}},
    {"resize",
     "in %x \"x\": f32[1, 3, 4, 2]\n"
     "%y = resize(%x) {layout = nxc, mode = linear, coordinates = asymmetric, sizes = [6, 5]} "
     "@tflite\n out \"y\" = %y",
     {T::kResizeBilinear}},
    {"options of a resize that change nothing",
     "in %x \"x\": f32[1, 3, 4, 2]\n"
     "%y = resize(%x) {layout = nxc, mode = linear, coordinates = asymmetric, sizes = [6, 8], "
     "antialias = true, exclude_outside = true, aspect = not_larger}\n out \"y\" = %y",
     {T::kResizeBilinear}},
    {"embedding",
     "in %i \"i\": i32[3]\n const %t: f32[10, 2] = seeded(1)\n %y = gather(%t, %i)\n out \"y\" = "
     "%y",
     {T::kEmbeddingLookup}},
    {"an input and a constant as outputs",
     "in %x \"x\": f32[2]\n const %c: f32[2] = [1, 2]\n %y = relu(%x)\n out \"x1\" = %x\n"
     "out \"c\" = %c\n out \"y\" = %y\n out \"y1\" = %y",
     {T::kRelu, T::kReshape, T::kReshape, T::kReshape}},
};

TEST_CASE("nnapi export: operations, in both forms and back to the bit") {
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    const Graph source = Parse("graph \"g\" {\n" + row.graph + "\n}");
    const auto inputs = InputsOf(source, {});
    const auto want = RunEverywhere(source, inputs);
    for (const std::string path : {"m.nnapi", "m.nnapi.json"}) {
      CAPTURE(path);
      const Written written = Convert(source, path);
      CHECK(written.axes.unchanged());
      CHECK(written.model().version == 1);
      if (row.name != "shapes") CHECK(written.operations() == row.operations);
      const auto got = RunEverywhere(Imported(*written.native), inputs);
      REQUIRE(got.size() == want.size());
      for (size_t i = 0; i < got.size(); ++i) {
        CAPTURE(i);
        CHECK(want[i].Identical(got[i]));
      }
    }
  }
}

TEST_CASE("nnapi export: the file follows the HAL") {
  const Written w = Convert(Parse(R"(graph "net" {
    in %x "input": f32[1, 5]
    const %w: f32[3, 5] = seeded(1)
    %y = matmul(%x, %w) {transpose_b = true}
    %z = relu(%y)
    out "output" = %z
  })"),
                            "m.nnapi");
  const nnapi::Model& m = w.model();
  CHECK(m.name == "net");
  REQUIRE(m.operands.size() == 5);  // input, output, weights, bias, activation
  CHECK(m.input_indexes == std::vector<uint32_t>{0});
  CHECK(m.output_indexes == std::vector<uint32_t>{1});
  CHECK(m.operands[0].name == "input");
  CHECK(m.operands[0].lifetime == nnapi::LifeTime::kModelInput);
  CHECK(m.operands[0].number_of_consumers == 1);
  CHECK(m.operands[1].lifetime == nnapi::LifeTime::kModelOutput);
  CHECK(m.operands[1].number_of_consumers == 0);
  CHECK(m.operands[2].lifetime == nnapi::LifeTime::kConstantCopy);
  CHECK(m.operands[2].dimensions == std::vector<uint32_t>{3, 5});
  CHECK(m.operands[4].type == nnapi::OperandType::kInt32);
  CHECK(m.operations[0].inputs == std::vector<uint32_t>{0, 2, 3, 4});
  for (const nnapi::Operand& o : m.operands) CHECK(o.location.offset % 4 == 0);
}

TEST_CASE("nnapi export: a flattened transposition goes into the weights") {
  const Graph source = Parse(R"(graph "g" {
    in %x "x": f32[1, 12, 15, 24]
    const %w: f32[1, 4320] = seeded(1)
    %t = transpose(%x) {perm = [0, 3, 1, 2]}
    %f = reshape(%t) {dims = [1, 4320]}
    %y = matmul(%f, %w) {transpose_b = true}
    out "y" = %y
  })");
  const auto inputs = InputsOf(source, {});
  const auto want = RunEverywhere(source, inputs)[0].ToDoubles();
  const Written written = Convert(source, "m.nnapi");
  CHECK(written.axes.unchanged());
  CHECK(written.operations() == std::vector<T>{T::kReshape, T::kFullyConnected});
  const auto got = RunEverywhere(Imported(*written.native), inputs)[0].ToDoubles();
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-5));
}

TEST_CASE("nnapi export: lookups transpose few elements, and the sums keep their order") {
  const Graph source = Parse(R"(graph "g" {
    in %x "x": f32[1, 4, 6, 40]
    const %w: f32[5, 240] = seeded(1)
    %p = max_pool(%x) {layout = nxc, kernel = [2, 2], strides = [2, 2]}
    %t = transpose(%p) {perm = [0, 3, 1, 2]}
    %f = reshape(%t) {dims = [1, 240]}
    %y = matmul(%f, %w) {transpose_b = true}
    out "y" = %y
  })");
  const auto inputs = InputsOf(source, {});
  const Written written = Convert(source, "m.nnapi");
  CHECK(written.axes.unchanged());
  const auto operations = written.operations();
  CHECK(std::ranges::count(operations, T::kEmbeddingLookup) == 1);
  const auto got = RunEverywhere(Imported(*written.native), inputs)[0].ToDoubles();
  CHECK(got == RunEverywhere(source, inputs)[0].ToDoubles());
}

TEST_CASE("nnapi export: indices that are no vector become float32 at the interface") {
  const Graph source = Parse(R"(graph "g" {
    in %x "x": i64[2, 5]
    const %t: f32[7, 3] = seeded(1)
    %y = gather(%t, %x)
    out "y" = %y
  })");
  const Written written = Convert(source, "m.nnapi");
  CHECK(written.axes.unchanged());
  const Graph back = Imported(*written.native);
  CHECK(back.inputs()[0].value->type().ToString() == "f32[2, 5]");
  // The last three are -1, -7 and -2.
  const std::vector<int64_t> indices = {0, 6, 3, 3, 1, 5, 2, -1, -7, -2};
  const std::vector<float> numbers(indices.begin(), indices.end());
  const Tensor want = RunEverywhere(source, {Tensor::Of({2, 5}, indices)})[0];
  CHECK(RunEverywhere(back, {Tensor::Of({2, 5}, numbers)})[0].ToDoubles() == want.ToDoubles());
}

TEST_CASE("nnapi export: remainders of all integers that float32 represents") {
  const Graph source = Parse(R"(graph "g" {
    in %x "x": i32[8]
    const %n: i32[] = [1999]
    %y = mod(%x, %n)
    %z = fmod(%x, %n)
    out "y" = %y
    out "z" = %z
  })");
  const Graph back = Imported(*Convert(source, "m.nnapi").native);
  const std::vector<int32_t> x = {1 << 24,     -(1 << 24),   16'777'215, -16'777'215,
                                  1999 * 8392, -1999 * 8392, 1998,       -1};
  const std::vector<float> numbers(x.begin(), x.end());
  const auto want = RunEverywhere(source, {Tensor::Of({8}, x)});
  const auto got = RunEverywhere(back, {Tensor::Of({8}, numbers)});
  for (size_t i = 0; i < want.size(); ++i) CHECK(got[i].ToDoubles() == want[i].ToDoubles());
}

TEST_CASE("nnapi export: sine and cosine of numbers up to 2^24 pi") {
  const Graph source = Parse(R"(graph "g" {
    in %x "x": f32[10]
    %y = sin(%x)
    %z = cos(%x)
    out "y" = %y
    out "z" = %z
  })");
  const Graph back = Imported(*Convert(source, "m.nnapi").native);
  const std::vector<float> x = {0, -0.5, 3.1415927f, 22, 6433.5, -6434.5, 1e5, -4e6, 52.7e6, 53e6};
  const auto want = RunEverywhere(source, {Tensor::Of({10}, x)});
  const auto got = RunEverywhere(back, {Tensor::Of({10}, x)});
  for (size_t i = 0; i < want.size(); ++i) {
    const auto w = want[i].ToDoubles(), g = got[i].ToDoubles();
    for (size_t k = 0; k < 9; ++k) CHECK(std::abs(g[k] - w[k]) < 2e-7);
    CHECK(std::isnan(g[9]));
  }
}

TEST_CASE("nnapi export: a channels-first network, whose image input is transposed") {
  const Graph source = Parse(R"(graph "g" {
    in %x "x": f32[1, 2, 6, 6]
    const %w: f32[4, 2, 3, 3] = seeded(1, 0.5)
    const %s: f32[4] = [1, 2, 0.5, 1]
    const %b: f32[4] = [0, 1, 0, -1]
    const %m: f32[4] = [0.5, 0, 0, 0]
    const %v: f32[4] = [1, 1, 2, 1]
    const %u: f32[4, 4] = seeded(2)
    %c = conv(%x, %w) {pads = [1, 1, 1, 1]}
    %n = batch_norm(%c, %s, %b, %m, %v)
    %r = relu(%n)
    %p = reduce_mean(%r) {axes = [2, 3], keep_dims = true}
    %f = reshape(%p) {dims = [1, 4]}
    %y = matmul(%f, %u)
    out "r" = %r
    out "y" = %y
  })");
  const Written written = Convert(source, "m.nnapi");
  CHECK(written.operations() == std::vector<T>{T::kConv2d, T::kMul, T::kAdd, T::kAveragePool2d,
                                               T::kReshape, T::kFullyConnected});
  REQUIRE(written.axes.inputs.size() == 1);
  CHECK(written.axes.inputs[0] == AxisMap::ChannelsLast(4));
  REQUIRE(written.axes.outputs.size() == 2);
  CHECK(written.axes.outputs[0] == AxisMap::ChannelsLast(4));
  CHECK(written.axes.outputs[1].IsIdentity());
  const auto& x = written.model().operands[written.model().input_indexes[0]];
  CHECK(x.dimensions == std::vector<uint32_t>{1, 6, 6, 2});
}

TEST_CASE("nnapi export: signed integers are shifted at the interface") {
  const Graph source = Parse(R"(graph {
    in %x "x": i8[1, 4, 4, 2]{scale=0.05, zp=-7}
    const %w: i8[3, 1, 1, 2]{scale=0.01} = seeded(3)
    %y = conv(%x, %w) {layout = nxc, filter_layout = oxi} @tflite
      : i8[1, 4, 4, 3]{scale=0.1, zp=5}
    out "y" = %y
  })");
  const Written written = Convert(source, "m.nnapi");
  CHECK(written.operations() == std::vector<T>{T::kConv2d});
  CHECK(written.axes.input_offsets == std::vector<int64_t>{128});
  CHECK(written.axes.output_offsets == std::vector<int64_t>{128});
  CHECK_FALSE(written.axes.unchanged());
  const auto& x = written.model().operands[written.model().input_indexes[0]];
  CHECK(x.type == nnapi::OperandType::kTensorQuant8Asymm);
  CHECK(x.zero_point == 121);
}

TEST_CASE("nnapi export: indices are a vector of i32 at the interface") {
  const Graph source = Parse(R"(graph "g" {
    in %x "x": i64[1, 5]
    const %t: f32[7, 3] = seeded(1)
    %y = gather(%t, %x)
    out "y" = %y
  })");
  const Written written = Convert(source, "m.nnapi");
  CHECK(written.operations() == std::vector<T>{T::kEmbeddingLookup, T::kReshape});
  CHECK(written.axes.inputs[0] == AxisMap::Remove(2, 0));
  const auto& x = written.model().operands[written.model().input_indexes[0]];
  CHECK(x.type == nnapi::OperandType::kTensorInt32);
  CHECK(x.dimensions == std::vector<uint32_t>{5});
}

TEST_CASE("nnapi export: operators between a convolution and the interface are permuted with it") {
  const Written w = Convert(Parse(R"(graph "g" {
    in %x "x": f32[1, 2, 6, 6]
    in %z "z": f32[1, 4, 6, 6]
    const %w: f32[4, 2, 3, 3] = seeded(1, 0.5)
    %t = tanh(%x)
    %c = conv(%t, %w) {padding = same_upper}
    %r = relu(%c)
    %a = add(%r, %z)
    %j = concat(%x, %a) {axis = 1}
    out "r" = %r
    out "j" = %j
  })"),
                            "m.nnapi");
  CHECK(w.operations() == std::vector<T>{T::kTanh, T::kConv2d, T::kAdd, T::kConcatenation});
  for (const auto* maps : {&w.axes.inputs, &w.axes.outputs}) {
    REQUIRE(maps->size() == 2);
    for (const AxisMap& map : *maps) CHECK(map == AxisMap::ChannelsLast(4));
  }
}

TEST_CASE("nnapi export: unsupported constructs are named") {
  struct Case {
    std::string graph, reason;
  };
  const std::string x4 = "in %x \"x\": f32[1, 6, 6, 4]\n";
  // Constant filters would be filled with zeros.
  const std::string w = "in %w \"w\": f32[4, 3, 3, 2]\n";
  const Case cases[] = {
      {x4 + "%y = is_nan(%x)\n", "NNAPI 1.0 has no is_nan operation"},
      {x4 + w + "%y = conv(%x, %w) {layout = nxc, filter_layout = oxi, groups = 2}\n",
       "no convolution of 2 groups with 2 channels each"},
      {"in %x \"x\": f32[1, 2, 2, 2, 2]\n%y = relu(%x)\n",
       "input 0 of RELU has rank 5 instead of 1 to 4"},
      {"in %x \"x\": f64[2]\n%y = relu(%x)\n", "NNAPI 1.0 has no f64 tensors"},
      {"in %x \"x\": u8[1, 6, 6, 4]{scale=0.5, zp=3}\n"
       "%y = average_pool(%x) {layout = nxc, kernel = [3, 3], pads = [1, 1, 1, 1], "
       "count_include_pad = true} @tflite : u8[*]{scale=0.5, zp=3}\n",
       "count_include_pad must be 0"},
      {x4 + "%y = lrn(%x) {size = 4, layout = nxc}\n", "the window must be odd, not 4 channels"},
      {x4 + "const %c: f32[] = [0]\n%y = div(%x, %c)\n",
       "NNAPI 1.0 has no div operation, and the divisor may be 0"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.graph);
    const auto unsupported = UnsupportedNodesOf(c.graph + "out \"y\" = %y");
    REQUIRE(unsupported.size() == 1);
    CAPTURE(unsupported[0].reason);
    CHECK(unsupported[0].reason.find(c.reason) != std::string::npos);
  }
}

TEST_CASE("nnapi export: shapes must be known") {
  Graph graph =
      Parse("graph \"g\" {\n in %x \"x\": f32[batch, 3]\n %y = relu(%x)\n out \"y\" = %y\n}");
  const auto image = FindFormat("nnapi")->writer.Write(graph, {});
  REQUIRE(!image.has_value());
  CHECK(image.error().code() == ErrorCode::kUnsupported);
  CHECK(image.error().message() ==
        "input \"x\": it is f32[batch, 3], but NNAPI 1.0 models need fixed shapes; use --batch or "
        "--input-shape");
}

}  // namespace
}  // namespace nn::test::nnapi_export_test
