// The states of layers of TensorFlow Lite as inputs and outputs.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/given_inputs.h"
#include "formats/tflite/file.h"
#include "support/run_graph.h"

namespace nn::test::tflite_state_test {
namespace {

namespace fb = tflite::fb;

using Values = std::vector<std::vector<double>>;

Result<ImportedModel> Import(const std::string& file, StatePorts ports) {
  NN_ASSIGN(const ReadModel read,
            ReadModelBytes(Blob::Copy(std::as_bytes(std::span(file))), "m.tflite"));
  return ImportModel(read, "m.tflite", {.states = ports});
}

Values Run(const Graph& graph, const Values& inputs) {
  Values out;
  for (const Tensor& t : RunEverywhere(graph, InputsOf(graph, inputs)))
    out.push_back(t.ToDoubles());
  return out;
}

// Runs a layer for all steps of a sequence at once, and step by step with the states as ports.
TEST_CASE("tflite: the states of layers are those between the steps of a sequence") {
  struct Row {
    const char* name;
    const char* layer;  // of x f32[STEPS, 1, 3]
    size_t states;
  };
  const Row rows[] = {
      {"rnn", R"(const %w: f32[1, 2, 3] = seeded(1)  const %r: f32[1, 2, 2] = seeded(2)
                 %a = rnn(%x, %w, %r))",
       1},
      {"lstm", R"(const %w: f32[1, 8, 3] = seeded(1)  const %r: f32[1, 8, 2] = seeded(2)
                  %a = lstm(%x, %w, %r))",
       2}};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto file = [&](int steps) {
      return FileOf(Parse(fmt::format(
          "graph {{ in %x: f32[{}, 1, 3]  {}  %y = squeeze(%a) {{axes=[1]}}  out \"y\" = %y }}",
          steps, row.layer)));
    };
    const auto whole = Import(file(3), StatePorts::kNone);
    REQUIRE_MESSAGE(whole.has_value(), whole.error().message());
    const auto step = Import(file(1), StatePorts::kAll);
    REQUIRE_MESSAGE(step.has_value(), step.error().message());
    REQUIRE(step->states.size() == row.states);
    const std::vector<double> x = {0.5, -1, 2, 0.25, 1, -0.75, -2, 0.125, 3};
    std::vector<double> all;
    Values inputs(1 + row.states, std::vector<double>{0, 0});
    for (size_t t = 0; t < 3; ++t) {
      inputs[0].assign(x.begin() + static_cast<std::ptrdiff_t>(3 * t),
                       x.begin() + static_cast<std::ptrdiff_t>(3 * t + 3));
      const Values outputs = Run(step->graph, inputs);
      all.insert(all.end(), outputs[0].begin(), outputs[0].end());
      for (size_t i = 1; i < inputs.size(); ++i) inputs[i] = outputs[i];
    }
    CHECK(all == Run(whole->graph, {x})[0]);
  }
}

TEST_CASE("tflite: the state of svdf") {
  for (const bool quantized : {false, true}) {
    CAPTURE(quantized);
    const std::string file = FileOf(Parse(quantized ? R"(graph { in %x: i8[1, 3]{scale=0.02, zp=3}
            const %f: i8[4, 3]{scale=0.01} = seeded(1)  const %t: i16[4, 2]{scale=0.001} = seeded(2)
            const %s: i16[1, 4, 2]{scale=0.0005} = splat(0)
            %y = svdf(%x, %f, %t, _, %s) {rank=2} @tflite : i8[*]{scale=0.05, zp=-4}
            out "y" = %y })"
                                                    : R"(graph { in %x: f32[1, 3]
            const %f: f32[4, 3] = seeded(1)  const %t: f32[4, 2] = seeded(2)
            %y = svdf(%x, %f, %t) {rank=2}  out "y" = %y })"));
    const auto m = Import(file, StatePorts::kAll);
    REQUIRE_MESSAGE(m.has_value(), m.error().message());
    REQUIRE(m->states.size() == 1);
    const std::vector<double> zeros(8, 0), a = {1, 2, 3};
    const Values first = Run(m->graph, {a, zeros});
    // The oldest features go: the second step of the same input keeps those of both.
    const Values second = Run(m->graph, {a, first[1]});
    for (size_t f = 0; f < 4; ++f) {
      CHECK(first[1][2 * f] == 0);
      CHECK(second[1][2 * f] == first[1][2 * f + 1]);
      CHECK(second[1][2 * f + 1] == first[1][2 * f + 1]);
    }
    CHECK(second[0] != first[0]);
    // The decomposition has the same bits.
    if (quantized) continue;
    const auto initial = Import(file, StatePorts::kNone);
    REQUIRE(initial.has_value());
    CHECK(Run(initial->graph, {a})[0] == first[0]);
  }
}

// LiteRT fails without an operator whose result has an unknown shape.
TEST_CASE("tflite: the body of a loop reshapes a scalar if a carried value changes its shape") {
  const auto reshapes = [](std::string_view carried, std::string_view next, std::string_view go) {
    const std::string file = FileOf(Parse(fmt::format(R"(graph {{
      in %x: f32[1, 3]
      in %n: i64[]
      in %go: bool[]
      %y = loop({2}, %x) {{carried = 1, why = "the end is an input"}} regions {{
        graph {{ in %i: i64[] in %v: {0}
          const %limit: f32[] = [9]
          %w = {1}
          %s = reduce_sum(%w) {{axes = [0, 1], keep_dims = false}}
          %more = less(%s, %limit)
          out "more" = %more  out "w" = %w }}
      }}
      out "y" = %y }})",
                                                      carried, next, go)));
    int count = 0;
    const auto& body = *Root(file).subgraphs()->Get(2)->operators();
    for (const fb::Operator* op : body)
      count += Root(file).operator_codes()->Get(op->opcode_index())->builtin_code() ==
               fb::BuiltinOperator::RESHAPE;
    return count;
  };
  for (const std::string_view go : {"%n, _", "_, %go", "%n, %go"}) {
    CAPTURE(go);
    CHECK(reshapes("f32[1, 3]", "add(%v, %v)", go) == 0);
    CHECK(reshapes("f32[k, 3]", "concat(%v, %v) {axis = 0}", go) == 1);
  }
}

}  // namespace
}  // namespace nn::test::tflite_state_test
