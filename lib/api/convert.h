// Conversions between the public options and results and the library's own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/status.h"
#include "convert/convert.h"
#include "convert/verify/verify.h"
#include "folder/convert_report.h"
#include "formats/format.h"
#include "nnsuite/convert.h"

namespace nn::api {

// kUsage if there is none.
Result<const Format*> FormatNamed(const std::string& name);

// The format of the options, or else that of the extension; kUsage if neither determines it.
Result<const Format*> TargetOf(const std::string& output, const nnsuite::ConvertOptions& options);

// The options that decide what is written, or how it is verified, as nnconvert's command line
// states them: without tensors, which no table describes.
Json DecidingOptions(const nnsuite::ConvertOptions& options);

// Reports the progress of an activity; kLimit if the callback ends `what`. Null for a null
// callback, which must outlive the result.
using ActivityProgress = std::function<Status(uint64_t done, uint64_t total)>;
ActivityProgress Reporting(const nnsuite::ProgressCallback& progress, std::string_view activity,
                           std::string_view what);

// Hands the tensors of the options and the progress on. Refers to the options.
ConvertHooks HooksOf(const nnsuite::ConvertOptions& options);

nnsuite::Conversion WrapConversion(ConvertReport report);
nnsuite::Verification WrapVerification(const Verification& verification);

}  // namespace nn::api
