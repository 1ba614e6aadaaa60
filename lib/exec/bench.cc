#include "exec/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <utility>

#include "base/text/table.h"
#include "base/text/text.h"

namespace nn {
namespace {

double RatePerSecond(double count, double ms) {
  return ms > 0 ? count / ms * 1e3 : 0;
}

// The steps of one kind: "conv+relu".
struct StepSum {
  std::string kind;
  uint64_t steps = 0;
  double ms = 0;
  double multiply_adds = 0;
  double bytes = 0;
};

// The longest first.
std::vector<StepSum> SumsByKind(const Program& program, const std::vector<double>& step_ms) {
  std::map<std::string, StepSum> sums;
  for (size_t i = 0; i < step_ms.size(); ++i) {
    const StepInfo& info = program.steps()[i];
    StepSum& sum = sums[info.kind];
    sum.kind = info.kind;
    ++sum.steps;
    sum.ms += step_ms[i];
    sum.multiply_adds += static_cast<double>(info.multiply_adds);
    sum.bytes += static_cast<double>(info.bytes);
  }
  std::vector<StepSum> sorted;
  for (auto& [kind, sum] : sums) sorted.push_back(std::move(sum));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const StepSum& a, const StepSum& b) { return a.ms > b.ms; });
  return sorted;
}

// A table with a row for each step, or for each kind of step.
class TimeTable {
 public:
  TimeTable(const std::string& first, double total)
      : total_(total),
        table_({{first, Align::kRight},
                {"ms", Align::kRight},
                {"%", Align::kRight},
                {"GMAC/s", Align::kRight},
                {"GB/s", Align::kRight},
                {"operators"}}) {}

  void Add(uint64_t first, double ms, double multiply_adds, double bytes,
           const std::string& operators) {
    table_.Add(
        {std::to_string(first), fmt::format("{:.4f}", ms),
         fmt::format("{:.1f}", total_ > 0 ? 100 * ms / total_ : 0),
         multiply_adds == 0 ? "" : fmt::format("{:.1f}", RatePerSecond(multiply_adds, ms) / 1e9),
         fmt::format("{:.1f}", RatePerSecond(bytes, ms) / 1e9), operators});
  }

  std::string Text() const { return table_.Text(); }

 private:
  double total_;
  Table table_;
};

std::string ProfileText(const Program& program, const std::vector<double>& step_ms) {
  if (!program.planned()) return "no profile: the model has no plan as a whole\n";
  if (step_ms.empty()) return "";
  const double total = std::accumulate(step_ms.begin(), step_ms.end(), 0.0);
  TimeTable steps("step", total);
  for (size_t i = 0; i < step_ms.size(); ++i) {
    const StepInfo& info = program.steps()[i];
    steps.Add(i, step_ms[i], static_cast<double>(info.multiply_adds),
              static_cast<double>(info.bytes),
              Escape(info.label) + (info.reference ? " (reference)" : ""));
  }
  TimeTable kinds("steps", total);
  for (const StepSum& sum : SumsByKind(program, step_ms))
    kinds.Add(sum.steps, sum.ms, sum.multiply_adds, sum.bytes, Escape(sum.kind));
  return steps.Text() + "\nby kind of step\n" + kinds.Text();
}

void AddProfile(const Program& program, const std::vector<double>& step_ms, Json& out) {
  out["steps"] = Json::array();
  for (size_t i = 0; i < step_ms.size(); ++i) {
    const StepInfo& info = program.steps()[i];
    out["steps"].push_back({{"operators", info.label},
                            {"kind", info.kind},
                            {"sources", info.sources},
                            {"ms", step_ms[i]},
                            {"multiply_adds", info.multiply_adds},
                            {"bytes", info.bytes},
                            {"reference", info.reference}});
  }
  out["step_kinds"] = Json::array();
  for (const StepSum& sum : SumsByKind(program, step_ms))
    out["step_kinds"].push_back({{"operators", sum.kind},
                                 {"steps", sum.steps},
                                 {"ms", sum.ms},
                                 {"multiply_adds", sum.multiply_adds},
                                 {"bytes", sum.bytes}});
}

// How many steps of each kind have no kernel.
std::map<std::string, size_t> ReferenceKinds(const Program& program) {
  std::map<std::string, size_t> kinds;
  for (const StepInfo& info : program.steps())
    if (info.reference) ++kinds[info.kind];
  return kinds;
}

size_t CountOf(const std::map<std::string, size_t>& kinds) {
  size_t count = 0;
  for (const auto& [kind, steps] : kinds) count += steps;
  return count;
}

}  // namespace

OptionTable BenchOptionTable() {
  static const std::vector<OptionField> fields = [] {
    // In C and Python, "profile" is an option of validation, of another kind.
    const auto profile = [](std::string_view name, OptionSurface surface) {
      return Option<&BenchOptions::profile>(
          name, {.help = "With --bench: the time of every step", .surfaces = surface});
    };
    return std::vector<OptionField>{
        profile("profile", kOnCommandLine),
        profile("step-times", kInBindings),
        Option<&BenchOptions::warmup>("warmup", {.help = "Warmup runs that are not timed",
                                                 .value = "N",
                                                 .least = 0,
                                                 .most = kMaxBenchRuns,
                                                 .shows_default = true}),
        Option<&BenchOptions::runs>("runs", {.help = "Timed runs",
                                             .value = "N",
                                             .least = 1,
                                             .most = kMaxBenchRuns,
                                             .shows_default = true}),
    };
  }();
  return fields;
}

Latency LatencyOf(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const size_t n = times.size();
  const double sum = std::accumulate(times.begin(), times.end(), 0.0);
  return {.median = (times[(n - 1) / 2] + times[n / 2]) / 2,
          .min = times[0],
          .mean = sum / static_cast<double>(n),
          .p90 = times[(n * 9 + 9) / 10 - 1]};
}

Result<Measurement> MeasureLatency(
    const Program& program, std::span<const Tensor> inputs, const BenchOptions& options,
    const std::function<Status(uint64_t done, uint64_t total)>& progress) {
  using Clock = std::chrono::steady_clock;
  Measurement out;
  if (options.profile) out.step_ms.resize(program.steps().size());
  std::vector<double> times;
  std::vector<double> of_steps;
  const RunRecord record = {.step_milliseconds = options.profile ? &of_steps : nullptr};
  const int64_t all = options.warmup + options.runs;
  for (int64_t i = 0; i < all; ++i) {
    if (progress)
      NN_RETURN_IF_ERROR(progress(static_cast<uint64_t>(i), static_cast<uint64_t>(all)));
    const auto begin = Clock::now();
    NN_RETURN_IF_ERROR(program.Run(inputs, record));
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - begin;
    if (i < options.warmup) continue;
    times.push_back(elapsed.count());
    for (size_t k = 0; k < out.step_ms.size(); ++k)
      out.step_ms[k] += of_steps[k] / static_cast<double>(options.runs);
  }
  if (progress)
    NN_RETURN_IF_ERROR(progress(static_cast<uint64_t>(all), static_cast<uint64_t>(all)));
  out.latency = LatencyOf(std::move(times));
  return out;
}

Json MeasurementJson(const Program& program, const BenchOptions& options,
                     const Measurement& measured) {
  const Latency& l = measured.latency;
  Json out = {
      {"latency_ms", {{"median", l.median}, {"min", l.min}, {"mean", l.mean}, {"p90", l.p90}}},
      {"threads", program.options().threads},
      {"runs", options.runs},
      {"warmup", options.warmup},
      {"backend", program.options().backend == Backend::kReference ? "reference" : "simd"},
      {"target", SimdTargetInUse()},
      {"arena_bytes", program.arena_bytes()},
      {"packed_bytes", program.packed_bytes()}};
  const std::map<std::string, size_t> reference = ReferenceKinds(program);
  out["step_count"] = program.steps().size();
  out["reference_steps"] = CountOf(reference);
  out["reference_kinds"] = reference.empty() ? Json::object() : Json(reference);
  out["planned"] = program.planned();
  if (options.profile) AddProfile(program, measured.step_ms, out);
  return out;
}

std::string MeasurementText(const Program& program, const BenchOptions& options,
                            const Measurement& measured) {
  const Latency& l = measured.latency;
  const size_t threads = program.options().threads;
  const std::map<std::string, size_t> reference = ReferenceKinds(program);
  std::string kinds;
  for (const auto& [kind, steps] : reference)
    kinds += fmt::format("{}{} {}", kinds.empty() ? ": " : ", ", steps, Escape(kind));
  std::string out = fmt::format(
      "latency: median {:.3f} ms, min {:.3f}, mean {:.3f}, p90 {:.3f} ({} runs, {} thread{})\n"
      "memory: {} of intermediate values, {} of packed weights\n"
      "steps: {}, {} of them by reference evaluation{}{}\n",
      l.median, l.min, l.mean, l.p90, options.runs, threads, threads == 1 ? "" : "s",
      HumanBytes(program.arena_bytes()), HumanBytes(program.packed_bytes()), program.steps().size(),
      CountOf(reference), kinds, program.planned() ? "" : "; the other operators run one by one");
  if (options.profile) out += ProfileText(program, measured.step_ms);
  return out;
}

}  // namespace nn
