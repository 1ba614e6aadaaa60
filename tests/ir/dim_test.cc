#include "ir/dim.h"

#include <doctest/doctest.h>

#include <limits>

namespace nn {
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
                           "max(a, 4)", "'a b'", "'it\\'s'", "'floordiv'", "a.b - 3*mod(c, 5)"}) {
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

}  // namespace
}  // namespace nn
