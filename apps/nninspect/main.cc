// nninspect: describes the contents of a model file.
#include "apps/common/command_line.h"
#include "apps/common/model/model.h"
#include "apps/nninspect/git.h"
#include "apps/nninspect/inspection.h"
#include "apps/nninspect/many.h"
#include "apps/nninspect/print/diff.h"
#include "apps/nninspect/print/print.h"
#include "formats/format_options.h"
#include "formats/program_text.h"
#include "inspect/bom.h"
#include "inspect/diff/diff.h"
#include "inspect/page/page.h"
#include "inspect/page/page_notes.h"
#include "inspect/picture/picture.h"
#include "inspect/report/inspection.h"
#include "inspect/report_options.h"

namespace nn::app {
namespace {

void AddOptions(CommandLine& command, InspectOptions& o) {
  CLI::App& app = command.options();
  app.add_option("MODEL", o.model,
                 "Model file; a folder, or a pattern such as \"models/**/*.onnx\": a table of all "
                 "these models")
      ->required();
  auto* other = app.add_option("OTHER", o.other, "With --diff: the model to compare with");
  app.add_option("ARGUMENTS", o.rest)->group("");  // of --git-diff, for Git only
  command.AddDescribed(InspectOptionTable(), &o);
  app.get_option("--diff")->needs(other);
  command.AddDescribed(inspect::ReportPartTable(), static_cast<nnsuite::ReportParts*>(&o));
  command.AddDescribed(inspect::PageReportTable(), &o.reports);
  command.AddDescribed(DumpOptionTable(), &o.dump_options);
  app.get_option("--weights")->needs(app.get_option("--dump"));
  command.AddDescribed(InputShapesTable(), &o.shapes);
  command.AddDescribed(ManyOptionTable(), &o.many);
  command.AddPrinted("--git-setup", GitSetup,
                     "Print a shell script that makes Git compare models with nninspect in this "
                     "repository; to run it: nninspect --git-setup | sh");
}

Status CheckUsage(const InspectOptions& o) {
  if ((o.git_diff || o.git_text) &&
      (o.diff || o.dump || o.mil || o.table() || o.parts() || !o.shapes.empty() ||
       !o.function.empty() || o.format != "text"))
    return UsageError("{} can be combined with --output and limits only",
                      o.git_diff ? "--git-diff" : "--git-text");
  if (!o.git_diff && !o.rest.empty()) return UsageError("unexpected argument {}", o.rest.front());
  if (!o.diff && !o.git_diff && !o.other.empty())
    return UsageError("unexpected argument {}: a second model needs --diff", o.other);
  if (o.diff &&
      (o.table() || o.parts() || (o.format != "text" && o.format != "json" && o.format != "html")))
    return UsageError(
        "--diff supports --format text, json and html, and cannot be combined with other parts of "
        "a "
        "model");
  const int tables = o.table() + o.tensors + o.values + o.cost;
  if (o.format == "csv" && (tables != 1 || !o.node.empty() || o.tree || o.hash))
    return UsageError(
        "--format csv needs exactly one of --nodes, --op, --tensors, --values and --cost");
  if (o.format == "cyclonedx" && (o.table() || o.parts() || !o.shapes.empty()))
    return UsageError(
        "--format cyclonedx describes the whole model as it is, and cannot be combined with shapes "
        "and parts of it");
  if ((o.picture() || o.format == "html") && (o.table() || o.parts()))
    return UsageError("--format {} draws the model and cannot be combined with other parts of it",
                      o.format);
  const bool has_notes =
      !o.reports.findings.empty() || !o.reports.times.empty() || !o.reports.errors.empty();
  if (has_notes && (o.format != "html" || o.diff))
    return UsageError("--findings, --times and --errors need --format html, without --diff");
  if (o.histogram && ((!o.tensors && o.node.empty()) || o.format == "csv"))
    return UsageError("--histogram needs --tensors or --node, and --format text or json");
  if (o.expand && !o.picture()) return UsageError("--expand needs --format svg or dot");
  if (o.hash && !o.shapes.empty())
    return UsageError("--hash cannot be combined with shapes: it describes the model as it is");
  return {};
}

Result<int> Dump(const InspectOptions& o) {
  if (o.table() || o.parts() || o.format != "text" || !o.shapes.empty())
    return UsageError("--dump cannot be combined with options other than --weights and --output");
  NN_ASSIGN(const ReadModel read, ReadModelFile(o.model, o.limits));
  NN_RETURN_IF_ERROR(WriteDumpOf(read, o.output, o.dump_options));
  return kExitDone;
}

Result<int> PrintMil(const InspectOptions& o) {
  if (o.table() || o.parts() || o.diff || o.format != "text" || !o.shapes.empty())
    return UsageError("--mil cannot be combined with options other than --output");
  NN_ASSIGN(const ReadModel read, ReadModelFile(o.model, o.limits));
  auto text = ProgramText(read);
  if (!text) return tl::unexpected(text.error().In(o.model));
  NN_RETURN_IF_ERROR(PrintText(o.output, *text));
  return kExitDone;
}

Result<int> Diff(const InspectOptions& o) {
  inspect::LoadOptions load = LoadOptionsOf(o);
  load.in_full = true;
  NN_ASSIGN(const inspect::LoadedModel a, inspect::Load(o.model, load));
  NN_ASSIGN(const inspect::LoadedModel b, inspect::Load(o.other, load));
  NN_ASSIGN(const inspect::ModelDiff diff, inspect::DiffModels(a, b));
  if (o.format == "html") {
    NN_ASSIGN(const std::string page, inspect::DiffPage(a, b, diff));
    NN_RETURN_IF_ERROR(PrintText(o.output, page));
    return diff.empty() ? kExitDone : kExitCheckFailed;
  }
  NN_RETURN_IF_ERROR(PrintText(o.output, o.format == "json"
                                             ? JsonText(inspect::DiffJson(a, b, diff))
                                             : DiffText(a, b, diff)));
  return diff.empty() ? kExitDone : kExitCheckFailed;
}

Result<int> Draw(const InspectOptions& o) {
  NN_ASSIGN(const inspect::LoadedModel model, inspect::Load(o.model, LoadOptionsOf(o)));
  const bool svg = o.format == "svg";
  NN_ASSIGN(const inspect::Picture picture, inspect::DrawModel(model, svg || o.expand));
  NN_RETURN_IF_ERROR(PrintText(
      o.output, svg ? inspect::PictureSvg(picture, o.expand) : inspect::PictureDot(picture)));
  return kExitDone;
}

Result<int> WritePage(const InspectOptions& o) {
  NN_ASSIGN(const inspect::LoadedModel model, inspect::Load(o.model, LoadOptionsOf(o)));
  NN_ASSIGN(const inspect::PageNotes notes, inspect::ReadNotes(o.reports, model));
  NN_ASSIGN(const std::string page, inspect::ModelPage(model, notes));
  NN_RETURN_IF_ERROR(PrintText(o.output, page));
  return kExitDone;
}

std::string Text(const InspectOptions& o, const Inspection& inspection) {
  if (o.format == "json") return JsonText(inspect::InspectionJson(inspection, o));
  return o.format == "csv" ? InspectionCsv(inspection) : InspectionText(inspection, o);
}

Result<int> Run(const InspectOptions& o) {
  NN_RETURN_IF_ERROR(CheckUsage(o));
  if (o.git_diff) return GitDiff(o);
  if (o.git_text) return GitText(o);
  if (StandsForModels(o.model)) return InspectMany(o);
  if (o.many.jobs)
    return UsageError("--jobs is for folders and patterns, but {} is one model", o.model);
  if (o.dump) return Dump(o);
  if (o.mil) return PrintMil(o);
  if (o.diff) return Diff(o);
  if (o.picture()) return Draw(o);
  if (o.format == "html") return WritePage(o);
  if (o.format == "cyclonedx") {
    inspect::LoadOptions load = LoadOptionsOf(o);
    load.in_full = true;
    NN_ASSIGN(const inspect::LoadedModel model, inspect::Load(o.model, load));
    NN_ASSIGN(const Json bill, inspect::BillOfMaterials(model));
    NN_RETURN_IF_ERROR(PrintText(o.output, JsonText(bill)));
    return kExitDone;
  }
  NN_ASSIGN(const Inspection inspection, Inspect(o));
  NN_RETURN_IF_ERROR(PrintText(o.output, Text(o, inspection)));
  return kExitDone;
}

// Run() with the options, and a JSON report of an error.
Result<int> RunAndReport(CommandLine& command, InspectOptions& o) {
  const Status taken = command.TakeOptions();
  o.limits = command.limits();
  Result<int> code = taken ? Run(o) : tl::unexpected(taken.error());
  if (o.format != "json" || o.output != "-") return code;
  Json report = inspect::ReportHead();
  if (!o.diff) report["path"] = o.model;
  return StateError(std::move(code), std::move(report));
}

}  // namespace
}  // namespace nn::app

int main(int argc, char** argv) {
  nn::app::CommandLine command("nninspect",
                               "Describes the contents of a neural-network model file.");
  nn::app::InspectOptions options;
  nn::app::AddOptions(command, options);
  return command.Run(argc, argv, [&] { return nn::app::RunAndReport(command, options); });
}
