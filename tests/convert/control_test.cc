// Loops and branches that a run decides about, in all formats.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "convert/place/written.h"
#include "convert/verify/verify.h"
#include "formats/format.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::control_test {
namespace {

using Inputs = std::vector<std::vector<double>>;

struct Case {
  std::string name;
  std::string graph;
  std::vector<Inputs> runs;
};

// A loop of `carried` values. `ports`: what follows the number of the iteration.
std::string Loop(const std::string& inputs, const std::string& results, int carried,
                 const std::string& body) {
  return fmt::format(
      "  {} = loop({}) {{carried = {}, why = \"a run decides\"}} regions {{\n    graph {{\n"
      "      in %i: i64[]\n{}    }}\n  }}\n",
      results, inputs, carried, body);
}

std::string Branch(const std::string& inputs, const std::string& results, const std::string& yes,
                   const std::string& no) {
  return fmt::format(
      "  {} = branch({}) {{why = \"a run decides\"}} regions {{\n    graph {{\n{}    }}\n"
      "    graph {{\n{}    }}\n  }}\n",
      results, inputs, yes, no);
}

const std::string kDoubling =
    "      in %v: f32[2]\n"
    "      in %w: f32[2]\n"
    "      const %limit: f32[] = [20]\n"
    "      %u = add(%v, %w)\n"
    "      %top = reduce_max(%u) {axes = [0]}\n"
    "      %go = less(%top, %limit)\n"
    "      out \"go\" = %go\n"
    "      out \"u\" = %u\n";

std::vector<Case> Cases() {
  return {
      {"trip count",
       "graph {\n  in %x: f32[2]\n  in %n: i64[]\n" + Loop("%n, _, %x, %x", "%y", 1, kDoubling) +
           "  out \"y\" = %y\n}",
       {{{1, 2}, {0}}, {{1, 2}, {1}}, {{1, 2}, {12}}, {{1, 2}, {-2}}}},
      {"condition",
       "graph {\n  in %x: f32[2]\n  in %c: bool[]\n" + Loop("_, %c, %x, %x", "%y", 1, kDoubling) +
           "  out \"y\" = %y\n}",
       {{{1, 2}, {0}}, {{1, 2}, {1}}, {{30, 2}, {1}}}},
      {"trip count and condition",
       "graph {\n  in %x: f32[2]\n  in %n: i64[]\n  in %c: bool[]\n" +
           Loop("%n, %c, %x, %x", "%y", 1, kDoubling) + "  out \"y\" = %y\n}",
       {{{1, 2}, {3}, {1}}, {{1, 2}, {3}, {0}}, {{1, 2}, {0}, {1}}, {{8, 2}, {9}, {1}}}},
      {"values that take each other's places",
       "graph {\n  in %a: f32[2]\n  in %b: f32[2]\n  in %n: i64[]\n" +
           Loop("%n, _, %a, %b, %b", "%x, %y, %z", 3,
                "      in %u: f32[2]\n      in %v: f32[2]\n      in %w: f32[2]\n"
                "      const %go: bool[] = [1]\n"
                "      out \"go\" = %go\n      out \"v\" = %v\n      out \"u\" = %u\n"
                "      out \"u2\" = %u\n") +
           "  out \"x\" = %x\n  out \"y\" = %y\n  out \"z\" = %z\n}",
       {{{1, 2}, {3, 4}, {0}},
        {{1, 2}, {3, 4}, {1}},
        {{1, 2}, {3, 4}, {2}},
        {{1, 2}, {3, 4}, {5}}}},
      {"numbers of iterations",
       "graph {\n  in %x: i64[3]\n  in %n: i64[]\n" +
           Loop("%n, _, %x", "%y", 1,
                "      in %v: i64[3]\n      const %go: bool[] = [1]\n"
                "      const %c: i64[3] = [1, 2, 3]\n      %u = maximum(%i, %c)\n"
                "      out \"go\" = %go\n      out \"u\" = %u\n") +
           "  out \"y\" = %y\n}",
       {{{7, 7, 7}, {0}}, {{7, 7, 7}, {1}}, {{7, 7, 7}, {3}}}},
      {"a constant instead of the value",
       "graph {\n  in %x: f32[2]\n  in %n: i64[]\n" +
           Loop("%n, _, %x", "%y", 1,
                "      in %v: f32[2]\n      const %go: bool[] = [1]\n"
                "      const %c: f32[2] = [5, 6]\n"
                "      out \"go\" = %go\n      out \"c\" = %c\n") +
           "  out \"y\" = %y\n}",
       {{{1, 2}, {0}}, {{1, 2}, {2}}}},
      {"branches of different shapes",
       "graph {\n  in %x: f32[2, 3]\n  in %c: bool[]\n  in %b: f32[3]\n" +
           Branch("%c, %x, %b", "%y, %z, %x2",
                  "      in %v: f32[2, 3]\n      in %b: f32[3]\n"
                  "      %s = add(%v, %b)\n      %t = transpose(%s) {perm = [1, 0]}\n"
                  "      out \"t\" = %t\n      out \"v\" = %v\n      out \"v2\" = %v\n",
                  "      in %v: f32[2, 3]\n      in %b: f32[3]\n"
                  "      const %k: f32[1, 3] = [1, 2, 3]\n      %n = neg(%v)\n"
                  "      out \"k\" = %k\n      out \"n\" = %n\n      out \"n2\" = %n\n") +
           "  %a = abs(%y)\n  out \"a\" = %a\n  out \"z\" = %z\n  out \"x2\" = %x2\n}",
       {{{1, -2, 3, 4, 5, 6}, {1}, {1, 1, 1}}, {{1, -2, 3, 4, 5, 6}, {0}, {1, 1, 1}}}},
      {"a loop in a branch in a loop",
       "graph {\n  in %x: f32[2]\n  in %w: f32[2]\n  in %n: i64[]\n  in %c: bool[]\n" +
           Loop("%n, _, %x, %w, %c, %n", "%y", 1,
                "      in %v: f32[2]\n      in %w: f32[2]\n      in %c: bool[]\n"
                "      in %n: i64[]\n      const %go: bool[] = [1]\n" +
                    Branch("%c, %v, %w, %n", "%u",
                           "      in %v: f32[2]\n      in %w: f32[2]\n      in %n: i64[]\n" +
                               Loop("%n, _, %v, %w", "%r", 1,
                                    "      in %a: f32[2]\n      in %w: f32[2]\n"
                                    "      const %go: bool[] = [1]\n"
                                    "      %b = concat(%a, %w) {axis = 0}\n"
                                    "      out \"go\" = %go\n      out \"b\" = %b\n") +
                               "      out \"r\" = %r\n",
                           "      in %v: f32[2]\n      in %w: f32[2]\n      in %n: i64[]\n"
                           "      %m = neg(%v)\n      out \"m\" = %m\n") +
                    "      out \"go\" = %go\n      out \"u\" = %u\n") +
           "  out \"y\" = %y\n}",
       {{{1, 2}, {3, 4}, {2}, {1}}, {{1, 2}, {3, 4}, {3}, {0}}, {{1, 2}, {3, 4}, {0}, {1}}}},
  };
}

// Stacks need a constant number of elements of constant shapes in Core ML.
std::vector<Case> Stacks() {
  const std::string body =
      "      in %v: f32[2]\n      const %go: bool[] = [1]\n      const %c: f32[2] = [0.5, 1]\n"
      "      %u = add(%v, %c)\n      %s = reduce_sum(%u) {axes = [0]}\n"
      "      out \"go\" = %go\n      out \"u\" = %u\n      out \"row\" = %u\n      out \"sum\" = "
      "%s\n";
  const std::string outputs = "  out \"y\" = %y\n  out \"rows\" = %rows\n  out \"sums\" = %sums\n}";
  return {
      {"stacks of known length",
       "graph {\n  in %x: f32[2]\n  const %n: i64[] = [70]\n" +
           Loop("%n, _, %x", "%y, %rows, %sums", 1, body) + outputs,
       {{{1, 2}}}},
      {"stacks that grow",
       "graph {\n  in %x: f32[2]\n  in %n: i64[]\n" +
           Loop("%n, _, %x", "%y, %rows, %sums", 1, body) + outputs,
       {{{1, 2}, {0}}, {{1, 2}, {1}}, {{1, 2}, {4}}}},
      {"stacks of a loop that has a trip count only",
       "graph {\n  in %n: i64[]\n" +
           Loop("%n", "%rows", 0,
                "      const %go: bool[] = [1]\n      const %c: f32[2] = [0.5, 1]\n"
                "      out \"go\" = %go\n      out \"row\" = %c\n") +
           "  out \"rows\" = %rows\n}",
       {{{0}}, {{1}}, {{4}}}},
  };
}

Result<std::vector<VerifyInputs>> InputsFor(const std::vector<Inputs>& runs, const Graph& graph) {
  std::vector<VerifyInputs> out;
  for (const Inputs& run : runs) {
    VerifyInputs inputs{fmt::format("run {}", out.size()), {}};
    for (Tensor& t : InputsOf(graph, run)) inputs.tensors.emplace_back(std::move(t));
    out.push_back(std::move(inputs));
  }
  return out;
}

// Writes the graph, runs both and makes it the one that was written; the reason if the format
// cannot hold it.
std::string Convert(Graph& source, const std::vector<Inputs>& runs, const Format& format) {
  Graph fitted = source.Clone();
  REQUIRE(ForgetDeclaredShapes(fitted).has_value());
  InterfaceAxes axes;
  std::vector<UnsupportedNode> unsupported;
  const Status fit = FitTo(*format.target, fitted, axes, unsupported);
  REQUIRE_MESSAGE(fit.has_value(), fit.error().message());
  if (!unsupported.empty()) return unsupported[0].reason;
  const std::string path = "m" + std::string(format.extensions[0]);
  const auto image = format.writer.Write(fitted, ExportOptions{.path = path});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  const auto written = ImportImage(*image, path, format);
  REQUIRE_MESSAGE(written.has_value(), written.error().message());
  VerifyOptions options;
  options.data = [&](const Graph& graph) { return InputsFor(runs, graph); };
  const auto verified = VerifyConversion(
      source.Clone(), [&] { return Result<Graph>(written->Clone()); }, axes, options);
  REQUIRE_MESSAGE(verified.has_value(), verified.error().message());
  CHECK(verified->runs == runs.size());
  for (const OutputDrift& o : verified->outputs) CHECK_MESSAGE(o.worst.identical, o.where);
  source = written->Clone();
  return {};
}

// The same for the formats one after another; the reason of the first refusal.
std::string Convert(const Case& c, const std::vector<const char*>& formats) {
  CAPTURE(c.name);
  Graph graph = Parse(c.graph);
  NamePorts(graph);
  for (const char* const name : formats) {
    CAPTURE(name);
    if (std::string reason = Convert(graph, c.runs, *FindFormat(name)); !reason.empty())
      return reason;
  }
  return {};
}

TEST_CASE("control flow: written, read and run with the same bits") {
  for (const Case& c : Cases()) {
    CHECK(Convert(c, {"onnx", "tflite", "onnx"}) == "");
    CHECK(Convert(c, {"coreml", "onnx"}) == "");
    CHECK(Convert(c, {"nnapi"}).find("no control flow, and a run decides") != std::string::npos);
  }
}

TEST_CASE("control flow: results of all iterations") {
  const auto cases = Stacks();
  for (const Case& c : cases) CHECK(Convert(c, {"onnx", "tflite", "onnx"}) == "");
  CHECK(Convert(cases[0], {"coreml"}) == "");
  CHECK(Convert(cases[1], {"coreml"}).find("Core ML has no lists") != std::string::npos);
}

// LiteRT's WHILE fails if an array that it carries has no elements.
TEST_CASE("control flow: TensorFlow Lite's stacks begin with an element") {
  for (const Case& c : Stacks()) {
    CAPTURE(c.name);
    Graph graph = Parse(c.graph);
    NamePorts(graph);
    InterfaceAxes axes;
    std::vector<UnsupportedNode> unsupported;
    REQUIRE(FitTo(*FindFormat("tflite")->target, graph, axes, unsupported).has_value());
    int carried = 0;
    for (const Node& node : graph.nodes()) {
      if (!node.Is("loop")) continue;
      for (const Value* v : node.inputs()) {
        if (v == nullptr || !v->is_constant()) continue;
        ++carried;
        CHECK(v->constant().elements() > 0);
      }
    }
    CHECK(carried > 0);
  }
}

}  // namespace
}  // namespace nn::test::control_test
