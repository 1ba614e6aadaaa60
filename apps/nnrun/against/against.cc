#include "apps/nnrun/against/against.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "apps/common/progress.h"
#include "apps/nnrun/against/inputs.h"
#include "apps/nnrun/against/record.h"
#include "apps/nnrun/against/report.h"
#include "apps/nnrun/against/repro.h"
#include "apps/nnrun/inputs.h"
#include "apps/nnrun/options.h"
#include "base/text/text.h"
#include "exec/stepper.h"
#include "passes/facts/input_domains.h"

namespace nn::app {
namespace {

constexpr double kAtol = 1e-6;
constexpr double kRtol = 1e-5;

Status Compare(Stepper& model, const std::vector<Tensor>& inputs, against::Reference& reference,
               const RunOptions& options, AgainstSummary& out) {
  const size_t count = reference.counterparts().size();
  if (count == 0)
    return UsageError("{}: no value of the model has a counterpart, so nothing can be compared",
                      options.against);
  Progress progress("values", count);
  against::DriftOptions o;
  o.atol = options.expected.atol.value_or(kAtol);
  o.rtol = options.expected.rtol.value_or(kRtol);
  o.progress = [&] { progress.Step(); };
  out.values = against::ComparedValues(model.graph()).size();
  NN_ASSIGN(out.drifts, against::CompareValues(model, inputs, reference, o));
  out.peak_bytes = model.peak_bytes();
  for (const Port& p : model.graph().outputs())
    if (std::ranges::find(out.drifts, p.value, &against::ValueDrift::value) == out.drifts.end())
      out.outputs.push_back(p.name);
  return {};
}

// --write-repro for the first value that parts, if there is one.
Status WriteFirst(Stepper& model, std::vector<Tensor> inputs, against::Reference& reference,
                  const AgainstSummary& summary, const RunOptions& options, RunReport& report) {
  const against::ValueDrift* const first = summary.first();
  if (first == nullptr || options.write_repro.empty()) return {};
  // Nothing was kept of the runs before.
  NN_RETURN_IF_ERROR(model.Start(std::move(inputs)));
  const against::CounterpartId pair = {first->value, first->other.id, first->other.by};
  NN_ASSIGN(const auto other, reference.With(std::span(&pair, 1)));
  NN_ASSIGN(const Tensor want, other->Take(0));
  return WriteRepro(model, *first, want, summary, options.write_repro, report);
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
  const auto pairs =
      against::PairValues(model.graph(), there.graph(), other.inputs, other.outputs, FindNames);
  NN_ASSIGN(const auto reference, against::ModelReference(there, other_inputs, pairs));
  NN_RETURN_IF_ERROR(Compare(model, inputs, *reference, options, out));
  out.peak_bytes += there.peak_bytes();
  DescribeAgainst(out, options, report);
  return WriteFirst(model, std::move(inputs), *reference, out, options, report);
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
  const auto reference = ReferenceOf(record, model.graph());
  NN_RETURN_IF_ERROR(Compare(model, inputs, *reference, options, out));
  std::set<size_t> compared;
  for (const against::ValueDrift& d : out.drifts) compared.insert(d.other.id);
  out.recorded = record.values.size() - compared.size();
  DescribeAgainst(out, options, report);
  return WriteFirst(model, std::move(inputs), *reference, out, options, report);
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
