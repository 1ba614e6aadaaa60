#include <nnsuite/bench.h>
#include <nnsuite/graph.h>
#include <nnsuite/plan.h>
#include <nnsuite/program.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support.h"

namespace nnsuite::test::bench_test {
namespace {

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Two steps; a determinant has no kernel.
Program CompileTwo(const ProgramOptions& options = {}) {
  const Graph graph = Take(Graph::Parse(R"(graph {
      in %x "x": f32[1, 3, 8, 8]
      in %m "m": f32[2, 2]
      %r = relu(%x)
      %d = det(%m)
      out "r" = %r
      out "d" = %d })"));
  return Take(Program::Compile(graph, options));
}

std::vector<Tensor> SeededFor(const Program& program) {
  return Take(program.SeededInputs(1));
}

}  // namespace

TEST_CASE("api: the latency of a program is measured") {
  const Program program = CompileTwo({.threads = 2});
  const std::vector<Tensor> inputs = SeededFor(program);
  const LatencyReport plain = Take(MeasureLatency(program, inputs, {.warmup = 1, .runs = 5}));
  CHECK(plain.latency.min > 0);
  CHECK(plain.latency.min <= plain.latency.median);
  CHECK(plain.latency.min <= plain.latency.mean);
  CHECK(plain.latency.median <= plain.latency.p90);
  CHECK(plain.steps.empty());
  CHECK(plain.text.starts_with("latency: median "));
  CHECK(Has(plain.text, "(5 runs, 2 threads)"));
  CHECK(Has(plain.text, "1 of them by reference evaluation: 1 det\n"));
  CHECK(Has(plain.report, "\"warmup\": 1"));
  CHECK(Has(plain.report, "\"threads\": 2"));
  CHECK_FALSE(Has(plain.report, "\"steps\""));
}

TEST_CASE("api: a profile has the time of each step") {
  const Program program = CompileTwo();
  const std::vector<Tensor> inputs = SeededFor(program);
  const LatencyReport report = Take(MeasureLatency(program, inputs, {.runs = 2, .profile = true}));
  REQUIRE(report.steps.size() == 2);
  for (const StepTime& step : report.steps) {
    CAPTURE(step.kind);
    CHECK(step.label.starts_with(step.kind));
    CHECK(step.milliseconds > 0);
    CHECK(step.bytes > 0);
    CHECK(step.reference == (step.kind == "det"));
  }
  CHECK(Has(report.text, "by kind of step"));
  CHECK(Has(report.report, "\"step_kinds\""));

  const Program reference = CompileTwo({.backend = Backend::kReference});
  const LatencyReport none = Take(MeasureLatency(reference, inputs, {.runs = 1, .profile = true}));
  CHECK(none.steps.empty());
  CHECK(Has(none.text, "no profile"));
  CHECK(Has(none.report, "\"backend\": \"reference\""));
}

TEST_CASE("api: a benchmark checks its options, tells its progress and ends") {
  const Program program = CompileTwo();
  const std::vector<Tensor> inputs = SeededFor(program);
  for (const BenchOptions& wrong :
       {BenchOptions{.warmup = -1}, BenchOptions{.runs = 0}, BenchOptions{.runs = 1'000'001}})
    CHECK(MeasureLatency(program, inputs, wrong).error().code() == ErrorCode::kUsage);
  CHECK(MeasureLatency(program, {}).error().code() == ErrorCode::kUsage);
  std::vector<uint64_t> told;
  const auto tell = [&](std::string_view activity, uint64_t done, uint64_t total) {
    CHECK(activity == "runs");
    CHECK(total == 3);
    told.push_back(done);
    return true;
  };
  CHECK(MeasureLatency(program, inputs, {.warmup = 1, .runs = 2}, tell).has_value());
  CHECK(told == std::vector<uint64_t>{0, 1, 2, 3});
  const auto end = [](std::string_view, uint64_t done, uint64_t) { return done < 1; };
  CHECK(MeasureLatency(program, inputs, {}, end).error().code() == ErrorCode::kLimit);
}

TEST_CASE("api: the SIMD target of a report is the one in use") {
  const Program program = CompileTwo();
  const std::vector<Tensor> inputs = SeededFor(program);
  for (const std::string& target : SimdTargets()) {
    REQUIRE(UseSimdTarget(target).has_value());
    CHECK(Has(Take(MeasureLatency(program, inputs, {.runs = 1})).report,
              "\"target\": \"" + target + "\""));
  }
  REQUIRE(UseSimdTarget("").has_value());
  CHECK(Has(ExplainPlan(program).report, "\"target\": \"" + SimdTargets().front() + "\""));
}

TEST_CASE("api: a plan is explained, and a run of it traced") {
  const Program program = CompileTwo();
  const PlanReport plan = ExplainPlan(program);
  CHECK(Has(plan.text, "det"));
  CHECK(Has(plan.text, "Packed weights"));
  CHECK(Has(plan.report, "\"operators\""));
  const std::vector<Tensor> inputs = SeededFor(program);
  const std::string trace = Take(TraceRun(program, inputs, "two"));
  CHECK(Has(trace, "traceEvents"));
  CHECK(Has(trace, R"("model":"two")"));
  CHECK(Has(trace, R"("cat":"det")"));
  CHECK(TraceRun(program, {}).error().code() == ErrorCode::kUsage);

  const Program reference = CompileTwo({.backend = Backend::kReference});
  CHECK(Has(ExplainPlan(reference).report, "\"plan\": null"));
  CHECK(Has(ExplainPlan(reference).text, "has no plan"));
  CHECK(TraceRun(reference, inputs).error().code() == ErrorCode::kUsage);
}

}  // namespace nnsuite::test::bench_test
