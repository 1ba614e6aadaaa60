#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.h"
#include "support/files.h"
#include "support/run_graph.h"

// Operators that ONNX Runtime adds to those of ONNX. The expected numbers are from the definitions,
// computed with NumPy where they are not integers.
namespace nn::test::onnx_contrib_test {
namespace {

using Numbers = std::vector<double>;

constexpr int kF32 = 1, kU8 = 2, kI8 = 3, kI32 = 6, kI64 = 7;

struct Operand {
  std::vector<int64_t> dims;
  Numbers values;
  int type = kF32;
  bool constant = false;
};
Operand Constant(int type, std::vector<int64_t> dims, Numbers values) {
  return {std::move(dims), std::move(values), type, true};
}
const Operand kAbsent{{}, {}, 0};

struct Row {
  std::string_view op;
  std::string_view attrs;  // "name=1 name=0.5 name=Text", a number with a point is a float
  std::vector<Operand> inputs;
  std::vector<Numbers> outputs;  // an output without numbers is absent
  std::string_view domain = "com.microsoft";
};

std::string AttributesOf(std::string_view list) {
  std::string out;
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(' '));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    const size_t equals = one.find('=');
    const std::string_view name = one.substr(0, equals), value = one.substr(equals + 1);
    const bool is_text = value[0] >= 'A' && value[0] <= 'Z';
    const bool is_float = value.find('.') != std::string_view::npos;
    if (value[0] == '[') {
      out += fmt::format("attribute {{ name: \"{}\" type: {} {}: {} }} ", name,
                         is_float ? "FLOATS" : "INTS", is_float ? "floats" : "ints", value);
    } else if (is_text) {
      out += fmt::format("attribute {{ name: \"{}\" type: STRING s: \"{}\" }} ", name, value);
    } else {
      out += fmt::format("attribute {{ name: \"{}\" type: {} {}: {} }} ", name,
                         is_float ? "FLOAT" : "INT", is_float ? 'f' : 'i', value);
    }
  }
  return out;
}

Result<ImportedModel> Import(const Row& row) {
  std::string node, ports;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const Operand& in = row.inputs[i];
    node += in.type == 0 ? "input: \"\" " : fmt::format("input: \"i{}\" ", i);
    if (in.type == 0) continue;
    if (in.constant) {
      ports += fmt::format("initializer {{ name: \"i{}\" data_type: {} dims: [{}] {}: [{}] }}\n", i,
                           in.type, fmt::join(in.dims, ", "),
                           in.type == kF32   ? "float_data"
                           : in.type == kI64 ? "int64_data"
                                             : "int32_data",
                           fmt::join(in.values, ", "));
      continue;
    }
    ports += fmt::format("input {{ name: \"i{}\" type {{ tensor_type {{ elem_type: {} shape {{", i,
                         in.type);
    for (const int64_t d : in.dims) ports += fmt::format(" dim {{ dim_value: {} }}", d);
    ports += " } } } }\n";
  }
  for (size_t i = 0; i < row.outputs.size(); ++i) {
    node += row.outputs[i].empty() ? "output: \"\" " : fmt::format("output: \"o{}\" ", i);
    if (!row.outputs[i].empty()) ports += fmt::format("output {{ name: \"o{}\" }}\n", i);
  }
  const TempDir dir;
  WriteText(
      dir / "m.textproto",
      fmt::format("ir_version: 8 opset_import {{ version: 16 }}\n"
                  "opset_import {{ domain: \"com.microsoft\" version: 1 }}\n"
                  "graph {{ name: \"g\" node {{ op_type: \"{}\" domain: \"{}\" {} {} }}\n{} }}",
                  row.op, row.domain, node, AttributesOf(row.attrs), ports));
  const auto read = ReadModelFile(dir / "m.textproto");
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  return read->format->import(*read->model);
}

void Check(const Row& row) {
  CAPTURE(row.op);
  CAPTURE(row.attrs);
  CAPTURE(row.inputs.size());
  const auto model = Import(row);
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  REQUIRE_MESSAGE(model->unsupported.empty(), model->unsupported.front().reason);
  std::vector<Numbers> inputs;
  for (const Operand& in : row.inputs)
    if (in.type != 0 && !in.constant) inputs.push_back(in.values);
  const auto results = RunEverywhere(model->graph, InputsOf(model->graph, inputs));
  size_t next = 0;
  for (const Numbers& expected : row.outputs) {
    if (expected.empty()) continue;
    const Numbers y = results.at(next++).ToDoubles();
    REQUIRE(y.size() == expected.size());
    for (size_t i = 0; i < y.size(); ++i) {
      CAPTURE(i);
      CHECK(std::abs(y[i] - expected[i]) <= 2e-6 * std::max(1.0, std::abs(expected[i])));
    }
  }
  CHECK(next == results.size());
}

std::string WhyNot(const Row& row) {
  const auto model = Import(row);
  if (!model) {
    const std::string& message = model.error().message();  // "operator 0 (...): reason"
    return message.substr(message.find("): ") + 3);
  }
  return model->unsupported.empty() ? "" : model->unsupported.front().reason;
}

// ---- Weights in blocks

TEST_CASE("MatMulNBits") {
  const Operand a{{1, 4}, {1, 2, 3, 4}};
  const Operand scales = Constant(kF32, {1, 2}, {0.5, 2});
  // 1, 2 and 3, 4, the first in the lower bits.
  const Operand nibbles = Constant(kU8, {1, 2, 1}, {0x21, 0x43});
  const Operand zeros = Constant(kU8, {1}, {0x31});
  for (const Row& row : std::vector<Row>{
           {"MatMulNBits", "K=4 N=1 bits=4 block_size=2", {a, nibbles, scales}, {{-71.5}}},
           {"MatMulNBits", "K=4 N=1 block_size=2", {a, nibbles, scales, zeros}, {{9}}},
           {"MatMulNBits",
            "K=4 N=1 block_size=2 accuracy_level=4",
            {a, nibbles, scales, zeros, Constant(kI32, {4}, {1, 0, 1, 0}),
             Constant(kF32, {1}, {10})},
            {{13}}},
           {"MatMulNBits",
            "K=4 N=1 bits=8 block_size=2",
            {a, Constant(kU8, {1, 2, 2}, {1, 2, 3, 4}), scales},
            {{-1931.5}}},
           {"MatMulNBits",
            "K=4 N=1 bits=2 block_size=4",
            {a, Constant(kU8, {1, 1, 1}, {0xE4}), Constant(kF32, {1}, {0.5})},
            {{0}}},
           {"MatMulNBits",
            "K=4 N=1 bits=2 block_size=4",
            {a, Constant(kU8, {1, 1, 1}, {0xE4}), Constant(kF32, {1}, {0.5}),
             Constant(kF32, {1}, {1})},
            {{5}}},
           // A block may be longer than the rest of a row.
           {"MatMulNBits",
            "K=3 N=2 block_size=2",
            {{{1, 3}, {1, 1, 1}},
             Constant(kU8, {2, 2, 1}, {0x98, 0xFA, 0x88, 0xFC}),
             Constant(kF32, {2, 2}, {1, 10, 1, 100})},
            {{21, 400}}},
       })
    Check(row);
  const auto refused = [&](std::string_view attrs, const Operand& b) {
    return WhyNot({"MatMulNBits", attrs, {a, b, scales}, {{0}}});
  };
  CHECK(refused("K=4 N=1 bits=3 block_size=8", nibbles) ==
        "MatMulNBits of 3 bits; 2, 4 and 8 are supported");
  CHECK(refused("K=8 N=1 block_size=4", nibbles) ==
        "B has 2 bytes; 1 rows of 8 integers of 4 bits have 4");
  CHECK(refused("K=4 N=1 block_size=2", {{1, 2, 1}, {1, 1}, kU8}) ==
        "MatMulNBits whose B is not constant");
}

TEST_CASE("GatherBlockQuantized") {
  // Rows 0 .. 15 and 15 .. 0.
  Numbers bytes, nibbles;
  for (int i = 0; i < 16; ++i) bytes.push_back(i);
  for (int i = 0; i < 16; ++i) bytes.push_back(15 - i);
  for (size_t i = 0; i < bytes.size(); i += 2) nibbles.push_back(bytes[i] + 16 * bytes[i + 1]);
  const Operand scales = Constant(kF32, {2, 1}, {1, 2});
  const Operand index{{1}, {1}, kI64};
  const auto second = [&](double zero) {
    Numbers y;
    for (int i = 0; i < 16; ++i) y.push_back(2 * (15 - i - zero));
    return y;
  };
  const std::string_view attrs = "block_size=16 bits=4";
  Check({"GatherBlockQuantized",
         attrs,
         {Constant(kU8, {2, 8}, nibbles), index, scales},
         {second(8)}});
  Check({"GatherBlockQuantized",
         attrs,
         {Constant(kU8, {2, 8}, nibbles), index, scales, Constant(kU8, {2, 1}, {3, 5})},
         {second(5)}});
  Check({"GatherBlockQuantized",
         "block_size=16 bits=8",
         {Constant(kU8, {2, 16}, bytes), index, scales},
         {second(128)}});
  CHECK(WhyNot({"GatherBlockQuantized",
                "block_size=16 gather_axis=1",
                {Constant(kU8, {2, 8}, nibbles), index, scales},
                {{0}}}) == "GatherBlockQuantized along the axis of its blocks");
}

// ---- Products

TEST_CASE("FusedMatMul, FusedGemm, FusedConv") {
  const Operand a{{1, 2, 2}, {1, 2, 3, 4}}, b{{1, 2, 2}, {1, 0, 2, 1}};
  const Operand m{{2, 2}, {1, 2, 3, 4}}, n{{2, 2}, {1, 0, 2, -1}};
  // [[1, 2], [3, 4]] and [[1, 0], [2, -1]] give [[5, -2], [11, -4]].
  const Operand x{{1, 1, 1, 2}, {1, -2}}, w = Constant(kF32, {1, 1, 1, 1}, {3});
  for (const Row& row : std::vector<Row>{
           {"FusedMatMul", "alpha=0.5", {a, b}, {{2.5, 1, 5.5, 2}}},
           {"FusedMatMul", "transA=1", {a, b}, {{7, 3, 10, 4}}},
           {"TransposeMatMul", "transB=1", {a, b}, {{1, 4, 3, 10}}},
           // Axis 0 of a [2, 3, 1] is that of the rows.
           {"FusedMatMul",
            "transBatchA=1",
            {{{2, 3, 1}, {1, 2, 3, 4, 5, 6}}, {{3, 1, 1}, {1, 10, 100}}},
            {{1, 4, 20, 50, 300, 600}}},
           {"FusedGemm",
            "activation=LeakyRelu activation_alpha=0.5",
            {m, n, {{2}, {0, 1}}},
            {{5, -0.5, 11, -1.5}}},
           {"FusedGemm", "activation=Relu", {m, n}, {{5, 0, 11, 0}}},
           {"FusedConv", "activation=Relu", {x, w}, {{3, 0}}},
           {"FusedConv",
            "activation=Clip activation_params=[-4.0,3.5]",
            {x, w, {{1}, {1}}, {{1, 1, 1, 2}, {0, 1}}},
            {{3.5, -4}}},
           {"NhwcFusedConv",
            "activation=Relu",
            {{{1, 1, 1, 2}, {1, 2}}, Constant(kF32, {1, 2, 1, 1}, {3, 4})},
            {{11}}},
       })
    Check(row);
  CHECK(WhyNot({"FusedGemm", "activation=Selu", {m, n}, {{0}}}) ==
        "FusedGemm with the activation \"Selu\"");
  CHECK(WhyNot({"FusedGemm", "activation=LeakyRelu", {m, n}, {{0}}}) ==
        "the activation LeakyRelu has 0 parameters; 1 are needed");
}

// ---- Elements

TEST_CASE("activations with a bias") {
  const Operand x{{1, 2}, {1, 2}}, bias{{2}, {0, 1}}, sum{{1, 2}, {1, 3}};
  const Numbers exact = {0.8413447460685429, 2.99595030590511};
  const Numbers tanh = {0.8411919906082768, 2.996362607918227};
  for (const Row& row : std::vector<Row>{
           {"BiasGelu", "", {x, bias}, {exact}},
           {"FastGelu", "", {x, bias}, {tanh}},
           {"FastGelu", "", {sum}, {tanh}},
           {"Gelu", "", {sum}, {exact}},
           {"QuickGelu", "", {sum}, {{0.8457957659328212, 2.981928690292214}}},
           {"QuickGelu", "alpha=2.0", {sum}, {{0.8807970779778823, 2.992582130530096}}},
           {"BiasAdd", "", {x, bias, sum}, {{2, 6}}},
           {"BiasSplitGelu", "", {x, bias}, {{2.99595030590511}}},
           {"ExpandDims", "", {x, Constant(kI32, {}, {-1})}, {{1, 2}}},
           {"Trilu", "upper=0", {{{2, 2}, {1, 2, 3, 4}}}, {{1, 0, 3, 4}}},
           {"Unique", "", {{{5}, {2, 1, 1, 3, 2}}}, {{2, 1, 3}, {0, 1, 1, 2, 0}, {2, 2, 1}}},
           {"GridSample", "", {{{1, 1, 1, 2}, {2, 4}}, {{1, 1, 1, 2}, {0, 0}}}, {{3}}},
       })
    Check(row);
}

// ---- Normalizations

TEST_CASE("normalizations of sums") {
  const Operand x{{1, 1, 4}, {1, 2, 3, 6}}, skip{{1, 1, 4}, {1, 0, -1, 0}};
  const Operand gamma{{4}, {1, 2, 1, 2}}, beta{{4}, {0, 1, 0, 1}}, bias{{4}, {0, 1, 2, -1}};
  const Numbers sum = {2, 3, 4, 5}, plain = {2, 2, 2, 6};
  const Numbers centered = {-1.3416407865, 0.1055728090, 0.4472135955, 3.6832815730};
  const Numbers simple = {0.5547001962, 1.1094003925, 0.5547001962, 3.3282011774};
  for (const Row& row : std::vector<Row>{
           {"SkipLayerNormalization",
            "",
            {x, skip, gamma, beta, bias},
            {centered, {3.5}, {0.8944271910}, sum}},
           {"SkipLayerNormalization",
            "",
            {x, {{1, 4}, {1, 0, -1, 0}}, gamma, beta, bias},
            {centered, {}, {}, sum}},
           {"SkipSimplifiedLayerNormalization",
            "epsilon=1.0",
            {x, skip, gamma},
            {simple, {}, {0.2773500981}, plain}},
           {"SimplifiedLayerNormalization",
            "epsilon=1.0",
            {{{1, 1, 4}, plain}, gamma},
            {simple, {0.2773500981}},
            ""},
           {"LayerNormalization",
            "epsilon=0.0",
            {{{1, 1, 4}, sum}, gamma, beta},
            {centered, {3.5}, {0.8944271910}},
            ""},
           // Rows 1 and 0 of the words, 0 and 1 of the positions, 0 of the segments.
           {"EmbedLayerNormalization",
            "",
            {{{1, 2}, {1, 0}, kI32},
             {{1, 2}, {0, 0}, kI32},
             {{2, 4}, {0, 0, 0, 0, 1, 1, 0, 3}},
             {{2, 4}, {1, 1, 2, 2, 2, 3, 4, 5}},
             {{1, 4}, {0, 1, 2, 0}},
             gamma,
             beta,
             {{1, 2}, {1, 0}, kI32}},
            {{-1.3416407865, 0.1055728090, 0.4472135955, 3.6832815730,  //
              -1.5212776585, 0.6619382981, 1.1832159566, 2.0141851057},
             {1},
             {2, 3, 4, 5, 2, 4, 6, 5}}},
           {"GroupNorm",
            "groups=1 activation=0 epsilon=0.0",
            {{{1, 1, 1, 4}, sum}, gamma, beta},
            {centered}},
           {"GroupNorm",
            "groups=4 activation=1",
            {{{1, 1, 1, 4}, sum}, gamma, beta},
            {{0, 0.7310585786, 0, 0.7310585786}}},
           {"SkipGroupNorm",
            "groups=1 activation=0 epsilon=0.0",
            {{{1, 1, 1, 4}, {1, 2, 3, 6}}, gamma, beta, {{1, 1, 1, 4}, {1, 0, -1, 0}}, bias},
            {centered, sum}},
       })
    Check(row);
}

// ---- Attention. All scores are 0, so a result is the mean of the values that a query sees.

TEST_CASE("Attention and QAttention") {
  // Queries are 0; keys and values are x, 3 and 9.
  const Operand x{{1, 2, 1}, {3, 9}}, weights{{1, 3}, {0, 1, 1}}, bias{{3}, {0, 0, 0}};
  const Operand past{{2, 1, 1, 1, 1}, {0, 30}};
  for (const Row& row : std::vector<Row>{
           {"Attention", "num_heads=1", {x, weights}, {{6, 6}}},
           {"Attention", "num_heads=1 unidirectional=1", {x, weights, bias}, {{3, 6}}},
           {"Attention", "num_heads=1", {x, weights, bias, {{1}, {1}, kI32}}, {{3, 3}}},
           {"Attention", "num_heads=1", {x, weights, bias, {{2}, {2, 1}, kI32}}, {{9, 9}}},
           {"Attention", "num_heads=1", {x, weights, bias, {{1, 2}, {0, 1}, kI32}}, {{9, 9}}},
           {"Attention",
            "num_heads=1",
            {x, weights, bias, {{1, 2, 2}, {0, 1, 1, 1}, kI32}},
            {{9, 6}}},
           {"Attention",
            "num_heads=1",
            {x, weights, bias, kAbsent, past},
            {{14, 14}, {0, 3, 9, 30, 3, 9}}},
           {"Attention",
            "num_heads=1 unidirectional=1",
            {x, weights, bias, kAbsent, past},
            {{16.5, 14}}},
           {"Attention",
            "num_heads=1 qkv_hidden_sizes=[1,1,2] scale=2.0",
            {x, {{1, 4}, {0, 1, 1, 2}}},
            {{6, 12, 6, 12}}},
           {"QAttention",
            "num_heads=1 unidirectional=1",
            {{{1, 2, 1}, {5, 11}, kU8},
             Constant(kI8, {1, 3}, {0, 1, 1}),
             bias,
             Constant(kF32, {}, {0.5}),
             Constant(kF32, {3}, {1, 1, 4}),
             kAbsent,
             Constant(kU8, {}, {2})},
            {{6, 12}}},
           {"MultiHeadAttention", "num_heads=1", {{{1, 2, 1, 3, 1}, {0, 1, 3, 0, 2, 9}}}, {{6, 6}}},
           {"MultiHeadAttention",
            "num_heads=1",
            {{{1, 1, 1}, {0}}, {{1, 2, 1, 2, 1}, {1, 3, 2, 9}}},
            {{6}}},
       })
    Check(row);
  CHECK(WhyNot({"Attention", "num_heads=1 do_rotary=1", {x, weights}, {{0}}}) ==
        "Attention with do_rotary = 1");
  CHECK(WhyNot({"Attention", "num_heads=1", {x, weights, bias, {{3}, {0, 0, 0}, kI32}}, {{0}}})
            .find("a vector must have the size of the batch, or twice that") != std::string::npos);
}

TEST_CASE("GroupQueryAttention: the cache") {
  const std::string_view attrs = "num_heads=2 kv_num_heads=1";
  const Operand q{{2, 1, 2}, {0, 0, 0, 0}}, k{{2, 1, 1}, {1, 2}}, v{{2, 1, 1}, {12, 24}};
  const Operand past_k{{2, 1, 2, 1}, {5, 6, 7, 8}}, past_v{{2, 1, 2, 1}, {3, 6, 9, 15}};
  const Operand total{{1}, {3}, kI32};
  // Sequences of 3 and of 2 keys: the new key of the second replaces its last one in the past.
  const Operand last{{2}, {2, 1}, kI32};
  const Numbers keys = {5, 6, 1, 7, 2, 0}, values = {3, 6, 12, 9, 24, 0};
  const Operand longer_k{{2, 1, 4, 1}, {5, 6, 0, 0, 7, 8, 0, 0}};
  const Operand longer_v{{2, 1, 4, 1}, {3, 6, 0, 0, 9, 15, 0, 0}};
  for (const Row& row : std::vector<Row>{
           {"GroupQueryAttention",
            attrs,
            {q, k, v, past_k, past_v, last, total},
            {{7, 7, 16.5, 16.5}, keys, values}},
           {"GroupQueryAttention",
            attrs,
            {q, k, v, past_k, past_v, last, Constant(kI32, {}, {3})},
            {{7, 7, 16.5, 16.5}, keys, values}},
           // A cache with room for more.
           {"GroupQueryAttention",
            attrs,
            {q, k, v, longer_k, longer_v, last, total},
            {{7, 7, 16.5, 16.5}, {5, 6, 1, 0, 7, 2, 0, 0}, {3, 6, 12, 0, 9, 24, 0, 0}}},
           // The first L keys of a prompt: a past is ignored.
           {"GroupQueryAttention",
            attrs,
            {{{1, 2, 4}, {0, 0, 1, 3, 0, 0, 2, 9}},
             kAbsent,
             kAbsent,
             kAbsent,
             kAbsent,
             {{1}, {1}, kI32},
             {{1}, {2}, kI32}},
            {{3, 3, 6, 6}, {1, 2}, {3, 9}}},
           {"GroupQueryAttention",
            attrs,
            {{{1, 1, 2}, {0, 0}},
             {{1, 1, 1}, {1}},
             {{1, 1, 1}, {3}},
             {{1, 1, 2, 1}, {7, 7}},
             {{1, 1, 2, 1}, {7, 7}},
             {{1}, {0}, kI32},
             {{1}, {1}, kI32}},
            {{3, 3}, {1, 0}, {3, 0}}},
           // One more score of 0, or of log(3) and -infinity.
           {"GroupQueryAttention",
            "num_heads=2 kv_num_heads=1 smooth_softmax=1",
            {q, k, v, past_k, past_v, last, total},
            {{5.25, 5.25, 11, 11}}},
           {"GroupQueryAttention",
            attrs,
            {q, k, v, past_k, past_v, last, total, kAbsent, kAbsent, kAbsent, kAbsent,
             Constant(kF32, {2}, {std::log(3), -1000})},
            {{3.5, 7, 6.6, 16.5}}},
           // A bias of log(4) for the first of the keys.
           {"GroupQueryAttention",
            attrs,
            {q, k, v, past_k, past_v, last, total, kAbsent, kAbsent, kAbsent,
             Constant(kF32, {1, 1, 1, 3}, {std::log(4), 0, 0})},
            {{5, 5, 12, 12}}},
       })
    Check(row);
}

TEST_CASE("GroupQueryAttention: rotation, and what is refused") {
  // Position 0 is not rotated, position 1 by a right angle.
  const Operand cos = Constant(kF32, {2, 1}, {1, 0}), sin = Constant(kF32, {2, 1}, {0, 1});
  const auto row = [&](std::string_view attrs, const Operand& ids, Numbers keys) {
    return Row{"GroupQueryAttention",
               attrs,
               {{{1, 1, 2}, {0, 0}},
                {{1, 1, 2}, {3, 4}},
                {{1, 1, 2}, {8, 16}},
                {{1, 1, 1, 2}, {5, 6}},
                {{1, 1, 1, 2}, {2, 4}},
                {{1}, {1}, kI32},
                Constant(kI32, {}, {2}),
                cos,
                sin,
                ids},
               {{5, 10}, std::move(keys)}};
  };
  const std::string_view rotated = "num_heads=1 kv_num_heads=1 do_rotary=1";
  Check(row(rotated, kAbsent, {5, 6, -4, 3}));
  Check(row(rotated, {{1, 1}, {0}, kI64}, {5, 6, 3, 4}));
  Check(row("num_heads=1 kv_num_heads=1 do_rotary=1 rotary_interleaved=1 local_window_size=2",
            kAbsent, {5, 6, -4, 3}));
  for (const auto& [attrs, reason] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"num_heads=1 kv_num_heads=1 local_window_size=1",
            "GroupQueryAttention with local_window_size = 1 for 2 keys; releases of ONNX Runtime "
            "disagree on the keys of a window"},
           {"num_heads=1 kv_num_heads=1 k_quant_type=PER_TENSOR",
            "GroupQueryAttention with k_quant_type = PER_TENSOR"},
           {"num_heads=3 kv_num_heads=2", "num_heads is 3 and kv_num_heads 2"},
       })
    CHECK(WhyNot(row(attrs, kAbsent, {0})) == reason);
}

}  // namespace
}  // namespace nn::test::onnx_contrib_test
