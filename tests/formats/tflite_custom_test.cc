// Custom operators that TensorFlow Lite itself has, in files of one operator, with results computed
// by hand.
#include <doctest/doctest.h>
#include <flatbuffers/flexbuffers.h>
#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "formats/tflite_file.h"
#include "support/run_graph.h"

namespace nn::test::tflite_custom_test {
namespace {

namespace fb = tflite::fb;

struct CustomTensor {
  std::vector<int32_t> shape;
  std::vector<float> contents = {};  // of a constant
  fb::TensorType type = fb::TensorType::FLOAT32;
  float scale = 0;  // of a quantized one
};

// A model of one operator. Its inputs without contents are those of the model.
std::string FileOfCustom(const std::string& name, const std::vector<uint8_t>& options,
                         const std::vector<CustomTensor>& inputs,
                         const std::vector<CustomTensor>& outputs) {
  flatbuffers::FlatBufferBuilder b;
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers = {fb::CreateBuffer(b)};
  std::vector<flatbuffers::Offset<fb::Tensor>> tensors;
  std::vector<int32_t> from, to, interface;
  const auto add = [&](const CustomTensor& t, std::vector<int32_t>& list) {
    uint32_t buffer = 0;
    if (!t.contents.empty()) {
      std::vector<uint8_t> bytes(4 * t.contents.size());
      std::memcpy(bytes.data(), t.contents.data(), bytes.size());
      b.ForceVectorAlignment(bytes.size(), 1, 16);
      buffer = static_cast<uint32_t>(buffers.size());
      buffers.push_back(fb::CreateBuffer(b, b.CreateVector(bytes)));
    }
    flatbuffers::Offset<fb::QuantizationParameters> quant;
    if (t.scale != 0)
      quant = fb::CreateQuantizationParameters(b, 0, 0, b.CreateVector(std::vector<float>{t.scale}),
                                               b.CreateVector(std::vector<int64_t>{0}));
    const auto index = static_cast<int32_t>(tensors.size());
    tensors.push_back(fb::CreateTensor(b, b.CreateVector(t.shape), t.type, buffer,
                                       b.CreateString(fmt::format("t{}", index)), quant));
    list.push_back(index);
    if (&list == &from && t.contents.empty()) interface.push_back(index);
  };
  for (const CustomTensor& t : inputs) add(t, from);
  for (const CustomTensor& t : outputs) add(t, to);
  const auto node = fb::CreateOperator(b, 0, b.CreateVector(from), b.CreateVector(to),
                                       fb::BuiltinOptions::NONE, 0, b.CreateVector(options));
  const auto code =
      fb::CreateOperatorCode(b, 32, b.CreateString(name), 1, fb::BuiltinOperator::CUSTOM);
  const auto graph = fb::CreateSubGraph(b, b.CreateVector(tensors), b.CreateVector(interface),
                                        b.CreateVector(to), b.CreateVector(&node, 1));
  b.Finish(fb::CreateModel(b, 3, b.CreateVector(&code, 1), b.CreateVector(&graph, 1), 0,
                           b.CreateVector(buffers)),
           fb::ModelIdentifier());
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

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

}  // namespace
}  // namespace nn::test::tflite_custom_test
