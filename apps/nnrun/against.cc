#include "apps/nnrun/against.h"

#include <algorithm>
#include <utility>

#include "apps/common/progress.h"
#include "base/text.h"
#include "exec/stepper.h"
#include "passes/input_domains.h"

namespace nn::app {
namespace {

constexpr double kAtol = 1e-6;
constexpr double kRtol = 1e-5;

against::FindName FinderOf(const std::vector<std::string>& names) {
  return [finder = PortFinder(names, {})](std::string_view name) {
    return finder.Find(name).value_or(std::nullopt);
  };
}

size_t CountValues(const Graph& graph) {
  size_t count = 0;
  for (const Node& node : graph.nodes()) count += node.outputs().size();
  return count;
}

Result<std::vector<against::ValueDrift>> Compare(Stepper& model, against::Reference& reference,
                                                 const RunOptions& options) {
  const size_t count = reference.counterparts().size();
  if (count == 0)
    return UsageError("{}: no value of the model has a counterpart, so nothing can be compared",
                      options.against);
  Progress progress("values", count);
  against::DriftOptions o;
  o.atol = options.atol.value_or(kAtol);
  o.rtol = options.rtol.value_or(kRtol);
  o.progress = [&] { progress.Step(); };
  return against::CompareValues(model, reference, o);
}

}  // namespace

const against::ValueDrift* AgainstSummary::first() const {
  const auto it = std::ranges::find(drifts, true, &against::ValueDrift::parts);
  return it == drifts.end() ? nullptr : &*it;
}

Result<bool> RunAgainst(Graph graph, const ReadModel& read, const RunOptions& options,
                        RunReport& report) {
  NN_ASSIGN(const PortArrays given, GivenInputs(graph, read, options));
  NN_ASSIGN(std::vector<Tensor> inputs, CompleteInputs(graph, InputDomains(graph), given, options));
  NN_ASSIGN(OtherModel other, ReadOther(graph, options));
  NN_ASSIGN(std::vector<Tensor> other_inputs, InputsOfOther(graph, other, given, inputs));
  NN_RETURN_IF_ERROR(against::ComputeAlike(graph, other.graph));
  NN_ASSIGN(Stepper model, Stepper::Create(std::move(graph), options.program()));
  auto created = Stepper::Create(std::move(other.graph), options.program());
  if (!created) return tl::unexpected(created.error().In(options.against));
  Stepper there = *std::move(created);
  NN_RETURN_IF_ERROR(model.Start(std::move(inputs)));
  NN_RETURN_IF_ERROR(there.Start(std::move(other_inputs)));
  const auto pairs =
      against::PairValues(model.graph(), there.graph(), other.inputs, other.outputs, {}, FinderOf);
  const auto reference = against::ModelReference(there, pairs);
  AgainstSummary summary = {options.model, options.against, CountValues(model.graph()), {}, 0};
  NN_ASSIGN(summary.drifts, Compare(model, *reference, options));
  summary.peak_bytes = model.peak_bytes() + there.peak_bytes();
  DescribeAgainst(summary, options, report);
  return summary.first() == nullptr;
}

}  // namespace nn::app
