#include <nnsuite/graph.h>
#include <nnsuite/model.h>
#include <nnsuite/outputs.h>
#include <nnsuite/program.h>

#include <string>
#include <string_view>
#include <vector>

#include "support.h"

namespace nnsuite::test::outputs_test {
namespace {

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Tensor Numbers(std::vector<float> values) {
  const auto count = static_cast<int64_t>(values.size());
  return Take(Tensor::Of<float>({count}, values));
}

}  // namespace

TEST_CASE("api: outputs are compared with expected ones") {
  const Graph graph = Take(Graph::Parse(R"(graph {
      in %x "x": f32[2]
      %y = neg(%x)
      %z = abs(%x)
      out "y" = %y
      out "z" = %z })"));
  const Program program = Take(Program::Compile(graph));
  const Tensor x = Numbers({1, 100});
  const std::vector<Tensor> outputs = Take(program.Run(std::vector{x}));
  const Tensor near = Numbers({-1.0005F, -100});

  const OutputChecks same = Take(
      CompareOutputs(program, outputs, {.arrays = {{"z", x}, {"out_0", Numbers({-1, -100})}}}));
  CHECK(same.passed);
  REQUIRE(same.outputs.size() == 2);
  CHECK(same.outputs[0].comparison->identical);
  CHECK(same.text == "  y  bit-identical\n  z  bit-identical\n");

  // Relative to the largest magnitude, 100.
  const OutputChecks within = Take(CompareOutputs(program, outputs, {.arrays = {{"y", near}}}));
  CHECK(within.passed);
  CHECK_FALSE(within.outputs[0].comparison->identical);
  CHECK_FALSE(within.outputs[1].comparison.has_value());
  const OutputChecks beyond =
      Take(CompareOutputs(program, outputs, {.arrays = {{"y", near}}, .atol = 0, .rtol = 1e-6}));
  CHECK_FALSE(beyond.passed);
  CHECK(beyond.outputs[0].comparison->outside == 1);
  CHECK(Contains(beyond.text, "--atol"));
  CHECK(Contains(beyond.report, "\"passed\": false"));

  const TestFolder folder;
  REQUIRE(WriteTensors(folder / "want.npz", std::vector<NamedTensor>{{"z", x}}).has_value());
  const OutputChecks file = Take(CompareOutputs(program, outputs, {.file = folder / "want.npz"}));
  CHECK(file.passed);
  CHECK(Contains(file.report, "want.npz"));

  for (const ExpectOptions& wrong : {ExpectOptions(), ExpectOptions{.arrays = {{"w", x}}},
                                     ExpectOptions{.arrays = {{"z", x}}, .rtol = -1},
                                     ExpectOptions{.arrays = {{"z", x}, {"out_1", x}}}})
    CHECK(CompareOutputs(program, outputs, wrong).error().code() == ErrorCode::kUsage);
  CHECK(CompareOutputs(program, std::vector{x}, {.arrays = {{"z", x}}}).error().code() ==
        ErrorCode::kUsage);
  CHECK(CompareOutputs(program, outputs, {.file = "missing.npz"}).error().code() == ErrorCode::kIo);
}

}  // namespace nnsuite::test::outputs_test
