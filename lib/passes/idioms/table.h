// The table of idioms (passes/idioms/idioms.h).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/attrs.h"
#include "ir/graph.h"
#include "passes/idioms/pattern.h"

namespace nn {

// A value of the graph after operators, in order.
struct Derived {
  struct Step {
    std::string_view op;
    Attrs attrs;
    Value* second = nullptr;  // its second operand, if it has one
  };
  Value* value;
  std::vector<Step> steps;
};

// The operator in place of a match.
struct Fused {
  // A value of the graph, null if it is absent, or a new constant.
  using Input = std::variant<Value*, Derived, Tensor>;
  std::vector<Input> inputs;
  Attrs attrs;
  std::string_view op = {};  // empty: that of the idiom
  bool reshaped = false;     // the result has the elements of the idiom, in another shape
};

struct Idiom {
  std::string_view op;
  // An operator inside, whose result, through nodes with one use each, reaches that of the idiom.
  std::string_view key;
  std::string_view pattern;
  // nullopt if the attributes or shapes of the nodes are not those of the operator.
  std::optional<Fused> (*fuse)(const Pattern::Match&);
  // Whether it only moves elements. Such idioms have values of any type, others of float32 or bool.
  bool moves_only = false;
};

// Of one key, the larger idioms first.
std::span<const Idiom> Idioms();
// Attention and rotary embeddings.
std::span<const Idiom> AttentionIdioms();

}  // namespace nn
