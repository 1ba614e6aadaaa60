#include "apps/nnconvert/folder.h"

#include <spdlog/spdlog.h>

#include <string>
#include <vector>

#include "apps/common/progress.h"
#include "apps/nnconvert/one_model.h"
#include "apps/nnconvert/quantize_options.h"
#include "base/file/model_files.h"
#include "exec/run_limits.h"
#include "folder/folder.h"

namespace nn::app {
namespace {

// What applies to one model only; "" if nothing does.
std::string OptionOfOneModel(const ConvertArguments& o) {
  if (o.output == "-") return "standard output";
  if (o.format == "all" || o.format == "json") return "--to all or json";
  if (TakesSampleFiles(o)) return "--calibrate with files";
  if (o.dump.weights != DumpOptions().weights) return "--weights";
  const std::vector<std::string> options = OptionsWith(kOneModel, o);
  return options.empty() ? "" : options.front();
}

Status CheckFolderUsage(const ConvertArguments& o) {
  if (const std::string option = OptionOfOneModel(o); !option.empty())
    return UsageError("{} matches several models, but {} is for one model", o.input, option);
  if (o.format.empty())
    return UsageError("{} matches several models, which requires --to", o.input);
  return {};
}

// The options on which the written files, or their verification, depend.
Result<Json> KeyOf(const ConvertArguments& o) {
  Json key = DecidingOptions(o);
  if (o.folder.edits.patch.empty()) return key;
  NN_ASSIGN(const std::vector<FileDigest> patch, DigestModel(o.folder.edits.patch));
  key["--compose-json"] = FilesJson(patch);
  return key;
}

}  // namespace

Result<FolderReport> ConvertFolder(const ConvertArguments& arguments, ReportFile& report_file) {
  NN_RETURN_IF_ERROR(CheckFolderUsage(arguments));
  FolderJob job = {arguments.input, arguments.output};
  NN_ASSIGN(job.format, TargetFormat(arguments));
  NN_ASSIGN(job.key, KeyOf(arguments));
  job.jobs = arguments.folder.jobs;
  job.force = arguments.folder.force;
  job.dry_run = arguments.dry_run;
  ConvertArguments each = arguments;
  each.messages = false;
  each.digests = true;
  job.begin = [&](size_t jobs) {
    ShareAmong(jobs, each.verification.limits, each.verification.threads);
    return report_file.Open();
  };
  job.convert = [&](const PlannedModel& model, const FolderTick&, ConvertReport& report) {
    ConvertArguments one = each;
    one.input = model.input;
    one.output = model.output;
    return ConvertOne(one, job.format, report);
  };
  ShownProgress shown(true);
  job.progress = [&](uint64_t done, uint64_t total) {
    shown.Update("models", Progress::Unit::kCount, done, total);
    return Status();
  };
  job.warn = [](const std::string& what) { spdlog::warn("{}", what); };
  return nn::ConvertFolder(job);
}

}  // namespace nn::app
