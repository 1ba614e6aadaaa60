#include "exec/runtime/planning/sub_plan.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "exec/runtime/planning/build_plan.h"

namespace nn {

struct SubPlan::Impl {
  Graph graph;
  Plan plan;
};

SubPlan::SubPlan(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SubPlan::SubPlan(SubPlan&&) noexcept = default;
SubPlan& SubPlan::operator=(SubPlan&&) noexcept = default;
SubPlan::~SubPlan() = default;

Result<std::optional<SubPlan>> SubPlan::Create(Graph graph) {
  auto impl = std::make_unique<Impl>();
  impl->graph = std::move(graph);
  std::unordered_map<const Value*, MemoryView> views;
  NN_RETURN_IF_ERROR(BuildPlan(impl->graph, true, EvalBudget(), impl->plan, views));
  const auto& steps = impl->plan.steps;
  if (std::any_of(steps.begin(), steps.end(), [](const auto& step) { return step->reference; }))
    return std::optional<SubPlan>();
  return std::optional<SubPlan>(SubPlan(std::move(impl)));
}

size_t SubPlan::arena_bytes() const {
  return impl_->plan.arena_bytes;
}

void SubPlan::Run(std::span<std::byte* const> inputs, std::byte* output, std::byte* arena,
                  StepError& error) const {
  const Memory memory = MemoryOf(impl_->plan, inputs, {&output, 1}, arena, error, nullptr, nullptr);
  for (const auto& step : impl_->plan.steps) {
    const size_t grid = step->grid();
    for (size_t i = 0; i < grid; ++i) step->Run(memory, i);
  }
}

}  // namespace nn
