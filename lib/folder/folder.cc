#include "folder/folder.h"

#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "exec/run_limits.h"
#include "folder/state.h"
#include "formats/model_list.h"
#include "formats/recognize.h"

namespace nn {
namespace {

namespace fs = std::filesystem;

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
  FolderRun(const FolderJob& job, size_t jobs, const FolderPlan& plan, FolderState& state)
      : job_(job), jobs_(jobs), plan_(plan), state_(state), reports_(plan.models.size()) {}

  Result<std::vector<ConvertReport>> Run() {
    NN_RETURN_IF_ERROR(Tick());
    ThreadPool(jobs_).ParallelFor(plan_.models.size(), [this](size_t i) {
      if (IsEnded()) return;
      reports_[i] = ReportOf(plan_.models[i]);
      if (reports_[i].error && IsEnded()) return;
      Finish(plan_.models[i], reports_[i]);
    });
    if (!ended_) return tl::unexpected(ended_.error());
    return std::move(reports_);
  }

 private:
  bool IsEnded() const {
    const std::lock_guard lock(mutex_);
    return !ended_;
  }

  Status Tick() const {
    const std::lock_guard lock(mutex_);
    if (ended_ && job_.progress) ended_ = job_.progress(done_, plan_.models.size());
    return ended_;
  }

  ConvertReport ReportOf(const PlannedModel& model) const {
    ConvertReport report;
    report.output_format = job_.format->label;
    if (!job_.force && IsUnchanged(model, report)) return report;
    const Status done = Convert(model, report);
    if (!done) report.error = done.error();
    return report;
  }

  Status Convert(const PlannedModel& model, ConvertReport& report) const {
    try {
      return job_.convert(
          model, [this] { return Tick(); }, report);
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
    report.dry_run = job_.dry_run;
    report.unchanged = true;
    report.bytes = BytesOf(before->written);
    report.input_files = std::move(before->source);
    report.output_files = std::move(before->written);
    return true;
  }

  // Notes what was done, so that a run that is ended early can be resumed.
  void Finish(const PlannedModel& model, const ConvertReport& report) {
    const std::lock_guard lock(mutex_);
    ++done_;
    if (ended_ && job_.progress) ended_ = job_.progress(done_, plan_.models.size());
    if (job_.dry_run || report.unchanged) return;
    if (report.written && !report.error)
      state_.Set(model.name, {report.input_format, report.input_files, report.output_files});
    else
      state_.Erase(model.name);
    const auto now = std::chrono::steady_clock::now();
    if (now - saved_ < std::chrono::seconds(1)) return;
    saved_ = now;
    [[maybe_unused]] const Status saved = state_.Write();  // written again at the end
  }

  const FolderJob& job_;
  size_t jobs_;
  const FolderPlan& plan_;
  FolderState& state_;
  std::vector<ConvertReport> reports_;
  mutable std::mutex mutex_;  // of what follows, and of state_
  mutable Status ended_;      // the error of the progress callback
  uint64_t done_ = 0;
  std::chrono::steady_clock::time_point saved_{};
};

}  // namespace

bool IsFolderOfModels(const std::string& path) {
  if (IsPattern(path)) return true;
  std::error_code error;
  return path != "-" && fs::is_directory(path, error) && !IsModel(path) &&
         KnownNonModelFolder(path).empty();
}

Result<FolderReport> ConvertFolder(const FolderJob& job) {
  std::error_code error;
  if (!job.output.empty() && fs::exists(job.output, error) && !fs::is_directory(job.output, error))
    return UsageError("{} must be a folder, because {} is one", job.output, job.input);
  NN_ASSIGN(const FolderPlan plan, PlanFolder(job.input, job.output, *job.format));
  FolderState state = FolderState::Read(job.output, job.key, job.warn);
  std::set<std::string> names;
  for (const PlannedModel& m : plan.models) names.insert(m.name);
  state.Keep([&](const std::string& name) { return names.contains(name); });
  OutputFolders folders;
  if (!job.dry_run)
    for (const PlannedModel& m : plan.models)
      NN_RETURN_IF_ERROR(folders.Make(fs::path(m.output).parent_path()));
  const size_t jobs = JobsOf(job.jobs, plan.models.size());
  if (job.begin) NN_RETURN_IF_ERROR(job.begin(jobs));
  FolderReport report;
  report.input = job.input;
  report.output = job.output;
  report.output_format = job.format->label;
  report.dry_run = job.dry_run;
  auto models = FolderRun(job, jobs, plan, state).Run();
  if (!job.dry_run) NN_RETURN_IF_ERROR(state.Write());
  NN_ASSIGN(report.models, std::move(models));
  report.skipped = plan.skipped;
  return report;
}

}  // namespace nn
