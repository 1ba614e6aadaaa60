#include "apps/common/model/many.h"

#include <fmt/format.h>

#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "apps/common/progress.h"
#include "base/json/json_writer.h"
#include "base/text/text.h"
#include "base/thread_pool.h"
#include "folder/convert_report.h"

namespace nn::app {
namespace {

Result<ManyRow> RunGuarded(const ManyTask& task, const ModelFile& model) {
  try {
    return task.run(model);
  } catch (const std::bad_alloc&) {
    return LimitError("out of memory (see --max-memory and --jobs)");
  } catch (const std::exception& e) {
    return InternalError("{}", e.what());
  }
}

// The message without the path, which the row begins with.
std::string MessageOf(const Error& error, const std::string& path) {
  const std::string& text = error.message();
  return text.starts_with(path + ": ") ? text.substr(path.size() + 2) : text;
}

std::string_view OutcomeOf(const Result<ManyRow>& row) {
  if (row) return row->skipped ? "skipped" : row->code == kExitDone ? "" : "failed";
  return row.error().code() == ErrorCode::kUnsupported ? "unsupported" : "failed";
}

std::string Summary(const std::vector<Result<ManyRow>>& rows, const std::string& noun) {
  std::map<std::string_view, size_t> counts;
  for (const auto& row : rows) ++counts[OutcomeOf(row)];
  std::string out = fmt::format("{} model{}", rows.size(), rows.size() == 1 ? "" : "s");
  std::string_view separator = ": ";
  for (const auto& [outcome, count] : counts) {
    out += fmt::format("{}{} {}", separator, count, outcome.empty() ? noun : outcome);
    separator = ", ";
  }
  return out + "\n";
}

std::string TableText(const std::vector<ModelFile>& models,
                      const std::vector<Result<ManyRow>>& rows, const ManyTask& task) {
  std::vector<Column> columns = {{"model"}, {"result"}};
  columns.insert(columns.end(), task.columns.begin(), task.columns.end());
  const size_t columns_of_table = columns.size();
  Table table(std::move(columns));
  std::string failures;
  for (size_t i = 0; i < models.size(); ++i) {
    std::vector<std::string> cells = {Escape(models[i].name), std::string(OutcomeOf(rows[i]))};
    if (rows[i])
      cells.insert(cells.end(), rows[i]->cells.begin(), rows[i]->cells.end());
    else
      failures += fmt::format("{}: {}\n", Escape(models[i].path),
                              EscapeLines(MessageOf(rows[i].error(), models[i].path)));
    cells.resize(columns_of_table);
    table.AddRow(cells);
  }
  return table.Text() + (failures.empty() ? "" : "\n" + failures) + "\n" + Summary(rows, task.noun);
}

std::string JsonLines(const std::vector<ModelFile>& models,
                      const std::vector<Result<ManyRow>>& rows, const ManyTask& task) {
  std::string out;
  for (size_t i = 0; i < models.size(); ++i) {
    Json line = rows[i] ? rows[i]->json : task.head;
    if (!rows[i]) {
      line["path"] = models[i].path;
      line["error"] = MessageOf(rows[i].error(), models[i].path);
    }
    out += JsonLine(line) + "\n";
  }
  return out;
}

}  // namespace

OptionTable ManyOptionTable() {
  static const std::vector<OptionField> fields = {
      Option<&ManyOptions::jobs>(
          "jobs", {.help = "Folders and patterns: number of models at the same time; they share "
                           "memory and processors; 0: one per processor; default 1",
                   .value = "N",
                   .least = 0,
                   .most = 1000}),
  };
  return fields;
}

ManyResult RunMany(const std::vector<ModelFile>& models, const ManyOptions& options,
                   const ManyTask& task) {
  std::vector<Result<ManyRow>> rows(models.size());
  Progress progress("models", models.size());
  std::mutex mutex;  // of progress
  ThreadPool(options.Count(models.size())).ParallelFor(models.size(), [&](size_t i) {
    rows[i] = RunGuarded(task, models[i]);
    const std::lock_guard lock(mutex);
    progress.Step();
  });
  ManyResult out;
  out.text = task.json ? JsonLines(models, rows, task) : TableText(models, rows, task);
  for (const auto& row : rows)
    out.code = WorstCode(out.code, row ? row->code : ExitCode(row.error().code()));
  return out;
}

}  // namespace nn::app
