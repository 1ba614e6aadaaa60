#include "ir/types/dim.h"

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <string>

namespace nn::dim_test {
namespace {

Dim Parsed(std::string_view text) {
  auto d = Dim::Parse(text);
  REQUIRE_MESSAGE(d.has_value(), d.error().message());
  return *d;
}

TEST_CASE("dim: equal polynomials compare equal") {
  struct Row {
    const char* a;
    const char* b;
  };
  for (const Row& r : {
           Row{"h + 2 - 3 + 1", "h"},
           Row{"(h + 1)*(h - 1)", "h*h - 1"},
           Row{"2*a*b", "b*2*a"},
           Row{"floordiv(2*h + 3, 2)", "h + 1"},
           Row{"floordiv(6, 4)", "1"},
           Row{"floordiv(h*w, w)", "h"},
           Row{"mod(4*n, 2)", "0"},
           Row{"max(h + 1, h)", "h + 1"},
           Row{"min(h, 3 + h)", "h"},
           Row{"max(a, b)", "max(b, a)"},
           Row{"h - h", "0"},
       }) {
    CAPTURE(r.a);
    CHECK(Parsed(r.a) == Parsed(r.b));
  }
  CHECK(Parsed("h") != Parsed("w"));
  CHECK(Parsed("floordiv(h, 2)*2") != Parsed("h"));
}

TEST_CASE("dim: text parses back to the same dimension") {
  for (const char* text : {"0", "7", "-3", "batch", "2*h + 1", "h*w", "floordiv(w - 1, 2) + 1",
                           "max(a, 4)", "'a b'", "'it\\'s'", "'floordiv'", "a.b - 3*mod(c, 5)",
                           "max(0, n - 9223372036854775808)", "-9223372036854775808*n + 1"}) {
    CAPTURE(text);
    const Dim d = Parsed(text);
    CHECK(Parsed(d.ToString()) == d);
  }
  CHECK(Parsed("1 + 2*h").ToString() == "2*h + 1");
}

TEST_CASE("dim: wrong text is an error with its column") {
  for (const char* text :
       {"", "+", "2*", "f(1", "max(1)", "nope(1, 2)", "1 2", "'open", "99999999999999999999"})
    CHECK_FALSE(Dim::Parse(text).has_value());
  CHECK(Dim::Parse("2 * * 3").error().message().find("column 5") != std::string::npos);
  CHECK(Dim::Parse(std::string(10000, '(')).error().code() == ErrorCode::kLimit);
}

TEST_CASE("dim: overflow and division by zero are invalid, and stay so") {
  const Dim big(std::numeric_limits<int64_t>::max());
  CHECK_FALSE((big + Dim(1)).is_valid());
  CHECK_FALSE((big * Dim(2) - big).is_valid());
  CHECK_FALSE(Dim::FloorDiv(Dim::Symbol("n"), Dim(0)).is_valid());
  CHECK_FALSE((big * Dim::Symbol("n") * Dim(2)).is_valid());
}

TEST_CASE("dim: division rounds down, also for negative numbers") {
  CHECK(Dim::FloorDiv(Dim(-7), Dim(2)) == Dim(-4));
  CHECK(Dim::CeilDiv(Dim(-7), Dim(2)) == Dim(-3));
  CHECK(Dim::Mod(Dim(-7), Dim(2)) == Dim(1));
  CHECK(Dim::CeilDiv(Parsed("2*h"), Dim(2)) == Parsed("h"));
}

TEST_CASE("dim: symbols are replaced everywhere in an expression") {
  const Dim d = Parsed("floordiv(h + 1, 2)*c + max(h, w)");
  const auto fn = [](std::string_view name) -> std::optional<Dim> {
    if (name == "h") return Dim(7);
    if (name == "w") return Dim(5);
    return std::nullopt;
  };
  CHECK(d.Substitute(fn) == Parsed("4*c + 7"));
}

// ---- Bounds -------------------------------------------------------------------------------------

Dim SymbolSum(const std::string& prefix, int n) {
  Dim sum;
  for (int i = 0; i < n; ++i) sum = sum + Dim::Symbol(prefix + std::to_string(i));
  return sum;
}

// Terms and factors that `fn` compares, hashes or creates.
template <typename Fn>
uint64_t StepsOf(Fn fn) {
  const uint64_t before = Dim::steps();
  fn();
  return Dim::steps() - before;
}

TEST_CASE("dim: a product of sums is expanded up to a limit, then opaque") {
  const Dim a = SymbolSum("a", 3), b = SymbolSum("b", 3);
  CHECK_FALSE((a * b).symbol());
  const Dim large = SymbolSum("a", 30) * SymbolSum("b", 30);
  REQUIRE(large.symbol());
  CHECK(Dim::IsOpaque(*large.symbol()));
  CHECK(large.is_valid());
  CHECK(large.non_negative());
  CHECK(large.own_size() == 2);
  // The same computation gives the same symbol, in either order; different ones give different
  // symbols.
  CHECK(SymbolSum("b", 30) * SymbolSum("a", 30) == large);
  CHECK(SymbolSum("b", 30) * SymbolSum("a", 29) != large);
  CHECK(Parsed(large.ToString()) == large);
  // From then on, it is a symbol like any other.
  CHECK(Dim::FloorDiv(large * Dim(4), Dim(2)) == large * Dim(2));
  CHECK(large - large == Dim(0));
}

TEST_CASE("dim: an opaque result that may be negative is not taken for a size") {
  const Dim difference = SymbolSum("a", 40) - SymbolSum("b", 40);
  REQUIRE(difference.symbol());
  CHECK(Dim::IsOpaque(*difference.symbol()));
  CHECK_FALSE(difference.non_negative());
  CHECK_FALSE(Parsed(difference.ToString()).non_negative());
  CHECK(Dim::Max(difference, Dim(0)) != difference);
  CHECK(Dim::Max(SymbolSum("a", 3), Dim(0)) == SymbolSum("a", 3));
}

TEST_CASE("dim: overflow stays an error where results are opaque") {
  const Dim big(std::numeric_limits<int64_t>::max());
  CHECK_FALSE((SymbolSum("a", 30) * SymbolSum("b", 30) * big * Dim(2)).is_valid());
}

TEST_CASE("dim: no chain of operations takes more than a constant number of steps each") {
  using Op = Dim (*)(const Dim&, const Dim&);
  const std::map<std::string, Op> ops = {
      {"square of a sum", [](const Dim& x, const Dim& y) { return (x + y) * (x + y); }},
      {"power", [](const Dim& x, const Dim&) { return x * x; }},
      {"sum", [](const Dim& x, const Dim& y) { return x * Dim(-1) + y; }},
      {"difference", [](const Dim& x, const Dim& y) { return y - x * y; }},
      {"floordiv",
       [](const Dim& x, const Dim& y) { return Dim::FloorDiv(x + Dim(1), y + Dim(2)); }},
      {"floordiv by a number", [](const Dim& x, const Dim& y) { return Dim::FloorDiv(x * y, 3); }},
      {"mod", [](const Dim& x, const Dim& y) { return Dim::Mod(x + y, x * y); }},
      {"min", [](const Dim& x, const Dim& y) { return Dim::Min(x + y, x * y); }},
      {"max", [](const Dim& x, const Dim& y) { return Dim::Max(x * x, x + y + Dim(1)); }},
      {"pool", [](const Dim& x, const Dim&) { return Dim::FloorDiv(x - Dim(1), 2) + Dim(1); }},
      {"division", [](const Dim& x,
                      const Dim& y) { return Dim::ExactDiv(x * y, y).value_or(x) * (y + Dim(1)); }},
  };
  constexpr uint64_t kMax = 50'000;  // of one operation
  for (const auto& entry : ops) {
    const std::string& name = entry.first;
    const Op op = entry.second;
    CAPTURE(name);
    Dim x = Parsed("a*b + c");
    const Dim ys[] = {Dim::Symbol("h"), SymbolSum("s", 20), Parsed("floordiv(w, 2)*h + 1")};
    for (int i = 0; i < 300; ++i) {
      const Dim& y = ys[i % 3];
      Dim next;
      CHECK(StepsOf([&] { next = op(x, y); }) < kMax);
      CHECK(next.is_valid());
      CHECK(next.own_size() <= Dim::kMaxOwnSize);
      CHECK(next.ToString().size() < 64 * Dim::kMaxSize);
      CHECK(StepsOf([&] { (void)(next == op(x, y)); }) < 2 * kMax);
      CHECK(StepsOf([&] {
              (void)next.Substitute([](std::string_view s) {
                return std::optional(Dim::Symbol("x" + std::string(s)));
              });
            }) < 10 * kMax);
      x = next;
    }
  }
}

TEST_CASE("dim: sums of n symbols take steps in proportion to n") {
  const uint64_t small = StepsOf([] { SymbolSum("a", 1000); });
  const uint64_t large = StepsOf([] { SymbolSum("a", 4000); });
  CHECK(large < 5 * small);
}

TEST_CASE("dim: expressions nest to a limit only") {
  Dim x = Dim::Symbol("n");
  for (int i = 0; i < 100'000; ++i) x = Dim::FloorDiv(x + Dim(1), Dim::Symbol("k") + Dim(2));
  CHECK(x.ToString().size() < 64 * Dim::kMaxSize);
  const Dim::Tree tree = x.ToTree();
  CHECK(tree.kind != Dim::Tree::Kind::kConstant);
}

TEST_CASE("dim: long names are cut, and stay different") {
  const std::string long_name(1'000'000, 'n');
  const Dim a = Dim::Symbol(long_name + "a"), b = Dim::Symbol(long_name + "b");
  CHECK(a != b);
  CHECK(a == Dim::Symbol(long_name + "a"));
  CHECK(a.symbol()->size() <= Dim::kMaxName);
  std::string umlauts;
  for (int i = 0; i < 1000; ++i) umlauts += "\xC3\xA4";
  const auto cut = std::string(*Dim::Symbol(umlauts).symbol());
  CHECK(cut.find("\xC3~") == std::string::npos);  // no half character
  CHECK(Dim::Symbol(std::string(Dim::kMaxName, 'n')).symbol() == std::string(Dim::kMaxName, 'n'));
}

TEST_CASE("dim: dims that are large together have opaque symbols") {
  const Dims dims = {Dim(3), Dim::Symbol("n"), SymbolSum("a", 50), SymbolSum("b", 50)};
  CHECK(Bounded(dims, 1000) == dims);
  const Dims bounded = Bounded(dims, 100);
  CHECK(bounded[0] == Dim(3));
  CHECK(bounded[1] == Dim::Symbol("n"));
  CHECK(Dim::IsOpaque(*bounded[2].symbol()));
  CHECK(bounded == Bounded(dims, 100));
  CHECK(OwnSize(bounded) == 7);
}

}  // namespace
}  // namespace nn::dim_test
