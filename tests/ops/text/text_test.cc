#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::text_test {
namespace {

using Strings = std::vector<std::string>;

Tensor Vector(const Strings& strings) {
  return Tensor({static_cast<int64_t>(strings.size())}, strings);
}

// The results of one operator on a vector of strings.
std::vector<Tensor> Run(const Strings& x, const std::string& call) {
  return RunEverywhere(Parse(OneOp(fmt::format("str[{}]", x.size()), call)), {Vector(x)});
}

Strings Texts(const Strings& x, const std::string& call) {
  return Run(x, call)[0].strings();
}

// The error of a run with this input.
Error RunError(const std::string& graph, const Strings& x, uint64_t max_memory = 0) {
  ProgramOptions options;
  options.limits.max_memory = max_memory;
  auto program = Program::Compile(Parse(graph), options);
  REQUIRE_MESSAGE(program.has_value(), program.error().message());
  const auto y = program->Run(std::vector<Tensor>{Vector(x)});
  REQUIRE(!y.has_value());
  return y.error();
}

// The groups in the order of the kernel: those that begin with a group come before it.
TEST_CASE("skip_gram: groups of words") {
  const auto groups = [](const std::string& text, const std::string& attrs) {
    return Texts({text, "ignored"}, "skip_gram(%x) {" + attrs + "}");
  };
  CHECK(groups("a b c d", "words=2") == Strings{"a b", "b c", "c d"});
  CHECK(groups("a b c d", "words=2, max_skip=1") == Strings{"a b", "a c", "b c", "b d", "c d"});
  CHECK(groups("a b c", "words=2, max_skip=1, shorter=true") ==
        Strings{"a b", "a c", "a", "b c", "b", "c"});
  CHECK(groups("a b c d", "words=3, max_skip=1") == Strings{"a b c", "a b d", "a c d", "b c d"});
  CHECK(groups("a b c", "words=1, max_skip=5") == Strings{"a", "b", "c"});
  CHECK(groups("a b", "words=2, max_skip=-1") == Strings{});
  CHECK(groups("a b", "words=2, max_skip=-1, shorter=true") == Strings{"a", "b"});
  CHECK(groups("a b", "words=3, shorter=true") == Strings{});
  CHECK(groups("", "words=1") == Strings{});
  // Only white space behind the first byte separates words.
  CHECK(groups("a\t\tb  c ", "words=1") == Strings{"a", "b", "c"});
  CHECK(groups(" a b", "words=1") == Strings{"b"});
  CHECK(groups(" a", "words=1") == Strings{" a"});
  std::string text = "w";
  for (int i = 0; i < 60; ++i) text += " w";
  const std::string many =
      "graph { in %x: str[1]  %y = skip_gram(%x) {words=30, max_skip=60} "
      "out \"y\" = %y }";
  CHECK(RunError(many, {text}, 1 << 20).code() == ErrorCode::kLimit);
}

TEST_CASE("string_concat: broadcast") {
  const Graph g = Parse(R"(graph {
    in %x: str[2, 1]
    in %y: str[3]
    %z = string_concat(%x, %y)
    out "z" = %z
  })");
  const Tensor z = RunEverywhere(g, {Tensor({2, 1}, {"a", ""}), Vector({"1", "\xc3\xa9", ""})})[0];
  CHECK(z.dims() == std::vector<int64_t>{2, 3});
  CHECK(z.strings() == Strings{"a1", "a\xc3\xa9", "a", "1", "\xc3\xa9", ""});
  CHECK(Fails(OneOp("i64[2]", "string_concat(%x, %x)"), "input 0 (a) is i64[2]; must be str"));
}

TEST_CASE("string_concat: text counts as memory") {
  std::string graph = "graph {\n in %x0: str[1]\n";
  for (int i = 0; i < 40; ++i)
    graph += fmt::format(" %x{} = string_concat(%x{}, %x{})\n", i + 1, i, i);
  const Error error = RunError(graph + " out \"y\" = %x40\n}", {"0123456789"}, 1 << 20);
  CHECK(error.code() == ErrorCode::kLimit);
}

TEST_CASE("string_concat: the text of a loop counts as memory") {
  const std::string graph = R"(graph {
    in %x: str[1]
    const %n: i64[] = [100]
    %y, %all = loop(%n, _, %x) {carried = 1, why = "it is a test"} regions {
      graph {
        in %i: i64[]
        in %v: str[1]
        const %go: bool[] = [1]
        const %a: str[] = ["0123456789"]
        %w = string_concat(%v, %REST)
        out "go" = %go
        out "w" = %w
        out "all" = %w
      }
    }
    out "y" = %y
    out "all" = %all
  })";
  const auto with = [&](std::string_view rest) {
    std::string text = graph;
    return text.replace(text.find("REST"), 4, rest);
  };
  CHECK(RunError(with("v"), {"0123456789"}, 1 << 20).code() == ErrorCode::kLimit);
  // The results of all iterations are kept.
  CHECK(RunError(with("a"), {std::string(20000, 'x')}, 1 << 20).code() == ErrorCode::kLimit);
  const Tensor all = RunEverywhere(Parse(with("a")), {Vector({"x"})})[1];
  CHECK(all.dims() == std::vector<int64_t>{100, 1});
  CHECK(all.strings()[99].size() == 1001);
}

TEST_CASE("string_split: parts and their number") {
  struct Row {
    Strings x;
    std::string attrs;
    std::vector<int64_t> dims;
    Strings parts;
    std::vector<int64_t> counts;
  };
  const Row rows[] = {
      {{"v1.2", "v3.4"}, "delimiter = \".\"", {2, 2}, {"v1", "2", "v3", "4"}, {2, 2}},
      {{"/usr//lib/", "a/b"},
       "delimiter = \"/\"",
       {2, 5},
       {"", "usr", "", "lib", "", "a", "b", "", "", ""},
       {5, 2}},
      {{"", "aba", "ababa"},
       "delimiter = \"ba\"",
       {3, 3},
       {"", "", "", "a", "", "", "a", "", ""},
       {1, 2, 3}},
      {{"a,b,c", "a"}, "delimiter = \",\", max_splits = 1", {2, 2}, {"a", "b,c", "a", ""}, {2, 1}},
      {{"a,b"}, "delimiter = \",\", max_splits = 0", {1, 1}, {"a,b"}, {1}},
      {{"one two", "  one   two", " one\ttwo\n"},
       "",
       {3, 2},
       {"one", "two", "one", "two", "one", "two"},
       {2, 2, 2}},
      // What follows the last split keeps the space at its end.
      {{"p q r s", " p  q  r  s "},
       "max_splits = 2",
       {2, 3},
       {"p", "q", "r s", "p", "q", "r  s "},
       {3, 3}},
      // A no-break space and an ideographic space.
      {{"a\xc2\xa0z\xe3\x80\x80", "\xff \xc3\xa9"},
       "",
       {2, 2},
       {"a", "z", "\xff", "\xc3\xa9"},
       {2, 2}},
      {{" ", ""}, "", {2, 0}, {}, {0, 0}},
      {{}, "delimiter = \".\"", {0, 0}, {}, {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.attrs);
    const Graph g = Parse(fmt::format(
        "graph {{\n in %x: str[{}]\n %y, %n = string_split(%x) {}\n out \"y\" = %y\n out \"n\" = "
        "%n\n}}",
        row.x.size(), Braced(row.attrs)));
    const auto outputs = RunEverywhere(g, {Vector(row.x)});
    CHECK(outputs[0].dims() == row.dims);
    CHECK(outputs[0].strings() == row.parts);
    CHECK(outputs[1].ToInts() == row.counts);
  }
  CHECK(Fails(OneOp("str[2]", "string_split(%x) {max_splits = -2}"), "must be -1 or more"));
}

TEST_CASE("string_split: padding counts as memory") {
  Strings x(1000);
  x[0] = std::string(100000, ',');
  const std::string graph = OneOp("str[1000]", "string_split(%x) {delimiter = \",\"}");
  CHECK(RunError(graph, x, 1 << 24).code() == ErrorCode::kLimit);
}

TEST_CASE("regex_full_match: whole strings, in the syntax of RE2") {
  const auto matches = [](const Strings& x, const std::string& pattern) {
    return Run(x, fmt::format("regex_full_match(%x) {{pattern = \"{}\"}}", pattern))[0].ToInts();
  };
  using Ints = std::vector<int64_t>;
  CHECK(matches({"v1.20", "v1.", "v1.20-rc1", "1.20"}, R"(v\\d+\\.\\d+(-\\w+)?)") ==
        Ints{1, 0, 1, 0});
  CHECK(matches({"on", "off", "onoff", " on"}, R"(^(on|off)$)") == Ints{1, 1, 0, 0});
  CHECK(matches({"aab", "aaab"}, "a{2}b") == Ints{1, 0});
  CHECK(matches({"", "a"}, "") == Ints{1, 0});
  // Characters, not bytes; a line end is not one of them.
  CHECK(matches({"\xc3\xa9", "e", "\xff", "\n"}, ".") == Ints{1, 1, 0, 0});
  CHECK(matches({}, "a") == Ints{});
  CHECK(Fails(OneOp("str[2]", "regex_full_match(%x) {pattern = \"(a\"}"),
              "is not a regular expression of RE2: missing )"));
  CHECK(Fails(OneOp("str[2]", R"(regex_full_match(%x) {pattern = "(a)\\1"})"),
              "invalid escape sequence"));
}

TEST_CASE("string_normalizer: stop words and case") {
  const Strings cities = {"berlin", "paris", "Rome", "oslo"};
  CHECK(Texts(cities, "string_normalizer(%x) {case_sensitive = true, stop_words = [\"berlin\"]}") ==
        Strings{"paris", "Rome", "oslo"});
  CHECK(Texts(cities, "string_normalizer(%x) {case_sensitive = true, stop_words = [\"rome\"]}") ==
        cities);
  CHECK(Texts(cities, "string_normalizer(%x) {to = upper, stop_words = [\"rome\", \"BERLIN\"]}") ==
        Strings{"PARIS", "OSLO"});
  CHECK(Texts(cities, "string_normalizer(%x) {to = lower}") ==
        Strings{"berlin", "paris", "rome", "oslo"});
  const Tensor none =
      Run({"berlin", "Berlin"}, "string_normalizer(%x) {stop_words = [\"berlin\"]}")[0];
  CHECK(none.dims() == std::vector<int64_t>{1});
  CHECK(none.strings() == Strings{""});

  const Graph row = Parse(OneOp("str[1, 3]", "string_normalizer(%x) {stop_words = [\"b\"]}"));
  const Tensor y = RunEverywhere(row, {Tensor({1, 3}, {"a", "b", ""})})[0];
  CHECK(y.dims() == std::vector<int64_t>{1, 2});
  CHECK(y.strings() == Strings{"a", ""});
  CHECK(Fails(OneOp("str[2, 3]", "string_normalizer(%x)"), "must be [C] or [1, C]"));
  CHECK(Fails(OneOp("str[0]", "string_normalizer(%x)"), "without strings"));
}

TEST_CASE("string_normalizer: letters beyond ASCII") {
  // Latin, Greek with its final sigma, Cyrillic, Georgian, a letter outside the basic plane.
  const Strings x = {"\xc3\x89t\xc3\xa9",
                     "\xce\xa3\xce\xaf\xcf\x82",
                     "\xd0\x96\xd0\xb6",
                     "\xe1\x83\x90",
                     "\xf0\x90\x90\x80",
                     "stra\xc3\x9f"
                     "e"};
  CHECK(Texts(x, "string_normalizer(%x) {to = lower}") ==
        Strings{"\xc3\xa9t\xc3\xa9", "\xcf\x83\xce\xaf\xcf\x82", "\xd0\xb6\xd0\xb6", "\xe1\x83\x90",
                "\xf0\x90\x90\xa8",
                "stra\xc3\x9f"
                "e"});
  CHECK(Texts(x, "string_normalizer(%x) {to = upper}") ==
        Strings{"\xc3\x89T\xc3\x89", "\xce\xa3\xce\x8a\xce\xa3", "\xd0\x96\xd0\x96", "\xe1\xb2\x90",
                "\xf0\x90\x90\x80",
                "STRA\xc3\x9f"
                "E"});
  // Both sigmas are equal without case.
  CHECK(Texts({"\xcf\x83", "\xcf\x82", "s"},
              "string_normalizer(%x) {stop_words = [\"\xce\xa3\"]}") == Strings{"s"});
  const Error error = RunError(OneOp("str[1]", "string_normalizer(%x) {to = lower}"), {"\xff"});
  CHECK(error.message().find("is not UTF-8") != std::string::npos);
}

std::string Table(const std::string& x, const std::string& keys, const std::string& values,
                  const std::string& fallback) {
  return fmt::format(
      "graph {{\n in %x: {}\n const %k: {}\n const %v: {}\n const %f: {}\n %y = lookup(%x, %k, %v, "
      "%f)\n out \"y\" = %y\n}}",
      x, keys, values, fallback);
}

TEST_CASE("lookup: every pair of kinds") {
  const Graph ids =
      Parse(Table("str[5]", R"(str[3] = ["a", "b", "c"])", "i16[3] = [0, 1, 2]", "i16[] = [42]"));
  CHECK(RunEverywhere(ids, {Vector({"a", "b", "d", "c", ""})})[0].ToInts() ==
        std::vector<int64_t>{0, 1, 42, 2, 42});
  const Graph texts = Parse(Table("i64[2, 2]", "i64[3] = [7, -1, 7]", R"(str[3] = ["x", "y", "z"])",
                                  R"(str[] = ["none"])"));
  const Tensor y = RunEverywhere(texts, {Tensor::Of<int64_t>({2, 2}, {7, -1, 0, 7})})[0];
  CHECK(y.dims() == std::vector<int64_t>{2, 2});
  CHECK(y.strings() == Strings{"z", "y", "none", "z"});
  const Graph words =
      Parse(Table("str[2]", R"(str[1] = ["a"])", R"(str[1] = ["b"])", R"(str[] = [""])"));
  CHECK(RunEverywhere(words, {Vector({"a", "b"})})[0].strings() == Strings{"b", ""});
  CheckCase({"floats: NaN is a key, and zeros are equal",
             Table("f32[5]", "f32[3] = [nan, 0, 0.5]", "f64[3] = [1, 2, 3]", "f64[] = [-1]"),
             {{0.5, -0.0, NAN, INFINITY, 0}},
             {{3, 2, 1, -1, 2}}});
  CheckCase({"no keys",
             Table("i32[2]", "i32[0] = []", "i64[0] = []", "i64[] = [5]"),
             {{0, 1}},
             {{5, 5}}});
}

TEST_CASE("lookup: operands that contradict each other") {
  CHECK(Fails(Table("str[1]", "i64[1] = [0]", "i64[1] = [0]", "i64[] = [0]"), "str"));
  CHECK(Fails(Table("i64[1]", "i64[1] = [0]", "i64[2] = [0, 1]", "i64[] = [0]"),
              "there are 1 keys but 2 values"));
  CHECK(Fails(Table("c64[1]", "c64[1] = seeded(1)", "i64[1] = [0]", "i64[] = [0]"),
              "lookup: c64 is not supported"));
}

TEST_CASE("tf_idf: words") {
  const std::string call =
      R"(tf_idf(%x) {max_length = 2, starts = [0, 2], indexes = [0, 1, 2], words = ["b", "a", "a", "b"]})";
  CHECK(Run({"a", "b", "a", "c", "b"}, call)[0].ToDoubles() == std::vector<double>{2, 2, 1});
  CHECK(Fails(OneOp("i64[2]", call), "the pool has strings, but x is i64[2]"));
}

TEST_CASE("cast: numbers as text") {
  struct Row {
    std::string type;
    std::vector<double> x;
    Strings want;
  };
  const Row rows[] = {
      {"f32",
       {0.1, 1, -2.5, 1e-10, 16777216, NAN, INFINITY, -INFINITY, -0.0},
       {"0.1", "1.0", "-2.5", "0.0000000001", "16777216.0", "NaN", "INF", "-INF", "-0.0"}},
      {"f64", {0.1, 1.0 / 3}, {"0.1", "0.3333333333333333"}},
      // The shortest decimals that read back as the same number of the type.
      {"f16", {0.1, 2.0 / 3, 65504, NAN}, {"0.1", "0.6665", "65504.0", "NaN"}},
      {"bf16", {0.1, 3.14}, {"0.1", "3.14"}},
      {"f8e4m3fn", {0.1, 448}, {"0.1", "448.0"}},
      {"i8", {-128, 5}, {"-128", "5"}},
      {"u64", {7}, {"7"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.type);
    const Graph g =
        Parse(OneOp(fmt::format("{}[{}]", row.type, row.x.size()), "cast(%x) {to = str}"));
    CHECK(RunEverywhere(g, InputsOf(g, {row.x}))[0].strings() == row.want);
  }
  const Graph back = Parse(OneOp("str[7]", "cast(%x) {to = f32}"));
  const auto v =
      RunEverywhere(back, {Vector({"0.5", "+INF", "-inf", "1e-5", "1E8", "+3", "-7"})})[0];
  CHECK(v.ToDoubles() == std::vector<double>{0.5, INFINITY, -INFINITY, 1e-5f, 1e8, 3, -7});
  for (const char* text : {"+-5", "Hello", ""})
    CHECK(RunError(OneOp("str[1]", "cast(%x) {to = i32}"), {text})
              .message()
              .find("is not a number") != std::string::npos);
}

}  // namespace
}  // namespace nn::test::text_test
