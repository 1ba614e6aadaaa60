// nnrun: runs a model.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include "against/dtype_report.h"
#include "apps/common/command_line.h"
#include "apps/common/progress.h"
#include "apps/nnrun/against/against.h"
#include "apps/nnrun/folder.h"
#include "apps/nnrun/inputs.h"
#include "apps/nnrun/many.h"
#include "apps/nnrun/options.h"
#include "apps/nnrun/results/expected.h"
#include "apps/nnrun/results/outputs.h"
#include "apps/nnrun/results/write_outputs.h"
#include "base/file/file.h"
#include "base/text/text.h"
#include "convert/inputs/input_options.h"
#include "convert/outputs/expect_options.h"
#include "convert/runs/sequence.h"
#include "convert/runs/step_values.h"
#include "convert/runs/test_data.h"
#include "exec/bench.h"
#include "exec/plan_report.h"
#include "exec/program_options.h"
#include "exec/trace_report.h"
#include "formats/format_options.h"
#include "passes/core/ports.h"
#include "passes/facts/input_domains.h"

namespace nn::app {
namespace {

void AddOptions(CommandLine& command, RunOptions& o) {
  command.options().add_option(
      "MODEL", o.model,
      "Model file; a folder, or a pattern such as \"models/**/*.onnx\": all these models, "
      "with --output naming a folder");
  command.AddDescribed(InputOptionTable(), static_cast<nnsuite::InputOptions*>(&o));
  command.AddDescribed(InputShapesTable(), &o.shapes);
  command.AddDescribed(SequenceOptionTable(), &o.sequence);
  command.AddDescribed(ExpectOptionTable(), &o.expected);
  command.AddDescribed(RunOptionTable(), &o);
  command.AddDescribed(ManyOptionTable(), &o.many);
  command.AddDescribed(ProgramOptionTable(), &o.execution);
  command.AddDescribed(BenchOptionTable(), &o.timing);
  command.options().get_option("--profile")->needs(command.options().get_option("--bench"));
  command.AddRunLimits(std::nullopt);
}

// Rejects combinations that make no sense or would mix data on standard output.
Status CheckOptions(const RunOptions& o) {
  if (o.model.empty()) return UsageError("MODEL is required");
  NN_RETURN_IF_ERROR(CheckOutputPath(o));
  const bool prints = o.digest || o.bench || !o.expected.file.empty() || !o.labels.empty();
  if (o.output == "-" && prints)
    return UsageError(
        "--output - cannot be combined with --digest, --bench, --expect or --labels: both write to "
        "standard output");
  if (o.trace == "-" && (prints || o.output == "-"))
    return UsageError(
        "--trace - cannot be combined with --output -, --digest, --bench or --expect: both write "
        "to standard output");
  const bool compares = !o.against.empty() || !o.search_dtype.empty();
  if (compares && (prints || !o.output.empty() || o.saves_values() || !o.test_data.empty() ||
                   !o.trace.empty() || o.explain_plan || o.sequence.is_set()))
    return UsageError(
        "--against and --search-dtype cannot be combined with --steps, --carry, --state, "
        "--test-data, --explain-plan and options for other results");
  if (!o.search_dtype.empty() && !o.expected.rtol)
    return UsageError("--search-dtype needs --rtol, the tolerance that the outputs must hold");
  if (!o.write_repro.empty() && o.format == "html")
    return UsageError("--write-repro cannot be combined with --format html");
  if (o.format == "html" && o.against.empty()) return UsageError("--format html needs --against");
  if (o.explain_plan &&
      (prints || !o.output.empty() || o.saves_values() || !o.test_data.empty() || !o.trace.empty()))
    return UsageError(
        "--explain-plan cannot be combined with options for results: it runs nothing");
  if (o.execution.backend == Backend::kReference && (o.explain_plan || !o.trace.empty()))
    return UsageError("the reference backend has no plan to explain or trace");
  if (!o.test_data.empty()) {
    if (prints || !o.output.empty() || o.saves_values() || !o.trace.empty())
      return UsageError("--test-data cannot be combined with options for other results");
    if (!o.inputs_file.empty() || !o.inputs.empty() || o.arrays.cast || o.arrays.reshape)
      return UsageError("--test-data cannot be combined with options for inputs: it has its own");
  }
  if (o.runs_folder() && (o.sequence.is_set() || o.bench || o.explain_plan || !o.trace.empty() ||
                          o.saves_values() || !o.expected.file.empty()))
    return UsageError(
        "--inputs with a folder can be combined with --output, --labels and --digest only, of the "
        "options for results");
  if (o.sequence.is_set() &&
      (o.bench || o.explain_plan || !o.trace.empty() || o.saves_values() || !o.test_data.empty()))
    return UsageError(
        "--steps, --carry and --state cannot be combined with --bench, --explain-plan, --trace, "
        "--save-steps, --save-inputs or --test-data");
  if (o.bench && !o.save_steps.empty())
    return UsageError("--bench cannot be combined with --save-steps: it would time the copies");
  return {};
}

Status ExplainPlan(Graph& graph, const ReadModel& read, const RunOptions& o, RunReport& report) {
  NN_RETURN_IF_ERROR(GivenInputs(graph, read, o));
  NN_ASSIGN(const Program program, Program::Compile(graph, o.program()));
  report.text += PlanText(program);
  report.json.update(PlanJson(program));
  return {};
}

// Shows the progress of an activity.
std::function<Status(uint64_t done, uint64_t total)> Showing(std::string activity) {
  return [progress = std::make_shared<std::optional<Progress>>(), activity](
             uint64_t done, uint64_t total) -> Status {
    if (!*progress) progress->emplace(activity, total);
    (*progress)->Update(done);
    return {};
  };
}

Status RunBench(const Program& program, std::span<const Tensor> inputs, const BenchOptions& options,
                RunReport& report) {
  NN_ASSIGN(const Measurement measured, MeasureLatency(program, inputs, options, Showing("runs")));
  report.text += MeasurementText(program, options, measured);
  report.json.update(MeasurementJson(program, options, measured));
  return {};
}

// Runs once and reports the requested results; false if the outputs differ from the expected ones.
Result<bool> RunModel(Graph graph, ReadModel read, const RunOptions& o, RunReport& report) {
  NN_ASSIGN(PortArrays given, GivenInputs(graph, read, o));
  read.model.reset();
  const auto classes = read.format->importer.ClassesOf(graph);
  const size_t own_outputs = graph.outputs().size();
  const std::vector<Domain> domains = InputDomains(graph);
  std::optional<Graph> stepwise;  // with the operators that name the steps
  if (!o.save_steps.empty()) {
    ExposeSteps(graph);
    stepwise = graph.Clone();
  }
  NN_ASSIGN(const Program program, Program::Compile(std::move(graph), o.program()));
  if (!o.trace.empty())
    if (const Status has = RequirePlan(program); !has)
      return tl::unexpected(has.error().In("--trace"));
  // Only after the limits of the run are checked.
  NN_ASSIGN(const std::vector<Tensor> inputs,
            CompleteInputs(program.graph(), domains, std::move(given), o));
  if (!o.save_inputs.empty()) NN_RETURN_IF_ERROR(SaveInputs(o, inputs));
  RunTrace trace;
  const RunRecord record = {.trace = o.trace.empty() ? nullptr : &trace};
  NN_ASSIGN(std::vector<Tensor> results, program.Run(inputs, o.bench ? RunRecord() : record));
  if (stepwise)
    NN_RETURN_IF_ERROR(
        SaveSteps(o.save_steps, *stepwise, own_outputs, inputs, results, Showing("saving values")));
  results.resize(own_outputs);
  std::vector<NamedTensor> outputs = NameOutputs(program.graph(), std::move(results));
  if (o.digest) DigestOutputs(outputs, report);
  if (classes) std::ranges::move(ClassOutputs(*classes, outputs), std::back_inserter(outputs));

  bool passed = true;
  if (!o.output.empty()) NN_RETURN_IF_ERROR(WriteOutputs(o.output, outputs, own_outputs));
  if (!o.labels.empty())
    NN_RETURN_IF_ERROR(DescribeScores(program.graph(), o.labels, outputs, report));
  if (!o.expected.file.empty()) {
    NN_ASSIGN(passed, CompareWithFile(program.graph(), outputs, o, report));
  }
  if (o.bench) NN_RETURN_IF_ERROR(RunBench(program, inputs, o.timing, report));
  if (!o.trace.empty()) {
    if (o.bench) NN_RETURN_IF_ERROR(program.Run(inputs, record));  // after the warm-up
    NN_RETURN_IF_ERROR(WriteFile(o.trace, TraceText(program, trace, o.model)));
  }
  if (o.output.empty() && o.expected.file.empty() && o.save_steps.empty() && !o.digest &&
      !o.bench && o.labels.empty())
    DescribeOutputs(outputs, report);
  return passed;
}

// Runs step by step and reports like RunModel().
Result<bool> RunSteps(ImportedModel model, const ReadModel& read, const RunOptions& o,
                      RunReport& report) {
  const SequenceHooks hooks = {
      .batch = SayBatch,
      .complete = [&o](const Graph& graph, std::span<const Domain> domains, PortArrays given) {
        return CompleteInputs(graph, domains, std::move(given), o);
      }};
  NN_ASSIGN(const SequenceResult result,
            RunSequence(std::move(model), read, o, o.sequence, o.program(), hooks));
  for (const std::string& note : result.notes) spdlog::warn("{}", note);
  const std::vector<NamedTensor>& outputs = result.outputs;
  if (o.digest) DigestOutputs(outputs, report);
  if (!o.output.empty()) NN_RETURN_IF_ERROR(WriteOutputs(o.output, outputs, outputs.size()));
  if (o.output.empty() && o.expected.file.empty() && !o.digest) DescribeOutputs(outputs, report);
  if (o.expected.file.empty()) return true;
  return CompareWithFile(result.graph, outputs, o, report);
}

// False if outputs differ from those of the test data.
Result<bool> ReportTestData(const ReadModel& read, const InputImporter& import, const RunOptions& o,
                            RunReport& report) {
  NN_ASSIGN(std::vector<TestedSet> sets,
            RunTestData(read, import, o.test_data, {o.expected.atol, o.expected.rtol}, o.program(),
                        Showing("test sets")));
  report.text += TestDataText(sets);
  const bool passed = AllPassed(sets);
  report.json.update(TestDataJson(sets));
  return passed;
}

Status ReportDtypeSearch(Graph graph, const ReadModel& read, const RunOptions& o,
                         RunReport& report) {
  NN_ASSIGN(const PortArrays given, GivenInputs(graph, read, o));
  NN_ASSIGN(const std::vector<Tensor> inputs, CompleteInputs(graph, InputDomains(graph), given, o));
  const against::DtypeSearchOptions options = {
      .dtype = o.search_dtype == "f16" ? nnsuite::NarrowFloat::kF16 : nnsuite::NarrowFloat::kBf16,
      .atol = o.expected.atol,
      .rtol = o.expected.rtol};
  NN_ASSIGN(against::DtypeReport found,
            against::SearchByTolerance(std::move(graph), inputs, options, o.program()));
  report.text += against::DtypeReportText(options, found);
  report.json.update(against::DtypeReportJson(options, found));
  return {};
}

// Whether standard output does not have the outputs or the trace.
bool PrintsReport(const RunOptions& o) {
  return o.output != "-" && o.trace != "-";
}

// Says once what the import did not take as the file states it.
void ReportNotes(const std::vector<std::string>& notes, RunReport& report) {
  if (notes.empty() || report.json.contains("notes")) return;
  for (const std::string& note : notes) spdlog::warn("{}", note);
  report.json["notes"] = notes;
}

// Runs the model as the options say; false if a check failed.
Result<bool> RunToReport(RunOptions o, RunReport& report) {
  NN_ASSIGN(ReadModel read, ReadModelFile(o.model, o.limits));
  NN_ASSIGN(read, WithFunction(std::move(read), o.function));
  const auto import = [&](const InputSettings& known) -> Result<ImportedModel> {
    InputSettings settings = KnownWith(known, o.shapes);
    if (o.sequence.is_set()) settings.states = StatePorts::kAll;
    NN_ASSIGN(ImportedModel imported, ImportModel(read, o.model, settings));
    ReportNotes(imported.notes, report);
    NN_RETURN_IF_ERROR(BindSetShapes(imported.graph, read, o));
    return imported;
  };
  bool passed = true;
  if (!o.test_data.empty()) {
    NN_ASSIGN(passed, ReportTestData(read, import, o, report));
  } else {
    NN_ASSIGN(ImportedModel imported, ImportForInputs(read, import, o));
    // It is needed only to import it again.
    if (!read.format->importer.TakesOtherRanks()) read.model.reset();
    if (o.sequence.is_set()) {
      NN_ASSIGN(passed, RunSteps(std::move(imported), read, o, report));
    } else if (o.runs_folder()) {
      NN_ASSIGN(const std::vector<NamedTensor> outputs, RunFolder(imported.graph, read, o, report));
      if (!o.output.empty()) NN_RETURN_IF_ERROR(WriteOutputs(o.output, outputs, outputs.size()));
    } else if (!o.against.empty()) {
      NN_ASSIGN(passed, RunAgainst(std::move(imported.graph), read, o, report));
    } else if (!o.search_dtype.empty()) {
      NN_RETURN_IF_ERROR(ReportDtypeSearch(std::move(imported.graph), read, o, report));
    } else if (o.explain_plan) {
      NN_RETURN_IF_ERROR(ExplainPlan(imported.graph, read, o, report));
    } else {
      NN_ASSIGN(passed, RunModel(std::move(imported.graph), std::move(read), o, report));
    }
  }
  return passed;
}

Result<int> Run(const RunOptions& o) {
  if (o.list_targets) {
    std::string text;
    for (const std::string& name : SimdTargets()) text += name + "\n";
    NN_RETURN_IF_ERROR(WriteFile("-", text));
    return kExitDone;
  }
  if (StandsForModels(o.model)) {
    NN_RETURN_IF_ERROR(UseSimdTarget(o.target));
    return RunManyModels(o, RunToReport);
  }
  if (o.many.jobs || o.resume)
    return UsageError("{} is for folders and patterns, but {} is one model",
                      o.resume ? "--resume" : "--jobs", o.model);
  NN_RETURN_IF_ERROR(CheckOptions(o));
  NN_RETURN_IF_ERROR(UseSimdTarget(o.target));
  RunReport report;
  report.json["version"] = 1;
  report.json["model"] = o.model;
  NN_ASSIGN(const bool passed, RunToReport(o, report));
  if (PrintsReport(o))
    NN_RETURN_IF_ERROR(PrintText("-", o.format == "json" ? JsonText(report.json) : report.text));
  return passed ? kExitDone : kExitCheckFailed;
}

// Run() with the options, and a JSON report of an error.
Result<int> RunAndReport(CommandLine& command, RunOptions& o) {
  const Status taken = command.TakeOptions();
  o.limits = o.expected.limits = command.limits();
  o.execution.limits = command.run_limits();
  o.images.max_work = o.execution.limits.max_work;
  o.may_lack = o.sequence.is_set();  // states begin with zeros
  Result<int> code = taken ? Run(o) : tl::unexpected(taken.error());
  if (o.format != "json" || !PrintsReport(o)) return code;
  return StateError(std::move(code), {{"version", 1}, {"model", o.model}});
}

}  // namespace
}  // namespace nn::app

int main(int argc, char** argv) {
  nn::app::CommandLine command(
      "nnrun", "Runs a neural-network model on the CPU, with the same bits on every processor.");
  nn::app::RunOptions options;
  nn::app::AddOptions(command, options);
  return command.Run(argc, argv, [&] { return nn::app::RunAndReport(command, options); });
}
