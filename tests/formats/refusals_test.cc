// Unusual but sound models that a format cannot express are refused with a reason: "internal error"
// is for defects.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "formats/format.h"
#include "ir/verify.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::refusals_test {
namespace {

// Why a graph is not written; "written" if it is.
Error WhyNot(const std::string& text, std::string_view format_name) {
  Graph graph = Parse(text);
  const Format& format = *FindFormat(format_name);
  InterfaceAxes axes;
  const auto unsupported = Legalize(graph, *format.target, &axes);
  if (!unsupported) return unsupported.error();
  if (!unsupported->empty()) return UnsupportedNodesError(format.label, *unsupported);
  const auto image =
      format.writer.Write(graph, ExportOptions{"m" + std::string(format.extensions[0])});
  return image ? Error(ErrorCode::kUsage, "written") : image.error();
}

TEST_CASE("refusals: constructs that a format cannot express are named") {
  struct Row {
    const char* graph;
    const char* format;
    const char* reason;
  };
  constexpr const char* kNoOutputs = "graph { in %x: f32[2]  %y = relu(%x) }";
  constexpr const char* kOneName =
      R"(graph { in %x: f32[2]  in %y: f32[2]  %z = add(%x, %y)  out "y" = %z })";
  constexpr const char* kEmpty = R"(graph { in %x: f32[0, 3]  %y = relu(%x)  out "y" = %y })";
  constexpr const char* kLong = R"(graph { in %x: f32[3000000000]  %y = relu(%x)  out "y" = %y })";
  constexpr const char* kWide =
      R"(graph { in %x: f32[65536, 65536]  %y = relu(%x)  out "y" = %y })";
  constexpr const char* kPow =
      R"(graph { in %x: f64[2]  in %e: i64[2]  %y = pow(%x, %e)  out "y" = %y })";
  constexpr const char* kMinimum =
      R"(graph { in %a: u64[2]  in %b: u64[2]  %y = minimum(%a, %b)  out "y" = %y })";
  constexpr const char* kBias = R"(graph { in %x: f32[1, 2, 4, 4]  in %w: f32[3, 2, 1, 1]
    const %b: f32[3] = seeded(1)  %y = conv(%x, %w, %b)  out "y" = %y })";
  constexpr const char* kUnique =
      R"(graph { in %x: f32[n]  %u, %f, %i, %c = unique(%x) {sorted = false}
         out "u" = %u  out "f" = %f })";
  constexpr const char* kOpen = R"(graph { in %x: f32[1, h, w, 2]
    %y = resize(%x) {layout = nxc, mode = linear, scales = [1.5, 2]}  out "y" = %y })";
  constexpr const char* kArgMin = R"(graph { in %x: i64[2, 3]  %y = arg_min(%x)  out "y" = %y })";
  constexpr const char* kMinDelta = R"(graph { in %s: f32[]  in %d: f32[1]
    %y = range(%s, %s, %d)  out "y" = %y })";
  constexpr const char* kSoftmax = R"(graph { in %x: i8[1, 4]{scale=0.1, zp=0}
    %y = softmax(%x) @tflite : i8[1, 4]{scale=0.09, zp=-128}  out "y" = %y })";
  constexpr const char* kChannels = R"(graph { in %x: f32[1, 8, 8, c]
    const %w: f32[4, 3, 3, 3] = seeded(1)
    %y = conv(%x, %w) {layout = nxc, filter_layout = oxi}  out "y" = %y })";
  constexpr const char* kWindow = R"(graph { in %x: f32[1, 3, 32, 32]
    %y = average_pool(%x) {kernel = [2, 2147483648], padding = same_lower}  out "y" = %y })";
  constexpr const char* kNothing = R"(graph { in %x: f32[1, 1, 3, 0]
    const %w: f32[1, 2, 3, 3] = seeded(1)
    %y = conv_transpose(%x, %w) {strides = [3, 2], output_shape = [10, 8]}  out "y" = %y })";
  constexpr const char* kAdded = R"(graph { in %x: f32[1, 2, 4, 4]
    const %w: f32[2, 3, 3, 3] = seeded(1)
    %y = conv_transpose(%x, %w) {strides = [2, 2], output_padding = [9, 0]}  out "y" = %y })";
  constexpr const char* kNoScale = R"(graph { in %x: i8[1, 4]{scale=0.1, zp=0}
    %y = softmax(%x) @tflite : i8[1, 4]  out "y" = %y })";
  constexpr const char* kChosenBoxes = R"(graph { in %b: f32[20, 4]  in %s: f32[1, 1, 20]
    in %m: bool[20]  %i = non_zero(%m)  %j = squeeze(%i) {axes = [0]}
    %c = gather(%b, %j) {axis = 0}  %d = expand_dims(%c) {axes = [0]}
    %t = gather(%s, %j) {axis = 2}  const %k: i64[] = [10]
    %y = non_max_suppression(%d, %t, %k)  out "y" = %y })";
  constexpr const char* kOpenBoxes = R"(graph { in %b: f32[1, n, 4]  in %s: f32[1, 1, n]
    const %k: i64[] = [10]  %y = non_max_suppression(%b, %s, %k)  out "y" = %y })";
  constexpr const char* kUnranked = R"(graph { in %x: f32[2, 8]  in %s: i64[n]
    %r = reshape(%x, %s)  %y = space_to_depth(%r) {block = 2}  %z = relu(%y)  out "z" = %z })";
  constexpr const char* kAnyRank = R"(graph { in %x: f32[*]  %y = relu(%x)  out "y" = %y })";
  constexpr const char* kOpenRank = R"(graph { in %x: f32[2, 8]  in %s: i64[n]
    %r = reshape(%x, %s)  %e = expand_dims(%r) {axes = [-1]}
    %y = reshape(%e) {dims = [4, 4]}  out "y" = %y })";
  constexpr const char* kNoSteps = R"(graph { in %x: u8[1, 4]{scale=0, zp=3}
    %y = dequantize(%x)  out "y" = %y })";
  constexpr const char* kManyChannels = R"(graph { in %x: f32[1, 4, 4, 4]
    %y = lrn(%x) {size = 2147483649}  out "y" = %y })";
  constexpr const char* kFarPad = R"(graph { in %x: f32[1, 1, 4, 4]
    const %w: f32[1, 1, 3, 3] = seeded(1)
    %y = conv(%x, %w) {pads = [0, 0, 2147483648, 0]}  out "y" = %y })";
  for (const Row& row :
       {Row{kArgMin, "tflite",
            "in the ARG_MIN operator of TensorFlow Lite, x is INT64; expected one of FLOAT32"},
        Row{kMinDelta, "tflite",
            "in the RANGE operator of TensorFlow Lite, delta has rank 1; expected 0"},
        Row{kSoftmax, "tflite",
            "in the SOFTMAX operator of TensorFlow Lite, the result has scale 0.09"},
        Row{kChannels, "tflite", "the number of channels must be constant"},
        Row{kWindow, "tflite", "limits dimensions to 2147483647"},
        Row{kNothing, "tflite", "the input of TRANSPOSE_CONV cannot be empty"},
        Row{kAdded, "onnx", "its output padding 9 must be less than its stride 2"},
        Row{kNoScale, "tflite", "the result i8[1, 4] must be quantized"},
        Row{kUnranked, "tflite", "the rank of its result is known only when the model runs"},
        Row{kUnranked, "coreml", "the rank of its result is known only when the model runs"},
        Row{kUnranked, "nnapi", "the rank of its result is known only when the model runs"},
        Row{kAnyRank, "tflite",
            "input \"x\" may have any number of axes; set its shape with --input-shape x:SIZE,..."},
        Row{kOpenRank, "onnx", "its rank must be known"},
        Row{kNoSteps, "tflite", "scales must be positive, not 0"},
        Row{kManyChannels, "coreml", "the window of 2147483649 channels must fit in 32 bits"},
        Row{kFarPad, "coreml", "Core ML has no axes of size 2147483650"},
        Row{kNoOutputs, "coreml", "no outputs"},
        Row{kNoOutputs, "nnapi", "no outputs"},
        Row{kOneName, "onnx", "output \"y\": an input has the same name"},
        Row{kOneName, "coreml", "output \"y\": an input has the same name"},
        Row{kEmpty, "coreml", "dimensions of Core ML must be at least 1"},
        Row{kLong, "tflite", "limits dimensions to 2147483647"},
        Row{kWide, "tflite", "limits tensors to 2147483647 elements"},
        Row{kWide, "nnapi", "2^32 bytes"},
        Row{kPow, "tflite", "no pow for f64"},
        Row{kMinimum, "tflite", "no minimum for u64, and converts u64 to no other type"},
        Row{kBias, "coreml", "takes its weights as an input but sets hasBias"},
        Row{kUnique, "tflite", "no outputs for first positions and counts"},
        Row{kOpen, "tflite", "its scales must be the quotient of its sizes; set input shapes"},
        Row{kChosenBoxes, "tflite", "one of them is computed when the model runs"},
        Row{kChosenBoxes, "coreml", "one of them is computed when the model runs"},
        Row{kOpenBoxes, "tflite", "one of them depends on the dynamic dimension \"n\""},
        Row{kOpenBoxes, "coreml", "one of them depends on the dynamic dimension \"n\""}}) {
    CAPTURE(row.graph);
    CAPTURE(row.format);
    const Error error = WhyNot(row.graph, row.format);
    CHECK_MESSAGE(error.message().find(row.reason) != std::string::npos, error.message());
    CHECK(error.code() == ErrorCode::kUnsupported);
  }
}

TEST_CASE("refusals: legalizing matrix products of any element type terminates") {
  for (const char* format : {"onnx", "tflite", "coreml", "nnapi"})
    for (const char* type : {"f16", "bf16", "f64", "i8", "u8", "i32", "i64"})
      for (const bool transposed : {false, true})
        for (const bool bias : {false, true}) {
          const std::string graph = fmt::format(
              "graph {{ in %x: {0}[2, 8]  const %w: {0}[{1}] = seeded(1)  const %b: {0}[4] = "
              "seeded(2)  %y = matmul(%x, %w{2}) {{transpose_b = {3}}}  out \"y\" = %y }}",
              type, transposed ? "4, 8" : "8, 4", bias ? ", %b" : "", transposed);
          CAPTURE(graph);
          CAPTURE(format);
          CHECK(WhyNot(graph, format).code() != ErrorCode::kInternal);
        }
  // If it can be written, separate nodes transpose its operands.
  const std::string batched =
      R"(graph { in %a: f32[2, 3, 4]  in %b: f32[2, 5, 4]
         %y = matmul(%a, %b) {transpose_b = true}  out "y" = %y })";
  for (const char* format : {"onnx", "tflite", "coreml"})
    CHECK(WhyNot(batched, format).message() == "written");
}

TEST_CASE("refusals: Core ML takes bounds in the other order as a maximum and a minimum") {
  CHECK(
      WhyNot(R"(graph { in %x: f32[2]  %y = clip(%x) {min = 6, max = 0}  out "y" = %y })", "coreml")
          .message() == "written");
}

TEST_CASE("refusals: a name that two ports have is the model's fault") {
  Graph g = Parse(R"(graph { in %x: f32[2]  %y = relu(%x)  out "y" = %y })");
  g.AddOutput("y", g.inputs()[0].value);
  const Status status = Verify(g);
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code() == ErrorCode::kModel);
}

// A dump of a quantized tensor that a TensorFlow Lite file declares.
Result<ImportedModel> ImportQuantized(const std::string& quantization) {
  const std::string dump = fmt::format(
      R"({{"nn_dump": 1, "format": "tflite", "model": {{"version": 3,
      "operator_codes": [{{"builtin_code": "RELU", "deprecated_builtin_code": 19, "version": 1}}],
      "subgraphs": [{{"tensors": [
        {{"name": "x", "shape": [1, 2], "type": "INT8", "quantization": {0}}},
        {{"name": "y", "shape": [1, 2], "type": "INT8", "quantization": {0}}}],
        "inputs": [0], "outputs": [1], "operators": [{{"opcode_index": 0, "inputs": [0],
        "outputs": [1]}}]}}], "buffers": [{{}}]}}}})",
      quantization);
  NN_ASSIGN(const ReadModel read,
            ReadModelBytes(Blob::Copy(std::as_bytes(std::span(dump))), "m.json", ReadLimits{}));
  return read.format->importer.Import(*read.model);
}

TEST_CASE("refusals: scales that do not fit their tensor") {
  struct Row {
    const char* quantization;
    const char* reason;
  };
  for (const Row& row :
       {Row{R"({"scale": [0.5], "zero_point": [0]})", ""},
        Row{R"({"scale": [0.5, 0.25], "zero_point": [0, 0], "quantized_dimension": 1})", ""},
        Row{R"({"scale": [0], "zero_point": [0]})", ""},
        Row{R"({"scale": [-1], "zero_point": [0]})", "is -1; it must be positive"},
        Row{R"({"scale": ["NaN"], "zero_point": [0]})", "is nan; it must be positive"},
        Row{R"({"scale": ["Infinity"], "zero_point": [0]})", "is inf; it must be positive"},
        Row{R"({"scale": [1, 1, 1], "zero_point": [0], "quantized_dimension": 1})",
            "there are 3 scales for axis 1 of size 2"},
        Row{R"({"scale": [1, 1], "zero_point": [0, 0, 0], "quantized_dimension": 1})",
            "there are 2 scales but 3 zero points"},
        Row{R"({"scale": [1, 1], "zero_point": [0], "quantized_dimension": 2})",
            "axis 2 is out of range for rank 2"}}) {
    CAPTURE(row.quantization);
    const auto imported = ImportQuantized(row.quantization);
    const std::string message = imported ? "" : imported.error().message();
    CHECK_MESSAGE(message.find(row.reason) != std::string::npos, message);
    CHECK(imported.has_value() == std::string_view(row.reason).empty());
    if (!imported) CHECK(imported.error().code() == ErrorCode::kModel);
  }
}

}  // namespace
}  // namespace nn::test::refusals_test
