#include "inspect/diff/match.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "inspect/report/shape_text.h"
#include "ir/op_def.h"

namespace nn::inspect {
namespace {

uint64_t Mix(uint64_t a, uint64_t b) {
  a ^= b + 0x9E3779B97F4A7C15u + (a << 6) + (a >> 2);
  a *= 0xBF58476D1CE4E5B9u;
  return a ^ (a >> 31);
}

uint64_t HashText(std::string_view text) {
  return std::hash<std::string_view>()(text);
}

// For each node, a key of the computation from the graph's inputs to it, ignoring the contents of
// constants.
std::unordered_map<const Node*, uint64_t> Hashes(const Graph& graph) {
  std::unordered_map<const Value*, uint64_t> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) inputs[graph.inputs()[i].value] = i + 1;
  std::unordered_map<const Node*, uint64_t> out;
  const auto of_value = [&](const Value* v) -> uint64_t {
    if (v == nullptr) return 1;
    if (v->is_constant()) return Mix(2, HashText(ComparableText(v->type())));
    if (v->def() == nullptr) return Mix(3, inputs[v]);
    return Mix(out[v->def()], static_cast<uint64_t>(v->def_index()) + 4);
  };
  for (const Node& node : graph.nodes()) {
    uint64_t h = Mix(HashText(node.op_name()), HashText(node.attrs().ToString()));
    for (const Value* v : node.inputs()) h = Mix(h, of_value(v));
    out[&node] = Mix(h, node.outputs().size());
  }
  return out;
}

std::string NameOf(const Node& node) {
  if (!node.name().empty() || node.outputs().empty()) return std::string(node.name());
  return std::string(node.output()->name());
}

class Matcher {
 public:
  Matcher(const Graph& a, const Graph& b) : a_(a), b_(b) {
    for (const Node& n : a.nodes()) left_.push_back(&n);
    for (const Node& n : b.nodes()) right_.push_back(&n);
  }

  Matching Run() {
    const auto hashes_a = Hashes(a_), hashes_b = Hashes(b_);
    PairByKey<uint64_t>([&](const Node* n, bool first) {
      return std::optional(first ? hashes_a.at(n) : hashes_b.at(n));
    });
    PairByKey<std::pair<std::string, std::string>>([](const Node* n, bool) {
      std::string name = NameOf(*n);
      return name.empty() ? std::nullopt
                          : std::optional(std::pair(std::string(n->op_name()), std::move(name)));
    });
    PairByOrder();
    return std::move(out_);
  }

 private:
  // Matches nodes with equal keys, in order.
  template <typename Key, typename Fn>
  void PairByKey(Fn key) {
    std::map<Key, std::vector<const Node*>> waiting;
    for (auto n = right_.rbegin(); n != right_.rend(); ++n)
      if (const auto k = key(*n, false)) waiting[*k].push_back(*n);
    for (const Node* n : left_) {
      const auto k = key(n, true);
      const auto it = k ? waiting.find(*k) : waiting.end();
      if (it == waiting.end() || it->second.empty()) continue;
      Pair(n, it->second.back());
      it->second.pop_back();
    }
    DropPaired();
  }

  void Pair(const Node* a, const Node* b) {
    out_[a] = b;
    paired_[b] = true;
  }
  void DropPaired() {
    std::erase_if(left_, [&](const Node* n) { return out_.contains(n); });
    std::erase_if(right_, [&](const Node* n) { return paired_.contains(n); });
  }

  // The longest common subsequence of operators; for too many nodes, each operator's nodes in
  // order.
  void PairByOrder() {
    constexpr size_t kMaxCells = 4'000'000;
    const size_t n = left_.size(), m = right_.size();
    if (n == 0 || m == 0) return;
    if (n > kMaxCells / m) {
      PairByKey<std::string>(
          [](const Node* node, bool) { return std::optional(std::string(node->op_name())); });
      return;
    }
    std::vector<uint32_t> longest((n + 1) * (m + 1), 0);  // of left_[i..], right_[k..]
    const auto at = [&](size_t i, size_t k) -> uint32_t& { return longest[i * (m + 1) + k]; };
    const auto same = [&](size_t i, size_t k) {
      return left_[i]->op_name() == right_[k]->op_name();
    };
    for (size_t i = n; i-- > 0;)
      for (size_t k = m; k-- > 0;)
        at(i, k) = same(i, k) ? at(i + 1, k + 1) + 1 : std::max(at(i + 1, k), at(i, k + 1));
    for (size_t i = 0, k = 0; i < n && k < m;) {
      if (same(i, k))
        Pair(left_[i++], right_[k++]);
      else if (at(i + 1, k) >= at(i, k + 1))
        ++i;
      else
        ++k;
    }
    DropPaired();
  }

  const Graph& a_;
  const Graph& b_;
  std::vector<const Node*> left_;
  std::vector<const Node*> right_;
  std::unordered_map<const Node*, bool> paired_;
  Matching out_;
};

}  // namespace

Matching MatchNodes(const Graph& a, const Graph& b) {
  return Matcher(a, b).Run();
}

}  // namespace nn::inspect
