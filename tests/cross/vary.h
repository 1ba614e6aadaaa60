// Variations of the cases of the rows: the same operators on other extents, ranks, attributes and
// contents of constants. Inference decides which of them are valid.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cross/rows.h"
#include "ir/graph.h"

namespace nn::test {

class Variations {
 public:
  // A random number in [0, n); 0 if the result should be simple. Requires n > 0.
  using Draw = std::function<size_t(size_t n)>;

  // Attributes get the values that they have in the rows, or random integers.
  explicit Variations(std::span<const Row> rows);

  // The graph after up to kChanges random changes. A change that inference rejects, or after which
  // the values are too large to compute often, is undone.
  static constexpr size_t kChanges = 8;
  Graph Vary(const Graph& graph, const Draw& draw) const;

 private:
  // By operator and attribute.
  std::map<std::pair<std::string_view, std::string_view>, std::vector<AttrValue>> values_;
};

}  // namespace nn::test
