#include "formats/nnapi/export/terms.h"

#include <limits>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "ops/array/shape.h"
#include "ops/support/term_ops.h"

namespace nn::nnapi {
namespace {

std::optional<float> NumberOf(const Value& v) {
  if (!v.is_constant() || v.type().rank() != 0) return std::nullopt;
  return static_cast<float>(v.constant().GetDouble(0));
}

}  // namespace

Result<Node*> Formulas::InsertNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                                   size_t results) {
  const auto negate = [&](Value* v) {
    return AddNode("mul", {v, Constant(Tensor::Scalar(-1.0f))}, {}, 1);
  };
  if (op == "neg") return negate(inputs[0]);
  if (op == "sub") {
    if (const auto number = NumberOf(*inputs[1])) {
      inputs[1] = Constant(Tensor::Scalar(-*number));
    } else {
      NN_ASSIGN(const Node* const minus, negate(inputs[1]));
      inputs[1] = minus->output();
    }
    return AddNode("add", std::move(inputs), {}, 1);
  }
  const auto dims = op == "lrn" ? inputs[0]->type().const_dims() : std::nullopt;
  if (!dims || dims->size() == 4) return AddNode(op, std::move(inputs), std::move(attrs), results);
  const int64_t elements = CheckedElements(*dims).value_or(0);
  const auto reshape = [&](Value* v, const std::vector<int64_t>& to) {
    return AddNode("reshape", {v}, ReshapeAttrs{ToDims(to), false}, 1);
  };
  NN_ASSIGN(Node* const row, reshape(inputs[0], {1, 1, 1, elements}));
  NN_ASSIGN(Node* const y, AddNode(op, {row->output()}, std::move(attrs), 1));
  return reshape(y->output(), *dims);
}

Term Shaped(Value* v, const std::vector<int64_t>& dims) {
  return v->type().const_dims() == dims ? Term(v) : Reshape(v, ToDims(dims));
}

Term Shaped(const Term& x, const std::vector<int64_t>& from, const std::vector<int64_t>& dims) {
  return from == dims ? x : Reshape(x, ToDims(dims));
}

Term Times(const Term& x, double factor) {
  return factor == 1 ? x : x * factor;
}

Term Relu(const Term& x) {
  return Apply("relu", {x});
}

Term Magnitude(const Term& x) {
  return Relu(x) + Relu(-x);
}

Term AtMostOne(const Term& x) {
  return Unit(x);
}

Term Unit(const Term& x) {
  return Clip(x, -1, 1);
}

Term Floor(const Term& x) {
  return Apply("floor", {x});
}

Term Step(const Term& x) {
  return AtMostOne(Relu(x * 0x1p127) * 0x1p127);
}

Term SignOf(const Term& x) {
  return Unit(x * 0x1p127 * 0x1p127);
}

Term InfiniteAt(const Term& step) {
  return step * std::numeric_limits<float>::max() * 2;
}

}  // namespace nn::nnapi
