#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::generate_test {
namespace {

TEST_CASE("range: by hand") {
  const auto graph = [](std::string_view type, double start, double limit, double delta) {
    return fmt::format(R"(graph {{ const %s: {0}[] = [{1}]  const %l: {0}[] = [{2}]
                                  const %d: {0}[] = [{3}]  in %z: {0}[1]
                                  %r = range(%s, %l, %d)  %y = add(%r, %z)  out "y" = %y }})",
                       type, start, limit, delta);
  };
  CheckCase({"up", graph("i64", 1, 8, 3), {{0}}, {{1, 4, 7}}});
  CheckCase({"down", graph("i32", 3, 0, -1), {{0}}, {{3, 2, 1}}});
  CheckCase({"float", graph("f32", 0, 1, 0.25), {{0}}, {{0, 0.25, 0.5, 0.75}}});
  CheckCase({"nothing", graph("i32", 3, 0, 1), {{0}}, {{}}});
}

TEST_CASE("one_hot: by hand") {
  const auto graph = [](std::string_view attrs) {
    return fmt::format(R"(graph {{ in %i: i64[2]  const %d: i64[] = [3]  const %v: f32[2] = [1, 5]
                                  %y = one_hot(%i, %d, %v) {}  out "y" = %y }})",
                       Braced(attrs));
  };
  CheckCase({"last axis", graph(""), {{0, 2}}, {{5, 1, 1, 1, 1, 5}}});
  CheckCase({"first axis", graph("axis = 0"), {{0, 2}}, {{5, 1, 1, 1, 1, 5}}});
  CheckCase({"from the end", graph(""), {{-1, 3}}, {{1, 1, 5, 1, 1, 1}}});
  CheckCase({"no wrapping", graph("wrap = false"), {{-1, 1}}, {{1, 1, 1, 1, 5, 1}}});
}

TEST_CASE("eye_like, trilu: by hand") {
  CheckCase({"eye",
             OneOp("f32[2, 3]", "eye_like(%x) {k = 1}"),
             {{9, 9, 9, 9, 9, 9}},
             {{0, 1, 0, 0, 0, 1}}});
  CheckCase({"eye of another type",
             OneOp("f32[2, 2]", "eye_like(%x) {dtype = i32} : i32[2, 2]"),
             {{9, 9, 9, 9}},
             {{1, 0, 0, 1}}});
  CheckCase({"upper", OneOp("f32[2, 2]", "trilu(%x)"), {{1, 2, 3, 4}}, {{1, 2, 0, 4}}});
  CheckCase({"strictly lower",
             OneOp("f32[2, 2]", "trilu(%x) {upper = false, k = -1}"),
             {{1, 2, 3, 4}},
             {{0, 0, 3, 0}}});
}

TEST_CASE("trilu: a diagonal is a number") {
  for (const char* type : {"str[]", "c128[]"})
    CHECK(Fails(fmt::format(R"(graph {{ in %x: f32[2, 3, 3]  in %k: {}
                                        %y = trilu(%x, %k)  out "y" = %y }})",
                            type),
                fmt::format("{} is not supported as input k", type)));
}

TEST_CASE("one_hot: the values are a vector") {
  for (const char* type : {"f32[1, 2]", "f32[3]", "f32[]"})
    CHECK(Fails(fmt::format(R"(graph {{ in %i: i32[2]  in %d: i64[]  in %v: {}
                                        %y = one_hot(%i, %d, %v)  out "y" = %y }})",
                            type),
                fmt::format("values is {}; must be a vector of 2 elements", type)));
}

}  // namespace
}  // namespace nn::test::generate_test
