#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/run_graph.h"

namespace nn::test::elementwise_test {
namespace {

TEST_CASE("elementwise kernels: operands that repeat along any axes") {
  for (const char* x : {"[2, 3, 5, 7]", "[2, 3, 5, 16]", "[2, 3, 5, 33]", "[2, 3, 5, 1]"})
    for (const char* other : {"[]", "[1]", "[L]", "[5, L]", "[5, 1]", "[3, 1, 1]", "[3, 1, L]",
                              "[2, 1, 5, L]", "[2, 3, 1, 1]", "[2, 3, 5, L]", "[1, 3, 5, 1]"}) {
      const std::string shape(x);
      const std::string last =
          shape.substr(shape.rfind(' ') + 1, shape.size() - shape.rfind(' ') - 2);
      std::string operand(other);
      if (const auto at = operand.find('L'); at != std::string::npos) operand.replace(at, 1, last);
      CHECK(RunOnKernels(fmt::format(R"(graph {{ in %x: f32{}  in %o: f32{}
                                   %d = sub(%o, %x)  %e = tanh(%d)  %y = mul(%e, %o)
                                   out "y" = %y }})",
                                     x, operand)) == 1);
    }
}

TEST_CASE("elementwise kernels: rows longer than an item and rows of one element") {
  CHECK(RunOnKernels(R"(graph { in %x: f32[3, 9001]  in %o: f32[9001]
                   %a = add(%x, %o)  %y = exp(%a)  out "y" = %y })") == 1);
  CHECK(RunOnKernels(R"(graph { in %x: f32[9001, 1]  in %o: f32[1]
                   %a = add(%x, %o)  %y = exp(%a)  out "y" = %y })") == 1);
  CHECK(RunOnKernels(R"(graph { in %x: f32[0, 5]  %y = exp(%x)  out "y" = %y })") == 1);
}

TEST_CASE("elementwise kernels: parts of wider rows") {
  for (const char* columns : {"1", "3", "17", "40"}) {
    CAPTURE(columns);
    const std::string part = fmt::format(
        R"(graph {{ in %x: f32[6, 30, 80]
           %p = slice(%x) {{axes = [2], starts = [2], ends = [{}]}}
           %a = sigmoid(%p)  %b = mul(%a, %c)  %q = neg(%b)
           %r = tanh(%x)  %y = concat(%r, %q) {{axis = 2}}  out "y" = %y }})",
        std::stoi(columns) + 2);
    // The other operand of the chain: broadcast, dense, and itself a slice.
    for (const std::string& other :
         {std::string("const %c: f32[] = seeded(2)"), fmt::format("in %c: f32[30, {}]", columns),
          fmt::format(
              "in %w: f32[6, 30, 90]  %c = slice(%w) {{axes = [2], starts = [5], ends = [{}]}}",
              std::stoi(columns) + 5)}) {
      std::string text = part;
      text.insert(text.find("%p"), other + "\n");
      RunOnKernels(text);
    }
  }
}

TEST_CASE("elementwise kernels: values that are used again in their chain") {
  // x sigmoid(x), both forms of GELU written out, x x, and a value that leaves the chain.
  CHECK(RunOnKernels(R"(graph { in %x: f32[5, 70]  %s = sigmoid(%x)  %y = mul(%x, %s)
                   out "y" = %y })") == 1);
  CHECK(RunOnKernels(R"(graph { in %x: f32[5, 70]  %s = sigmoid(%x)  %y = mul(%s, %x)
                   %z = add(%y, %s)  out "z" = %z })") == 1);
  CHECK(RunOnKernels(R"(graph { in %x: f32[5, 70]  %s = hard_sigmoid(%x)  %y = mul(%s, %x)
                   %t = mul(%y, %s)  %z = tanh(%t)  out "z" = %z })") == 1);
  CHECK(RunOnKernels(R"(graph { in %a: f32[5, 70]  const %w: f32[70, 40] = seeded(5)
                   %x = matmul(%a, %w)  %r = relu(%x)  %y = mul(%x, %r)
                   out "y" = %y })") == 1);
  CHECK(RunOnKernels(R"(graph { in %x: f32[5, 70]  %y = mul(%x, %x)  out "y" = %y })") == 1);
  CHECK(RunOnKernels(
            R"(graph { in %x: f32[5, 70]  %e = exp(%x)  %y = div(%e, %e)  out "y" = %y })") == 1);
  for (const char* producer :
       {"%x = matmul(%a, %w)", "%x = matmul(%a, %w)  %x0 = relu(%x)", "%x = exp(%a)"})
    for (const char* rows : {"3", "150"}) {
      const bool relu = std::string_view(producer).find("relu") != std::string_view::npos;
      CHECK(RunOnKernels(fmt::format(
                R"(graph {{ in %a: f32[{0}, 90]  const %w: f32[90, 90] = seeded(5)
                   const %half: f32[] = [0.5]  const %one: f32[] = [1]  const %r: f32[] = [1.4142135]
                   {1}  %d = div({2}, %r)  %e = erf(%d)  %p = add(%e, %one)  %q = mul({2}, %p)
                   %y = mul(%q, %half)  out "y" = %y }})",
                rows, producer, relu ? "%x0" : "%x")) == 1);
      CHECK(RunOnKernels(fmt::format(
                R"(graph {{ in %a: f32[{0}, 90]  const %w: f32[90, 90] = seeded(5)
                   const %three: f32[] = [3]  const %c: f32[] = [0.0447]
                   {1}  %d = pow({2}, %three)  %e = mul(%d, %c)  %f = add({2}, %e)  %g = tanh(%f)
                   %y = mul({2}, %g)  out "y" = %y  out "f" = %f }})",
                rows, producer, relu ? "%x0" : "%x")) > 1);
    }
}

TEST_CASE("elementwise kernels: squares and cubes are products") {
  const Graph graph = Parse(
      R"(graph { in %x: f32[3, 37]  const %two: f32[] = [2]  const %three: f32[] = [3]
         const %e: f32[37] = [2, 3, 2, 0.5, 2, 2, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
                              2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1.5]
         %p = pow(%x, %two)  %q = mul(%x, %x)  %r = pow(%x, %three)  %s = mul(%x, %q)
         %m = pow(%x, %e)
         out "p" = %p  out "q" = %q  out "r" = %r  out "s" = %s  out "m" = %m })");
  const auto y = RunEverywhere(graph, InputsOf(graph, {}));
  CHECK(y[0].Identical(y[1]));
  CHECK(y[2].Identical(y[3]));
  // Beside other exponents too.
  CHECK(y[4].GetDouble(0) == y[0].GetDouble(0));
  CHECK(y[4].GetDouble(1) == y[2].GetDouble(1));
}

}  // namespace
}  // namespace nn::test::elementwise_test
