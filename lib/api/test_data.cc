#include "nnsuite/test_data.h"

#include <utility>
#include <vector>

#include "api/access.h"
#include "api/convert.h"
#include "api/inputs.h"
#include "api/outputs.h"
#include "convert/runs/test_data.h"
#include "exec/program_options.h"

namespace nnsuite {

Result<TestDataReport> RunTestData(const Model& model, const std::string& folder,
                                   const TestDataOptions& options, const InputShapes& shapes,
                                   const ProgramOptions& program,
                                   const ProgressCallback& progress) {
  NN_RETURN_IF_ERROR(nn::CheckOptionValues(nn::TestDataOptionTable(), options));
  NN_RETURN_IF_ERROR(nn::CheckOptionValues(nn::ProgramOptionTable(), program));
  const nn::ReadModel& read = Access::Of(model).read;
  NN_ASSIGN(const nn::RunInputs run, nn::api::InputsOf(model, {}, shapes));
  NN_ASSIGN(std::vector<nn::TestedSet> sets,
            nn::RunTestData(read, nn::api::ImporterOf(read, run, nn::StatePorts::kNone), folder,
                            options, program, nn::api::Reporting(progress, "test sets", "run")));
  TestDataReport out;
  for (const nn::TestedSet& set : sets)
    out.sets.push_back({set.folder, nn::api::WrapOutputs(set.expectation), set.passed});
  out.passed = nn::AllPassed(sets);
  out.text = nn::TestDataText(sets);
  out.report = nn::JsonText(nn::TestDataJson(sets));
  return out;
}

}  // namespace nnsuite
