#include "against/pairing.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "against/align.h"
#include "convert/quantize/quantized_form.h"
#include "ir/op_def.h"
#include "ir/value_table.h"

namespace nn::against {
namespace {

uint64_t Mixed(uint64_t a, uint64_t b) {
  a ^= b + 0x9E3779B97F4A7C15u + (a << 6) + (a >> 2);
  a *= 0xBF58476D1CE4E5B9u;
  return a ^ (a >> 31);
}

uint64_t HashOf(std::string_view text) {
  return std::hash<std::string_view>()(text);
}

// Smaller constants are attributes rather than weights, and several layers have the same.
constexpr int64_t kTelling = 16;

// A digest of the numbers that does not depend on their order. Integers are mostly axes and shapes,
// which depend on the layout.
uint64_t HashOfConstant(const Value& v) {
  const Tensor& t = v.constant();
  if (!IsFloat(t.dtype()) && !v.type().quantized()) return 5;
  uint64_t sum = 0;
  if (t.dtype() == DType::kF32) {
    const Tensor aligned = t.Aligned();
    for (const float x : aligned.As<float>())
      sum += Mixed(7, std::bit_cast<uint64_t>(static_cast<double>(x)));
  } else {
    for (int64_t i = 0; i < t.elements(); ++i)
      sum += Mixed(7, std::bit_cast<uint64_t>(t.GetDouble(i)));
  }
  return Mixed(sum, static_cast<uint64_t>(t.elements()));
}

uint64_t HashOfAxes(const Type& type) {
  const auto dims = type.const_dims();
  if (!dims) return 11;
  std::vector<int64_t> sorted = *dims;
  std::erase(sorted, 1);
  std::ranges::sort(sorted);
  uint64_t h = 13;
  for (const int64_t d : sorted) h = Mixed(h, static_cast<uint64_t>(d));
  return h;
}

// The keys of the values of one graph. Attributes are not part of them, because they depend on the
// layout; the shapes of the results tell most of them.
class Keys {
 public:
  Keys(const Graph& graph, const std::vector<uint64_t>& inputs)
      : computed_(graph), constants_(graph) {
    for (const Value& v : graph.values())
      if (v.is_constant()) computed_[&v] = Mixed(2, HashOfConstant(v));
    for (size_t i = 0; i < inputs.size(); ++i)
      computed_[graph.inputs()[i].value] = Mixed(3, inputs[i]);
    for (const Node& node : graph.nodes()) AddNode(node);
  }

  // Of the computation from the inputs on. Values that are moved have the key of their source.
  uint64_t computed(const Value* v) const { return computed_[v]; }
  // Of the operator and its weights; 0 without any.
  uint64_t constants(const Value* v) const { return constants_[v]; }

 private:
  void AddNode(const Node& node) {
    uint64_t h = HashOf(node.op_name()), weights = 0;
    for (const Value* v : node.inputs()) {
      h = Mixed(h, v == nullptr ? 1 : computed_[v]);
      if (v != nullptr && v->is_constant() && v->constant().elements() >= kTelling &&
          (IsFloat(v->dtype()) || v->type().quantized()))
        weights += computed_[v];
    }
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      const Value* y = node.output(i);
      const bool moved = i == 0 && node.op().movement != Movement::kNone;
      computed_[y] = moved ? computed_[node.input(0)] : Mixed(Mixed(h, i), HashOfAxes(y->type()));
      if (weights != 0 && !moved) constants_[y] = Mixed(Mixed(weights, HashOf(node.op_name())), i);
    }
  }

  ValueTable<uint64_t> computed_, constants_;
};

// Whether no operator computes the value, but at most moves its elements.
bool IsMoved(const Value* v) {
  return v->def() == nullptr || v->def()->op().movement != Movement::kNone;
}

// Whether the value exists only inside an operator of the file.
bool IsInside(const Value* v) {
  const Source& source = v->def()->source();
  return v->name().empty() && source.index >= 0 && !v->is_output() && !v->uses().empty() &&
         std::ranges::all_of(v->uses(),
                             [&](const Use& use) { return use.node->source().IsSame(source); });
}

// TensorFlow Lite's converter joins the names of all operators that became one; the first is that
// of the result.
std::string FirstName(std::string_view name) {
  return std::string(name.substr(0, name.find(';')));
}

class Pairing {
 public:
  Pairing(const Graph& a, const Graph& b) : left_(ComparedValues(a)), right_(ComparedValues(b)) {}

  void Pair(const Value* a, const Value* b, PairedBy by) {
    if (to_b_.contains(a)) return;
    to_b_[a] = {a, b, by};
    to_a_[b] = a;
  }

  void ByName(const Value* a, const Value* b, PairedBy by) {
    if (to_b_.contains(a) || to_a_.contains(b) || !MayBeNamed(a->type(), b->type())) return;
    Pair(a, b, by);
  }

  // By the names of values, or by what `form` makes of them.
  template <typename Form>
  void ByNames(const MakeFindName& make, const Form& form) {
    // The last value with a name: those before it are the same in other axes, or rounded.
    std::vector<std::string> names;
    std::vector<const Value*> values;
    std::unordered_map<std::string, size_t> known;
    for (const Value* v : right_) {
      if (v->name().empty()) continue;
      const std::string name = form(v->name());
      const auto [it, is_new] = known.emplace(name, names.size());
      if (is_new) {
        names.push_back(name);
        values.push_back(v);
      } else {
        values[it->second] = v;
      }
    }
    const FindName find = make(names);
    for (auto it = left_.rbegin(); it != left_.rend(); ++it) {
      if ((*it)->name().empty()) continue;
      if (const auto found = find(form((*it)->name())))
        ByName(*it, values[*found], PairedBy::kName);
    }
  }

  // Pairs values with equal keys in order; only those that are one on each side if `unique`.
  void ByKeys(const std::function<uint64_t(const Value*, bool)>& key, bool unique, PairedBy by) {
    std::map<uint64_t, std::vector<const Value*>> left, right;
    const auto collect = [&](const std::vector<const Value*>& values, bool first, auto& out) {
      for (const Value* v : values)
        if (const uint64_t k = IsMoved(v) ? 0 : key(v, first); k != 0 && !IsPaired(v, first))
          out[k].push_back(v);
    };
    collect(left_, true, left);
    collect(right_, false, right);
    for (const auto& [k, values] : left) {
      const auto it = right.find(k);
      if (it == right.end() || values.size() != it->second.size()) continue;
      if (unique && values.size() != 1) continue;
      for (size_t i = 0; i < values.size(); ++i)
        if (SameAxes(values[i]->type(), it->second[i]->type())) Pair(values[i], it->second[i], by);
    }
  }

  // The longest common subsequence of operators, in which the pairs so far are kept in order.
  void ByOrder() {
    std::vector<const Value*> left = left_, right = right_;
    std::erase_if(left, IsMoved);
    std::erase_if(right, IsMoved);
    const size_t n = left.size(), m = right.size();
    constexpr size_t kMaxCells = 16'000'000;
    if (n == 0 || m == 0 || n > kMaxCells / m) return;
    const auto same = [&](size_t i, size_t k) {
      const auto pair = to_b_.find(left[i]);
      if (pair != to_b_.end()) return pair->second.b == right[k];
      return !to_a_.contains(right[k]) && left[i]->def()->op_name() == right[k]->def()->op_name() &&
             left[i]->def_index() == right[k]->def_index() &&
             SameAxes(left[i]->type(), right[k]->type());
    };
    std::vector<uint32_t> longest((n + 1) * (m + 1), 0);  // of left[i..], right[k..]
    const auto at = [&](size_t i, size_t k) -> uint32_t& { return longest[i * (m + 1) + k]; };
    for (size_t i = n; i-- > 0;)
      for (size_t k = m; k-- > 0;)
        at(i, k) = same(i, k) ? at(i + 1, k + 1) + 1 : std::max(at(i + 1, k), at(i, k + 1));
    for (size_t i = 0, k = 0; i < n && k < m;) {
      if (same(i, k))
        Pair(left[i++], right[k++], PairedBy::kOrder);
      else if (at(i + 1, k) >= at(i, k + 1))
        ++i;
      else
        ++k;
    }
  }

  std::vector<ValuePair> Take() const {
    std::vector<ValuePair> out;
    for (const Value* v : left_)
      if (const auto it = to_b_.find(v); it != to_b_.end()) out.push_back(it->second);
    return out;
  }

 private:
  bool IsPaired(const Value* v, bool first) const {
    return first ? to_b_.contains(v) : to_a_.contains(v);
  }

  // Values with equal names may have their axes joined in different ways.
  static bool MayBeNamed(const Type& a, const Type& b) {
    const auto x = a.const_dims(), y = b.const_dims();
    if (!x || !y) return true;
    int64_t left = 1, right = 1;
    for (const int64_t d : *x) left *= d;
    for (const int64_t d : *y) right *= d;
    return left == right;
  }

  std::vector<const Value*> left_, right_;
  std::unordered_map<const Value*, ValuePair> to_b_;
  std::unordered_map<const Value*, const Value*> to_a_;
};

}  // namespace

std::string_view PairedByName(PairedBy by) {
  switch (by) {
    case PairedBy::kInterface:
      return "interface";
    case PairedBy::kComputation:
      return "computation";
    case PairedBy::kName:
      return "name";
    case PairedBy::kConstants:
      return "constants";
    case PairedBy::kOrder:
      return "order";
    case PairedBy::kContents:
      return "contents";
  }
  return "";
}

bool IsCertain(PairedBy by) {
  return by == PairedBy::kInterface || by == PairedBy::kComputation;
}

std::vector<const Value*> ComparedValues(const Graph& graph) {
  std::vector<const Value*> out;
  for (const Node& node : graph.nodes())
    for (const Value* v : node.outputs())
      if (!v->type().quantized() || !IsInside(v)) out.push_back(v);
  for (const Port& p : graph.outputs())
    if (p.value->def() == nullptr && std::ranges::find(out, p.value) == out.end())
      out.push_back(p.value);
  return out;
}

Status ComputeAlike(Graph& a, Graph& b) {
  const auto has_integers = [](const Graph& graph) {
    return std::ranges::any_of(graph.nodes(), OnQuantizedTypes);
  };
  if (!has_integers(a) && !has_integers(b)) return {};
  NN_RETURN_IF_ERROR(nn::ComputeAlike(a, b));
  NN_RETURN_IF_ERROR(nn::ComputeAlike(b, a));
  return {};
}

std::vector<ValuePair> PairValues(const Graph& a, const Graph& b, std::span<const PortPair> inputs,
                                  std::span<const PortPair> outputs, const MakeFindName& names) {
  Pairing pairing(a, b);
  for (const PortPair& p : outputs) {
    const Value *x = a.outputs()[p.a].value, *y = b.outputs()[p.b].value;
    pairing.Pair(x, y, PairedBy::kInterface);
  }
  // Equal inputs have equal keys; those of one model alone have keys of their own.
  std::vector<uint64_t> keys_a(a.inputs().size()), keys_b(b.inputs().size());
  for (size_t i = 0; i < keys_a.size(); ++i) keys_a[i] = Mixed(17, i);
  for (size_t i = 0; i < keys_b.size(); ++i) keys_b[i] = Mixed(19, i);
  for (const PortPair& p : inputs) keys_b[p.b] = keys_a[p.a];
  const Keys of_a(a, keys_a), of_b(b, keys_b);
  const auto computed = [&](const Value* v, bool first) {
    return first ? of_a.computed(v) : of_b.computed(v);
  };
  const auto constants = [&](const Value* v, bool first) {
    return first ? of_a.constants(v) : of_b.constants(v);
  };
  pairing.ByKeys(computed, true, PairedBy::kComputation);
  pairing.ByNames(names, [](std::string_view name) { return std::string(name); });
  pairing.ByNames(names, FirstName);
  pairing.ByKeys(computed, false, PairedBy::kOrder);
  pairing.ByKeys(constants, true, PairedBy::kConstants);
  pairing.ByOrder();
  return pairing.Take();
}

}  // namespace nn::against
