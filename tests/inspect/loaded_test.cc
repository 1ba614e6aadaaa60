// Inspection through the library: loads a model and requests parts.
#include "inspect/loaded.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "inspect/diff/diff.h"
#include "inspect/diff/digests.h"
#include "inspect/report/cost.h"
#include "inspect/report/node.h"
#include "inspect/report/overview.h"
#include "inspect/report/tree.h"
#include "passes/core/ports.h"
#include "support/files.h"

namespace nn::test::loaded_test {
namespace {

using inspect::LoadedModel;
using inspect::LoadOptions;

// Two blocks of two operators each, in scopes.
std::string BlocksModel(const std::string& weights = "seeded(1, 0.3)") {
  return R"(graph "blocks" {
    in %x: f32[batch, 3, 8, 8]
    const %w: f32[4, 3, 3, 3] = )" +
         weights + R"(
    const %v: f32[4, 4, 1, 1] = splat(0.5)
    %a = conv(%x, %w) {pads = [1, 1, 1, 1]} "/stem/Conv"
    %b = relu(%a) "/stem/Relu"
    %c = conv(%b, %v) "/body/0/Conv"
    %y = add(%b, %c) "/body/0/Add"
    out "y" = %y
  })";
}

LoadedModel LoadOrFail(const std::string& path, const LoadOptions& options = {}) {
  auto model = inspect::Load(path, options);
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  return *std::move(model);
}

TEST_CASE("inspect: shapes are bound by the caller") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", BlocksModel());
  const LoadedModel open = LoadOrFail(dir / "m.onnx");
  const inspect::Overview unknown = inspect::OverviewOf(open);
  CHECK(unknown.histogram.front() == std::pair<std::string, uint64_t>("Conv", 2));
  CHECK(unknown.dynamic.contains("batch"));
  CHECK(!unknown.multiply_adds.has_value());
  CHECK(unknown.uncounted == 0);

  LoadOptions options;
  options.bind = [](Graph& graph) { return BindBatch(graph, 2); };
  const LoadedModel bound = LoadOrFail(dir / "m.onnx", options);
  CHECK(bound.summary.inputs[0].shape == std::vector<std::string>{"2", "3", "8", "8"});
  const inspect::Overview known = inspect::OverviewOf(bound);
  CHECK(known.dynamic.empty());
  CHECK(known.multiply_adds == 2 * 64 * 4 * (27 + 4));
  const auto cost = inspect::CostOf(bound);
  REQUIRE(cost.has_value());
  CHECK(cost->multiply_adds == known.multiply_adds);

  options.bind = [](Graph& graph) { return BindInputs(graph, {{"nosuch", {1}}}); };
  const auto wrong = inspect::Load(dir / "m.onnx", options);
  REQUIRE(!wrong.has_value());
  CHECK(wrong.error().code() == ErrorCode::kUsage);
  CHECK(wrong.error().message().starts_with(dir / "m.onnx: "));
}

TEST_CASE("inspect: a model without its graph") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", BlocksModel());
  const LoadedModel model = LoadOrFail(dir / "m.onnx", {.graph = false});
  CHECK(inspect::GraphOf(model).error().code() == ErrorCode::kUsage);
  CHECK(inspect::CostOf(model).error().code() == ErrorCode::kUsage);
  CHECK(inspect::TypesByName(model).empty());
  const auto tree = inspect::TreeOf(model);
  REQUIRE(tree.has_value());
  CHECK(tree->operators == 4);
  CHECK(tree->parameters == 124);
  REQUIRE(tree->branches.size() == 2);
  CHECK(tree->branches[0].name == "stem");
  CHECK(tree->branches[1].name == "body");
  REQUIRE(tree->branches[1].branches.size() == 1);
  CHECK(tree->branches[1].branches[0].name == "0");
  CHECK(tree->branches[1].branches[0].bytes == 64);
}

TEST_CASE("inspect: details of operators stay valid when the model is moved") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", BlocksModel());
  LoadedModel model = LoadOrFail(dir / "m.onnx", {.in_full = true});
  const std::vector<size_t> found = inspect::OperatorsNamed(model.summary, "/body/0/Conv");
  CHECK(found == std::vector<size_t>{2});
  CHECK(inspect::OperatorsNamed(model.summary, "c") == found);  // by its output
  CHECK(inspect::OperatorsNamed(model.summary, "nosuch").empty());
  const auto nodes = inspect::DescribeNodes(model, found);
  REQUIRE(nodes.has_value());
  REQUIRE(nodes->size() == 1);
  const LoadedModel moved = std::move(model);
  CHECK(nodes->front().op == &moved.summary.operators[2]);
  CHECK(nodes->front().inputs[0].type == "f32[batch, 4, 8, 8]");
  REQUIRE(nodes->front().constants.size() == 1);
  CHECK(nodes->front().constants[0].entry.read().has_value());
  const auto beyond = inspect::DescribeNodes(moved, std::vector<size_t>{4});
  REQUIRE(!beyond.has_value());
  CHECK(beyond.error().code() == ErrorCode::kUsage);
}

TEST_CASE("inspect: digests and differences") {
  const TempDir dir;
  WriteModel(dir / "a.onnx", BlocksModel());
  WriteModel(dir / "b.onnx", BlocksModel("seeded(2, 0.3)"));
  const LoadedModel a = LoadOrFail(dir / "a.onnx", {.in_full = true});
  const LoadedModel b = LoadOrFail(dir / "b.onnx", {.in_full = true});
  const auto of_a = inspect::DigestsOf(a), of_b = inspect::DigestsOf(b);
  REQUIRE(of_a.has_value());
  REQUIRE(of_b.has_value());
  CHECK(of_a->structure == of_b->structure);
  CHECK(of_a->weights != of_b->weights);
  const auto same = inspect::DiffModels(a, a), other = inspect::DiffModels(a, b);
  REQUIRE(same.has_value());
  REQUIRE(other.has_value());
  CHECK(same->empty());
  CHECK(same->matched == 4);
  REQUIRE(other->weights.size() == 1);
  CHECK(other->weights[0].a.name == "/stem/Conv");
}

}  // namespace
}  // namespace nn::test::loaded_test
