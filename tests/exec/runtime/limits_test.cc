// The limits of a run, which are checked before memory is allocated.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/run_graph.h"

namespace nn::test::limits_test {
namespace {

Result<Program> CompileWithin(const std::string& text, Backend backend, RunLimits limits) {
  ProgramOptions options;
  options.backend = backend;
  options.limits = limits;
  return Program::Compile(Parse(text), options);
}

constexpr Backend kBackends[] = {Backend::kSimd, Backend::kReference};

TEST_CASE("limits: memory of a run is counted before it is allocated") {
  // Each tile doubles: the last one has 2^40 elements.
  std::string chain = "graph { in %v0: f32[1]";
  for (int i = 1; i <= 40; ++i)
    chain += fmt::format("  %v{} = tile(%v{}) {{repeats = [2]}}", i, i - 1);
  chain += "  out \"y\" = %v40 }";
  for (const Backend backend : kBackends) {
    const auto program = CompileWithin(chain, backend, {});
    REQUIRE_FALSE(program.has_value());
    CHECK(program.error().code() == ErrorCode::kLimit);
    CHECK(program.error().message().find("a run needs 6.0 TiB of memory, ") != std::string::npos);
    CHECK(program.error().message().find("(see max-memory)") != std::string::npos);
  }
}

TEST_CASE("limits: inputs, outputs and intermediate values count") {
  const std::string text =
      "graph { in %x: f32[1000]  %a = exp(%x)  %b = softmax(%a)  out \"y\" = %b }";
  for (const Backend backend : kBackends) {
    CHECK_FALSE(CompileWithin(text, backend, {.max_memory = 7999}).has_value());
    CHECK(CompileWithin(text, backend, {.max_memory = 100000}).has_value());
  }
}

TEST_CASE("limits: shapes known only at run time are counted during the run") {
  const std::string text =
      "graph { in %x: f32[1]  in %n: i64[1]  %y = tile(%x, %n)  %z = tile(%y, %n)  out \"z\" = %z "
      "}";
  const Graph graph = Parse(text);
  auto program = CompileWithin(text, Backend::kSimd, {.max_memory = 1 << 20});
  REQUIRE(program.has_value());
  CHECK(program->Run(InputsOf(graph, {{1}, {100}})).has_value());
  const auto failed = program->Run(InputsOf(graph, {{1}, {1000}}));
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().code() == ErrorCode::kLimit);
  CHECK(failed.error().message().find("its results need 3.8 MiB") != std::string::npos);
  CHECK(program->Run(InputsOf(graph, {{1}, {100}})).has_value());
}

TEST_CASE("limits: shapes that depend on contents are counted before evaluation") {
  // An index is 8 bytes: of each of 6 axes for each of 4096 elements.
  const std::string shape = "[2, 2, 4, 8, 8, 4]";
  const std::string text = "graph { in %x: bool" + shape + "  %y = non_zero(%x)  out \"y\" = %y }";
  constexpr uint64_t kInput = 4096;
  constexpr uint64_t kMaxOutput = uint64_t{8} * 6 * 4096;
  const auto inputs = InputsOf(Parse(text), {std::vector<double>(4096, 1)});
  for (const Backend backend : kBackends) {
    auto enough = CompileWithin(text, backend, {.max_memory = kInput + kMaxOutput});
    REQUIRE(enough.has_value());
    const auto result = enough->Run(inputs);
    REQUIRE(result.has_value());
    CHECK(result->front().byte_size() == kMaxOutput);
    auto less = CompileWithin(text, backend, {.max_memory = kInput + kMaxOutput - 1});
    REQUIRE(less.has_value());
    const auto refused = less->Run(inputs);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code() == ErrorCode::kLimit);
    CHECK(refused.error().message().find("its results need up to 192.0 KiB") != std::string::npos);
  }
}

TEST_CASE("limits: operations") {
  const std::string conv =
      "graph { in %x: f32[1, 8, 32, 32]  const %w: f32[8, 8, 3, 3] = seeded(1)"
      "  %y = conv(%x, %w)  out \"y\" = %y }";
  const uint64_t work = uint64_t{30} * 30 * 8 * 8 * 9;
  // Besides the convolution, its input and output are transposed.
  const uint64_t moved = 4 * 8 * 32 * 32;
  CHECK(CompileWithin(conv, Backend::kSimd, {.max_work = work + moved}).has_value());
  const auto refused = CompileWithin(conv, Backend::kSimd, {.max_work = work});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message().find("operations, the limit is 5.18e+05 (see max-work)") !=
        std::string::npos);
  CHECK_FALSE(CompileWithin(conv, Backend::kReference, {.max_work = work}).has_value());
  CHECK(CompileWithin(conv, Backend::kReference, {.max_work = work * 64}).has_value());
}

TEST_CASE("limits: a window of many taps is work") {
  const std::string text =
      "graph { in %x: f32[1, 1, 30000, 30000]"
      "  %y = max_pool(%x) {kernel = [30000, 30000]}  out \"y\" = %y }";
  for (const Backend backend : kBackends) {
    const auto program = CompileWithin(text, backend, {.max_work = 100'000'000});
    REQUIRE_FALSE(program.has_value());
    CHECK(program.error().code() == ErrorCode::kLimit);
  }
}

TEST_CASE("limits: operations of shapes known only at run time") {
  const std::string text =
      "graph { in %x: f32[8]  in %n: i64[2]  %a = expand(%x, %n)  %y = add(%a, %a)"
      "  out \"y\" = %y }";
  const Graph graph = Parse(text);
  auto program = CompileWithin(text, Backend::kSimd, {.max_work = 64 * 2000});
  REQUIRE(program.has_value());
  CHECK(program->Run(InputsOf(graph, {std::vector<double>(8, 1), {10, 8}})).has_value());
  const auto failed = program->Run(InputsOf(graph, {std::vector<double>(8, 1), {200, 8}}));
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().code() == ErrorCode::kLimit);
}

// Messages count operations as the option does: one of the reference evaluation is 64.
TEST_CASE("limits: the operations in messages") {
  const std::string expanded =
      "graph { in %x: f32[1]  in %n: i64[1]  %y = expand(%x, %n)  out \"y\" = %y }";
  const Graph graph = Parse(expanded);
  const auto program = CompileWithin(expanded, Backend::kReference, {.max_work = 64 * 100});
  REQUIRE(program.has_value());
  const auto failed = program->Run(InputsOf(graph, {{1}, {998}}));
  REQUIRE_FALSE(failed.has_value());
  CHECK_MESSAGE(failed.error().message().find(
                    "needs 6.39e+04 operations, but only 6.4e+03 remain") != std::string::npos,
                failed.error().message());
}

}  // namespace
}  // namespace nn::test::limits_test
