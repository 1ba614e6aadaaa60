#include <doctest/doctest.h>

#include <cmath>

#include "exec/program.h"
#include "formats/coreml/coreml.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/file/weights.h"
#include "formats/coreml/import/import.h"
#include "formats/coreml/roles.h"
#include "rewrite/legalize.h"
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
  auto imported = coreml::CoremlImporter().Import(b.model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  return *std::move(imported);
}

std::string ImportError(const Built& b) {
  const auto imported = coreml::CoremlImporter().Import(b.model);
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

// The contents of a constant of the given shape whose weights `write` writes.
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

// The form in which weights are stored, which are read with the same bits.
std::string LayerWeightForm(const Tensor& t) {
  Model model;
  Writer weights =
      model.writer().Sub("neuralNetwork").Add("layers").Sub("convolution").Sub("weights");
  coreml::WriteLayerWeights(weights, t, /*is_trial=*/false);
  const coreml::Fields fields(weights.message(), model.payloads);
  const auto read = coreml::ReadWeights(fields, t.dims());
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  CHECK(read->Identical(t));
  return coreml::WeightForm(fields);
}

TEST_CASE("coreml: weights in a trial are not searched for a smaller form") {
  const Tensor zeros = Tensor::Of({20, 50}, std::vector<float>(1000, 0.0f));
  CHECK(LayerWeightForm(zeros) != "float32");
  Model model;
  Writer weights =
      model.writer().Sub("neuralNetwork").Add("layers").Sub("convolution").Sub("weights");
  coreml::WriteLayerWeights(weights, zeros, /*is_trial=*/true);
  const coreml::Fields fields(weights.message(), model.payloads);
  CHECK(coreml::WeightForm(fields) == "float32");
  CHECK(coreml::WeightCount(fields) == 1000);
}

TEST_CASE("coreml: layer weights of at most 256 values are indices, bit for bit") {
  const auto form = [](size_t distinct, int64_t rows) {
    std::vector<float> x;
    for (int64_t i = 0; i < rows * 50; ++i)
      x.push_back(0.007f * static_cast<float>(static_cast<size_t>(i) % distinct) - 0.9f);
    x[0] = -0.0f;
    x[1] = 0.0f;
    return LayerWeightForm(Tensor::Of({rows, 50}, x));
  };
  CHECK(form(1, 20) == "2-bit, lookup table");  // with two zeros
  CHECK(form(3, 20) == "3-bit, lookup table");
  CHECK(form(14, 20) == "4-bit, lookup table");
  CHECK(form(254, 20) == "8-bit, lookup table");
  CHECK(form(255, 20) == "float32");
  CHECK(form(100, 2) == "float32");  // smaller than a table
}

TEST_CASE("coreml: layer weights with a scale for each row are integers, bit for bit") {
  const auto form = [](int64_t most, float scale) {
    std::vector<float> x;
    for (int64_t row = 0; row < 40; ++row)
      for (int64_t i = 0; i < 64; ++i) {
        const int64_t integer = i == 0 ? most : (i * 37 + row) % (2 * most + 1) - most;
        x.push_back(static_cast<float>(integer) * scale * static_cast<float>(row + 1));
      }
    return LayerWeightForm(Tensor::Of({40, 64}, x));
  };
  CHECK(form(127, 0x1.3p-8f) == "8-bit, linear");
  CHECK(form(7, 0x1.3p-8f) == "4-bit, linear");
  // The sum of product and bias would round.
  CHECK(form(127, 0.0123456f) == "float32");
  CHECK(form(100, 0x1.3p-8f) == "float32");
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
  const auto image = format->writer.Write(m.graph, {});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  std::string bytes;
  for (const Blob& part : image->parts)
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  const auto again =
      format->reader.Read(Blob::Copy(std::as_bytes(std::span(bytes))), "m.mlmodel", {});
  REQUIRE(again.has_value());
  const auto& written = static_cast<const Model&>(**again);
  CHECK(written.kind() == "neuralNetworkClassifier");
  CHECK(written.network().Sub("stringClassLabels").Texts("vector") ==
        std::vector<std::string>{"cat", "dog"});
  // A truncated file is an error or another model, not a crash.
  for (size_t n = 0; n < bytes.size(); ++n) {
    const auto part =
        format->reader.Read(Blob::Copy(std::as_bytes(std::span(bytes).first(n))), "m.mlmodel", {});
    if (part.has_value()) CHECK_NOTHROW((void)format->importer.Import(**part));
  }
}

// The first output of a model whose inputs have the given shapes and whose layers `add` adds.
using Shapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;
template <typename Fn>
std::vector<double> Run(const Shapes& inputs, const std::vector<std::vector<double>>& values,
                        Fn add) {
  Built b;
  b.Exact();
  for (const auto& [name, shape] : inputs) b.Array("input", name, shape);
  b.Feature("output", "y").Sub("multiArrayType").Enum("dataType", "DOUBLE");
  add(b);
  const ImportedModel m = Imported(b);
  for (const UnsupportedNode& u : m.unsupported) CAPTURE(u.reason);
  REQUIRE(m.unsupported.empty());
  return Output(m.graph, values);
}

void AddRnn(Built& b, bool reverse, bool sequence) {
  Writer p = b.Layer("simpleRecurrent", {"x"}, "y");
  p.Int("inputVectorSize", 1);
  p.Int("outputVectorSize", 1);
  p.Sub("activation").Sub("ReLU");
  p.Bool("sequenceOutput", sequence);
  p.Bool("reverseInput", reverse);
  p.Sub("weightMatrix").Floats("floatValue", {1});
  p.Sub("recursionMatrix").Floats("floatValue", {0.5});
}

TEST_CASE("coreml: a reversed recurrent layer returns its results in the order of its steps") {
  const Shapes x = {{"x", {2, 1, 1, 1, 1}}};
  const auto run = [&](bool reverse, bool sequence) {
    return Run(x, {{1, 2}}, [&](Built& b) { AddRnn(b, reverse, sequence); });
  };
  CHECK(run(false, true) == std::vector<double>{1, 2.5});
  CHECK(run(true, true) == std::vector<double>{2, 2});
  CHECK(run(false, false) == std::vector<double>{2.5});
  CHECK(run(true, false) == std::vector<double>{2});
}

TEST_CASE("coreml: arrays of a rank-5 network may be given with all axes") {
  Built b;
  b.Array("input", "x", {1});
  b.Feature("output", "y").Sub("multiArrayType").Enum("dataType", "DOUBLE");
  AddRnn(b, false, true);
  const auto type_with = [&](const std::vector<int64_t>& shape) {
    const auto m = coreml::CoremlImporter().ImportWithShapes(b.model, {{"x", shape}});
    REQUIRE(m.has_value());
    return m->graph.inputs()[0].value->type().ToString();
  };
  CHECK(type_with({3, 2, 1, 1, 1}) == "f32[3, 2, 1, 1, 1]");
  CHECK(type_with({3, 2, 4, 1, 1}) == "f32[1]");
  CHECK(type_with({3}) == "f32[1]");
  const auto m = coreml::CoremlImporter().ImportWithShapes(b.model, {{"x", {2, 1, 1, 1, 1}}});
  REQUIRE(m.has_value());
  CHECK(m->graph.outputs()[0].value->type().ToString() == "f32[2, 1, 1, 1, 1]");
  CHECK(Output(m->graph, {{1, 2}}) == std::vector<double>{1, 2.5});
}

void FillLstm(Writer weights) {
  for (const char* gate : {"input", "forget", "output"}) {
    weights.Sub(std::string(gate) + "GateWeightMatrix").Floats("floatValue", {1});
    weights.Sub(std::string(gate) + "GateRecursionMatrix").Floats("floatValue", {0});
  }
  weights.Sub("blockInputWeightMatrix").Floats("floatValue", {1});
  weights.Sub("blockInputRecursionMatrix").Floats("floatValue", {0});
}

// An LSTM of one unit whose gates are the input.
Writer AddLstm(Built& b, std::string_view kind, const std::vector<std::string>& lists) {
  Writer p = b.Layer(kind, {"x"}, "y");
  p.Int("inputVectorSize", 1);
  p.Int("outputVectorSize", 1);
  for (const std::string& list : lists)
    for (int i = 0; i < 3; ++i) p.Add(list).Sub("ReLU");
  p.Sub("params").Bool("sequenceOutput", true);
  return p;
}

TEST_CASE("coreml: cell states are limited, to 50 by default, and forget gates biased") {
  const auto run = [](float clip, bool bias) {
    return Run({{"x", {2, 1, 1, 1, 1}}}, {{3, 1}}, [&](Built& b) {
      Writer p = AddLstm(b, "uniDirectionalLSTM", {"activations"});
      FillLstm(p.Sub("weightParams"));
      p.Sub("params").Float("cellClipThreshold", clip);
      p.Sub("params").Bool("forgetBias", bias);
    });
  };
  CHECK(run(5, false) == std::vector<double>{15, 5});
  CHECK(run(100, false) == std::vector<double>{27, 10});
  CHECK(run(100, true) == std::vector<double>{27, 19});
  CHECK(run(0, true) == std::vector<double>{27, 19});
}

TEST_CASE("coreml: both directions of an LSTM have the order of the input") {
  CHECK(Run({{"x", {2, 1, 1, 1, 1}}}, {{1, 2}}, [](Built& b) {
          Writer p = AddLstm(b, "biDirectionalLSTM",
                             {"activationsForwardLSTM", "activationsBackwardLSTM"});
          for (int d = 0; d < 2; ++d) FillLstm(p.Add("weightParams"));
        }) == std::vector<double>{1, 5, 12, 8});
}

TEST_CASE("coreml: windows, slices, pads and tiles") {
  CHECK(Run({{"x", {4}}}, {{1, 2, 3, 4}}, [](Built& b) {
          Writer p = b.Layer("slidingWindows", {"x"}, "y");
          p.Int("axis", -1);
          p.Int("windowSize", 2);
          p.Int("step", 1);
        }) == std::vector<double>{1, 2, 2, 3, 3, 4});
  const auto slice = [](const std::vector<double>& bounds, bool mask, bool squeeze) {
    return Run({{"x", {2, 3}}, {"begin", {2}}, {"end", {2}}},
               {{1, 2, 3, 4, 5, 6}, {bounds[0], bounds[1]}, {bounds[2], bounds[3]}}, [&](Built& b) {
                 Writer p = b.Layer("sliceDynamic", {"x", "begin", "end"}, "y");
                 p.Ints("strides", {1, 1, 1, 1, 1});
                 p.Bools("endMasks", {mask, false, false, false, false});
                 p.Bools("squeezeMasks", {squeeze, false, false, false, false});
               });
  };
  CHECK(slice({0, 1, 1, 3}, false, false) == std::vector<double>{2, 3});
  CHECK(slice({0, 1, 1, 3}, true, false) == std::vector<double>{2, 3, 5, 6});
  CHECK(slice({1, 0, 0, 2}, false, true) == std::vector<double>{4, 5});
  CHECK(slice({-1, 0, 0, 2}, false, true) == std::vector<double>{4, 5});
  const auto pad = [](const std::vector<double>& amounts, bool sizes) {
    return Run({{"x", {2}}, {"p", {2}}}, {{1, 2}, amounts}, [&](Built& b) {
      Writer p = b.Layer("constantPad", {"x", "p"}, "y");
      p.Float("value", 7);
      p.Bool("padToGivenOutputSizeMode", sizes);
    });
  };
  CHECK(pad({1, 2}, false) == std::vector<double>{7, 1, 2, 7, 7});
  CHECK(pad({0, 4}, true) == std::vector<double>{1, 2, 7, 7});
  CHECK(Run({{"x", {1, 2}}, {"r", {1}}}, {{1, 2}, {2}}, [](Built& b) {
          b.Layer("tile", {"x", "r"}, "y");
        }) == std::vector<double>{1, 2, 1, 2});
  CHECK(Run({{"x", {5}}}, {{1, 2, 3, 4, 5}}, [](Built& b) {
          Writer layer = b.network.Add("layers");
          layer.AddText("input", "x");
          for (const char* name : {"y", "z"}) layer.AddText("output", name);
          layer.Sub("splitND").Int("numSplits", 2);
        }) == std::vector<double>{1, 2, 3});
}

TEST_CASE("coreml: scatters along any axis") {
  const auto scatter = [](std::string_view mode, const std::vector<double>& updates) {
    return Run({{"x", {2, 3}}, {"i", {1}}, {"u", {2, 1}}}, {{2, 4, 6, 8, 10, 12}, {1}, updates},
               [&](Built& b) {
                 Writer p = b.Layer("scatter", {"x", "i", "u"}, "y");
                 p.Int("axis", 1);
                 p.Enum("mode", mode);
               });
  };
  CHECK(scatter("SCATTER_UPDATE", {1, 3}) == std::vector<double>{2, 1, 6, 8, 3, 12});
  CHECK(scatter("SCATTER_SUB", {1, 3}) == std::vector<double>{2, 3, 6, 8, 7, 12});
  CHECK(scatter("SCATTER_DIV", {4, 2}) == std::vector<double>{2, 1, 6, 8, 5, 12});
}

TEST_CASE("coreml: int8 products, deconvolutions over three axes, crops of boxes") {
  CHECK(Run({{"x", {1, 2}}}, {{2, 4}}, [](Built& b) {
          Writer p = b.Layer("innerProduct", {"x"}, "y");
          p.Int("inputChannels", 2);
          p.Int("outputChannels", 1);
          p.Bool("int8DynamicQuantize", true);
          Writer w = p.Sub("weights");
          w.Text("int8RawValue", std::string("\x01\xFE", 2));
          w.Sub("quantization").Int("numberOfBits", 8);
          w.Sub("quantization").Sub("linearQuantization").Floats("scale", {0.5});
        }) == std::vector<double>{-3});
  CHECK(Run({{"x", {1, 1, 1, 1, 2}}}, {{1, 2}}, [](Built& b) {
          Writer p = b.Layer("convolution3d", {"x"}, "y");
          p.Int("outputChannels", 1);
          p.Int("inputChannels", 1);
          p.Int("kernelDepth", 1);
          p.Int("kernelHeight", 1);
          p.Int("kernelWidth", 2);
          p.Bool("isDeconvolution", true);
          p.Sub("weights").Floats("floatValue", {1, 10});
        }) == std::vector<double>{1, 12, 20});
  const auto crop = [](std::string_view method, const std::vector<double>& box) {
    return Run({{"x", {1, 2, 1, 2, 2}}, {"b", {1, 1, 5, 1, 1}}}, {{0, 0, 0, 0, 1, 2, 3, 4}, box},
               [&](Built& b) {
                 Writer p = b.Layer("cropResize", {"x", "b"}, "y");
                 p.Ints("targetSize", {1, 2});
                 p.Bool("normalizedCoordinates", true);
                 p.Sub("mode").Enum("samplingMethod", method);
                 p.Float("spatialScale", 1);
               });
  };
  CHECK(crop("ALIGN_ENDPOINTS_MODE", {1, 0, 0, 1, 1}) == std::vector<double>{2, 3});
  CHECK(crop("STRICT_ALIGN_ENDPOINTS_MODE", {1, 0, 0, 1, 1}) == std::vector<double>{1, 2});
  CHECK(crop("ROI_ALIGN_MODE", {1, 0, 0, 1, 1}) == std::vector<double>{2.25, 2.75});
  CHECK(crop("ALIGN_ENDPOINTS_MODE", {0, 0, 0, 1, 1}) == std::vector<double>{0, 0});
}

TEST_CASE("coreml: lists of suppressed boxes are filled up") {
  const auto run = [](bool by_class, const std::string& output, float threshold = 0.125f) {
    return Run({{"b", {1, 3, 4}}, {"s", {1, 3, 2}}},
               {{1, 1, 2, 2, 1, 1, 2, 2, 9, 9, 2, 2}, {0.75, 0, 0.25, 0.5, 0.625, 0}},
               [&](Built& b) {
                 Writer layer = b.network.Add("layers");
                 for (const char* name : {"b", "s"}) layer.AddText("input", name);
                 for (const char* name : {"boxes", "scores", "indices", "count"})
                   layer.AddText("output", name == output ? "y" : name);
                 Writer p = layer.Sub("NonMaximumSuppression");
                 p.Float("iouThreshold", 0.5);
                 p.Float("scoreThreshold", threshold);
                 p.Int("maxBoxes", 4);
                 p.Bool("perClassSuppression", by_class);
               });
  };
  CHECK(run(false, "indices") == std::vector<double>{0, 2, -1, -1});
  CHECK(run(false, "count") == std::vector<double>{2});
  CHECK(run(false, "scores") == std::vector<double>{0.75, 0, 0.625, 0, 0, 0, 0, 0});
  CHECK(run(false, "boxes") == std::vector<double>{1, 1, 2, 2, 9, 9, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(run(true, "indices") == std::vector<double>{0, 2, 1, -1});
  // If no score passes, the box with the best score is selected.
  for (const bool by_class : {false, true}) {
    CHECK(run(by_class, "indices", 0.75f) == std::vector<double>{0, -1, -1, -1});
    CHECK(run(by_class, "count", 2) == std::vector<double>{1});
    CHECK(run(by_class, "scores", 2) == std::vector<double>{0.75, 0, 0, 0, 0, 0, 0, 0});
    CHECK(run(by_class, "indices", 0.6875f) == std::vector<double>{0, -1, -1, -1});
  }
}

TEST_CASE("coreml: layers without an operator are named, all of them") {
  Built b;
  b.Exact().Array("input", "x", {2}).Array("output", "z", {2});
  b.Layer("loopBreak", {"x"}, "y");
  b.Layer("activation", {"y"}, "u").Sub("ReLU");
  b.Layer("custom", {"u"}, "z");
  const ImportedModel m = Imported(b);
  REQUIRE(m.unsupported.size() == 2);
  CHECK(m.unsupported[0].reason == "the layer is not in a loop");
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
  CHECK(ImportError(b) == "pipeline: only neural networks and ML Programs are supported");
}

TEST_CASE("coreml: files that protobuf cannot read are not written") {
  // Nothing reads the bytes of the weights.
  const auto serialize = [](size_t bytes) {
    Built b;
    Writer weights = b.Layer("innerProduct", {"x"}, "y").Sub("weights");
    weights.Bytes("floatValue", Blob({static_cast<const std::byte*>(nullptr), bytes}, nullptr));
    return coreml::Serialize(b.model);
  };
  constexpr size_t kLimit = size_t{2} << 30;
  CHECK(serialize(kLimit).error().code() == ErrorCode::kUnsupported);
  CHECK(serialize(kLimit - 1000).has_value());
}

}  // namespace
}  // namespace nn::test::coreml_import_test
