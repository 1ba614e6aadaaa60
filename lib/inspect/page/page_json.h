// The data of a page, read by lib/inspect/html/.
#pragma once

#include "base/json/json.h"
#include "base/status.h"
#include "inspect/diff/diff.h"
#include "inspect/page/page.h"

namespace nn::inspect {

// {title, subtitle, path, kinds, panels, operators, findings, other_time}; names of members of
// frequent objects are short. Control characters are escaped.
Result<Json> PageModel(const LoadedModel& model, const PageNotes& notes);

// The differences of two models; operators are indices of those of the models' main graphs.
Json PageDiff(const LoadedModel& a, const LoadedModel& b, const ModelDiff& diff);

}  // namespace nn::inspect
