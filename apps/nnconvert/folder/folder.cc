#include "apps/nnconvert/folder/folder.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/common/model/many.h"
#include "apps/common/model/model_list.h"
#include "apps/common/progress.h"
#include "apps/nnconvert/folder/folder_plan.h"
#include "apps/nnconvert/folder/folder_state.h"
#include "apps/nnconvert/one_model.h"
#include "apps/nnconvert/quantize_options.h"
#include "base/text/text.h"
#include "base/thread_pool.h"
#include "formats/recognize.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

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
  std::error_code error;
  if (!o.output.empty() && fs::exists(o.output, error) && !fs::is_directory(o.output, error))
    return UsageError("{} must be a folder, because {} is one", o.output, o.input);
  return {};
}

// The options on which the written files, or their verification, depend.
Result<Json> KeyOf(const ConvertArguments& o) {
  Json key = DecidingOptions(o);
  if (o.patch.empty()) return key;
  NN_ASSIGN(const std::vector<FileDigest> patch, DigestModel(o.patch));
  key["--compose-json"] = FilesJson(patch);
  return key;
}

// The folders of the outputs. The destructor removes those that it made and that stayed empty.
class OutputFolders {
 public:
  OutputFolders() = default;
  OutputFolders(const OutputFolders&) = delete;
  OutputFolders& operator=(const OutputFolders&) = delete;
  ~OutputFolders() {
    std::error_code ignored;
    for (auto it = made_.rbegin(); it != made_.rend(); ++it) fs::remove(*it, ignored);
  }

  Status Make(const fs::path& folder) {
    std::error_code error;
    if (folder.empty() || fs::is_directory(folder, error)) return {};
    NN_RETURN_IF_ERROR(Make(folder.parent_path()));
    fs::create_directory(folder, error);
    if (error) return IoError("{}: {}", folder.string(), error.message());
    made_.push_back(folder);
    return {};
  }

 private:
  std::vector<fs::path> made_;
};

// The digests of the files named in `files`; those of a folder if the model is one.
Result<std::vector<FileDigest>> DigestAgain(const std::string& path,
                                            const std::vector<FileDigest>& files) {
  std::error_code error;
  if (fs::is_directory(path, error)) return DigestModel(path);
  std::vector<std::string> beside;
  for (size_t i = 1; i < files.size(); ++i) beside.push_back(files[i].name);
  return DigestModel(path, beside);
}

bool IsSame(const std::string& path, const std::vector<FileDigest>& files) {
  const auto now = DigestAgain(path, files);
  return now && !now->empty() && *now == files;
}

uint64_t BytesOf(const std::vector<FileDigest>& files) {
  uint64_t bytes = 0;
  for (const FileDigest& f : files) bytes += f.bytes;
  return bytes;
}

// The conversions of the planned models.
class FolderRun {
 public:
  FolderRun(const ConvertArguments& o, const Format& format, const FolderPlan& plan,
            FolderState& state)
      : options_(o), format_(format), plan_(plan), state_(state), reports_(plan.models.size()) {
    jobs_ = JobsOf({o.jobs}, plan.models.size());
    options_.messages = false;
    options_.digests = true;
    ShareAmong(jobs_, options_.verification.limits, options_.verification.threads);
  }

  std::vector<ConvertReport> Run() {
    progress_.emplace("models", plan_.models.size());
    ThreadPool(jobs_).ParallelFor(plan_.models.size(), [this](size_t i) {
      reports_[i] = ReportOf(plan_.models[i]);
      Finish(plan_.models[i], reports_[i]);
    });
    progress_.reset();
    return std::move(reports_);
  }

 private:
  ConvertReport ReportOf(const PlannedModel& model) const {
    ConvertReport report;
    report.output_format = format_.label;
    if (!options_.force && IsUnchanged(model, report)) return report;
    const Status done = Convert(model, report);
    if (!done) report.error = done.error();
    return report;
  }

  Status Convert(const PlannedModel& model, ConvertReport& report) const {
    ConvertArguments o = options_;
    o.input = model.input;
    o.output = model.output;
    try {
      return ConvertOne(o, &format_, report);
    } catch (const std::bad_alloc&) {
      return LimitError("{}: out of memory (see max-memory and --jobs)", model.input);
    } catch (const std::exception& e) {
      return InternalError("{}: {}", model.input, e.what());
    }
  }

  // Whether an earlier run converted the model and its files are the same since. Fills in the
  // report if so.
  bool IsUnchanged(const PlannedModel& model, ConvertReport& report) const {
    std::optional<ConvertedModel> before;
    {
      const std::lock_guard lock(mutex_);
      if (const ConvertedModel* found = state_.Find(model.name)) before = *found;
    }
    if (!before || model.output.empty() || !IsSame(model.input, before->source) ||
        !IsSame(model.output, before->written))
      return false;
    report.input = model.input;
    report.input_format = before->format;
    report.output = model.output;
    report.dry_run = options_.dry_run;
    report.unchanged = true;
    report.bytes = BytesOf(before->written);
    report.input_files = std::move(before->source);
    report.output_files = std::move(before->written);
    return true;
  }

  // Notes what was done, so that a run that is ended early can be resumed.
  void Finish(const PlannedModel& model, const ConvertReport& report) {
    const std::lock_guard lock(mutex_);
    progress_->Step();
    if (options_.dry_run || report.unchanged) return;
    if (report.written && !report.error)
      state_.Set(model.name, {report.input_format, report.input_files, report.output_files});
    else
      state_.Erase(model.name);
    const auto now = std::chrono::steady_clock::now();
    if (now - saved_ < std::chrono::seconds(1)) return;
    saved_ = now;
    [[maybe_unused]] const Status saved = state_.Write();  // written again at the end
  }

  ConvertArguments options_;
  const Format& format_;
  const FolderPlan& plan_;
  FolderState& state_;
  size_t jobs_ = 1;
  std::vector<ConvertReport> reports_;
  std::optional<Progress> progress_;
  std::chrono::steady_clock::time_point saved_{};
  mutable std::mutex mutex_;  // of state_, progress_, saved_
};

}  // namespace

bool IsFolderOfModels(const std::string& path) {
  if (IsPattern(path)) return true;
  std::error_code error;
  return path != "-" && fs::is_directory(path, error) && !IsModel(path) &&
         KnownNonModelFolder(path).empty();
}

Result<FolderReport> ConvertFolder(const ConvertArguments& o, ReportFile& report_file) {
  NN_RETURN_IF_ERROR(CheckFolderUsage(o));
  NN_ASSIGN(const Format* const format, TargetFormat(o));
  NN_ASSIGN(FolderPlan plan, PlanFolder(o.input, o.output, *format));
  NN_ASSIGN(Json key, KeyOf(o));
  FolderState state = FolderState::Read(o.output, std::move(key));
  std::set<std::string> names;
  for (const PlannedModel& m : plan.models) names.insert(m.name);
  state.Keep([&](const std::string& name) { return names.contains(name); });
  OutputFolders folders;
  if (!o.dry_run)
    for (const PlannedModel& m : plan.models)
      NN_RETURN_IF_ERROR(folders.Make(fs::path(m.output).parent_path()));
  NN_RETURN_IF_ERROR(report_file.Open());
  FolderReport report;
  report.input = o.input;
  report.output = o.output;
  report.output_format = format->label;
  report.dry_run = o.dry_run;
  report.models = FolderRun(o, *format, plan, state).Run();
  report.skipped = plan.skipped;
  if (!o.dry_run) NN_RETURN_IF_ERROR(state.Write());
  return report;
}

}  // namespace nn::app
