// Forms of operators that ONNX permits, but ONNX Runtime refuses or computes otherwise.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "formats/format.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/text.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::onnx_runtime_forms_test {
namespace {

using namespace onnx_text;

ReadModel Written(const Graph& graph, int64_t opset = 21) {
  const Format& format = *FindFormat("onnx");
  const ExportOptions options{.path = "m.onnx", .opset = opset};
  Graph fitted = graph.Clone();
  REQUIRE(format.writer.Lower(fitted, options, nullptr));
  const auto unsupported = Legalize(fitted, *format.target);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  REQUIRE(unsupported->empty());
  const auto image = format.writer.Write(fitted, options);
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  std::string bytes;
  for (const Blob& b : image->parts)
    bytes.append(reinterpret_cast<const char*>(b.data()), b.size());
  auto read = ReadModelBytes(Blob::Copy(std::as_bytes(std::span(bytes))), "m.onnx");
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  return *std::move(read);
}

// The attributes of the only node of a type, "name=1,2 name=text", without those that name shapes
// of kernels.
std::string AttributesOf(const ReadModel& read, std::string_view op) {
  const auto& proto = static_cast<const onnx::Model&>(*read.model).proto;
  std::string text;
  for (const auto& node : proto.graph().node()) {
    if (node.op_type() != op) continue;
    for (const auto& a : node.attribute()) {
      if (a.name() == "kernel_shape" || a.name() == "mode") continue;
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", a.name(),
                          a.ints_size() > 0 ? fmt::format("{}", fmt::join(a.ints(), ","))
                          : a.s().empty()   ? fmt::format("{}", a.i())
                                            : a.s());
    }
  }
  return text;
}

std::string Attributes(const std::string& body, std::string_view op) {
  return AttributesOf(Written(Parse("graph {\n" + body + "\nout \"y\" = %y\n}")), op);
}

std::string OperatorsOf(const ReadModel& read) {
  std::string text;
  for (const auto& node : static_cast<const onnx::Model&>(*read.model).proto.graph().node())
    text += (text.empty() ? "" : " ") + node.op_type();
  return text;
}

// ONNX Runtime crashes: it makes a FusedMatMul of the transpose and the product.
TEST_CASE("onnx runtime forms: products of float16 behind a transpose that moves the first axis") {
  const auto written = [](std::string_view type, std::string_view shape, std::string_view perm,
                          int64_t opset) {
    const Graph g = Parse(fmt::format(R"(graph {{ in %x: {0}[{1}] in %w: {0}[4, 5]
        %t = transpose(%x) {{perm = [{2}]}} %y = matmul(%t, %w) out "y" = %y }})",
                                      type, shape, perm));
    const ReadModel read = Written(g, opset);
    const auto again = read.format->importer.Import(*read.model);
    REQUIRE_MESSAGE(again.has_value(), again.error().message());
    CHECK(LargestDifference(g, again->graph) == 0);
    return OperatorsOf(read);
  };
  const std::string apart = "Transpose Unsqueeze MatMul Squeeze";
  CHECK(written("f16", "3, 2, 4", "1, 0, 2", 21) == apart);
  CHECK(written("f16", "3, 2, 4", "1, 0, 2", 11) == apart);
  CHECK(written("f16", "4, 2, 3", "1, 2, 0", 21) == apart);
  CHECK(written("f16", "2, 3, 2, 4", "1, 2, 0, 3", 21) == apart);
  CHECK(written("f16", "2, 4, 3", "0, 2, 1", 21) == "Transpose MatMul");
  CHECK(written("f16", "2, 3, 2, 4", "0, 2, 1, 3", 21) == "Transpose MatMul");
  CHECK(written("f32", "3, 2, 4", "1, 0, 2", 21) == "Transpose MatMul");
}

// ONNX Runtime: "Dilation not supported for AutoPadType::SAME_UPPER".
TEST_CASE("onnx runtime forms: pads of dilated windows are written") {
  const std::string sized = "in %x: f32[1, 1, 7, 8]\nin %w: f32[2, 1, 3, 2]\n";
  CHECK(Attributes(sized + "%y = conv(%x, %w) {padding = same_upper}", "Conv") ==
        "auto_pad=SAME_UPPER");
  CHECK(Attributes(sized + "%y = conv(%x, %w) {padding = same_upper, dilations = [2, 1]}",
                   "Conv") == "dilations=2,1 pads=2,0,2,1");
  CHECK(Attributes(sized + "%y = conv(%x, %w) {padding = same_lower, dilations = [2, 1]}",
                   "Conv") == "dilations=2,1 pads=2,1,2,0");
  // With stride 1, the pads do not depend on open sizes.
  const std::string open = "in %x: f32[1, 1, H, W]\nin %w: f32[2, 1, 3, 2]\n";
  CHECK(Attributes(open + "%y = conv(%x, %w) {padding = same_upper, dilations = [1, 3]}", "Conv") ==
        "dilations=1,3 pads=1,1,1,2");
  CHECK(Attributes(sized + "%y = max_pool(%x) {kernel = [2, 2], padding = same_upper, "
                           "dilations = [3, 1]}",
                   "MaxPool") == "dilations=3,1 pads=1,0,2,1");
}

// ONNX Runtime: "padding values must be non-negative".
TEST_CASE("onnx runtime forms: pads of windows smaller than their stride are written") {
  const std::string x = "in %x: f32[1, 1, 6, 5]\n";
  CHECK(Attributes(x + "%y = max_pool(%x) {kernel = [2, 1], strides = [3, 2], "
                       "padding = same_upper}",
                   "MaxPool") == "strides=3,2 pads=0,0,0,0");
  CHECK(Attributes(x + "%y = average_pool(%x) {kernel = [3, 1], strides = [1, 3], "
                       "padding = same_lower}",
                   "AveragePool") == "strides=1,3 pads=1,0,1,0");
  CHECK(Attributes(x + "%y = max_pool(%x) {kernel = [2, 2], strides = [2, 2], "
                       "padding = same_upper}",
                   "MaxPool") == "strides=2,2 auto_pad=SAME_UPPER");
}

// ONNX Runtime moves transposes across a Resize, but leaves its `axes` as they are.
TEST_CASE("onnx runtime forms: known sizes of Resize are written for all axes") {
  const std::string resize = "%y = resize(%x) {sizes = [4, 6], mode = linear}";
  CHECK_FALSE(Contains(Attributes("in %x: f32[1, 2, 2, 3]\n" + resize, "Resize"), "axes"));
  CHECK(Contains(Attributes("in %x: f32[N, 2, 2, 3]\n" + resize, "Resize"), "axes=2,3"));
  const std::string scaled = "%y = resize(%x) {scales = [2, 2], mode = linear}";
  CHECK_FALSE(Contains(Attributes("in %x: f32[N, 2, 2, 3]\n" + scaled, "Resize"), "axes"));
}

// ONNX Runtime: "'Linear' mode only supports: 2-D inputs or 3-D inputs or 4-D inputs ... or 5-D
// inputs".
TEST_CASE("onnx runtime forms: a Resize of batch or channels has the axes of its operand") {
  const auto operators = [](const std::string& body, int64_t opset) {
    const ReadModel read = Written(Parse("graph {\n" + body + "\nout \"y\" = %y\n}"), opset);
    const auto& proto = static_cast<const onnx::Model&>(*read.model).proto;
    std::string text;
    for (const auto& node : proto.graph().node()) text += node.op_type() + " ";
    return text;
  };
  const std::string expand = "%e = expand_dims(%x) {axes = [0, 1]}\n";
  const std::string squeeze = "%y = squeeze(%r) {axes = [0, 1]}";
  const std::string image = "in %x: f32[N, 3, 4, 5]\n";
  for (const char* const attributes :
       {"mode = linear", "mode = cubic", "mode = linear, antialias = true",
        "mode = linear, coordinates = crop, roi = [0, 0, 0.2, 0.3, 1, 1, 0.9, 1.2]",
        "mode = nearest"})
    for (const int64_t opset : {11, 13, 17, 18, 19, 25}) {
      const bool is_new = std::string_view(attributes).find("antialias") != std::string_view::npos;
      if (is_new && opset < 18) continue;
      CAPTURE(attributes);
      CAPTURE(opset);
      const std::string body =
          image + expand + "%r = resize(%e) {sizes = [1, 3, 8, 9], " + attributes + "}\n" + squeeze;
      CHECK(operators(body, opset) == "Resize ");
    }
  // Numbers that a run computes.
  CHECK(operators(image + "in %k: i64[4]\n" + expand +
                      "%r = resize(%e, _, _, %k) {mode = linear}\n" + squeeze,
                  17) == "Resize ");
  CHECK(operators(image + "in %k: f32[4]\n" + expand + "%r = resize(%e, _, %k) {mode = linear}\n" +
                      squeeze,
                  18) == "Resize ");
  // The channels stay. ONNX Runtime takes this form for five axes, but not for six.
  CHECK(operators("in %x: f32[4, 5, 6, 7, 3]\n%e = expand_dims(%x) {axes = [1]}\n"
                  "%r = resize(%e) {sizes = [2, 3, 4, 3], mode = nearest}\n"
                  "%y = squeeze(%r) {axes = [1]}",
                  17) == "Resize ");
  CHECK(operators("in %x: f32[5, 6, 7]\n" + expand +
                      "%r = resize(%e) {sizes = [2, 3, 4], mode = linear}\n" + squeeze,
                  17) == "Unsqueeze Resize Squeeze ");
  // Another user of the result, or other axes.
  CHECK(operators(image + expand + "%r = resize(%e) {sizes = [1, 3, 8, 9]}\n" + squeeze +
                      "\n%n = neg(%r)\nout \"n\" = %n",
                  17) == "Unsqueeze Resize Squeeze Neg ");
  CHECK(operators(image + expand +
                      "%r = resize(%e) {sizes = [1, 1, 8, 9]}\n%y = squeeze(%r) {axes = [2, 3]}",
                  17) == "Unsqueeze Resize Squeeze ");
}

TEST_CASE("onnx runtime forms: quantized steps around a Resize of the batch lose its axes, too") {
  const Graph graph = Parse(R"(graph {
    in %x: f32[3, 2, 2, 3]
    %e = expand_dims(%x) {axes = [0, 1]}
    %q = quantize(%e) : i8[1, 1, 3, 2, 2, 3]{scale=0.01}
    %d = dequantize(%q)
    %r = resize(%d) {sizes = [1, 2, 4, 6], mode = linear}
    %p = quantize(%r) : i8[1, 1, 1, 2, 4, 6]{scale=0.01}
    %f = dequantize(%p)
    %y = squeeze(%f) {axes = [0, 1]}
    out "y" = %y
  })");
  const ReadModel read = Written(graph);
  const auto& proto = static_cast<const onnx::Model&>(*read.model).proto;
  CHECK(proto.graph().node_size() == 5);
  for (const auto& node : proto.graph().node()) CHECK(!Contains(node.op_type(), "queeze"));
  auto imported = read.format->importer.Import(*read.model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  CHECK(LargestDifference(imported->graph, graph) == 0);
}

// ONNX Runtime interpolates cubically on matrices and images of batch and channels only.
TEST_CASE("onnx runtime forms: a Resize of a tensor without batch keeps its first axis") {
  for (const char* const mode : {"nearest", "linear", "cubic"}) {
    CAPTURE(mode);
    const std::string resize =
        Node("Resize", {"x", "", "", "s"}, {"y"},
             fmt::format("attribute {{ name: \"mode\" type: STRING s: \"{}\" }}", mode)) +
        "initializer { name: \"s\" data_type: 7 dims: 3 int64_data: [2, 8, 9] }" + Outputs({"y"});
    const Graph graph = Import(resize + Input("x", TypeOf(kF32, {"2", "4", "5"}))).graph;
    for (const auto& node : graph.nodes())
      if (node.Is("resize")) CHECK(node.input(0)->type().ToString() == "f32[2, 1, 4, 5]");
    const Graph same = Parse(fmt::format(R"(graph {{
      in %x: f32[2, 4, 5]
      %e = expand_dims(%x) {{axes = [0]}}
      %r = resize(%e) {{sizes = [8, 9], mode = {}}}
      %y = squeeze(%r) {{axes = [0]}}
      out "y" = %y
    }})",
                                         mode));
    CHECK(LargestDifference(graph, same) == 0);
  }
}

// ONNX Runtime: "Attribute saturate is only used for cast to float 8 types".
TEST_CASE("onnx runtime forms: saturate of Cast is for float8") {
  const std::string x = "in %x: f32[3]\n";
  CHECK(Attributes(x + "%y = cast(%x) {to = i16, saturate = false}", "Cast") == "to=5");
  CHECK(Attributes(x + "%y = cast(%x) {to = f8e4m3fn, saturate = false}", "Cast") ==
        "to=17 saturate=0");
}

// ONNX Runtime and the shape inference of ONNX: "Indices tensor must have rank >= 1".
TEST_CASE("onnx runtime forms: one_hot of a scalar") {
  const Graph graph = Parse(R"(graph {
    in %i: i64[]
    const %d: i64[] = [3]
    const %v: f32[2] = [0, 1]
    %y = one_hot(%i, %d, %v) {wrap = true}
    out "y" = %y
  })");
  const ReadModel read = Written(graph);
  const auto& proto = static_cast<const onnx::Model&>(*read.model).proto;
  CHECK(proto.graph().node(0).op_type() == "Reshape");
  auto imported = read.format->importer.Import(*read.model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  for (const double index : {0.0, 2.0, -1.0, 3.0}) {
    CAPTURE(index);
    const auto inputs = InputsOf(graph, {{index}});
    CHECK(RunEverywhere(imported->graph, inputs)[0].ToDoubles() ==
          RunEverywhere(graph, inputs)[0].ToDoubles());
  }
}

}  // namespace
}  // namespace nn::test::onnx_runtime_forms_test
