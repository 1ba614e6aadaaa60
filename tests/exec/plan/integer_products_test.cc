// Products of 8-bit integers in 32 bits, and the dynamic quantization before them: every SIMD
// target gives the bits of the reference evaluation, without a reference step.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "support/run_graph.h"

namespace nn::test::integer_products_test {
namespace {

void Check(const std::string& text) {
  CAPTURE(text);
  const Graph graph = Parse(text);
  CheckHasKernels(graph);
  RunEverywhere(graph, InputsOf(graph, {}));
}

struct Conv {
  int width, channels, outputs, kernel, stride, pad, groups;
};

// `zero`: the declaration of %z, the zero point of x. `filter_zero`: that of %zw.
std::string ConvText(const Conv& c, const std::string& x, const std::string& w,
                     const std::string& zero, const std::string& filter_zero,
                     const std::string& rest) {
  return fmt::format(
      R"(graph {{ in %x: {0}[2, {1}, {2}, {2}]
         {3}
         {4}
         const %w: {5}[{6}, {7}, {8}, {8}] = seeded(3)
         const %b: i32[{6}] = seeded(4)
         %i = conv_integer(%x, %w, %z, %zw, %b) {{strides = [{9}, {9}],
                                                pads = [{10}, {10}, {10}, {10}], groups = {11}}}
         {12} }})",
      x, c.channels, c.width, zero, filter_zero, w, c.outputs, c.channels / c.groups, c.kernel,
      c.stride, c.pad, c.groups, rest);
}

constexpr const char* kSums = "out \"y\" = %i";
// As dynamic quantization is exported.
constexpr const char* kReals = R"(in %s: f32[]
  const %add: f32[1, 1, 1] = [0.5]
  %f = cast(%i)
  %m = mul(%f, %s)
  %a = add(%m, %add)
  %y = relu(%a)
  out "y" = %y)";

TEST_CASE("integer products: convolutions with a computed zero point") {
  for (const char* x : {"u8", "i8"})
    for (const char* w : {"u8", "i8"})
      for (const Conv& c :
           {Conv{5, 3, 8, 3, 2, 1, 1}, Conv{5, 1, 17, 3, 1, 1, 1}, Conv{7, 16, 96, 1, 1, 0, 1},
            Conv{1, 70, 37, 1, 1, 0, 1}, Conv{11, 5, 33, 3, 1, 1, 1}, Conv{6, 12, 24, 3, 1, 1, 3},
            Conv{9, 4, 48, 5, 1, 2, 1}})
        for (const char* rest : {kSums, kReals})
          Check(ConvText(c, x, w, fmt::format("in %z: {}[]", x),
                         fmt::format("const %zw: {}[] = [5]", w), rest));
}

TEST_CASE("integer products: zero points of channels and of groups") {
  const Conv c{6, 6, 4, 3, 1, 1, 2};
  for (const char* zero : {"in %z: u8[]", "const %z: u8[] = [255]", "const %z: u8[1] = [7]"})
    for (const char* filter_zero :
         {"const %zw: i8[4] = [-128, 127, 0, 1]", "const %zw: i8[1] = [3]"})
      Check(ConvText(c, "u8", "i8", zero, filter_zero, kReals));
}

TEST_CASE("integer products: matrices") {
  for (const char* a : {"u8", "i8"})
    for (const char* b : {"u8", "i8"})
      for (const char* columns : {"1", "16", "37"})
        for (const char* rows : {"1", "7", "3, 41"})
          for (const bool converts : {false, true})
            Check(fmt::format(
                R"(graph {{ in %a: {0}[{2}, 70]
                   in %z: {0}[1]
                   const %b: {1}[70, {3}] = seeded(1)
                   const %zb: {1}[{3}] = seeded(2)
                   const %scale: f32[{3}] = seeded(5)
                   %i = matmul_integer(%a, %b, %z, %zb)
                   {4} }})",
                a, b, rows, columns,
                converts ? "%f = cast(%i)\n %y = mul(%f, %scale)\n out \"y\" = %y"
                         : "out \"y\" = %i"));
}

// Sums beyond those that float32, or a signed integer of 32 bits, holds.
TEST_CASE("integer products: sums modulo 2^32") {
  for (const int depth : {259, 4113, 65537, 140000})
    Check(fmt::format(R"(graph {{ in %a: u8[2, {0}]
                         const %b: u8[{0}, 2] = splat(255)
                         const %za: u8[] = [255]
                         %i = matmul_integer(%a, %b, %za)
                         %y = cast(%i)
                         out "i" = %i
                         out "y" = %y }})",
                      depth));
}

TEST_CASE("integer products: several users of the sums, and an integer operator behind them") {
  Check(R"(graph { in %a: u8[3, 4]
           const %b: i8[4, 5] = seeded(1)
           const %c: i32[5] = seeded(2)
           %i = matmul_integer(%a, %b)
           %f = cast(%i)
           %j = add(%i, %c)
           out "f" = %f
           out "j" = %j })");
}

TEST_CASE("dynamic quantization: rows of every remainder, and many work items") {
  for (const char* dims : {"1", "7", "3, 17", "2, 3, 33", "5, 20000"})
    Check(fmt::format(R"(graph {{ in %x: f32[{}]
                         %y, %s, %z = dynamic_quantize(%x)
                         out "y" = %y
                         out "s" = %s
                         out "z" = %z }})",
                      dims));
}

// The scales of the operands are multiplied first.
TEST_CASE("dynamic quantization: scalars behind it have kernels") {
  Check(R"(graph { in %x: f32[2, 3]
           const %scale: f32[] = [0.25]
           const %one: f32[1] = [3]
           %y, %s, %z = dynamic_quantize(%x)
           %m = mul(%s, %scale)
           %e = exp(%m)
           %r = mul(%e, %e)
           %v = add(%s, %one)
           out "y" = %y
           out "r" = %r
           out "v" = %v })");
}

TEST_CASE("dynamic quantization: contents at any place, and parts of other values") {
  for (const char* odd : {"nan", "inf", "-inf", "3e38", "-3e38", "1e-44", "-0"})
    Check(fmt::format(R"(graph {{ in %x: f32[2, 40]
                         const %tiny: f32[1] = [1e-44]
                         const %odd: f32[2, 1] = [{}, -1]
                         %t = mul(%x, %tiny)
                         %c = concat(%x, %odd, %t) {{axis = 1}}
                         %y, %s, %z = dynamic_quantize(%c)
                         out "y" = %y
                         out "s" = %s
                         out "z" = %z }})",
                      odd));
  Check(R"(graph { in %x: f32[3, 8]
           %p, %q = split(%x) {axis = 1, sizes = [5, 3]}
           %y, %s = dynamic_quantize(%p)
           out "y" = %y
           out "s" = %s
           out "q" = %q })");
}

}  // namespace
}  // namespace nn::test::integer_products_test
