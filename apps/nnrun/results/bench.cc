#include "apps/nnrun/results/bench.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "apps/common/progress.h"
#include "apps/nnrun/options.h"
#include "base/text/table.h"
#include "base/text/text.h"

namespace nn::app {
namespace {

struct Latency {
  double median, min, mean, p90;
};

// Requires at least one number. The median of an even count is the mean of the middle two; p90 is
// the smallest number that at least nine tenths of them do not exceed.
Latency Summarize(std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  const size_t n = ms.size();
  double sum = 0;
  for (const double v : ms) sum += v;
  return {.median = (ms[(n - 1) / 2] + ms[n / 2]) / 2,
          .min = ms[0],
          .mean = sum / static_cast<double>(n),
          .p90 = ms[(n * 9 + 9) / 10 - 1]};
}

double RatePerSecond(double count, double ms) {
  return ms > 0 ? count / ms * 1e3 : 0;
}

// The steps of one kind: "conv+relu".
struct StepSum {
  uint64_t steps = 0;
  double ms = 0;
  double multiply_adds = 0;
  double bytes = 0;
};

// The sums by kind, the longest first.
void AddSums(const std::map<std::string, StepSum>& sums, double total, RunReport& report) {
  std::vector<std::pair<std::string, StepSum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.ms > b.second.ms; });
  Table table({{"steps", Align::kRight},
               {"ms", Align::kRight},
               {"%", Align::kRight},
               {"GMAC/s", Align::kRight},
               {"GB/s", Align::kRight},
               {"operators"}});
  Json list = Json::array();
  for (const auto& [kind, s] : sorted) {
    table.Add({std::to_string(s.steps), fmt::format("{:.4f}", s.ms),
               fmt::format("{:.1f}", total > 0 ? 100 * s.ms / total : 0),
               s.multiply_adds == 0
                   ? ""
                   : fmt::format("{:.1f}", RatePerSecond(s.multiply_adds, s.ms) / 1e9),
               fmt::format("{:.1f}", RatePerSecond(s.bytes, s.ms) / 1e9), Escape(kind)});
    list.push_back({{"operators", kind},
                    {"steps", s.steps},
                    {"ms", s.ms},
                    {"multiply_adds", s.multiply_adds},
                    {"bytes", s.bytes}});
  }
  report.text += table.empty() ? "" : "\nby kind of step\n" + table.Text();
  report.json["step_kinds"] = std::move(list);
}

// Mean milliseconds of each step, and of those of one kind.
void AddProfile(const Program& program, const std::vector<double>& step_ms, RunReport& report) {
  double total = 0;
  for (const double ms : step_ms) total += ms;
  Table table({{"step", Align::kRight},
               {"ms", Align::kRight},
               {"%", Align::kRight},
               {"GMAC/s", Align::kRight},
               {"GB/s", Align::kRight},
               {"operators"}});
  Json steps = Json::array();
  std::map<std::string, StepSum> sums;
  for (size_t i = 0; i < step_ms.size(); ++i) {
    const StepInfo& info = program.steps()[i];
    StepSum& sum = sums[info.kind];
    ++sum.steps;
    sum.ms += step_ms[i];
    sum.multiply_adds += static_cast<double>(info.multiply_adds);
    sum.bytes += static_cast<double>(info.bytes);
    const double macs = RatePerSecond(static_cast<double>(info.multiply_adds), step_ms[i]);
    const double bytes = RatePerSecond(static_cast<double>(info.bytes), step_ms[i]);
    table.Add({std::to_string(i), fmt::format("{:.4f}", step_ms[i]),
               fmt::format("{:.1f}", total > 0 ? 100 * step_ms[i] / total : 0),
               info.multiply_adds == 0 ? "" : fmt::format("{:.1f}", macs / 1e9),
               fmt::format("{:.1f}", bytes / 1e9),
               Escape(info.label) + (info.reference ? " (reference)" : "")});
    steps.push_back({{"operators", info.label},
                     {"kind", info.kind},
                     {"sources", info.sources},
                     {"ms", step_ms[i]},
                     {"multiply_adds", info.multiply_adds},
                     {"bytes", info.bytes},
                     {"reference", info.reference}});
  }
  if (step_ms.empty()) report.text += "no profile: the reference backend runs without a plan\n";
  report.text += table.empty() ? "" : table.Text();
  report.json["steps"] = std::move(steps);
  AddSums(sums, total, report);
}

// How many steps there are, and which of them have no kernel.
void AddStepCounts(const Program& program, RunReport& report) {
  std::map<std::string, size_t> slow;
  size_t count = 0;
  for (const StepInfo& info : program.steps()) {
    if (!info.reference) continue;
    ++slow[info.kind];
    ++count;
  }
  Json kinds = Json::object();
  std::string list;
  for (const auto& [kind, steps] : slow) {
    kinds[kind] = steps;
    list += fmt::format("{}{} {}", list.empty() ? ": " : ", ", steps, Escape(kind));
  }
  report.json["step_count"] = program.steps().size();
  report.json["reference_steps"] = count;
  report.json["reference_kinds"] = std::move(kinds);
  report.json["planned"] = program.planned();
  report.text +=
      fmt::format("steps: {}, {} of them by reference evaluation{}{}\n", program.steps().size(),
                  count, list, program.planned() ? "" : "; the other operators run one by one");
}

}  // namespace

Status RunBench(const Program& program, std::span<const Tensor> inputs, const RunOptions& options,
                RunReport& report) {
  using Clock = std::chrono::steady_clock;
  Progress progress("runs", static_cast<uint64_t>(options.warmup + options.runs));
  std::vector<double> ms;
  std::vector<double> step_ms(options.profile ? program.steps().size() : 0, 0.0);
  std::vector<double> this_run;
  const RunRecord record = {.step_milliseconds = options.profile ? &this_run : nullptr};
  for (int64_t i = 0; i < options.warmup + options.runs; ++i) {
    const auto begin = Clock::now();
    NN_RETURN_IF_ERROR(program.Run(inputs, record));
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - begin;
    progress.Step();
    if (i < options.warmup) continue;
    ms.push_back(elapsed.count());
    for (size_t k = 0; k < step_ms.size(); ++k)
      step_ms[k] += this_run[k] / static_cast<double>(options.runs);
  }
  const Latency l = Summarize(ms);
  const size_t threads = options.program().threads;
  report.json["latency_ms"] = {
      {"median", l.median}, {"min", l.min}, {"mean", l.mean}, {"p90", l.p90}};
  report.json["threads"] = threads;
  report.json["runs"] = options.runs;
  report.json["warmup"] = options.warmup;
  report.json["backend"] = options.execution.backend == Backend::kReference ? "reference" : "simd";
  report.json["target"] = options.target.empty() ? SimdTargets().front() : options.target;
  report.json["arena_bytes"] = program.arena_bytes();
  report.json["packed_bytes"] = program.packed_bytes();
  report.text += fmt::format(
      "latency: median {:.3f} ms, min {:.3f}, mean {:.3f}, p90 {:.3f} ({} runs, {} thread{})\n"
      "memory: {} of intermediate values, {} of packed weights\n",
      l.median, l.min, l.mean, l.p90, options.runs, threads, threads == 1 ? "" : "s",
      HumanBytes(program.arena_bytes()), HumanBytes(program.packed_bytes()));
  AddStepCounts(program, report);
  if (options.profile) AddProfile(program, step_ms, report);
  return {};
}

}  // namespace nn::app
