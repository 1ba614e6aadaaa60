// Matrix products beside the processor's limit, on every SIMD target, one thread. Both are in the
// same run because machines are noisy: quote ratios.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>

#include "base/text.h"
#include "exec/program.h"
#include "fma_limit.h"
#include "ir/seeded.h"
#include "ir/text.h"
#include "ops/ops.h"

namespace nn::bench {
namespace {

constexpr size_t kFmaRounds = 1 << 20;

template <typename T, typename E>
T OrDie(tl::expected<T, E> result) {
  if (result) return *std::move(result);
  std::cerr << result.error().message() << "\n";
  std::exit(2);
}

void Use(const std::string& target) {
  if (const Status s = UseSimdTarget(target); !s) {
    std::cerr << s.error().message() << "\n";
    std::exit(2);
  }
}

// In units of 1e9 floating-point operations a second.
void CountRate(benchmark::State& state, double operations) {
  state.counters["GFLOP"] =
      benchmark::Counter(operations * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void BenchFma(benchmark::State& state, const std::string& target) {
  Use(target);
  for (auto _ : state) benchmark::DoNotOptimize(RunFmas(kFmaRounds));
  CountRate(state, static_cast<double>(FmaOperations(kFmaRounds)));
}

// y = x w with a constant w, which is packed once, as the executor does it; everything that a run
// does is in the time.
void BenchGemm(benchmark::State& state, const std::string& target, int64_t n) {
  Use(target);
  const Graph graph = OrDie(ParseGraph(fmt::format(
      R"(graph {{ in %x: f32[{0}, {0}]  const %w: f32[{0}, {0}] = seeded(1)
                  %y = matmul(%x, %w)  out "y" = %y }})",
      n)));
  Program program = OrDie(Program::Compile(graph, {}));
  const Tensor x = OrDie(SeededTensor(DType::kF32, {n, n}, 2));
  for (auto _ : state) benchmark::DoNotOptimize(OrDie(program.Run(std::span(&x, 1))));
  CountRate(state, 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n));
}

void RegisterAll() {
  for (const std::string& target : SimdTargets()) {
    Use(target);
    if (FmaOperations(1) != 0)
      benchmark::RegisterBenchmark(("fma_limit/" + target).c_str(), BenchFma, target);
    for (const int64_t n : {512, 1024})
      benchmark::RegisterBenchmark(fmt::format("gemm_{}/{}", n, target).c_str(), BenchGemm, target,
                                   n)
          ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace nn::bench

int main(int argc, char** argv) {
  nn::InstallOps();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  nn::bench::RegisterAll();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
