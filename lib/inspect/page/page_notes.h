// Reports of other programs, for a page (nnsuite::PageReports), and the description of these
// options.
//
// Design: docs/design/069-described-options.md.
#pragma once

#include "base/options.h"
#include "base/status.h"
#include "inspect/loaded.h"
#include "inspect/page/page.h"
#include "nnsuite/inspect.h"

namespace nn::inspect {

OptionTable PageReportTable();

// The findings about the model in a report of nnvalidate --format json (those of the model's path,
// or of the only file of the report), the times in a report of nnrun --bench --profile --format
// json, and the errors in a report of nnrun MODEL --against OTHER --format json, by the names of
// the results. A result that cannot be compared counts as an error as large as the signal.
//
// kUsage if the report of findings does not have the model, kParse for a file that is not such a
// report.
Result<PageNotes> ReadNotes(const nnsuite::PageReports& reports, const LoadedModel& model);

}  // namespace nn::inspect
