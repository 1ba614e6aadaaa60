#include <doctest/doctest.h>

#include <algorithm>

#include "support/run_graph.h"

namespace nn::test::shape_test {
namespace {

TEST_CASE("transpose: every permutation of every element size") {
  for (const char* type : {"u8", "i16", "f32", "i64", "c128", "bool"}) {
    for (const std::vector<int64_t>& dims :
         {std::vector<int64_t>{7, 1, 5}, {4, 9, 35}, {33, 2, 66}, {0, 3, 2}}) {
      std::vector<int64_t> perm = {0, 1, 2};
      do {
        CAPTURE(type);
        const std::string text = fmt::format(
            "graph {{ in %x: {}[{}, {}, {}]  %y = transpose(%x) {{perm = [{}, {}, {}]}} "
            " out \"y\" = %y }}",
            type, dims[0], dims[1], dims[2], perm[0], perm[1], perm[2]);
        CAPTURE(text);
        const Graph g = Parse(text);
        const auto in = InputsOf(g, {});
        const auto out = RunEverywhere(g, in);
        if (std::string_view(type) == "c128") continue;
        // Element by element against the definition.
        std::vector<int64_t> strides = Strides(dims);
        size_t at = 0;
        const auto& od = out[0].dims();
        for (int64_t i = 0; i < od[0]; ++i)
          for (int64_t j = 0; j < od[1]; ++j)
            for (int64_t k = 0; k < od[2]; ++k, ++at) {
              const int64_t from = i * strides[static_cast<size_t>(perm[0])] +
                                   j * strides[static_cast<size_t>(perm[1])] +
                                   k * strides[static_cast<size_t>(perm[2])];
              REQUIRE(out[0].GetDouble(static_cast<int64_t>(at)) == in[0].GetDouble(from));
            }
      } while (std::next_permutation(perm.begin(), perm.end()));
    }
  }
}

TEST_CASE("reshape: -1 and copied dimensions") {
  CheckCase({"rest", R"(graph { in %x: f32[2, 6]  const %s: i64[2] = [-1, 4]
                        %y = reshape(%x, %s) : f32[3, 4]  out "y" = %y })"});
  CheckCase({"copied", R"(graph { in %x: f32[2, 6]  const %s: i64[3] = [0, -1, 2]
                          %y = reshape(%x, %s) {zero_copies = true} : f32[2, 3, 2]
                          out "y" = %y })"});
  CHECK(ErrorOf(R"(graph { in %x: f32[2, 6]  %y = reshape(%x) {dims = [5, -1]}  out "y" = %y })")
            .find("12 elements cannot be reshaped to [5, -1]") != std::string::npos);
  CHECK(ErrorOf(R"(graph { in %x: f32[2, 6]  %y = reshape(%x) {dims = [-1, -1]}  out "y" = %y })")
            .find("two -1") != std::string::npos);
  CHECK(Fails(R"(graph { in %x: f32[2, 6]  in %s: i32[0]  %y = reshape(%x, %s)  out "y" = %y })",
              "12 elements cannot be reshaped to []"));
  CHECK(ErrorOf(R"(graph { in %x: f32[2, 6]  %y = reshape(%x) {dims = [5]}  out "y" = %y })")
            .find("12 elements cannot be reshaped to [5]") != std::string::npos);
}

TEST_CASE("expand_dims and squeeze: axes and their errors") {
  CheckCase({"expand", R"(graph { in %x: f32[2, 3]  %y = expand_dims(%x) {axes = [0, -1]}
                          : f32[1, 2, 3, 1]  out "y" = %y })"});
  CheckCase({"squeeze all", R"(graph { in %x: f32[1, 3, 1]  %y = squeeze(%x) : f32[3]
                               out "y" = %y })"});
  CHECK(ErrorOf(R"(graph { in %x: f32[2, 3]  %y = squeeze(%x) {axes = [0]}  out "y" = %y })")
            .find("axis 0 of size 2 cannot be squeezed") != std::string::npos);
  CHECK(ErrorOf(R"(graph { in %x: f32[2, 3]  %y = expand_dims(%x) {axes = [5]}  out "y" = %y })")
            .find("axis 5 is out of range for a tensor of rank 3") != std::string::npos);
}

}  // namespace
}  // namespace nn::test::shape_test
