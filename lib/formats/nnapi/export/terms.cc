#include "formats/nnapi/export/terms.h"

#include <limits>
#include <unordered_set>

#include "formats/nnapi/export/rewrites.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::nnapi {

Term Terms::Keep(Result<Value*> v) {
  if (v) {
    unordered_.push_back((*v)->def());
    return {this, *v};
  }
  if (status_) status_ = tl::unexpected(v.error());
  return {this, nullptr};
}

Term Terms::Of(Value* v) {
  return {this, v};
}

Term Terms::Apply(std::string_view op, std::vector<Value*> inputs, Attrs attrs) {
  if (!status_) return {this, nullptr};
  return Keep(e_.Add(op, std::move(inputs), std::move(attrs)));
}

Term Terms::Shaped(Value* v, const std::vector<int64_t>& dims) {
  if (!status_) return {this, nullptr};
  const auto y = Reshaped(graph_, node_, v, dims);
  return y && *y == v ? Of(v) : Keep(y);
}

void Terms::Arrange(Value* y) {
  struct Visit {
    Node* node;
    size_t next_input;
  };
  std::unordered_set<Node*> waiting(unordered_.begin(), unordered_.end());
  std::vector<Visit> path;
  const auto enter = [&](const Value* v) {
    if (v != nullptr && waiting.erase(v->def()) == 1) path.push_back({v->def(), 0});
  };
  enter(y);
  while (!path.empty()) {
    Visit& visit = path.back();
    if (visit.next_input < visit.node->inputs().size()) {
      enter(visit.node->input(visit.next_input++));
      continue;
    }
    graph_.MoveBefore(visit.node, &node_);
    path.pop_back();
  }
  std::erase_if(unordered_, [&](Node* n) { return !waiting.contains(n); });
  for (Node* const n : unordered_) graph_.MoveBefore(n, &node_);
}

Result<Value*> Terms::ValueOf(Term y) {
  if (!status_) return tl::unexpected(status_.error());
  Arrange(y.value());
  return y.value();
}

Result<bool> Terms::Replace(Term y) {
  NN_ASSIGN(Value* const v, ValueOf(y));
  return e_.Replace(v);
}

Term Relu(Term x) {
  return x.Function("relu");
}

Term Magnitude(Term x) {
  return Relu(x) + Relu(-x);
}

Term AtMostOne(Term x) {
  return Unit(x);
}

Term Unit(Term x) {
  return x.Function("clip", ClipAttrs{-1, 1});
}

Term Step(Term x) {
  return AtMostOne(Relu(x * 0x1p127) * 0x1p127);
}

Term SignOf(Term x) {
  return Unit(x * 0x1p127 * 0x1p127);
}

Term InfiniteAt(Term step) {
  return step * static_cast<double>(std::numeric_limits<float>::max()) * 2.0;
}

}  // namespace nn::nnapi
