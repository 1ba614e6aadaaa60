// The recurrent layers in TensorFlow Lite files: operators, versions, states, and a second import.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "formats/tflite/file.h"
#include "support/run_graph.h"

namespace nn::test::tflite_layers_test {
namespace {

namespace fb = tflite::fb;

struct Row {
  std::string name;
  std::string graph;
  std::string operators;  // of the file
  int states;
};

// An lstm on quantized types, with attributes and the shapes of x and of the states.
std::string QuantizedLstm(std::string_view attrs, std::string_view x, std::string_view state,
                          int directions) {
  return fmt::format(R"(graph {{ in %x: i8[{1}]{{scale=0.02, zp=3}}
      const %w: i8[{3}, 8, 4]{{axis=1, scale=[0.01, 0.01, 0.02, 0.02, 0.03, 0.03, 0.01, 0.01]}} = seeded(1)
      const %r: i8[{3}, 8, 2]{{scale=0.01}} = seeded(2)
      const %h: i8[{2}]{{scale=0.0078125, zp=-1}} = splat(-1)
      const %c: i16[{2}]{{scale=0.00048828125}} = splat(0)
      const %p: i16[{3}, 6]{{scale=0.0001}} = seeded(3)
      %y = lstm(%x, %w, %r, _, _, %h, %c, %p) {{{0}}} @tflite : i8[*]{{scale=0.0078125, zp=-1}}
      out "y" = %y }})",
                     attrs, x, state, directions);
}

TEST_CASE("tflite: 16-bit sums with pot_scale_int16, which is the default") {
  const auto file = [](std::string_view op, double a, double b, double y) {
    std::string out = FileOf(Parse(fmt::format(R"(graph {{
      in %a: i16[4]{{scale={}}}
      in %b: i16[4]{{scale={}}}
      %y = {}(%a, %b) @tflite : i16[4]{{scale={}}}
      out "y" = %y }})",
                                               a, b, op, y)));
    const fb::Operator& node = *Root(out).subgraphs()->Get(0)->operators()->Get(0);
    const auto* const options = static_cast<const flatbuffers::Table*>(node.builtin_options());
    const auto field =
        op == "add" ? +fb::AddOptions::VT_POT_SCALE_INT16 : +fb::SubOptions::VT_POT_SCALE_INT16;
    const uint8_t* const flag = options->GetAddressOf(field);
    REQUIRE(flag != nullptr);
    out[static_cast<size_t>(flag - reinterpret_cast<const uint8_t*>(out.data()))] = 1;
    return out;
  };
  for (const std::string_view op : {"add", "sub"}) {
    // The arithmetic for arbitrary scales, unless all are powers of two.
    CHECK(ImportFile(file(op, 0.001, 0.002, 0.003)).has_value());
    CHECK(ImportFile(file(op, 0.5, 0.25, 0.3)).has_value());
    CHECK(ImportFile(file(op, 0.25, 0.25, 0.25)).has_value());
    const auto refused = ImportFile(file(op, 0.5, 0.25, 0.5));
    REQUIRE(!refused.has_value());
    CHECK(refused.error().message().find("INT16 with different scales that are powers of two") !=
          std::string::npos);
  }
}

TEST_CASE("tflite: layers with states") {
  const std::string lstm = R"(const %w: f32[1, 16, 3] = seeded(1)
      const %r: f32[1, 16, 4] = seeded(2) )";
  for (const Row& r : {
           Row{"one direction of any number of steps, and its final state",
               "graph { in %x: f32[n, 2, 3] " + lstm +
                   R"(%y, %h, %c = lstm(%x, %w, %r) {cell_clip = 0.5}
                      out "y" = %y
                      out "h" = %h })",
               "UNIDIRECTIONAL_SEQUENCE_LSTM v1, PACK v1, STRIDED_SLICE v1, SQUEEZE v1", 2},
           Row{"the reverse direction",
               "graph { in %x: f32[n, 2, 3] " + lstm +
                   R"(%y = lstm(%x, %w, %r) {direction = reverse} out "y" = %y })",
               "REVERSE_V2 v1, UNIDIRECTIONAL_SEQUENCE_LSTM v1, REVERSE_V2 v1, PACK v1", 2},
           Row{"lengths",
               "graph { in %x: f32[5, 2, 3] " + lstm +
                   R"(const %l: i32[2] = [0, 3]
                      %y = lstm(%x, %w, %r, _, %l) out "y" = %y })",
               "UNIDIRECTIONAL_SEQUENCE_LSTM v1, PACK v1, SELECT_V2 v1", 2},
           Row{"both directions",
               R"(graph { in %x: f32[2, n, 3]
                  const %w: f32[2, 4, 3] = seeded(1)
                  const %r: f32[2, 4, 4] = seeded(2)
                  %y = rnn(%x, %w, %r) {direction = bidirectional, batch_first = true}
                  out "y" = %y })",
               "BIDIRECTIONAL_SEQUENCE_RNN v1, PACK v1", 2},
           Row{"both directions of an LSTM, the batch first",
               R"(graph { in %x: f32[2, n, 3]
                  const %w: f32[2, 16, 3] = seeded(1)
                  const %r: f32[2, 16, 4] = seeded(2)
                  %y = lstm(%x, %w, %r) {direction = bidirectional, batch_first = true}
                  out "y" = %y })",
               "BIDIRECTIONAL_SEQUENCE_LSTM v2, PACK v1", 4},
           Row{"functions that differ by direction",
               R"(graph { in %x: f32[n, 2, 3]
                  const %w: f32[2, 4, 3] = seeded(1)
                  const %r: f32[2, 4, 4] = seeded(2, 0.1)
                  %y = rnn(%x, %w, %r) {direction = bidirectional, activations = ["relu", "tanh"],
                                        alpha = [0, 0], beta = [0, 0]}
                  out "y" = %y })",
               "UNIDIRECTIONAL_SEQUENCE_RNN v1, REVERSE_V2 v1, UNIDIRECTIONAL_SEQUENCE_RNN v1, "
               "REVERSE_V2 v1, PACK v1",
               2},
           Row{"integers", QuantizedLstm("cell_clip = 0.5", "n, 3, 4", "1, 3, 2", 1),
               "UNIDIRECTIONAL_SEQUENCE_LSTM v1, PACK v2", 2},
           Row{"integers in the reverse direction, the batch first",
               QuantizedLstm("direction = reverse, batch_first = true", "3, n, 4", "3, 1, 2", 1),
               "REVERSE_V2 v3, UNIDIRECTIONAL_SEQUENCE_LSTM v1, REVERSE_V2 v3, PACK v2", 2},
           Row{"integers in both directions",
               QuantizedLstm("direction = bidirectional", "n, 3, 4", "2, 3, 2", 2),
               "UNIDIRECTIONAL_SEQUENCE_LSTM v1, REVERSE_V2 v3, UNIDIRECTIONAL_SEQUENCE_LSTM v1, "
               "REVERSE_V2 v3, PACK v2",
               4},
           Row{"a projection and normalized gates",
               R"(graph { in %x: f32[n, 2, 3]
                  const %w: f32[16, 3] = seeded(1)
                  const %r: f32[16, 2] = seeded(2)
                  const %n: f32[16] = seeded(3)
                  const %m: f32[2, 4] = seeded(4)
                  %y = extended_lstm(%x, %w, %r, _, _, _, _, %n, %m) {projection_clip = 0.5}
                  out "y" = %y })",
               "UNIDIRECTIONAL_SEQUENCE_LSTM v1", 2},
           Row{"integers with coupled gates and a projection",
               R"(graph { in %x: i8[2, n, 3]{scale=0.02, zp=3}
                  const %w: i8[12, 3]{scale=0.01} = seeded(1)
                  const %r: i8[12, 2]{scale=0.01} = seeded(2)
                  const %h: i8[2, 2]{scale=0.0078125, zp=-1} = splat(-1)
                  const %c: i16[2, 4]{scale=0.00048828125} = splat(0)
                  const %m: i8[2, 4]{scale=0.01} = seeded(4)
                  %y = extended_lstm(%x, %w, %r, _, %h, %c, _, _, %m)
                      {batch_first = true, coupled = true, hidden_scale = 0.004} @tflite
                      : i8[*]{scale=0.0078125, zp=-1}
                  out "y" = %y })",
               "UNIDIRECTIONAL_SEQUENCE_LSTM v1", 2},
           Row{"SVDF",
               R"(graph { in %x: f32[2, 3]
                  const %f: f32[4, 3] = seeded(1)
                  const %t: f32[4, 5] = seeded(2)
                  %y = svdf(%x, %f, %t) {rank = 2}
                  %z = relu(%y)
                  out "z" = %z })",
               "SVDF v1", 1},
       }) {
    CAPTURE(r.name);
    const std::string file = FileOf(Parse(r.graph));
    CHECK(fmt::format("{}", fmt::join(OperatorsOf(file), ", ")) == r.operators);
    int states = 0;
    for (const fb::Tensor* t : *Root(file).subgraphs()->Get(0)->tensors())
      states += t->is_variable() ? 1 : 0;
    CHECK(states == r.states);
    const auto again = ImportFile(file);
    REQUIRE_MESSAGE(again.has_value(), again.error().message());
  }
}

TEST_CASE("tflite: what the integer kernels take from the file") {
  const std::string lstm =
      FileOf(Parse(QuantizedLstm("direction = forward", "2, 3, 4", "1, 3, 2", 1)));
  const fb::SubGraph& g = *Root(lstm).subgraphs()->Get(0);
  const fb::Operator& op = *g.operators()->Get(0);
  REQUIRE(op.intermediates() != nullptr);
  REQUIRE(op.intermediates()->size() == 5);
  const fb::Tensor& hidden = *g.tensors()->Get(static_cast<unsigned>(op.intermediates()->Get(4)));
  CHECK(hidden.type() == fb::TensorType::INT8);
  CHECK(hidden.quantization()->scale()->Get(0) == 0.0078125f);
  CHECK(hidden.quantization()->zero_point()->Get(0) == -1);
  // The bias of the forget gate, in units of the products.
  const fb::Tensor& bias = *g.tensors()->Get(static_cast<unsigned>(op.inputs()->Get(13)));
  CHECK(bias.type() == fb::TensorType::INT32);
  CHECK(bias.quantization()->scale()->Get(0) == 0.02f * 0.03f);

  const std::string svdf = FileOf(Parse(R"(graph { in %x: i8[2, 3]{scale=0.05, zp=3}
      const %f: i8[4, 3]{scale=0.02} = seeded(1)
      const %t: i16[4, 5]{scale=0.0001} = seeded(2)
      const %s: i16[2, 4, 5]{scale=0.002} = splat(0)
      %y = svdf(%x, %f, %t, _, %s) {rank = 2} @tflite : i8[2, 2]{scale=0.1, zp=-128}
      out "y" = %y })"));
  CHECK(OperatorsOf(svdf) == std::vector<std::string>{"SVDF v3"});
  const auto* options =
      Root(svdf).subgraphs()->Get(0)->operators()->Get(0)->builtin_options_as_SVDFOptions();
  REQUIRE(options != nullptr);
  CHECK(options->fused_activation_function() == fb::ActivationFunctionType::RELU);
  CHECK(options->rank() == 2);

  // A state of i8 keeps its zero point, which is what a variable holds in the first run.
  const Graph narrow = Parse(R"(graph { in %x: i8[2, 3]{scale=0.05, zp=3}
      const %f: i8[4, 3]{scale=0.02} = seeded(1)
      const %t: i8[4, 5]{scale=0.01} = seeded(2)
      const %s: i8[2, 4, 5]{scale=0.1, zp=-50} = splat(-50)
      %y = svdf(%x, %f, %t, _, %s) {rank = 2} @tflite : i8[2, 2]{scale=0.1, zp=-128}
      out "y" = %y })");
  const std::string file = FileOf(narrow);
  CHECK(OperatorsOf(file) == std::vector<std::string>{"SVDF v3"});
  const fb::SubGraph& sub = *Root(file).subgraphs()->Get(0);
  const auto state_index = static_cast<unsigned>(sub.operators()->Get(0)->inputs()->Get(4));
  const fb::Tensor& state = *sub.tensors()->Get(state_index);
  CHECK(state.is_variable());
  CHECK(state.type() == fb::TensorType::INT8);
  CHECK(state.quantization()->zero_point()->Get(0) == -50);
}

}  // namespace
}  // namespace nn::test::tflite_layers_test
