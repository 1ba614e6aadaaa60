#include "nnsuite/folder.h"

#include <string_view>
#include <utility>

#include "api/convert.h"
#include "api/option_json.h"
#include "base/file/model_files.h"
#include "base/json/json.h"
#include "convert/convert_options.h"
#include "edit/edit_options.h"
#include "exec/run_limits.h"
#include "folder/convert_one.h"
#include "folder/folder.h"

namespace nnsuite {
namespace {

// What decides what is written, or how it is verified, in the form of nnconvert.
Result<nn::Json> KeyOf(const ConvertOptions& options, const EditOptions& edits) {
  nn::Json key = nn::api::DecidingOptions(options);
  nn::api::AddDeciding(nn::edit::EditOptionTable(), edits, key);
  if (edits.patch.empty()) return key;
  NN_ASSIGN(const std::vector<nn::FileDigest> patch, nn::DigestModel(edits.patch));
  key["--compose-json"] = nn::FilesJson(patch);
  return key;
}

Status CheckFolderUsage(const std::string& input, const ConvertOptions& o) {
  const nn::OptionField* const option = nn::FirstOptionWith(nn::kOneModel, o);
  const std::string_view one = option != nullptr                ? option->name
                               : !o.fixed_inputs.empty()        ? "fix-input"
                               : !o.verification.inputs.empty() ? "inputs of the verification"
                               : o.quantize && !o.quantize->samples.empty()
                                   ? "samples of a quantization"
                                   : "";
  if (!one.empty()) return nn::UsageError("{}: {} is for one model", input, one);
  if (o.format.empty())
    return nn::UsageError("{}: the models of a folder need a format to write", input);
  return {};
}

FolderModel Wrap(nn::ConvertReport report) {
  FolderModel out = {report.input, report.output,
                     std::string(nn::OutcomeName(nn::OutcomeOf(report))), report.error};
  if (!report.error && !report.unchanged)
    out.conversion = nn::api::WrapConversion(std::move(report));
  return out;
}

}  // namespace

Result<FolderConversion> ConvertFolder(const std::string& input, const std::string& output,
                                       const ConvertOptions& options, const FolderOptions& folder) {
  NN_RETURN_IF_ERROR(CheckFolderUsage(input, options));
  if (output.empty() && !options.dry_run)
    return nn::UsageError("a folder to write is required, unless it is a dry run");
  nn::FolderJob job = {input, output};
  NN_ASSIGN(job.format, nn::api::FormatNamed(options.format));
  NN_RETURN_IF_ERROR(nn::CheckConvertOptions(options, *job.format));
  NN_ASSIGN(job.key, KeyOf(options, folder.edits));
  job.jobs = folder.jobs;
  job.force = folder.force;
  job.dry_run = options.dry_run;
  nn::FileJob each = {options, {}, {}, folder.edits, job.format, true};
  job.begin = [&](size_t jobs) {
    nn::ShareAmong(jobs, each.options.verification.limits, each.options.verification.threads);
    return Status();
  };
  job.convert = [&](const nn::PlannedModel& model, const nn::FolderTick& tick,
                    nn::ConvertReport& report) {
    nn::FileJob one = each;
    one.input = model.input;
    one.output = model.output;
    one.hooks = [&](const nn::Format&) {
      nn::ConvertHooks hooks;
      hooks.verify.progress = [&](uint64_t, uint64_t) { return tick(); };
      hooks.write_progress = hooks.verify.progress;
      return hooks;
    };
    return nn::ConvertOne(one, report);
  };
  job.progress = nn::api::Reporting(options.progress, "models", "conversion");
  NN_ASSIGN(nn::FolderReport report, nn::ConvertFolder(job));
  FolderConversion out;
  out.skipped_files = report.skipped;
  out.report = nn::JsonText(nn::ReportJson(report));
  out.exit_code = nn::ReportCode(report);
  for (nn::ConvertReport& model : report.models) out.models.push_back(Wrap(std::move(model)));
  return out;
}

}  // namespace nnsuite
