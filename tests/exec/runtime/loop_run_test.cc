// Loops whose values keep their shapes: one plan runs all iterations.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "exec/program.h"
#include "ir/seeded.h"
#include "support/run_graph.h"
#include "support/sanitizer.h"
#include "support/skip.h"

namespace {
std::atomic<int64_t> allocations{0};
}  // namespace

#if !NN_ADDRESS_SANITIZER
// Counts. Buffers are not allocated with it, but each tensor has dimensions, which are.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* const p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
#endif

namespace nn::test::loop_run_test {
namespace {

Tensor Floats(std::vector<int64_t> dims) {
  auto t = SeededTensor(DType::kF32, std::move(dims), 3, 0);
  REQUIRE(t.has_value());
  return *std::move(t);
}

// A loop over %n iterations whose body is `body`: from %i and %v to %go, %w and the elements %e.
std::string Counted(std::string_view body, std::string_view start = "_") {
  return fmt::format(R"(graph {{ in %n: i64[]  in %v: f32[3, 64]
      const %yes: bool[] = [1]
      %y, %all = loop(%n, {}, %v) {{carried = 1, why = "it is a test"}} regions {{
        graph {{ in %i: i64[]  in %v: f32[3, 64]
          {}
          out "go" = %go  out "w" = %w  out "e" = %e }} }}
      out "y" = %y  out "all" = %all }})",
                     start, body);
}

constexpr std::string_view kDense = R"(
    const %go: bool[] = [1]  const %m: f32[64, 64] = seeded(1, 0.2)
    %p = matmul(%v, %m)  %w = tanh(%p)  %e = reduce_max(%w) {axes = [1], keep_dims = false})";

TEST_CASE("loop run: carried values and stacks") {
  const std::string until = R"(
      const %m: f32[64, 64] = seeded(1, 0.2)  const %last: i64[] = [39]
      %p = matmul(%v, %m)  %w = tanh(%p)  %e = exp(%w)  %go = less(%i, %last))";
  for (const std::string& text :
       {Counted(kDense), Counted(kDense, "%yes"), Counted(until), Counted(until, "%yes")}) {
    CAPTURE(text);
    const Graph graph = Parse(text);
    for (const int64_t n : {0, 1, 2, 17, 50})
      RunEverywhere(graph, {Tensor::Scalar<int64_t>(n), Floats({3, 64})});
  }
}

// As PyTorch writes a loop that fills a list.
TEST_CASE("loop run: a trip count only") {
  const Graph graph = Parse(R"(graph { in %n: i64[]
      %all = loop(%n) {carried = 0, why = "it is a test"} regions {
        graph { in %i: i64[]
          const %go: bool[] = [1]  const %k: f32[4] = [1, 2, 3, 4]
          %f = cast(%i) {to = f32}  %e = mul(%f, %k)
          out "go" = %go  out "e" = %e } }
      out "all" = %all })");
  for (const int64_t n : {0, 1, 5}) RunEverywhere(graph, {Tensor::Scalar<int64_t>(n)});
}

// The body adds to %v as often as %i says, and then multiplies.
const char* const kNested = R"(graph { in %n: i64[]  in %v: f32[3, 64]
    %y = loop(%n, _, %v) {carried = 1, why = "it is a test"} regions {
      graph { in %i: i64[]  in %v: f32[3, 64]
        const %go: bool[] = [1]  const %m: f32[64, 64] = seeded(1, 0.2)
        %s = loop(%i, _, %v, %v) {carried = 1, why = "it is a test"} regions {
          graph { in %k: i64[]  in %a: f32[3, 64]  in %b: f32[3, 64]
            const %go: bool[] = [1]  %c = add(%a, %b)  %t = tanh(%c)
            out "go" = %go  out "t" = %t } }
        %w = matmul(%s, %m)
        out "go" = %go  out "w" = %w } }
    out "y" = %y })";

TEST_CASE("loop run: loops in loops") {
  const Graph graph = Parse(kNested);
  for (const int64_t n : {0, 1, 2, 6})
    RunEverywhere(graph, {Tensor::Scalar<int64_t>(n), Floats({3, 64})});
}

TEST_CASE("loop run: inner loops share the limit of iterations") {
  const Graph graph = Parse(kNested);
  const std::vector<Tensor> inputs = {Tensor::Scalar<int64_t>(6), Floats({3, 64})};
  // 6 iterations, and 0 + 1 + ... + 5 in them.
  for (const uint64_t steps : {uint64_t{20}, uint64_t{21}}) {
    ProgramOptions options;
    options.limits.max_steps = steps;
    const auto program = Program::Compile(graph, options);
    REQUIRE(program.has_value());
    const auto results = program->Run(inputs);
    CHECK(results.has_value() == (steps == 21));
    if (!results) CHECK(results.error().code() == ErrorCode::kLimit);
  }
}

TEST_CASE("loop run: memory of stacks") {
  const Graph graph = Parse(Counted(kDense));
  ProgramOptions options;
  options.limits.max_memory = 1 << 20;
  const auto program = Program::Compile(graph, options);
  REQUIRE(program.has_value());
  CHECK(program->Run(std::vector{Tensor::Scalar<int64_t>(50), Floats({3, 64})}).has_value());
  const auto results = program->Run(std::vector{Tensor::Scalar<int64_t>(1 << 20), Floats({3, 64})});
  REQUIRE(!results.has_value());
  CHECK(results.error().code() == ErrorCode::kLimit);
  CHECK(results.error().message().find("max-memory") != std::string::npos);
}

TEST_CASE("loop run: an iteration allocates nothing") {
  if (NN_ADDRESS_SANITIZER) return Skip("the sanitizer replaces operator new");
  for (const std::string& text : {Counted(kDense), Counted(kDense, "%yes")}) {
    CAPTURE(text);
    ProgramOptions options;
    options.threads = 1;
    const auto program = Program::Compile(Parse(text), options);
    REQUIRE(program.has_value());
    const auto count = [&](int64_t n) {
      const std::vector<Tensor> inputs = {Tensor::Scalar(n), Floats({3, 64})};
      REQUIRE(program->Run(inputs).has_value());  // plans the loop
      const int64_t before = allocations;
      REQUIRE(program->Run(inputs).has_value());
      return allocations - before;
    };
    // Stacks of unknown length have room for 16 elements at first, and double it.
    const bool is_counted = text.find("%yes, %v") == std::string::npos;
    const int64_t few = count(8);
    CHECK(few > 0);
    CHECK(count(is_counted ? 2000 : 16) == few);
    CHECK(count(2000) - few < 100);
  }
}

}  // namespace
}  // namespace nn::test::loop_run_test
