#include "apps/nninspect/inspection.h"

#include <utility>

#include "formats/format_options.h"
#include "passes/core/ports.h"

namespace nn::app {

inspect::LoadOptions LoadOptionsOf(const InspectOptions& options) {
  inspect::LoadOptions load = {.limits = options.limits, .function = options.function};
  if (options.shapes.empty()) return load;
  load.inputs = SettingsOf(options.shapes);
  load.bind = [shapes = options.shapes](Graph& graph) {
    return BindShapes(graph, shapes.shapes, shapes.batch);
  };
  return load;
}

Result<Inspection> Inspect(const InspectOptions& options) {
  inspect::LoadOptions load = LoadOptionsOf(options);
  options.SetNeeds(!options.parts() || options.nodes || options.format == "json", load);
  NN_ASSIGN(inspect::LoadedModel model, inspect::Load(options.model, load));
  return inspect::InspectModel(std::move(model), options);
}

}  // namespace nn::app
