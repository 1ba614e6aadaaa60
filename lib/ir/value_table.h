// A table with one T per value of a graph, indexed by id: no hashing, and a tenth of a hash table's
// memory. Values added to the graph later have no entry.
#pragma once

#include <algorithm>
#include <vector>

#include "ir/graph.h"

namespace nn {

template <typename T>
class ValueTable {
 public:
  explicit ValueTable(const Graph& graph, const T& initial = T()) {
    int64_t most = -1;
    for (const Value& v : graph.values()) most = std::max(most, v.id());
    items_.assign(static_cast<size_t>(most + 1), initial);
  }

  T& operator[](const Value* v) { return items_[static_cast<size_t>(v->id())]; }
  const T& operator[](const Value* v) const { return items_[static_cast<size_t>(v->id())]; }
  // Null if there is no entry, for example for a value of another graph.
  const T* Find(const Value* v) const {
    const auto i = static_cast<size_t>(v->id());
    return i < items_.size() ? &items_[i] : nullptr;
  }

 private:
  std::vector<T> items_;
};

}  // namespace nn
