#include "apps/nninspect/inspection.h"

#include <utility>

#include "apps/common/model/model.h"

namespace nn::app {

inspect::LoadOptions LoadOptionsOf(const InspectOptions& options) {
  inspect::LoadOptions load = {.limits = options.limits};
  if (options.shapes.empty()) return load;
  // BindShapes() reports shapes that cannot be read.
  if (auto settings = SettingsOf(options.shapes)) load.inputs = *std::move(settings);
  load.bind = [shapes = options.shapes](Graph& graph) { return BindShapes(graph, shapes); };
  return load;
}

Result<Inspection> Inspect(const InspectOptions& options) {
  inspect::LoadOptions load = LoadOptionsOf(options);
  options.SetNeeds(!options.parts() || options.nodes || options.format == "json", load);
  NN_ASSIGN(inspect::LoadedModel model, inspect::Load(options.model, load));
  return inspect::InspectModel(std::move(model), options);
}

}  // namespace nn::app
