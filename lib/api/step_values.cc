#include "nnsuite/step_values.h"

#include <utility>
#include <vector>

#include "api/access.h"
#include "api/convert.h"
#include "api/inputs.h"
#include "convert/runs/step_values.h"
#include "exec/program_options.h"

namespace nnsuite {

Status SaveStepValues(const Model& model, const std::string& folder, const InputOptions& inputs,
                      const InputShapes& shapes, const ProgramOptions& program,
                      const ProgressCallback& progress) {
  NN_RETURN_IF_ERROR(nn::CheckOptionValues(nn::ProgramOptionTable(), program));
  NN_ASSIGN(nn::api::GivenModel given, nn::api::GivenModelOf(model, inputs, shapes));
  const size_t own_outputs = given.graph.outputs().size();
  const std::vector<nn::Domain> domains = nn::InputDomains(given.graph);
  nn::ExposeSteps(given.graph);
  const nn::Graph stepwise = given.graph.Clone();  // with the operators that name the steps
  NN_ASSIGN(const nn::Program compiled, nn::Program::Compile(std::move(given.graph), program));
  // Only after the limits of the run are checked.
  NN_ASSIGN(const std::vector<nn::Tensor> tensors,
            nn::CompleteInputs(compiled.graph(), domains, std::move(given.given),
                               inputs.seed.value_or(0)));
  NN_ASSIGN(const std::vector<nn::Tensor> outputs, compiled.Run(tensors));
  return nn::SaveSteps(folder, stepwise, own_outputs, tensors, outputs,
                       nn::api::Reporting(progress, "values", "run"));
}

}  // namespace nnsuite
