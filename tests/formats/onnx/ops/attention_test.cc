#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.h"
#include "support/files.h"
#include "support/run_graph.h"

// Attention and RotaryEmbedding of ONNX models.
namespace nn::test::onnx_attention_test {
namespace {

Result<ImportedModel> Import(int opset, std::string_view graph) {
  const TempDir dir;
  WriteText(dir / "m.textproto",
            fmt::format("ir_version: 11 opset_import {{ version: {} }}\n"
                        "opset_import {{ domain: \"com.microsoft\" version: 1 }}\n"
                        "graph {{ name: \"g\" {} }}",
                        opset, graph));
  const auto read = ReadModelFile(dir / "m.textproto");
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  return read->format->importer.Import(*read->model);
}

std::string Port(std::string_view kind, std::string_view name, int type,
                 const std::vector<int64_t>& dims) {
  std::string shape;
  for (const int64_t d : dims) shape += fmt::format("dim {{ dim_value: {} }} ", d);
  return fmt::format(
      "{} {{ name: \"{}\" type {{ tensor_type {{ elem_type: {} shape {{ {} }} }} }} }}\n", kind,
      name, type, shape);
}

struct MaskRow {
  std::string_view name;
  int opset;
  std::string_view inputs;  // behind Q, K and V
  std::string_view attrs;   // "name=1,..."
  std::vector<double> y;
};

std::string Attributes(std::string_view list) {
  std::string out;
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    const size_t equals = one.find('=');
    out += fmt::format("attribute {{ name: \"{}\" type: INT i: {} }} ", one.substr(0, equals),
                       one.substr(equals + 1));
  }
  return out;
}

// The inputs in a list of names; "" stands for an absent one.
std::string Inputs(std::string_view names) {
  std::string out;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(' '));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    out += name == "\"\"" ? "input: \"\" " : fmt::format("input: \"{}\" ", name);
  }
  return out;
}

// All scores are 0, so a row of Y is the mean of the values of the keys that the query sees: of 3,
// 6 and 12, and of 24 before them with a past.
TEST_CASE("ONNX Attention: which keys a query sees") {
  for (const MaskRow& row : std::vector<MaskRow>{
           {"all", 23, "", "", {7, 7}},
           {"causal", 23, "", "is_causal=1", {3, 4.5}},
           {"a past", 23, "\"\" past past", "", {11.25, 11.25}},
           {"a past, causal", 23, "\"\" past past", "is_causal=1", {13.5, 11}},
           {"a past, causal, and a mask", 23, "first past past", "is_causal=1", {24, 24}},
           {"a mask of one key is broadcast", 23, "short", "", {7, 7}},
           {"a mask of one key is short", 24, "short", "", {3, 3}},
           {"a short mask of numbers", 24, "numbers", "", {4.5, 4.5}},
           {"valid keys", 24, "\"\" \"\" \"\" two", "", {4.5, 4.5}},
           {"valid keys, causal", 24, "\"\" \"\" \"\" two", "is_causal=1", {3, 4.5}},
           {"fewer valid keys than queries", 24, "\"\" \"\" \"\" one", "is_causal=1", {0, 3}},
           {"a window", 25, "", "left_window_size=0,right_window_size=0", {3, 6}},
           {"a window to both sides", 25, "", "left_window_size=1,right_window_size=1", {4.5, 7}},
           {"a window to the right", 25, "", "right_window_size=0", {3, 4.5}},
           {"a causal window",
            25,
            "",
            "is_causal=1,left_window_size=0,right_window_size=1",
            {3, 6}},
           {"a window and a past",
            25,
            "\"\" past past",
            "left_window_size=0,right_window_size=0",
            {3, 6}},
           {"a window and valid keys", 25, "\"\" \"\" \"\" two", "left_window_size=0", {4.5, 6}},
       }) {
    CAPTURE(row.name);
    const auto model = Import(
        row.opset,
        fmt::format(
            R"(node {{ op_type: "Attention" input: "q" input: "k" input: "v" {} output: "y" {} }}
initializer {{ name: "past" data_type: 1 dims: 1 dims: 1 dims: 1 dims: 1 float_data: 24 }}
initializer {{ name: "first" data_type: 9 dims: 4 int32_data: 1 int32_data: 0 int32_data: 0
               int32_data: 0 }}
initializer {{ name: "short" data_type: 9 dims: 2 dims: 1 int32_data: 1 int32_data: 1 }}
initializer {{ name: "numbers" data_type: 1 dims: 2 float_data: 0 float_data: 0 }}
initializer {{ name: "one" data_type: 7 dims: 1 int64_data: 1 }}
initializer {{ name: "two" data_type: 7 dims: 1 int64_data: 2 }}
{}{}{}output {{ name: "y" type {{ tensor_type {{ elem_type: 1 }} }} }})",
            Inputs(row.inputs), Attributes(row.attrs), Port("input", "q", 1, {1, 1, 2, 1}),
            Port("input", "k", 1, {1, 1, 3, 1}), Port("input", "v", 1, {1, 1, 3, 1})));
    REQUIRE_MESSAGE(model.has_value(), model.error().message());
    REQUIRE_MESSAGE(model->unsupported.empty(), model->unsupported.front().reason);
    const Graph& g = model->graph;
    CHECK(RunEverywhere(g, InputsOf(g, {{0, 0}, {1, 2, 3}, {3, 6, 12}}))[0].ToDoubles() == row.y);
  }
}

// A causal attention of two packed heads, which share keys, with one of its values as an output.
TEST_CASE("ONNX Attention: values inside") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> expected = {{0, 0, 0, 0, 0, 0, 0, 0},
                                                     {0, 0, 0, 0, 0, 0, 0, 0},
                                                     {0, -kInfinity, 0, 0, 0, -kInfinity, 0, 0},
                                                     {1, 0, 0.5, 0.5, 1, 0, 0.5, 0.5}};
  for (const std::string_view precision : {"", ",softmax_precision=10"})
    for (size_t mode = 0; mode < 4; ++mode) {
      CAPTURE(mode);
      const auto model =
          Import(23, fmt::format(R"(node {{ op_type: "Attention" input: "q" input: "k" input: "v"
  output: "y" output: "pk" output: "pv" output: "s" {} }}
{}{}{}output {{ name: "y" type {{ tensor_type {{ elem_type: 1 }} }} }}
output {{ name: "pv" type {{ tensor_type {{ elem_type: 1 }} }} }}
output {{ name: "s" type {{ tensor_type {{ elem_type: 1 }} }} }})",
                                 Attributes(fmt::format("q_num_heads=2,kv_num_heads=1,is_causal=1,"
                                                        "qk_matmul_output_mode={}{}",
                                                        mode, precision)),
                                 Port("input", "q", 1, {1, 2, 2}), Port("input", "k", 1, {1, 2, 1}),
                                 Port("input", "v", 1, {1, 2, 1})));
      REQUIRE_MESSAGE(model.has_value(), model.error().message());
      REQUIRE_MESSAGE(model->unsupported.empty(), model->unsupported.front().reason);
      const Graph& g = model->graph;
      const auto outputs = RunEverywhere(g, InputsOf(g, {{0, 0, 0, 0}, {1, 2}, {2, 4}}));
      CHECK(outputs[0].dims() == std::vector<int64_t>{1, 2, 2});
      CHECK(outputs[0].ToDoubles() == std::vector<double>{2, 2, 3, 3});
      CHECK(outputs[1].dims() == std::vector<int64_t>{1, 1, 2, 1});
      CHECK(outputs[2].dims() == std::vector<int64_t>{1, 2, 2, 2});
      CHECK(outputs[2].ToDoubles() == expected[mode]);
    }
}

TEST_CASE("ONNX RotaryEmbedding: positions, packed heads, a part of the elements") {
  const auto model = Import(23, fmt::format(R"(node {{ op_type: "RotaryEmbedding"
  input: "x" input: "c" input: "s" input: "p" output: "y" {} }}
initializer {{ name: "c" data_type: 1 dims: 2 dims: 1 float_data: 2 float_data: 10 }}
initializer {{ name: "s" data_type: 1 dims: 2 dims: 1 float_data: 1 float_data: 100 }}
initializer {{ name: "p" data_type: 7 dims: 1 dims: 2 int64_data: 1 int64_data: 0 }}
{}output {{ name: "y" type {{ tensor_type {{ elem_type: 1 }} }} }})",
                                            Attributes("num_heads=2,rotary_embedding_dim=2"),
                                            Port("input", "x", 1, {1, 2, 6})));
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  REQUIRE_MESSAGE(model->unsupported.empty(), model->unsupported.front().reason);
  const Graph& g = model->graph;
  const auto y = RunEverywhere(g, InputsOf(g, {{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}}));
  CHECK(y[0].dims() == std::vector<int64_t>{1, 2, 6});
  CHECK(y[0].ToDoubles() == std::vector<double>{10 - 200, 100 + 20, 3, 40 - 500, 400 + 50, 6,  //
                                                2 - 2, 1 + 4, 3, 8 - 5, 4 + 10, 6});
}

// As above; the operands are packed.
TEST_CASE("ONNX MultiHeadAttention of com.microsoft") {
  for (const MaskRow& row : std::vector<MaskRow>{
           {"all", 17, "", "", {7, 7}},
           {"unidirectional", 17, "", "unidirectional=1", {3, 4.5}},
           {"a mask of padded keys", 17, "\"\" padded", "", {7.5, 7.5}},
           {"a mask for each query", 17, "\"\" queries", "", {3, 9}},
           {"lengths", 17, "\"\" two", "", {4.5, 4.5}},
           {"a bias of scores", 17, "\"\" \"\" scores", "", {7.5, 7.5}},
           {"both", 17, "\"\" two scores", "", {3, 3}},
           {"a bias of operands", 17, "bias", "", {8, 8}},
           {"a past", 17, "\"\" \"\" \"\" past past", "", {11.25, 11.25}},
           {"a past, unidirectional",
            17,
            "\"\" \"\" \"\" past past",
            "unidirectional=1",
            {13.5, 11}},
       }) {
    CAPTURE(row.name);
    const auto model =
        Import(row.opset, fmt::format(
                              R"(node {{ op_type: "MultiHeadAttention" domain: "com.microsoft"
  input: "q" input: "k" input: "v" {} output: "y" {} }}
initializer {{ name: "past" data_type: 1 dims: 1 dims: 1 dims: 1 dims: 1 float_data: 24 }}
initializer {{ name: "padded" data_type: 6 dims: 1 dims: 3 int32_data: 1 int32_data: 0
               int32_data: 1 }}
initializer {{ name: "queries" data_type: 6 dims: 1 dims: 2 dims: 3 int32_data: 1 int32_data: 0
               int32_data: 0 int32_data: 0 int32_data: 1 int32_data: 1 }}
initializer {{ name: "two" data_type: 6 dims: 1 int32_data: 2 }}
initializer {{ name: "scores" data_type: 1 dims: 1 dims: 1 dims: 1 dims: 3 float_data: 0
               float_data: -inf float_data: 0 }}
initializer {{ name: "bias" data_type: 1 dims: 3 float_data: 0 float_data: 5 float_data: 1 }}
{}{}{}output {{ name: "y" type {{ tensor_type {{ elem_type: 1 }} }} }})",
                              Inputs(row.inputs),
                              Attributes(std::string("num_heads=1") +
                                         (row.attrs.empty() ? "" : ",") + std::string(row.attrs)),
                              Port("input", "q", 1, {1, 2, 1}), Port("input", "k", 1, {1, 3, 1}),
                              Port("input", "v", 1, {1, 3, 1})));
    REQUIRE_MESSAGE(model.has_value(), model.error().message());
    REQUIRE_MESSAGE(model->unsupported.empty(), model->unsupported.front().reason);
    const Graph& g = model->graph;
    const Tensor y = RunEverywhere(g, InputsOf(g, {{0, 0}, {1, 2, 3}, {3, 6, 12}}))[0];
    CHECK(y.dims() == std::vector<int64_t>{1, 2, 1});
    CHECK(y.ToDoubles() == row.y);
  }
}

TEST_CASE("ONNX RotaryEmbedding of com.microsoft: the first position, and all") {
  const std::vector<double> first = {2 - 2, 1 + 4, 3, 8 - 5, 4 + 10, 6};
  const std::vector<double> second = {10 - 200, 100 + 20, 3, 40 - 500, 400 + 50, 6};
  for (const bool all : {false, true}) {
    CAPTURE(all);
    const auto model = Import(
        17, fmt::format(R"(node {{ op_type: "RotaryEmbedding" domain: "com.microsoft"
  input: "x" input: "{}" input: "c" input: "s" output: "y" {} }}
initializer {{ name: "c" data_type: 1 dims: 2 dims: 1 float_data: 2 float_data: 10 }}
initializer {{ name: "s" data_type: 1 dims: 2 dims: 1 float_data: 1 float_data: 100 }}
initializer {{ name: "zero" data_type: 7 dims: 1 int64_data: 0 }}
initializer {{ name: "all" data_type: 7 dims: 1 dims: 2 int64_data: 1 int64_data: 0 }}
{}output {{ name: "y" type {{ tensor_type {{ elem_type: 1 }} }} }})",
                        all ? "all" : "zero", Attributes("num_heads=2,rotary_embedding_dim=2"),
                        Port("input", "x", 1, {1, 2, 6})));
    REQUIRE_MESSAGE(model.has_value(), model.error().message());
    REQUIRE_MESSAGE(model->unsupported.empty(), model->unsupported.front().reason);
    const Graph& g = model->graph;
    const auto y = RunEverywhere(g, InputsOf(g, {{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}}));
    std::vector<double> expected = all ? second : first;
    const std::vector<double>& rest = all ? first : second;
    expected.insert(expected.end(), rest.begin(), rest.end());
    CHECK(y[0].ToDoubles() == expected);
  }
}

TEST_CASE("ONNX Attention: what is refused") {
  struct Refusal {
    std::string_view attrs;
    int values;  // element type of V
    std::string_view reason;
  };
  for (const Refusal& r : {Refusal{"attribute { name: \"scale\" type: FLOAT f: -1 }", 1, "scale"},
                           Refusal{"", 10, "needs one type"}}) {
    CAPTURE(r.reason);
    const auto model =
        Import(23, fmt::format(R"(node {{ op_type: "Attention" input: "q" input: "k" input: "v"
  output: "y" {} }}
{}{}{}output {{ name: "y" type {{ tensor_type {{ elem_type: 1 }} }} }})",
                               r.attrs, Port("input", "q", 1, {1, 1, 2, 1}),
                               Port("input", "k", 1, {1, 1, 3, 1}),
                               Port("input", "v", r.values, {1, 1, 3, 1})));
    REQUIRE_MESSAGE(model.has_value(), model.error().message());
    REQUIRE(model->unsupported.size() == 1);
    CHECK(model->unsupported[0].reason.find(r.reason) != std::string::npos);
  }
}

}  // namespace
}  // namespace nn::test::onnx_attention_test
