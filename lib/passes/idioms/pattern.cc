#include "passes/idioms/pattern.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "base/text/from_chars.h"
#include "ir/op_def.h"
#include "ops/array/arrange/tile.h"
#include "ops/math/random.h"

namespace nn {

struct Pattern::Part {
  enum class Kind : uint8_t { kVariable, kConstant, kNumber, kAnyNumber, kCall };
  Kind kind = Kind::kVariable;
  std::string name;   // of the variable or, for a call, of the operator
  std::string label;  // of a call: the variable that is bound to its result
  double number = 0;
  std::vector<std::unique_ptr<const Part>> operands;
  std::vector<std::pair<std::string, double>> attrs;  // of a call
};

namespace {

using PatternPart = Pattern::Part;
using Kind = PatternPart::Kind;

// ---- The language -------------------------------------------------------------------------------

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::unique_ptr<const PatternPart> Read() { return ReadTerm(); }

  // The name of the next definition, whose term follows; empty at the end.
  std::string NextDefinition() {
    const bool more = Skip(';');
    assert(more || rest_.empty());
    if (!more) return {};
    std::string name = Word();
    [[maybe_unused]] const bool is_definition = Skip('=');
    assert(is_definition);
    return name;
  }

 private:
  bool Skip(char c) {
    SkipSpaces();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void SkipSpaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }

  std::string Word() {
    SkipSpaces();
    const size_t end = std::min(rest_.find_first_of(" \n,():;="), rest_.size());
    std::string word(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return word;
  }

  // Reads an attribute of a call, if one follows.
  bool ReadAttribute(PatternPart& call) {
    const std::string_view before = rest_;
    std::string name = Word();
    if (!Skip('=')) {
      rest_ = before;
      return false;
    }
    const std::string word = Word();
    double number = 0;
    FromChars(word.data(), word.data() + word.size(), number);
    call.attrs.emplace_back(std::move(name), number);
    return true;
  }

  std::unique_ptr<const PatternPart> ReadTerm() {
    auto term = std::make_unique<PatternPart>();
    std::string word = Word();
    assert(!word.empty());
    if (Skip(':')) {
      term->label = std::move(word);
      word = Word();
    }
    if (Skip('(')) {
      term->kind = Kind::kCall;
      term->name = std::move(word);
      do {
        if (!ReadAttribute(*term)) term->operands.push_back(ReadTerm());
      } while (Skip(','));
      [[maybe_unused]] const bool closed = Skip(')');
      assert(closed);
      return term;
    }
    const char first = word[0];
    const char* const end = word.data() + word.size();
    if (FromChars(word.data(), end, term->number).ptr == end) {
      term->kind = Kind::kNumber;
    } else {
      term->kind = first == '#'   ? Kind::kConstant
                   : first == '$' ? Kind::kAnyNumber
                                  : Kind::kVariable;
      term->name = first == '#' || first == '$' ? word.substr(1) : std::move(word);
    }
    return term;
  }

  std::string_view rest_;
};

// ---- Matching -----------------------------------------------------------------------------------

// The number of a constant with one element.
std::optional<double> NumberOf(const Value* v) {
  if (v == nullptr || !v->is_constant() || v->type().quantized()) return std::nullopt;
  const Tensor& t = v->constant();
  if (t.elements() != 1 || !IsFloat(t.dtype())) return std::nullopt;
  return t.GetDouble(0);
}

bool IsNearly(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::abs(b);
}

// Whether the node has the attributes of a call.
bool HasAttributes(const PatternPart& call, const Node& node) {
  return std::ranges::all_of(call.attrs, [&](const auto& wanted) {
    const auto value = node.attrs().Get(wanted.first);
    const auto* const number = value ? std::get_if<float>(&*value) : nullptr;
    return number != nullptr && (*number == wanted.second || IsNearly(*number, wanted.second));
  });
}

struct Factor {
  Value* value;
  bool inverted = false;
};

// A product, as far as it was taken apart.
struct OpenProduct {
  double number = 1;
  std::vector<Factor> factors;
  std::set<const Node*> nodes;
};

constexpr size_t kMaxFactors = 6;

// A node as a number times powers of its operands.
struct Monomial {
  double number = 1;
  std::vector<int> powers;  // of each operand
};

std::optional<Monomial> MonomialOf(const Node& node) {
  static const std::map<std::string_view, Monomial> monomials = {
      {"mul", {1, {1, 1}}}, {"div", {1, {1, -1}}}, {"reciprocal", {1, {-1}}}, {"neg", {-1, {1}}}};
  if (const auto it = monomials.find(node.op_name()); it != monomials.end()) return it->second;
  if (!node.Is("pow")) return std::nullopt;
  const auto exponent = NumberOf(node.input(1));
  if (!exponent || *exponent != std::round(*exponent) || *exponent == 0 || std::abs(*exponent) > 3)
    return std::nullopt;
  return Monomial{1, {static_cast<int>(*exponent)}};
}

// Takes a factor apart: its node is a product, a quotient or a power. Scalar constants are
// multiplied into the number. False if it is none of these.
bool Open(OpenProduct& product, size_t index) {
  const Factor f = product.factors[index];
  const Node* node = f.value->def();
  if (node == nullptr) return false;
  const std::optional<Monomial> monomial = MonomialOf(*node);
  if (!monomial) return false;
  product.number *= monomial->number;
  std::vector<Factor> parts;
  for (size_t i = 0; i < monomial->powers.size(); ++i) {
    const int power = monomial->powers[i];
    parts.insert(parts.end(), static_cast<size_t>(std::abs(power)),
                 {node->input(i), f.inverted != (power < 0)});
  }
  product.factors.erase(product.factors.begin() + static_cast<std::ptrdiff_t>(index));
  for (const Factor& part : parts) {
    if (const auto number = NumberOf(part.value))
      product.number *= part.inverted ? 1 / *number : *number;
    else
      product.factors.push_back(part);
  }
  product.nodes.insert(node);
  return true;
}

constexpr int kMaxCopiedLevels = 4;

// Whether `copy` is computed as `v` is, by nodes of its own, which are added. Exporters that do not
// share subexpressions repeat x - mean(x), for example.
bool IsCopy(const Value& v, const Value& copy, std::set<const Node*>& copies,
            int levels = kMaxCopiedLevels) {
  if (v.is_constant() && copy.is_constant()) {
    const auto number = NumberOf(&v);
    return number && number == NumberOf(&copy) && v.type() == copy.type();
  }
  const Node* const a = v.def();
  const Node* const b = copy.def();
  if (a == nullptr || b == nullptr || levels == 0 || a->op_name() != b->op_name() ||
      !(a->attrs() == b->attrs()) || a->arithmetic() != b->arithmetic() ||
      a->inputs().size() != b->inputs().size() || b->outputs().size() != 1 ||
      a->outputs().size() != 1 || !a->regions().empty() || a->op().is_check || IsRandom(*a))
    return false;
  for (size_t i = 0; i < a->inputs().size(); ++i) {
    const Value* const x = a->input(i);
    const Value* const y = b->input(i);
    if (x == y) continue;
    if (x == nullptr || y == nullptr || !IsCopy(*x, *y, copies, levels - 1)) return false;
  }
  copies.insert(b);
  return true;
}

class Matcher {
 public:
  using Then = std::function<bool()>;

  // Whether the value matches and then() accepts the match, which tries all alternatives.
  bool Try(const PatternPart& term, Value* v, const Then& then) {
    if (v == nullptr) return false;
    switch (term.kind) {
      case Kind::kNumber: {
        const auto number = NumberOf(v);
        return number && IsNearly(*number, term.number) && then();
      }
      case Kind::kAnyNumber: {
        const auto number = NumberOf(v);
        if (!number) return false;
        return With([&] { match.numbers[term.name] = *number; }, then);
      }
      case Kind::kConstant:
        return v->is_constant() && Bind(term.name, v, then);
      case Kind::kVariable:
        return Bind(term.name, v, then);
      case Kind::kCall:
        // Sizes that are broadcast anyway. The label is bound to the value before.
        if (const Node* node = v->def(); node != nullptr && node->Is<ExpandAttrs>() &&
                                         term.name != "expand" && term.name != "product" &&
                                         term.name != "square" && term.name != "either")
          return With([&] { match.nodes.insert(node); },
                      [&] { return Try(term, node->input(0), then); });
        return term.label.empty() ? TryCall(term, v, then)
                                  : Bind(term.label, v, [&] { return TryCall(term, v, then); });
    }
    return false;
  }

  Pattern::Match match;

 private:
  // Undoes the change unless then() accepts it.
  bool With(const std::function<void()>& change, const Then& then) {
    const Pattern::Match before = match;
    change();
    if (then()) return true;
    match = before;
    return false;
  }

  bool Bind(const std::string& name, Value* v, const Then& then) {
    const auto it = match.values.find(name);
    if (it == match.values.end()) return With([&] { match.values[name] = v; }, then);
    if (it->second == v) return then();
    std::set<const Node*> copies;
    return IsCopy(*it->second, *v, copies) &&
           With([&] { match.nodes.insert(copies.begin(), copies.end()); }, then);
  }

  bool TryCall(const PatternPart& term, Value* v, const Then& then) {
    if (term.name == "either")
      return std::ranges::any_of(term.operands, [&](const auto& p) { return Try(*p, v, then); });
    if (term.name == "product") return TryProduct(term, v, then);
    const Node* node = v->def();
    if (term.name == "square") {
      const PatternPart& p = *term.operands[0];
      if (node != nullptr && node->Is("squared_difference"))
        return TrySquaredDifference(p, *node, then);
      return TryFactors(v, {}, {{&p, false}, {&p, false}}, then);
    }
    if (node == nullptr || node->outputs().size() != 1) return false;
    if (!node->Is(term.name) || term.operands.size() > node->inputs().size() ||
        !HasAttributes(term, *node))
      return false;
    const auto add = [&] { match.nodes.insert(node); };
    const auto in_order = [&] { return TryOperands(term, *node, 0, then); };
    if (With(add, in_order)) return true;
    return node->op().commutes && term.operands.size() == 2 &&
           With(add, [&] { return TryPair(term, node->input(1), node->input(0), then); });
  }

  // The operands from `first` on, in order.
  bool TryOperands(const PatternPart& call, const Node& node, size_t first, const Then& then) {
    if (first == call.operands.size()) return then();
    return Try(*call.operands[first], node.input(first),
               [&] { return TryOperands(call, node, first + 1, then); });
  }

  bool TryPair(const PatternPart& call, Value* a, Value* b, const Then& then) {
    return Try(*call.operands[0], a, [&] { return Try(*call.operands[1], b, then); });
  }

  // squared_difference(a, b) as the square of a difference, which may be the variable of one.
  bool TrySquaredDifference(const PatternPart& difference, const Node& node, const Then& then) {
    const auto add = [&] { match.nodes.insert(&node); };
    Value* const a = node.input(0);
    Value* const b = node.input(1);
    if (difference.kind == Kind::kCall && difference.name == "sub" && difference.label.empty())
      return With(
          add, [&] { return TryPair(difference, a, b, then) || TryPair(difference, b, a, then); });
    const auto it = match.values.find(difference.name);
    if (difference.kind != Kind::kVariable || it == match.values.end()) return false;
    const Node* const sub = it->second->def();
    if (sub == nullptr || !sub->Is("sub")) return false;
    const bool same =
        (sub->input(0) == a && sub->input(1) == b) || (sub->input(0) == b && sub->input(1) == a);
    return same && With(add, then);
  }

  struct WantedFactor {
    const PatternPart* term;
    bool inverted;
  };
  struct WantedNumber {
    double value = 1;
    std::string name;  // of the variable that any number is bound to; empty: only the value
  };

  bool TryProduct(const PatternPart& term, Value* v, const Then& then) {
    WantedNumber number;
    std::vector<WantedFactor> wanted;
    for (const auto& p : term.operands) {
      if (p->kind == Kind::kNumber)
        number.value = p->number;
      else if (p->kind == Kind::kAnyNumber)
        number.name = p->name;
      else if (p->kind == Kind::kCall && p->name == "inverse")
        wanted.push_back({p->operands[0].get(), true});
      else
        wanted.push_back({p.get(), false});
    }
    return TryFactors(v, number, wanted, then);
  }

  bool TryFactors(Value* v, const WantedNumber& number, const std::vector<WantedFactor>& wanted,
                  const Then& then) {
    OpenProduct product;
    product.factors.push_back({v});
    return TryOpened(product, 0, number, wanted, then);
  }

  // Tries the product as it is, then taken apart further: factors from `first` on.
  bool TryOpened(const OpenProduct& product, size_t first, const WantedNumber& number,
                 const std::vector<WantedFactor>& wanted, const Then& then) {
    if (product.factors.size() > kMaxFactors) return false;
    if (!product.nodes.empty() && product.factors.size() == wanted.size() &&
        (!number.name.empty() || IsNearly(product.number, number.value))) {
      std::vector<size_t> order(wanted.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = i;
      do {
        const auto add = [&] {
          match.nodes.insert(product.nodes.begin(), product.nodes.end());
          if (!number.name.empty()) match.numbers[number.name] = product.number;
        };
        if (With(add, [&] { return TryOrder(product, order, 0, wanted, then); })) return true;
      } while (std::ranges::next_permutation(order).found);
    }
    for (size_t i = first; i < product.factors.size(); ++i) {
      OpenProduct opened = product;
      if (Open(opened, i) && TryOpened(opened, i, number, wanted, then)) return true;
    }
    return false;
  }

  bool TryOrder(const OpenProduct& product, const std::vector<size_t>& order, size_t at,
                const std::vector<WantedFactor>& wanted, const Then& then) {
    if (at == wanted.size()) return then();
    const Factor& f = product.factors[order[at]];
    const WantedFactor& w = wanted[at];
    const auto rest = [&] { return TryOrder(product, order, at + 1, wanted, then); };
    if (f.inverted == w.inverted) return Try(*w.term, f.value, rest);
    // The inverse of a root as one node.
    const Node* node = f.value->def();
    if (!w.inverted || w.term->name != "sqrt" || node == nullptr) return false;
    if (!node->Is("rsqrt") && !(node->Is("pow") && NumberOf(node->input(1)) == -0.5)) return false;
    return With([&] { match.nodes.insert(node); },
                [&] { return Try(*w.term->operands[0], node->input(0), rest); });
  }
};

}  // namespace

Pattern::Pattern(std::string_view text) {
  Reader reader(text);
  term_ = reader.Read();
  for (std::string name = reader.NextDefinition(); !name.empty(); name = reader.NextDefinition())
    definitions_.push_back({std::move(name), reader.Read()});
}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

std::optional<Pattern::Match> Pattern::Find(const Graph& graph, Value* root) const {
  Matcher matcher;
  const auto is_closed = [&] {
    const auto& nodes = matcher.match.nodes;
    return std::ranges::all_of(nodes, [&](const Node* node) {
      const Value* y = node->output();
      if (y == root) return true;
      return !graph.IsOutput(y) && std::ranges::all_of(y->uses(), [&](const Use& use) {
        return nodes.contains(use.node);
      });
    });
  };
  const std::function<bool(size_t)> define = [&](size_t i) {
    if (i == definitions_.size()) return is_closed();
    const auto it = matcher.match.values.find(definitions_[i].name);
    if (it == matcher.match.values.end()) return define(i + 1);
    return matcher.Try(*definitions_[i].term, it->second, [&] { return define(i + 1); });
  };
  if (!matcher.Try(*term_, root, [&] { return define(0); })) return std::nullopt;
  return std::move(matcher.match);
}

}  // namespace nn
