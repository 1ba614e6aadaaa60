// Converts one model.
#pragma once

#include "apps/nnconvert/options.h"
#include "apps/nnconvert/report/report.h"
#include "base/status.h"
#include "formats/format.h"

namespace nn::app {

// Whether the output is a dump.
bool WantsDump(const ConvertArguments& arguments);

// The format to write, by --to or the extension of OUT. kUsage if there is none, and for options
// that do not fit it.
Result<const Format*> TargetFormat(const ConvertArguments& arguments);

// Converts `arguments.input` to `arguments.output`; `format` is nullptr for a dump. Fills in the
// report as far as the conversion got, but not ConvertReport::error. May be called concurrently.
Status ConvertOne(const ConvertArguments& arguments, const Format* format, ConvertReport& report);

// The same for an output that is a C or C++ file (apps/nnconvert/report/c_source.h), with the model
// that is written to `format`; nullptr: that of the source.
Status ConvertToSource(const ConvertArguments& arguments, const Format* format,
                       ConvertReport& report);

// Tries the conversion to each format without writing anything.
Result<TargetsReport> DryRunForAll(const ConvertArguments& arguments);

}  // namespace nn::app
