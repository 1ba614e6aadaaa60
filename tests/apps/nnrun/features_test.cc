// Images and classes of Core ML models in nnrun, and in nnconvert's verification.
#include <doctest/doctest.h>

#include "apps/program.h"
#include "base/file/file.h"
#include "base/json/json.h"
#include "support/files.h"
#include "tensorio/npy.h"
#include "tensorio/npz.h"

namespace nn::test::nnrun_features_test {
namespace {

ProgramResult Run(const std::string& arguments) {
  return RunProgram("nnrun " + arguments);
}

// "name": values of the outputs.
Json OutputsOf(const std::string& arguments) {
  const ProgramResult r = Run("--format json " + arguments);
  REQUIRE_MESSAGE(r.code == 0, r.err);
  const Json report = Json::parse(r.out);
  Json values = Json::object();
  for (const Json& output : report["outputs"])
    values[output["name"].get<std::string>()] = output["first"];
  return values;
}

void WriteArray(const std::string& path, const Tensor& t) {
  REQUIRE(WriteFile(path, *NpyImage(t)).has_value());
}

std::vector<NamedTensor> ReadArrays(const std::string& path) {
  auto arrays = ReadNpz(*ReadFile(path));
  REQUIRE_MESSAGE(arrays.has_value(), arrays.error().message());
  return *std::move(arrays);
}

// The mean of each channel of an image, as a dump of a model of this kind.
Json ImageModel(const char* colors, const char* mapping = "RANK4_IMAGE_MAPPING") {
  const Json image = {{"width", 2}, {"height", 1}, {"colorSpace", colors}};
  const Json y = {{"name", "y"}, {"type", {{"multiArrayType", {{"dataType", "FLOAT32"}}}}}};
  const bool rank5 = std::string_view(mapping).starts_with("RANK5");
  const Json reduce = {{"name", "reduce"},
                       {"input", {"image"}},
                       {"output", {"y"}},
                       {"reduceMean", {{"axes", {rank5 ? 4 : 3}}, {"keepDims", false}}}};
  return {{"nn_dump", 1},
          {"format", "coreml"},
          {"model",
           {{"specificationVersion", 4},
            {"description",
             {{"input", {{{"name", "image"}, {"type", {{"imageType", image}}}}}}, {"output", {y}}}},
            {"neuralNetwork",
             {{"layers", {reduce}},
              {"arrayInputShapeMapping", "EXACT_ARRAY_MAPPING"},
              {"imageInputShapeMapping", mapping}}}}}};
}

TEST_CASE("features: images as picture files have them") {
  const TempDir dir;
  WriteArray(dir / "rgb.npy", Tensor::Of<uint8_t>({1, 2, 3}, {1, 10, 100, 3, 30, 200}));
  WriteArray(dir / "batch.npy", Tensor::Of<uint8_t>({1, 1, 2, 3}, {1, 10, 100, 3, 30, 200}));
  WriteArray(dir / "reals.npy", Tensor::Of<double>({1, 2, 3}, {1, 10, 100, 3, 30, 200}));
  WriteArray(dir / "planes.npy", Tensor::Of<float>({1, 3, 1, 2}, {1, 3, 10, 30, 100, 200}));
  WriteArray(dir / "gray.npy", Tensor::Of<uint8_t>({1, 2}, {5, 7}));
  WriteArray(dir / "alpha.npy", Tensor::Of<uint8_t>({1, 2, 4}, std::vector<uint8_t>(8)));
  for (const char* mapping : {"RANK4_IMAGE_MAPPING", "RANK5_IMAGE_MAPPING"}) {
    WriteText(dir / "rgb.json", ImageModel("RGB", mapping).dump());
    WriteText(dir / "bgr.json", ImageModel("BGR", mapping).dump());
    for (const char* file : {"rgb.npy", "batch.npy", "reals.npy"}) {
      CHECK(OutputsOf(dir / "rgb.json --input image=" + dir / file)["y"] == Json{2., 20., 150.});
      CHECK(OutputsOf(dir / "bgr.json --input image=" + dir / file)["y"] == Json{150., 20., 2.});
    }
    // The declared layout has the order of the model.
    for (const char* model : {"rgb.json", "bgr.json"})
      CHECK(OutputsOf(dir / model + " --input image=" + dir / "planes.npy")["y"] ==
            Json{2., 20., 150.});
    for (const char* colors : {"GRAYSCALE", "GRAYSCALE_FLOAT16"}) {
      Json gray = ImageModel(colors, mapping);
      if (std::string_view(colors) != "GRAYSCALE") gray["model"]["specificationVersion"] = 7;
      WriteText(dir / "gray.json", gray.dump());
      CHECK(OutputsOf(dir / "gray.json --input image=" + dir / "gray.npy")["y"] == Json{6.});
    }
  }
  const ProgramResult alpha = Run(dir / "rgb.json --input image=" + dir / "alpha.npy");
  CHECK(alpha.code == 2);
  CHECK(Contains(alpha.err, "u8[1, 2, 4]"));
  const ProgramResult verified = RunProgram("nnconvert " + dir / "bgr.json " + dir / "m.onnx" +
                                            " --verify-inputs image=" + dir / "rgb.npy");
  CHECK_MESSAGE(verified.code == 0, verified.err);
}

// A classifier that returns its input as scores.
Json Classifier(const char* list, const Json& labels, const Json& scores_type) {
  const bool strings = std::string_view(list) == "stringClassLabels";
  const Json x = {{"name", "x"},
                  {"type", {{"multiArrayType", {{"shape", {3}}, {"dataType", "FLOAT32"}}}}}};
  const Json label = {{"name", "label"},
                      {"type", {{strings ? "stringType" : "int64Type", Json::object()}}}};
  return {{"nn_dump", 1},
          {"format", "coreml"},
          {"model",
           {{"specificationVersion", 4},
            {"description",
             {{"input", {x}},
              {"output", {{{"name", "scores"}, {"type", scores_type}}, label}},
              {"predictedFeatureName", "label"},
              {"predictedProbabilitiesName", "scores"}}},
            {"neuralNetworkClassifier",
             {{"layers",
               {{{"name", "copy"},
                 {"input", {"x"}},
                 {"output", {"scores"}},
                 {"activation", {{"linear", {{"alpha", 1}}}}}}}},
              {"arrayInputShapeMapping", "EXACT_ARRAY_MAPPING"},
              {list, {{"vector", labels}}}}}}}};
}

Json Classifier() {
  return Classifier("stringClassLabels", {"cat", "dog", "emu"},
                    {{"dictionaryType", {{"stringKeyType", Json::object()}}}});
}

TEST_CASE("features: the predicted label of a classifier") {
  const TempDir dir;
  WriteText(dir / "m.json", Classifier().dump());
  const std::string run = dir / "m.json --input x=";
  const Json labels = {"cat", "dog", "emu"};
  CHECK(OutputsOf(run + "[0,2,1]") ==
        Json{{"scores", {0., 2., 1.}}, {"label", {"dog"}}, {"scores.labels", labels}});
  // The first of equal scores.
  CHECK(OutputsOf(run + "[1,2,2]")["label"] == Json{"dog"});
  CHECK(OutputsOf(run + "[-1,-2,-0.5]")["label"] == Json{"emu"});
  REQUIRE(Run(run + "[3,2,1] -o " + dir / "want.npz").code == 0);
  const auto arrays = ReadArrays(dir / "want.npz");
  REQUIRE(arrays.size() == 3);
  CHECK(arrays[0].tensor.Identical(Tensor::Of<float>({3}, {3, 2, 1})));
  CHECK(arrays[1].name == "label");
  CHECK(arrays[1].tensor.Identical(Tensor({1}, {"cat"})));
  CHECK(arrays[2].name == "scores.labels");
  CHECK(arrays[2].tensor.Identical(Tensor({3}, {"cat", "dog", "emu"})));
  // The expected label is compared; models without labels ignore it.
  const std::string expect = " --expect " + dir / "want.npz";
  CHECK(Run(run + "[3,2,1]" + expect).code == 0);
  const ProgramResult other = Run(run + "[1,2,3] --atol 9" + expect);
  CHECK(other.code == 1);
  CHECK(Contains(other.out, "label"));
  REQUIRE(RunProgram("nnconvert " + dir / "m.json " + dir / "m.onnx").code == 0);
  CHECK(Run(dir / "m.onnx --input x=[3,2,1]" + expect).code == 0);
  // The digest is that of the tensors of the graph.
  CHECK(Run(run + "[3,2,1] --digest").out == Run(dir / "m.onnx --input x=[3,2,1] --digest").out);
  const ProgramResult safe = Run(run + "[3,2,1] -o " + dir / "want.safetensors");
  CHECK(safe.code == 0);
  CHECK(Contains(safe.err, "safetensors has no strings"));
}

TEST_CASE("features: integer labels, and scores that are not one for each class") {
  const TempDir dir;
  const Json type = {{"dictionaryType", {{"int64KeyType", Json::object()}}}};
  WriteText(dir / "i.json", Classifier("int64ClassLabels", {7, -5, 1}, type).dump());
  CHECK(OutputsOf(dir / "i.json --input x=[0,2,1]") ==
        Json{{"scores", {0., 2., 1.}}, {"label", {-5}}, {"scores.labels", {7, -5, 1}}});
  CHECK(Run(dir / "i.json --input x=[0,2,1] -o " + dir / "i.safetensors").err.empty());
  WriteText(dir / "two.json", Classifier("int64ClassLabels", {7, 8}, type).dump());
  const ProgramResult two = Run(dir / "two.json --input x=[0,2,1]");
  CHECK(two.code == 0);
  CHECK(Contains(two.err,
                 "output \"scores\" has the shape [3], which is not one score for each "
                 "of 2 classes"));
}

}  // namespace
}  // namespace nn::test::nnrun_features_test
