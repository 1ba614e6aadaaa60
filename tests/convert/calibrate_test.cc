#include "convert/quantize/calibrate.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "convert/quantize/histogram.h"
#include "convert/quantize/quantize_source.h"
#include "formats/format.h"
#include "support/run_graph.h"

namespace nn::test::calibrate_test {
namespace {

CalibrationOptions Seeded(uint64_t count) {
  CalibrationOptions options;
  options.seeded = count;
  return options;
}

// Samples with these numbers.
CalibrationOptions Given(const std::vector<std::vector<float>>& samples) {
  CalibrationOptions options;
  options.samples = [samples](const Graph&,
                              const std::function<Status(VerifyInputs)>& take) -> Status {
    for (const std::vector<float>& numbers : samples) {
      VerifyInputs set;
      set.tensors = {Tensor::Of<float>({1, std::ssize(numbers)}, numbers)};
      if (auto done = take(std::move(set)); !done) return done;
    }
    return {};
  };
  return options;
}

std::vector<const Value*> ResultsOf(const Graph& g) {
  std::vector<const Value*> out;
  for (const Node& node : g.nodes()) out.push_back(node.output());
  return out;
}

TEST_CASE("calibration: the extremes of all samples") {
  const Graph g = Parse(R"(graph { in %x: f32[1, 2] const %k: f32[] = [10] %a = mul(%x, %k)
    %y = exp(%a) out "y" = %y })");
  const auto values = ResultsOf(g);
  const auto done =
      Calibrate(g, values, Given({{1, -2}, {0.5, 0.25}, {100, -0.125}}), VerifyOptions(), false);
  REQUIRE(done);
  CHECK(done->samples == 3);
  const ValueRange& a = done->ranges.at(values[0]->id());
  CHECK(a.min == -20);
  CHECK(a.max == 1000);
  // e^1000 is infinite in float32.
  CHECK(std::isfinite(done->ranges.at(values[1]->id()).max));
}

TEST_CASE("calibration: generated samples of open shapes, the same each time") {
  const Graph g = Parse(R"(graph { in %x: f32[batch, 8] %y = tanh(%x) out "y" = %y })");
  const auto values = ResultsOf(g);
  const auto a = Calibrate(g, values, Seeded(3), VerifyOptions(), false);
  const auto b = Calibrate(g, values, Seeded(3), VerifyOptions(), false);
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a->ranges.begin()->second.max == b->ranges.begin()->second.max);
  CHECK(a->ranges.begin()->second.max > 0.5);
  CHECK(!Calibrate(g, values, CalibrationOptions(), VerifyOptions(), false));
}

// A bell curve with one number far outside.
Histogram BellWithOutlier() {
  std::vector<float> numbers;
  for (int i = -1000; i <= 1000; ++i) {
    const double x = i / 250.0;
    for (int k = 0; k < std::lround(100 * std::exp(-x * x / 2)); ++k)
      numbers.push_back(static_cast<float>(x));
  }
  numbers.push_back(100);
  Histogram h({-4, 100}, 2048);
  h.Add(numbers);
  return h;
}

TEST_CASE("calibration: methods ignore rare numbers") {
  const Histogram h = BellWithOutlier();
  CHECK(h.Choose(RangeMethod::kMinMax, 0, false).max == 100);
  const ValueRange percentile = h.Choose(RangeMethod::kPercentile, 99.9, false);
  CHECK(percentile.max < 5);
  CHECK(percentile.min < -2.5);
  for (const RangeMethod method : {RangeMethod::kEntropy, RangeMethod::kMse})
    for (const bool symmetric : {false, true}) {
      const ValueRange range = h.Choose(method, 0, symmetric);
      CHECK(range.max < 100);
      CHECK(range.max > 2);
    }
}

TEST_CASE("calibration: the mean of channels after a correction of biases") {
  // The second weight of each channel is rounded to 0, and its input is 1.
  Graph g = Parse(R"(graph { in %x: f32[1, 2] const %w: f32[2, 2] = [100, 100, 0.3, -0.3]
    %y = matmul(%x, %w) out "y" = %y })");
  const auto corrected =
      CorrectBiases(g, QuantizeOptions(), Given({{0, 1}, {0, 1}}), VerifyOptions());
  REQUIRE(corrected);
  CHECK(*corrected == 1);
  const Value* const bias = g.nodes().front().input(2);
  REQUIRE(bias != nullptr);
  CHECK(bias->constant().GetDouble(0) == doctest::Approx(0.3).epsilon(0.01));
  CHECK(bias->constant().GetDouble(1) == doctest::Approx(-0.3).epsilon(0.01));
}

TEST_CASE("calibration: the SNR of every value") {
  Graph g = Parse(R"(graph { in %x: f32[1, 16] const %w: f32[16, 8] = seeded(1)
    %y = matmul(%x, %w) %r = relu(%y) out "r" = %r })");
  const Target& target = *FindFormat("tflite")->target;
  QuantizeSettings settings;
  settings.calibration = Seeded(4);
  const auto done = QuantizeSource(g, target, settings, VerifyOptions(), true);
  REQUIRE(done);
  CHECK(done->summary.values.size() == 3);
  for (const QuantizedValue& v : done->summary.values) {
    REQUIRE(v.snr_db);
    CHECK(*v.snr_db > 30);
  }
  CHECK(!QuantizeSource(g, target, settings, VerifyOptions(), true));  // it is quantized
}

}  // namespace
}  // namespace nn::test::calibrate_test
