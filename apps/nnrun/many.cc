#include "apps/nnrun/many.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/common/command_line.h"
#include "apps/common/model/many.h"
#include "apps/nnrun/options.h"
#include "base/text/text.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

Status CheckManyUsage(const RunOptions& o) {
  const bool is_for_one = !o.inputs_file.empty() || !o.inputs.empty() || !o.test_data.empty() ||
                          o.sequence.is_set() || !o.labels.empty() || !o.expected.file.empty() ||
                          o.saves_values() || !o.against.empty() || !o.search_dtype.empty() ||
                          o.explain_plan || !o.trace.empty() || o.bench;
  if (is_for_one || (o.format != "text" && o.format != "json"))
    return UsageError(
        "{}: a folder or pattern can be combined with --output, --digest, --seed, shapes, limits, "
        "options for the execution, and --format text and json only",
        Quote(o.model));
  if (o.output.empty() && o.resume) return UsageError("--resume needs --output");
  std::error_code error;
  if (!o.output.empty() && fs::exists(o.output, error) && !fs::is_directory(o.output, error))
    return UsageError("--output {}: must be a folder, because {} matches several models",
                      Quote(o.output), Quote(o.model));
  return {};
}

// The files of the outputs, by the path of the model. Two models that differ only in their
// extension keep it.
std::map<std::string, std::string> OutputsOf(const std::vector<ModelFile>& models,
                                             const std::string& folder) {
  std::map<std::string, size_t> stems;
  const auto stem = [](const ModelFile& m) {
    return fs::path(m.name).replace_extension().string();
  };
  for (const ModelFile& m : models) ++stems[stem(m)];
  std::map<std::string, std::string> out;
  for (const ModelFile& m : models)
    out[m.path] = (fs::path(folder) / (stems[stem(m)] == 1 ? stem(m) : m.name)).string() + ".npz";
  return out;
}

std::string Milliseconds(double ms) {
  return fmt::format("{:.{}f} ms", ms, ms < 10 ? 2 : ms < 100 ? 1 : 0);
}

class ModelRun {
 public:
  ModelRun(const RunOptions& o, const RunOne& run,
           const std::map<std::string, std::string>& outputs)
      : options_(o), run_(run), outputs_(outputs) {
    ShareAmong(o.many.Count(outputs.size()), options_.execution.limits, options_.execution.threads);
  }

  Result<ManyRow> RowOf(const ModelFile& model) const {
    RunOptions one = options_;
    one.model = model.path;
    one.output.clear();
    ManyRow row;
    if (!options_.output.empty()) {
      one.output = outputs_.at(model.path);
      std::error_code error;
      if (options_.resume && fs::exists(one.output, error)) {
        row.cells = {"", "", one.output};
        row.json = {{"version", 1}, {"model", model.path}, {"skipped", one.output}};
        row.skipped = true;
        return row;
      }
      fs::create_directories(fs::path(one.output).parent_path(), error);
      if (error) return IoError("{}: {}", one.output, error.message());
    }
    RunReport report;
    report.json = {{"version", 1}, {"model", model.path}};
    const auto begin = std::chrono::steady_clock::now();
    NN_RETURN_IF_ERROR(run_(one, report));
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    row.cells = {Milliseconds(time.count()), DigestOf(report.json), one.output};
    row.json = std::move(report.json);
    if (!one.output.empty()) row.json["output"] = one.output;
    return row;
  }

 private:
  // Of all outputs, in their order.
  static std::string DigestOf(const Json& report) {
    return report.contains("digest") ? report["digest"].get<std::string>() : "";
  }

  RunOptions options_;
  const RunOne& run_;
  const std::map<std::string, std::string>& outputs_;
};

}  // namespace

Result<int> RunManyModels(const RunOptions& o, const RunOne& run) {
  NN_RETURN_IF_ERROR(CheckManyUsage(o));
  NN_ASSIGN(const std::vector<ModelFile> models, ExpandModels({o.model}));
  const std::map<std::string, std::string> outputs = OutputsOf(models, o.output);
  const ModelRun model_run(o, run, outputs);
  ManyTask task;
  task.columns = {{"time", Align::kRight}, {"digest"}, {"output"}};
  task.run = [&](const ModelFile& model) { return model_run.RowOf(model); };
  task.head = {{"version", 1}};
  task.noun = "run";
  task.json = o.format == "json";
  const ManyResult result = RunMany(models, o.many, task);
  NN_RETURN_IF_ERROR(PrintText("-", result.text));
  return result.code;
}

}  // namespace nn::app
