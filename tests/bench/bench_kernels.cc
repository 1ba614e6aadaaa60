// Compares kernels with the limits of the machine, on one thread. Both alternate in the same run
// because machines are noisy: of_limit is the ratio of their medians, best that of the shortest
// times, which other work on the machine disturbs least.
//
//   compute  multiply-adds of registers only, on the SIMD target of the name
//   copy     memcpy of as many bytes as the kernel reads and writes
//
// A kernel with both is measured against the slower one. The time is that of the kernel's step
// alone, as nnrun --profile has it.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "base/text/text.h"
#include "exec/program.h"
#include "ir/seeded.h"
#include "ir/text/text.h"
#include "peak.h"

namespace nn::bench {
namespace {

enum class Compute { kNone, kFloat, kInt8 };

struct Case {
  std::string name;
  std::string graph;
  Compute compute = Compute::kNone;
  bool copies = false;
  bool all_targets = false;  // otherwise only the best one
  std::string op = {};       // of the step that is measured; the first one if empty
};

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

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <typename F>
double SecondsOf(F&& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Seconds per multiply-add at best: from the shortest of a few runs, because the first one also
// powers up the wide units.
double SecondsOfOne(Compute compute) {
  constexpr size_t kRounds = 1 << 15;
  constexpr int kRuns = 3;
  const bool floats = compute == Compute::kFloat;
  double seconds = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRuns; ++i)
    seconds = std::min(seconds, SecondsOf([&] {
                         benchmark::DoNotOptimize(floats ? RunFmas(kRounds) : RunDots(kRounds));
                       }));
  return seconds / static_cast<double>(floats ? FmasOf(kRounds) : DotsOf(kRounds));
}

// Copies between two buffers with the total size that a kernel reads and writes.
class Copy {
 public:
  explicit Copy(size_t bytes) : from_(bytes / 2, 1), to_(bytes / 2) {}

  // Times the second of two copies, so that small buffers are in a cache, as those of the kernel
  // are.
  double Seconds() {
    std::memcpy(to_.data(), from_.data(), to_.size());
    return SecondsOf([&] {
      std::memcpy(to_.data(), from_.data(), to_.size());
      benchmark::DoNotOptimize(to_.data());
    });
  }

 private:
  std::vector<char> from_, to_;
};

void Run(benchmark::State& state, const Case& c, const std::string& target) {
  Use(target);
  const Graph graph = OrDie(ParseGraph(c.graph));
  const Program program = OrDie(Program::Compile(graph, {}));
  std::vector<Tensor> inputs;
  for (const Port& port : graph.inputs())
    inputs.push_back(OrDie(SeededTensor(port.value->dtype(), *port.value->type().const_dims(), 2)));
  const auto& steps = program.steps();
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](const StepInfo& s) { return s.label.starts_with(c.op); });
  const StepInfo& step = *found;
  const auto number = static_cast<size_t>(found - steps.begin());
  if (step.reference) {
    state.SkipWithError("no kernel");
    return;
  }
  Copy copy(c.copies ? step.bytes : 0);
  std::vector<double> kernel, limit, steps_ms;
  for (auto _ : state) {
    double best = 0;
    if (c.compute != Compute::kNone)
      best = SecondsOfOne(c.compute) * static_cast<double>(step.multiply_adds);
    if (c.copies) best = std::max(best, copy.Seconds());
    // The first run loads the data into the caches that the limit used.
    for (int i = 0; i < 2; ++i)
      benchmark::DoNotOptimize(OrDie(program.Run(inputs, {.step_milliseconds = &steps_ms})));
    limit.push_back(best);
    kernel.push_back(steps_ms[number] * 1e-3);
    state.SetIterationTime(kernel.back());
  }
  const double seconds = Median(kernel);
  if (step.multiply_adds > 0)
    state.counters["GMAC/s"] = static_cast<double>(step.multiply_adds) / seconds * 1e-9;
  state.counters["GB/s"] = static_cast<double>(step.bytes) / seconds * 1e-9;
  state.counters["of_limit"] = Median(limit) / seconds;
  state.counters["best"] = *std::min_element(limit.begin(), limit.end()) /
                           *std::min_element(kernel.begin(), kernel.end());
}

// y = x w with a constant w, which is packed once.
Case Gemm(int64_t n) {
  return {fmt::format("gemm_f32/{}", n),
          fmt::format(R"(graph {{ in %x: f32[{0}, {0}]  const %w: f32[{0}, {0}] = seeded(1)
                                  %y = matmul(%x, %w)  out "y" = %y }})",
                      n),
          Compute::kFloat, false, true};
}
Case GemmInt8(int64_t n) {
  return {fmt::format("gemm_i8/{}", n),
          fmt::format(R"(graph {{ in %x: i8[{0}, {0}]{{scale=0.5, zp=3}}
                                  const %w: i8[{0}, {0}]{{scale=0.01, zp=0}} = seeded(1)
                                  %y = matmul(%x, %w) {{transpose_b = true}} @tflite_fixed
                                      : i8[{0}, {0}]{{scale=9, zp=1}}
                                  out "y" = %y }})",
                      n),
          Compute::kInt8, false, true};
}

// Twelve heads of 64, whose scores are computed in bands.
Case Attention(int64_t length) {
  return {fmt::format("attention/{}", length),
          fmt::format(R"(graph {{ in %q: f32[12, {0}, 64]  in %k: f32[12, 64, {0}]
                                  in %v: f32[12, {0}, 64]  const %d: f32[1] = [0.125]
                                  %s = matmul(%q, %k)  %t = mul(%s, %d)
                                  %p = softmax(%t)  %y = matmul(%p, %v)  out "y" = %y }})",
                      length),
          Compute::kFloat, false, false};
}

// A convolution of ResNet-50, or of MobileNet v2 if each channel is a group.
Case Conv(int64_t side, int64_t in, int64_t out, int64_t kernel, int64_t groups, bool int8) {
  const bool depthwise = groups > 1;
  const std::string name =
      fmt::format("{}_{}/{}x{}/{}", depthwise ? "depthwise" : fmt::format("conv_{0}x{0}", kernel),
                  int8 ? "i8" : "f32", side, side,
                  depthwise ? fmt::format("{}", in) : fmt::format("{}-{}", in, out));
  const std::string attrs = fmt::format(
      "{{layout = nxc, pads = [{0}, {0}, {0}, {0}], groups = {1}}}", kernel / 2, groups);
  const std::string shape = fmt::format("[1, {0}, {0}, {1}]", side, in);
  const std::string filter = fmt::format("[{}, {}, {}, {}]", out, in / groups, kernel, kernel);
  std::string graph;
  if (int8)
    graph = fmt::format(R"(graph {{ in %x: i8{0}{{scale=0.5, zp=3}}
                                    const %w: i8{1}{{scale=0.01, zp=0}} = seeded(1)
                                    const %b: i32[{2}] = seeded(2)
                                    %y = conv(%x, %w, %b) {3} @tflite
                                        : i8[1, {4}, {4}, {2}]{{scale=9, zp=1}}
                                    out "y" = %y }})",
                        shape, filter, out, attrs, side);
  else
    graph = fmt::format(R"(graph {{ in %x: f32{}  const %w: f32{} = seeded(1)
                                    const %b: f32[{}] = seeded(2)
                                    %y = conv(%x, %w, %b) {}  out "y" = %y }})",
                        shape, filter, out, attrs);
  return {name, graph, int8 ? Compute::kInt8 : Compute::kFloat, depthwise, false};
}

// Operators that move memory, on tensors larger than every cache. The measured result is an
// intermediate value, in memory that has been written before.
std::vector<Case> MemoryCases() {
  const int64_t cache = std::max<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), int64_t{32} << 20);
  const int64_t rows = std::max<int64_t>(1, 2 * cache / 4 / 4096);
  const std::string shape = fmt::format("f32[{}, 4096]", rows);
  const auto graph = [&](const char* inputs, const char* op) {
    return fmt::format(
        "graph {{ {}  %t = {}  %m = reduce_max(%t) {{axes = [0]}}  out \"y\" = %m }}",
        fmt::format(fmt::runtime(inputs), shape), op);
  };
  const char* one = "in %x: {}";
  const char* two = "in %x: {0}  in %z: {0}";
  std::vector<Case> cases = {
      {"memory/relu", graph(one, "relu(%x)")},
      {"memory/add", graph(two, "add(%x, %z)")},
      {"memory/tanh", graph(one, "tanh(%x)")},
      {"memory/transpose", graph(one, "transpose(%x) {perm = [1, 0]}")},
      {"memory/concat", graph(two, "concat(%x, %z) {axis = 1}")},
  };
  // All rows in another order, by indices that the previous step computes.
  cases.push_back(
      {.name = "memory/gather",
       .graph = fmt::format(
           R"(graph {{ in %x: {}  in %z: i64[]  const %n: i64[] = [{}]  const %f: i64[] = [5]
                       const %0: i64[] = [0]  const %1: i64[] = [1]  %r = range(%0, %n, %1)
                       %p = mul(%r, %f)  %q = add(%p, %z)  %i = mod(%q, %n)
                       %t = gather(%x, %i)  %m = reduce_max(%t) {{axes = [0]}}  out "y" = %m }})",
           shape, rows),
       .op = "gather"});
  for (Case& c : cases) c.copies = true;
  return cases;
}

void RegisterAll() {
  std::vector<Case> cases = {Gemm(512), Gemm(1024), GemmInt8(1024), Attention(1024)};
  for (const bool int8 : {false, true}) {
    for (const auto& [side, channels] : {std::pair(56, 64), {28, 128}, {14, 256}, {7, 512}}) {
      cases.push_back(Conv(side, channels, channels, 3, 1, int8));
      cases.push_back(Conv(side, channels, 4 * channels, 1, 1, int8));
      cases.push_back(Conv(side, 4 * channels, channels, 1, 1, int8));
    }
    cases.push_back(Conv(56, 256, 256, 3, 1, int8));
    cases.push_back(Conv(28, 512, 512, 3, 1, int8));
    cases.push_back(Conv(24, 2048, 512, 3, 1, int8));
    for (const auto& [side, channels] :
         {std::pair(112, 32), {56, 144}, {28, 192}, {14, 384}, {7, 960}})
      cases.push_back(Conv(side, channels, channels, 3, channels, int8));
  }
  for (Case& c : MemoryCases()) cases.push_back(std::move(c));
  for (const Case& c : cases)
    for (const std::string& target : SimdTargets()) {
      Use(target);
      const bool has_limit = c.compute == Compute::kNone ||
                             (c.compute == Compute::kFloat ? FmasOf(1) : DotsOf(1)) != 0;
      if (has_limit)
        benchmark::RegisterBenchmark(fmt::format("{}/{}", c.name, target).c_str(), Run, c, target)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
      if (has_limit && !c.all_targets) break;
    }
}

}  // namespace
}  // namespace nn::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  nn::bench::RegisterAll();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
