#include <doctest/doctest.h>

#include "ir/text.h"

TEST_CASE("a graph prints and parses to the same text") {
  const char* text = R"(graph "g" {
  in %x: f32[batch, 3, 8, 8]
  const %w: f32[2, 3, 1, 1] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
  %y = conv(%x, %w) {strides = [2, 2]} "c" : f32[batch, 2, 4, 4]
  out "y" = %y
}
)";
  auto g = nn::ParseGraph(text);
  REQUIRE_MESSAGE(g, g.error().message());
  CHECK(nn::PrintGraph(*g) == text);
}
