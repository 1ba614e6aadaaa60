#include "exec/trace_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "base/json/json_writer.h"
#include "base/text/text.h"
#include "exec/plan_report.h"

namespace nn {
namespace {

constexpr int kProcess = 1;
// The track of the steps comes before those of the threads.
constexpr size_t kStepsTrack = 0;

Json NameEvent(std::string_view what, size_t track, const std::string& name) {
  return {
      {"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", track}, {"args", {{"name", name}}}};
}

Json ShapesJson(const std::vector<OperandInfo>& operands) {
  Json list = Json::array();
  for (const OperandInfo& o : operands)
    if (o.has_value()) list.push_back(EscapeControls(o.name) + " " + TypeText(o));
  return list;
}

// "0-3, 6": consecutive items as ranges.
std::string ItemsText(const std::vector<size_t>& items) {
  std::string text;
  for (size_t i = 0; i < items.size();) {
    size_t end = i + 1;
    while (end < items.size() && items[end] == items[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(items[i]);
    if (end - i > 1) text += "-" + std::to_string(items[end - 1]);
    i = end;
  }
  return text;
}

// `share` is the span's part of the step.
Json SpanEvent(const PlannedStep& step, const TraceSpan& span, size_t track, double share) {
  const double duration = span.end - span.begin;
  const double operations = 2.0 * static_cast<double>(step.info.multiply_adds) * share;
  Json args = {{"step", span.step}, {"grid", step.info.grid}};
  if (!span.items.empty()) args["items"] = ItemsText(span.items);
  args["reads"] = ShapesJson(step.reads);
  args["writes"] = ShapesJson(step.writes);
  args["multiply_adds"] = static_cast<double>(step.info.multiply_adds) * share;
  args["GFLOP/s"] = duration > 0 ? operations / duration / 1e3 : 0.0;
  args["bytes"] = static_cast<double>(step.info.bytes) * share;
  if (step.info.reference) args["kernel"] = "reference";
  return {{"name", step.info.label},
          {"cat", step.operators.empty() ? std::string("copy") : step.operators.front().op},
          {"ph", "X"},
          {"ts", span.begin},
          {"dur", duration},
          {"pid", kProcess},
          {"tid", track},
          {"args", std::move(args)}};
}

}  // namespace

std::string TraceText(const Program& program, const RunTrace& trace, const std::string& name) {
  const PlanInfo plan = program.Explain();
  const Json about = {
      {"model", name}, {"threads", program.options().threads}, {"target", SimdTargetInUse()}};
  // One event per line.
  std::string text =
      fmt::format("{{\"displayTimeUnit\": \"ms\", \"otherData\": {}, \"traceEvents\": [\n{}",
                  JsonLine(about), JsonLine(NameEvent("process_name", kStepsTrack, name)));
  const auto add = [&](const Json& event) { text += ",\n" + JsonLine(event); };
  add(NameEvent("thread_name", kStepsTrack, "steps"));
  size_t threads = 1;
  for (const TraceSpan& span : trace.threads) threads = std::max(threads, span.thread + 1);
  for (size_t t = 0; t < threads; ++t)
    add(NameEvent("thread_name", t + 1, fmt::format("thread {}", t)));
  for (const TraceSpan& span : trace.steps)
    add(SpanEvent(plan.steps[span.step], span, kStepsTrack, 1));
  for (const TraceSpan& span : trace.threads) {
    const PlannedStep& step = plan.steps[span.step];
    const double share = static_cast<double>(span.items.size()) /
                         static_cast<double>(std::max<size_t>(step.info.grid, 1));
    add(SpanEvent(step, span, span.thread + 1, share));
  }
  return text + "\n]}\n";
}

}  // namespace nn
