// Operators on integers with separate scales and zero points, and Einsum, compared with results
// computed by hand.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "exec/program.h"
#include "formats/format.h"
#include "ir/text/text.h"
#include "support/files.h"

namespace nn::test::onnx_integer_test {
namespace {

// The element types of ONNX.
constexpr int kF32 = 1, kU8 = 2, kI8 = 3, kI32 = 6;

struct Named {
  std::string name;
  int type = kF32;
  std::vector<int64_t> dims;
  std::vector<double> elements;
};

std::string Initializer(const Named& t) {
  std::string text = fmt::format("initializer {{ name: \"{}\" data_type: {}", t.name, t.type);
  for (const int64_t d : t.dims) text += fmt::format(" dims: {}", d);
  for (const double v : t.elements)
    text += fmt::format(" {}: {}", t.type == kF32 ? "float_data" : "int32_data", v);
  return text + " }\n";
}

std::string Port(std::string_view kind, const Named& t) {
  std::string dims;
  for (const int64_t d : t.dims) dims += fmt::format(" dim {{ dim_value: {} }}", d);
  return fmt::format(
      "{} {{ name: \"{}\" type {{ tensor_type {{ elem_type: {} shape {{{} }} }} }} }}\n", kind,
      t.name, t.type, dims);
}

// One node, whose inputs are named in `inputs`, with the result y. Tensors with elements are
// constants unless `computed` says that all of them are inputs.
struct Case {
  std::string op;
  std::string inputs;  // "x xs xz": "-" is absent
  std::vector<Named> tensors;
  Named y;
  std::string attributes = {};
  std::string domain = {};
};

std::string Model(const Case& c, bool computed) {
  std::string node, ports, initializers;
  for (size_t at = 0; at < c.inputs.size();) {
    const size_t end = std::min(c.inputs.find(' ', at), c.inputs.size());
    const std::string name = c.inputs.substr(at, end - at);
    node += fmt::format("input: \"{}\" ", name == "-" ? "" : name);
    at = end + 1;
  }
  for (size_t i = 0; i < c.tensors.size(); ++i)
    (computed || i == 0 ? ports : initializers) +=
        computed || i == 0 ? Port("input", c.tensors[i]) : Initializer(c.tensors[i]);
  return fmt::format(
      "ir_version: 10\nopset_import {{ version: 21 }}\nopset_import {{ domain: \"com.microsoft\" "
      "version: 1 }}\ngraph {{\nname: \"g\"\nnode {{ {}output: \"y\" op_type: \"{}\" domain: "
      "\"{}\" "
      "{} }}\n{}{}{}}}\n",
      node, c.op, c.domain, c.attributes, initializers, ports, Port("output", c.y));
}

Tensor TensorOf(const Named& t) {
  const DType dtype = t.type == kF32  ? DType::kF32
                      : t.type == kU8 ? DType::kU8
                      : t.type == kI8 ? DType::kI8
                                      : DType::kI32;
  auto builder = TensorBuilder::Create(dtype, t.dims);
  for (size_t i = 0; i < t.elements.size(); ++i) {
    if (t.type == kF32)
      builder->SetDouble(static_cast<int64_t>(i), t.elements[i]);
    else
      builder->SetInt(static_cast<int64_t>(i), static_cast<int64_t>(t.elements[i]));
  }
  return builder->Finish();
}

Graph ImportOrFail(const std::string& path) {
  const ReadModel read = ReadOrFail(path);
  auto imported = read.format->importer.Import(*read.model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  for (const auto& u : imported->unsupported) FAIL(u.reason);
  return std::move(imported->graph);
}

std::vector<double> Run(const std::string& path, const std::vector<Tensor>& inputs,
                        Backend backend) {
  ProgramOptions options;
  options.backend = backend;
  auto program = Program::Compile(ImportOrFail(path), options);
  REQUIRE_MESSAGE(program.has_value(), program.error().message());
  const auto outputs = program->Run(inputs);
  REQUIRE_MESSAGE(outputs.has_value(), outputs.error().message());
  return (*outputs)[0].ToDoubles();
}

// Runs the model with constants and with all of them as inputs, and again after writing it.
void Check(const Case& c) {
  for (const bool computed : {false, true}) {
    const TempDir dir;
    const std::string label = c.op + (computed ? ", computed" : "");
    CAPTURE(label);
    WriteText(dir / "m.textproto", Model(c, computed));
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < (computed ? c.tensors.size() : 1); ++i)
      inputs.push_back(TensorOf(c.tensors[i]));
    CHECK(Run(dir / "m.textproto", inputs, Backend::kReference) == c.y.elements);
    CHECK(Run(dir / "m.textproto", inputs, Backend::kSimd) == c.y.elements);
    WriteModel(dir / "copy.onnx", PrintGraph(ImportOrFail(dir / "m.textproto")));
    CHECK(Run(dir / "copy.onnx", inputs, Backend::kSimd) == c.y.elements);
  }
}

std::string Ints(std::string_view name, const std::vector<int64_t>& values) {
  std::string text = fmt::format("attribute {{ name: \"{}\" type: INTS", name);
  for (const int64_t v : values) text += fmt::format(" ints: {}", v);
  return text + " } ";
}
std::string Int(std::string_view name, int64_t value) {
  return fmt::format("attribute {{ name: \"{}\" type: INT i: {} }} ", name, value);
}
std::string Float(std::string_view name, double value) {
  return fmt::format("attribute {{ name: \"{}\" type: FLOAT f: {} }} ", name, value);
}
std::string Text(std::string_view name, std::string_view value) {
  return fmt::format("attribute {{ name: \"{}\" type: STRING s: \"{}\" }} ", name, value);
}

const std::string kMicrosoft = "com.microsoft";

TEST_CASE("onnx integers: products") {
  Check({"MatMulInteger",
         "a b az bz",
         {{"a", kU8, {2, 3}, {11, 7, 3, 10, 6, 2}},
          {"b", kI8, {3, 2}, {1, -4, 2, 5, -3, 6}},
          {"az", kU8, {}, {12}},
          {"bz", kI8, {2}, {1, -1}}},
         // Rows: [-1, -5, -9], [-2, -6, -10]; columns: [0, 1, -4], [-3, 6, 7].
         {"y", kI32, {2, 2}, {31, -90, 34, -100}}});
  Check({"ConvInteger",
         "x w xz",
         {{"x", kU8, {1, 1, 2, 2}, {2, 3, 4, 5}},
          {"w", kU8, {1, 1, 2, 2}, {1, 1, 1, 2}},
          {"xz", kU8, {}, {1}}},
         // Around [1, 2], [3, 4], padding is zero.
         {"y", kI32, {1, 1, 3, 3}, {2, 5, 2, 7, 14, 6, 3, 7, 4}},
         Ints("pads", {1, 1, 1, 1})});
}

// acc * 0.25 * 0.5 / 0.25 + 3, halves to even: acc = 3 -> 1.5 -> 2, acc = 5 -> 2.5 -> 2.
TEST_CASE("onnx integers: results are rounded to even and saturate") {
  const std::vector<Named> tensors = {
      {"a", kU8, {1, 2}, {4, 2}}, {"as", kF32, {}, {0.25}},
      {"az", kU8, {}, {1}},       {"b", kI8, {2, 4}, {1, 1, 127, -128, 0, 2, 127, 0}},
      {"bs", kF32, {}, {0.5}},    {"bz", kI8, {}, {0}},
      {"ys", kF32, {}, {0.25}},   {"yz", kU8, {}, {3}}};
  Check({"QLinearMatMul", "a as az b bs bz ys yz", tensors, {"y", kU8, {1, 4}, {5, 5, 255, 0}}});
  std::vector<Named> per_column = tensors;
  per_column[4] = {"bs", kF32, {4}, {0.5, 1, 0.5, 0.5}};
  per_column[5] = {"bz", kI8, {4}, {0, 0, 0, -127}};
  // The columns times [3, 1]: 3, 5, 508 and -3 + 127.
  Check(
      {"QLinearMatMul", "a as az b bs bz ys yz", per_column, {"y", kU8, {1, 4}, {5, 8, 255, 65}}});
}

TEST_CASE("onnx integers: QLinearConv and QGemm") {
  const std::vector<Named> tensors = {{"x", kU8, {1, 2, 1, 2}, {5, 6, 7, 8}},
                                      {"xs", kF32, {}, {0.5}},
                                      {"xz", kU8, {}, {4}},
                                      {"w", kI8, {2, 2, 1, 1}, {1, 2, -3, 4}},
                                      {"ws", kF32, {2}, {1, 0.5}},
                                      {"wz", kI8, {2}, {0, 0}},
                                      {"ys", kF32, {}, {0.5}},
                                      {"yz", kU8, {}, {10}},
                                      {"b", kI32, {2}, {1, -1}}};
  // x less its zero point: [1, 2], [3, 4]. Sums with bias: [8, 11] and [8, 9].
  Check({"QLinearConv",
         "x xs xz w ws wz ys yz b",
         tensors,
         {"y", kU8, {1, 2, 1, 2}, {18, 21, 14, 14}}});
  std::vector<Named> last = tensors;
  last[0] = {"x", kU8, {1, 1, 2, 2}, {5, 7, 6, 8}};
  Check({"QLinearConv",
         "x xs xz w ws wz ys yz b",
         last,
         {"y", kU8, {1, 1, 2, 2}, {18, 14, 21, 14}},
         Int("channels_last", 1),
         kMicrosoft});
  const std::vector<Named> gemm = {
      {"a", kU8, {1, 2}, {3, 5}},       {"as", kF32, {}, {0.5}},  {"az", kU8, {}, {1}},
      {"b", kI8, {2, 2}, {1, 2, 3, 4}}, {"bs", kF32, {}, {0.25}}, {"bz", kI8, {}, {0}},
      {"c", kI32, {2}, {6, -2}},        {"ys", kF32, {}, {0.5}},  {"yz", kI8, {}, {-1}}};
  // [2, 4] times the rows of B: 10, 22; with C 16, 20; times 2 * 0.125 / 0.5.
  Check({"QGemm",
         "a as az b bs bz c ys yz",
         gemm,
         {"y", kI8, {1, 2}, {7, 9}},
         Int("transB", 1) + Float("alpha", 2),
         kMicrosoft});
  Check({"QGemm",
         "a as az b bs bz c",
         {gemm.begin(), gemm.end() - 2},
         {"y", kF32, {1, 2}, {2, 2.5}},
         Int("transB", 1),
         kMicrosoft});
}

// ONNX Runtime refuses a ConvInteger with a vector of zero points for the filter.
TEST_CASE("onnx integers: equal zero points of a filter are written as one number") {
  const auto written = [](const std::vector<double>& zeros) {
    const TempDir dir;
    WriteText(dir / "m.textproto", Model({"QLinearConv",
                                          "x xs xz w ws wz ys yz",
                                          {{"x", kU8, {1, 1, 1, 2}, {5, 6}},
                                           {"xs", kF32, {}, {0.5}},
                                           {"xz", kU8, {}, {4}},
                                           {"w", kI8, {2, 1, 1, 1}, {1, 2}},
                                           {"ws", kF32, {2}, {1, 0.5}},
                                           {"wz", kI8, {2}, zeros},
                                           {"ys", kF32, {}, {0.5}},
                                           {"yz", kU8, {}, {10}}},
                                          {"y", kU8, {1, 2, 1, 2}, {}}},
                                         false));
    WriteModel(dir / "copy.onnx", PrintGraph(ImportOrFail(dir / "m.textproto")));
    std::string type;
    const Graph copy = ImportOrFail(dir / "copy.onnx");
    for (const Node& node : copy.nodes())
      if (node.Is("conv_integer")) type = node.input(3)->type().ToString();
    return type;
  };
  CHECK(written({0, 0}) == "i8[]");
  CHECK(written({3, 3}) == "i8[]");
  CHECK(written({0, 3}) == "i8[2]");
}

TEST_CASE("onnx integers: dynamic quantization") {
  // Scale 1, zero point 0 - -2; rounded halves to even.
  Check({"DynamicQuantizeLinear",
         "x",
         {{"x", kF32, {4}, {-2, 0.5, 1.5, 253}}},
         {"y", kU8, {4}, {0, 2, 4, 255}}});
  Check({"DynamicQuantizeLinear", "x", {{"x", kF32, {2}, {0, 0}}}, {"y", kU8, {2}, {0, 0}}});
  Check({"DynamicQuantizeMatMul",
         "x b bs bz c",
         {{"x", kF32, {1, 2}, {-2, 253}},
          {"b", kI8, {2, 2}, {1, 2, 3, -4}},
          {"bs", kF32, {2}, {0.5, 2}},
          {"bz", kI8, {2}, {1, 0}},
          {"c", kF32, {2}, {1, -1}}},
         {"y", kF32, {1, 2}, {254, -2033}},
         {},
         kMicrosoft});
  Check({"MatMulIntegerToFloat",
         "a b as bs az",
         {{"a", kU8, {1, 2}, {3, 5}},
          {"b", kI8, {2, 1}, {2, 1}},
          {"as", kF32, {}, {0.5}},
          {"bs", kF32, {}, {0.25}},
          {"az", kU8, {}, {1}}},
         {"y", kF32, {1, 1}, {1}},
         {},
         kMicrosoft});
}

TEST_CASE("onnx integers: operators of com.microsoft on what the integers represent") {
  const std::vector<Named> two = {
      {"a", kU8, {4}, {1, 2, 3, 255}}, {"as", kF32, {}, {0.5}}, {"az", kU8, {}, {1}},
      {"b", kU8, {4}, {4, 5, 6, 7}},   {"bs", kF32, {}, {1}},   {"bz", kU8, {}, {4}},
      {"ys", kF32, {}, {0.5}},         {"yz", kU8, {}, {10}}};
  Check({"QLinearAdd",
         "a as az b bs bz ys yz",
         two,
         {"y", kU8, {4}, {10, 13, 16, 255}},
         {},
         kMicrosoft});
  Check({"QLinearMul",
         "a as az b bs bz ys yz",
         two,
         {"y", kU8, {4}, {10, 11, 14, 255}},
         {},
         kMicrosoft});
  Check({"QLinearConcat",
         "ys yz a as az b bs bz",
         two,
         {"y", kU8, {8}, {10, 11, 12, 255, 10, 12, 14, 16}},
         Int("axis", 0),
         kMicrosoft});
  const std::vector<Named> image = {{"x", kI8, {1, 1, 2, 2}, {-4, 0, 2, 8}},
                                    {"xs", kF32, {}, {0.5}},
                                    {"xz", kI8, {}, {0}},
                                    {"ys", kF32, {}, {0.25}},
                                    {"yz", kI8, {}, {-1}}};
  const std::string inputs = "x xs xz ys yz";
  Check({"QLinearLeakyRelu",
         inputs,
         image,
         {"y", kI8, {1, 1, 2, 2}, {-3, -1, 3, 15}},
         Float("alpha", 0.25),
         kMicrosoft});
  Check({"QLinearSigmoid", inputs, image, {"y", kI8, {1, 1, 2, 2}, {-1, 1, 2, 3}}, {}, kMicrosoft});
  Check({"QLinearGlobalAveragePool", inputs, image, {"y", kI8, {1, 1, 1, 1}, {2}}, {}, kMicrosoft});
  Check({"QLinearAveragePool",
         inputs,
         image,
         {"y", kI8, {1, 1, 1, 2}, {-3, 7}},
         Ints("kernel_shape", {2, 1}),
         kMicrosoft});
  Check({"QLinearReduceMean",
         inputs,
         image,
         {"y", kI8, {1, 1, 2}, {-5, 9}},
         Ints("axes", {3}) + Int("keepdims", 0),
         kMicrosoft});
}

TEST_CASE("onnx integers: blocks and axes of QuantizeLinear and DequantizeLinear") {
  Check({"DequantizeLinear",
         "x s z",
         {{"x", kI8, {2, 3}, {1, 2, 3, 4, 5, 6}},
          {"s", kF32, {2, 2}, {1, 2, 0.5, 4}},
          {"z", kI8, {2, 2}, {0, 1, 2, 3}}},
         {"y", kF32, {2, 3}, {1, 2, 4, 1, 1.5, 12}},
         Int("axis", 1) + Int("block_size", 2)});
  Check({"QuantizeLinear",
         "x s z",
         {{"x", kF32, {2, 3}, {1, 2, 4, 1, 1.5, 12}},
          {"s", kF32, {2, 2}, {1, 2, 0.5, 4}},
          {"z", kI8, {2, 2}, {0, 1, 2, 3}}},
         {"y", kI8, {2, 3}, {1, 2, 3, 4, 5, 6}},
         Int("axis", 1) + Int("block_size", 2)});
  Check({"QuantizeLinear",
         "x s z",
         {{"x", kF32, {2, 2}, {0.5, 1.5, 300, -300}},
          {"s", kF32, {2}, {1, 0.5}},
          {"z", kU8, {2}, {3, 128}}},
         {"y", kU8, {2, 2}, {3, 5, 255, 0}},
         Int("axis", 0)});
}

TEST_CASE("onnx Einsum") {
  const Named a = {"a", kF32, {2, 2}, {1, 2, 3, 4}};
  const Named b = {"b", kF32, {2, 2}, {5, 6, 7, 8}};
  const auto check = [](std::string_view equation, const std::string& inputs,
                        const std::vector<Named>& tensors, const std::vector<int64_t>& dims,
                        const std::vector<double>& y) {
    Check({"Einsum", inputs, tensors, {"y", kF32, dims, y}, Text("equation", equation)});
  };
  check("ij -> ji", "a", {a}, {2, 2}, {1, 3, 2, 4});
  check("ba", "a", {a}, {2, 2}, {1, 3, 2, 4});
  check("ij->", "a", {a}, {}, {10});
  check("ii", "a", {a}, {}, {5});
  check("ii->i", "a", {a}, {2}, {1, 4});
  check("ij,jk", "a b", {a, b}, {2, 2}, {19, 22, 43, 50});
  check("ij,kj->ki", "a b", {a, b}, {2, 2}, {17, 39, 23, 53});
  check("ij,ij->i", "a b", {a, b}, {2}, {17, 53});
  check("ij,kl->", "a b", {a, b}, {}, {260});
  check("i...,...->...i", "a c", {a, {"c", kF32, {2}, {10, 100}}}, {2, 2}, {10, 30, 200, 400});
  check("...j,j", "a c", {a, {"c", kF32, {2}, {10, 100}}}, {2}, {210, 430});
  check("...,...", "a c", {a, {"c", kF32, {1, 2}, {10, 100}}}, {2, 2}, {10, 200, 30, 400});
  check("ij,jk,kl->il", "a b c", {a, b, {"c", kF32, {2, 1}, {1, -1}}}, {2, 1}, {-3, -7});
  check("iij->j", "t", {{"t", kF32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}}, {2}, {8, 10});
}

}  // namespace
}  // namespace nn::test::onnx_integer_test
