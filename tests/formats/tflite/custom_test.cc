// Custom operators that TensorFlow Lite itself has, in files of one operator, with results computed
// by hand.
#include <doctest/doctest.h>
#include <flatbuffers/flexbuffers.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "formats/given_inputs.h"
#include "formats/tflite/file.h"
#include "support/run_graph.h"

namespace nn::test::tflite_custom_test {
namespace {

namespace fb = tflite::fb;

// ---- TFLite_Detection_PostProcess

using Options = std::function<void(flexbuffers::Builder&)>;

// The options of a detector with two classes, and `more`, which may replace some.
std::vector<uint8_t> DetectionOptions(int detections, int classes_per_detection,
                                      const Options& more = {}) {
  flexbuffers::Builder b;
  b.Map([&] {
    b.Int("max_detections", detections);
    b.Int("max_classes_per_detection", classes_per_detection);
    b.Int("num_classes", 2);
    b.Float("nms_score_threshold", 0.3f);
    b.Float("nms_iou_threshold", 0.6f);
    b.Float("y_scale", 1);
    b.Float("x_scale", 1);
    b.Float("h_scale", 1);
    if (more)
      more(b);
    else
      b.Float("w_scale", 1);
  });
  b.Finish();
  return b.GetBuffer();
}

Options Regular(int per_class = 100) {
  return [per_class](flexbuffers::Builder& b) {
    b.Float("w_scale", 1);
    b.Bool("use_regular_nms", true);
    b.Int("detections_per_class", per_class);
  };
}

const CustomTensor kAnchors = {{4, 4},
                               {0.5, 0.5, 1, 1, 0.5, 0.5, 1, 1, 10, 10, 2, 2, 20, 20, 1, 1}};

std::string DetectionFile(const std::vector<uint8_t>& options, int slots,
                          const CustomTensor& scores = {{1, 4, 3}}, int columns = 4) {
  return FileOfCustom("TFLite_Detection_PostProcess", options,
                      {{{1, 4, columns}}, scores, kAnchors},
                      {{{1, slots, 4}}, {{1, slots}}, {{1, slots}}, {{1}}});
}

// Boxes 0 and 1 overlap in 0.9 of 1.1; each has an area of 1.
const std::vector<double> kBoxes = {0, 0, 0, 0, 0.1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
// Behind the background.
const std::vector<double> kScores = {0, 0.5, 0.7, 0, 0.9, 0.1, 0, 0.2, 0.3, 0, 0.05, 0.04};
const std::vector<double> kBox0 = {0, 0, 1, 1}, kBox1 = {0.1, 0, 1.1, 1}, kBox2 = {9, 9, 11, 11},
                          kNoBox = {0, 0, 0, 0};

struct Expected {
  std::vector<std::vector<double>> boxes;
  std::vector<double> classes;
  std::vector<double> scores;
  double count;
};

void CheckDetections(const std::string& file, const std::vector<std::vector<double>>& inputs,
                     const Expected& e) {
  const auto graph = ImportFile(file);
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  const auto out = RunEverywhere(*graph, InputsOf(*graph, inputs));
  std::vector<std::vector<double>> want = {{}, e.classes, e.scores, {e.count}};
  for (const auto& box : e.boxes) want[0].insert(want[0].end(), box.begin(), box.end());
  for (size_t i = 0; i < want.size(); ++i) {
    const auto got = out[i].ToDoubles();
    CAPTURE(i);
    REQUIRE(got.size() == want[i].size());
    for (size_t k = 0; k < got.size(); ++k) CHECK(got[k] == doctest::Approx(want[i][k]));
  }
}

TEST_CASE("tflite detection: anchors by their best scores") {
  CheckDetections(DetectionFile(DetectionOptions(3, 1), 3), {kBoxes, kScores},
                  {{kBox1, kBox2, kNoBox}, {0, 1, 0}, {0.9, 0.3, 0}, 2});
  CheckDetections(DetectionFile(DetectionOptions(1, 1), 1), {kBoxes, kScores},
                  {{kBox1}, {0}, {0.9}, 1});
  CheckDetections(DetectionFile(DetectionOptions(3, 2), 6), {kBoxes, kScores},
                  {{kBox1, kBox1, kBox2, kBox2, kNoBox, kNoBox},
                   {0, 1, 1, 0, 0, 0},
                   {0.9, 0.1, 0.3, 0.2, 0, 0},
                   2});
  // Without a background, and with numbers behind those of the boxes.
  const std::vector<double> scores = {0.5, 0.7, 0.9, 0.1, 0.2, 0.3, 0.05, 0.04};
  const std::vector<double> boxes = {0, 0, 0, 0, 7, 0.1, 0, 0, 0, 7, 0, 0, 0, 0, 7, 0, 0, 0, 0, 7};
  CheckDetections(DetectionFile(DetectionOptions(3, 1), 3, {{1, 4, 2}}, 5), {boxes, scores},
                  {{kBox1, kBox2, kNoBox}, {0, 1, 0}, {0.9, 0.3, 0}, 2});
}

TEST_CASE("tflite detection: each class by itself") {
  CheckDetections(DetectionFile(DetectionOptions(4, 1, Regular()), 4), {kBoxes, kScores},
                  {{kBox1, kBox0, kBox2, kNoBox}, {0, 1, 1, 0}, {0.9, 0.7, 0.3, 0}, 3});
  CheckDetections(DetectionFile(DetectionOptions(2, 1, Regular()), 2), {kBoxes, kScores},
                  {{kBox1, kBox0}, {0, 1}, {0.9, 0.7}, 2});
  CheckDetections(DetectionFile(DetectionOptions(4, 1, Regular(1)), 4), {kBoxes, kScores},
                  {{kBox1, kBox0, kNoBox, kNoBox}, {0, 1, 0, 0}, {0.9, 0.7, 0, 0}, 2});
  const std::vector<double> none(12, 0.1);
  CheckDetections(DetectionFile(DetectionOptions(2, 1, Regular()), 2), {kBoxes, none},
                  {{kNoBox, kNoBox}, {0, 0}, {0, 0}, 0});
}

TEST_CASE("tflite detection: scales of boxes, quantized scores") {
  const auto options =
      DetectionOptions(1, 1, [](flexbuffers::Builder& b) { b.Float("w_scale", 2); });
  // e^(2 ln 2 / 2) = 2: the width doubles.
  CheckDetections(DetectionFile(options, 1),
                  {{0, 0, 0, 1.3862944, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, kScores},
                  {{{5, 0, 6, 1}}, {0}, {0.9}, 1});
  const CustomTensor scores = {{1, 4, 3}, {}, fb::TensorType::UINT8, 0.125f};
  CheckDetections(DetectionFile(DetectionOptions(2, 1), 2, scores),
                  {kBoxes, {0, 4, 5, 0, 7, 1, 0, 2, 3, 0, 0, 0}},
                  {{kBox1, kBox2}, {0, 1}, {0.875, 0.375}, 2});
}

TEST_CASE("tflite detection: refusals") {
  const auto error_of = [](const std::string& file) {
    const auto graph = ImportFile(file);
    REQUIRE(!graph.has_value());
    return graph.error().message();
  };
  const auto ends = [&](const std::string& file, std::string_view text) {
    const std::string message = error_of(file);
    CHECK_MESSAGE(message.ends_with(text), message);
  };
  ends(DetectionFile({1, 2, 3}, 1), "the options are not a flexbuffer with a map");
  ends(DetectionFile({}, 1), "the options are not a flexbuffer with a map");
  ends(DetectionFile(DetectionOptions(1, 1, [](flexbuffers::Builder&) {}), 1),
       "the option w_scale is missing or not a number");
  ends(DetectionFile(DetectionOptions(0, 1), 1),
       "the option max_detections is 0; must be 1 to 1048576");
  ends(DetectionFile(DetectionOptions(1, 3), 3),
       "max_classes_per_detection is 3, of 2 classes; the kernel leaves the other results "
       "undefined");
  ends(DetectionFile(DetectionOptions(1, 2, Regular()), 2),
       "max_classes_per_detection is 2, of 1 with use_regular_nms; the kernel leaves the other "
       "results undefined");
  ends(DetectionFile(DetectionOptions(1, 1), 1, {{1, 4, 5}}),
       "the scores are f32[4, 5], but num_classes is 2");
}

// ---- AudioSpectrogram, Mfcc

std::vector<double> OutputOf(const std::string& file, const std::vector<double>& x) {
  const auto graph = ImportFile(file);
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  return RunEverywhere(*graph, InputsOf(*graph, {x}))[0].ToDoubles();
}

TEST_CASE("tflite AudioSpectrogram: windows of Hann in a power of two of samples") {
  const auto spectrogram = [](int64_t window, int64_t stride, int64_t squared, int32_t samples,
                              int32_t channels, std::vector<int32_t> y) {
    return FileOfCustom(
        "AudioSpectrogram",
        IntOptions({{"window_size", window}, {"stride", stride}, {"magnitude_squared", squared}}),
        {{{samples, channels}}}, {{std::move(y)}});
  };
  // 0, 0.5, 1, 0.5
  CHECK(OutputOf(spectrogram(4, 2, 1, 6, 1, {1, 2, 3}), {1, 1, 1, 1, 1, 1}) ==
        std::vector<double>{4, 1, 0, 4, 1, 0});
  CHECK(OutputOf(spectrogram(4, 3, 1, 4, 2, {2, 1, 3}), {1, 3, 1, 3, 1, 3, 1, 3}) ==
        std::vector<double>{4, 1, 0, 36, 9, 0});
  // 0, 0.75, 0.75 and a zero
  const std::vector<double> y = OutputOf(spectrogram(3, 1, 0, 4, 1, {1, 2, 3}), {1, 1, 1, 1});
  for (const size_t t : {size_t{0}, size_t{3}}) {
    CHECK(y[t] == 1.5);
    CHECK(y[t + 1] == doctest::Approx(std::sqrt(1.125)).epsilon(1e-6));
    CHECK(y[t + 2] == 0);
  }
  const auto refused = ImportFile(spectrogram(1, 1, 0, 4, 1, {1, 2, 3}));
  REQUIRE(!refused.has_value());
  CHECK(refused.error().message().ends_with("the option window_size is 1; must be 2 to 1048576"));
}

// The frame and the coefficients of the kernel's own test, with its tolerance.
TEST_CASE("tflite Mfcc: coefficients of a rising spectrum") {
  const std::string file = FileOfCustom(
      "Mfcc",
      IntOptions({{"upper_frequency_limit", 4000},
                  {"lower_frequency_limit", 20},
                  {"filterbank_channel_count", 40},
                  {"dct_coefficient_count", 13}}),
      {{{1, 1, 513}}, {{1}, {std::bit_cast<float>(22050)}, fb::TensorType::INT32}}, {{{1, 1, 13}}});
  std::vector<double> x;
  for (int i = 1; i <= 513; ++i) x.push_back(i);
  const std::vector<double> want = {29.13970072, -6.41568601, -0.61903012, -0.96778652, -0.26819878,
                                    -0.40907028, -0.15614748, -0.23203119, -0.10481487, -0.1543029,
                                    -0.0769791,  -0.10806114, -0.06047613};
  const std::vector<double> y = OutputOf(file, x);
  REQUIRE(y.size() == want.size());
  for (size_t i = 0; i < y.size(); ++i) CHECK(std::abs(y[i] - want[i]) < 1e-3);
}

TEST_CASE("tflite: operators of TensorFlow are refused with what to do") {
  const auto refused = ImportFile(FileOfCustom("FlexStringLength", {}, {{{2}}}, {{{2}}}));
  REQUIRE(!refused.has_value());
  CHECK(refused.error().message().ends_with(
      "CUSTOM FlexStringLength is an operator of TensorFlow, which LiteRT runs by its Flex "
      "delegate; export the model without SELECT_TF_OPS, or cut the operator off with nnconvert "
      "--extract"));
}

// ---- MaxUnpooling2D

TEST_CASE("tflite unpooling: positions in each image") {
  // Padding SAME, strides of 2 and 1, a filter of 2 and 1.
  const std::vector<int32_t> numbers = {1, 2, 1, 2, 1};
  std::vector<uint8_t> options(4 * numbers.size());
  std::memcpy(options.data(), numbers.data(), options.size());
  const std::string file =
      FileOfCustom("MaxUnpooling2D", options,
                   {{{2, 1, 2, 1}}, {{2, 1, 2, 1}, {}, fb::TensorType::INT32}}, {{{2, 1, 4, 1}}});
  const auto graph = ImportFile(file);
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  const auto out = RunEverywhere(*graph, InputsOf(*graph, {{5, 7, 1, 2}, {0, 3, 2, 1}}));
  CHECK(out[0].ToDoubles() == std::vector<double>{5, 0, 0, 7, 0, 2, 1, 0});
}

// ---- Convolution2DTransposeBias

// Padding, strides of width and height.
std::vector<uint8_t> TransposeOptions(std::array<int32_t, 3> numbers) {
  std::vector<uint8_t> options(sizeof(numbers));
  std::memcpy(options.data(), numbers.data(), options.size());
  return options;
}

TEST_CASE("tflite transposed convolution with a bias") {
  const auto import = [](const std::vector<uint8_t>& options, int width) {
    return ImportFile(FileOfCustom("Convolution2DTransposeBias", options,
                                   {{{1, 1, 2, 1}}, {{1, 1, 3, 1}, {1, 2, 3}}, {{1}, {0.5}}},
                                   {{{1, 1, width, 1}}}));
  };
  const auto valid = import(TransposeOptions({2, 2, 1}), 5);
  REQUIRE_MESSAGE(valid.has_value(), valid.error().message());
  CHECK(RunEverywhere(*valid, InputsOf(*valid, {{1, 10}}))[0].ToDoubles() ==
        std::vector<double>{1.5, 2.5, 13.5, 20.5, 30.5});
  const auto same = import(TransposeOptions({1, 2, 1}), 4);
  REQUIRE_MESSAGE(same.has_value(), same.error().message());
  CHECK(RunEverywhere(*same, InputsOf(*same, {{1, 10}}))[0].ToDoubles() ==
        std::vector<double>{1.5, 2.5, 13.5, 20.5});
  // One element is cropped on each side.
  const auto narrow = import(TransposeOptions({1, 1, 1}), 2);
  REQUIRE_MESSAGE(narrow.has_value(), narrow.error().message());
  CHECK(RunEverywhere(*narrow, InputsOf(*narrow, {{1, 10}}))[0].ToDoubles() ==
        std::vector<double>{12.5, 23.5});
  CHECK(!import(TransposeOptions({0, 1, 1}), 4).has_value());
  CHECK(!import(TransposeOptions({2, 0, 1}), 4).has_value());
  CHECK(!import({1, 0}, 4).has_value());
}

// ---- RFFT2D, a custom operator before it was built in

TEST_CASE("tflite real transform: the custom operator") {
  const auto graph =
      ImportFile(FileOfCustom("RFFT2D", {}, {{{2, 2}}, {{2}, {}, fb::TensorType::INT32}},
                              {{{2, 2}, {}, fb::TensorType::COMPLEX64}}));
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  const auto out = RunEverywhere(*graph, InputsOf(*graph, {{1, 2, 4, 8}, {2, 2}}));
  REQUIRE(out[0].byte_size() == 4 * 2 * sizeof(float));
  std::array<float, 8> parts{};
  std::memcpy(parts.data(), out[0].blob().data(), sizeof(parts));
  CHECK(parts == std::array<float, 8>{15, 0, -5, 0, -9, 0, 3, 0});
}

}  // namespace
}  // namespace nn::test::tflite_custom_test
