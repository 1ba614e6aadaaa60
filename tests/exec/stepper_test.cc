// Values computed one by one: the bits of a program, only what is asked for, and the limits.
#include "exec/stepper.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::stepper_test {
namespace {

// Large enough for a plan at the convolution.
constexpr const char* kConv = R"(graph {
  in %x: f32[1, 4, 16, 16]
  const %w: f32[8, 4, 3, 3] = seeded(1)
  %c = conv(%x, %w) {pads=[1, 1, 1, 1]}
  %r = relu(%c)
  %t = transpose(%r) {perm=[0, 2, 3, 1]}
  %m = reduce_mean(%t) {axes=[1, 2]}
  %unused = tanh(%r)
  out "m" = %m
  out "unused" = %unused
})";

Stepper Started(const std::string& text, const ProgramOptions& options = {}) {
  const Graph graph = Parse(text);
  auto stepper = Stepper::Create(graph.Clone(), options);
  REQUIRE_MESSAGE(stepper.has_value(), stepper.error().message());
  REQUIRE(stepper->Start(InputsOf(graph, {})).has_value());
  return *std::move(stepper);
}

TEST_CASE("stepper: the bits of a program, with and without a plan") {
  const Graph graph = Parse(kConv);
  const std::vector<Tensor> want = RunEverywhere(graph, InputsOf(graph, {}));
  for (const Backend backend : {Backend::kSimd, Backend::kReference}) {
    ProgramOptions options;
    options.backend = backend;
    Stepper stepper = Started(kConv, options);
    for (size_t i = 0; i < want.size(); ++i) {
      const Value* const y = stepper.graph().outputs()[i].value;
      stepper.Keep(y);
      REQUIRE(stepper.Compute(y).has_value());
      CHECK(stepper.At(y).Identical(want[i]));
    }
  }
}

TEST_CASE("stepper: computes what a value depends on, and frees what nothing needs") {
  Stepper stepper = Started(kConv);
  const Value* const mean = stepper.graph().outputs()[0].value;
  const Value* const unused = stepper.graph().outputs()[1].value;
  stepper.Keep(mean);
  REQUIRE(stepper.Compute(mean).has_value());
  // The relu waits for the tanh; convolution and transpose are gone.
  constexpr uint64_t kImage = 8 * 16 * 16 * sizeof(float);
  CHECK(stepper.alive_bytes() == kImage + 8 * sizeof(float));
  CHECK(stepper.peak_bytes() == 2 * kImage + 8 * sizeof(float));
  REQUIRE(stepper.Compute(unused).has_value());
  CHECK(stepper.alive_bytes() == 8 * sizeof(float));
  stepper.Release(mean);
  CHECK(stepper.alive_bytes() == 0);
  // A second run.
  REQUIRE(stepper.Start(InputsOf(stepper.graph(), {})).has_value());
  stepper.Keep(mean);
  CHECK(stepper.Compute(mean).has_value());
}

TEST_CASE("stepper: inputs that do not fit, and limits") {
  Stepper stepper = Started(kConv);
  CHECK(stepper.Start({}).error().code() == ErrorCode::kUsage);
  CHECK(stepper.Start({Tensor::Ints({1})}).error().code() == ErrorCode::kUsage);
  for (const Backend backend : {Backend::kSimd, Backend::kReference}) {
    ProgramOptions options;
    options.backend = backend;
    options.limits.max_memory = 4096;
    Stepper small = Started(kConv, options);
    CHECK(small.Compute(small.graph().outputs()[0].value).error().code() == ErrorCode::kLimit);
    options.limits.max_memory = 0;
    options.limits.max_work = 1000;
    Stepper slow = Started(kConv, options);
    CHECK(slow.Compute(slow.graph().outputs()[0].value).error().code() == ErrorCode::kLimit);
  }
}

TEST_CASE("stepper: shapes that depend on contents") {
  Stepper stepper = Started(R"(graph {
    in %x: f32[4]
    %p = relu(%x)
    %z = non_zero(%p)
    out "z" = %z
  })");
  const Value* const z = stepper.graph().outputs()[0].value;
  stepper.Keep(z);
  REQUIRE(stepper.Compute(z).has_value());
  CHECK(stepper.At(z).rank() == 2);
}

}  // namespace
}  // namespace nn::test::stepper_test
