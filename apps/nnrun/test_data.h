// Runs of ONNX test sets (--test-data).
#pragma once

#include "apps/nnrun/options.h"
#include "base/status.h"
#include "formats/format.h"
#include "formats/test_set.h"

namespace nn::app {

// Runs the ONNX test sets of options.test_data; false on a mismatch.
Result<bool> RunTestData(const ReadModel& read, const InputImporter& import,
                         const RunOptions& options, RunReport& report);

}  // namespace nn::app
