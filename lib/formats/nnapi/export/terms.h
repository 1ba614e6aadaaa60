// Formulas of what NNAPI 1.0 has (rewrites.h).
// Design: docs/design/038-nnapi-arithmetic.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/term.h"
#include "rewrite/expand.h"

namespace nn::nnapi {

// Builds formulas of float32 without operators that NNAPI lacks: neg and sub are products with -1,
// and lrn has four axes.
class Formulas : public Expansion {
 public:
  using Expansion::Expansion;

 private:
  Result<Node*> InsertNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                           size_t results) override;
};

// The value, or the term of shape `from`, in a shape with as many elements.
Term Shaped(Value* v, const std::vector<int64_t>& dims);
Term Shaped(const Term& x, const std::vector<int64_t>& from, const std::vector<int64_t>& dims);

// x * factor, which is x for 1.
Term Times(const Term& x, double factor);
Term Relu(const Term& x);
// |x|.
Term Magnitude(const Term& x);
// min(x, 1) of numbers that are not below -1.
Term AtMostOne(const Term& x);
// x within [-1, 1].
Term Unit(const Term& x);
Term Floor(const Term& x);
// 1 where x > 0, 0 where it is not, exactly.
Term Step(const Term& x);
// -1, 0 or 1.
Term SignOf(const Term& x);
// 0, and infinity where a step is 1.
Term InfiniteAt(const Term& step);

}  // namespace nn::nnapi
