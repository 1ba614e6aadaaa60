// Reports of other programs, for a page.
#pragma once

#include <string>

#include "base/status.h"
#include "inspect/loaded.h"
#include "inspect/page/page.h"

namespace nn::app {

// Adds the findings about the model in a report of nnvalidate --format json: those of the model's
// path, or of the only file of the report. kUsage if there is no such file, kParse if it is not a
// report.
Status ReadFindings(const std::string& path, const inspect::LoadedModel& model,
                    inspect::PageNotes& notes);

// Adds the times in a report of nnrun --bench --profile --format json. The errors are similar.
Status ReadTimes(const std::string& path, const inspect::LoadedModel& model,
                 inspect::PageNotes& notes);

// Adds the errors in a report of nnrun MODEL --against OTHER --format json, by the names of the
// results. A result that cannot be compared counts as an error as large as the signal.
Status ReadErrors(const std::string& path, const inspect::LoadedModel& model,
                  inspect::PageNotes& notes);

}  // namespace nn::app
