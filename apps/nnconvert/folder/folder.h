// Converts all models of a folder.
#pragma once

#include "apps/nnconvert/options.h"
#include "apps/nnconvert/report/report.h"
#include "apps/nnconvert/report/report_file.h"
#include "base/status.h"

namespace nn::app {

// Whether `path` matches several models: a pattern, or a folder that is not itself a model, or
// known to be something else.
bool IsFolderOfModels(const std::string& path);

// Converts the models below the folder `arguments.input` (folder_plan.h) to the folder
// `arguments.output`, up to --jobs at once. A model whose conversion fails does not stop the
// others: its error is in the report. Models whose files have not changed since a conversion with
// the same options (folder_state.h) are skipped, unless --force is set. The report file is opened,
// but not written.
//
// kUsage for options that do not apply to folders, and those of PlanFolder. kIo if the output
// folder cannot be written.
Result<FolderReport> ConvertFolder(const ConvertArguments& arguments, ReportFile& report_file);

}  // namespace nn::app
