// A cache of the results of a function of nodes, shared by identical nodes: large graphs repeat a
// few nodes many times, and writing a node on trial is expensive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace nn {

// What the encoding of a node depends on, apart from the contents of its constants.
class NodeForm {
 public:
  using Parameters = std::array<int64_t, 2>;  // of the function

  NodeForm(const Node& node, const Parameters& parameters)
      : op_(&node.op()),
        attrs_(node.attrs()),
        arithmetic_(node.arithmetic()),
        parameters_(parameters) {
    for (const Value* v : node.inputs()) {
      types_.push_back(v == nullptr ? Type() : v->type());
      constants_.push_back(v != nullptr && v->is_constant());
    }
    for (const Value* v : node.outputs()) types_.push_back(v->type());
  }

  bool Matches(const Node& node, const Parameters& parameters) const {
    const size_t inputs = node.inputs().size();
    if (op_ != &node.op() || parameters_ != parameters || arithmetic_ != node.arithmetic() ||
        constants_.size() != inputs || types_.size() != inputs + node.outputs().size() ||
        !(attrs_ == node.attrs()))
      return false;
    for (size_t i = 0; i < inputs; ++i) {
      const Value* v = node.input(i);
      if (constants_[i] != (v != nullptr && v->is_constant())) return false;
      if (!(types_[i] == (v == nullptr ? Type() : v->type()))) return false;
    }
    for (size_t i = 0; i < node.outputs().size(); ++i)
      if (!(types_[inputs + i] == node.output(i)->type())) return false;
    return true;
  }

 private:
  const OpDef* op_;
  Attrs attrs_;
  Arithmetic arithmetic_;
  Parameters parameters_;
  std::vector<Type> types_;
  std::vector<bool> constants_;
};

template <typename Answer>
class NodeMemo {
 public:
  // `by_contents`: the answer may depend on the contents of constants, so it is not cached for
  // nodes with constants. `ask` computes the answer for the node.
  template <typename Ask>
  Answer Find(const Node& node, bool by_contents, const NodeForm::Parameters& parameters,
              const Ask& ask) {
    if (by_contents)
      for (const Value* v : node.inputs())
        if (v != nullptr && v->is_constant()) return ask(node);
    for (const auto& [form, answer] : answers_)
      if (form.Matches(node, parameters)) return answer;
    std::pair answer(NodeForm(node, parameters), ask(node));
    if (answers_.size() < kRemembered) {
      answers_.push_back(std::move(answer));
      return answers_.back().second;
    }
    oldest_ = (oldest_ + 1) % kRemembered;
    answers_[oldest_] = std::move(answer);
    return answers_[oldest_].second;
  }

 private:
  static constexpr size_t kRemembered = 8;

  std::vector<std::pair<NodeForm, Answer>> answers_;
  size_t oldest_ = 0;
};

}  // namespace nn
