// Runs of a model on test data of ONNX.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/options.h"
#include "base/status.h"
#include "convert/outputs/expectation.h"
#include "exec/program.h"
#include "formats/format.h"
#include "formats/test_set.h"
#include "nnsuite/test_data.h"

namespace nn {

using nnsuite::TestDataOptions;

// What C and Python call the members of the options. Programs have those of ExpectOptions.
// Design: docs/design/069-described-options.md.
OptionTable TestDataOptionTable();

struct TestedSet {
  std::string folder;
  Expectation expectation;
  bool passed = false;
};

// nnsuite::RunTestData(). `import` imports the model with its set shapes. `progress`, which may be
// null, is told how many sets are done; an error of it ends the runs.
Result<std::vector<TestedSet>> RunTestData(
    const ReadModel& read, const InputImporter& import, const std::string& folder,
    const TestDataOptions& options, const ProgramOptions& program,
    const std::function<Status(uint64_t done, uint64_t total)>& progress);

bool AllPassed(const std::vector<TestedSet>& sets);
std::string TestDataText(const std::vector<TestedSet>& sets);
// {"test_data"}. Takes what the expectations have of it.
Json TestDataJson(std::vector<TestedSet>& sets);

}  // namespace nn
