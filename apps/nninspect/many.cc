#include "apps/nninspect/many.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/common/command_line.h"
#include "apps/common/model/many.h"
#include "apps/nninspect/inspection.h"
#include "base/text/text.h"
#include "inspect/report/inspection.h"

namespace nn::app {
namespace {

// "2 (Foo, Bar x1)": the operators that are not supported.
std::string UnsupportedText(const inspect::Overview& overview) {
  uint64_t count = 0;
  std::string kinds;
  for (const inspect::Unsupported& u : overview.unsupported) {
    count += u.count;
    kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", Escape(u.op));
  }
  return count == 0 ? "" : fmt::format("{} ({})", WithThousands(count), kinds);
}

Result<ManyRow> RowOf(const InspectOptions& o, const ModelFile& model) {
  InspectOptions one = o;
  one.model = model.path;
  NN_ASSIGN(const Inspection i, Inspect(one));
  const ModelSummary& s = i.model.summary;
  ManyRow row;
  if (o.format == "json") {
    row.json = inspect::InspectionJson(i, one);
    return row;
  }
  const auto& multiply_adds = i.overview.multiply_adds;
  row.cells = {s.format,
               WithThousands(s.operators.size()),
               WithThousands(s.parameter_count),
               multiply_adds ? WithThousands(*multiply_adds) : "?",
               i.model.file_bytes ? HumanBytes(*i.model.file_bytes) : "",
               UnsupportedText(i.overview)};
  return row;
}

}  // namespace

Result<int> InspectMany(const InspectOptions& o) {
  if (o.dump || o.diff || (o.format != "text" && o.format != "json"))
    return UsageError("{}: a folder or pattern can be combined with --format text and json only",
                      Quote(o.model));
  if (o.format == "text" && (o.nodes || o.parts()))
    return UsageError(
        "{}: options for parts of a model need --format json, which prints a line for each model",
        Quote(o.model));
  NN_ASSIGN(const std::vector<ModelFile> models, ExpandModels({o.model}));
  ManyTask task;
  task.columns = {{"format"},
                  {"operators", Align::kRight},
                  {"parameters", Align::kRight},
                  {"multiply-adds", Align::kRight},
                  {"size", Align::kRight},
                  {"not supported"}};
  task.run = [&o](const ModelFile& model) { return RowOf(o, model); };
  task.head = inspect::ReportHead();
  task.noun = "inspected";
  task.json = o.format == "json";
  const ManyResult result = RunMany(models, o.many, task);
  NN_RETURN_IF_ERROR(PrintText(o.output, result.text));
  return result.code;
}

}  // namespace nn::app
