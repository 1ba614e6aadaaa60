#include "nnsuite/inputs.h"

#include <algorithm>
#include <utility>

#include "api/access.h"
#include "convert/inputs/input_options.h"
#include "convert/inputs/run_inputs.h"
#include "formats/given_inputs.h"

namespace nnsuite {

Result<ModelInputs> ReadInputs(const Model& model, const InputOptions& options,
                               const InputShapes& shapes) {
  NN_RETURN_IF_ERROR(nn::CheckOptionValues(nn::InputOptionTable(), options));
  const nn::ReadModel& read = Access::Of(model).read;
  nn::RunInputs inputs = {options};
  inputs.model = model.path();
  inputs.shapes = shapes;
  const auto import = [&](const nn::InputSettings& known) -> Result<nn::ImportedModel> {
    NN_ASSIGN(nn::ImportedModel imported,
              nn::ImportModel(read, inputs.model, nn::KnownWith(known, shapes)));
    NN_RETURN_IF_ERROR(nn::BindSetShapes(imported.graph, read, inputs));
    return imported;
  };
  NN_ASSIGN(nn::ImportedModel imported, nn::ImportForInputs(read, import, inputs));
  NN_ASSIGN(const nn::PortArrays given, nn::GivenInputs(imported.graph, read, inputs));
  ModelInputs out = {Access::Wrap(std::move(imported.graph)), {}, {}};
  for (const std::optional<nn::Tensor>& array : given)
    out.arrays.push_back(array ? std::optional(Access::Wrap(*array)) : std::nullopt);
  for (const auto& [position, port] : inputs.fixed) out.constants.push_back(port.name);
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
