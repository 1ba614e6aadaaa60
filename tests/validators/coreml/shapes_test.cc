// Sizes that follow from layers of Core ML networks of rank 5, as ranges.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "formats/format.h"
#include "ops/support/array_shape.h"
#include "ops/support/window_shape.h"
#include "support/files.h"
#include "validators/coreml/layers/ranges.h"
#include "validators/rule_cases.h"
#include "validators/runner.h"

namespace nn::test::coreml_shapes_test {
namespace {

using coreml::Bound;
using coreml::SizeSpan;

TEST_CASE("Core ML sizes: bounds stop at 0 and know no bound") {
  CHECK(Bound(3).Minus(5).value == 0);
  CHECK(Bound().Minus(5).unbound);
  CHECK(Bound(7).OverUp(2).value == 4);
  CHECK(Bound(7).OverUp(0).unbound);
  CHECK(Bound(2).AtMost(Bound()));
  CHECK_FALSE(Bound().AtMost(Bound(2)));
}

TEST_CASE("Core ML sizes: spans that contradict are empty") {
  CHECK_FALSE(SizeSpan::From(2).Intersect(SizeSpan::Exactly(2)).empty);
  CHECK(SizeSpan::From(3).Intersect(SizeSpan::Exactly(2)).empty);
  CHECK(SizeSpan::Exactly(4).Over(0).empty);
  CHECK(SizeSpan::Exactly(4).Over(3).IsFixed());
  CHECK(SizeSpan::Exactly(2).Unite(SizeSpan::Exactly(5)).ToString() == "2 to 5");
  CHECK(SizeSpan::From(2).Plus(SizeSpan::Exactly(1)).ToString() == "3 or more");
}

TEST_CASE("Core ML sizes: output sizes are those of graph inference") {
  const auto same = [](const SizeSpan& span, int64_t number, const Dim& dim) {
    CHECK(dim == number);
    CHECK(span.ToString() == std::to_string(number));
  };
  for (const int64_t input : {4, 5, 8, 11})
    for (const int64_t extent : {1, 3, 4})
      for (const int64_t stride : {1, 2, 3}) {
        CAPTURE(input);
        CAPTURE(extent);
        CAPTURE(stride);
        const SizeSpan span = SizeSpan::Exactly(static_cast<uint64_t>(input));
        const Dim size = input, of = extent, by = stride;
        same(WindowCount(span, 1, extent, stride), WindowCount(input, 1, extent, stride),
             WindowCount(size, Dim(1), of, by));
        same(WindowCountUp(span, 1, extent, static_cast<uint64_t>(stride)),
             WindowCountUp(input, 1, extent, stride), WindowCountUp(size, Dim(1), of, by));
        same(SameWindowCount(span, stride), SameWindowCount(input, stride),
             SameWindowCount(size, by));
        same(TransposedExtent(span, extent, static_cast<uint64_t>(stride)),
             TransposedExtent(input, extent, stride), TransposedExtent(size, of, by));
        same(PaddedSize(span, -extent, stride), PaddedSize(input, -extent, stride),
             PaddedSize(size, Dim(-extent), by));
      }
  CHECK(WindowCount(SizeSpan::From(3), 0, 3, 2).ToString() == "1 or more");
  CHECK(WindowCount(Dim::Symbol("h"), Dim(2), Dim(3), Dim(1)) == Dim::Symbol("h"));
}

struct Case {
  const char* input;   // shape
  const char* layers;  // from x to y
  const char* output;  // shape, or ""
  bool good;
};

const Case kCases[] = {
    {"[3, 8, 8]", "pooling { valid {} kernelSize: [2, 2] stride: [2, 2] }", "[3, 4, 4]", true},
    {"[3, 8, 8]", "pooling { valid {} kernelSize: [2, 2] stride: [2, 2] }", "[3, 8, 8]", false},
    {"[3, 8, 8]", "pooling { valid {} kernelSize: [9, 9] }", "", false},
    {"[3, 8, 8]", "pooling { same {} kernelSize: [3, 3] stride: [3, 3] }", "[3, 3, 3]", true},
    {"[3, 8, 8]", "pooling { globalPooling: true valid {} }", "[3, 1, 1]", true},
    {"[3, 8, 8]", "pooling { includeLastPixel {} kernelSize: [3, 3] stride: [2, 2] }", "[3, 4, 4]",
     true},
    {"[3, 8, 8]", "flatten {}", "[192]", true},
    {"[3, 8, 8]", "flatten {}", "[191]", false},
    {"[3, 8, 8]",
     "padding { constant {} paddingAmounts { borderAmounts { startEdgeSize: 1 } "
     "borderAmounts { endEdgeSize: 2 } } }",
     "[3, 9, 10]", true},
    {"[3, 8, 8]", "upsample { scalingFactor: [2, 3] }", "[3, 16, 24]", true},
    {"[4, 8, 8]", "reorganizeData { mode: DEPTH_TO_SPACE blockSize: 2 }", "[1, 16, 16]", true},
    {"[4, 8, 8]", "reorganizeData { blockSize: 2 }", "[16, 4, 4]", true},
    {"[3, 8, 8]", "permute { axis: [0, 3, 1, 2] }", "[8, 3, 8]", true},
    {"[3, 8, 8]", "permute { axis: [0, 3, 1, 2] }", "[3, 8, 8]", false},
    {"[3, 8, 8]", "slice { startIndex: 2 endIndex: -2 stride: 1 axis: WIDTH_AXIS }", "[3, 8, 4]",
     true},
    {"[3, 8, 8]", "slice { startIndex: 2 endIndex: 9 stride: 1 axis: WIDTH_AXIS }", "", false},
    {"[3, 8, 8]", "reduce { axis: HW }", "[3, 1, 1]", true},
    {"[3, 8, 8]", "resizeBilinear { targetSize: [5, 6] }", "[3, 5, 6]", true},
    {"[3, 8, 8]",
     "crop { cropAmounts { borderAmounts { startEdgeSize: 4 endEdgeSize: 4 } "
     "borderAmounts {} } }",
     "", false},
    {"[3, 8, 8]", "reshape { targetShape: [8, 24, 1] }", "[8, 24, 1]", true},
};

TEST_CASE("Core ML sizes: what layers make of them") {
  const TempDir folder;
  const std::string path = folder / "m.mlmodel";
  for (const Case& c : kCases) {
    CAPTURE(std::string(c.layers));
    const std::string shape = *c.output == '\0' ? std::string() : std::string("shape: ") + c.output;
    WriteText(path, EncodeProto("nn.coreml.pb.Model",
                                std::string("specificationVersion: 3 description { "
                                            "input { name: \"x\" type { multiArrayType { shape: ") +
                                    c.input +
                                    " dataType: FLOAT32 } } } output { name: \"y\" type { "
                                    "multiArrayType { " +
                                    shape +
                                    " dataType: FLOAT32 } } } } neuralNetwork { layers { "
                                    "name: \"l\" input: \"x\" output: \"y\" " +
                                    c.layers + " } }"));
    const auto read = ReadModelFile(path);
    REQUIRE(read.has_value());
    const auto findings = Validate(*read->model, *read->format, {Profile::kVendor});
    std::string messages;
    for (const Finding& f : findings) messages += f.rule + ": " + f.message + "\n";
    INFO(messages);
    CHECK(findings.size() == (c.good ? 0 : 1));
    CHECK(std::all_of(findings.begin(), findings.end(),
                      [](const Finding& f) { return f.rule == "COREML-SHAPE-001"; }));
  }
}

}  // namespace
}  // namespace nn::test::coreml_shapes_test
