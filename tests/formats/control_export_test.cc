// Files with loops and branches.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/onnx/file/native.h"
#include "formats/tflite/file.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::control_export_test {
namespace {

namespace pb = ::nn::onnx::pb;

// A loop in a branch. All regions use the constant %w.
constexpr std::string_view kNested = R"(graph {
  in %x: f32[64]
  in %n: i64[]
  in %c: bool[]
  const %w: f32[64] = splat(2)
  %y = branch(%c, %x, %n, %w) {why = "a run decides"} regions {
    graph {
      in %x: f32[64]
      in %n: i64[]
      in %w: f32[64]
      %y = loop(%n, _, %x, %w) {carried = 1, why = "a run decides"} regions {
        graph {
          in %i: i64[]
          in %x: f32[64]
          in %w: f32[64]
          const %go: bool[] = [1]
          %y = add(%x, %w)
          out "go" = %go
          out "y" = %y
        }
      }
      out "y" = %y
    }
    graph {
      in %x: f32[64]
      in %n: i64[]
      in %w: f32[64]
      %y = concat(%x, %w) {axis = 0}
      out "y" = %y
    }
  }
  %z = mul(%x, %w)
  out "y" = %y
  out "z" = %z
})";

std::unique_ptr<NativeModel> Written(const Graph& graph, const Format& format,
                                     const ExportOptions& options = {}) {
  Graph fitted = graph.Clone();
  const auto unsupported = Legalize(fitted, *format.target);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  for (const UnsupportedNode& o : *unsupported) FAIL(o.node << ": " << o.reason);
  const auto image = format.writer.Write(fitted, options);
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  const std::string bytes = Joined(*image);
  auto model = format.reader.Read(Blob::Copy(std::as_bytes(std::span(bytes))), "m", {});
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  return *std::move(model);
}

// The names that a graph and its subgraphs define, and the number of graphs.
void CollectNames(const pb::GraphProto& graph, std::vector<std::string>& names, int& graphs) {
  ++graphs;
  for (const auto& v : graph.input()) names.push_back(v.name());
  for (const auto& v : graph.initializer()) names.push_back(v.name());
  for (const auto& node : graph.node()) {
    for (const auto& name : node.output()) names.push_back(name);
    for (const auto& a : node.attribute())
      if (a.has_g()) CollectNames(a.g(), names, graphs);
  }
}

int64_t OpsetOf(const NativeModel& model) {
  return static_cast<const onnx::Model&>(model).proto.opset_import(0).version();
}

TEST_CASE("onnx: a name has one meaning in all graphs of a file") {
  const Format& format = *FindFormat("onnx");
  const auto model = Written(Parse(kNested), format);
  const pb::GraphProto& graph = static_cast<const onnx::Model&>(*model).proto.graph();
  std::vector<std::string> names;
  int graphs = 0;
  CollectNames(graph, names, graphs);
  CHECK(graphs == 4);
  const size_t count = names.size();
  CHECK(std::set(names.begin(), names.end()).size() == count);
  // The regions have a copy of the constant outside, but the file has one.
  const auto large = [](const auto& t) { return t.dims_size() == 1 && t.dims(0) == 64; };
  CHECK(std::count_if(graph.initializer().begin(), graph.initializer().end(), large) == 1);
}

void NameNodes(Graph& graph, const std::string& name) {
  for (Node& node : graph.nodes()) {
    node.set_name(name);
    for (const auto& region : node.regions()) NameNodes(*region, name);
  }
}

void CollectNodeNames(const pb::GraphProto& graph, std::vector<std::string>& names) {
  for (const auto& node : graph.node()) {
    if (!node.name().empty()) names.push_back(node.name());
    for (const auto& a : node.attribute())
      if (a.has_g()) CollectNodeNames(a.g(), names);
  }
}

TEST_CASE("onnx: each node has a name of its own in all graphs of a file") {
  // One operator of a file may be several nodes, which have its name.
  Graph nested = Parse(kNested);
  NameNodes(nested, "n");
  // A new name is not that of another node.
  Graph three = Parse(R"(graph {
    in %x: f32[4]
    %a = abs(%x)
    %b = neg(%a)
    %c = relu(%b)
    out "c" = %c
  })");
  NameNodes(three, "n");
  three.nodes().begin()->set_name("n_1");
  for (const auto& [graph, expected] :
       {std::pair(&nested, std::vector<std::string>{"n", "n_1", "n_2", "n_3", "n_4"}),
        std::pair(&three, std::vector<std::string>{"n_1", "n", "n_2"})}) {
    const auto model = Written(*graph, *FindFormat("onnx"));
    std::vector<std::string> names;
    CollectNodeNames(static_cast<const onnx::Model&>(*model).proto.graph(), names);
    std::sort(names.begin(), names.end());
    std::vector<std::string> sorted = expected;
    std::sort(sorted.begin(), sorted.end());
    CHECK(names == sorted);
  }
}

TEST_CASE("onnx: the operator set fits the nodes of regions") {
  const Format& format = *FindFormat("onnx");
  CHECK(OpsetOf(*Written(Parse(kNested), format)) == 17);
  CHECK(OpsetOf(*Written(Parse(kNested), format, {.path = "m.onnx", .opset = 11})) == 11);
  // A loop without carried values needs operator set 11.
  const Graph graph = Parse(R"(graph {
    in %n: i64[]
    %y = loop(%n, _) {carried = 0, why = "a run decides"} regions {
      graph {
        in %i: i64[]
        const %go: bool[] = [1]
        %m = neg(%i)
        out "go" = %go
        out "m" = %m
      }
    }
    out "y" = %y
  })");
  const auto old = format.writer.Write(graph, {.path = "m.onnx", .opset = 9});
  REQUIRE_FALSE(old.has_value());
  CHECK(old.error().code() == ErrorCode::kUnsupported);
  CHECK(old.error().message().find("needs 11") != std::string::npos);
  CHECK(OpsetOf(*Written(graph, format, {.path = "m.onnx", .opset = 12})) == 12);
}

TEST_CASE("onnx: branches with results of different shapes need operator set 11") {
  const Format& format = *FindFormat("onnx");
  for (const bool same : {true, false}) {
    CAPTURE(same);
    const Graph graph = Parse(std::string(R"(graph {
      in %c: bool[]
      %y = branch(%c) {why = "a run decides"} regions {
        graph {
          const %a: f32[2] = [1, 2]
          out "a" = %a
        }
        graph {
          const %b: f32)") + (same ? "[2] = [3, 4]" : "[3] = [3, 4, 5]") +
                              R"(
          out "b" = %b
        }
      }
      out "y" = %y
    })");
    const auto old = format.writer.Write(graph, {.path = "m.onnx", .opset = 10});
    CHECK(old.has_value() == same);
    if (!same) CHECK(old.error().message().find("needs 11") != std::string::npos);
    CHECK(OpsetOf(*Written(graph, format, {.path = "m.onnx", .opset = 11})) == 11);
  }
}

TEST_CASE("tflite: regions are subgraphs behind that of the model") {
  const std::string file = FileOf(Parse(kNested));
  const tflite::fb::Model& model = Root(file);
  // The model, the condition and the body of the loop, and the branches.
  REQUIRE(model.subgraphs()->size() == 5);
  REQUIRE(model.signature_defs()->size() == 1);
  CHECK(model.signature_defs()->Get(0)->subgraph_index() == 0);
  CHECK(model.subgraphs()->Get(0)->inputs()->size() == 3);
  CHECK(OperatorsOf(file)[0] == "IF v1");
  // One buffer has the constant of all.
  const auto large = [](const auto* buffer) {
    return buffer->data() != nullptr && buffer->data()->size() == 64 * sizeof(float);
  };
  CHECK(std::count_if(model.buffers()->begin(), model.buffers()->end(), large) == 1);
}

}  // namespace
}  // namespace nn::test::control_export_test
