// Converts all models of a folder.
#pragma once

#include "apps/nnconvert/options.h"
#include "apps/nnconvert/report/report_file.h"
#include "base/status.h"
#include "folder/convert_report.h"

namespace nn::app {

// Converts the models below the folder `arguments.input` to the folder `arguments.output`
// (folder/folder.h). The report file is opened, but not written.
//
// kUsage for options that do not apply to folders.
Result<FolderReport> ConvertFolder(const ConvertArguments& arguments, ReportFile& report_file);

}  // namespace nn::app
