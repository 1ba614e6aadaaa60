// Forms of operators that ONNX permits, but ONNX Runtime refuses or computes otherwise.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "formats/format.h"
#include "formats/onnx/native.h"
#include "formats/onnx_text.h"
#include "passes/legalize.h"
#include "support/run_graph.h"

namespace nn::test::onnx_runtime_forms_test {
namespace {

using namespace onnx_text;

ReadModel Written(const Graph& graph, int64_t opset = 21) {
  const Format& format = *FindFormat("onnx");
  const ExportOptions options{.path = "m.onnx", .opset = opset};
  Graph fitted = graph.Clone();
  REQUIRE(format.lower(fitted, options, nullptr));
  const auto unsupported = Legalize(fitted, *format.target);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  REQUIRE(unsupported->empty());
  const auto image = format.write(fitted, options);
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
  auto imported = read.format->import(*read.model);
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
