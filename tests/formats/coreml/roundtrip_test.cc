#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "exec/program.h"
#include "formats/format.h"
#include "ir/text/text.h"
#include "passes/core/passes.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::coreml_roundtrip_test {
namespace {

// The graph as a Core ML file and back.
struct Converted {
  std::unique_ptr<NativeModel> model;
  Graph graph;
};

Blob Join(const FileImage& image) {
  Buffer all(image.size());
  size_t at = 0;
  for (const Blob& part : image.parts) {
    std::memcpy(all.data() + at, part.data(), part.size());
    at += part.size();
  }
  return Blob(std::move(all));
}

Converted Convert(const Graph& source) {
  const Format* format = FindFormat("coreml");
  REQUIRE(format != nullptr);
  Graph fitted = source.Clone();
  const auto unsupported = Legalize(fitted, *format->target);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  for (const UnsupportedNode& o : *unsupported) FAIL_CHECK(o.node << ": " << o.reason);
  REQUIRE(unsupported->empty());
  const auto image = format->writer.Write(fitted, {});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  auto model = format->reader.Read(Join(*image), "m.mlmodel", {});
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  auto imported = format->importer.Import(**model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  for (const UnsupportedNode& o : imported->unsupported) FAIL_CHECK(o.node << ": " << o.reason);
  return {*std::move(model), std::move(imported->graph)};
}

// The kinds of the layers, in order.
std::string LayersOf(const NativeModel& model) {
  const auto summary = FindFormat("coreml")->describer.Summarize(model);
  REQUIRE(summary.has_value());
  std::string out;
  for (const OperatorSummary& op : summary->operators) out += (out.empty() ? "" : " ") + op.op;
  return out;
}

std::vector<Tensor> Run(const Graph& graph, const std::vector<Tensor>& inputs) {
  auto program = Program::Compile(graph, {});
  REQUIRE_MESSAGE(program.has_value(), program.error().message());
  auto outputs = program->Run(inputs);
  REQUIRE_MESSAGE(outputs.has_value(), outputs.error().message());
  return *std::move(outputs);
}

struct Row {
  const char* name;
  const char* layers;  // of the file
  std::string graph;
  double tolerance = 0;  // 0: the same bits
};

// Converts, runs both and compares. Outputs that are integers or bools get a different type with
// the same values.
void Check(const Row& row) {
  CAPTURE(row.name);
  const Graph source = Parse(row.graph);
  const Converted converted = Convert(source);
  CHECK(LayersOf(*converted.model) == row.layers);
  const auto inputs = InputsOf(source, {});
  REQUIRE(source.inputs().size() == converted.graph.inputs().size());
  for (size_t i = 0; i < source.inputs().size(); ++i) {
    CHECK(source.inputs()[i].name == converted.graph.inputs()[i].name);
    CHECK(source.inputs()[i].value->type() == converted.graph.inputs()[i].value->type());
  }
  const auto want = Run(source, inputs), got = Run(converted.graph, inputs);
  REQUIRE(want.size() == got.size());
  for (size_t i = 0; i < want.size(); ++i) {
    CHECK(source.outputs()[i].name == converted.graph.outputs()[i].name);
    REQUIRE(want[i].dims() == got[i].dims());
    if (row.tolerance == 0 && want[i].dtype() == DType::kF32) {
      CHECK(want[i].Identical(got[i]));
      continue;
    }
    for (int64_t k = 0; k < want[i].elements(); ++k) {
      const double a = want[i].dtype() == DType::kF32 ? want[i].GetDouble(k)
                                                      : static_cast<double>(want[i].GetInt(k));
      const double b = got[i].dtype() == DType::kF32 ? got[i].GetDouble(k)
                                                     : static_cast<double>(got[i].GetInt(k));
      CHECK(std::fabs(a - b) <= row.tolerance * std::max(1.0, std::fabs(a)));
    }
  }
}

// A graph of one operator on inputs of the given types.
std::string One(const std::string& inputs, const std::string& node) {
  return "graph {\n" + inputs + "\n %y = " + node + "\n out \"y\" = %y\n}";
}

TEST_CASE("coreml: a resize is one layer wherever a layer has its weights") {
  struct ResizeRow {
    std::string size, attributes, layer;
    double tolerance = 0;
  };
  const ResizeRow rows[] = {
      // TensorFlow Lite's positions.
      {"4, 6", "mode = linear, coordinates = half_pixel, sizes = [8, 12]} @tflite", "upsample"},
      {"4, 6", "mode = linear, coordinates = half_pixel, sizes = [12, 42]} @tflite", "upsample",
       1e-5},
      {"4, 6", "mode = linear, coordinates = asymmetric, sizes = [12, 9]} @tflite",
       "resizeBilinear", 1e-5},
      {"4, 6", "mode = linear, coordinates = align_corners, sizes = [7, 3]} @tflite",
       "resizeBilinear", 1e-5},
      {"4, 6", "coordinates = asymmetric, rounding = floor, sizes = [8, 12]} @tflite", "upsample"},
      {"4, 6", "coordinates = tf_half_pixel_for_nn, rounding = floor, sizes = [8, 18]} @tflite",
       "upsample"},
      // What makes no difference for these sizes.
      {"4, 6", "mode = linear, coordinates = pytorch_half_pixel, scales = [2, 3]}", "upsample"},
      {"1, 6", "mode = linear, coordinates = pytorch_half_pixel, sizes = [1, 12]}", "upsample"},
      {"4, 6", "mode = linear, coordinates = half_pixel_symmetric, scales = [2, 3]}", "upsample"},
      {"4, 6", "mode = linear, scales = [2, 2], antialias = true, exclude_outside = true}",
       "upsample"},
      {"4, 6", "mode = linear, sizes = [8, 20], aspect = not_larger}", "upsample"},
      {"4, 6", "coordinates = half_pixel, rounding = round_prefer_ceil, sizes = [8, 12]}",
       "upsample"},
      {"4, 6", "coordinates = align_corners, rounding = round_prefer_floor, sizes = [4, 6]}",
       "upsample"},
      {"4, 6", "mode = cubic, sizes = [4, 6]}", "upsample"},
      {"4, 6", "mode = linear, coordinates = crop, roi = [0, 0, 1, 1], sizes = [7, 1]}",
       "resizeBilinear"},
  };
  for (const ResizeRow& row : rows) {
    CAPTURE(row.attributes);
    Check({"resize", row.layer.c_str(),
           One("in %x: f32[1, 2, " + row.size + "]", "resize(%x) {" + row.attributes),
           row.tolerance});
  }
  // Sizes that only a run knows.
  const Converted open =
      Convert(Parse(One("in %x: f32[1, 2, h, w]", "resize(%x) {mode = linear, scales = [2, 3]}")));
  CHECK(LayersOf(*open.model) == "upsample");
  // No layer has these weights.
  for (const std::string attributes :
       {"mode = linear, coordinates = half_pixel, sizes = [6, 9]} @tflite",
        "mode = linear, scales = [2.1, 2]}", "mode = cubic, sizes = [8, 12]}",
        "mode = linear, sizes = [2, 3], antialias = true}",
        "coordinates = asymmetric, rounding = ceil, sizes = [8, 12]}"}) {
    CAPTURE(attributes);
    const Converted converted =
        Convert(Parse(One("in %x: f32[1, 2, 4, 6]", "resize(%x) {" + attributes)));
    CHECK(LayersOf(*converted.model).find("gather") != std::string::npos);
  }
}

TEST_CASE("coreml: convolutions") {
  const Row rows[] = {
      {"plain", "convolution",
       One("in %x: f32[2, 3, 9, 8]\n const %w: f32[4, 3, 3, 3] = seeded(1)\n"
           "const %b: f32[4] = seeded(2)",
           "conv(%x, %w, %b) {strides = [2, 1], dilations = [1, 2], pads = [1, 0, 2, 1]}")},
      {"grouped, same", "convolution",
       One("in %x: f32[1, 4, 7, 7]\n const %w: f32[8, 2, 3, 3] = seeded(1)",
           "conv(%x, %w) {strides = [2, 2], padding = same_upper, groups = 2}")},
      {"same, heavier at the top", "convolution",
       One("in %x: f32[1, 2, 6, 6]\n const %w: f32[2, 2, 2, 2] = seeded(1)",
           "conv(%x, %w) {padding = same_lower}")},
      {"one axis", "reshapeStatic convolution activation.ReLU convolution reshapeStatic",
       R"(graph {
         in %x: f32[1, 2, 20]
         const %w: f32[4, 2, 3] = seeded(1)
         const %v: f32[3, 4, 3] = seeded(2)
         %a = conv(%x, %w) {strides = [2], pads = [1, 1]}
         %b = relu(%a)
         %y = conv(%b, %v)
         out "y" = %y
       })"},
      {"three axes", "convolution3d",
       One("in %x: f32[1, 2, 5, 6, 7]\n const %w: f32[4, 2, 2, 3, 3] = seeded(1)",
           "conv(%x, %w) {strides = [1, 2, 1], pads = [0, 1, 2, 1, 0, 1]}")},
      // Two numbers fit in one bit, but this layer has no quantized ones.
      {"three axes, two different weights", "convolution3d",
       One("in %x: f32[1, 2, 4, 4, 4]\n const %w: f32[1, 2, 1, 2, 2] = [1, 2, 1, 2, 1, 1, 2, 2]",
           "conv(%x, %w)")},
      {"filter as a blob", "convolution",
       One("in %x: f32[1, 2, 5, 5]\n in %w: f32[3, 2, 3, 3]", "conv(%x, %w)")},
      {"channels last", "transpose convolution activation.ReLU convolution transpose", R"(graph {
         in %x: f32[1, 8, 8, 3]
         const %w: f32[4, 3, 3, 3] = seeded(1)
         const %v: f32[2, 3, 3, 4] = seeded(2)
         %a = conv(%x, %w) {layout = nxc, filter_layout = oxi, padding = same_upper}
         %b = relu(%a)
         %y = conv(%b, %v) {layout = nxc, filter_layout = oxi}
         out "y" = %y
       })"},
      {"transposed", "convolution",
       One("in %x: f32[1, 4, 5, 5]\n const %w: f32[4, 2, 3, 3] = seeded(1)\n"
           "const %b: f32[4] = seeded(2)",
           "conv_transpose(%x, %w, %b) {strides = [2, 2], pads = [1, 0, 0, 1], groups = 2}")},
      {"transposed to a size", "convolution",
       One("in %x: f32[1, 4, 5, 5]\n const %w: f32[4, 2, 3, 3] = seeded(1)",
           "conv_transpose(%x, %w) {strides = [2, 2], padding = same_upper, "
           "output_shape = [10, 9]}")},
  };
  for (const Row& row : rows) Check(row);
}

TEST_CASE("coreml: pools") {
  const std::string x = "in %x: f32[2, 3, 9, 10]";
  const Row rows[] = {
      {"max", "pooling", One(x, "max_pool(%x) {kernel = [3, 2], strides = [2, 2]}")},
      {"max, padded", "pooling",
       One(x, "max_pool(%x) {kernel = [3, 3], strides = [2, 1], pads = [1, 0, 0, 1]}")},
      {"max, rounded up", "pooling",
       One(x,
           "max_pool(%x) {kernel = [2, 3], strides = [2, 2], pads = [1, 1, 1, 1], "
           "ceil_mode = true}")},
      {"average", "pooling",
       One(x, "average_pool(%x) {kernel = [3, 3], strides = [2, 2], padding = same_upper}")},
      {"average with padding", "pooling",
       One(x,
           "average_pool(%x) {kernel = [3, 3], pads = [1, 1, 1, 1], "
           "count_include_pad = true}")},
      {"l2", "pooling", One(x, "lp_pool(%x) {kernel = [2, 2], strides = [2, 2]}")},
      {"three axes", "pooling3d",
       One("in %x: f32[1, 2, 5, 6, 7]",
           "average_pool(%x) {kernel = [2, 2, 3], pads = [0, 1, 1, 1, 0, 1]}")},
      {"one axis", "reshapeStatic pooling reshapeStatic",
       One("in %x: f32[1, 2, 12]", "max_pool(%x) {kernel = [4], strides = [4]}")},
      {"global", "reduceMean", One(x, "reduce_mean(%x) {axes = [2, 3]}")},
  };
  for (const Row& row : rows) Check(row);
}

TEST_CASE("coreml: elementwise functions") {
  const std::string x = "in %x: f32[1, 4, 3, 5]";
  struct Function {
    const char *node, *layers;
    double tolerance = 0;
  };
  for (const Function& f : {
           Function{"relu(%x)", "activation.ReLU"},
           Function{"leaky_relu(%x) {alpha = 0.2}", "activation.leakyReLU"},
           Function{"elu(%x) {alpha = 0.7}", "activation.ELU"},
           Function{"sigmoid(%x)", "activation.sigmoid"},
           Function{"hard_sigmoid(%x) {alpha = 0.3}", "activation.sigmoidHard"},
           Function{"tanh(%x)", "activation.tanh"},
           Function{"softplus(%x)", "activation.softplus"},
           Function{"softsign(%x)", "activation.softsign"},
           Function{"clip(%x) {min = 0, max = 6}", "clip"},
           Function{"clip(%x) {min = 0.1}", "clip"},
           Function{"gelu(%x) {approximate = tanh}", "gelu"},
           Function{"gelu(%x)", "gelu"},
           Function{"abs(%x)", "unary.ABS"},
           Function{"exp(%x)", "unary.EXP"},
           Function{"floor(%x)", "floor"},
           Function{"ceil(%x)", "ceil"},
           Function{"round(%x)", "round"},
           Function{"sign(%x)", "sign"},
           Function{"sin(%x)", "sin"},
           Function{"cos(%x)", "cos"},
           Function{"tan(%x)", "tan"},
           Function{"sinh(%x)", "sinh"},
           Function{"cosh(%x)", "cosh"},
           Function{"atan(%x)", "atan"},
           Function{"asinh(%x)", "asinh"},
           Function{"erf(%x)", "erf"},
           Function{"exp2(%x)", "exp2"},
           Function{"neg(%x)", "multiply"},
           Function{"hard_swish(%x)", "activation.sigmoidHard multiplyBroadcastable"},
           Function{"silu(%x)", "activation.sigmoid clip multiplyBroadcastable", 1e-6},
           Function{"mish(%x)", "activation.softplus activation.tanh clip multiplyBroadcastable",
                    1e-6},
           Function{"selu(%x)", "activation.ELU loadConstantND multiplyBroadcastable", 1e-6},
           Function{"reciprocal(%x)", "loadConstantND divideBroadcastable"},
           Function{"thresholded_relu(%x) {alpha = 0.25}",
                    "loadConstantND greaterThan loadConstantND whereBroadcastable"},
           Function{"softmax(%x) {axis = 1}", "softmaxND"},
           Function{"log_softmax(%x) {axis = 1}",
                    "reduceMax subtractBroadcastable unary.EXP reduceSum unary.LOG "
                    "subtractBroadcastable"},
       })
    Check({f.node, f.layers, One(x, f.node), f.tolerance});
}

TEST_CASE("coreml: operators of two operands") {
  const std::string ab = "in %a: f32[2, 4, 3]\n in %b: f32[4, 1]";
  for (const auto& [op, layer] :
       {std::pair("add", "addBroadcastable"), std::pair("sub", "subtractBroadcastable"),
        std::pair("mul", "multiplyBroadcastable"), std::pair("div", "divideBroadcastable"),
        std::pair("minimum", "minBroadcastable"), std::pair("maximum", "maxBroadcastable"),
        std::pair("floor_div", "floorDivBroadcastable"), std::pair("mod", "modBroadcastable"),
        std::pair("less", "lessThan"), std::pair("less_equal", "lessEqual"),
        std::pair("greater", "greaterThan"), std::pair("greater_equal", "greaterEqual"),
        std::pair("equal", "equal"), std::pair("not_equal", "notEqual")})
    Check({op, layer, One(ab, std::string(op) + "(%a, %b)")});
  Check({"logic", "greaterThan lessThan logicalAnd logicalNot whereBroadcastable", R"(graph {
    in %a: f32[2, 4]
    in %b: f32[2, 4]
    %c = greater(%a, %b)
    %d = less(%a, %b)
    %e = and(%c, %d)
    %f = not(%e)
    %y = select(%f, %a, %b)
    out "y" = %y
  })"});
  Check(
      {"slopes", "activation.PReLU",
       One("in %x: f32[1, 3, 2, 2]\n const %s: f32[3, 1, 1] = [0.1, 0.2, 0.3]", "prelu(%x, %s)")});
}

TEST_CASE("coreml: products") {
  const Row rows[] = {
      {"weights in rows", "innerProduct",
       One("in %x: f32[3, 5]\n const %w: f32[4, 5] = seeded(1)\n const %b: f32[4] = seeded(2)",
           "matmul(%x, %w, %b) {transpose_b = true}")},
      {"weights in columns", "innerProduct",
       One("in %x: f32[2, 3, 5]\n const %w: f32[5, 4] = seeded(1)", "matmul(%x, %w)")},
      {"rank 4", "batchedMatmul",
       One("in %x: f32[2, 2, 3, 5]\n const %w: f32[5, 4] = seeded(1)\n const %b: f32[4] = "
           "seeded(2)",
           "matmul(%x, %w, %b)")},
      {"two blobs", "batchedMatmul",
       One("in %a: f32[2, 3, 5]\n in %b: f32[2, 4, 5]", "matmul(%a, %b) {transpose_b = true}")},
  };
  for (const Row& row : rows) Check(row);
}

TEST_CASE("coreml: normalizations") {
  const std::string x = "in %x: f32[2, 4, 3, 5]\n";
  const std::string params = "const %s: f32[4] = seeded(1)\n const %b: f32[4] = seeded(2)\n";
  const Row rows[] = {
      {"batch", "batchnorm",
       One(x + params + "const %m: f32[4] = seeded(3)\n const %v: f32[4] = [1, 2, 0.5, 3]",
           "batch_norm(%x, %s, %b, %m, %v) {epsilon = 0.001}")},
      {"batch of a matrix", "reshapeStatic batchnorm reshapeStatic",
       One("in %x: f32[2, 4]\n" + params +
               "const %m: f32[4] = seeded(3)\n const %v: f32[4] = [1, 2, 0.5, 3]",
           "batch_norm(%x, %s, %b, %m, %v)")},
      {"instance", "batchnorm", One(x + params, "instance_norm(%x, %s, %b)")},
      {"layer", "layerNormalization",
       One("in %x: f32[2, 3, 4]\n" + params, "layer_norm(%x, %s, %b)")},
      {"lrn", "lrn", One(x, "lrn(%x) {size = 3, alpha = 0.01, bias = 2}")},
      {"l2", "l2normalize",
       One(x, "l2_normalization(%x) {axes = [1, 2, 3], epsilon_rule = inside}")},
      {"mvn", "mvn", One(x, "mean_variance_normalization(%x) {axes = [2, 3]}")},
  };
  for (const Row& row : rows) Check(row);
}

TEST_CASE("coreml: shapes and parts") {
  const std::string x = "in %x: f32[2, 4, 3, 5]";
  const Row rows[] = {
      {"reshape", "reshapeStatic", One(x, "reshape(%x) {dims = [2, 60]}")},
      {"transpose", "transpose", One(x, "transpose(%x) {perm = [0, 2, 3, 1]}")},
      {"tile", "tile", One(x, "tile(%x) {repeats = [1, 2, 1, 3]}")},
      {"slice", "sliceStatic",
       One(x, "slice(%x) {axes = [1, 3], starts = [1, -1], ends = [3, -6], steps = [1, -2]}")},
      {"reverse", "reverse", One(x, "reverse(%x) {axes = [1, -1]}")},
      {"pad", "constantPad", One(x, "pad(%x) {pads = [0, 1, 0, 2, 0, 0, 3, 0]}")},
      {"reflect", "padding", One(x, "pad(%x) {pads = [0, 0, 1, 2, 0, 0, 2, 1], mode = reflect}")},
      {"edge", "padding", One(x, "pad(%x) {pads = [0, 0, 1, 2, 0, 0, 2, 1], mode = edge}")},
      {"depth to space", "reorganizeData", One(x, "depth_to_space(%x) {block = 2}")},
      {"pixel shuffle", "reorganizeData", One(x, "depth_to_space(%x) {block = 2, mode = crd}")},
      {"upsample", "upsample",
       One(x, "resize(%x) {coordinates = asymmetric, rounding = floor, scales = [2, 3]}")},
      {"bilinear", "upsample",
       One(x, "resize(%x) {mode = linear, coordinates = half_pixel, scales = [2, 2]}")},
      {"bilinear to a size", "resizeBilinear",
       One(x, "resize(%x) {mode = linear, coordinates = align_corners, sizes = [7, 4]}")},
      {"concat", "concatND", One(x, "concat(%x, %x) {axis = 1}")},
      {"gather", "loadConstantND gather",
       One(x + "\n const %i: i64[2] = [2, 0]", "gather(%x, %i) {axis = 1}")},
      {"one index", "sliceStatic squeeze",
       One(x + "\n const %i: i64[] = [2]", "gather(%x, %i) {axis = 1}")},
      {"sum", "reduceSum", One(x, "reduce_sum(%x) {axes = [1, 3], keep_dims = false}")},
      {"log sum exp", "reduceLogSumExp", One(x, "reduce_log_sum_exp(%x) {axes = [1]}")},
      {"largest", "argMax", One(x, "arg_max(%x) {axis = 1}")},
      {"running sum", "cumSum", One(x, "cum_sum(%x) {axis = 3, exclusive = true}")},
      {"lower triangle", "lowerTriangular", One(x, "trilu(%x) {upper = false, k = 1}")},
      {"split", "splitND", "graph {\n" + x + R"(
         %a, %b = split(%x) {axis = 1, sizes = [1, 3]}
         out "a" = %a
         out "b" = %b
       })"},
      {"an input, twice an output", "copy copy", "graph {\n" + x + R"(
         out "a" = %x
         out "b" = %x
       })"},
  };
  for (const Row& row : rows) Check(row);
}

TEST_CASE("coreml: sizes that vary keep their symbols") {
  const Graph source = Parse(R"(graph {
    in %x "x": f32[batch, 2, 4, 4]
    const %w: f32[3, 32] = seeded(1)
    %f = reshape(%x) {dims = [batch, 32]}
    %y = matmul(%f, %w) {transpose_b = true}
    out "y" = %y
  })");
  const Converted converted = Convert(source);
  CHECK(converted.graph.inputs()[0].value->type().ToString() == "f32[batch, 2, 4, 4]");
  CHECK(converted.graph.outputs()[0].value->type().ToString() == "f32[batch, 3]");
  const auto summary = FindFormat("coreml")->describer.Summarize(*converted.model);
  CHECK(summary->inputs[0].shape == std::vector<std::string>{"1..", "2", "4", "4"});
}

TEST_CASE("coreml: bounds and amounts that a run computes") {
  const std::string x = R"(in %x "x": f32[3, 4] in %b "b": i32[2] in %e "e": i32[2])";
  const std::string one = R"(in %x "x": f32[3, 4] in %b "b": i32[1] in %e "e": i32[1])";
  const std::string arrange = "loadConstantND concatND loadConstantND gather ";
  const std::vector<double> numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  struct {
    std::string layers, graph;
    std::vector<double> begin, end;
    std::vector<int64_t> dims;
  } const rows[] = {
      {"sliceDynamic", One(x, "slice(%x, %b, %e)"), {1, -3}, {3, -1}, {2, 2}},
      {"sliceDynamic", One(x, "slice(%x, %b, %e)"), {-9, 0}, {9, 1}, {3, 1}},
      {arrange + arrange + "sliceDynamic",
       One(one + " const %a: i32[1] = [-1] const %s: i32[1] = [-2]", "slice(%x, %b, %e, %a, %s)"),
       {3},
       {-9},
       {3, 2}},
      {"loadConstantND sliceDynamic",
       One(x + " const %all: i32[2] = [2147483647, -2147483648] const %s: i32[2] = [1, -1] "
               "const %a: i32[2] = [0, 1]",
           "slice(%x, %b, %all, %a, %s)"),
       {1, 2},
       {0, 0},
       {2, 3}},
      {"loadConstantND sliceDynamic",
       One(x + " const %all: i64[2] = [9223372036854775807, -9223372036854775808] "
               "const %s: i64[2] = [1, -1] const %a: i64[2] = [0, 1] %w = cast(%b) {to = i64}",
           "slice(%x, %w, %all, %a, %s)"),
       {1, 2},
       {0, 0},
       {2, 3}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.graph);
    const Graph source = Parse(row.graph);
    const Converted converted = Convert(source);
    CHECK(LayersOf(*converted.model) == row.layers);
    const auto inputs = InputsOf(source, {numbers, row.begin, row.end});
    const auto want = RunEverywhere(source, inputs), y = RunEverywhere(converted.graph, inputs);
    CHECK(want[0].dims() == row.dims);
    CHECK(y[0].Identical(want[0]));
  }
  for (const bool last : {false, true}) {
    CAPTURE(last);
    const Graph source = Parse(fmt::format(
        R"(graph {{ in %x "x": f32[2, 3] in %p "p": f32[{}] const %v: f32[] = [7] const %a: i64[1] = [-1]
           %r = relu(%p) %n = cast(%r) {{to = i64}} %y = pad(%x, %v, %n{}) out "y" = %y }})",
        last ? 2 : 4, last ? ", %a" : ""));
    const Converted converted = Convert(source);
    const auto inputs = InputsOf(
        source,
        {{1, 2, 3, 4, 5, 6}, last ? std::vector<double>{1, 2} : std::vector<double>{0, 1, 2, 3}});
    const auto want = RunEverywhere(source, inputs), y = RunEverywhere(converted.graph, inputs);
    CHECK(want[0].dims() == (last ? std::vector<int64_t>{2, 6} : std::vector<int64_t>{4, 7}));
    CHECK(y[0].Identical(want[0]));
  }
}

TEST_CASE("coreml: axes of size 1 beside several sizes that vary") {
  const auto layers = [](const std::string& dims) {
    const Converted converted =
        Convert(Parse(One("in %x \"x\": f32[n, 1, m, 3]", "reshape(%x) {dims = " + dims + "}")));
    return LayersOf(*converted.model);
  };
  CHECK(layers("[n, m, 3]") == "squeeze");
  CHECK(layers("[1, n, 1, m, 3]") == "squeeze expandDims");
}

// As the layers have them; the graph has integers.
TEST_CASE("coreml: indices that are floats lose their fractions") {
  for (const std::string_view op :
       {"gather(%x, %n) {axis = 0}", "gather_elements(%x, %n) {axis = 0}",
        "scatter_elements(%x, %n, %u) {axis = 0}", "one_hot(%n, %d, %v) {wrap = false}"}) {
    CAPTURE(op);
    const Graph source = Parse(fmt::format(R"(graph {{
      in %x "x": f32[3] in %i "i": f32[3]
      const %u: f32[3] = [7, 8, 9] const %d: i64[] = [3] const %v: f32[2] = [0, 1]
      %n = cast(%i) {{to = i64}} %y = {} out "y" = %y }})",
                                           op));
    const Converted converted = Convert(source);
    const auto inputs = InputsOf(source, {{1, 2, 3}, {1.75, 0, 2.25}});
    const auto want = RunEverywhere(source, inputs), y = RunEverywhere(converted.graph, inputs);
    CHECK(y[0].Identical(want[0]));
  }
}

TEST_CASE("coreml: unsupported constructs are named") {
  const auto reason = [](const std::string& text) {
    Graph graph = Parse(text);
    const auto unsupported = Legalize(graph, *FindFormat("coreml")->target);
    REQUIRE(unsupported.has_value());
    return unsupported->size() == 1 ? unsupported->front().reason
                                    : std::to_string(unsupported->size()) + " unsupported";
  };
  CHECK(reason(One("in %x: f64[2]", "exp(%x)")) == "Core ML has no f64 values");
  CHECK(reason(One("in %x: f64[2, 3]\n const %w: f64[3, 4] = seeded(1)", "matmul(%x, %w)")) ==
        "Core ML has no f64 values");
  CHECK(reason(One("in %x: i32[2]", "add(%x, %x)")) ==
        "Core ML computes with float32, which may not represent all results of i32 exactly");
  CHECK(reason(One("in %x: f32[1, 2, 3, 1, 2, 3]", "relu(%x)")) ==
        "Core ML has no arrays of 6 axes");
  CHECK(reason(One("in %x: f32[2]", "log1p(%x)")) == "Core ML has no log1p layer");
  CHECK(
      reason(One("in %x: f32[1, 2, n, 5]", "max_pool(%x) {kernel = [2, 2], dilations = [2, 2]}")) ==
      "its dilations must be 1");
  CHECK(reason(One("in %x: f32[2, 2]", "reduce_sum(%x) {keep_dims = false}")) ==
        "Core ML has no scalars");
}

}  // namespace
}  // namespace nn::test::coreml_roundtrip_test
