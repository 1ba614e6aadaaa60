// Patterns of nodes, written as expressions.
//
//   pattern   = term { ';' variable '=' term }
//   term      = variable | '#' variable | number | '$' variable | call | variable ':' call
//   call      = operator '(' term { ',' term } { ',' attribute '=' number } ')'
//
// The terms after the first one describe values that are bound to variables before; a variable
// that is not bound, in an alternative that was not taken, has any value.
//
// A variable matches any value, the same one at each place, or one that nodes of its own compute in
// the same way; `#g` only constants. A number matches a
// scalar constant that differs by at most one part in 10^6, `$e` any scalar constant. `d:call` is
// the variable d, bound to the result of the call. The operators `add`, `maximum` and `minimum`
// take their operands in either order. Four operators match more than the node of that name:
//   product(...)  a value with these factors, in any order, in terms of mul, div, neg, reciprocal
//                 and pow with a constant exponent. A number, or `$c`, must be the first factor
//                 and is the product of all scalar constants; without one, they have the product 1.
//   inverse(p)    as a factor: a divisor, or the operand of reciprocal. The inverse of sqrt(p) may
//                 also be rsqrt(p) or pow(p, -0.5).
//   square(p)     the product of p with itself, or the squared_difference of a and b where p is
//                 sub(a, b) without a label, or a variable that is bound to such a node.
//   either(...)   what one of the patterns matches; they are tried in order.
// Other calls match the first inputs of their node; further inputs may be anything. The attributes
// in a call differ by at most one part in 10^6 from those of the node; further ones may be
// anything.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace nn {

class Pattern {
 public:
  struct Part;  // a part of a pattern

  // Requires that the text is a pattern.
  explicit Pattern(std::string_view text);
  Pattern(Pattern&&) noexcept;
  ~Pattern();

  struct Match {
    std::map<std::string, Value*, std::less<>> values;   // by variable
    std::map<std::string, double, std::less<>> numbers;  // by variable
    std::set<const Node*> nodes;                         // that the pattern covers
  };
  // The match whose result is `root`, if there is one. Values inside of it, other than variables
  // outside of calls, are used by its nodes only.
  std::optional<Match> Find(const Graph& graph, Value* root) const;

 private:
  struct Definition {
    std::string name;
    std::unique_ptr<const Part> term;
  };

  std::unique_ptr<const Part> term_;
  std::vector<Definition> definitions_;
};

}  // namespace nn
