// Operators of TensorFlow Lite that call subgraphs, which the import resolves.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/format.h"
#include "support/run_graph.h"
#include "validators/rule_cases.h"

namespace nn::test::tflite_control_test {
namespace {

struct Code {
  const char* name;
  int number;
};
constexpr Code kCodes[] = {{"WHILE", 119}, {"LESS", 58},        {"ADD", 0},
                           {"GATHER", 36}, {"EXPAND_DIMS", 70}, {"CONCATENATION", 2},
                           {"PACK", 83},   {"SLICE", 65},       {"NEG", 59},
                           {"MUL", 18},    {"IF", 118},         {"CONCAT_EMBEDDINGS", 29}};

// An operator on tensors by index.
std::string Op(std::string_view name, const std::vector<int>& inputs,
               const std::vector<int>& outputs, std::string_view options_type = "",
               std::string_view options = "{}") {
  size_t code = 0;
  while (code < std::size(kCodes) && kCodes[code].name != name) ++code;
  REQUIRE(code < std::size(kCodes));
  std::string out = fmt::format("{{\"opcode_index\": {}, \"inputs\": [{}], \"outputs\": [{}]", code,
                                fmt::join(inputs, ", "), fmt::join(outputs, ", "));
  if (!options_type.empty())
    out += fmt::format(", \"builtin_options_type\": \"{}\", \"builtin_options\": {}", options_type,
                       options);
  return out + "}";
}

struct Tensor {
  const char* type;
  std::vector<int> shape;
  std::vector<int> contents = {};  // of a constant of type INT32, with buffer 1 or 2
};

// Constants get the buffers after the first, in order.
std::string Subgraph(const std::vector<Tensor>& tensors, const std::vector<int>& inputs,
                     const std::vector<int>& outputs, const std::vector<std::string>& operators,
                     std::vector<std::string>& buffers) {
  std::vector<std::string> list;
  for (const Tensor& t : tensors) {
    std::string entry = fmt::format("{{\"name\": \"t{}\", \"type\": \"{}\", \"shape\": [{}]",
                                    list.size(), t.type, fmt::join(t.shape, ", "));
    if (!t.contents.empty()) {
      std::vector<int> bytes;
      for (const int v : t.contents)
        for (int k = 0; k < 4; ++k)
          bytes.push_back(static_cast<int>(static_cast<uint32_t>(v) >> (8 * k) & 255));
      entry += fmt::format(", \"buffer\": {}", buffers.size());
      buffers.push_back(fmt::format("{{\"data\": [{}]}}", fmt::join(bytes, ", ")));
    }
    list.push_back(entry + "}");
  }
  return fmt::format(
      "{{\"tensors\": [{}], \"inputs\": [{}], \"outputs\": [{}], \"operators\": [{}]}}",
      fmt::join(list, ",\n"), fmt::join(inputs, ", "), fmt::join(outputs, ", "),
      fmt::join(operators, ",\n"));
}

Result<ImportedModel> Import(const std::vector<std::string>& subgraphs,
                             const std::vector<std::string>& buffers) {
  std::vector<std::string> codes;
  for (const Code& c : kCodes)
    codes.push_back(fmt::format("{{\"deprecated_builtin_code\": {}, \"builtin_code\": \"{}\"}}",
                                c.number, c.name));
  const std::string json = fmt::format(
      "{{\"version\": 3, \"operator_codes\": [{}], \"subgraphs\": [{}], \"buffers\": [{}]}}",
      fmt::join(codes, ", "), fmt::join(subgraphs, ",\n"), fmt::join(buffers, ",\n"));
  const std::string file = EncodeFlatbuffer("tflite.fbs", json);
  const Format& format = *FindFormat("tflite");
  NN_ASSIGN(const auto model,
            format.reader.Read(Blob::Copy(std::as_bytes(std::span(file))), "m.tflite", {}));
  return format.importer.Import(*model);
}

std::string WhyNot(const std::vector<std::string>& subgraphs,
                   const std::vector<std::string>& buffers) {
  const auto imported = Import(subgraphs, buffers);
  if (!imported) return imported.error().message();
  std::string out;
  for (const auto& u : imported->unsupported) out += fmt::format("{}: {}\n", u.source, u.reason);
  out += WhyOpen(imported->graph);
  return out;
}

constexpr std::string_view kWhile = "{\"cond_subgraph_index\": 1, \"body_subgraph_index\": 2}";

// The loop values of Keras's recurrent layers: the time, the state, the outputs so far, and the
// inputs; the outputs of a step are written into those of all steps by slices and a concatenation.
struct Rnn {
  std::vector<std::string> buffers = {"{}"};
  std::vector<std::string> subgraphs;

  // `limit`: of the time, as the contents of a constant, or empty: an input of the model.
  explicit Rnn(const std::vector<int>& limit, const char* step = "ADD") {
    const Tensor time = {"INT32", {}}, h = {"FLOAT32", {1, 2}}, all = {"FLOAT32", {3, 1, 2}};
    const bool given = limit.empty();
    const Tensor end = {"INT32", {}, limit};
    const Tensor start = {"INT32", {}, {0}};
    std::vector<int> inputs = {1, 2, 3};
    if (given) inputs.push_back(4);
    subgraphs.push_back(
        Subgraph({start, h, all, all, end, time, h, all, all, time}, inputs, {6, 7},
                 {Op("WHILE", {0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}, "WhileOptions", kWhile)}, buffers));
    subgraphs.push_back(Subgraph({time, h, all, all, time, {"BOOL", {}}}, {0, 1, 2, 3, 4}, {5},
                                 {Op("LESS", {0, 4}, {5}, "LessOptions")}, buffers));
    subgraphs.push_back(Subgraph(
        {time,  // 0
         h,
         all,
         all,
         time,
         {"INT32", {}, {1}},  // 5
         {"INT32", {3}, {0, 0, 0}},
         {"INT32", {}, {2}},
         {"INT32", {3}, {-1, -1, -1}},
         {"INT32", {}, {0}},
         time,                    // 10: time + 1
         h,                       // 11: x[time]
         h,                       // 12: the new state
         {"INT32", {3}},          // 13: [time, 1, 2]
         all,                     // 14: outputs[:time]
         {"INT32", {3}},          // 15: [time + 1, 0, 0]
         all,                     // 16: outputs[time + 1:]
         {"FLOAT32", {1, 1, 2}},  // 17
         all},
        {0, 1, 2, 3, 4}, {10, 12, 18, 3, 4},
        {Op("ADD", {0, 5}, {10}, "AddOptions"), Op("GATHER", {3, 0}, {11}, "GatherOptions"),
         Op(step, {1, 11}, {12}, std::string_view(step) == "ADD" ? "AddOptions" : ""),
         Op("PACK", {0, 5, 7}, {13}, "PackOptions", "{\"values_count\": 3}"),
         Op("SLICE", {2, 6, 13}, {14}, "SliceOptions"),
         Op("PACK", {10, 9, 9}, {15}, "PackOptions", "{\"values_count\": 3}"),
         Op("SLICE", {2, 15, 8}, {16}, "SliceOptions"),
         Op("EXPAND_DIMS", {12, 9}, {17}, "ExpandDimsOptions"),
         Op("CONCATENATION", {14, 17, 16}, {18}, "ConcatenationOptions", "{\"axis\": 0}")},
        buffers));
  }
};

TEST_CASE("tflite WHILE: a recurrent layer is unrolled") {
  const Rnn rnn({3});
  const auto imported = Import(rnn.subgraphs, rnn.buffers);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  for (const auto& u : imported->unsupported) FAIL(u.reason);
  CHECK(imported->graph.outputs()[1].value->type().ToString() == "f32[3, 1, 2]");
  const auto outputs =
      RunEverywhere(imported->graph,
                    InputsOf(imported->graph, {{10, 20}, {0, 0, 0, 0, 0, 0}, {1, 2, 3, 4, 5, 6}}));
  CHECK(outputs[0].ToDoubles() == std::vector<double>{19, 32});
  CHECK(outputs[1].ToDoubles() == std::vector<double>{11, 22, 14, 26, 19, 32});
  // No operator computes the time or the condition.
  for (const Node& node : imported->graph.nodes()) CHECK(node.output()->dtype() == DType::kF32);
}

// The state is doubled for a number of steps, which is an input.
TEST_CASE("tflite WHILE: a run decides about the end") {
  std::vector<std::string> buffers = {"{}"};
  const Tensor time = {"INT32", {1}}, x = {"FLOAT32", {2}};
  const std::vector<std::string> subgraphs = {
      Subgraph({{"INT32", {1}, {0}}, x, time, time, x, time}, {1, 2}, {4, 3},
               {Op("WHILE", {0, 1, 2}, {3, 4, 5}, "WhileOptions", kWhile)}, buffers),
      Subgraph({time, x, time, {"BOOL", {1}}}, {0, 1, 2}, {3},
               {Op("LESS", {0, 2}, {3}, "LessOptions")}, buffers),
      Subgraph({time, x, time, {"INT32", {1}, {1}}, time, x}, {0, 1, 2}, {4, 5, 2},
               {Op("ADD", {0, 3}, {4}, "AddOptions"), Op("ADD", {1, 1}, {5}, "AddOptions")},
               buffers)};
  const auto imported = Import(subgraphs, buffers);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  for (const auto& u : imported->unsupported) FAIL(u.reason);
  CHECK(WhyOpen(imported->graph) ==
        "WHILE: the condition depends on input \"t2\", which nnconvert --fix-input makes a "
        "constant\n");
  const auto run = [&](double steps) {
    const auto outputs =
        RunEverywhere(imported->graph, InputsOf(imported->graph, {{1, 3}, {steps}}));
    CHECK(outputs[1].GetDouble(0) == std::max(steps, 0.0));
    return outputs[0].ToDoubles();
  };
  CHECK(run(4) == std::vector<double>{16, 48});
  CHECK(run(1) == std::vector<double>{2, 6});
  CHECK(run(0) == std::vector<double>{1, 3});
  CHECK(run(-7) == std::vector<double>{1, 3});
}

TEST_CASE("tflite WHILE: a recurrent layer of as many steps as a run says is a loop") {
  const Rnn rnn({});
  const auto imported = Import(rnn.subgraphs, rnn.buffers);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  for (const auto& u : imported->unsupported) FAIL(u.reason);
  CHECK(WhyOpen(imported->graph) == "WHILE: the condition is computed when the model runs\n");
}

TEST_CASE("tflite WHILE: reasons") {
  const auto why = [](const Rnn& rnn) { return WhyNot(rnn.subgraphs, rnn.buffers); };
  // Reported once.
  CHECK(why(Rnn({3}, "CONCAT_EMBEDDINGS")) ==
        "CONCAT_EMBEDDINGS: CONCAT_EMBEDDINGS (version 1) is unsupported\n");
  CHECK(why(Rnn({1 << 30})).find("more than 65536 operators") != std::string::npos);
  // x -> x + x for ever.
  std::vector<std::string> buffers = {"{}"};
  const Tensor time = {"INT32", {}}, x = {"FLOAT32", {2}};
  const std::vector<std::string> endless = {
      Subgraph({{"INT32", {}, {0}}, x, time, x}, {1}, {3},
               {Op("WHILE", {0, 1}, {2, 3}, "WhileOptions", kWhile)}, buffers),
      Subgraph({time, x, {"INT32", {}, {5}}, {"BOOL", {}}}, {0, 1}, {3},
               {Op("LESS", {0, 2}, {3}, "LessOptions")}, buffers),
      Subgraph({time, x, x}, {0, 1}, {0, 2}, {Op("ADD", {1, 1}, {2}, "AddOptions")}, buffers)};
  CHECK(WhyNot(endless, buffers) ==
        "WHILE: the subgraphs of the model have more than 65536 operators when inlined, and loops "
        "unrolled\n");
}

// The condition is a constant, which is not an input of the model.
TEST_CASE("tflite IF: only the branch of a known condition is imported") {
  std::vector<std::string> buffers = {"{}"};
  const Tensor x = {"FLOAT32", {2}};
  const std::vector<std::string> subgraphs = {
      Subgraph({{"INT32", {}, {1}}, {"INT32", {}, {2}}, {"BOOL", {}}, x, x}, {3}, {4},
               {Op("LESS", {0, 1}, {2}, "LessOptions"),
                Op("IF", {2, 3}, {4}, "IfOptions",
                   "{\"then_subgraph_index\": 1, \"else_subgraph_index\": 2}")},
               buffers),
      Subgraph({x, x}, {0}, {1}, {Op("NEG", {0}, {1})}, buffers),
      Subgraph({x, x}, {0}, {1}, {Op("CONCAT_EMBEDDINGS", {0}, {1})}, buffers)};
  const auto imported = Import(subgraphs, buffers);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  for (const auto& u : imported->unsupported) FAIL(u.reason);
  const auto outputs = RunEverywhere(imported->graph, InputsOf(imported->graph, {{1, -2}}));
  CHECK(outputs[0].ToDoubles() == std::vector<double>{-1, 2});
}

}  // namespace
}  // namespace nn::test::tflite_control_test
