#include <doctest/doctest.h>

#include <cmath>

#include "exec/program.h"
#include "formats/coreml/import.h"
#include "formats/coreml/native.h"
#include "formats/coreml/weights.h"
#include "passes/legalize.h"
#include "support/run_graph.h"

namespace nn::test::coreml_import_test {
namespace {

using coreml::Model;
using coreml::Writer;

// A model with one network, built by the names of the schema.
struct Built {
  Model model;
  Writer root = model.writer();
  Writer description = root.Sub("description");
  Writer network;

  explicit Built(std::string_view kind = "neuralNetwork") : network(root.Sub(kind)) {
    root.Int("specificationVersion", 4);
  }
  Built& Exact() {
    network.Enum("arrayInputShapeMapping", "EXACT_ARRAY_MAPPING");
    network.Enum("imageInputShapeMapping", "RANK4_IMAGE_MAPPING");
    return *this;
  }
  Writer Feature(std::string_view list, std::string_view name) {
    Writer f = description.Add(list);
    f.Text("name", name);
    return f.Sub("type");
  }
  Built& Array(std::string_view list, std::string_view name, const std::vector<int64_t>& shape) {
    Writer array = Feature(list, name).Sub("multiArrayType");
    array.Ints("shape", shape);
    array.Enum("dataType", "DOUBLE");
    return *this;
  }
  Writer Layer(std::string_view kind, const std::vector<std::string>& inputs,
               const std::string& output) {
    Writer layer = network.Add("layers");
    layer.Text("name", output + "/" + std::string(kind));
    for (const std::string& s : inputs) layer.AddText("input", s);
    layer.AddText("output", output);
    return layer.Sub(kind);
  }
};

ImportedModel Imported(const Built& b) {
  auto imported = coreml::Import(b.model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  return *std::move(imported);
}

std::string ImportError(const Built& b) {
  const auto imported = coreml::Import(b.model);
  return imported.has_value() ? std::string() : imported.error().message();
}

std::vector<double> Output(const Graph& graph, const std::vector<std::vector<double>>& inputs) {
  auto program = Program::Compile(graph, {});
  REQUIRE_MESSAGE(program.has_value(), program.error().message());
  const auto outputs = program->Run(InputsOf(graph, inputs));
  REQUIRE_MESSAGE(outputs.has_value(), outputs.error().message());
  return outputs->front().ToDoubles();
}

TEST_CASE("coreml: a blob that is written twice is two values") {
  Built b;
  b.Exact().Array("input", "x", {2}).Array("output", "y", {2});
  b.Layer("multiply", {"x"}, "y").Float("alpha", 3);
  b.Layer("add", {"y"}, "y").Float("alpha", 1);
  const ImportedModel m = Imported(b);
  CHECK(Output(m.graph, {{1, 2}}) == std::vector<double>{4, 7});
}

TEST_CASE("coreml: rank-5 mapping") {
  Built b;
  b.Array("input", "x", {2, 1, 2}).Array("output", "y", {2});
  b.Layer("flatten", {"x"}, "f");
  Writer p = b.Layer("innerProduct", {"f"}, "y");
  p.Int("inputChannels", 4);
  p.Int("outputChannels", 2);
  p.Sub("weights").Floats("floatValue", {1, 0, 0, 0, 0, 1, 1, 1});
  p.Bool("hasBias", true);
  p.Sub("bias").Floats("floatValue", {10, 20});
  const ImportedModel m = Imported(b);
  CHECK(m.graph.inputs()[0].value->type().ToString() == "f32[2, 1, 2]");
  CHECK(m.graph.outputs()[0].value->type().ToString() == "f32[2]");
  CHECK(Output(m.graph, {{1, 2, 3, 4}}) == std::vector<double>{11, 29});
}

TEST_CASE("coreml: rank-5 mapping takes arrays of rank 1 and 3") {
  Built b;
  b.Array("input", "x", {2, 2});
  CHECK(ImportError(b) == "input \"x\": the array has rank 2, but the network needs rank 1 or 3");
}

TEST_CASE("coreml: images are scaled and shifted in the order of their colors") {
  Built b;
  Writer image = b.Exact().Feature("input", "image").Sub("imageType");
  image.Int("width", 2);
  image.Int("height", 1);
  image.Enum("colorSpace", "BGR");
  b.Array("output", "y", {1, 3, 1, 2});
  Writer scaler = b.network.Add("preprocessing").Sub("scaler");
  scaler.Float("channelScale", 2);
  scaler.Float("blueBias", 1);
  scaler.Float("greenBias", 2);
  scaler.Float("redBias", 3);
  b.Layer("activation", {"image"}, "y").Sub("ReLU");
  const ImportedModel m = Imported(b);
  CHECK(m.graph.inputs()[0].value->type().ToString() == "f32[1, 3, 1, 2]");
  CHECK(Output(m.graph, {{1, 2, 3, 4, 5, 6}}) == std::vector<double>{3, 5, 8, 10, 13, 15});
}

// What a constant of the given shape holds, its weights being written by `write`.
template <typename Fn>
std::vector<double> Constant(const std::vector<int64_t>& shape, Fn write) {
  Built b;
  b.Exact().Array("input", "x", shape).Array("output", "y", shape);
  Writer layer = b.Layer("loadConstantND", {}, "w");
  layer.Ints("shape", shape);
  write(layer.Sub("data"));
  b.Layer("copy", {"w"}, "y");
  const ImportedModel m = Imported(b);
  return m.graph.outputs()[0].value->constant().ToDoubles();
}

TEST_CASE("coreml: forms of weights") {
  CHECK(Constant({2}, [](Writer w) {
          w.Text("float16Value", std::string("\x00\x3C\x00\xC0", 4));
        }) == std::vector<double>{1, -2});
  // 4 bits each, the high ones first; a scale and bias for each row.
  CHECK(Constant({2, 2}, [](Writer w) {
          w.Text("rawValue", "\x12\x3F");
          Writer q = w.Sub("quantization");
          q.Int("numberOfBits", 4);
          q.Sub("linearQuantization").Floats("scale", {2, 10});
          q.Sub("linearQuantization").Floats("bias", {1, -1});
        }) == std::vector<double>{3, 5, 29, 149});
  CHECK(Constant({3}, [](Writer w) {
          w.Text("rawValue", "\xA0");
          Writer q = w.Sub("quantization");
          q.Int("numberOfBits", 1);
          q.Sub("lookupTableQuantization").Floats("floatValue", {-5, 7});
        }) == std::vector<double>{7, -5, 7});
}

TEST_CASE("coreml: layer weights of at most 256 values are 8-bit indices, bit for bit") {
  const auto form = [](size_t distinct, int64_t rows) {
    std::vector<float> x;
    for (int64_t i = 0; i < rows * 50; ++i)
      x.push_back(0.007f * static_cast<float>(static_cast<size_t>(i) % distinct) - 0.9f);
    x[0] = -0.0f;
    x[1] = 0.0f;
    const Tensor t = Tensor::Of({rows, 50}, x);
    Model model;
    Writer weights =
        model.writer().Sub("neuralNetwork").Add("layers").Sub("convolution").Sub("weights");
    coreml::WriteLayerWeights(weights, t);
    const coreml::Fields fields(weights.message(), model.payloads);
    const auto read = coreml::ReadWeights(fields, t.dims());
    REQUIRE_MESSAGE(read.has_value(), read.error().message());
    CHECK(read->Identical(t));
    return coreml::WeightForm(fields);
  };
  CHECK(form(1, 20) == "8-bit, lookup table");
  CHECK(form(254, 20) == "8-bit, lookup table");
  CHECK(form(255, 20) == "float32");  // and two zeros
  CHECK(form(3, 6) == "float32");     // smaller than a table
}

TEST_CASE("coreml: labels of a classifier survive") {
  Built b("neuralNetworkClassifier");
  b.Exact().Array("input", "x", {2});
  b.Feature("output", "scores").Sub("dictionaryType").Sub("stringKeyType");
  b.Feature("output", "label").Sub("stringType");
  b.description.Text("predictedFeatureName", "label");
  b.description.Text("predictedProbabilitiesName", "scores");
  Writer labels = b.network.Sub("stringClassLabels");
  labels.AddText("vector", "cat");
  labels.AddText("vector", "dog");
  b.Layer("softmaxND", {"x"}, "p").Int("axis", -1);
  ImportedModel m = Imported(b);
  REQUIRE(m.graph.outputs().size() == 1);
  CHECK(m.graph.outputs()[0].name == "scores");
  const Format* format = FindFormat("coreml");
  REQUIRE(Legalize(m.graph, *format->target).has_value());
  const auto image = format->write(m.graph, {});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  std::string bytes;
  for (const Blob& part : image->parts)
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  const auto again = format->read(Blob::Copy(std::as_bytes(std::span(bytes))), "m.mlmodel", {});
  REQUIRE(again.has_value());
  const auto& written = static_cast<const Model&>(**again);
  CHECK(written.kind() == "neuralNetworkClassifier");
  CHECK(written.network().Sub("stringClassLabels").Texts("vector") ==
        std::vector<std::string>{"cat", "dog"});
  // What is cut short is an error or another model, and no crash.
  for (size_t n = 0; n < bytes.size(); ++n) {
    const auto part =
        format->read(Blob::Copy(std::as_bytes(std::span(bytes).first(n))), "m.mlmodel", {});
    if (part.has_value()) CHECK_NOTHROW((void)format->import(**part));
  }
}

TEST_CASE("coreml: layers without an operator are named, all of them") {
  Built b;
  b.Exact().Array("input", "x", {2}).Array("output", "z", {2});
  b.Layer("randomNormalLike", {"x"}, "y");
  b.Layer("activation", {"y"}, "u").Sub("ReLU");
  b.Layer("custom", {"u"}, "z");
  const ImportedModel m = Imported(b);
  REQUIRE(m.unsupported.size() == 2);
  CHECK(m.unsupported[0].reason == "layer randomNormalLike is unsupported");
  CHECK(m.unsupported[1].reason == "layer custom is unsupported");
}

TEST_CASE("coreml: errors name the layer") {
  Built b;
  b.Exact().Array("input", "x", {1, 2, 4, 4}).Array("output", "y", {1, 3, 2, 2});
  Writer p = b.Layer("convolution", {"x"}, "y");
  p.Int("outputChannels", 3);
  p.Int("kernelChannels", 2);
  p.Sub("weights").Floats("floatValue", {1, 2});
  CHECK(ImportError(b) ==
        "layer 0 (convolution \"y/convolution\"): weights: there are 2 weights; expected 54");
}

TEST_CASE("coreml: other kinds of models are named") {
  Built b("pipeline");
  CHECK(ImportError(b) == "pipeline: only neural networks of layers are supported");
}

}  // namespace
}  // namespace nn::test::coreml_import_test
