#include "exec/runtime/trace.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <unordered_map>

namespace nn {
namespace {

// A number that is unique per thread.
uint32_t ThreadNumber() {
  static std::atomic<uint32_t> next = 0;
  thread_local const uint32_t number = next++;
  return number;
}

}  // namespace

Tracer::Tracer() : begin_(Clock::now()), caller_(ThreadNumber()) {}

void Tracer::BeginStep(const Step& step) {
  steps_.emplace_back();
  steps_.back().items.resize(step.rounds() * step.grid());
  steps_.back().begin = Clock::now();
}

void Tracer::RunItem(const Step& step, const Memory& memory, size_t item) {
  Item& slot = steps_.back().items[item];
  slot.thread = ThreadNumber();
  slot.begin = Clock::now();
  step.Run(memory, item);
  slot.end = Clock::now();
}

void Tracer::EndStep() {
  steps_.back().end = Clock::now();
}

RunTrace Tracer::Result() const {
  const auto since = [&](Clock::time_point t) {
    return std::chrono::duration<double, std::micro>(t - begin_).count();
  };
  std::unordered_map<uint32_t, size_t> threads = {{caller_, 0}};
  RunTrace trace;
  for (size_t s = 0; s < steps_.size(); ++s) {
    const std::vector<Item>& items = steps_[s].items;
    trace.steps.push_back({s, 0, {}, since(steps_[s].begin), since(steps_[s].end)});
    std::vector<size_t> order(items.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return items[a].begin < items[b].begin; });
    std::unordered_map<size_t, size_t> spans;  // by thread
    for (const size_t i : order) {
      const size_t thread = threads.emplace(items[i].thread, threads.size()).first->second;
      const auto [span, is_new] = spans.emplace(thread, trace.threads.size());
      if (is_new) trace.threads.push_back({s, thread, {}, since(items[i].begin), 0});
      trace.threads[span->second].items.push_back(i);
      trace.threads[span->second].end = since(items[i].end);
    }
  }
  return trace;
}

}  // namespace nn
