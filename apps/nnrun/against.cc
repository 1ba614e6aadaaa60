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

Status Compare(Stepper& model, against::Reference& reference, const RunOptions& options,
               AgainstSummary& out) {
  const size_t count = reference.counterparts().size();
  if (count == 0)
    return UsageError("{}: no value of the model has a counterpart, so nothing can be compared",
                      options.against);
  Progress progress("values", count);
  against::DriftOptions o;
  o.atol = options.atol.value_or(kAtol);
  o.rtol = options.rtol.value_or(kRtol);
  o.progress = [&] { progress.Step(); };
  out.values = against::ComparedValues(model.graph()).size();
  NN_ASSIGN(out.drifts, against::CompareValues(model, reference, o));
  out.peak_bytes = model.peak_bytes();
  for (const Port& p : model.graph().outputs())
    if (std::ranges::find(out.drifts, p.value, &against::ValueDrift::value) == out.drifts.end())
      out.outputs.push_back(p.name);
  return {};
}

Status CompareWithModel(Graph graph, const ReadModel& read, const RunOptions& options,
                        AgainstSummary& out, RunReport& report) {
  NN_ASSIGN(const PortArrays given, GivenInputs(graph, read, options));
  NN_ASSIGN(std::vector<Tensor> inputs, CompleteInputs(graph, InputDomains(graph), given, options));
  NN_ASSIGN(OtherModel other, ReadOther(graph, options));
  NN_ASSIGN(const std::vector<Tensor> other_inputs, InputsOfOther(graph, other, given, inputs));
  NN_RETURN_IF_ERROR(against::ComputeAlike(graph, other.graph));
  NN_ASSIGN(Stepper model, Stepper::Create(std::move(graph), options.program()));
  auto created = Stepper::Create(std::move(other.graph), options.program());
  if (!created) return tl::unexpected(created.error().In(options.against));
  Stepper there = *std::move(created);
  NN_RETURN_IF_ERROR(model.Start(inputs));
  NN_RETURN_IF_ERROR(there.Start(other_inputs));
  const auto pairs =
      against::PairValues(model.graph(), there.graph(), other.inputs, other.outputs, FindNames);
  const auto reference = against::ModelReference(there, pairs);
  NN_RETURN_IF_ERROR(Compare(model, *reference, options, out));
  out.peak_bytes += there.peak_bytes();
  DescribeAgainst(out, options, report);
  const against::ValueDrift* const first = out.first();
  if (first == nullptr || options.write_repro.empty()) return {};
  // Nothing was kept of the first run.
  NN_RETURN_IF_ERROR(model.Start(std::move(inputs)));
  NN_RETURN_IF_ERROR(there.Start(other_inputs));
  const size_t place = static_cast<size_t>(first - out.drifts.data());
  NN_ASSIGN(const Tensor want,
            against::ModelReference(there, std::span(pairs).subspan(place, 1))->Take(0));
  return WriteRepro(model, *first, want, out, options.write_repro, report);
}

Status CompareWithRecord(Graph graph, const ReadModel& read, const RunOptions& options,
                         AgainstSummary& out, RunReport& report) {
  NN_ASSIGN(const Record record, ReadRecord(options.against, graph, options.limits));
  NN_ASSIGN(PortArrays arrays, ReadGiven(graph, options));
  for (size_t i = 0; i < arrays.size(); ++i)
    if (!arrays[i]) arrays[i] = record.inputs[i];
  NN_ASSIGN(const PortArrays given, BindGiven(graph, read, options, arrays));
  NN_ASSIGN(std::vector<Tensor> inputs, CompleteInputs(graph, InputDomains(graph), given, options));
  NN_ASSIGN(Stepper model, Stepper::Create(std::move(graph), options.program()));
  NN_RETURN_IF_ERROR(model.Start(inputs));
  const auto reference = ReferenceOf(record, model.graph());
  NN_RETURN_IF_ERROR(Compare(model, *reference, options, out));
  out.recorded = record.values.size() - reference->counterparts().size();
  DescribeAgainst(out, options, report);
  const against::ValueDrift* const first = out.first();
  if (first == nullptr || options.write_repro.empty()) return {};
  NN_RETURN_IF_ERROR(model.Start(std::move(inputs)));
  NN_ASSIGN(const Tensor want, reference->Take(static_cast<size_t>(first - out.drifts.data())));
  return WriteRepro(model, *first, want, out, options.write_repro, report);
}

}  // namespace

const against::ValueDrift* AgainstSummary::first() const {
  const auto it = std::ranges::find(drifts, true, &against::ValueDrift::parts);
  return it == drifts.end() ? nullptr : &*it;
}

against::FindName FindNames(const std::vector<std::string>& names) {
  return [finder = PortFinder(names, {})](std::string_view name) {
    return finder.Find(name).value_or(std::nullopt);
  };
}

Result<bool> RunAgainst(Graph graph, const ReadModel& read, const RunOptions& options,
                        RunReport& report) {
  AgainstSummary summary;
  summary.model = options.model;
  summary.other = options.against;
  NN_RETURN_IF_ERROR(IsRecord(options.against)
                         ? CompareWithRecord(std::move(graph), read, options, summary, report)
                         : CompareWithModel(std::move(graph), read, options, summary, report));
  return summary.first() == nullptr;
}

}  // namespace nn::app
