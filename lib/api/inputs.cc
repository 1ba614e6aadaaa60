#include "nnsuite/inputs.h"

#include <algorithm>
#include <utility>

#include "api/access.h"
#include "api/inputs.h"
#include "convert/inputs/input_options.h"
#include "convert/inputs/run_inputs.h"
#include "formats/given_inputs.h"

namespace nn::api {

Result<RunInputs> InputsOf(const nnsuite::Model& model, const nnsuite::InputOptions& options,
                           const nnsuite::InputShapes& shapes) {
  NN_RETURN_IF_ERROR(CheckOptionValues(InputOptionTable(), options));
  RunInputs inputs = {options};
  inputs.model = model.path();
  inputs.shapes = shapes;
  inputs.in_memory = Access::Of(options.tensors);
  return inputs;
}

InputImporter ImporterOf(const ReadModel& read, const RunInputs& inputs, StatePorts states) {
  return [&read, &inputs, states](const InputSettings& known) -> Result<ImportedModel> {
    InputSettings settings = KnownWith(known, inputs.shapes);
    settings.states = states;
    NN_ASSIGN(ImportedModel imported, ImportModel(read, inputs.model, settings));
    NN_RETURN_IF_ERROR(BindSetShapes(imported.graph, read, inputs));
    return imported;
  };
}

Result<GivenModel> GivenModelOf(const nnsuite::Model& model, const nnsuite::InputOptions& options,
                                const nnsuite::InputShapes& shapes) {
  const ReadModel& read = Access::Of(model).read;
  NN_ASSIGN(RunInputs inputs, InputsOf(model, options, shapes));
  NN_ASSIGN(ImportedModel imported,
            ImportForInputs(read, ImporterOf(read, inputs, StatePorts::kNone), inputs));
  GivenModel out = {std::move(imported.graph), {}, {}};
  NN_ASSIGN(out.given, GivenInputs(out.graph, read, inputs));
  for (const auto& [position, port] : inputs.fixed) out.constants.push_back(port.name);
  return out;
}

}  // namespace nn::api

namespace nnsuite {

Result<ModelInputs> ReadInputs(const Model& model, const InputOptions& options,
                               const InputShapes& shapes) {
  NN_ASSIGN(nn::api::GivenModel model_for, nn::api::GivenModelOf(model, options, shapes));
  ModelInputs out = {Access::Wrap(std::move(model_for.graph)), {}, std::move(model_for.constants)};
  for (const std::optional<nn::Tensor>& array : model_for.given)
    out.arrays.push_back(array ? std::optional(Access::Wrap(*array)) : std::nullopt);
  return out;
}

Result<std::vector<Tensor>> CompleteInputs(const Program& program,
                                           std::span<const std::optional<Tensor>> arrays,
                                           uint64_t seed) {
  const size_t count = program.inputs().size();
  if (arrays.size() != count)
    return nn::UsageError("the program has {} inputs; there are {} arrays", count, arrays.size());
  std::vector<Tensor> out;
  if (!std::ranges::all_of(arrays, [](const auto& array) { return array.has_value(); })) {
    NN_ASSIGN(out, program.SeededInputs(seed));
  }
  out.resize(count);
  for (size_t i = 0; i < count; ++i)
    if (arrays[i]) out[i] = *arrays[i];
  return out;
}

}  // namespace nnsuite
