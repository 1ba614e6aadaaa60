#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/run_graph.h"

namespace nn::test::movement_test {
namespace {

TEST_CASE("movement kernels: one input") {
  for (const char* type : {"f32", "u8", "i64"})
    for (const char* node : {
             "slice(%x) {axes = [1, 3], starts = [1, 2], ends = [5, -1], steps = [2, 1]}",
             "slice(%x) {axes = [2], starts = [-1], ends = [-100], steps = [-2]}",
             "slice(%x) {axes = [0], starts = [1], ends = [2]}",
             "reverse(%x) {axes = [0, 3]}",
             "pad(%x) {pads = [0, 1, 2, 0, 1, 0, -1, 3]}",
             "pad(%x) {pads = [0, 0, 2, 1, 0, 0, 2, 1], mode = reflect}",
             "tile(%x) {repeats = [1, 2, 1, 3]}",
             "expand(%x) {dims = [3, 2, 8, 4, 6]}",
             "depth_to_space(%x) {block = 2}",
             "depth_to_space(%x) {block = 2, mode = crd}",
             "space_to_depth(%x) {block = 2}",
             "resize(%x) {scales = [2.0, 1.5]}",
         }) {
      CAPTURE(type);
      RunOnKernels(
          fmt::format("graph {{ in %x: {}[2, 8, 4, 6]  %y = {}  out \"y\" = %y }}", type, node));
    }
  RunOnKernels(R"(graph { in %x: f32[4, 5, 6]  const %i: i64[2, 2] = [3, 0, -1, 2]
                        %y = gather(%x, %i) {axis = 1}  out "y" = %y })");
  RunOnKernels(R"(graph { in %x: u8[1, 3, 3, 2]{scale=0.5, zp=9}
                        %y = pad(%x) {pads = [0, 1, 1, 0, 0, 1, 1, 0]}  out "y" = %y })");
  // The padding value is not a position.
  for (const char* type : {"i32", "f32", "i64"}) {
    CAPTURE(type);
    RunOnKernels(fmt::format(R"(graph {{ in %x: {0}[5]  const %v: {0}[] = [900]
                        %y = pad(%x, %v) {{pads = [1, 2]}}  out "y" = %y }})",
                             type));
  }
}

TEST_CASE("movement kernels: transposed matrices of few rows or columns, and of many") {
  for (const char* type : {"f32", "u8", "i16", "i64"})
    for (const char* shape : {"[2, 2, 77]", "[1, 3, 1000]", "[2, 4, 130]", "[2, 77, 2]",
                              "[1, 1000, 3]", "[2, 130, 4]", "[1, 5, 70]", "[1, 300, 290]"}) {
      CAPTURE(shape);
      RunOnKernels(fmt::format(
          R"(graph {{ in %x: {}{}  %y = transpose(%x) {{perm = [0, 2, 1]}}  out "y" = %y }})", type,
          shape));
    }
}

TEST_CASE("movement kernels: concatenated and split tensors") {
  for (const char* axis : {"0", "1", "2", "-1"}) {
    CAPTURE(axis);
    RunOnKernels(fmt::format(
        R"(graph {{ in %a: f32[2, 3, 4, 5]  in %b: f32[2, 3, 4, 5]
           const %c: f32[2, 3, 4, 5] = seeded(3)
           %y = concat(%a, %b, %c, %a) {{axis = {0}}}  %t = tanh(%y)
           %p, %q = split(%t) {{axis = {0}, sizes = [3, -1]}}
           out "p" = %p  out "q" = %q  out "y" = %y }})",
        axis));
  }
}

TEST_CASE("movement kernels: results are computed in place") {
  // Both convolutions write into the joined tensor, parts of which are read in place.
  CHECK(RunOnKernels(R"(graph { in %x: f32[1, 5, 6, 20]
          const %v: f32[24, 20, 1, 1] = seeded(3)  const %w: f32[16, 20, 3, 3] = seeded(4)
          %a = conv(%x, %v) {layout = nxc}  %r = relu(%a)
          %b = conv(%x, %w) {layout = nxc, pads = [1, 1, 1, 1]}
          %y = concat(%r, %b) {axis = 3}
          %p, %q = split(%y) {axis = 3, sizes = [17, 23]}
          %s = max_pool(%p) {kernel = [2, 2], layout = nxc}  %t = sigmoid(%q)
          out "s" = %s  out "t" = %t })") == 4);
  // A slice of channels; a reshape whose input is made in the output.
  CHECK(RunOnKernels(R"(graph { in %x: f32[1, 5, 6, 20]
          %a = slice(%x) {axes = [3], starts = [3], ends = [9]}  %b = exp(%a)
          %y = reshape(%b) {dims = [30, 6]}  out "y" = %y })") == 1);
  // One channel of several, broadcast over the others.
  RunOnKernels(R"(graph { in %x: f32[1, 5, 6, 3]
          %a = slice(%x) {axes = [3], starts = [1], ends = [2]}
          %y = mul(%x, %a)  %z = sub(%a, %x)  out "y" = %y  out "z" = %z })");
  // Nested, and with a user that needs the value in one piece.
  RunOnKernels(R"(graph { in %x: f32[1, 4, 4, 8]
          %a = exp(%x)  %b = sin(%x)  %c = cos(%x)
          %i = concat(%a, %b) {axis = 3}  %y = concat(%c, %i) {axis = 3}
          %m = reduce_mean(%i) {axes = [1, 2]}  %t = transpose(%b) {perm = [0, 3, 1, 2]}
          out "y" = %y  out "m" = %m  out "t" = %t })");
  // A value that is concatenated with itself, an input and a constant.
  RunOnKernels(R"(graph { in %x: f32[3, 4]  const %c: f32[3, 2] = seeded(3)
          %a = exp(%x)  %y = concat(%a, %x, %c, %a) {axis = 1}  %z = relu(%y)
          out "z" = %z  out "y" = %y })");
}

TEST_CASE("movement kernels: channels shuffle; nothing to move") {
  RunOnKernels(R"(graph { in %x: f32[1, 12, 5, 6]
          %a = reshape(%x) {dims = [1, 3, 4, 5, 6]}  %b = transpose(%a) {perm = [0, 2, 1, 3, 4]}
          %y = reshape(%b) {dims = [1, 12, 5, 6]}  out "y" = %y })");
  RunOnKernels(R"(graph { in %x: f32[0, 4]  in %z: f32[2, 0]
          %a = concat(%x, %x) {axis = 1}  %b = pad(%z) {pads = [0, 1, 0, 1]}
          %c = slice(%x) {axes = [1], starts = [1], ends = [2]}  %d = reshape(%x) {dims = [3, 0]}
          out "a" = %a  out "b" = %b  out "c" = %c  out "d" = %d })");
}

}  // namespace
}  // namespace nn::test::movement_test
