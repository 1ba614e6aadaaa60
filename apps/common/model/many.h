// One task for each of several models: a table of the results, or JSON lines.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/program.h"
#include "base/json/json.h"
#include "base/options.h"
#include "base/status.h"
#include "base/text/table.h"
#include "exec/run_limits.h"
#include "formats/model_list.h"

namespace nn::app {

struct ManyOptions {
  std::optional<uint64_t> jobs;  // models at the same time; nullopt: 1, 0: one per processor

  size_t Count(size_t models) const { return JobsOf(jobs.value_or(1), models); }
};

// What programs call the members, and what they do.
OptionTable ManyOptionTable();

// The outcome for one model: a row of the table, and a JSON value, or an error.
struct ManyRow {
  std::vector<std::string> cells;  // one for each column
  Json json = Json::object();
  int code = kExitDone;
  bool skipped = false;  // done by an earlier run
};

struct ManyTask {
  std::vector<Column> columns;  // after those of the model and the result
  // May be called on any thread, for different models at the same time.
  std::function<Result<ManyRow>(const ModelFile& model)> run;
  Json head;          // of the JSON line of an error, which also has "path" and "error"
  std::string noun;   // of the summary: "inspected"
  bool json = false;  // JSON lines in place of the table
};

// Runs the task for all models; failures do not stop the others. The text has a row or line for
// each model in their order, and, as a table, a summary. Returns the exit code: the worst in the
// order 2, 4, 1, 3, 0.
struct ManyResult {
  std::string text;
  int code = kExitDone;
};
ManyResult RunMany(const std::vector<ModelFile>& models, const ManyOptions& options,
                   const ManyTask& task);

}  // namespace nn::app
