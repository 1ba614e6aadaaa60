// Operators of ONNX on strings, and the tables of ai.onnx.ml.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <vector>

#include "formats/onnx/text.h"
#include "passes/core/passes.h"
#include "support/run_graph.h"

namespace nn::test::onnx_strings_test {
namespace {

using namespace onnx_text;
using List = std::vector<std::string>;

constexpr int kI16 = 5, kString = 8, kF64 = 11;

std::string Ml(int version) {
  return fmt::format("opset_import {{ domain: \"ai.onnx.ml\" version: {} }}", version);
}

std::string Text(std::string_view name, std::string_view value) {
  return fmt::format("attribute {{ name: \"{}\" type: STRING s: \"{}\" }} ", name, value);
}
std::string Texts(std::string_view name, const List& values) {
  std::string out = fmt::format("attribute {{ name: \"{}\" type: STRINGS", name);
  for (const std::string& v : values) out += fmt::format(" strings: \"{}\"", v);
  return out + " } ";
}
std::string Floats(std::string_view name, const List& values) {
  return fmt::format("attribute {{ name: \"{}\" type: FLOATS floats: [{}] }} ", name,
                     fmt::join(values, ", "));
}
// A vector; `data` are fields.
std::string Vector(std::string_view name, int type, int size, std::string_view data) {
  return fmt::format("attribute {{ name: \"{}\" type: TENSOR t {{ data_type: {} dims: {} {} }} }} ",
                     name, type, size, data);
}

std::string OnX(std::string_view op, int type, const List& dims, const std::string& attributes) {
  return Node(op, {"x"}, {"y"}, attributes) + Input("x", TypeOf(type, dims)) + Outputs({"y"});
}
std::string MlOnX(std::string_view op, int type, const std::string& attributes) {
  return OnX(op, type, {"4"}, "domain: \"ai.onnx.ml\" " + attributes);
}

Tensor TextTensor(const List& values) {
  return Tensor({static_cast<int64_t>(values.size())}, values);
}

// The model after it has been written and read.
Graph Again(const Graph& source) {
  const Format& onnx = *FindFormat("onnx");
  Graph graph = source.Clone();
  const auto unsupported = Legalize(graph, *onnx.target);
  REQUIRE(unsupported.has_value());
  for (const auto& u : *unsupported) FAIL(u.reason);
  const auto image = onnx.writer.Write(graph, ExportOptions{});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  std::vector<std::byte> bytes;
  for (const Blob& part : image->parts)
    bytes.insert(bytes.end(), part.data(), part.data() + part.size());
  const auto model = onnx.reader.Read(Blob::CopyOf(bytes), "m.onnx", ReadLimits{});
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  auto imported = onnx.importer.Import(**model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  CHECK(imported->unsupported.empty());
  return std::move(imported->graph);
}

// The result, which the model that is written and read again has too.
Tensor Run(const std::string& graph, const Tensor& x, int opset = 21, int ml = 4) {
  CAPTURE(graph);
  const ImportedModel model = Import(graph, opset, Ml(ml));
  for (const auto& u : model.unsupported) FAIL(u.reason);
  const Tensor y = RunEverywhere(model.graph, {x})[0];
  CHECK(RunEverywhere(Again(model.graph), {x})[0].Identical(y));
  return y;
}

std::string WhyUnsupported(const std::string& graph, int ml = 4) {
  const ImportedModel model = Import(graph, 21, Ml(ml));
  return model.unsupported.empty() ? "" : model.unsupported[0].reason;
}

std::string ImportError(const std::string& graph, int ml = 4) {
  const ReadModel read = Read(graph, 21, Ml(ml));
  const auto imported = read.format->importer.Import(*read.model);
  return imported ? "" : imported.error().message();
}

TEST_CASE("onnx strings: LabelEncoder") {
  const Tensor texts = TextTensor({"a", "b", "d", "c"});
  const Tensor numbers = Tensor::Of<int64_t>({4}, {1, 0, 7, 2});
  using Numbers = std::vector<int64_t>;
  // Version 1: positions in a list.
  const std::string classes = Texts("classes_strings", {"a", "b", "c"});
  CHECK(Run(MlOnX("LabelEncoder", kString, classes), texts, 17, 1).ToInts() ==
        Numbers{0, 1, -1, 2});
  CHECK(Run(MlOnX("LabelEncoder", kI64, classes + Text("default_string", "?")), numbers, 17, 1)
            .strings() == List{"b", "a", "?", "c"});
  // Versions 2 and 4: lists.
  const std::string to_numbers =
      Texts("keys_strings", {"a", "b", "c"}) + Ints("values_int64s", {4, 5, 6});
  for (const int version : {2, 3, 4, 5}) {
    CHECK(Run(MlOnX("LabelEncoder", kString, to_numbers), texts, 17, version).ToInts() ==
          Numbers{4, 5, -1, 6});
    CHECK(Run(MlOnX("LabelEncoder", kString, to_numbers + Int("default_int64", 42)), texts, 17,
              version)
              .ToInts() == Numbers{4, 5, 42, 6});
  }
  CHECK(Run(MlOnX("LabelEncoder", kI64,
                  Ints("keys_int64s", {1, 2}) + Texts("values_strings", {"one", "two"})),
            numbers)
            .strings() == List{"one", "_Unused", "_Unused", "two"});
  CHECK(Run(MlOnX("LabelEncoder", kF32,
                  Floats("keys_floats", {"0.5", "nan"}) + Floats("values_floats", {"1", "2"}) +
                      "attribute { name: \"default_float\" type: FLOAT f: 3 }"),
            Tensor::Of<float>({4}, {0.5f, NAN, 0, 0.5f}))
            .ToDoubles() == std::vector<double>{1, 2, 3, 1});
  // Version 4: tensors.
  const std::string values = Vector("values_tensor", kI16, 3, "int32_data: [0, 1, 2]");
  CHECK(Run(MlOnX("LabelEncoder", kString,
                  Vector("keys_tensor", kString, 3,
                         "string_data: \"a\" string_data: \"b\" string_data: \"c\"") +
                      values + Vector("default_tensor", kI16, 1, "int32_data: [42]")),
            texts)
            .ToInts() == Numbers{0, 1, 42, 2});
  CHECK(Run(MlOnX("LabelEncoder", kString, Texts("keys_strings", {"a", "b", "c"}) + values), texts)
            .ToInts() == Numbers{0, 1, -1, 2});
  CHECK(Run(MlOnX("LabelEncoder", kF64,
                  Vector("keys_tensor", kF64, 1, "double_data: [0.5]") +
                      Vector("values_tensor", kF64, 1, "double_data: [1.5]")),
            Tensor::Of<double>({4}, {0.5, 1, 2, 0.5}))
            .ToDoubles() == std::vector<double>{1.5, 0, 0, 1.5});
}

TEST_CASE("onnx strings: a LabelEncoder that is not one") {
  const std::string keys = Texts("keys_strings", {"a"});
  const std::string values = Ints("values_int64s", {1});
  const auto error = [](const std::string& attributes) {
    return ImportError(MlOnX("LabelEncoder", kString, attributes));
  };
  CHECK(Contains(error(keys), "an attribute values_* is required"));
  CHECK(Contains(error(values), "an attribute keys_* is required"));
  CHECK(Contains(error(keys + Ints("keys_int64s", {1}) + values),
                 "there is more than one attribute keys_*"));
  CHECK(Contains(error(keys + Ints("values_int64s", {1, 2})), "there are 1 keys but 2 values"));
  CHECK(Contains(error(Ints("keys_int64s", {1}) + values), "str"));
  CHECK(Contains(error(keys + values + Vector("default_tensor", kI16, 1, "int32_data: [4]")),
                 "default_tensor has 1 elements of i16; must have one of i64"));
}

TEST_CASE("onnx strings: CategoryMapper") {
  const std::string both = Texts("cats_strings", {"cat", "dog"}) + Ints("cats_int64s", {10, 20});
  CHECK(Run(MlOnX("CategoryMapper", kString, both), TextTensor({"dog", "cat", "", "dog"}), 17, 1)
            .ToInts() == std::vector<int64_t>{20, 10, -1, 20});
  CHECK(Run(MlOnX("CategoryMapper", kI64, both + Text("default_string", "none")),
            Tensor::Of<int64_t>({4}, {10, 20, 0, 10}), 17, 1)
            .strings() == List{"cat", "dog", "none", "cat"});
}

TEST_CASE("onnx strings: operators") {
  const Tensor x = TextTensor({"a b", "Berlin", "c,d", "berlin"});
  const auto on_x = [](std::string_view op, const std::string& attributes) {
    return OnX(op, kString, {"4"}, attributes);
  };
  CHECK(Run(on_x("StringNormalizer", Text("case_change_action", "UPPER") +
                                         Text("locale", "de_DE.UTF-8") +
                                         Texts("stopwords", {"berlin"})),
            x)
            .strings() == List{"A B", "C,D"});
  CHECK(
      Run(on_x("StringNormalizer", Int("is_case_sensitive", 1) + Texts("stopwords", {"berlin"})), x)
          .strings() == List{"a b", "Berlin", "c,d"});
  CHECK(Run(on_x("StringSplit", Text("delimiter", ",") + Int("maxsplit", 3)), x).dims() ==
        std::vector<int64_t>{4, 2});
  CHECK(Run(on_x("RegexFullMatch", Text("pattern", "[a-z]+")), x).ToInts() ==
        std::vector<int64_t>{0, 0, 0, 1});
  const std::string concat =
      Node("StringConcat", {"x", "x"}, {"y"}) + Input("x", TypeOf(kString, {"4"})) + Outputs({"y"});
  CHECK(Run(concat, x).strings()[0] == "a ba b");
  CHECK(Run(on_x("TfIdfVectorizer", Text("mode", "TF") + Int("min_gram_length", 1) +
                                        Int("max_gram_length", 1) + Int("max_skip_count", 0) +
                                        Ints("ngram_counts", {0}) + Ints("ngram_indexes", {0, 1}) +
                                        Texts("pool_strings", {"berlin", "x"})),
            x)
            .ToDoubles() == std::vector<double>{1, 0});
}

TEST_CASE("onnx strings: locales with mappings of their own are refused") {
  const auto in = [](const std::string& locale, const std::string& attributes) {
    return WhyUnsupported(
        OnX("StringNormalizer", kString, {"4"}, Text("locale", locale) + attributes));
  };
  const std::string lower = Text("case_change_action", "LOWER");
  CHECK(Contains(in("tr_TR.UTF-8", lower), "the case mappings of locale \"tr_TR.UTF-8\""));
  CHECK(Contains(in("az", Texts("stopwords", {"a"})), "the case mappings of locale \"az\""));
  CHECK(in("tr_TR", "").empty());
  CHECK(in("en_US", lower).empty());
}

}  // namespace
}  // namespace nn::test::onnx_strings_test
