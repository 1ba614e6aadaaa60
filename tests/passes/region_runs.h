// Graphs with loops and branches before and after a pass.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/eval.h"
#include "ir/op_def.h"
#include "ir/seeded.h"
#include "ir/text/text.h"
#include "passes/core/passes.h"
#include "support/run_graph.h"

namespace nn::test {

// Nodes of the graph and of all regions.
inline size_t Count(const Graph& graph, std::string_view op = "") {
  size_t n = 0;
  for (const Node& node : graph.nodes()) {
    n += op.empty() || node.Is(op) ? 1 : 0;
    for (const auto& region : node.regions()) n += Count(*region, op);
  }
  return n;
}

inline const Node& Only(const Graph& graph, std::string_view op) {
  const auto is_op = [&](const Node& n) { return n.Is(op); };
  REQUIRE(std::ranges::count_if(graph.nodes(), is_op) == 1);
  return *std::ranges::find_if(graph.nodes(), is_op);
}

inline std::vector<Tensor> Evaluate(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : inputs) pointers.push_back(&t);
  EvalBudget budget;
  auto results = EvalGraph(graph, pointers, budget, /*is_region=*/false);
  REQUIRE_MESSAGE(results.has_value(), results.error().message());
  return *std::move(results);
}

// The graph after a pass, whose results have the bits of those before.
inline Graph After(const std::string& text, const std::function<Status(Graph&)>& pass,
                   const std::vector<std::vector<Tensor>>& runs) {
  CAPTURE(text);
  const Graph before = Parse(text);
  Graph after = before.Clone();
  const Status status = RunPass("pass", after, pass);
  REQUIRE_MESSAGE(status.has_value(), status.error().message());
  CAPTURE(PrintGraph(after));
  for (const auto& inputs : runs) {
    const auto want = Evaluate(before, inputs), got = Evaluate(after, inputs);
    REQUIRE(want.size() == got.size());
    for (size_t i = 0; i < want.size(); ++i) {
      CHECK(want[i].dims() == got[i].dims());
      CHECK(want[i].Identical(got[i]));
    }
  }
  return after;
}

inline Tensor Seeded(std::vector<int64_t> dims) {
  auto t = SeededTensor(DType::kF32, std::move(dims), 1, 0);
  REQUIRE(t.has_value());
  return *std::move(t);
}

inline Tensor Number(int64_t n) {
  return Tensor::Scalar(n);
}

}  // namespace nn::test
