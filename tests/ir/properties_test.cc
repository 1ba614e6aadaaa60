// Laws that hold for all dimensions and axis maps, tested on random ones.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <numeric>

#include "ir/types/axis_map.h"
#include "ir/types/dim.h"

namespace nn::test::properties_test {
namespace {

// The same random expression in symbols, and computed with numbers in place of the symbols.
struct Expression {
  Dim dim;
  int64_t value;
};

Expression AnyExpression(int64_t a, int64_t b, int depth) {
  switch (*rc::gen::inRange(0, depth == 0 ? 3 : 9)) {
    case 0: {
      const int64_t n = *rc::gen::inRange<int64_t>(-9, 10);
      return {Dim(n), n};
    }
    case 1:
      return {Dim::Symbol("a"), a};
    case 2:
      return {Dim::Symbol("b"), b};
    default:
      break;
  }
  const Expression x = AnyExpression(a, b, depth - 1);
  const Expression y = AnyExpression(a, b, depth - 1);
  const int64_t divisor = *rc::gen::inRange<int64_t>(1, 6);
  const int64_t quotient = (x.value - ((x.value % divisor + divisor) % divisor)) / divisor;
  switch (*rc::gen::inRange(0, 7)) {
    case 0:
      return {x.dim + y.dim, x.value + y.value};
    case 1:
      return {x.dim - y.dim, x.value - y.value};
    case 2:
      return {x.dim * y.dim, x.value * y.value};
    case 3:
      return {Dim::FloorDiv(x.dim, Dim(divisor)), quotient};
    case 4:
      return {Dim::Mod(x.dim, Dim(divisor)), x.value - quotient * divisor};
    case 5:
      return {Dim::Min(x.dim, y.dim), std::min(x.value, y.value)};
    default:
      return {Dim::Max(x.dim, y.dim), std::max(x.value, y.value)};
  }
}

TEST_CASE("dim: symbols first and numbers first give the same") {
  CHECK(rc::check([] {
    const int64_t a = *rc::gen::inRange<int64_t>(0, 20);
    const int64_t b = *rc::gen::inRange<int64_t>(0, 20);
    const Expression e = AnyExpression(a, b, 4);
    const Dim bound = e.dim.Substitute(
        [&](std::string_view name) { return std::optional<Dim>(name == "a" ? a : b); });
    RC_ASSERT(bound.is_const());
    RC_ASSERT(bound.value() == e.value);
  }));
}

TEST_CASE("dim: what is printed parses to the same") {
  CHECK(rc::check([] {
    const Expression e = AnyExpression(1, 2, 4);
    const auto parsed = Dim::Parse(e.dim.ToString());
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(*parsed == e.dim);
  }));
}

AxisMap AnyPermutation(int rank) {
  std::vector<int> left(static_cast<size_t>(rank));
  std::iota(left.begin(), left.end(), 0);
  std::vector<int> from;
  while (!left.empty()) {
    const auto at = left.begin() +
                    *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(left.size()));
    from.push_back(*at);
    left.erase(at);
  }
  return {rank, std::move(from)};
}

TEST_CASE("axis map: composition and inverse") {
  CHECK(rc::check([] {
    const int rank = *rc::gen::inRange(1, 7);
    const AxisMap p = AnyPermutation(rank);
    const AxisMap q = AnyPermutation(rank);
    const auto dims = *rc::gen::container<std::vector<int64_t>>(static_cast<size_t>(rank),
                                                                rc::gen::inRange<int64_t>(1, 9));
    RC_ASSERT(p.Then(q).Apply(dims) == q.Apply(p.Apply(dims)));
    RC_ASSERT(p.Then(p.Inverse()).IsIdentity());
    RC_ASSERT(p.Inverse().Inverse() == p);
    for (int axis = 0; axis < rank; ++axis)
      RC_ASSERT(p.from()[static_cast<size_t>(*p.ResultAxis(axis))] == axis);
  }));
}

TEST_CASE("axis map: a unit axis that comes goes again") {
  CHECK(rc::check([] {
    const int rank = *rc::gen::inRange(0, 6);
    const int axis = *rc::gen::inRange(0, rank + 1);
    const AxisMap map = AxisMap::Insert(rank, axis);
    RC_ASSERT(map.result_rank() == rank + 1);
    RC_ASSERT(map.from()[static_cast<size_t>(axis)] == AxisMap::kNew);
    RC_ASSERT(map.Then(AxisMap::Remove(rank + 1, axis)).IsIdentity());
  }));
}

}  // namespace
}  // namespace nn::test::properties_test
