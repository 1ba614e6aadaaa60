#include "nnsuite/sequence.h"

#include <utility>
#include <vector>

#include "api/access.h"
#include "api/convert.h"
#include "api/inputs.h"
#include "convert/runs/sequence.h"
#include "exec/program_options.h"

namespace nnsuite {

Result<SequenceRun> RunSequence(const Model& model, const InputOptions& inputs,
                                const SequenceOptions& options, const InputShapes& shapes,
                                const ProgramOptions& program, const ProgressCallback& progress) {
  NN_RETURN_IF_ERROR(nn::CheckOptionValues(nn::SequenceOptionTable(), options));
  NN_RETURN_IF_ERROR(nn::CheckOptionValues(nn::ProgramOptionTable(), program));
  const nn::ReadModel& read = Access::Of(model).read;
  NN_ASSIGN(nn::RunInputs run, nn::api::InputsOf(model, inputs, shapes));
  run.may_lack = true;  // states begin with zeros
  NN_ASSIGN(nn::ImportedModel imported,
            nn::ImportForInputs(read, nn::api::ImporterOf(read, run, nn::StatePorts::kAll), run,
                                nn::ShapesOfStep(options)));
  NN_ASSIGN(nn::SequenceResult result,
            nn::RunSequence(std::move(imported), read, run, options, program,
                            {.progress = nn::api::Reporting(progress, "steps", "run")}));
  return SequenceRun{Access::Wrap(result.outputs), Access::Wrap(result.states),
                     std::move(result.notes)};
}

}  // namespace nnsuite
