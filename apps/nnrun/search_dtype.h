// Operators that must stay f32 (--search-dtype).
#pragma once

#include "apps/nnrun/options.h"
#include "base/status.h"
#include "formats/format.h"
#include "ir/graph.h"

namespace nn::app {

// Reports the operators that must stay f32 so that the outputs are within the tolerance if the
// others compute in options.search_dtype. Requires options.expected.rtol. `graph` and `read` are as
// for GivenInputs().
Status ReportDtypeSearch(Graph graph, const ReadModel& read, const RunOptions& options,
                         RunReport& report);

}  // namespace nn::app
