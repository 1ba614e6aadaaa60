// Edits of the model before it is copied, dumped or converted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/nnconvert/options.h"
#include "base/status.h"
#include "convert/verify/verify.h"
#include "edit/apply.h"
#include "formats/format.h"

namespace nn::app {

bool HasNativeEdits(const ConvertArguments& o);

// Edits the model, and verifies the edit unless it changes only texts.
Result<edit::EditReport> ApplyNativeEdits(const ConvertArguments& o,
                                          const VerifyOptions& verification, ReadModel& read);

// Sentences of the report.
std::vector<std::string> NativeEditTexts(const edit::EditReport& edit);

}  // namespace nn::app
