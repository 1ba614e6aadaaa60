// Checks of a model that was written.
#pragma once

#include <string>

#include "base/status.h"
#include "formats/format.h"
#include "ir/graph.h"

namespace nn::app {

// Whether a model that was written for `source` can be read, passes the rules of its own format,
// and can be imported; returns the model, or the graph that is in it. What does not is a defect of
// ours (kInternal), unless the source breaks rules of its own format (kModel): what is written
// for such a model may break rules as well.
Result<ReadModel> ReadWritten(Result<ReadModel> written, const Format& format,
                              const ReadModel& source);
Status CheckWritten(const ReadModel& written, const ReadModel& source);
Result<Graph> ImportWritten(const ReadModel& written, const ReadModel& source);

}  // namespace nn::app
